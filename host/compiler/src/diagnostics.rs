//! Every message of the compiler, as data.
//!
//! A [`Diagnostic`] is plain data: a stable code, a place in a project file, a sentence, and what to do next. One small
//! function per message sits below, so that a reader finds all of them in one file. Rendering with a code frame is
//! `miette`'s work; [`Diagnostic`] implements [`miette::Diagnostic`], and [`Diagnostic::render`] is the short way.

use crate::source::Location;
use callcell_runtime::{CallbackKind, clean};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Whether a diagnostic stops the compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The project does not compile.
    Error,
    /// The project compiles; the author should look.
    Warning,
}

/// Why an import is refused (spec 2.2, CB-114).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// A module of Node, Bun or Deno.
    NodeBuiltin,
    /// Any other bare name.
    NpmPackage,
    /// `https:`, `data:`, `file:` and every other scheme.
    Url,
    /// An absolute path, a relative path that leaves the project, or a symbolic link that does.
    OutsideProject,
    /// A relative path that names no file, or could name two.
    MissingModule,
    /// A file that is no TypeScript source module.
    NonSourceModule,
    /// `import(…)`.
    DynamicImport,
    /// `require(…)`, `createRequire(…)`, `import x = require(…)`.
    Require,
    /// `import.meta`.
    ImportMeta,
}

impl Category {
    /// The name as the specification spells it, such as `node-builtin`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NodeBuiltin => "node-builtin",
            Self::NpmPackage => "npm-package",
            Self::Url => "url",
            Self::OutsideProject => "outside-project",
            Self::MissingModule => "missing-module",
            Self::NonSourceModule => "non-source-module",
            Self::DynamicImport => "dynamic-import",
            Self::Require => "require",
            Self::ImportMeta => "import-meta",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One problem of a project.
///
/// The `Display` form is one line, `tools.ts:3:8: C_IMPORT_UNSUPPORTED (npm-package): …`.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnostic {
    /// The stable code of spec 3.6, such as `C_SYNTAX`; warnings start with `W_`.
    pub code: Cow<'static, str>,
    /// Error or warning.
    pub severity: Severity,
    /// Project-relative, with `/` separators on every system (CB-113).
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in UTF-16 code units as `tsc` counts. A byte order mark does not count.
    pub column: u32,
    /// For refused imports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// What is wrong: a sentence with values in backticks.
    pub message: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    #[serde(skip)]
    frame: Option<Frame>,
}

/// What a code frame is drawn from.
#[derive(Clone, Debug)]
struct Frame {
    source: NamedSource<Arc<str>>,
    offset: usize,
    length: usize,
}

impl Diagnostic {
    fn new(severity: Severity, code: impl Into<Cow<'static, str>>, at: &Location, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            severity,
            file: at.file.to_string(),
            line: at.line,
            column: at.column,
            category: None,
            message: cut(message.into()),
            help: None,
            frame: at.text.as_ref().map(|text| Frame {
                source: NamedSource::new(&*at.file, Arc::clone(text)),
                offset: at.offset,
                length: at.length,
            }),
        }
    }

    fn error(code: impl Into<Cow<'static, str>>, at: &Location, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, at, message)
    }

    fn warning(code: &'static str, at: &Location, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, at, message)
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(cut(help.into()));
        self
    }

    fn category(mut self, category: Category) -> Self {
        self.category = Some(category);
        self
    }

    /// Where it starts in the file's text, if the text is at hand.
    pub(crate) fn offset(&self) -> Option<usize> {
        self.frame.as_ref().map(|frame| frame.offset)
    }

    /// Whether this diagnostic stops the compilation.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The diagnostic with a code frame where the source is at hand, for a terminal. With `color` it carries ANSI colours. Characters of
    /// the project's that could act on a terminal stand as `\u{…}`; a frame that has some is without colours, so that ours can be told
    /// from the project's. Lines too long to be looked at have no frame.
    pub fn render(&self, color: bool) -> String {
        let plain = self.draw(GraphicalTheme::unicode_nocolor());
        let tidy = plain.split('\n').map(clean).collect::<Vec<_>>().join("\n");
        if color && tidy == plain { self.draw(GraphicalTheme::unicode()) } else { tidy }
    }

    fn draw(&self, theme: GraphicalTheme) -> String {
        let mut text = String::new();
        let handler = GraphicalReportHandler::new_themed(theme).with_links(false);
        let drawn = match &self.frame {
            Some(frame) if frame.is_wide() => handler.render_report(&mut text, &Self { frame: None, ..self.clone() }),
            Some(_) => handler.render_report(&mut text, &Framed(self)),
            None => handler.render_report(&mut text, self),
        };
        if drawn.is_err() {
            text = self.to_string();
        }
        text
    }
}

/// Bytes of the lines in a frame.
const MAX_FRAME_BYTES: usize = 8 * 1024;

impl Frame {
    /// Whether the lines of the frame, one before and one behind among them, are more than anybody reads.
    fn is_wide(&self) -> bool {
        let text = self.source.inner().as_bytes();
        let end = (self.offset + self.length).min(text.len());
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let before = text[..self.offset.min(end)].rsplitn(3, is_end).take(2).map(<[u8]>::len).sum::<usize>();
        let behind = text[end..].splitn(3, is_end).take(2).map(<[u8]>::len).sum::<usize>();
        before + self.length + behind > MAX_FRAME_BYTES
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.code)?;
        if let Some(category) = self.category {
            write!(f, " ({category})")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for Diagnostic {}

impl miette::Diagnostic for Diagnostic {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.frame.as_ref().map(|frame| &frame.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let frame = self.frame.as_ref()?;
        Some(Box::new(std::iter::once(LabeledSpan::new(
            self.category.map(|category| category.to_string()),
            frame.offset,
            frame.length,
        ))))
    }
}

/// A diagnostic beside its code frame, which shows the place and the code already: what remains is the sentence.
#[derive(Debug)]
struct Framed<'a>(&'a Diagnostic);

impl fmt::Display for Framed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Framed<'_> {}

impl miette::Diagnostic for Framed<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        miette::Diagnostic::code(self.0)
    }

    fn severity(&self) -> Option<miette::Severity> {
        miette::Diagnostic::severity(self.0)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        miette::Diagnostic::help(self.0)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.0.labels()
    }
}

/// Characters of a message or a help. A project may write names and specifiers of a megabyte.
const MAX_MESSAGE: usize = 2_000;

/// Characters of a name or a specifier that is repeated in a message.
const MAX_QUOTE: usize = 200;

fn cut(text: String) -> String {
    shortened(&text, MAX_MESSAGE).unwrap_or(text)
}

/// A name or a specifier, as messages repeat it.
pub(crate) fn quote(text: &str) -> String {
    shortened(text, MAX_QUOTE).unwrap_or_else(|| text.to_owned())
}

fn shortened(text: &str, most: usize) -> Option<String> {
    text.char_indices().nth(most).map(|(end, _)| format!("{}…", &text[..end]))
}

// Reading sources.

pub(crate) fn invalid_utf8(at: &Location) -> Diagnostic {
    Diagnostic::error("C_SYNTAX", at, "the file is not valid UTF-8").help("save it as UTF-8")
}

pub(crate) fn too_large(at: &Location, bytes: u64, limit: u64) -> Diagnostic {
    Diagnostic::error(
        "C_COMPILE_LIMIT",
        at,
        format!("the file has at least {bytes} bytes, a source module may have {limit}"),
    )
    .help("split it into several modules")
}

pub(crate) fn too_deep(at: &Location, limit: usize) -> Diagnostic {
    Diagnostic::error("C_COMPILE_LIMIT", at, format!("the code nests deeper than {limit} levels"))
        .help("move the inner part to a function or constant of its own")
}

pub(crate) fn too_many_modules(at: &Location, limit: usize) -> Diagnostic {
    Diagnostic::error("C_COMPILE_LIMIT", at, format!("the project has more than {limit} modules"))
        .help("import fewer modules from the entry")
}

pub(crate) fn too_much_source(at: &Location, limit: usize) -> Diagnostic {
    Diagnostic::error(
        "C_COMPILE_LIMIT",
        at,
        format!("with this module the project has more than {limit} bytes of source"),
    )
    .help("import fewer or smaller modules from the entry")
}

pub(crate) fn unreadable(at: &Location, reason: &str) -> Diagnostic {
    Diagnostic::error("C_IMPORT_UNSUPPORTED", at, format!("the file cannot be read: {reason}"))
        .category(Category::MissingModule)
}

/// Problems that are counted and not listed.
pub(crate) fn more(at: &Location, count: usize, errors: bool) -> Diagnostic {
    let message = format!("there {} {count} more", if count == 1 { "is" } else { "are" });
    let diagnostic = match errors {
        true => Diagnostic::error("C_COMPILE_LIMIT", at, message),
        false => Diagnostic::warning("W_COMPILE_LIMIT", at, message),
    };
    diagnostic.help("correct the ones above first")
}

// Syntax.

pub(crate) fn syntax(at: &Location, message: &str, help: Option<&str>) -> Diagnostic {
    let diagnostic = Diagnostic::error("C_SYNTAX", at, message);
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

pub(crate) fn parser_failed(at: &Location) -> Diagnostic {
    Diagnostic::error("C_COMPILE_LIMIT", at, "the module could not be parsed within the compiler's own limits")
}

pub(crate) fn cannot_be_lowered(at: &Location, what: &str, help: &str) -> Diagnostic {
    Diagnostic::error("C_SYNTAX", at, format!("{what} cannot be compiled to ES2022 JavaScript")).help(help)
}

pub(crate) fn namespace_hidden(at: &Location) -> Diagnostic {
    let message = "this name comes from another block of the namespace, whose own name means something else here";
    Diagnostic::error("C_SYNTAX", at, message).help("give the inner variable another name than the namespace")
}

pub(crate) fn regular_expression_sets(at: &Location) -> Diagnostic {
    Diagnostic::error("C_SYNTAX", at, "the engine has no regular expressions with the flag `v`")
        .help("write it with the flag `u`; spell a set out, or test twice")
}

pub(crate) fn regular_expression_modifiers(at: &Location) -> Diagnostic {
    Diagnostic::error("C_SYNTAX", at, "the engine has no modifiers in regular expressions, such as `(?i:…)`")
        .help("give the whole expression the flag, or write `[aA]`")
}

pub(crate) fn regular_expression_names(at: &Location, name: &str) -> Diagnostic {
    Diagnostic::error("C_SYNTAX", at, format!("the engine does not know two groups of one name, `{}`", quote(name)))
        .help("give each group its own name")
}

pub(crate) fn transform_failed(at: &Location, reason: &str, help: Option<&str>) -> Diagnostic {
    if reason.starts_with("Namespaces exporting non-const") {
        return cannot_be_lowered(
            at,
            "a variable that a namespace exports",
            "export a `const`, or make the namespace a module",
        );
    }
    syntax(at, &format!("this TypeScript cannot be compiled: {reason}"), help)
}

pub(crate) fn nothing_to_export(at: &Location, name: &str) -> Diagnostic {
    Diagnostic::error("C_SYNTAX", at, format!("the module has no `{}` to export", quote(name)))
        .help("declare or import it, or correct the name")
}

pub(crate) fn missing_export(at: &Location, module: &str, name: &str) -> Diagnostic {
    Diagnostic::error("C_SYNTAX", at, format!("`{module}` has no export `{}`", quote(name)))
        .help("export it there, or correct the name")
}

pub(crate) fn ambiguous_export(at: &Location, module: &str, name: &str, first: &str, second: &str) -> Diagnostic {
    let message = format!(
        "`{module}` has two exports `{}`: its `export *` lead to those of `{first}` and `{second}`",
        quote(name)
    );
    Diagnostic::error("C_SYNTAX", at, message).help("import it from the one that is meant, or export it by name")
}

pub(crate) fn top_level_await(at: &Location) -> Diagnostic {
    Diagnostic::error("C_TOP_LEVEL_AWAIT", at, "a module cannot use top-level `await`")
        .help("modules are evaluated synchronously, without network or timers; write the value as a constant")
}

// Imports (spec 2.2).

fn import(at: &Location, category: Category, message: impl Into<String>, help: &str) -> Diagnostic {
    Diagnostic::error("C_IMPORT_UNSUPPORTED", at, message).category(category).help(help)
}

pub(crate) fn node_builtin(at: &Location, specifier: &str) -> Diagnostic {
    import(
        at,
        Category::NodeBuiltin,
        format!("`{specifier}` is a built-in module of the host; callbacks have none"),
        "pass the data as input; for files, give a `.withFilesystem()` agent a script",
    )
}

pub(crate) fn npm_package(at: &Location, specifier: &str) -> Diagnostic {
    import(
        at,
        Category::NpmPackage,
        format!("the package `{specifier}` cannot be imported"),
        "copy the helper into the project; a package installed in a sandbox is not importable by a callback. \
         Types alone may come from anywhere: `import type`",
    )
}

pub(crate) fn package_subpath(at: &Location, specifier: &str, package: &str) -> Diagnostic {
    import(at, Category::NpmPackage, format!("`{specifier}` cannot be imported"), &format!("import from `{package}`"))
}

pub(crate) fn url(at: &Location, specifier: &str) -> Diagnostic {
    import(
        at,
        Category::Url,
        format!("`{specifier}` is a URL; nothing is fetched"),
        "copy the code into the project as a source module",
    )
}

pub(crate) fn outside_project(at: &Location, specifier: &str) -> Diagnostic {
    import(
        at,
        Category::OutsideProject,
        format!("`{specifier}` leads outside the project"),
        "move the file under the project's folder and import it with a relative path",
    )
}

pub(crate) fn missing_module(at: &Location, specifier: &str, path: &str) -> Diagnostic {
    import(
        at,
        Category::MissingModule,
        format!("`{specifier}` names no file: there is no `{path}`"),
        "check the path; it is relative to the importing file",
    )
}

pub(crate) fn backslash_in_specifier(at: &Location, specifier: &str) -> Diagnostic {
    import(at, Category::MissingModule, format!("`{specifier}` contains a backslash"), "write the path with `/`")
}

pub(crate) fn ambiguous_module(at: &Location, specifier: &str, first: &str, second: &str) -> Diagnostic {
    import(
        at,
        Category::MissingModule,
        format!("`{specifier}` is ambiguous: both `{first}` and `{second}` exist"),
        "write the file name with its extension",
    )
}

pub(crate) fn non_source_module(at: &Location, specifier: &str) -> Diagnostic {
    let help = if specifier.ends_with(".json") {
        "put the data into a `.ts` module: `export const data = { … }`"
    } else if specifier.ends_with(".js") || specifier.ends_with(".mjs") || specifier.ends_with(".mts") {
        "rename the module to `.ts`"
    } else if specifier.ends_with(".tsx") || specifier.ends_with(".jsx") {
        "callbacks have no JSX; write a `.ts` module"
    } else if specifier.ends_with(".d.ts") {
        "import types with `import type`"
    } else {
        "export the value as a constant of a `.ts` module"
    };
    import(at, Category::NonSourceModule, format!("`{specifier}` is no TypeScript source module"), help)
}

pub(crate) fn import_attributes(at: &Location, specifier: &str) -> Diagnostic {
    import(
        at,
        Category::NonSourceModule,
        format!("the import of `{specifier}` carries attributes; only source modules can be imported"),
        "remove the attributes; put data into a `.ts` module: `export const data = { … }`",
    )
}

pub(crate) fn dynamic_import(at: &Location) -> Diagnostic {
    import(
        at,
        Category::DynamicImport,
        "`import()` is not available",
        "use a static relative import at the top of the file",
    )
}

pub(crate) fn require(at: &Location, what: &str) -> Diagnostic {
    import(
        at,
        Category::Require,
        format!("`{what}` is not available"),
        "use a static relative import at the top of the file",
    )
}

pub(crate) fn import_meta(at: &Location) -> Diagnostic {
    import(
        at,
        Category::ImportMeta,
        "`import.meta` is not available",
        "a callback has no file of its own at run time; pass the value as input",
    )
}

// Callbacks (spec 2.3).

/// What to call a callback in a sentence.
fn describe(kind: CallbackKind) -> &'static str {
    match kind {
        CallbackKind::Tool => "tool's `execute`",
        CallbackKind::Evaluator => "evaluator",
        CallbackKind::DiffSelector => "`select` of `exactDiff`",
        CallbackKind::JudgeSelector => "`select` of `llmJudge`",
        CallbackKind::PassRule => "pass rule",
    }
}

const SYNCHRONOUS: &str = "callbacks run synchronously: drop";

pub(crate) fn callback_async(at: &Location, kind: CallbackKind) -> Diagnostic {
    Diagnostic::error("C_CALLBACK_ASYNC", at, format!("the {} is an async function", describe(kind)))
        .help(format!("{SYNCHRONOUS} `async`; pass fetched data in as input"))
}

pub(crate) fn callback_generator(at: &Location, kind: CallbackKind) -> Diagnostic {
    Diagnostic::error("C_CALLBACK_GENERATOR", at, format!("the {} is a generator function", describe(kind)))
        .help(format!("{SYNCHRONOUS} the `*` and return the value; collect items in an array"))
}

pub(crate) fn name_not_literal(at: &Location) -> Diagnostic {
    Diagnostic::warning("W_NAME_NOT_LITERAL", at, "the evaluator's name is not a string literal")
        .help("write the name in place, or the score's name is not known to the type checker")
}

pub(crate) fn global_unavailable(at: &Location, name: &str) -> Diagnostic {
    Diagnostic::warning("W_GLOBAL_UNAVAILABLE", at, format!("`{name}` does not exist where callbacks run"))
        .help("pass the data as input")
}

pub(crate) fn not_reproducible(at: &Location, what: &str) -> Diagnostic {
    Diagnostic::warning("W_NOT_REPRODUCIBLE", at, format!("`{what}` makes the callback's result not reproducible"))
        .help("pass the value in as input")
}

// Evaluation (spec 2.5).

/// A problem that the evaluation found; the runtime chose the code and the words.
pub(crate) fn evaluation(at: &Location, code: String, message: String, help: Option<String>) -> Diagnostic {
    let diagnostic = Diagnostic::error(code, at, message);
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

pub(crate) fn clock_touched(at: &Location) -> Diagnostic {
    Diagnostic::warning(
        "W_CLOCK_TOUCHED",
        at,
        "a module asked for the time while it was evaluated and caught the error",
    )
    .help("the clock is disabled at compile time; read it inside a callback or pass it as input")
}

pub(crate) fn random_touched(at: &Location) -> Diagnostic {
    Diagnostic::warning(
        "W_RANDOM_TOUCHED",
        at,
        "a module asked for a random number while it was evaluated and caught the error",
    )
    .help("`Math.random()` is disabled at compile time; pass a value as input")
}

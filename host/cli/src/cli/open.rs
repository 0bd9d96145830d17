//! Gets the engine, from the cache or compiled now, and what runs on it.

use super::environment::{CACHE_DIR, Environment, SCRIPTS};
use super::failure::{Hint, Problem};
use super::files;
use super::render::{Terminal, plural};
use anyhow::Context;
use callcell::compiler::{Compilation, Project, compile};
use callcell::runtime::{Bundle, BundleFile, CallError, CallErrorKind, Engine, EngineConfig, EngineError, ModuleSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Ending of a bundle's name; anything else is taken for a project.
pub const BUNDLE_EXTENSION: &str = "cell";
/// More than any bundle the runtime accepts.
const MAX_BUNDLE_BYTES: usize = 256 * 1024 * 1024;

pub fn is_bundle(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == BUNDLE_EXTENSION) && !path.is_dir()
}

/// Stops before any line of a project is read, where the deployment runs no scripts (CB-95).
pub fn require_scripts(environment: &Environment) -> anyhow::Result<()> {
    if environment.scripts_enabled {
        return Ok(());
    }
    let error = anyhow::Error::from(CallError::from(CallErrorKind::ScriptsDisabled));
    Err(error.context(Hint(format!("the environment variable `{}` is `off`", SCRIPTS.name))))
}

/// The engine, for a process that makes one call and ends.
pub fn engine(environment: &Environment, no_cache: bool, terminal: &Terminal) -> anyhow::Result<Engine> {
    made(EngineConfig::one_shot(), environment, no_cache, terminal)
}

/// The engine, for a process that makes many calls at once.
pub fn service(environment: &Environment, no_cache: bool, terminal: &Terminal) -> anyhow::Result<Engine> {
    made(EngineConfig::default(), environment, no_cache, terminal)
}

fn made(
    config: EngineConfig,
    environment: &Environment,
    no_cache: bool,
    terminal: &Terminal,
) -> anyhow::Result<Engine> {
    let cache_dir = if no_cache { None } else { cache_dir(environment, terminal) };
    let config = EngineConfig { scripts_enabled: environment.scripts_enabled, cache_dir, ..config };
    let made = {
        let once = config.cache_dir.is_some();
        let _spinner =
            terminal.spinner(if once { "compiling the engine, once per machine" } else { "compiling the engine" });
        Engine::new(config.clone())
    };
    match made {
        Err(error @ EngineError::File { .. }) if config.cache_dir.is_some() => {
            terminal.warning(&format!("{error}; the engine is compiled in memory"));
            let _spinner = terminal.spinner("compiling the engine");
            Ok(Engine::new(EngineConfig { cache_dir: None, ..config })?)
        }
        made => Ok(made?),
    }
}

/// The cache folder, if it can serve. Looking first saves compiling twice where it cannot.
fn cache_dir(environment: &Environment, terminal: &Terminal) -> Option<PathBuf> {
    let Some(folder) = &environment.cache_dir else {
        terminal.warning(&format!(
            "no home folder to keep the compiled engine in, so it is compiled every time; set `{}`",
            CACHE_DIR.name
        ));
        return None;
    };
    match inspect(folder) {
        Ok(()) => Some(folder.clone()),
        Err(why) => {
            terminal.warning(&format!(
                "the cache folder `{}` cannot be used ({why}), so the engine is compiled in memory",
                folder.display()
            ));
            None
        }
    }
}

/// A folder that holds an engine may be read-only; any other must take one.
fn inspect(folder: &Path) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(text)?;
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::mode(&fs::metadata(folder).map_err(text)?) & 0o002 != 0 {
        return Err("anybody may write to it, and it holds native code".into());
    }
    let holds_engine = fs::read_dir(folder)
        .map_err(text)?
        .flatten()
        .any(|entry| entry.file_name().to_string_lossy().starts_with("engine-"));
    if holds_engine {
        return Ok(());
    }
    tempfile::tempfile_in(folder).map(drop).map_err(text)
}

/// Opens a project, by its folder or its entry module.
pub fn project(path: &Path) -> anyhow::Result<Project> {
    // Not the compiler's business: to it, a missing entry is one more import that leads nowhere.
    fs::metadata(path).map_err(|source| Problem::File { action: "read", path: path.to_owned(), source })?;
    Ok(Project::open(path)?)
}

/// What to do with a project's warnings.
#[derive(Clone, Copy)]
pub enum Warnings {
    Show,
    /// Their author sees them elsewhere.
    Count,
}

/// Compiles a project and shows what its author should know.
pub fn compilation(
    engine: &Engine,
    project: &Project,
    warnings: Warnings,
    terminal: &Terminal,
) -> anyhow::Result<Compilation> {
    let compilation = compile(engine, project)?;
    match (warnings, compilation.warnings.len()) {
        (_, 0) => {}
        (Warnings::Show, _) => terminal.diagnostics(&compilation.warnings),
        (Warnings::Count, count) => {
            terminal.note(&format!("{}; `callcell check` shows what they are", plural(count, "warning")));
        }
    }
    terminal.logs(&compilation.logs);
    Ok(compilation)
}

/// A bundle from a file.
pub fn bundle_file(path: &Path) -> anyhow::Result<BundleFile> {
    let bytes = files::read(path, MAX_BUNDLE_BYTES)?;
    BundleFile::from_bytes(&bytes).with_context(|| format!("cannot load `{}`", path.display()))
}

/// A project, compiled now, or a bundle from a file.
pub fn file(engine: &Engine, source: &Path, terminal: &Terminal) -> anyhow::Result<BundleFile> {
    match is_bundle(source) {
        true => bundle_file(source),
        false => Ok(compilation(engine, &project(source)?, Warnings::Count, terminal)?.bundle),
    }
}

/// A bundle, ready to be called, and its modules, which know where its code was written.
pub fn load(engine: &Engine, file: BundleFile, source: &Path) -> anyhow::Result<(Bundle, ModuleSet)> {
    let modules = file.modules.clone();
    let bundle = engine.load(file).with_context(|| format!("cannot load `{}`", source.display()))?;
    Ok((bundle, modules))
}

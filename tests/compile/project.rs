//! TypeScript projects in folders of their own, for the other modules of this binary.

use callcell_compiler::{Compilation, CompileError, Diagnostic, Project, compile};
use callcell_runtime::{Bundle, CallOptions};
use callcell_tests::engine;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The first line of a module that declares something. What of it is not used is erased.
pub const SDK: &str =
    "import { createAgent, createTool, exactDiff, llmJudge, weightedScore } from '@eigenpal/automations';";

/// A project in a temporary folder.
pub struct Files {
    folder: tempfile::TempDir,
    entry: String,
}

impl Files {
    /// A folder with these files; the first one is the entry.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = Self { folder, entry: files[0].0.to_owned() };
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    /// A project of one module, `a.ts`.
    pub fn one(text: &str) -> Self {
        Self::new(&[("a.ts", text)])
    }

    /// A project of one module that begins with [`SDK`], so that the text starts in line 2.
    pub fn declaring(text: &str) -> Self {
        Self::one(&format!("{SDK}\n{text}"))
    }

    /// Writes a file, and the folders it needs.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the folder is made");
        std::fs::write(path, content).expect("the file is written");
    }

    /// A symbolic link.
    #[cfg(unix)]
    pub fn link(&self, name: &str, target: &str) {
        std::os::unix::fs::symlink(target, self.path(name)).expect("the link is made");
    }

    /// Where a file of the project lies.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The project.
    pub fn project(&self) -> Project {
        Project::with_root(self.folder.path(), Path::new(&self.entry)).expect("the project opens")
    }

    /// Compiles it.
    pub fn compile(&self) -> Result<Compilation, CompileError> {
        compile(engine(), &self.project())
    }

    /// Compiles what has to compile.
    pub fn compilation(&self) -> Compilation {
        self.compile().unwrap_or_else(|error| panic!("{error}: {:#?}", error.diagnostics()))
    }

    /// Compiles what has to compile, and loads it.
    pub fn bundle(&self) -> Bundle {
        engine().load(self.compilation().bundle).expect("the bundle loads")
    }

    /// Everything that is said of the project: its problems, or the warnings if it compiles.
    pub fn found(&self) -> Vec<Diagnostic> {
        match self.compile() {
            Ok(compilation) => compilation.warnings,
            Err(CompileError::Diagnostics(found)) => found,
            Err(error) => panic!("{error}"),
        }
    }

    /// The same, each in one line: `a.ts:2:5: C_CODE: what is wrong`.
    pub fn report(&self) -> Vec<String> {
        self.found().iter().map(Diagnostic::to_string).collect()
    }

    /// The same without the words: `a.ts:2:5 C_CODE`.
    pub fn places(&self) -> Vec<String> {
        self.found().iter().map(|it| format!("{}:{}:{} {}", it.file, it.line, it.column, it.code)).collect()
    }
}

/// The entry of [`value`]: a selector, because those may return anything.
const PROBE: &str = "
import probe from './probe.ts';
export default createAgent({ name: 'a', instructions: 'Work.' })
  .defineEvaluator('probe', exactDiff({ select: () => probe() }))
  .defineEvalPass(weightedScore({ weights: { probe: 1 }, threshold: 0 }));
";

/// A project whose selector `a.evaluators.probe` calls the function that `probe.ts` exports by default.
pub fn probe(files: &[(&str, &str)]) -> Files {
    let project = Files::new(&[("main.ts", &format!("{SDK}{PROBE}"))]);
    for (name, text) in files {
        project.write(name, text);
    }
    project
}

/// What the function that `probe.ts` exports by default returns, in a call.
pub fn value(files: &[(&str, &str)]) -> Value {
    let bundle = probe(files).bundle();
    let options = CallOptions { reveal: true, ..CallOptions::default() };
    let outcome = bundle.call_blocking("a.evaluators.probe", &json!(null), &options);
    let outcome = outcome.unwrap_or_else(|error| panic!("{:?}\n{}", error.kind, files[0].1));
    assert_eq!(outcome.undefined, [""; 0], "undefined members in {}", outcome.value);
    outcome.value
}

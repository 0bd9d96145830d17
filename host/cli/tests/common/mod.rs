//! Runs the program the way a shell does.
#![allow(dead_code, reason = "each test binary uses its part")]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// What a run of the program gave.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// The one JSON object on standard output.
    pub fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "{}", self.stdout);
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// Exit code, and the error's code in brackets at the end of its sentence.
    pub fn failed(&self, exit: i32, code: &str) {
        assert_eq!(self.code, Some(exit), "{}", self.stderr);
        assert_eq!(self.stdout, "");
        assert!(self.stderr.contains(&format!(" [{code}]\n")), "{}", self.stderr);
    }
}

pub fn command(arguments: &[&str], cache: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callcell"));
    command.args(arguments).env("CALLCELL_CACHE_DIR", cache).env_remove("CALLCELL_SCRIPTS").stdin(Stdio::null());
    command
}

/// One cache for all tests, filled by the first.
pub fn cache() -> &'static Path {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    CACHE.get_or_init(|| {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-cache");
        assert!(command(&["engine"], &cache).output().unwrap().status.success());
        cache
    })
}

pub fn run(mut command: Command) -> Run {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

pub fn callcell(arguments: &[&str]) -> Run {
    run(command(arguments, cache()))
}

/// A folder with these files.
pub struct Files(pub tempfile::TempDir);

impl Files {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, text)| folder.write(name, text));
        folder
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Runs the program in this folder.
    pub fn callcell(&self, arguments: &[&str]) -> Run {
        let mut command = command(arguments, cache());
        command.current_dir(self.0.path());
        run(command)
    }
}

//! Every environment variable the program reads, declared once.

use super::failure::Problem;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A variable and what it is for.
pub struct Variable {
    pub name: &'static str,
    pub help: &'static str,
}

/// Where the compiled engine is kept. The folder holds native code that this program runs.
pub const CACHE_DIR: Variable =
    Variable { name: "CALLCELL_CACHE_DIR", help: "folder of the compiled engine [default: ~/.cache/callcell]" };
/// The deployment's switch (CB-94): with `off` no line of a project runs, neither in a call nor in a compilation.
pub const SCRIPTS: Variable =
    Variable { name: "CALLCELL_SCRIPTS", help: "`off` runs no scripts: every call fails with R_SCRIPTS_DISABLED" };
/// As no-color.org has it: set and not empty.
pub const NO_COLOR: Variable = Variable { name: "NO_COLOR", help: "not empty: no colours" };
/// The parent of the default cache folder, as the XDG base directories have it.
pub const XDG_CACHE_HOME: Variable =
    Variable { name: "XDG_CACHE_HOME", help: "parent of the default cache folder [default: ~/.cache]" };
/// The file of datasets and experiments.
pub const STORE: Variable =
    Variable { name: "CALLCELL_STORE", help: "file of datasets and experiments [default: callcell.db]" };
/// The service of the judge's models.
pub const JUDGE_URL: Variable =
    Variable { name: "CALLCELL_JUDGE_URL", help: "the judge's service, such as https://api.example.com/v1" };
/// What the service knows us by. It has no flag: command lines are seen by everybody on a machine.
pub const JUDGE_KEY: Variable = Variable { name: "CALLCELL_JUDGE_KEY", help: "the key of the judge's service" };
/// The configured models (EV-82).
pub const JUDGE_MODELS: Variable =
    Variable { name: "CALLCELL_JUDGE_MODELS", help: "the judge's models, with commas; the first is the usual one" };
/// What an agent behind HTTP knows us by.
pub const ENDPOINT_KEY: Variable =
    Variable { name: "CALLCELL_ENDPOINT_KEY", help: "the key of the agent behind `--endpoint`" };
const HOME: &str = "HOME";

/// The variables, for `--help`.
pub fn help() -> String {
    let lines = [CACHE_DIR, SCRIPTS, STORE, JUDGE_URL, JUDGE_KEY, JUDGE_MODELS, ENDPOINT_KEY, NO_COLOR, XDG_CACHE_HOME];
    let lines = lines.map(|variable| format!("\n  {:<21}  {}", variable.name, variable.help));
    format!("Environment:{}", lines.concat())
}

/// What the variables say.
#[derive(Debug, PartialEq, Eq)]
pub struct Environment {
    /// Where the compiled engine is kept; none if nothing names a folder.
    pub cache_dir: Option<PathBuf>,
    /// Whether any script may run.
    pub scripts_enabled: bool,
}

impl Environment {
    /// Reads the process's environment.
    pub fn read() -> Result<Self, Problem> {
        Self::from(|name| std::env::var_os(name))
    }

    fn from(get: impl Fn(&str) -> Option<OsString>) -> Result<Self, Problem> {
        let folder = |name: &str| get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // The XDG base directories ask for relative paths to be ignored.
        let cache_dir = folder(CACHE_DIR.name).or_else(|| {
            let absolute = |path: &PathBuf| Path::is_absolute(path);
            let parent = folder(XDG_CACHE_HOME.name).filter(absolute);
            let parent = parent.or_else(|| Some(folder(HOME).filter(absolute)?.join(".cache")))?;
            Some(parent.join("callcell"))
        });
        let scripts = get(SCRIPTS.name).unwrap_or_default();
        let scripts_enabled = match scripts.to_string_lossy().to_ascii_lowercase().as_str() {
            "" | "on" => true,
            "off" => false,
            // A switch that was misspelt must not count as `on`.
            _ => {
                let value = scripts.to_string_lossy().into_owned();
                return Err(Problem::Variable { name: SCRIPTS.name, value, expected: "`on` or `off`" });
            }
        };
        Ok(Self { cache_dir, scripts_enabled })
    }
}

/// A variable that holds a key; none where it is empty. Its value is shown nowhere.
pub fn secret(variable: &Variable) -> Option<OsString> {
    std::env::var_os(variable.name).filter(|value| !value.is_empty())
}

/// Whether colours are wanted at all.
pub fn allows_color() -> bool {
    std::env::var_os(NO_COLOR.name).is_none_or(|value| value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Result<Environment, Problem> {
        Environment::from(|name| variables.iter().find(|(found, _)| *found == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn the_cache_folder_falls_back_to_xdg_and_home() {
        let folder = |variables: &[_]| environment(variables).unwrap().cache_dir;
        let home = ("HOME", "/home/ada");
        assert_eq!(folder(&[home]), Some("/home/ada/.cache/callcell".into()));
        assert_eq!(folder(&[home, ("XDG_CACHE_HOME", "/c")]), Some("/c/callcell".into()));
        assert_eq!(folder(&[home, ("XDG_CACHE_HOME", "c")]), Some("/home/ada/.cache/callcell".into()));
        assert_eq!(folder(&[home, ("CALLCELL_CACHE_DIR", "x")]), Some("x".into()));
        assert_eq!(folder(&[home, ("CALLCELL_CACHE_DIR", "")]), Some("/home/ada/.cache/callcell".into()));
        assert_eq!(folder(&[]), None);
    }

    #[test]
    fn a_misspelt_switch_is_refused() {
        let scripts = |value| environment(&[("CALLCELL_SCRIPTS", value)]).map(|it| it.scripts_enabled);
        assert!(matches!((scripts(""), scripts("on"), scripts("OFF")), (Ok(true), Ok(true), Ok(false))));
        assert!(scripts("of").is_err());
    }
}

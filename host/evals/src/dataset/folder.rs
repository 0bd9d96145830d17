//! Examples as folders (7.1):
//!
//! ```text
//! examples/NAME/input.json      an object
//! examples/NAME/input/…         documents that it names as {"$file": "input/…"}
//! examples/NAME/expected.json   an object; may be missing
//! examples/NAME/expected/…      documents that it names
//! examples/NAME/meta.json       {"rowOrder": 3, "annotation": "…"}; may be missing
//! ```
//!
//! Everything is read through a handle on the folder, so neither a document's name nor a symbolic link leads out of it. A file that
//! nothing names is a mistake and is reported.

use super::{BadExample, MAX_JSON_BYTES, invalid, shape};
use crate::model::{Example, Failure};
use callcell_runtime::parse_json;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Files of one example.
const MAX_FILES: usize = 1_000;
/// Folders in each other below an example.
const MAX_DEPTH: usize = 16;
/// What may stand in an example's folder beside the two folders of documents.
const FILES: [&str; 3] = ["input.json", "expected.json", "meta.json"];

/// A folder that is no dataset.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FolderError {
    /// It cannot be read.
    #[error("the dataset folder `{}` cannot be read: {source}", path.display())]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no folder `examples` in it.
    #[error("the dataset folder `{}` has no folder `examples`", path.display())]
    NoExamples {
        /// The folder.
        path: PathBuf,
    },
    /// It holds a `manifest.json`, which belongs to exports of whole experiments.
    #[error("the dataset folder `{}` has a `manifest.json`; a dataset has none", path.display())]
    Manifest {
        /// The folder.
        path: PathBuf,
    },
}

impl FolderError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "FILE_UNREADABLE",
            Self::NoExamples { .. } | Self::Manifest { .. } => "X_DATASET_INVALID",
        }
    }
}

/// An example and the documents it names.
#[derive(Clone, Debug, PartialEq)]
pub struct FolderExample {
    /// The example. References to documents stand in it as `{"$file": "input/…"}`.
    pub example: Example,
    /// The documents, relative to the example's folder, by name.
    pub documents: Vec<String>,
}

/// A dataset in a folder, opened.
#[derive(Debug)]
pub struct Folder {
    examples: Dir,
    /// In the order of the dataset: `rowOrder`, then name.
    names: Vec<String>,
}

impl Folder {
    /// Opens a dataset folder and finds the order of its examples.
    ///
    /// # Errors
    /// When it cannot be read or is no dataset. What is wrong with an example shows when it is read.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let unreadable = |source| FolderError::Unreadable { path: path.to_owned(), source };
        let root = Dir::open_ambient_dir(path, ambient_authority()).map_err(unreadable)?;
        if root.exists("manifest.json") {
            return Err(FolderError::Manifest { path: path.to_owned() });
        }
        let examples = match root.open_dir("examples") {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(FolderError::NoExamples { path: path.to_owned() });
            }
            opened => opened.map_err(unreadable)?,
        };
        let mut order = Vec::new();
        for entry in examples.entries().map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // A file that the system leaves behind is nobody's example.
            if name.starts_with('.') {
                continue;
            }
            order.push((row_order(&examples, &name), name));
        }
        order.sort();
        Ok(Self { examples, names: order.into_iter().map(|(_, name)| name).collect() })
    }

    /// How many examples there are, good and bad.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Reads one example after the other.
    pub fn examples(&self) -> impl Iterator<Item = Result<FolderExample, BadExample>> + '_ {
        self.names.iter().map(|name| self.read(name))
    }

    /// Opens a document that an example names.
    ///
    /// # Errors
    /// When it cannot be read, or is no file.
    pub fn document(&self, example: &str, path: &str) -> io::Result<std::fs::File> {
        let dir = self.examples.open_dir(example)?;
        // A pipe would block in `open`.
        if !dir.metadata(path)?.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        Ok(dir.open(path)?.into_std())
    }

    fn read(&self, name: &str) -> Result<FolderExample, BadExample> {
        let mut problems = Vec::new();
        let example = self.read_parts(name, &mut problems);
        match example {
            Some(example) if problems.is_empty() => Ok(example),
            _ => Err(BadExample { at: format!("examples/{name}"), name: Some(name.to_owned()), problems }),
        }
    }

    fn read_parts(&self, name: &str, problems: &mut Vec<Failure>) -> Option<FolderExample> {
        let dir = match self.examples.open_dir(name) {
            Ok(dir) => dir,
            Err(error) => {
                problems.push(invalid(format!("it is no folder that can be read: {error}")));
                return None;
            }
        };
        let mut part = |file: &str, required: bool| match json(&dir, file) {
            Ok(None) if required => {
                problems.push(invalid(format!("there is no `{file}`")));
                None
            }
            Ok(value) => value,
            Err(what) => {
                problems.push(invalid(format!("`{file}` {what}")));
                None
            }
        };
        let (input, expected, meta) =
            (part("input.json", true), part("expected.json", false), part("meta.json", false));
        let named = named_in(input.as_ref(), expected.as_ref(), problems);
        let mut found = BTreeSet::new();
        if let Err(what) = files(&dir, "", 0, &mut found) {
            problems.push(invalid(what));
        }
        for missing in named.difference(&found) {
            problems.push(invalid(format!("there is no document `{missing}`")));
        }
        for extra in found.difference(&named).filter(|file| !FILES.contains(&file.as_str())) {
            problems.push(invalid(format!("nothing names the file `{extra}`")));
        }
        let annotation = match meta.as_ref().and_then(|meta| meta.get("annotation")) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                problems.push(invalid("`annotation` in `meta.json` must be text"));
                None
            }
        };
        let example = Example { name: name.to_owned(), input: input?, actual: None, expected, annotation };
        problems.extend(shape(&example));
        Some(FolderExample { example, documents: named.into_iter().collect() })
    }
}

/// Where an example stands; those without a `rowOrder` come last.
fn row_order(examples: &Dir, name: &str) -> u64 {
    let meta = examples.open_dir(name).ok().and_then(|dir| json(&dir, "meta.json").ok().flatten());
    meta.and_then(|meta| meta.get("rowOrder")?.as_u64()).unwrap_or(u64::MAX)
}

/// A JSON file; none if there is none. The error is what the file does wrong.
fn json(dir: &Dir, file: &str) -> Result<Option<Value>, String> {
    // A pipe would block in `open`.
    match dir.metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot be read: {error}")),
        Ok(metadata) if !metadata.is_file() => return Err("is no file".into()),
        Ok(_) => {}
    }
    let mut text = Vec::new();
    let read = dir.open(file).and_then(|file| file.take(MAX_JSON_BYTES as u64 + 1).read_to_end(&mut text));
    read.map_err(|error| format!("cannot be read: {error}"))?;
    if text.len() > MAX_JSON_BYTES {
        return Err(format!("has more than {MAX_JSON_BYTES} bytes"));
    }
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
    parse_json(text).map(Some).map_err(|error| format!("is not JSON: {error}"))
}

/// The documents an example names, or what is wrong with their names.
pub(crate) fn named(example: &Example) -> Result<BTreeSet<String>, Vec<Failure>> {
    let mut problems = Vec::new();
    let named = named_in(Some(&example.input), example.expected.as_ref(), &mut problems);
    if problems.is_empty() { Ok(named) } else { Err(problems) }
}

fn named_in(input: Option<&Value>, expected: Option<&Value>, problems: &mut Vec<Failure>) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for (value, folder) in [(input, "input/"), (expected, "expected/")] {
        references(value.unwrap_or(&Value::Null), folder, &mut named, problems);
    }
    named
}

/// The documents a value names. A name is relative to the example's folder and begins with `input/` or `expected/`.
fn references(value: &Value, folder: &str, named: &mut BTreeSet<String>, problems: &mut Vec<Failure>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, folder, named, problems)),
        Value::Object(members) => match members.get("$file") {
            None => members.values().for_each(|member| references(member, folder, named, problems)),
            Some(Value::String(path)) if members.len() == 1 && is_document(path, folder) => {
                named.insert(path.clone());
            }
            Some(_) => problems.push(invalid(format!(
                "a document is named as {{\"$file\":\"{folder}…\"}}, without `..`, `\\` or an empty part, and alone in its object"
            ))),
        },
        _ => {}
    }
}

pub(crate) fn is_document(path: &str, folder: &str) -> bool {
    path.len() <= 1_000
        && path.strip_prefix(folder).is_some_and(|rest| rest.split('/').all(|part| !matches!(part, "" | "." | "..")))
        && !path.contains(['\\', '\0'])
}

/// Every file below a folder, by its path. The error is a sentence.
fn files(dir: &Dir, prefix: &str, depth: usize, found: &mut BTreeSet<String>) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err(format!("there are more than {MAX_DEPTH} folders in each other"));
    }
    let failed = |error: io::Error| format!("the folder `{prefix}` cannot be read: {error}");
    for entry in dir.entries().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Some(name) = entry.file_name().to_str().map(|name| format!("{prefix}{name}")) else {
            return Err("a file has a name that is no text".into());
        };
        if found.len() >= MAX_FILES {
            return Err(format!("there are more than {MAX_FILES} files"));
        }
        if entry.file_type().map_err(failed)?.is_dir() {
            files(&entry.open_dir().map_err(failed)?, &format!("{name}/"), depth + 1, found)?;
        } else {
            found.insert(name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn problems(files: &[(&str, &str)]) -> Vec<String> {
        let folder = folder(files);
        let opened = Folder::open(folder.path()).unwrap();
        let bad = opened.examples().next().unwrap().unwrap_err();
        assert_eq!(bad.at, "examples/a");
        bad.problems.into_iter().map(|problem| problem.message).collect()
    }

    // 7.1, EV-113
    #[test]
    fn examples_come_in_their_order_with_their_documents() {
        let folder = folder(&[
            ("examples/b/input.json", r#"{"scan":{"$file":"input/scans/one.pdf"},"x":[1]}"#),
            ("examples/b/input/scans/one.pdf", "%PDF"),
            ("examples/b/expected.json", r#"{"total":1}"#),
            ("examples/b/meta.json", r#"{"rowOrder":1,"annotation":"torn"}"#),
            ("examples/a/input.json", "{}"),
            ("examples/c/input.json", "{}"),
            ("examples/c/meta.json", r#"{"rowOrder":0}"#),
            ("examples/.DS_Store", ""),
            ("README.md", ""),
        ]);
        let opened = Folder::open(folder.path()).unwrap();
        let found: Vec<_> = opened.examples().map(Result::unwrap).collect();
        let names: Vec<_> = found.iter().map(|it| it.example.name.as_str()).collect();
        assert_eq!((names, opened.len()), (vec!["c", "b", "a"], 3));
        assert_eq!(found[1].documents, ["input/scans/one.pdf"]);
        assert_eq!(found[1].example.expected, Some(json!({ "total": 1 })));
        assert_eq!(found[1].example.annotation.as_deref(), Some("torn"));
        assert_eq!(found[2].example.expected, None);
    }

    // 7.1
    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(problems(&[("examples/a/expected.json", "{}")]), ["there is no `input.json`"]);
        assert_eq!(problems(&[("examples/a/input.json", "[]")]), ["the input must be an object"]);
        assert!(problems(&[("examples/a/input.json", "{")])[0].starts_with("`input.json` is not JSON: "));
        assert_eq!(
            problems(&[("examples/a/input.json", r#"{"a":{"$file":"input/x"}}"#), ("examples/a/input/y", "")]),
            ["there is no document `input/x`", "nothing names the file `input/y`"]
        );
        for reference in [
            "../secret",
            "/etc/passwd",
            "input/../../b/input.json",
            "input/",
            "input//x",
            "expected/x",
            "input\\\\x",
            "x",
        ] {
            let text = format!(r#"{{"a":{{"$file":"{reference}"}}}}"#);
            let found = problems(&[("examples/a/input.json", &text)]);
            assert!(found[0].starts_with("a document is named as"), "{reference}: {found:?}");
        }
        assert!(
            problems(&[("examples/a/input.json", r#"{"$file":"input/x","b":1}"#), ("examples/a/input/x", "")])[0]
                .contains("alone in its object")
        );
        let many = r#"{"annotation":5}"#;
        assert_eq!(
            problems(&[("examples/a/input.json", "{}"), ("examples/a/meta.json", many)]),
            ["`annotation` in `meta.json` must be text"]
        );
        assert!(problems(&[("examples/a", "a file")])[0].starts_with("it is no folder that can be read"));
    }

    // EV-113: nothing outside is read
    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out() {
        let outside = folder(&[("secret.json", r#"{"secret":1}"#)]);
        let inside = folder(&[("examples/a/expected.json", "{}")]);
        let link = inside.path().join("examples/a/input.json");
        std::os::unix::fs::symlink(outside.path().join("secret.json"), link).unwrap();
        let opened = Folder::open(inside.path()).unwrap();
        let bad = opened.examples().next().unwrap().unwrap_err();
        assert!(bad.problems[0].message.starts_with("`input.json` cannot be read"), "{bad}");
    }

    #[test]
    fn a_folder_that_is_no_dataset_is_refused() {
        let code = |files: &[(&str, &str)]| Folder::open(folder(files).path()).unwrap_err().code();
        assert_eq!(code(&[]), "X_DATASET_INVALID");
        assert_eq!(code(&[("manifest.json", "{}"), ("examples/a/input.json", "{}")]), "X_DATASET_INVALID");
        assert_eq!(Folder::open(Path::new("/none")).unwrap_err().code(), "FILE_UNREADABLE");
        let empty = folder(&[("examples/.keep", "")]);
        assert!(Folder::open(empty.path()).unwrap().is_empty());
    }
}

//! The callback's argument: inline JSON, `@file`, or `-` for standard input.

use super::failure::{Problem, TextSource};
use super::files;
use callcell::runtime::{CallError, CallErrorKind, JsonError, Limits, parse_json};
use serde_json::Value;
use std::path::Path;

/// Text that is read for an argument. The limit of 256 KiB counts compact JSON; a file may be indented.
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// Reads and parses the argument.
pub fn read(argument: &str) -> anyhow::Result<Value> {
    let (origin, text) = match argument {
        "-" => {
            let read = files::bounded(std::io::stdin().lock(), MAX_TEXT_BYTES);
            let read = read.map_err(|source| Problem::File { action: "read", path: "standard input".into(), source });
            ("standard input".to_owned(), read?)
        }
        _ => match argument.strip_prefix('@') {
            Some(path) => (format!("`{path}`"), files::read(Path::new(path), MAX_TEXT_BYTES)?),
            None => ("the argument".to_owned(), argument.as_bytes().to_vec()),
        },
    };
    let source = match argument {
        _ if argument == "-" || argument.starts_with('@') => TextSource::File,
        _ if Path::new(argument).is_file() => TextSource::NameOfFile(argument.to_owned()),
        _ => TextSource::CommandLine,
    };
    parse(origin, &text, source)
}

/// Reads and parses a file that was found in a folder, so that nobody chose it: a pipe or a device might never end.
pub fn file(path: &Path) -> anyhow::Result<Value> {
    let failed = |source| Problem::File { action: "read", path: path.to_owned(), source };
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(failed(std::io::Error::other("it is no regular file")).into());
    }
    parse(format!("`{}`", path.display()), &files::read(path, MAX_TEXT_BYTES)?, TextSource::File)
}

fn parse(origin: String, text: &[u8], source: TextSource) -> anyhow::Result<Value> {
    if text.len() > MAX_TEXT_BYTES {
        let limit = Limits::default().argument_bytes;
        return Err(Problem::ArgumentTooLong { origin, read: MAX_TEXT_BYTES, limit }.into());
    }
    // Some editors begin a file with a byte order mark, which is not JSON.
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    parse_json(text).map_err(|error| match error {
        JsonError::TooDeep => CallError::from(CallErrorKind::ArgumentsTooDeep).into(),
        error => {
            let what = if text.trim_ascii().is_empty() { "it is empty".into() } else { error.to_string() };
            Problem::ArgumentNotJson { origin, what, text: source }.into()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    fn failure(argument: &str) -> (String, String) {
        let failure = super::super::failure::Failure::from(read(argument).unwrap_err());
        (failure.code, failure.message)
    }

    #[test]
    fn depth_is_bounded_before_parsing() {
        assert!(read(&nested(128)).is_ok());
        assert_eq!(failure(&nested(129)).0, "R_ARGS_TOO_LARGE");
        assert_eq!(failure(&"[".repeat(1_000_000)).0, "R_ARGS_TOO_LARGE");
        let brackets = json!({ "a": format!("\\\"{}", "[".repeat(200)) });
        assert_eq!(read(&brackets.to_string()).unwrap(), brackets);
    }

    #[test]
    fn what_is_not_json_is_placed() {
        let (code, message) = failure("{\"a\":\n 1,}");
        assert_eq!(code, "ARGUMENT_NOT_JSON");
        assert_eq!(message, "the argument is not JSON: trailing comma at line 2 column 4");
        assert_eq!(failure("").1, "the argument is not JSON: it is empty");
        for text in ["{} {}", "NaN", "'a'", "1e999", "\u{7f}"] {
            assert_eq!(failure(text).0, "ARGUMENT_NOT_JSON", "{text}");
        }
    }

    #[test]
    fn a_byte_order_mark_and_room_around_the_value_are_fine() {
        assert_eq!(read("\u{feff} {\"a\": 1}\n").unwrap(), json!({ "a": 1 }));
    }
}

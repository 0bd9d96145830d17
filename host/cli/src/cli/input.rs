//! The callback's argument: inline JSON, `@file`, or `-` for standard input.

use super::failure::Problem;
use super::files;
use callcell::runtime::{CallError, CallErrorKind, Limits};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// Text that is read for an argument. The limit of 256 KiB counts compact JSON; a file may be indented.
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;
/// Levels a callback's argument may nest (D-34).
const MAX_DEPTH: usize = 128;

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
    if text.len() > MAX_TEXT_BYTES {
        let limit = Limits::default().argument_bytes;
        return Err(Problem::ArgumentTooLong { origin, read: MAX_TEXT_BYTES, limit }.into());
    }
    // Some editors begin a file with a byte order mark, which is not JSON.
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
    if nests_deeper_than(text, MAX_DEPTH) {
        return Err(CallError::from(CallErrorKind::ArgumentsTooDeep).into());
    }
    parse(text).map_err(|error| {
        let what = if text.trim_ascii().is_empty() { "it is empty".into() } else { error.to_string() };
        let inline = !argument.starts_with('@') && argument != "-";
        let is_file = inline && Path::new(argument).is_file();
        Problem::ArgumentNotJson { origin, what, file: is_file.then(|| argument.to_owned()) }.into()
    })
}

/// serde_json's own recursion limit allows one level less than a callback may get; depth is checked before.
fn parse(text: &[u8]) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Whether a parser would descend more than `limit` containers, on text that may be anything.
fn nests_deeper_than(text: &[u8], limit: usize) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    text.iter().any(|byte| {
        if in_string {
            (in_string, escaped) = (escaped || *byte != b'"', !escaped && *byte == b'\\');
        } else {
            match byte {
                b'"' => in_string = true,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        depth > limit
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

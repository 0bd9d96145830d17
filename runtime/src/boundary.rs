//! What crosses into a cell and out of it. Everything that comes out was chosen by an attacker: each length is checked
//! against the memory, bytes are copied once, text is checked as UTF-8 and as JSON, and depth is bounded before parsing.

use crate::abi::MAX_DEPTH;
use crate::outcome::{LogLevel, LogLine};
use serde::de::Deserialize;
use serde_json::Value;
use thiserror::Error;

/// Bytes of a log line's header: one of level, four of length.
const LOG_HEADER_BYTES: usize = 5;

/// Copies `length` bytes at `offset`, or nothing if they do not all lie in `memory` or exceed `limit`.
pub(crate) fn copy(memory: &[u8], offset: u32, length: u32, limit: usize) -> Option<Vec<u8>> {
    let (start, length) = (offset as usize, length as usize);
    if length > limit {
        return None;
    }
    memory.get(start..start.checked_add(length)?).map(<[u8]>::to_vec)
}

/// Why a text is not taken for JSON.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JsonError {
    /// It nests deeper than 128 levels (D-34).
    #[error("it nests deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// It is not JSON, or not UTF-8.
    #[error(transparent)]
    Syntax(#[from] serde_json::Error),
}

/// Parses JSON from anybody: at most 128 levels, the depth that a callback takes and gives. Neither parsing nor dropping such a
/// value can exhaust a stack.
///
/// # Errors
/// When the text nests deeper, is not UTF-8 or not one JSON value.
pub fn parse_json(text: &[u8]) -> Result<Value, JsonError> {
    if depth(text) > MAX_DEPTH {
        return Err(JsonError::TooDeep);
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    // serde_json's own limit is one level below ours.
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// [`parse_json`] for text of the guest, whose mistakes are nobody's business.
pub(crate) fn parse(text: &[u8]) -> Option<Value> {
    parse_json(text).ok()
}

/// How deep the containers of a JSON text nest. On text that is not JSON the answer is still at least what a parser
/// would descend to before it finds out.
fn depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0usize, 0usize, false, false);
    for &byte in text {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// How deep a value nests. Walks with a stack of its own, because a caller may have built it arbitrarily deep.
pub(crate) fn value_depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut open = vec![(value, 1)];
    while let Some((value, depth)) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => open.extend(members.values().map(|member| (member, depth + 1))),
            _ => continue,
        }
        deepest = deepest.max(depth);
        if deepest > MAX_DEPTH {
            break;
        }
    }
    deepest
}

/// The lines of the console buffer: level, length, text. Stops at the first that does not fit.
pub(crate) fn log_lines(mut bytes: &[u8]) -> Vec<LogLine> {
    let mut lines = Vec::new();
    while let [level, a, b, c, d, rest @ ..] = bytes {
        let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        let Some(text) = rest.get(..length) else { break };
        lines.push(LogLine { level: LogLevel::from_code(*level), text: String::from_utf8_lossy(text).into_owned() });
        bytes = &bytes[LOG_HEADER_BYTES + length..];
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_range_outside_the_memory_gives_nothing() {
        let memory = [1, 2, 3, 4];
        assert_eq!(copy(&memory, 1, 2, 8), Some(vec![2, 3]));
        assert_eq!(copy(&memory, 4, 0, 8), Some(vec![]));
        for (offset, length) in [(4, 1), (0, 5), (u32::MAX, 1), (2, u32::MAX), (u32::MAX, u32::MAX)] {
            assert_eq!(copy(&memory, offset, length, usize::MAX), None);
        }
        assert_eq!(copy(&memory, 0, 4, 3), None);
    }

    #[test]
    fn depth_is_bounded_before_parsing() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(nested(128).as_bytes()).is_some());
        assert_eq!(parse(nested(129).as_bytes()), None);
        assert_eq!(parse(nested(1_000_000).as_bytes()), None);
        assert_eq!(parse(br#"{"a":"[[[\"[["}"#), Some(json!({"a": "[[[\"[["})));
        assert_eq!(value_depth(&json!([[{"a": 1}], 2])), 3);
        assert_eq!(value_depth(&json!(1)), 0);
    }

    #[test]
    fn text_that_is_not_json_gives_nothing() {
        for text in [&b"\xff"[..], b"", b"{", b"1 2", b"NaN", b"\"\\ud800\"", b"[1,]"] {
            assert_eq!(parse(text), None);
        }
    }

    #[test]
    fn a_log_that_lies_about_lengths_is_cut() {
        let lines = log_lines(b"\x00\x02\x00\x00\x00hi\x63\xff\xff\xff\xffxx");
        assert_eq!(lines, [LogLine { level: LogLevel::Log, text: "hi".into() }]);
    }
}

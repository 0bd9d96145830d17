//! Examples as lines of JSON: `{"name":…,"input":{…},"actual":{…},"expected":{…}}`, for outputs that exist already.
//!
//! `name`, `actual`, `expected` and `annotation` may be left out; a line without a name is called after its number. Empty lines are
//! passed over.

use super::{BadExample, MAX_JSON_BYTES, invalid, shape};
use crate::model::Example;
use callcell_runtime::parse_json;
use serde_json::Value;
use std::io::{self, BufRead, Read};

/// The members of a line.
const MEMBERS: [&str; 5] = ["name", "input", "actual", "expected", "annotation"];

/// Reads examples from a reader, one line at a time. Not more than [`MAX_JSON_BYTES`] of a line are held.
///
/// An item is an example with its number, what is wrong with a line, or the reader's own error, after which there is nothing more.
pub fn read<R: BufRead>(reader: R) -> Lines<R> {
    Lines { reader, number: 0, ended: false }
}

/// See [`read`].
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    number: u64,
    ended: bool,
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Result<(u64, Example), BadExample>>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.line() {
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
                Ok(None) => return None,
                Ok(Some(line)) if line.trim_ascii().is_empty() => {}
                Ok(Some(line)) => return Some(Ok(example(self.number, &line).map(|example| (self.number, example)))),
            }
        }
        None
    }
}

impl<R: BufRead> Lines<R> {
    /// The next line, without its end; cut behind what it may have.
    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let read = (&mut self.reader).take(MAX_JSON_BYTES as u64 + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            self.ended = true;
            return Ok(None);
        }
        self.number += 1;
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if line.len() > MAX_JSON_BYTES {
            self.skip()?;
        }
        if self.number == 1 && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        Ok(Some(line))
    }

    /// Passes over the rest of a line.
    fn skip(&mut self) -> io::Result<()> {
        loop {
            let buffer = self.reader.fill_buf()?;
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(buffer.len(), |end| end + 1);
            self.reader.consume(used);
            if end.is_some() || used == 0 {
                return Ok(());
            }
        }
    }
}

fn example(number: u64, line: &[u8]) -> Result<Example, BadExample> {
    let bad = |name: Option<String>, problems| BadExample { at: format!("line {number}"), name, problems };
    if line.len() > MAX_JSON_BYTES {
        return Err(bad(None, vec![invalid(format!("the line has more than {MAX_JSON_BYTES} bytes"))]));
    }
    let value = parse_json(line).map_err(|error| bad(None, vec![invalid(format!("the line is not JSON: {error}"))]))?;
    let Value::Object(mut members) = value else {
        return Err(bad(None, vec![invalid("the line must be an object with `name`, `input`, `actual`, `expected`")]));
    };
    let mut problems = Vec::new();
    for member in members.keys().filter(|member| !MEMBERS.contains(&member.as_str())).take(5) {
        problems.push(invalid(format!(
            "there is no member {}; there are `{}`",
            Value::from(member.as_str()),
            MEMBERS.join("`, `")
        )));
    }
    let mut text = |member: &str| match members.shift_remove(member) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text),
        Some(_) => {
            problems.push(invalid(format!("`{member}` must be text")));
            None
        }
    };
    let (name, annotation) = (text("name"), text("annotation"));
    if !members.contains_key("input") {
        problems.push(invalid("there is no `input`"));
    }
    let example = Example {
        name: name.clone().unwrap_or_else(|| format!("line-{number}")),
        input: members.shift_remove("input").unwrap_or_else(|| Value::Object(Default::default())),
        actual: members.shift_remove("actual"),
        expected: members.shift_remove("expected"),
        annotation,
    };
    problems.extend(shape(&example));
    if problems.is_empty() { Ok(example) } else { Err(bad(name, problems)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::Cursor;

    fn all(text: impl AsRef<[u8]>) -> Vec<Result<(u64, Example), BadExample>> {
        read(Cursor::new(text.as_ref().to_vec())).map(Result::unwrap).collect()
    }

    // 7.1
    #[test]
    fn a_line_is_an_example() {
        let text = "\u{feff}{\"name\":\"a\",\"input\":{},\"actual\":null,\"expected\":{\"total\":1}}\r\n\n  \n{\"input\":{\"x\":1}}";
        let found = all(text);
        let first = found[0].as_ref().unwrap();
        assert_eq!((first.0, first.1.name.as_str()), (1, "a"));
        assert_eq!((&first.1.actual, &first.1.expected), (&Some(Value::Null), &Some(json!({ "total": 1 }))));
        let second = found[1].as_ref().unwrap();
        assert_eq!((second.0, second.1.name.as_str(), &second.1.actual), (4, "line-4", &None));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_bad_line_does_not_stop_the_others() {
        let found = all(
            "{\"input\":{}}\nnonsense\n[]\n{\"inputt\":{}}\n{\"name\":\"A\",\"input\":[],\"expected\":{\"$error\":1}}\n{\"input\":{}}\n",
        );
        let words: Vec<_> = found
            .iter()
            .map(|it| it.as_ref().map_or_else(ToString::to_string, |(number, _)| number.to_string()))
            .collect();
        assert_eq!((words[0].as_str(), words[5].as_str(), words.len()), ("1", "6", 6));
        assert!(words[1].starts_with("line 2: the line is not JSON: "), "{}", words[1]);
        assert!(words[2].starts_with("line 3: the line must be an object"), "{}", words[2]);
        assert!(
            words[3].contains("there is no member \"inputt\"") && words[3].contains("there is no `input`"),
            "{}",
            words[3]
        );
        for text in ["line 5 (`A`)", "lower-case letters", "the input must be an object", "an expected failure"] {
            assert!(words[4].contains(text), "{}", words[4]);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let long = format!("{{\"input\":{{\"x\":\"{}\"}}}}", "y".repeat(MAX_JSON_BYTES));
        let found = all(format!("{long}\n{{\"input\":{{}}}}\n{long}"));
        assert!(found[0].as_ref().unwrap_err().to_string().contains("more than 4194304 bytes"));
        assert_eq!(found[1].as_ref().unwrap().0, 2);
        assert_eq!(found[2].as_ref().unwrap_err().at, "line 3");
        assert_eq!(found.len(), 3);
        let deep = all(format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000)));
        assert!(deep[0].as_ref().unwrap_err().to_string().contains("nests deeper than 128 levels"));
    }

    #[test]
    fn a_reader_that_fails_ends_the_lines() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        let mut lines = read(io::BufReader::new(Broken));
        assert!(lines.next().unwrap().is_err());
        assert!(lines.next().is_none());
    }
}

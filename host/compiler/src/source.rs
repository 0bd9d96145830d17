//! The text of one module, and places in it.

use oxc::span::Span;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The largest source module, in bytes.
pub const MAX_SOURCE_BYTES: u64 = 1 << 20;

/// One source file of the project.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Project-relative canonical path with `/` separators.
    pub name: Arc<str>,
    /// Without a byte order mark.
    pub text: Arc<str>,
    /// SHA-256 of the file's bytes as they are on disk, in hexadecimal.
    pub sha256: String,
    line_starts: Vec<usize>,
}

/// A place in a file, with the text when it is at hand.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
    pub offset: usize,
    pub length: usize,
    pub text: Option<Arc<str>>,
}

impl Location {
    /// The start of a file whose text is not at hand.
    pub fn start_of(file: &str) -> Self {
        Self { file: file.into(), line: 1, column: 1, offset: 0, length: 0, text: None }
    }
}

impl Source {
    /// Takes a file's bytes. A file that is not UTF-8 gives the place of its first wrong byte.
    pub fn decode(name: &str, bytes: Vec<u8>) -> Result<Self, Location> {
        let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self::new(name, text, sha256)),
            Err(error) => {
                let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let source = Self::new(name, &valid, sha256);
                let end = source.text.len();
                let mut at = source.locate(end, 0);
                // The frame would show half a file; the place is enough.
                at.text = None;
                Err(at)
            }
        }
    }

    fn new(name: &str, text: &str, sha256: String) -> Self {
        Self { name: name.into(), text: text.into(), sha256, line_starts: line_starts(text) }
    }

    /// The place of a span.
    pub fn at(&self, span: Span) -> Location {
        self.locate(span.start as usize, span.end.saturating_sub(span.start) as usize)
    }

    /// The place of `length` bytes from `offset`. Both are cut to the text.
    pub fn locate(&self, offset: usize, length: usize) -> Location {
        let offset = floor_char_boundary(&self.text, offset);
        let end = floor_char_boundary(&self.text, offset.saturating_add(length));
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let line_start = self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        Location {
            file: Arc::clone(&self.name),
            line: line as u32,
            column: self.text[line_start..offset].encode_utf16().count() as u32 + 1,
            offset,
            length: end - offset,
            text: Some(Arc::clone(&self.text)),
        }
    }

    /// The place of a line and a column, both counted from 1, columns in UTF-16 code units.
    pub fn place(&self, line: u32, column: u32) -> Location {
        let index = (line as usize).saturating_sub(1);
        let start = self.line_starts.get(index).copied().unwrap_or(self.text.len());
        let mut units = 1;
        let mut offset = start;
        for character in self.text[start..].chars() {
            if units >= column || character == '\n' || character == '\r' {
                break;
            }
            units += character.len_utf16() as u32;
            offset += character.len_utf8();
        }
        self.locate(offset, 0)
    }
}

/// Lines end at LF, CR LF or a lone CR, as in every editor.
fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    for (index, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' || (*byte == b'\r' && bytes.get(index + 1) != Some(&b'\n')) {
            starts.push(index + 1);
        }
    }
    starts
}

fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, needle: &str) -> (u32, u32) {
        let source = Source::decode("a.ts", text.as_bytes().to_vec()).unwrap();
        let at = source.locate(source.text.find(needle).unwrap(), needle.len());
        (at.line, at.column)
    }

    #[test]
    fn lines_and_columns_count_from_one_in_utf16() {
        assert_eq!(place("x", "x"), (1, 1));
        assert_eq!(place("a\r\nb\rc\n\u{1F600}x", "x"), (4, 3));
        assert_eq!(place("\u{FEFF}x", "x"), (1, 1));
    }

    #[test]
    fn a_place_and_an_offset_are_inverse() {
        let source = Source::decode("a.ts", "one\r\n\u{1F600}two".as_bytes().to_vec()).unwrap();
        assert_eq!(source.place(2, 3).offset, source.text.find("two").unwrap());
        assert_eq!(source.place(9, 9).offset, source.text.len());
    }

    #[test]
    fn invalid_utf8_is_located() {
        let at = Source::decode("a.ts", b"ok\nab\xFFc".to_vec()).unwrap_err();
        assert_eq!((at.line, at.column), (2, 3));
    }
}

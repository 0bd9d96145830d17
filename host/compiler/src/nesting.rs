//! How deep a module may nest, and how much stack that needs.
//!
//! The parser and the passes after it recurse, and a stack that overflows takes the process with it. Two measures:
//!
//! - The stack grows with the module: [`STACK_PER_BYTE`] for each byte of text is more than any construct uses, so no text can
//!   exhaust it. It is reserved, not used; ordinary code touches a few KiB.
//! - Brackets, the deepest way to nest that people write, may nest [`MAX_DEPTH`] levels, and fewer `<` may be open. A quick
//!   look at the text without parsing it ([`check`]) says so before any stack is touched. It may misjudge a regular
//!   expression; then the first measure holds alone.

/// How many levels of `(`, `[` and `{` a module may nest.
///
/// The parser tries some brackets first as parameters of an arrow function and again as an expression, each time with all
/// that is inside; so this also bounds how often it reads a byte.
pub const MAX_DEPTH: usize = 256;

/// `[[[[…` and `((((…` need 1,576 bytes for each byte of text, everything else less (`cargo test -p callcell-compiler
/// stack_per_byte -- --ignored --nocapture`).
const STACK_PER_BYTE: usize = 2_048;

/// For everything that does not depend on the text.
const STACK_BASE: usize = 4 << 20;

/// The stack to reserve for a module of so many bytes.
pub(crate) fn stack_bytes(text_bytes: usize) -> usize {
    STACK_BASE + text_bytes * STACK_PER_BYTE
}

/// How many `<` may be open. After a name the parser tries each as the start of type arguments and again as a comparison,
/// which takes a time that grows with the square of their number.
const MAX_ANGLES: usize = 100;

/// How many conditional expressions may follow each other in one expression: `a ? (b) : c => …` is tried twice as well.
const MAX_CONDITIONS: usize = 256;

/// An open bracket, and the counts before it.
struct Level {
    /// Whether it is the `${` of a template literal.
    template: bool,
    angles: usize,
    conditions: usize,
}

/// Gives the place of the first bracket that nests too deep.
pub(crate) fn check(text: &str) -> Result<(), usize> {
    let bytes = text.as_bytes();
    let mut open: Vec<Level> = Vec::new();
    let (mut angles, mut conditions) = (0, 0);
    // The last byte that was neither space nor comment, and where it is.
    let mut last = None;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        let start = at;
        at += 1;
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            b'/' if next == Some(b'/') => {
                at = until(bytes, at, b"\n");
                continue;
            }
            b'/' if next == Some(b'*') => {
                at = until(bytes, at + 1, b"*/");
                continue;
            }
            b'/' if starts_regular_expression(bytes, last) => at = after_regular_expression(bytes, at),
            b'"' | b'\'' => at = after_string(bytes, at, byte),
            b'`' => {
                let (end, opened) = after_template(bytes, at);
                at = end;
                if opened {
                    open.push(Level { template: true, angles, conditions });
                }
            }
            b'(' | b'[' | b'{' => open.push(Level { template: false, angles, conditions }),
            b')' | b']' | b'}' => {
                let closed = open.pop();
                (angles, conditions) = counts(closed.as_ref());
                if byte == b'}' && closed.is_some_and(|level| level.template) {
                    let (end, opened) = after_template(bytes, at);
                    at = end;
                    if opened {
                        open.push(Level { template: true, angles, conditions });
                    }
                }
            }
            b'<' if next != Some(b'=') => angles += 1,
            b'>' if last.is_none_or(|last| bytes[last] != b'=') => {
                angles = angles.saturating_sub(1).max(counts(open.last()).0);
            }
            b'?' if !matches!(next, Some(b'.' | b'?' | b':' | b')' | b',')) => conditions += 1,
            b',' => conditions = counts(open.last()).1,
            b';' => (angles, conditions) = counts(open.last()),
            _ => {}
        }
        if open.len() > MAX_DEPTH || angles > MAX_ANGLES || conditions > MAX_CONDITIONS {
            return Err(start);
        }
        last = Some(start);
    }
    Ok(())
}

/// The open angles and conditions when a bracket opened.
fn counts(level: Option<&Level>) -> (usize, usize) {
    level.map_or((0, 0), |level| (level.angles, level.conditions))
}

/// The place after the next `end`, or the end of the text.
fn until(bytes: &[u8], from: usize, end: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.windows(end.len()).position(|window| window == end).map_or(bytes.len(), |index| from + index + end.len())
}

fn after_string(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\\' => at += 1,
            b'\n' => break,
            byte if byte == quote => break,
            _ => {}
        }
    }
    at
}

/// The place after a template's text, and whether it ended with a `${`, which is then open, or with its backtick.
fn after_template(bytes: &[u8], mut at: usize) -> (usize, bool) {
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\\' => at += 1,
            b'`' => break,
            b'$' if bytes.get(at) == Some(&b'{') => return (at + 1, true),
            _ => {}
        }
    }
    (at, false)
}

fn after_regular_expression(bytes: &[u8], from: usize) -> usize {
    let mut in_class = false;
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\\' => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => return at,
            // It was a division after all.
            b'\n' => return from,
            _ => {}
        }
    }
    from
}

/// Whether a `/` after this byte starts a regular expression: after a value it divides.
fn starts_regular_expression(bytes: &[u8], last: Option<usize>) -> bool {
    let Some(last) = last else { return true };
    match bytes[last] {
        b')' | b']' | b'}' | b'"' | b'\'' | b'`' | b'.' | b'/' => false,
        byte if is_word(byte) => {
            let start = bytes[..last].iter().rposition(|byte| !is_word(*byte)).map_or(0, |index| index + 1);
            let word = &bytes[start..=last];
            [
                &b"return"[..],
                b"typeof",
                b"case",
                b"in",
                b"of",
                b"void",
                b"delete",
                b"throw",
                b"new",
                b"do",
                b"else",
                b"yield",
            ]
            .contains(&word)
        }
        _ => true,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_nest_to_the_limit() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(check(&nested(MAX_DEPTH)), Ok(()));
        assert_eq!(check(&nested(MAX_DEPTH + 1)), Err(MAX_DEPTH));
        assert!(check(&"`${".repeat(MAX_DEPTH + 1)).is_err());
    }

    #[test]
    fn angles_nest_to_their_limit() {
        assert_eq!(check(&"a<b>(c); d < e; f <= g;\n".repeat(1_000)), Ok(()));
        assert_eq!(check(&"type A<T> = B<C<T>>\n".repeat(1_000)), Ok(()));
        assert_eq!(check(&"a<".repeat(MAX_ANGLES + 1)), Err(2 * MAX_ANGLES + 1));
        assert!(check(&"a<{;}|".repeat(MAX_ANGLES + 1)).is_err());
    }

    #[test]
    fn conditions_follow_each_other_to_their_limit() {
        assert_eq!(check(&"x = a ? b : c; f(a?.b ?? c, d ? e : f)\n".repeat(1_000)), Ok(()));
        assert_eq!(check(&"a?: string\n".repeat(1_000)), Ok(()));
        assert!(check(&"a?(b):c=>".repeat(MAX_CONDITIONS + 1)).is_err());
    }

    #[test]
    fn text_is_not_code() {
        let many = "(".repeat(2 * MAX_DEPTH);
        for text in [
            format!("// {many}\n1"),
            format!("/* {many} */ 1"),
            format!("'{many}'"),
            format!("`{many}`"),
            format!("`${{'{many}'}} {many}`"),
            format!("x = /[{many}/]/"),
            format!("return /{many}/"),
        ] {
            assert_eq!(check(&text), Ok(()), "{text:.20}");
        }
        assert!(check(&format!("a / {many}")).is_err());
        assert!(check(&format!("'a'; {many}")).is_err());
        assert!(check(&format!("`${{1}}` + {many}")).is_err());
    }

    /// Prints the stack that nesting uses; [`STACK_PER_BYTE`] comes from it.
    #[cfg(target_os = "linux")]
    #[test]
    #[ignore = "prints figures"]
    fn stack_per_byte() {
        let levels = 2_000;
        for (open, close) in [
            ("(", ")"),
            ("[", "]"),
            ("{a:", "}"),
            ("`${", "}`"),
            ("!", ""),
            ("()=>", ""),
            ("a=>", ""),
            ("a?", ":1"),
            ("a=", ""),
            ("(a=", ")=>1"),
            ("a<", ""),
            ("a<(", ""),
            ("[{a:", "}]"),
            ("new ", ""),
            ("class extends ", "{}"),
            ("<a>", ""),
        ] {
            let text = format!("let a = {}1{};", open.repeat(levels), close.repeat(levels));
            let source = crate::source::Source::decode("a.ts", text.into_bytes()).unwrap();
            let used = std::thread::Builder::new()
                .stack_size(1 << 30)
                .spawn(move || {
                    crate::module::inspect_here(&source);
                    resident_stack()
                })
                .unwrap()
                .join()
                .unwrap();
            println!("{open:>14}  {:>5} bytes of stack for each byte of text", used / levels / open.len());
        }
    }

    /// How much of this thread's stack was ever touched.
    #[cfg(target_os = "linux")]
    fn resident_stack() -> usize {
        let local = 0u8;
        let address = std::ptr::from_ref(&local) as usize;
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut inside = false;
        for line in maps.lines() {
            let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
            let hex = |text| usize::from_str_radix(text, 16);
            if let Some((Ok(start), Ok(end))) = range.map(|(start, end)| (hex(start), hex(end))) {
                inside = (start..end).contains(&address);
            } else if inside && line.starts_with("Rss:") {
                return line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024;
            }
        }
        0
    }

    #[test]
    fn no_text_makes_it_fail() {
        for text in ["", "\\", "'", "'\\", "`\\", "`${", "/", "/\\", "/*", "}", ")]}", "${", "x=/[", "\u{1F600}/"] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }
}

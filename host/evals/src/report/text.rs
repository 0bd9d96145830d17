//! Text and numbers for people. The text comes from anybody: it is cut, and what would act without being seen is made visible.

use callcell_runtime::is_unsafe;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};
use std::io;

/// Whether a character would reorder, hide or end the text around it, or be refused by XML. New lines and tabs are not among them.
pub(super) fn is_hidden(character: char) -> bool {
    // XML takes the two that are no characters at all for none either.
    !matches!(character, '\n' | '\t') && (is_unsafe(character) || matches!(character, '\u{fffe}' | '\u{ffff}'))
}

/// Text in which hidden characters stand as `\u{202e}`. Its lines stay lines.
pub(super) fn visible(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, character| {
        if is_hidden(character) {
            shown.extend(character.escape_unicode())
        } else {
            shown.push(character)
        }
        shown
    })
}

/// The same as one line: new lines and tabs stand as `\n` and `\t`.
pub(super) fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// The beginning of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cut {
    /// What is left of it.
    pub text: String,
    /// How many characters are not.
    pub left_out: u64,
}

/// At most so many characters of a text.
pub(super) fn cut(text: &str, most: usize) -> Cut {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cut { text: text[..end].to_owned(), left_out: text[end..].chars().count() as u64 },
        None => Cut { text: text.to_owned(), left_out: 0 },
    }
}

impl Cut {
    /// The text as one visible line; says what was cut.
    pub fn line(&self) -> String {
        let text = visible_line(&self.text);
        if self.left_out == 0 { text } else { format!("{text}… ({} characters more)", count(self.left_out)) }
    }
}

/// At most so many characters of a value's JSON, on one line.
pub(super) fn json(value: &Value, most: usize) -> Cut {
    serialized(most, |writer| value.serialize(&mut Serializer::new(writer)))
}

/// The same, indented by two.
pub(super) fn pretty(value: &Value, most: usize) -> Cut {
    let formatter = PrettyFormatter::with_indent(b"  ");
    serialized(most, |writer| value.serialize(&mut Serializer::with_formatter(writer, formatter)))
}

fn serialized(most: usize, serialize: impl FnOnce(&mut Beginning) -> serde_json::Result<()>) -> Cut {
    let mut beginning = Beginning { kept: Vec::new(), most, characters: 0 };
    // It cannot fail: neither does the writer, nor has a value keys that are no text.
    let _ = serialize(&mut beginning);
    let text = String::from_utf8_lossy(&beginning.kept).into_owned();
    Cut { text, left_out: (beginning.characters.saturating_sub(most)) as u64 }
}

/// Keeps the first characters and counts the rest.
struct Beginning {
    kept: Vec<u8>,
    most: usize,
    characters: usize,
}

impl io::Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            // In UTF-8 these, and only these, continue a character.
            self.characters += usize::from(*byte & 0b1100_0000 != 0b1000_0000);
            if self.characters <= self.most {
                self.kept.push(*byte);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A score with three digits. Only 1 is shown as 1.000 and only 0 as 0.000, since the difference may be what failed.
pub(super) fn score(value: f64) -> String {
    match format!("{value:.3}") {
        _ if !value.is_finite() || value.abs() >= 1e6 => format!("{value:e}"),
        text if text == "1.000" && value < 1.0 => "> 0.999".into(),
        text if text == "1.000" && value > 1.0 => "> 1.000".into(),
        text if text == "0.000" && value > 0.0 => "< 0.001".into(),
        text if text == "-0.000" => "0.000".into(),
        text => text,
    }
}

/// Two scores, with all their digits where three would not tell them apart.
pub(super) fn apart(one: f64, other: f64) -> [String; 2] {
    let short = [score(one), score(other)];
    if one != other && short[0] == short[1] { [one.to_string(), other.to_string()] } else { short }
}

/// A difference of scores with three digits. Only no difference is without a sign.
pub(super) fn difference(delta: f64) -> String {
    let sign = if delta > 0.0 {
        "+"
    } else if delta < 0.0 {
        "−"
    } else {
        ""
    };
    format!("{sign}{:.3}", delta.abs())
}

/// A number with its thousands apart.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 run`, `2,000 runs`.
pub(super) fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A share with one digit. Only all of them are 100%, only none of them 0%.
pub(super) fn percent(share: f64) -> String {
    match format!("{:.1}", share * 100.0) {
        text if text == "100.0" && share < 1.0 => "> 99.9%".into(),
        text if text == "0.0" && share > 0.0 => "< 0.1%".into(),
        text => format!("{}%", text.strip_suffix(".0").unwrap_or(&text)),
    }
}

/// A duration, with as many digits as one reads.
pub(super) fn millis(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", millis as f64 / 1e3),
        _ => format!("{} min {} s", count(millis / 60_000), millis % 60_000 / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hidden_characters_are_seen() {
        assert_eq!(
            visible("pay \u{202e}eur\u{2066}\0\u{1b}[1m\ta\nb\u{ffff}"),
            "pay \\u{202e}eur\\u{2066}\\u{0}\\u{1b}[1m\ta\nb\\u{ffff}"
        );
        assert_eq!(visible_line("a\r\n\tb"), "a\\u{d}\\n\\tb");
        assert_eq!(visible("naïve 漢字 שלום 👍🏽"), "naïve 漢字 שלום 👍🏽");
    }

    #[test]
    fn cut_text_says_how_much_is_gone() {
        assert_eq!(cut("héllo", 5), Cut { text: "héllo".into(), left_out: 0 });
        assert_eq!(cut(&"é".repeat(1_000_010), 10).line(), format!("{}… (1,000,000 characters more)", "é".repeat(10)));
        assert_eq!(json(&json!({ "a": "é漢" }), 8), Cut { text: "{\"a\":\"é漢".into(), left_out: 2 });
        assert_eq!(json(&json!([1, null]), 8), Cut { text: "[1,null]".into(), left_out: 0 });
        assert_eq!(pretty(&json!({ "a": [1] }), 100).text, "{\n  \"a\": [\n    1\n  ]\n}");
    }

    #[test]
    fn numbers_do_not_round_to_what_they_are_not() {
        let scores = [0.0, -0.0, 1.0, 0.875, 0.9996, 0.0004, 2.0 / 3.0, 1e300, f64::NAN].map(score);
        assert_eq!(scores, ["0.000", "0.000", "1.000", "0.875", "> 0.999", "< 0.001", "0.667", "1e300", "NaN"]);
        assert_eq!(apart(0.5, 0.9), ["0.500", "0.900"]);
        assert_eq!(apart(0.8999, 0.9), ["0.8999", "0.9"]);
        assert_eq!(apart(0.9, 0.9), ["0.900", "0.900"]);
        assert_eq!([0.25, -0.25, 0.0, -0.0001].map(difference), ["+0.250", "−0.250", "0.000", "−0.000"]);
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0.0, 1.0, 0.5, 2.0 / 3.0, 0.9999, 0.0001].map(percent),
            ["0%", "100%", "50%", "66.7%", "> 99.9%", "< 0.1%"]
        );
        assert_eq!([5, 1_250, 125_000].map(millis), ["5 ms", "1.2 s", "2 min 5 s"]);
        assert_eq!((plural(1, "run"), plural(2_000, "run")), ("1 run".into(), "2,000 runs".into()));
    }
}

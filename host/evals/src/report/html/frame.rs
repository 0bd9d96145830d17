//! The outside of a page: one file, with its styles and its script in it, that asks no server for anything.
//!
//! The policy in its head names the digests of that one style sheet and that one script. If anything ever escaped from the text of a
//! run into the markup, a browser would still run nothing of it and load nothing for it. For the same reason no element has a `style`
//! attribute: what depends on numbers is drawn as SVG.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Writes everything up to the first heading. The page is to be closed with [`close`].
pub fn open(out: &mut impl Write, title: &str) -> io::Result<()> {
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        base64(&Sha256::digest(STYLE)),
        base64(&Sha256::digest(SCRIPT))
    );
    let head = html! {
        (DOCTYPE)
        (PreEscaped("<html lang=\"en\">"))
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="referrer" content="no-referrer";
            meta name="robots" content="noindex";
            title { (super::super::text::visible_line(title)) }
            style { (PreEscaped(STYLE)) }
        }
        (PreEscaped("<body><main>\n"))
    };
    markup(out, &head)
}

/// Writes what ends a page.
pub fn close(out: &mut impl Write) -> io::Result<()> {
    let end = html! {
        (PreEscaped("</main>\n"))
        script { (PreEscaped(SCRIPT)) }
        (PreEscaped("</body></html>\n"))
    };
    markup(out, &end)?;
    out.flush()
}

/// Writes a part of a page.
pub fn markup(out: &mut impl Write, markup: &Markup) -> io::Result<()> {
    out.write_all(markup.0.as_bytes())
}

/// Base64 with padding, as a policy wants digests.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for digit in 0..4 {
            let is_there = digit <= group.len();
            text.push(if is_there { char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 4648, section 10
    #[test]
    fn digests_are_written_in_base64() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
        assert_eq!(base64(&[0xff, 0xef, 0xbe]), "/+++");
    }

    #[test]
    fn a_page_asks_for_nothing() {
        let mut out = Vec::new();
        open(&mut out, "a <b>\u{202e}").unwrap();
        close(&mut out).unwrap();
        let page = String::from_utf8(out).unwrap();
        assert!(
            page.starts_with("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv="),
            "{page}"
        );
        assert!(page.contains("<title>a &lt;b&gt;\\u{202e}</title>"));
        assert!(page.contains("content=\"default-src 'none'; style-src 'sha256-"));
        for word in ["http:", "https:", "url(", "@import", "src=", "href=", "fetch(", "innerHTML", "eval("] {
            assert!(!page.contains(word), "{word}");
        }
        // Either would end its element early.
        assert!(!STYLE.contains('<') && !SCRIPT.contains("</"));
    }
}

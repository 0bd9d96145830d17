//! Text that scripts, models and files chose, made fit to be shown.

/// Whether a character could move a terminal's cursor, change its state, or reorder or hide the text around it.
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            // Directional marks, embeddings, overrides and isolates (UAX 9), invisible operators.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            // Line and paragraph separators, zero-width space and byte order mark, interlinear annotations, tags.
            | '\u{2028}' | '\u{2029}' | '\u{200b}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// One line of text in which nothing acts on a terminal: unsafe characters stand as `\u{…}`, `\n`, `\r`.
pub fn clean(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut line, character| {
        match character {
            '\t' => line.push('\t'),
            _ if is_unsafe(character) => line.extend(character.escape_default()),
            _ => line.push(character),
        }
        line
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_clean_text_acts_on_a_terminal() {
        assert_eq!(clean("a\x1b[31m\r\n\u{9b}2J\u{7}"), "a\\u{1b}[31m\\r\\n\\u{9b}2J\\u{7}");
        assert_eq!(clean("pay \u{202e}eur\u{2066}\u{e0041}"), "pay \\u{202e}eur\\u{2066}\\u{e0041}");
        assert_eq!(clean("tab\tüß👩\u{200d}🚀"), "tab\tüß👩\u{200d}🚀");
    }
}

//! Paths of a projection: their grammar (spec 4.4), trees of them, and how reports write them.
//!
//! The SDK checks the same grammar when a project is compiled (`guest/sdk/src/evaluators.ts`); what it accepts is accepted here.

use super::report::{MAX_SHOWN_CHARACTERS, cut};
use serde_json::Value;
use std::collections::BTreeMap;

/// The most names in a path (D-50).
pub(super) const MAX_PATH_DEPTH: usize = 64;

/// One step down from a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The member of that name.
    Key(String),
    /// Every item: `[]`.
    Items,
    /// The item at that index: `[3]`.
    Index(usize),
}

/// Where a path was written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// In `rules` or `unorderedPaths`: no indexes.
    Rule,
    /// In `paths`: indexes allowed.
    Selection,
    /// By the guest, for a place that is `undefined`: indexes, any depth, and names may hold `$`.
    Marker,
}

/// The steps of a path, or nothing if it is none.
pub(super) fn parse(text: &str, dialect: Dialect) -> Option<Vec<Step>> {
    let (steps, rest) = parse_start(text, dialect);
    rest.is_empty().then_some(steps)
}

/// The steps up to where `text` stops being a path, and the rest, which is empty if it is one as a whole.
fn parse_start(text: &str, dialect: Dialect) -> (Vec<Step>, &str) {
    let mut rest = text.trim_matches(is_blank);
    let mut steps = Vec::new();
    if let Some(after) = rest.strip_prefix('$') {
        rest = take_items(after, dialect, &mut steps);
        if rest.is_empty() {
            return (steps, rest);
        }
        match rest.strip_prefix('.') {
            // A dot at the end leads to no name.
            Some("") => return (steps, rest),
            Some(after) => rest = after,
            None if rest.starts_with('[') => {}
            None => return (steps, rest),
        }
    } else if rest.is_empty() {
        return (steps, "no path");
    }
    let mut names = 0;
    loop {
        names += 1;
        if names > MAX_PATH_DEPTH && dialect != Dialect::Marker {
            return (steps, rest);
        }
        let Some((name, after)) = take_name(rest, dialect) else { return (steps, rest) };
        steps.push(Step::Key(name));
        rest = take_items(after, dialect, &mut steps);
        match rest.strip_prefix('.') {
            // A dot at the end leads to no name.
            Some("") => return (steps, rest),
            Some(after) => rest = after,
            None if rest.starts_with('[') => {}
            None => return (steps, rest),
        }
    }
}

/// White space in the sense of JavaScript's `\s`.
fn is_blank(character: char) -> bool {
    character == '\u{feff}' || character.is_whitespace() && character != '\u{85}'
}

fn is_name_character(character: char, dialect: Dialect) -> bool {
    match character {
        '.' | '[' | ']' => false,
        '$' => dialect == Dialect::Marker,
        _ => !is_blank(character),
    }
}

fn take_name(text: &str, dialect: Dialect) -> Option<(String, &str)> {
    let end = text.find(|character| !is_name_character(character, dialect)).unwrap_or(text.len());
    if end > 0 {
        return Some((text[..end].to_owned(), &text[end..]));
    }
    let quoted = text.strip_prefix('[')?;
    let mut escaped = false;
    let end = quoted.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })? + 2;
    // Anything but a JSON string in between is refused here.
    let name = serde_json::from_str(quoted.get(..end)?).ok()?;
    Some((name, quoted.get(end..)?.strip_prefix(']')?))
}

/// Takes any number of `[]`, and `[3]` where indexes are allowed.
fn take_items<'a>(text: &'a str, dialect: Dialect, steps: &mut Vec<Step>) -> &'a str {
    let mut rest = text;
    while let Some(inner) = rest.strip_prefix('[') {
        let digits = inner.find(|character: char| !character.is_ascii_digit()).unwrap_or(inner.len());
        let Some(after) = inner[digits..].strip_prefix(']') else { break };
        if digits == 0 {
            steps.push(Step::Items);
        } else if dialect == Dialect::Rule {
            break;
        } else {
            // No array has an item at an index that does not fit.
            steps.push(Step::Index(inner[..digits].parse().unwrap_or(usize::MAX)));
        }
        rest = after;
    }
    rest
}

/// Follows the path of an `undefined` place as far as it can be read and `value` goes; the guest cuts long paths.
pub(super) fn resolve_marker<'a>(marker: &str, value: &'a Value) -> &'a Value {
    let (steps, _) = parse_start(marker, Dialect::Marker);
    let mut place = value;
    for step in &steps {
        let next = match (step, place) {
            (Step::Key(name), Value::Object(members)) => members.get(name),
            (Step::Index(index), Value::Array(items)) => items.get(*index),
            _ => None,
        };
        let Some(next) = next else { return place };
        place = next;
    }
    place
}

/// The number of a node in a [`PathTree`].
pub(super) type PathId = usize;

/// Paths that share their beginnings. Node 0 is `$`; a parent has a smaller number than its children.
#[derive(Clone, Debug)]
pub(super) struct PathTree {
    nodes: Vec<PathNode>,
}

/// A place that a path leads to or through.
#[derive(Clone, Debug, Default)]
pub(super) struct PathNode {
    pub parent: PathId,
    /// Whether a path ends here.
    pub named: bool,
    pub keys: BTreeMap<String, PathId>,
    pub items: Option<PathId>,
    pub indexes: BTreeMap<usize, PathId>,
}

impl Default for PathTree {
    fn default() -> Self {
        Self { nodes: vec![PathNode::default()] }
    }
}

impl PathTree {
    /// Adds a path. Nothing if it is there already.
    pub fn insert(&mut self, steps: Vec<Step>) -> Option<PathId> {
        let mut at = 0;
        for step in steps {
            let next = self.nodes.len();
            let node = &mut self.nodes[at];
            let child = match step {
                Step::Key(name) => *node.keys.entry(name).or_insert(next),
                Step::Items => *node.items.get_or_insert(next),
                Step::Index(index) => *node.indexes.entry(index).or_insert(next),
            };
            if child == next {
                self.nodes.push(PathNode { parent: at, ..PathNode::default() });
            }
            at = child;
        }
        let node = &mut self.nodes[at];
        (!std::mem::replace(&mut node.named, true)).then_some(at)
    }

    pub fn nodes(&self) -> &[PathNode] {
        &self.nodes
    }
}

/// One step of a path in a report.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'a> {
    Key(&'a str),
    Index(usize),
}

/// The path as reports write it: `lines[2].price`, `$[0]`, `["a.b"].c`, and `$` for the whole.
pub(super) fn render<'a>(places: impl IntoIterator<Item = Place<'a>>) -> String {
    let mut path = String::new();
    for place in places {
        if path.len() > MAX_SHOWN_CHARACTERS * 4 {
            break;
        }
        match place {
            Place::Index(index) => {
                if path.is_empty() {
                    path.push('$');
                }
                path.push_str(&format!("[{index}]"));
            }
            Place::Key(key) => {
                let key = key.char_indices().nth(MAX_SHOWN_CHARACTERS + 1).map_or(key, |(end, _)| &key[..end]);
                let is_plain = |character: char| is_name_character(character, Dialect::Rule) && !character.is_control();
                if key.is_empty() || !key.chars().all(is_plain) {
                    path.push_str(&format!("[{}]", Value::from(key)));
                } else {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(key);
                }
            }
        }
    }
    if path.is_empty() { "$".to_owned() } else { cut(&path) }
}

/// Steps in the same spelling, for rules.
pub(super) fn render_steps(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Items if path.is_empty() => path.push_str("$[]"),
            Step::Items => path.push_str("[]"),
            Step::Index(index) if path.is_empty() => path.push_str(&format!("$[{index}]")),
            Step::Index(index) => path.push_str(&format!("[{index}]")),
            Step::Key(key) => {
                let key = render([Place::Key(key)]);
                if !path.is_empty() && !key.starts_with('[') {
                    path.push('.');
                }
                path.push_str(&key);
            }
        }
    }
    if path.is_empty() { "$".to_owned() } else { cut(&path) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn key(name: &str) -> Step {
        Step::Key(name.to_owned())
    }

    // Spec 4.4, EV-67, EV-69, D-47 to D-49.
    #[test]
    fn the_grammar_takes_names_items_and_quotes() {
        for (text, steps) in [
            ("$", vec![]),
            (" total ", vec![key("total")]),
            ("$.total", vec![key("total")]),
            ("supplier.taxId", vec![key("supplier"), key("taxId")]),
            ("lineItems[].unitPrice", vec![key("lineItems"), Step::Items, key("unitPrice")]),
            ("$[]", vec![Step::Items]),
            ("$[].name", vec![Step::Items, key("name")]),
            ("matrix[][]", vec![key("matrix"), Step::Items, Step::Items]),
            (r#"["a.b"]"#, vec![key("a.b")]),
            (r#"$["a.b"].c"#, vec![key("a.b"), key("c")]),
            (r#"x["]\"["][]"#, vec![key("x"), key("]\"["), Step::Items]),
            (r#"x.["y"]"#, vec![key("x"), key("y")]),
            (r#"[""]"#, vec![key("")]),
            ("größe.名", vec![key("größe"), key("名")]),
            ("__proto__", vec![key("__proto__")]),
            ("a\u{85}b", vec![key("a\u{85}b")]),
        ] {
            assert_eq!(parse(text, Dialect::Rule), Some(steps), "{text}");
        }
    }

    #[test]
    fn the_grammar_refuses_what_is_no_path() {
        for text in [
            "",
            " ",
            ".",
            "a.",
            ".a",
            "a..b",
            "a b",
            "$a",
            "a$",
            "[]",
            "a[",
            "a]",
            "a[]b",
            "a[0]",
            "$$",
            "$.",
            r#"["a]"#,
            r#"["a"#,
            r#"['a']"#,
            r#"["\x"]"#,
            "a[-1]",
            "a\u{feff}b",
            "$[0]",
        ] {
            assert_eq!(parse(text, Dialect::Rule), None, "{text}");
        }
        assert_eq!(parse("a[0][].b", Dialect::Selection), Some(vec![key("a"), Step::Index(0), Step::Items, key("b")]));
        assert_eq!(parse("a[99999999999999999999]", Dialect::Selection), Some(vec![key("a"), Step::Index(usize::MAX)]));
    }

    // D-50.
    #[test]
    fn a_path_has_at_most_64_names() {
        assert!(parse(&vec!["a"; 64].join("."), Dialect::Rule).is_some());
        assert_eq!(parse(&vec!["a"; 65].join("."), Dialect::Rule), None);
        assert!(parse(&format!("$.{}", vec!["a"; 100].join(".")), Dialect::Marker).is_some());
    }

    #[test]
    fn markers_lead_to_the_value_or_as_near_as_they_can() {
        let value = json!({ "a$": [null, { "b c": null }] });
        for (marker, place) in [
            ("$", &value),
            ("$.a$[0]", &value["a$"][0]),
            (r#"$.a$[1]["b c"]"#, &value["a$"][1]["b c"]),
            ("$.a$[1][\"b …", &value["a$"][1]),
            ("nonsense", &value),
        ] {
            assert!(std::ptr::eq(resolve_marker(marker, &value), place), "{marker}");
        }
    }

    #[test]
    fn reports_write_paths_that_can_be_read_again() {
        for (places, path) in [
            (vec![], "$"),
            (vec![Place::Key("lines"), Place::Index(2), Place::Key("price")], "lines[2].price"),
            (vec![Place::Index(0), Place::Index(1), Place::Key("a")], "$[0][1].a"),
            (vec![Place::Key("a.b"), Place::Key("c")], r#"["a.b"].c"#),
            (vec![Place::Key("a"), Place::Key("")], r#"a[""]"#),
            (vec![Place::Key("a\u{1b}")], "[\"a\\u001b\"]"),
        ] {
            assert_eq!(render(places), path);
            assert!(parse(path, Dialect::Selection).is_some());
        }
        assert_eq!(render([Place::Key(&"x".repeat(100_000))]), "x".repeat(500) + "…");
    }

    #[test]
    fn a_tree_knows_a_path_by_its_place() {
        let mut tree = PathTree::default();
        for (text, fresh) in
            [("$", true), ("a.b", true), (r#"["a"].b"#, false), ("$.a", true), ("a", false), ("a[]", true)]
        {
            let steps = parse(text, Dialect::Rule).expect("a path");
            assert_eq!(tree.insert(steps).is_some(), fresh, "{text}");
        }
    }
}

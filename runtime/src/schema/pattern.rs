//! ECMAScript regular expressions whose cost is bounded, because patterns and texts both come from strangers.
//!
//! A pattern without lookaround and backreferences is built as an automaton (`regex-automata`), which needs time in
//! proportion to text times pattern. Leading lookaheads (`^(?!a)(?=b)c`) are split off into automata of their own.
//! What remains needs backtracking: a small machine does it and counts its steps. A match that runs out of fuel is no match.

mod machine;
mod syntax;

use super::Fuel;
use machine::Program;
use regex_automata::meta;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::hir::{Class, Hir, Look as HirLook, Repetition};
use std::panic::{AssertUnwindSafe, catch_unwind};
pub(super) use syntax::is_space;
use syntax::{Look, Node};

/// Bytes of one pattern.
const MAX_SOURCE: usize = 10_000;
/// Letters of one pattern, with counted repetitions written out.
const MAX_WEIGHT: u64 = 20_000;
/// Bytes of one automaton.
const MAX_AUTOMATON: usize = 16 << 20;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    source: String,
    flags: String,
    /// All must hold.
    parts: Vec<Part>,
    weight: u64,
}

#[derive(Debug)]
struct Part {
    /// The part must not match.
    negated: bool,
    matcher: Matcher,
}

#[derive(Debug)]
enum Matcher {
    Automaton(Box<meta::Regex>),
    Machine(Program),
}

impl Pattern {
    /// The error is the end of a sentence that begins with the pattern.
    pub fn new(source: &str, flags: &str) -> Result<Self, String> {
        if source.len() > MAX_SOURCE {
            return Err(format!("is longer than {MAX_SOURCE} bytes"));
        }
        let tree = syntax::parse(source, flags)?;
        let weight = tree.weight();
        if weight > MAX_WEIGHT {
            return Err("is too large when its counted repetitions are written out".into());
        }
        let parts = split(tree).into_iter().map(|(negated, tree)| Ok(Part { negated, matcher: Matcher::new(&tree)? }));
        Ok(Self { source: source.into(), flags: flags.into(), parts: parts.collect::<Result<_, String>>()?, weight })
    }

    /// Bytes of memory, without the caches of matching.
    pub fn memory(&self) -> usize {
        let bytes = |part: &Part| match &part.matcher {
            Matcher::Automaton(regex) => regex.memory_usage(),
            Matcher::Machine(program) => program.memory(),
        };
        self.parts.iter().map(bytes).sum()
    }

    /// For each byte of a text, a match costs up to this many steps.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Whether the pattern matches somewhere in `text`.
    pub fn is_match(&self, text: &str, fuel: &mut Fuel) -> bool {
        self.parts.iter().all(|part| match part.matcher.is_match(text, self.weight, fuel) {
            Some(found) => found != part.negated,
            None => false,
        })
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "/{}/{}", self.source, self.flags)
    }
}

impl Matcher {
    fn new(tree: &Node) -> Result<Self, String> {
        let Some(hir) = automaton(tree) else { return Ok(Self::Machine(Program::new(tree)?)) };
        let config = meta::Config::new()
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MAX_AUTOMATON))
            .hybrid_cache_capacity(256 << 10);
        let regex = meta::Builder::new().configure(config).build_from_hir(&hir);
        Ok(Self::Automaton(Box::new(regex.map_err(|_| "is too large")?)))
    }

    /// `None` when the fuel did not suffice.
    fn is_match(&self, text: &str, weight: u64, fuel: &mut Fuel) -> Option<bool> {
        match self {
            Self::Automaton(regex) => {
                if !fuel.spend(1 + text.len() as u64 * weight / 8) {
                    return None;
                }
                // The engine is known to panic on rare patterns (rust-lang/regex issue 1344).
                catch_unwind(AssertUnwindSafe(|| regex.is_match(text))).ok()
            }
            Self::Machine(program) => program.search(text, fuel),
        }
    }
}

/// `^(?=a)(?!b)c` as three patterns without lookahead. Captures would connect them, so patterns with backreferences stay whole.
fn split(tree: Node) -> Vec<(bool, Node)> {
    let splits = match &tree {
        Node::Sequence(parts) => {
            matches!(parts.as_slice(), [Node::Start, Node::Look(Look { behind: false, .. }), ..]) && !tree.refers_back()
        }
        _ => false,
    };
    let Node::Sequence(parts) = tree else { return vec![(false, tree)] };
    if !splits {
        return vec![(false, Node::Sequence(parts))];
    }
    let mut result = Vec::new();
    let mut rest = vec![Node::Start];
    for part in parts.into_iter().skip(1) {
        match part {
            Node::Look(Look { behind: false, negated, inner }) if rest.len() == 1 => {
                result.push((negated, Node::Sequence(vec![Node::Start, *inner])))
            }
            part => rest.push(part),
        }
    }
    if rest.len() > 1 {
        result.push((false, Node::Sequence(rest)));
    }
    result
}

/// The same language as an automaton, if the pattern is regular on its face.
fn automaton(node: &Node) -> Option<Hir> {
    Some(match node {
        Node::Empty => Hir::empty(),
        Node::Set(set) => Hir::class(Class::Unicode(set.clone())),
        Node::Start => Hir::look(HirLook::Start),
        Node::End => Hir::look(HirLook::End),
        Node::Word(true) => Hir::look(HirLook::WordAscii),
        Node::Word(false) => Hir::look(HirLook::WordAsciiNegate),
        Node::Group(_, inner) => automaton(inner)?,
        Node::Sequence(parts) => Hir::concat(parts.iter().map(automaton).collect::<Option<_>>()?),
        Node::Choice(parts) => Hir::alternation(parts.iter().map(automaton).collect::<Option<_>>()?),
        Node::Repeat(repeat) => Hir::repetition(Repetition {
            min: repeat.min,
            max: repeat.max,
            greedy: repeat.greedy,
            sub: Box::new(automaton(&repeat.inner)?),
        }),
        Node::LineStart | Node::LineEnd | Node::Back(_) | Node::Look(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(source: &str, flags: &str, text: &str) -> bool {
        Pattern::new(source, flags).expect("it compiles").is_match(text, &mut Fuel::new())
    }

    #[test]
    fn classes_are_those_of_ecmascript() {
        assert!(!matches("^\\d$", "", "\u{663}"));
        assert!(!matches("^\\w$", "", "é"));
        assert!(matches("^\\s$", "", "\u{feff}"));
        assert!(!matches("^\\s$", "", "\u{85}"));
        for end in ['\n', '\r', '\u{2028}', '\u{2029}'] {
            assert!(!matches("^.$", "", &end.to_string()));
            assert!(matches("^.$", "s", &end.to_string()));
        }
        assert!(matches("^.$", "", "😀"));
        assert!(matches("^[^]$", "", "\n"));
        assert!(!matches("[]", "", "a"));
        assert!(matches("^\\p{Lu}\\P{Lu}$", "u", "Éé"));
        assert!(matches("^[\\p{Script=Greek}_]+$", "u", "αβ_"));
        assert!(matches("^(\\p{Extended_Pictographic}|\\p{Emoji_Component})+$", "u", "😀"));
        assert!(matches("\\bab\\b", "", "é ab."));
        assert!(!matches("\\bab\\b", "", "xab"));
        assert!(!matches("a$", "", "a\n"));
    }

    #[test]
    fn escapes() {
        assert!(matches("^\\x41\\u0042\\u{43}\\cJ\\0\\/$", "", "ABC\n\0/"));
        assert!(matches("^\\ud83d\\ude00$", "u", "😀"));
        assert!(matches("^[\\b\\-\\]]$", "", "]"));
        assert!(matches("^[a-c&&b]+$", "", "&b"));
        assert!(matches("^a{,2}]$", "", "a{,2}]"));
        assert!(matches("^\\_$", "", "_"));
    }

    #[test]
    fn flags_of_x_pattern() {
        assert!(matches("^abc$", "i", "aBC"));
        assert!(matches("^[^a]$", "i", "b"));
        assert!(!matches("^[^a]$", "i", "A"));
        assert!(matches("^é$", "i", "É"));
        assert!(!matches("k", "i", "\u{212a}"));
        assert!(matches("k", "iu", "\u{212a}"));
        assert!(matches("^\\P{Lu}$", "iu", "A") && !matches("^\\P{Lu}$", "u", "A"));
        assert!(matches("^b$", "m", "a\nb\u{2028}c"));
        assert!(!matches("^b$", "", "a\nb"));
        assert!(matches("a|b", "y", "bc"));
        assert!(!matches("a|b", "y", "cb"));
        assert!(matches("^\\B", "iu", "é") && !matches("^\\B", "iu", "ſ"));
    }

    #[test]
    fn lookaround_and_backreferences() {
        assert!(matches("^(?=.*\\d)(?!.*x)[a-z0-9]+$", "", "abc1"));
        assert!(!matches("^(?=.*\\d)(?!.*x)[a-z0-9]+$", "", "abc1x"));
        assert!(!matches("^(?=.*\\d)(?!.*x)[a-z0-9]+$", "", "abc"));
        assert!(matches("^(?!\\s*$)", "", " a"));
        assert!(matches("(?<=\\$)\\d+(?!\\.)", "", "a $12"));
        assert!(!matches("(?<!\\$)\\b\\d", "", "$1"));
        assert!(matches("^(['\"]).*\\1$", "", "'a'"));
        assert!(!matches("^(['\"]).*\\1$", "", "'a\""));
        assert!(matches("^(?<q>a|b)\\k<q>$", "", "bb"));
        // A group that took no part matches empty, and a new round forgets the old one.
        assert!(matches("^(a)?\\1b$", "", "b"));
        assert!(matches("^(?:(a)|b)*\\1$", "", "ab"));
        assert!(matches("^(?:a?)*?(?=b)b$", "", "aab"));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for source in
            ["(", "a)", "[b-a]", "*", "a**", "(?<a>x)(?<a>y)", "\\k<a>(?<b>x)", "a{2,1}", "(?i:a)", "[\\d-a-\\q", "\\"]
        {
            assert!(Pattern::new(source, "").is_err(), "{source}");
        }
        assert!(Pattern::new("\\-", "u").is_err());
        assert_eq!(
            Pattern::new("[a--b]", "v").expect_err("it is refused"),
            "has a class made of other classes (flag `v`), which is not supported"
        );
        assert!(Pattern::new("a", "q").is_err());
        assert!(Pattern::new("a", "ii").is_err());
        assert!(Pattern::new("\\p{Nothing}", "u").is_err());
    }

    #[test]
    fn hostile_patterns_are_refused() {
        assert!(Pattern::new(&"a".repeat(10_001), "").is_err());
        assert!(Pattern::new(&"(".repeat(5_000), "").is_err());
        assert!(Pattern::new(&format!("{}a{}", "(?:".repeat(4_000), ")*".repeat(4_000)), "").is_err());
        for source in ["((a{1000}){1000}){1000}", "a{4294967295}", "(?:a{65535}){65535}", "(?=(a{1000}){1000})"] {
            assert_eq!(
                Pattern::new(source, "").expect_err("it is refused"),
                "is too large when its counted repetitions are written out",
                "{source}"
            );
        }
    }

    #[test]
    fn large_classes_may_be_counted() {
        assert!(matches("^[\\p{L}\\p{M} '-]{1,100}$", "u", "Ève O'Brien"));
    }

    #[test]
    fn catastrophic_patterns_end_quickly() {
        let begin = std::time::Instant::now();
        let text = format!("{}!", "a".repeat(100_000));
        assert!(!matches("^(a+)+$", "", &text));
        assert!(!matches("^(a|aa|aaa)*$", "", &text));
        for source in ["(?<!b)(a+)+$", "^(a+)+\\1b$", "(?=a*b)(a*)*c", "(?:(?=(a*))\\1*)*b", "(?<=(a+)+b)", "(a*)*\\1c"]
        {
            let mut fuel = Fuel::new();
            assert!(!Pattern::new(source, "").expect("it compiles").is_match(&text, &mut fuel), "{source}");
        }
        assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
    }
}

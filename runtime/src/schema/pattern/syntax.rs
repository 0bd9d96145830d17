//! Reads ECMAScript regular expressions (ECMA-262, section 22.2.1 and annex B.1.2) into a tree over code points.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// Groups inside groups.
const MAX_DEPTH: u32 = 50;

#[derive(Debug)]
pub(super) enum Node {
    Empty,
    Set(ClassUnicode),
    Start,
    End,
    LineStart,
    LineEnd,
    /// `\b`, or `\B` when false.
    Word(bool),
    Group(usize, Box<Node>),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat(Repeat),
    /// The text of a group, by its number.
    Back(usize),
    Look(Look),
}

#[derive(Debug)]
pub(super) struct Repeat {
    pub inner: Box<Node>,
    pub min: u32,
    pub max: Option<u32>,
    pub greedy: bool,
    /// The groups inside, which every round begins without.
    pub groups: std::ops::Range<usize>,
}

#[derive(Debug)]
pub(super) struct Look {
    pub behind: bool,
    pub negated: bool,
    pub inner: Box<Node>,
}

impl Node {
    /// About the number of letters, with counted repetitions written out.
    pub fn weight(&self) -> u64 {
        match self {
            // Letters beyond ASCII have up to four bytes, each with a state of its own.
            Self::Set(set) => {
                if set.is_ascii() {
                    1
                } else {
                    4
                }
            }
            Self::Group(_, inner) => 1 + inner.weight(),
            Self::Sequence(parts) | Self::Choice(parts) => {
                parts.iter().fold(1, |sum, part| part.weight().saturating_add(sum))
            }
            Self::Repeat(repeat) => {
                let rounds = repeat.max.unwrap_or(repeat.min).max(1);
                (repeat.inner.weight() + 2).saturating_mul(rounds.into())
            }
            Self::Look(look) => 2 + look.inner.weight(),
            _ => 1,
        }
    }

    pub fn refers_back(&self) -> bool {
        match self {
            Self::Back(_) => true,
            Self::Group(_, inner) => inner.refers_back(),
            Self::Sequence(parts) | Self::Choice(parts) => parts.iter().any(Self::refers_back),
            Self::Repeat(repeat) => repeat.inner.refers_back(),
            Self::Look(look) => look.inner.refers_back(),
            _ => false,
        }
    }

    /// Whether the empty text can match; `true` when in doubt.
    pub fn may_be_empty(&self) -> bool {
        match self {
            Self::Set(_) => false,
            Self::Group(_, inner) => inner.may_be_empty(),
            Self::Sequence(parts) => parts.iter().all(Self::may_be_empty),
            Self::Choice(parts) => parts.iter().any(Self::may_be_empty),
            Self::Repeat(repeat) => repeat.min == 0 || repeat.inner.may_be_empty(),
            _ => true,
        }
    }
}

/// The tree of a pattern. Without flags both grammars are tried, because the schema IR does not tell flag `u` from none.
/// The error is the end of a sentence.
pub(super) fn parse(source: &str, flags: &str) -> Result<Node, String> {
    for (index, flag) in flags.char_indices() {
        if !"imsuvy".contains(flag) {
            return Err(format!("has the flag `{flag}`, which is not supported"));
        }
        if flags[..index].contains(flag) {
            return Err(format!("has the flag `{flag}` twice"));
        }
    }
    let unicode = flags.contains(['u', 'v']);
    let whole = |unicode| {
        let mut parser = Parser::new(source, flags, unicode);
        let tree = parser.choice(0)?;
        match parser.peek() {
            None => Ok(tree),
            Some(_) => Err("has a `)` without `(`".to_owned()),
        }
    };
    let tree = match whole(unicode || flags.is_empty()) {
        Err(_) if flags.is_empty() => whole(false)?,
        result => result?,
    };
    Ok(if flags.contains('y') { Node::Sequence(vec![Node::Start, tree]) } else { tree })
}

struct Parser<'a> {
    letters: Vec<char>,
    position: usize,
    flags: &'a str,
    unicode: bool,
    /// Groups read so far, and in the whole pattern.
    groups: usize,
    all_groups: usize,
    /// Names of groups in the whole pattern, with their numbers.
    names: Vec<(String, usize)>,
}

type Parsed<T> = Result<T, String>;

/// What one escape or letter of a class stands for.
enum Atom {
    Letter(u32),
    Set(ClassUnicode),
}

impl<'a> Parser<'a> {
    fn new(source: &str, flags: &'a str, unicode: bool) -> Self {
        let letters: Vec<char> = source.chars().collect();
        let mut names = Vec::new();
        let mut all_groups = 0;
        let mut in_class = false;
        let mut position = 0;
        while position < letters.len() {
            match letters[position] {
                '\\' => position += 1,
                '[' => in_class = true,
                ']' => in_class = false,
                '(' if !in_class => {
                    let next: String = letters[position + 1..].iter().take(3).collect();
                    if !next.starts_with('?') {
                        all_groups += 1;
                    } else if next.starts_with("?<") && !next.starts_with("?<=") && !next.starts_with("?<!") {
                        all_groups += 1;
                        names.push((
                            letters[position + 3..].iter().take_while(|&&letter| letter != '>').collect(),
                            all_groups,
                        ));
                    }
                }
                _ => {}
            }
            position += 1;
        }
        Self { letters, position: 0, flags, unicode, groups: 0, all_groups, names }
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.position).copied()
    }

    fn bump(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.position += 1;
        Some(letter)
    }

    fn eat(&mut self, text: &str) -> bool {
        let fits =
            text.chars().enumerate().all(|(index, letter)| self.letters.get(self.position + index) == Some(&letter));
        if fits {
            self.position += text.chars().count();
        }
        fits
    }

    fn choice(&mut self, depth: u32) -> Parsed<Node> {
        if depth > MAX_DEPTH {
            return Err(format!("has more than {MAX_DEPTH} groups inside each other"));
        }
        let mut parts = vec![self.sequence(depth)?];
        while self.eat("|") {
            parts.push(self.sequence(depth)?);
        }
        Ok(one_or(parts, Node::Choice))
    }

    fn sequence(&mut self, depth: u32) -> Parsed<Node> {
        let mut parts = Vec::new();
        while self.peek().is_some_and(|letter| letter != '|' && letter != ')') {
            let before = self.groups;
            let (node, repeatable) = self.term(depth)?;
            parts.push(self.quantified(node, repeatable, before)?);
        }
        Ok(if parts.is_empty() { Node::Empty } else { one_or(parts, Node::Sequence) })
    }

    /// A term, and whether a quantifier may follow.
    fn term(&mut self, depth: u32) -> Parsed<(Node, bool)> {
        let letter = self.bump().ok_or("ends too early")?;
        let lines = self.flags.contains('m');
        Ok(match letter {
            '^' => (if lines { Node::LineStart } else { Node::Start }, false),
            '$' => (if lines { Node::LineEnd } else { Node::End }, false),
            '(' => return self.group(depth),
            '.' => {
                let mut set = ranges(&[('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')]);
                if self.flags.contains('s') {
                    set = ClassUnicode::empty();
                }
                set.negate();
                (Node::Set(set), true)
            }
            '[' => (Node::Set(self.class()?), true),
            '\\' => return self.escape(),
            '*' | '+' | '?' => return Err(format!("has a `{letter}` with nothing before it to repeat")),
            '{' if self.unicode || self.counts().is_some() => {
                return Err("has a `{` with nothing before it to repeat".into());
            }
            ']' | '}' if self.unicode => return Err(format!("has a `{letter}` without its beginning")),
            letter => (self.letter(letter.into()), true),
        })
    }

    fn quantified(&mut self, node: Node, repeatable: bool, before: usize) -> Parsed<Node> {
        let start = self.position;
        let (min, max) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.position += 1;
                match self.counts() {
                    Some(counts) => counts,
                    None if self.unicode => return Err("has a `{` that is no count".into()),
                    None => {
                        self.position = start;
                        return Ok(node);
                    }
                }
            }
            _ => return Ok(node),
        };
        if !repeatable {
            return Err("repeats something that cannot be repeated".into());
        }
        self.position += 1;
        if max.is_some_and(|max| max < min) {
            return Err("has a count whose numbers are out of order".into());
        }
        let greedy = !self.eat("?");
        Ok(Node::Repeat(Repeat { inner: Box::new(node), min, max, greedy, groups: before + 1..self.groups + 1 }))
    }

    /// Reads `2`, `2,` or `2,3` up to a `}`, which stays; otherwise reads nothing.
    fn counts(&mut self) -> Option<(u32, Option<u32>)> {
        let start = self.position;
        let min = self.number();
        let max = if self.eat(",") { self.number() } else { min };
        if min.is_some() && self.peek() == Some('}') {
            return min.map(|min| (min, max));
        }
        self.position = start;
        None
    }

    fn number(&mut self) -> Option<u32> {
        let mut value: Option<u32> = None;
        while let Some(digit) = self.peek().and_then(|letter| letter.to_digit(10)) {
            value = Some(value.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            self.position += 1;
        }
        value
    }

    fn group(&mut self, depth: u32) -> Parsed<(Node, bool)> {
        let mut number = None;
        let mut look = None;
        if self.eat("?:") {
        } else if self.eat("?=") {
            look = Some((false, false));
        } else if self.eat("?!") {
            look = Some((false, true));
        } else if self.eat("?<=") {
            look = Some((true, false));
        } else if self.eat("?<!") {
            look = Some((true, true));
        } else {
            self.groups += 1;
            number = Some(self.groups);
            if self.eat("?<") {
                let name = self.name()?;
                if self.names.iter().any(|(other, group)| *other == name && *group != self.groups) {
                    return Err("names two groups alike".into());
                }
            } else if self.peek() == Some('?') {
                return Err("has a kind of group that is not supported".into());
            }
        }
        let inner = Box::new(self.choice(depth + 1)?);
        if !self.eat(")") {
            return Err("has a `(` without `)`".into());
        }
        Ok(match (number, look) {
            (Some(number), _) => (Node::Group(number, inner), true),
            (None, Some((behind, negated))) => (Node::Look(Look { behind, negated, inner }), !behind && !self.unicode),
            (None, None) => (*inner, true),
        })
    }

    fn name(&mut self) -> Parsed<String> {
        let mut name = String::new();
        loop {
            match self.bump() {
                Some('>') if !name.is_empty() => return Ok(name),
                Some(letter)
                    if letter.is_alphanumeric() && (!name.is_empty() || letter.is_alphabetic())
                        || letter == '_'
                        || letter == '$' =>
                {
                    name.push(letter)
                }
                _ => return Err("has a group name that is not supported".into()),
            }
        }
    }

    fn escape(&mut self) -> Parsed<(Node, bool)> {
        let start = self.position;
        match self.bump().ok_or("ends with a `\\`")? {
            'b' => return Ok((self.word(true), false)),
            'B' => return Ok((self.word(false), false)),
            'k' if self.unicode || !self.names.is_empty() => {
                let name = if self.eat("<") { self.name()? } else { return Err("has a `\\k` without a name".into()) };
                let group = self
                    .names
                    .iter()
                    .find(|(other, _)| *other == name)
                    .ok_or("refers to a group that it does not have")?;
                return Ok((Node::Back(group.1), true));
            }
            '1'..='9' => {
                self.position = start;
                let number = self.number().unwrap_or(u32::MAX) as usize;
                if number <= self.all_groups {
                    return Ok((Node::Back(number), true));
                }
                if self.unicode {
                    return Err("refers to a group that it does not have".into());
                }
                self.position = start;
            }
            _ => self.position = start,
        }
        Ok(match self.atom(false)? {
            Atom::Letter(letter) => (self.letter(letter), true),
            Atom::Set(set) => (Node::Set(self.folded(set)), true),
        })
    }

    /// `\b`, or `\B` when not `wanted`. With the flags `i` and `u`, two letters beyond ASCII belong to words.
    fn word(&self, wanted: bool) -> Node {
        if !self.unicode || !self.flags.contains('i') {
            return Node::Word(wanted);
        }
        let look = |behind, negated| {
            Node::Look(Look { behind, negated, inner: Box::new(Node::Set(self.folded(ranges(&WORD)))) })
        };
        let sides = |before: bool, after: bool| Node::Sequence(vec![look(true, before), look(false, after)]);
        Node::Choice(vec![sides(false, wanted), sides(true, !wanted)])
    }

    /// An escape; its backslash is read.
    fn atom(&mut self, in_class: bool) -> Parsed<Atom> {
        let letter = self.bump().ok_or("ends with a `\\`")?;
        Ok(Atom::Letter(match letter {
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                let mut set = match letter.to_ascii_lowercase() {
                    'd' => ranges(&[('0', '9')]),
                    's' => ranges(&SPACE),
                    _ => {
                        let words = ranges(&WORD);
                        if self.unicode { self.folded(words) } else { words }
                    }
                };
                if letter.is_ascii_uppercase() {
                    set.negate();
                }
                return Ok(Atom::Set(set));
            }
            'p' | 'P' if self.unicode => return Ok(Atom::Set(self.property(letter == 'P')?)),
            't' => 0x09,
            'n' => 0x0a,
            'v' => 0x0b,
            'f' => 0x0c,
            'r' => 0x0d,
            'b' if in_class => 0x08,
            'c' => match self.peek() {
                Some(control) if control.is_ascii_alphabetic() => {
                    self.position += 1;
                    control as u32 % 32
                }
                _ if self.unicode => return Err("has a `\\c` without a letter".into()),
                _ => {
                    self.position -= 1;
                    '\\'.into()
                }
            },
            '0'..='9' if self.unicode => match letter {
                '0' if !self.peek().is_some_and(|next| next.is_ascii_digit()) => 0,
                _ => return Err("has an octal escape".into()),
            },
            '0'..='7' => {
                let mut value = letter as u32 - '0' as u32;
                while let Some(digit) = self.peek().and_then(|next| next.to_digit(8))
                    && value * 8 + digit <= 0o377
                {
                    value = value * 8 + digit;
                    self.position += 1;
                }
                value
            }
            'x' => match self.hex(2) {
                Some(value) => value,
                None if self.unicode => return Err("has a `\\x` without two hexadecimal digits".into()),
                None => 'x'.into(),
            },
            'u' => match self.code_point() {
                Some(value) => value,
                None if self.unicode => return Err("has a `\\u` that names no character".into()),
                None => 'u'.into(),
            },
            letter if self.unicode && !("^$\\.*+?()[]{}|/".contains(letter) || in_class && letter == '-') => {
                return Err(format!("has the unknown escape `\\{letter}`"));
            }
            letter => letter.into(),
        }))
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let text: String = self.letters.get(self.position..self.position + digits)?.iter().collect();
        if !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        self.position += digits;
        u32::from_str_radix(&text, 16).ok()
    }

    /// After `\u`: four digits, two halves of a surrogate pair, or `{…}`.
    fn code_point(&mut self) -> Option<u32> {
        let start = self.position;
        if self.unicode && self.eat("{") {
            let digits: String =
                self.letters[self.position..].iter().take_while(|letter| letter.is_ascii_hexdigit()).collect();
            self.position += digits.len();
            let digits = digits.trim_start_matches('0');
            if self.eat("}") && self.position > start + 2 && digits.len() <= 6 {
                let value = if digits.is_empty() { 0 } else { u32::from_str_radix(digits, 16).ok()? };
                return (value <= 0x10_ffff).then_some(value);
            }
            self.position = start;
            return None;
        }
        let high = self.hex(4)?;
        let middle = self.position;
        if (0xd800..0xdc00).contains(&high) && self.eat("\\u") {
            match self.hex(4) {
                Some(low) if (0xdc00..0xe000).contains(&low) => {
                    return Some(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00));
                }
                _ => self.position = middle,
            }
        }
        Some(high)
    }

    fn property(&mut self, negated: bool) -> Parsed<ClassUnicode> {
        let unknown = "names an unknown Unicode property";
        if !self.eat("{") {
            return Err(unknown.into());
        }
        let name: String = self.letters[self.position..].iter().take_while(|&&letter| letter != '}').collect();
        self.position += name.chars().count() + 1;
        if name.is_empty()
            || name.len() > 64
            || !name.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'=')
        {
            return Err(unknown.into());
        }
        let hir = regex_syntax::parse(&format!("\\p{{{name}}}")).map_err(|_| unknown)?;
        let mut set = match hir.into_kind() {
            HirKind::Class(Class::Unicode(set)) => set,
            _ => return Err(unknown.into()),
        };
        if negated {
            set.negate();
        }
        Ok(set)
    }

    /// A class; its `[` is read.
    fn class(&mut self) -> Parsed<ClassUnicode> {
        let sets = self.flags.contains('v');
        let negated = self.eat("^");
        let mut set = ClassUnicode::empty();
        while !self.eat("]") {
            let made_of_classes = |parser: &mut Self| {
                sets && (parser.peek() == Some('[') || parser.eat("--") || parser.eat("&&") || parser.eat("\\q"))
            };
            let refused = "has a class made of other classes (flag `v`), which is not supported";
            if made_of_classes(self) {
                return Err(refused.into());
            }
            let first = self.class_atom()?;
            if made_of_classes(self) {
                return Err(refused.into());
            }
            let before = self.position;
            if self.eat("-") && self.peek().is_some_and(|letter| letter != ']') {
                let last = self.class_atom()?;
                match (first, last) {
                    (Atom::Letter(first), Atom::Letter(last)) => {
                        if first > last {
                            return Err("has a range whose ends are out of order".into());
                        }
                        add(&mut set, first, last);
                    }
                    _ if self.unicode => return Err("has a range between classes".into()),
                    (first, last) => {
                        add(&mut set, '-'.into(), '-'.into());
                        for atom in [first, last] {
                            join(&mut set, atom);
                        }
                    }
                }
            } else {
                self.position = before;
                join(&mut set, first);
            }
        }
        let mut set = self.folded(set);
        if negated {
            set.negate();
        }
        Ok(set)
    }

    fn class_atom(&mut self) -> Parsed<Atom> {
        match self.bump().ok_or("has a `[` without `]`")? {
            '\\' => self.atom(true),
            letter => Ok(Atom::Letter(letter.into())),
        }
    }

    fn letter(&self, letter: u32) -> Node {
        let mut set = ClassUnicode::empty();
        add(&mut set, letter, letter);
        Node::Set(self.folded(set))
    }

    /// With flag `i`, the set and all that differs only in case. Without `u`, ASCII and the rest do not mix.
    fn folded(&self, mut set: ClassUnicode) -> ClassUnicode {
        if !self.flags.contains('i') {
            return set;
        }
        if self.unicode {
            set.case_fold_simple();
            return set;
        }
        let ascii = ranges(&[('\0', '\x7f')]);
        let mut rest = set.clone();
        rest.difference(&ascii);
        rest.case_fold_simple();
        rest.difference(&ascii);
        set.intersect(&ascii);
        set.case_fold_simple();
        set.intersect(&ascii);
        set.union(&rest);
        set
    }
}

/// What `\w` matches.
const WORD: [(char, char); 4] = [('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];

/// White space and line terminators (ECMA-262, sections 12.2 and 12.3).
const SPACE: [(char, char); 9] = [
    ('\t', '\r'),
    (' ', ' '),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
];

/// Whether ECMAScript's `\s` matches it.
pub(in crate::schema) fn is_space(letter: char) -> bool {
    letter == '\u{feff}' || SPACE.iter().any(|&(first, last)| (first..=last).contains(&letter))
}

fn ranges(pairs: &[(char, char)]) -> ClassUnicode {
    let mut set = ClassUnicode::new(pairs.iter().map(|&(first, last)| ClassUnicodeRange::new(first, last)));
    if pairs.len() == SPACE.len() {
        set.push(ClassUnicodeRange::new('\u{feff}', '\u{feff}'));
    }
    set
}

/// Adds a range. Halves of surrogate pairs never stand in a text, so they drop out.
fn add(set: &mut ClassUnicode, first: u32, last: u32) {
    for (first, last) in [(first, last.min(0xd7ff)), (first.max(0xe000), last)] {
        if first <= last
            && let (Some(first), Some(last)) = (char::from_u32(first), char::from_u32(last))
        {
            set.push(ClassUnicodeRange::new(first, last));
        }
    }
}

fn join(set: &mut ClassUnicode, atom: Atom) {
    match atom {
        Atom::Letter(letter) => add(set, letter, letter),
        Atom::Set(other) => set.union(&other),
    }
}

fn one_or(mut parts: Vec<Node>, many: impl FnOnce(Vec<Node>) -> Node) -> Node {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            many(parts)
        }
        None => Node::Empty,
    }
}

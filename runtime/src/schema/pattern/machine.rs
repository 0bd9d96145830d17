//! Matches the patterns that no automaton can: lookaround, backreferences, lines.
//!
//! Backtracking as ECMA-262, section 22.2.2 describes it, over a small program with a stack of its own. Every instruction
//! is one step, and steps are paid with fuel.

use super::super::Fuel;
use super::syntax::Node;
use regex_syntax::hir::ClassUnicode;

/// Instructions of one program.
const MAX_CODE: usize = 50_000;
/// Entries of the backtracking stack, 24 bytes each.
const MAX_STACK: usize = 1 << 20;
/// Steps for one unit of fuel.
const STEPS: u64 = 4;
const UNSET: usize = usize::MAX;

#[derive(Debug)]
pub(super) struct Program {
    code: Vec<Op>,
    /// Two slots for each group, then one for each loop that must not stand still.
    slots: usize,
}

#[derive(Debug)]
enum Op {
    Set {
        ascii: u128,
        rest: Box<[(char, char)]>,
        back: bool,
    },
    Back {
        group: usize,
        back: bool,
    },
    Start,
    End,
    LineStart,
    LineEnd,
    Word(bool),
    Save(usize),
    /// Forgets groups: slots `from..to`.
    Clear {
        from: usize,
        to: usize,
    },
    /// Fails unless the position moved since it was saved.
    Moved(usize),
    Jump(usize),
    /// Tries `first`, later `second`.
    Split {
        first: usize,
        second: usize,
    },
    /// What follows, up to `Done`, is looked at without moving; then `next`.
    Look {
        negated: bool,
        next: usize,
    },
    Done,
}

/// What to do when a way fails.
enum Undo {
    Try { op: usize, position: usize },
    Restore { slot: usize, value: usize },
}

/// The fuel or the stack did not suffice.
struct Exhausted;

impl Program {
    pub fn new(tree: &Node) -> Result<Self, String> {
        let mut builder = Builder { code: Vec::new(), slots: 2 * (1 + groups(tree)) };
        builder.emit(tree, false)?;
        builder.push(Op::Done)?;
        Ok(Self { code: builder.code, slots: builder.slots })
    }

    pub fn memory(&self) -> usize {
        let rest = |op: &Op| if let Op::Set { rest, .. } = op { 8 * rest.len() } else { 0 };
        self.code.iter().map(|op| size_of::<Op>() + rest(op)).sum()
    }

    /// `None` when the fuel did not suffice.
    pub fn search(&self, text: &str, fuel: &mut Fuel) -> Option<bool> {
        let mut steps = fuel.left().saturating_mul(STEPS);
        let before = steps;
        let mut slots = vec![UNSET; self.slots];
        let mut result = Some(false);
        for position in (0..=text.len()).filter(|&position| text.is_char_boundary(position)) {
            slots.fill(UNSET);
            match self.run(0, position, text, &mut slots, &mut steps) {
                Ok(false) => {}
                Ok(true) => {
                    result = Some(true);
                    break;
                }
                Err(Exhausted) => {
                    steps = 0;
                    result = None;
                    break;
                }
            }
        }
        fuel.spend((before - steps).div_ceil(STEPS));
        result
    }

    fn run(
        &self,
        start: usize,
        position: usize,
        text: &str,
        slots: &mut Vec<usize>,
        steps: &mut u64,
    ) -> Result<bool, Exhausted> {
        let mut stack = Vec::new();
        let mut op = start;
        let mut at = position;
        loop {
            *steps = steps.checked_sub(1).ok_or(Exhausted)?;
            if stack.len() > MAX_STACK {
                return Err(Exhausted);
            }
            let next = op + 1;
            let goes_on = match &self.code[op] {
                Op::Set { ascii, rest, back } => match step(text, at, *back) {
                    Some((letter, moved)) if contains(*ascii, rest, letter) => {
                        at = moved;
                        true
                    }
                    _ => false,
                },
                Op::Back { group, back } => {
                    let (begin, end) = (slots[2 * group], slots[2 * group + 1]);
                    if begin == UNSET || end == UNSET {
                        true
                    } else {
                        let wanted = &text.as_bytes()[begin..end];
                        *steps = steps.checked_sub(wanted.len() as u64 / 16).ok_or(Exhausted)?;
                        let found = if *back {
                            text.as_bytes()[..at].ends_with(wanted)
                        } else {
                            text.as_bytes()[at..].starts_with(wanted)
                        };
                        if found {
                            at = if *back { at - wanted.len() } else { at + wanted.len() };
                        }
                        found
                    }
                }
                Op::Start => at == 0,
                Op::End => at == text.len(),
                Op::LineStart => step(text, at, true).is_none_or(|(letter, _)| ends_line(letter)),
                Op::LineEnd => step(text, at, false).is_none_or(|(letter, _)| ends_line(letter)),
                Op::Word(wanted) => {
                    let word = |back| {
                        step(text, at, back).is_some_and(|(letter, _)| letter.is_ascii_alphanumeric() || letter == '_')
                    };
                    (word(true) != word(false)) == *wanted
                }
                Op::Save(slot) => {
                    stack.push(Undo::Restore { slot: *slot, value: slots[*slot] });
                    slots[*slot] = at;
                    true
                }
                Op::Clear { from, to } => {
                    *steps = steps.checked_sub((to - from) as u64).ok_or(Exhausted)?;
                    for (slot, value) in
                        slots.iter_mut().enumerate().take(*to).skip(*from).filter(|(_, value)| **value != UNSET)
                    {
                        stack.push(Undo::Restore { slot, value: std::mem::replace(value, UNSET) });
                    }
                    true
                }
                Op::Moved(slot) => slots[*slot] != at,
                Op::Jump(target) => {
                    op = *target;
                    continue;
                }
                Op::Split { first, second } => {
                    stack.push(Undo::Try { op: *second, position: at });
                    op = *first;
                    continue;
                }
                Op::Look { negated, next: after } => {
                    let before = slots.clone();
                    *steps = steps.checked_sub(before.len() as u64 / 4).ok_or(Exhausted)?;
                    let found = self.run(next, at, text, slots, steps)?;
                    if found && !negated {
                        for (slot, value) in before.into_iter().enumerate() {
                            if slots[slot] != value {
                                stack.push(Undo::Restore { slot, value });
                            }
                        }
                    } else {
                        *slots = before;
                    }
                    if found != *negated {
                        op = *after;
                        continue;
                    }
                    false
                }
                Op::Done => return Ok(true),
            };
            if goes_on {
                op = next;
                continue;
            }
            loop {
                match stack.pop() {
                    None => return Ok(false),
                    Some(Undo::Restore { slot, value }) => slots[slot] = value,
                    Some(Undo::Try { op: other, position }) => {
                        op = other;
                        at = position;
                        break;
                    }
                }
            }
        }
    }
}

/// The letter after or before a position, and the position beyond it.
fn step(text: &str, at: usize, back: bool) -> Option<(char, usize)> {
    if back {
        text[..at].chars().next_back().map(|letter| (letter, at - letter.len_utf8()))
    } else {
        text[at..].chars().next().map(|letter| (letter, at + letter.len_utf8()))
    }
}

fn contains(ascii: u128, rest: &[(char, char)], letter: char) -> bool {
    if letter.is_ascii() {
        return ascii >> (letter as u32) & 1 == 1;
    }
    let index = rest.partition_point(|&(_, last)| last < letter);
    rest.get(index).is_some_and(|&(first, _)| first <= letter)
}

fn ends_line(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn groups(node: &Node) -> usize {
    match node {
        Node::Group(number, inner) => groups(inner).max(*number),
        Node::Sequence(parts) | Node::Choice(parts) => parts.iter().map(groups).max().unwrap_or(0),
        Node::Repeat(repeat) => groups(&repeat.inner),
        Node::Look(look) => groups(&look.inner),
        Node::Back(group) => *group,
        _ => 0,
    }
}

struct Builder {
    code: Vec<Op>,
    slots: usize,
}

impl Builder {
    fn push(&mut self, op: Op) -> Result<usize, String> {
        if self.code.len() >= MAX_CODE {
            return Err("is too large when its counted repetitions are written out".into());
        }
        self.code.push(op);
        Ok(self.code.len() - 1)
    }

    /// `back`: inside a lookbehind, where matching goes from right to left.
    fn emit(&mut self, node: &Node, back: bool) -> Result<(), String> {
        match node {
            Node::Empty => {}
            Node::Set(set) => self.set(set, back)?,
            Node::Start => drop(self.push(Op::Start)?),
            Node::End => drop(self.push(Op::End)?),
            Node::LineStart => drop(self.push(Op::LineStart)?),
            Node::LineEnd => drop(self.push(Op::LineEnd)?),
            Node::Word(wanted) => drop(self.push(Op::Word(*wanted))?),
            Node::Back(group) => drop(self.push(Op::Back { group: *group, back })?),
            Node::Group(number, inner) => {
                self.push(Op::Save(2 * number + usize::from(back)))?;
                self.emit(inner, back)?;
                self.push(Op::Save(2 * number + usize::from(!back)))?;
            }
            Node::Sequence(parts) => {
                for index in 0..parts.len() {
                    self.emit(&parts[if back { parts.len() - 1 - index } else { index }], back)?;
                }
            }
            Node::Choice(parts) => {
                let mut ends = Vec::new();
                for (index, part) in parts.iter().enumerate() {
                    if index + 1 == parts.len() {
                        self.emit(part, back)?;
                    } else {
                        let split = self.push(Op::Jump(0))?;
                        self.emit(part, back)?;
                        ends.push(self.push(Op::Jump(0))?);
                        self.code[split] = Op::Split { first: split + 1, second: self.code.len() };
                    }
                }
                let end = self.code.len();
                for jump in ends {
                    self.code[jump] = Op::Jump(end);
                }
            }
            Node::Repeat(repeat) => {
                for _ in 0..repeat.min {
                    self.round(repeat, back, None)?;
                }
                let slot = self.slots;
                let guard = repeat.inner.may_be_empty().then_some(slot);
                self.slots += usize::from(guard.is_some() && repeat.max.is_none_or(|max| max > repeat.min));
                match repeat.max {
                    None => {
                        let split = self.push(Op::Jump(0))?;
                        self.round(repeat, back, guard)?;
                        let end = self.push(Op::Jump(split))? + 1;
                        self.code[split] = fork(repeat.greedy, split + 1, end);
                    }
                    Some(max) => {
                        let mut splits = Vec::new();
                        for _ in repeat.min..max {
                            splits.push(self.push(Op::Jump(0))?);
                            self.round(repeat, back, guard)?;
                        }
                        let end = self.code.len();
                        for split in splits {
                            self.code[split] = fork(repeat.greedy, split + 1, end);
                        }
                    }
                }
            }
            Node::Look(look) => {
                let start = self.push(Op::Done)?;
                self.emit(&look.inner, look.behind)?;
                let next = self.push(Op::Done)? + 1;
                self.code[start] = Op::Look { negated: look.negated, next };
            }
        }
        Ok(())
    }

    fn round(&mut self, repeat: &super::syntax::Repeat, back: bool, guard: Option<usize>) -> Result<(), String> {
        if let Some(slot) = guard {
            self.push(Op::Save(slot))?;
        }
        if !repeat.groups.is_empty() {
            self.push(Op::Clear { from: 2 * repeat.groups.start, to: 2 * repeat.groups.end })?;
        }
        self.emit(&repeat.inner, back)?;
        if let Some(slot) = guard {
            self.push(Op::Moved(slot))?;
        }
        Ok(())
    }

    fn set(&mut self, set: &ClassUnicode, back: bool) -> Result<(), String> {
        let mut ascii = 0_u128;
        for range in set.iter() {
            for code in range.start() as u32..=(range.end() as u32).min(127) {
                ascii |= 1 << code;
            }
        }
        let rest =
            set.iter().filter(|range| !range.end().is_ascii()).map(|range| (range.start(), range.end())).collect();
        self.push(Op::Set { ascii, rest, back })?;
        Ok(())
    }
}

fn fork(greedy: bool, round: usize, end: usize) -> Op {
    if greedy { Op::Split { first: round, second: end } } else { Op::Split { first: end, second: round } }
}

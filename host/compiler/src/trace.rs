//! From places in the JavaScript that runs back to the TypeScript its author wrote.

use callcell_runtime::ModuleSet;
use oxc_sourcemap::SourceMap;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A place in a project's TypeScript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Project-relative, with `/`.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in UTF-16 code units.
    pub column: u32,
}

/// The source maps of a project's modules. Each is read when a frame first needs it; one that cannot be read counts as missing.
#[derive(Debug)]
pub struct Sources<'m> {
    modules: &'m ModuleSet,
    maps: RefCell<BTreeMap<&'m str, Option<Rc<SourceMap<'m>>>>>,
}

impl<'m> Sources<'m> {
    /// Takes the modules of a bundle.
    pub fn new(modules: &'m ModuleSet) -> Self {
        Self { modules, maps: RefCell::default() }
    }

    /// The stack of something that was thrown in a cell, with every frame that lies in the project placed in its TypeScript. Frames of
    /// the engine and of built-in modules stay as they are.
    pub fn stack(&self, stack: &str) -> String {
        let lines = stack.lines().map(|frame| match (position(frame), self.place(frame)) {
            (Some(position), Some(place)) => {
                format!("{}{}:{}:{}{}", position.before, place.file, place.line, place.column, position.after)
            }
            _ => frame.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Where one frame of a stack lies.
    pub fn place(&self, frame: &str) -> Option<Place> {
        let Position { name, line, column, .. } = position(frame)?;
        // In the first line the engine counts columns from 0, in all others from 1.
        self.at(name, line, column.saturating_add(u32::from(line == 1)))
    }

    /// Where a place of a module's JavaScript was written; line and column count from 1.
    pub(crate) fn at(&self, name: &str, line: u32, column: u32) -> Option<Place> {
        let module = self.modules.modules.iter().find(|module| module.name == name)?;
        let map = {
            let mut maps = self.maps.borrow_mut();
            let read = || SourceMap::from_json_string(module.source_map.as_deref()?).ok().map(Rc::new);
            maps.entry(&module.name).or_insert_with(read).clone()?
        };
        let (line, column) = (line.checked_sub(1)?, column.checked_sub(1)?);
        // The nearest token at or before the place. Maps come from bundles: nothing is assumed of their order.
        let tokens = map.get_tokens().filter(|token| token.get_dst_line() == line && token.get_dst_col() <= column);
        let token = tokens.max_by_key(|token| token.get_dst_col())?;
        let (line, column) = (token.get_src_line(), token.get_src_col());
        Some(Place { file: module.name.clone(), line: line.saturating_add(1), column: column.saturating_add(1) })
    }
}

/// The parts of a frame.
#[derive(Debug, PartialEq, Eq)]
struct Position<'f> {
    before: &'f str,
    name: &'f str,
    line: u32,
    column: u32,
    after: &'f str,
}

/// `    at f (tools.ts:3:5)` or `    at tools.ts:3:5`.
fn position(frame: &str) -> Option<Position<'_>> {
    let inner = frame.trim_start().strip_prefix("at ")?;
    let (place, after) = match inner.trim_end().strip_suffix(')') {
        Some(call) => (call.split_once(" (")?.1, ")"),
        None => (inner.trim_end(), ""),
    };
    let (rest, column) = place.rsplit_once(':')?;
    let (name, line) = rest.rsplit_once(':')?;
    let before = &frame[..frame.trim_end().len() - after.len() - place.len()];
    Some(Position { before, name, line: line.parse().ok()?, column: column.parse().ok()?, after })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stack_frames_are_read() {
        let read = |frame| position(frame).map(|it| (it.before, it.name, it.line, it.column, it.after));
        assert_eq!(read("    at f (a/tools.ts:3:5)"), Some(("    at f (", "a/tools.ts", 3, 5, ")")));
        assert_eq!(read("    at <anonymous> (a (1).ts:3:5)"), Some(("    at <anonymous> (", "a (1).ts", 3, 5, ")")));
        assert_eq!(read("    at tools.ts:3:5"), Some(("    at ", "tools.ts", 3, 5, "")));
        assert_eq!(read("    at f (native)"), None);
        assert_eq!(read("    at f (a.ts:4294967296:1)"), None);
        assert_eq!(read(""), None);
    }
}

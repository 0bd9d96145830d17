//! The options of `exactDiff`, as the manifest carries them (spec 4.4).

use super::path::{Dialect, PathId, PathTree, Step, parse, render_steps};
use serde_json::{Map, Value};
use thiserror::Error;

const GLOBALS: [&str; 4] = ["paths", "unorderedPaths", "numericTolerance", "allowExtraFields"];

/// How many items an array must have (EV-62).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ItemPolicy {
    /// The expected ones; more are allowed.
    #[default]
    AtLeast,
    /// None but the expected ones; fewer are allowed.
    AtMost,
    /// The expected ones and no more.
    Exactly,
}

/// What holds at one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub unordered: bool,
    pub items: ItemPolicy,
    pub allow_extra_fields: bool,
    /// Absolute; without one the relative default of the platform holds (D-56).
    pub tolerance: Option<f64>,
}

/// A rule, and what it makes of the settings above it.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// What holds here and below, until another rule sets it.
    pub settings: Settings,
    pub ignore: bool,
    /// Not inherited.
    pub match_by: Option<Vec<Vec<String>>>,
    /// For errors.
    pub path: String,
    /// The field that needs an object or an array at this path, if it sets one (D-62).
    pub needs_container: Option<&'static str>,
}

/// The place a value has in the tree of rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct RulePlace {
    /// The nearest rule at or above it.
    rule: PathId,
    /// Whether that rule stands at this very place.
    exact: bool,
}

impl RulePlace {
    pub const ROOT: Self = Self { rule: 0, exact: true };
}

/// How to compare two projections. [`Options::default`] is what omitted options mean (EV-72): extra members and trailing items are
/// allowed, arrays are ordered, numbers are equal up to a relative difference of 1e-6.
#[derive(Clone, Debug)]
pub struct Options {
    tree: PathTree,
    /// One per node of the tree; nodes that no rule names hand down what is above them.
    rules: Vec<Rule>,
    /// The global `paths`.
    selection: Option<PathTree>,
    written: Map<String, Value>,
}

/// Options that are not valid. The SDK finds the same when a project is compiled.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionsError {
    /// A global option stands next to `rules` (EV-71).
    #[error("`{option}` and `rules` cannot be combined")]
    Mixed {
        /// The global option.
        option: &'static str,
    },
    /// An option, or a field of a rule, is unknown, has a wrong value, or stands where it cannot.
    #[error("`{at}`: {problem}")]
    Invalid {
        /// Which, as `options.rules.total.order`.
        at: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A path is none, or stands twice.
    #[error("`{at}`: {problem}")]
    Path {
        /// Where it was given.
        at: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl OptionsError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Mixed { .. } => "C_EXACT_DIFF_MIXED",
            Self::Invalid { .. } => "C_EXACT_DIFF_OPTIONS",
            Self::Path { .. } => "C_EXACT_DIFF_RULE_PATH",
        }
    }
}

/// What a rule sets itself.
#[derive(Default)]
struct Given {
    steps: Vec<Step>,
    ignore: bool,
    unordered: Option<bool>,
    items: Option<ItemPolicy>,
    match_by: Option<Vec<Vec<String>>>,
    allow_extra_fields: Option<bool>,
    tolerance: Option<f64>,
    /// Globals apply to the whole projection, so they are no statement about the value at `$`.
    global: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { tree: PathTree::default(), rules: vec![Rule::root()], selection: None, written: Map::new() }
    }
}

impl Rule {
    fn root() -> Self {
        let settings =
            Settings { unordered: false, items: ItemPolicy::AtLeast, allow_extra_fields: true, tolerance: None };
        Self { settings, ignore: false, match_by: None, path: "$".to_owned(), needs_container: None }
    }
}

impl Options {
    /// Reads the member `options` of an `exactDiff` evaluator in a manifest. Where the member is absent, use
    /// [`Options::default`].
    ///
    /// # Errors
    /// When anything in it is not as spec 4.4 says; the first that is wrong.
    pub fn parse(options: &Value) -> Result<Self, OptionsError> {
        let given = object(options, "options")?;
        Self::read(given).map(|options| Self { written: given.clone(), ..options })
    }

    fn read(given: &Map<String, Value>) -> Result<Self, OptionsError> {
        if let Some(unknown) = given.keys().find(|name| *name != "rules" && !GLOBALS.contains(&name.as_str())) {
            return Err(invalid(member("options", unknown), "there is no such option"));
        }
        if let Some(rules) = given.get("rules") {
            if let Some(option) = GLOBALS.into_iter().find(|name| given.contains_key(*name)) {
                return Err(OptionsError::Mixed { option });
            }
            return Self::from_rules(object(rules, "options.rules")?);
        }
        Self::from_globals(given)
    }

    fn from_rules(rules: &Map<String, Value>) -> Result<Self, OptionsError> {
        let mut given = Vec::with_capacity(rules.len());
        for (written, rule) in rules {
            let at = member("options.rules", written);
            let steps = path(written, Dialect::Rule, &at)?;
            given.push((at.clone(), read_rule(rule, steps, &at)?));
        }
        Self::build(given, None)
    }

    fn from_globals(given: &Map<String, Value>) -> Result<Self, OptionsError> {
        let mut whole = Given { global: true, ..Given::default() };
        if let Some(value) = given.get("numericTolerance") {
            whole.tolerance = Some(tolerance(value, "options.numericTolerance")?);
        }
        if let Some(value) = given.get("allowExtraFields") {
            let allowed = boolean(value, "options.allowExtraFields")?;
            whole.allow_extra_fields = Some(allowed);
            // The platform pairs the two: without extra fields there are no extra items either (spec 4.4).
            whole.items = (!allowed).then_some(ItemPolicy::Exactly);
        }
        let mut rules = Vec::new();
        for (at, written) in listed(given, "unorderedPaths")? {
            let steps = path(written, Dialect::Rule, &at)?;
            if steps.last() == Some(&Step::Items) {
                return Err(invalid(at, "`unorderedPaths` names arrays, not their items"));
            }
            rules.push((at, Given { steps, unordered: Some(true), ..Given::default() }));
        }
        let mut selection = None;
        for (at, written) in listed(given, "paths")? {
            let steps = path(written, Dialect::Selection, &at)?;
            if selection.get_or_insert_with(PathTree::default).insert(steps).is_none() {
                return Err(twice(at));
            }
        }
        Self::build(rules, selection).map(|options| options.with_whole(&whole))
    }

    fn build(given: Vec<(String, Given)>, selection: Option<PathTree>) -> Result<Self, OptionsError> {
        let mut tree = PathTree::default();
        let mut at_node: Vec<Option<Given>> = Vec::new();
        for (at, rule) in given {
            let id = tree.insert(rule.steps.clone()).ok_or_else(|| twice(at))?;
            at_node.resize_with(tree.nodes().len(), || None);
            at_node[id] = Some(rule);
        }
        at_node.resize_with(tree.nodes().len(), || None);
        let mut rules: Vec<Rule> = Vec::with_capacity(at_node.len());
        // A parent comes before its children, so its settings are final when they are handed down.
        for (node, given) in tree.nodes().iter().zip(&at_node) {
            let above = rules.get(node.parent).map_or_else(|| Rule::root().settings, |rule| rule.settings);
            let mut rule = Rule { settings: above, ..Rule::root() };
            if let Some(given) = given {
                rule.set(given);
            }
            rules.push(rule);
        }
        Ok(Self { tree, rules, selection, written: Map::new() })
    }

    /// Applies what holds for the whole projection. Besides it there are only rules for `order`, so nothing is overridden.
    fn with_whole(mut self, whole: &Given) -> Self {
        for rule in &mut self.rules {
            rule.settings.set(whole);
        }
        self
    }

    /// The options as the author wrote them, for people. Empty where there are none.
    pub fn written(&self) -> &Map<String, Value> {
        &self.written
    }

    pub(super) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub(super) fn selection(&self) -> Option<&PathTree> {
        self.selection.as_ref()
    }

    /// Whether any array is compared without order.
    pub(super) fn has_unordered(&self) -> bool {
        self.rules.iter().any(|rule| rule.settings.unordered)
    }

    pub(super) fn settings(&self, place: RulePlace) -> &Settings {
        &self.rules[place.rule].settings
    }

    /// The rule that stands at exactly this place, with its number.
    pub(super) fn rule_at(&self, place: RulePlace) -> Option<(PathId, &Rule)> {
        place.exact.then(|| (place.rule, &self.rules[place.rule]))
    }

    pub(super) fn member_place(&self, place: RulePlace, key: &str) -> RulePlace {
        self.below(place, self.tree.nodes()[place.rule].keys.get(key))
    }

    pub(super) fn item_place(&self, place: RulePlace) -> RulePlace {
        self.below(place, self.tree.nodes()[place.rule].items.as_ref())
    }

    fn below(&self, place: RulePlace, child: Option<&PathId>) -> RulePlace {
        match child {
            Some(child) if place.exact => RulePlace { rule: *child, exact: true },
            _ => RulePlace { rule: place.rule, exact: false },
        }
    }
}

impl Rule {
    fn set(&mut self, given: &Given) {
        self.settings.set(given);
        self.ignore = given.ignore;
        self.match_by.clone_from(&given.match_by);
        self.path = render_steps(&given.steps);
        self.needs_container = [
            ("order", given.unordered.is_some()),
            ("items", given.items.is_some()),
            ("allowExtraFields", given.allow_extra_fields.is_some()),
        ]
        .into_iter()
        .find_map(|(field, set)| (set && !given.global).then_some(field));
    }
}

impl Settings {
    fn set(&mut self, given: &Given) {
        self.unordered = given.unordered.unwrap_or(self.unordered);
        self.items = given.items.unwrap_or(self.items);
        self.allow_extra_fields = given.allow_extra_fields.unwrap_or(self.allow_extra_fields);
        self.tolerance = given.tolerance.or(self.tolerance);
    }
}

fn read_rule(rule: &Value, steps: Vec<Step>, at: &str) -> Result<Given, OptionsError> {
    let fields = object(rule, at)?;
    let names_items = steps.last() == Some(&Step::Items);
    let is_whole = steps.is_empty();
    let mut given = Given { steps, ..Given::default() };
    for (name, value) in fields {
        let at = member(at, name);
        if names_items && matches!(name.as_str(), "order" | "items" | "matchBy") {
            let path = render_steps(&given.steps);
            let array = render_steps(&given.steps[..given.steps.len() - 1]);
            return Err(invalid(at, format!("put it on the array path `{array}`, not the item path `{path}`")));
        }
        match name.as_str() {
            "ignore" if *value != Value::Bool(true) => return Err(invalid(at, "it can only be true")),
            "ignore" if fields.len() > 1 => return Err(invalid(at, "it stands alone in its rule")),
            "ignore" if is_whole => return Err(invalid(at, "the whole projection cannot be ignored")),
            "ignore" => given.ignore = true,
            "order" => given.unordered = Some(choice(value, [("ordered", false), ("unordered", true)], at)?),
            "items" => {
                let policies = [
                    ("at-least", ItemPolicy::AtLeast),
                    ("at-most", ItemPolicy::AtMost),
                    ("exactly", ItemPolicy::Exactly),
                ];
                given.items = Some(choice(value, policies, at)?);
            }
            "matchBy" => given.match_by = Some(match_by(value, at)?),
            "allowExtraFields" => given.allow_extra_fields = Some(boolean(value, &at)?),
            "numericTolerance" => given.tolerance = Some(tolerance(value, &at)?),
            _ => return Err(invalid(at, "a rule has no such field")),
        }
    }
    if given.match_by.is_some() && given.unordered != Some(true) {
        return Err(invalid(member(at, "matchBy"), "it requires `order: 'unordered'` in the same rule"));
    }
    Ok(given)
}

fn match_by(value: &Value, at: String) -> Result<Vec<Vec<String>>, OptionsError> {
    let paths = match value {
        Value::Array(paths) => paths.as_slice(),
        path => std::slice::from_ref(path),
    };
    let mut found: Vec<Vec<String>> = Vec::with_capacity(paths.len());
    for path in paths {
        let steps = path.as_str().filter(|text| !text.contains(',')).and_then(dotted_names);
        let Some(steps) = steps else { return Err(invalid(at, "it must be a dotted name, or an array of such names")) };
        if found.contains(&steps) {
            return Err(invalid(at, "it names a path twice"));
        }
        found.push(steps);
    }
    if found.is_empty() { Err(invalid(at, "it names no path")) } else { Ok(found) }
}

/// The names of a path that consists of plain names and dots.
fn dotted_names(text: &str) -> Option<Vec<String>> {
    let names = text.split('.').map(|name| match parse(name, Dialect::Rule)?.pop()? {
        // What differs was quoted, or trimmed.
        Step::Key(key) if key == name => Some(key),
        _ => None,
    });
    names.collect()
}

fn choice<T: Copy, const N: usize>(value: &Value, choices: [(&str, T); N], at: String) -> Result<T, OptionsError> {
    let found = choices.iter().find(|(name, _)| value.as_str() == Some(name)).map(|(_, choice)| *choice);
    found.ok_or_else(|| invalid(at, format!("it must be one of `{}`", choices.map(|(name, _)| name).join("`, `"))))
}

fn boolean(value: &Value, at: &str) -> Result<bool, OptionsError> {
    value.as_bool().ok_or_else(|| invalid(at.to_owned(), "it must be true or false"))
}

fn tolerance(value: &Value, at: &str) -> Result<f64, OptionsError> {
    let number = value.as_f64().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| invalid(at.to_owned(), "it must be a finite number of at least 0"))
}

/// The texts of a list of paths, each with where it stands.
fn listed<'a>(given: &'a Map<String, Value>, name: &str) -> Result<Vec<(String, &'a str)>, OptionsError> {
    let Some(value) = given.get(name) else { return Ok(Vec::new()) };
    let paths = value.as_array().filter(|paths| !paths.is_empty());
    // D-55
    let paths = paths.ok_or_else(|| invalid(format!("options.{name}"), "it must be a non-empty array of paths"))?;
    let path = |(index, path): (usize, &'a Value)| {
        let at = format!("options.{name}[{index}]");
        match path.as_str() {
            Some(path) => Ok((at, path)),
            None => Err(not_a_path(at)),
        }
    };
    paths.iter().enumerate().map(path).collect()
}

fn path(text: &str, dialect: Dialect, at: &str) -> Result<Vec<Step>, OptionsError> {
    parse(text, dialect).ok_or_else(|| not_a_path(at.to_owned()))
}

fn object<'a>(value: &'a Value, at: &str) -> Result<&'a Map<String, Value>, OptionsError> {
    value.as_object().ok_or_else(|| invalid(at.to_owned(), "it must be an object"))
}

fn member(at: &str, name: &str) -> String {
    let name = render_steps(&[Step::Key(name.to_owned())]);
    if name.starts_with('[') { format!("{at}{name}") } else { format!("{at}.{name}") }
}

fn invalid(at: String, problem: impl Into<String>) -> OptionsError {
    OptionsError::Invalid { at, problem: problem.into() }
}

fn not_a_path(at: String) -> OptionsError {
    OptionsError::Path { at, problem: "it is not a path of the projection".to_owned() }
}

fn twice(at: String) -> OptionsError {
    OptionsError::Path { at, problem: "the path stands twice".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(options: Value) -> (&'static str, String) {
        let error = Options::parse(&options).expect_err("invalid options");
        (error.code(), error.to_string())
    }

    // EV-58 to EV-66, EV-70.
    #[test]
    fn every_option_of_the_seed_is_taken() {
        for options in [
            json!({}),
            json!({ "rules": {} }),
            json!({ "rules": { "total": { "numericTolerance": 0.01 } } }),
            json!({ "rules": { "a": {}, "b": { "ignore": true }, "$": { "order": "ordered", "items": "at-most" } } }),
            json!({ "rules": { "l": { "order": "unordered", "matchBy": ["a.b", "c"] }, "l[]": { "allowExtraFields": false } } }),
            json!({ "paths": ["a", "l[0].sku", "$"], "unorderedPaths": ["$", "groups[].members"] }),
            json!({ "numericTolerance": 0, "allowExtraFields": true }),
        ] {
            assert!(Options::parse(&options).is_ok(), "{options}");
        }
    }

    // EV-71, spec 4.4: even an empty `rules`.
    #[test]
    fn globals_do_not_mix_with_rules() {
        for name in GLOBALS {
            let (code, message) = refused(json!({ "rules": {}, name: null }));
            assert_eq!((code, message), ("C_EXACT_DIFF_MIXED", format!("`{name}` and `rules` cannot be combined")));
        }
    }

    // EV-60, EV-64, EV-66, D-52, D-55.
    #[test]
    fn wrong_options_are_refused_with_their_place() {
        for (options, at) in [
            (json!(null), "options"),
            (json!([]), "options"),
            (json!({ "rule": {} }), "options.rule"),
            (json!({ "rules": [] }), "options.rules"),
            (json!({ "rules": { "a": 1 } }), "options.rules.a"),
            (json!({ "rules": { "a b": {} } }), "options.rules[\"a b\"]"),
            (json!({ "rules": { "a": { "ignore": false } } }), "options.rules.a.ignore"),
            (json!({ "rules": { "a": { "order": "ordered", "ignore": true } } }), "options.rules.a.ignore"),
            (json!({ "rules": { "$": { "ignore": true } } }), "options.rules[\"$\"].ignore"),
            (json!({ "rules": { "a": { "order": "sorted" } } }), "options.rules.a.order"),
            (json!({ "rules": { "a": { "items": null } } }), "options.rules.a.items"),
            (json!({ "rules": { "a": { "allowExtraFields": "no" } } }), "options.rules.a.allowExtraFields"),
            (json!({ "rules": { "a": { "numericTolerance": -0.1 } } }), "options.rules.a.numericTolerance"),
            (json!({ "rules": { "a": { "tolerance": 1 } } }), "options.rules.a.tolerance"),
            (json!({ "rules": { "a": { "matchBy": "id", "order": "ordered" } } }), "options.rules.a.matchBy"),
            (json!({ "paths": [] }), "options.paths"),
            (json!({ "paths": "a" }), "options.paths"),
            (json!({ "unorderedPaths": ["a[]"] }), "options.unorderedPaths[0]"),
            (json!({ "numericTolerance": "1" }), "options.numericTolerance"),
            (json!({ "allowExtraFields": 0 }), "options.allowExtraFields"),
        ] {
            let (code, message) = refused(options.clone());
            let expected = if at.ends_with("\"a b\"]") { "C_EXACT_DIFF_RULE_PATH" } else { "C_EXACT_DIFF_OPTIONS" };
            assert_eq!((code, message.split("`: ").next()), (expected, Some(format!("`{at}").as_str())), "{options}");
        }
    }

    // Spec 4.4: "put it on the array path `x`, not the item path `x[]`".
    #[test]
    fn array_fields_on_an_item_path_name_the_array_path() {
        for (field, value) in [("order", "unordered"), ("items", "exactly"), ("matchBy", "id")] {
            let (code, message) = refused(json!({ "rules": { "x[][]": { field: value } } }));
            let expected = format!(
                "`options.rules[\"x[][]\"].{field}`: put it on the array path `x[]`, not the item path `x[][]`"
            );
            assert_eq!((code, message), ("C_EXACT_DIFF_OPTIONS", expected));
        }
    }

    // Spec 4.4: matchBy paths are dotted names, no `[]`, no commas, no `$`, no blanks, distinct.
    #[test]
    fn match_by_takes_dotted_names_only() {
        for value in [
            json!([]),
            json!(""),
            json!("a[]"),
            json!("a,b"),
            json!("$"),
            json!("a b"),
            json!(" a"),
            json!("a\u{a0}"),
            json!("a..b"),
            json!("a."),
            json!(["a", "a"]),
            json!(["a", 1]),
            json!(null),
            json!({}),
            json!("a]"),
        ] {
            let (code, _) = refused(json!({ "rules": { "l": { "order": "unordered", "matchBy": value } } }));
            assert_eq!(code, "C_EXACT_DIFF_OPTIONS", "{value}");
        }
    }

    // Spec 4.4: "Duplicate paths after normalisation".
    #[test]
    fn a_place_has_one_rule() {
        for options in [
            json!({ "rules": { "a": {}, "$.a": {} } }),
            json!({ "rules": { "a": {}, "[\"a\"]": {} } }),
            json!({ "rules": { "a": {}, " a": {} } }),
            json!({ "paths": ["a", "$.a"] }),
            json!({ "paths": [1] }),
            json!({ "unorderedPaths": ["a", "a"] }),
            json!({ "unorderedPaths": ["a[0]"] }),
        ] {
            assert_eq!(refused(options.clone()).0, "C_EXACT_DIFF_RULE_PATH", "{options}");
        }
    }
}

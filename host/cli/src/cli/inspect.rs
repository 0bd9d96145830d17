//! `callcell inspect`: what a bundle declares. A bundle is read and not run; its contents may come from anybody.

use super::args::InspectArguments;
use super::environment::Environment;
use super::open::{self, Warnings};
use super::render::{Terminal, bytes, cut, plural};
use super::table::table;
use callcell::runtime::{BundleFile, CallbackDeclaration, CallbackKind};
use serde_json::{Value, json};

/// Characters of a text in a table's cell.
const MAX_TEXT: usize = 72;

pub fn run(arguments: &InspectArguments, environment: &Environment, terminal: &Terminal) -> anyhow::Result<()> {
    let bundle = if open::is_bundle(&arguments.source) {
        open::bundle_file(&arguments.source)?
    } else {
        open::require_scripts(environment)?;
        let project = open::project(&arguments.source)?;
        let engine = open::engine(environment, arguments.no_cache, terminal)?;
        open::compilation(&engine, &project, Warnings::Count, terminal)?.bundle
    };
    if arguments.json {
        return Ok(terminal.json(&as_json(&bundle))?);
    }
    Ok(terminal.page(&as_text(&bundle, terminal))?)
}

fn as_json(bundle: &BundleFile) -> Value {
    let modules = bundle.modules.modules.iter();
    let modules: Vec<_> = modules.map(|it| json!({ "name": it.name, "bytes": it.source.len() })).collect();
    json!({
        "ok": true,
        "entry": bundle.modules.entry,
        "manifest": bundle.manifest,
        "modules": modules,
        "image": { "base": bundle.base.name(), "bytes": bundle.image.data_bytes() },
    })
}

fn as_text(bundle: &BundleFile, terminal: &Terminal) -> String {
    let manifest = &bundle.manifest;
    let mut parts = vec![format!(
        "{}: {}, {}, {} of memory beyond the base `{}`",
        bundle.modules.entry,
        plural(manifest.callbacks.len(), "callback"),
        plural(bundle.modules.modules.len(), "module"),
        bytes(bundle.image.data_bytes() as u64),
        bundle.base.name(),
    )];
    let rows: Vec<_> = manifest.callbacks.iter().map(callback).collect();
    parts.push(table(terminal, &["callback", "kind", "takes", "gives", "what it does"], &[], &rows));
    parts.extend(manifest.agents.iter().map(|declared| agent(declared, terminal)));
    let sources = manifest.sources.iter().map(|it| vec![it.path.clone(), it.sha256.chars().take(12).collect()]);
    let rows: Vec<_> = sources.collect();
    parts.push(table(terminal, &["source", "sha256"], &[], &rows));
    parts.join("\n\n")
}

fn callback(declared: &CallbackDeclaration) -> Vec<String> {
    let (takes, gives) = match declared.kind {
        CallbackKind::Tool => (fields(declared.input_schema.as_ref()), fields(declared.output_schema.as_ref())),
        CallbackKind::Evaluator => ("{ actual, expected? }".into(), "a score from 0 to 1".into()),
        CallbackKind::DiffSelector => ("an output".into(), "JSON data".into()),
        CallbackKind::JudgeSelector => ("{ actual, expected? }".into(), "JSON data".into()),
        CallbackKind::PassRule => ("{ scores }".into(), "true or false".into()),
    };
    let kind = json!(declared.kind).as_str().unwrap_or_default().to_owned();
    let description = declared.description.as_deref().unwrap_or_default();
    vec![declared.name.clone(), kind, takes, gives, short(description)]
}

/// `{ subtotal, rate? }` of an object schema.
fn fields(schema: Option<&Value>) -> String {
    let Some(schema) = schema else { return String::new() };
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return "an object".into() };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    let names = properties.keys().map(|name| if is_required(name) { name.clone() } else { format!("{name}?") });
    match names.collect::<Vec<_>>().join(", ") {
        names if names.is_empty() => "{}".into(),
        names => short(&format!("{{ {names} }}")),
    }
}

/// An agent, in the words of the SDK. The manifest is whatever a bundle says; a part of another shape shows as nothing.
fn agent(declared: &Value, terminal: &Terminal) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| {
        let names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        short(&names.collect::<Vec<_>>().join(", "))
    };
    let mut lines = vec![("agent", text(&declared["name"])), ("export", text(&declared["export"]))];
    if let Some(aliases) = Some(list(&declared["aliases"])).filter(|aliases| !aliases.is_empty()) {
        lines[1].1 = format!("{} ({aliases})", lines[1].1);
    }
    lines.push(("instructions", short(&text(&declared["instructions"]))));
    if let Some(model) = declared["model"].as_str() {
        lines.push(("model", model.to_owned()));
    }
    match &declared["filesystem"] {
        Value::Null => {}
        filesystem => lines.push(("filesystem", filesystem["cwd"].as_str().unwrap_or("an empty folder").to_owned())),
    }
    let tools = declared["tools"].as_object().map(|tools| tools.keys().map(String::as_str).collect::<Vec<_>>());
    lines.push(("tools", short(&tools.unwrap_or_default().join(", "))));
    lines.push(("skills", list(&declared["skills"])));
    lines.push(("resources", list(&declared["resources"])));
    lines.push(("output", fields(declared.get("outputSchema"))));
    lines.push(("passes", pass(&declared["pass"])));
    let lines = lines.into_iter().filter(|(_, value)| !value.is_empty());
    let head = lines.map(|(name, value)| format!("{name:<12}  {}", value.replace(['\n', '\r'], " ")));
    let head = head.collect::<Vec<_>>().join("\n");
    let evaluators = declared["evaluators"].as_array().into_iter().flatten();
    let rows: Vec<_> = evaluators
        .map(|it| {
            let how = match it["type"].as_str() {
                Some("exactDiff") => it.get("options").map_or_else(|| "the defaults".into(), Value::to_string),
                Some("llmJudge") => text(&it["prompt"]),
                _ => String::new(),
            };
            vec![text(&it["name"]), text(&it["type"]), text(&it["callback"]), short(&how)]
        })
        .collect();
    match rows.is_empty() {
        true => head,
        false => format!("{head}\n\n{}", table(terminal, &["evaluator", "type", "callback", "how"], &[], &rows)),
    }
}

/// EV-102, EV-103.
fn pass(rule: &Value) -> String {
    match rule["type"].as_str() {
        Some("weighted") => {
            let weights = rule["weights"].as_object().into_iter().flatten();
            let weights = weights.map(|(name, weight)| format!("{name} × {weight}"));
            let sum = weights.collect::<Vec<_>>().join(" + ");
            format!("when the weighted mean of {} reaches {}", short(&sum), rule["threshold"])
        }
        Some("predicate") => match rule["source"].as_str() {
            Some(source) => format!("when {} is true", short(source)),
            None => format!("when `{}` is true", rule["callback"].as_str().unwrap_or_default()),
        },
        _ => String::new(),
    }
}

/// The beginning of a text, on one line.
fn short(text: &str) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), MAX_TEXT)
}

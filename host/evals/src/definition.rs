//! The evaluations of an agent, read from a bundle's manifest.
//!
//! A manifest may come from anybody: what is not of the shape that the SDK writes is refused with a sentence, never guessed.

use crate::exact_diff::Options;
use crate::pass::WeightedRule;
use callcell_runtime::{DataSchema, Manifest, partial_schema};
use serde_json::Value;
use thiserror::Error;

/// Evaluators of one agent (spec 1.4).
pub const MAX_EVALUATORS: usize = 32;

/// An agent whose answers can be evaluated.
#[derive(Debug)]
pub struct Definition {
    /// The agent's name.
    pub agent: String,
    /// The export it comes from.
    pub export: String,
    /// In the order of registration.
    pub evaluators: Vec<Evaluator>,
    /// What decides.
    pub pass: Pass,
    /// What an example's input must fit.
    pub input: Option<DataSchema>,
    /// What an output must fit.
    pub output: Option<DataSchema>,
    /// What an expectation must fit: the output's schema with everything left out that asks for presence (EV-33).
    pub expected: Option<DataSchema>,
}

/// One evaluator.
#[derive(Clone, Debug)]
pub struct Evaluator {
    /// Its name.
    pub name: String,
    /// The function to call: the evaluator itself, or the selector.
    pub callback: String,
    /// How the score is made.
    pub method: Method,
}

/// How an evaluator's score is made.
#[derive(Clone, Debug)]
pub enum Method {
    /// The callback returns it.
    Callback,
    /// The callback selects, from the output and from the expectation; the selections are compared.
    ExactDiff {
        /// What the author set.
        options: Options,
    },
    /// The callback selects what is disclosed, a model scores it.
    LlmJudge {
        /// The author's criteria.
        prompt: String,
        /// A configured model; none for the configured selection.
        model: Option<String>,
    },
}

/// What decides whether an answer passes.
#[derive(Clone, Debug, PartialEq)]
pub enum Pass {
    /// The weighted mean of the listed scores reaches a threshold.
    Weighted(WeightedRule),
    /// A function of the scores says so.
    Predicate {
        /// The function to call.
        callback: String,
        /// Its text, for people.
        source: Option<String>,
    },
}

/// A manifest has no evaluations to run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefinitionError {
    /// No agent of that name or export.
    #[error("the bundle declares no agent `{name}`; it declares {}", listed(.known))]
    UnknownAgent {
        /// What was asked for.
        name: String,
        /// The exports there are.
        known: Vec<String>,
    },
    /// Several agents, and none was named.
    #[error("the bundle declares several agents ({}); name one", listed(.known))]
    SeveralAgents {
        /// The exports there are.
        known: Vec<String>,
    },
    /// The agent has no evaluators.
    #[error("the agent `{agent}` has no evaluators")]
    NoEvaluators {
        /// The agent.
        agent: String,
    },
    /// The manifest is not what the SDK writes.
    #[error("the manifest cannot be read: {what}")]
    Damaged {
        /// A sentence.
        what: String,
    },
}

impl DefinitionError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownAgent { .. } => "E_UNKNOWN_AGENT",
            Self::SeveralAgents { .. } => "E_SEVERAL_AGENTS",
            Self::NoEvaluators { .. } => "E_NO_EVALUATORS",
            Self::Damaged { .. } => "BUNDLE_DAMAGED",
        }
    }
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}

impl Definition {
    /// The evaluations of an agent, by its export or name. Without a name: the default export, else the only agent with
    /// evaluators.
    ///
    /// # Errors
    /// When there is no such agent, it has no evaluators, or the manifest is damaged.
    pub fn of(manifest: &Manifest, name: Option<&str>) -> Result<Self, DefinitionError> {
        Self::read(find(manifest, name)?)
    }

    fn read(agent: &Value) -> Result<Self, DefinitionError> {
        let name = text(agent, "name")?;
        let rows = agent.get("evaluators").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if rows.is_empty() {
            return Err(DefinitionError::NoEvaluators { agent: name });
        }
        if rows.len() > MAX_EVALUATORS {
            return Err(damaged(format!("the agent has more than {MAX_EVALUATORS} evaluators")));
        }
        let evaluators = rows.iter().map(evaluator).collect::<Result<Vec<_>, _>>()?;
        let repeated = |at: usize| evaluators[..at].iter().any(|before| before.name == evaluators[at].name);
        if let Some(at) = (0..evaluators.len()).find(|at| repeated(*at)) {
            return Err(damaged(format!("there are two evaluators `{}`", evaluators[at].name)));
        }
        let pass = pass(agent.get("pass").unwrap_or(&Value::Null), &evaluators)?;
        let schema = |schema: &Value| DataSchema::compile(schema).map_err(|error| damaged(error.to_string()));
        let output = agent.get("outputSchema");
        let expected = output.map(partial_schema).transpose().map_err(|error| damaged(error.to_string()))?;
        Ok(Self {
            agent: name,
            export: text(agent, "export")?,
            evaluators,
            pass,
            input: agent.get("inputSchema").map(schema).transpose()?,
            output: output.map(schema).transpose()?,
            expected: expected.as_ref().map(schema).transpose()?,
        })
    }
}

fn find<'m>(manifest: &'m Manifest, name: Option<&str>) -> Result<&'m Value, DefinitionError> {
    let export = |agent: &Value| agent["export"].as_str().unwrap_or_default().to_owned();
    let known = || manifest.agents.iter().map(export).collect::<Vec<_>>();
    let Some(name) = name else {
        let evaluated =
            |agent: &&Value| agent["evaluators"].as_array().is_some_and(|evaluators| !evaluators.is_empty());
        let mut agents = manifest.agents.iter().filter(evaluated);
        let default = manifest.agents.iter().filter(evaluated).find(|agent| agent["export"] == "default");
        return match (default, agents.next(), agents.next()) {
            (Some(agent), ..) | (None, Some(agent), None) => Ok(agent),
            (None, Some(_), Some(_)) => Err(DefinitionError::SeveralAgents { known: known() }),
            (None, None, _) => match manifest.agents.first() {
                Some(agent) => Err(DefinitionError::NoEvaluators { agent: export(agent) }),
                None => Err(DefinitionError::UnknownAgent { name: "default".into(), known: Vec::new() }),
            },
        };
    };
    let exported = |agent: &&Value| {
        let aliases = agent["aliases"].as_array().is_some_and(|aliases| aliases.iter().any(|alias| alias == name));
        agent["export"] == name || aliases
    };
    let named = |agent: &&Value| agent["name"] == name;
    let found = manifest.agents.iter().find(exported).or_else(|| manifest.agents.iter().find(named));
    found.ok_or_else(|| DefinitionError::UnknownAgent { name: name.chars().take(200).collect(), known: known() })
}

fn evaluator(row: &Value) -> Result<Evaluator, DefinitionError> {
    let method = match row["type"].as_str() {
        Some("callback") => Method::Callback,
        Some("exactDiff") => {
            let options = row.get("options").map_or_else(|| Ok(Options::default()), Options::parse);
            Method::ExactDiff { options: options.map_err(|error| damaged(error.to_string()))? }
        }
        Some("llmJudge") => Method::LlmJudge {
            prompt: text(row, "prompt")?,
            model: match row.get("model") {
                None => None,
                Some(model) => Some(model.as_str().ok_or_else(|| damaged("`model` is no text"))?.to_owned()),
            },
        },
        _ => return Err(damaged("an evaluator is of an unknown type")),
    };
    Ok(Evaluator { name: text(row, "name")?, callback: text(row, "callback")?, method })
}

fn pass(rule: &Value, evaluators: &[Evaluator]) -> Result<Pass, DefinitionError> {
    match rule["type"].as_str() {
        Some("weighted") => {
            // What is no number is none that the rule accepts.
            let weights = rule["weights"].as_object().into_iter().flatten();
            let weights = weights.map(|(name, weight)| (name.as_str(), weight.as_f64().unwrap_or(f64::NAN)));
            let threshold = rule["threshold"].as_f64().unwrap_or(f64::NAN);
            let names: Vec<_> = evaluators.iter().map(|evaluator| evaluator.name.as_str()).collect();
            let rule = WeightedRule::new(weights, threshold, &names).map_err(|error| damaged(error.to_string()))?;
            Ok(Pass::Weighted(rule))
        }
        Some("predicate") => Ok(Pass::Predicate {
            callback: text(rule, "callback")?,
            source: rule["source"].as_str().map(str::to_owned),
        }),
        _ => Err(damaged("the pass rule is of an unknown type")),
    }
}

fn text(value: &Value, key: &str) -> Result<String, DefinitionError> {
    value[key].as_str().map(str::to_owned).ok_or_else(|| damaged(format!("`{key}` is no text")))
}

fn damaged(what: impl Into<String>) -> DefinitionError {
    DefinitionError::Damaged { what: what.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn manifest(agents: Value) -> Manifest {
        serde_json::from_value(json!({ "format": 1, "callbacks": [], "agents": agents, "sources": [] })).unwrap()
    }

    fn agent(export: &str) -> Value {
        json!({
            "name": "invoices", "export": export, "aliases": ["reviewed"],
            "outputSchema": { "type": "object", "properties": { "total": { "type": "number" } }, "required": ["total"] },
            "evaluators": [
                { "name": "fields", "type": "exactDiff", "callback": "a", "options": { "rules": {} } },
                { "name": "meaning", "type": "llmJudge", "callback": "b", "prompt": "Score the summary." },
                { "name": "constructor", "type": "callback", "callback": "c" },
            ],
            "pass": { "type": "weighted", "weights": { "fields": 2, "constructor": 0 }, "threshold": 0.9 },
        })
    }

    // EV-33, EV-93
    #[test]
    fn an_agent_is_read() {
        let definition = Definition::of(&manifest(json!([agent("default")])), None).unwrap();
        assert_eq!((definition.agent.as_str(), definition.evaluators.len()), ("invoices", 3));
        assert!(matches!(definition.evaluators[0].method, Method::ExactDiff { .. }));
        let Pass::Weighted(rule) = &definition.pass else { panic!("it is weighted") };
        assert_eq!(rule.weights(), [("fields".to_owned(), 2.0), ("constructor".to_owned(), 0.0)]);
        assert_eq!(rule.threshold(), 0.9);
        assert!(definition.output.unwrap().check(&json!({})).is_err());
        assert!(definition.expected.unwrap().check(&json!({})).is_ok());
    }

    #[test]
    fn an_agent_is_found_by_export_alias_or_name() {
        let two = manifest(json!([agent("first"), agent("second")]));
        for name in ["first", "second", "reviewed", "invoices"] {
            assert!(Definition::of(&two, Some(name)).is_ok(), "{name}");
        }
        let code = |manifest: &Manifest, name: Option<&str>| Definition::of(manifest, name).unwrap_err().code();
        assert_eq!(code(&two, None), "E_SEVERAL_AGENTS");
        assert_eq!(code(&two, Some("third")), "E_UNKNOWN_AGENT");
        assert_eq!(code(&manifest(json!([])), None), "E_UNKNOWN_AGENT");
        let mut bare = agent("default");
        bare["evaluators"] = json!([]);
        assert_eq!(code(&manifest(json!([bare])), None), "E_NO_EVALUATORS");
    }

    #[test]
    fn a_hostile_manifest_is_refused() {
        let change = |path: &str, value: Value| {
            let mut agent = agent("default");
            *agent.pointer_mut(path).unwrap() = value;
            Definition::of(&manifest(json!([agent])), None).unwrap_err().code()
        };
        for (path, value) in [
            ("/evaluators/0/type", json!("other")),
            ("/evaluators/0/name", json!(1)),
            ("/evaluators/1/name", json!("fields")),
            ("/evaluators/1/prompt", json!(null)),
            ("/evaluators/0/options", json!({ "rules": {}, "paths": [] })),
            ("/pass/type", json!(null)),
            ("/pass/weights/fields", json!(-1)),
            ("/pass/weights/fields", json!(0)),
            ("/pass/weights", json!({ "nobody": 1 })),
            ("/pass/threshold", json!(1.5)),
            ("/outputSchema", json!({ "type": 5 })),
        ] {
            assert_eq!(change(path, value), "BUNDLE_DAMAGED", "{path}");
        }
    }
}

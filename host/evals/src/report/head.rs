//! What a report says about an experiment before it says what came of it.

use super::Summary;
use crate::definition::{Definition, Evaluator, Method, Pass};
use crate::model::EvaluatorType;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An experiment, for people and machines: everything that its runs have in common. Plain data, so that it can be stored with the runs and
/// a report made of them without the bundle.
///
/// [`Head::of`] fills in what a definition knows; the rest is the caller's:
///
/// ```
/// # use callcell_evals::{definition::Definition, report::Head};
/// # fn head(definition: &Definition) -> Head {
/// Head { experiment: "e-17".into(), bundle: "sha256:…".into(), ..Head::of(definition) }
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// The experiment's id.
    pub experiment: String,
    /// The agent's name.
    pub agent: String,
    /// The digest of the bundle that was evaluated.
    pub bundle: String,
    /// The dataset's name.
    pub dataset: String,
    /// Its version.
    pub dataset_version: String,
    /// Where the outputs come from, in words: the dataset, a tool, an endpoint.
    pub source: String,
    /// How often each example is run; at least 1.
    pub repeat: u32,
    /// When the experiment was created, as RFC 3339 text.
    pub created: String,
    /// When its last run finished; none while it runs.
    pub finished: Option<String>,
    /// The share of runs that must pass (D-81); 1 by default.
    pub min_pass_rate: f64,
    /// In the order of registration.
    pub evaluators: Vec<EvaluatorHead>,
    /// What decides.
    pub pass: PassHead,
}

/// One evaluator, for display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluatorHead {
    /// Its name.
    pub name: String,
    /// How it works.
    #[serde(flatten)]
    pub method: MethodHead,
}

/// How an evaluator works, for display. In JSON the members of the evaluator, with the type as [`EvaluatorType`] writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum MethodHead {
    /// A function of the author's.
    Callback,
    /// A comparison of what a selector took.
    ExactDiff {
        /// The options as the author wrote them; empty for the defaults.
        options: Map<String, Value>,
    },
    /// A model.
    LlmJudge {
        /// The author's criteria.
        prompt: String,
        /// The model asked for; none for the configured selection.
        model: Option<String>,
    },
}

/// The pass rule, for display (EV-102, EV-103).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum PassHead {
    /// A weighted mean that must reach a threshold.
    Weighted {
        /// The listed scores, in the author's order.
        weights: Vec<Weight>,
        /// From 0 to 1; reaching it passes.
        threshold: f64,
    },
    /// A function of the scores.
    Predicate {
        /// Its text as written; none if the bundle does not carry it.
        source: Option<String>,
    },
}

/// What a score counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weight {
    /// The evaluator.
    pub evaluator: String,
    /// Its weight; 0 counts nothing.
    pub weight: f64,
}

impl Head {
    /// What a definition knows of an experiment: agent, evaluators, pass rule. Each example is run once and all must pass; the
    /// other texts are empty and the caller's to fill in.
    pub fn of(definition: &Definition) -> Self {
        Self {
            experiment: String::new(),
            agent: definition.agent.clone(),
            bundle: String::new(),
            dataset: String::new(),
            dataset_version: String::new(),
            source: String::new(),
            repeat: 1,
            created: String::new(),
            finished: None,
            min_pass_rate: 1.0,
            evaluators: definition.evaluators.iter().map(EvaluatorHead::of).collect(),
            pass: PassHead::of(&definition.pass),
        }
    }

    /// Whether enough runs passed (D-81). Without runs nothing has failed.
    pub fn is_reached(&self, summary: &Summary) -> bool {
        summary.pass_rate() >= self.min_pass_rate
    }

    /// The share of an evaluator's weight in all weights; none for a predicate, and for a score that the rule does not list.
    pub fn share(&self, evaluator: &str) -> Option<f64> {
        let PassHead::Weighted { weights, .. } = &self.pass else { return None };
        let total: f64 = weights.iter().map(|weight| weight.weight).sum();
        let weight = weights.iter().find(|weight| weight.evaluator == evaluator)?;
        (total > 0.0).then_some(weight.weight / total)
    }

    /// The position of an evaluator among those of the definition.
    pub(super) fn position(&self, evaluator: &str) -> Option<usize> {
        self.evaluators.iter().position(|known| known.name == evaluator)
    }
}

impl EvaluatorHead {
    fn of(evaluator: &Evaluator) -> Self {
        let method = match &evaluator.method {
            Method::Callback => MethodHead::Callback,
            Method::ExactDiff { options } => MethodHead::ExactDiff { options: options.written().clone() },
            Method::LlmJudge { prompt, model } => MethodHead::LlmJudge { prompt: prompt.clone(), model: model.clone() },
        };
        Self { name: evaluator.name.clone(), method }
    }

    /// How it works, without the details.
    pub fn kind(&self) -> EvaluatorType {
        match self.method {
            MethodHead::Callback => EvaluatorType::Callback,
            MethodHead::ExactDiff { .. } => EvaluatorType::ExactDiff,
            MethodHead::LlmJudge { .. } => EvaluatorType::LlmJudge,
        }
    }
}

impl PassHead {
    fn of(pass: &Pass) -> Self {
        match pass {
            Pass::Weighted(rule) => {
                let weight =
                    |(evaluator, weight): &(String, f64)| Weight { evaluator: evaluator.clone(), weight: *weight };
                Self::Weighted { weights: rule.weights().iter().map(weight).collect(), threshold: rule.threshold() }
            }
            Pass::Predicate { source, .. } => Self::Predicate { source: source.clone() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{head, run};
    use super::*;
    use callcell_runtime::Manifest;
    use serde_json::json;

    fn definition(pass: Value) -> Definition {
        let manifest: Manifest = serde_json::from_value(json!({ "format": 1, "callbacks": [], "sources": [], "agents": [{
            "name": "invoices", "export": "default",
            "evaluators": [
                { "name": "fields", "type": "exactDiff", "callback": "a", "options": { "rules": { "total": { "numericTolerance": 0.01 } } } },
                { "name": "all", "type": "exactDiff", "callback": "a" },
                { "name": "meaning", "type": "llmJudge", "callback": "b", "prompt": "Score the summary.", "model": "m" },
                { "name": "positive", "type": "callback", "callback": "c" },
            ],
            "pass": pass,
        }] }))
        .unwrap();
        Definition::of(&manifest, None).unwrap()
    }

    // EV-102
    #[test]
    fn a_head_shows_what_the_definition_says() {
        let rule = json!({ "type": "weighted", "weights": { "fields": 2, "meaning": 1 }, "threshold": 0.9 });
        let head = Head { experiment: "e1".into(), ..Head::of(&definition(rule)) };
        let expected = json!({
            "experiment": "e1", "agent": "invoices", "bundle": "", "dataset": "", "datasetVersion": "", "source": "",
            "repeat": 1, "created": "", "finished": null, "minPassRate": 1.0,
            "evaluators": [
                { "name": "fields", "type": "exact-diff", "options": { "rules": { "total": { "numericTolerance": 0.01 } } } },
                { "name": "all", "type": "exact-diff", "options": {} },
                { "name": "meaning", "type": "llm-judge", "prompt": "Score the summary.", "model": "m" },
                { "name": "positive", "type": "callback" },
            ],
            "pass": { "type": "weighted", "threshold": 0.9, "weights": [
                { "evaluator": "fields", "weight": 2.0 }, { "evaluator": "meaning", "weight": 1.0 },
            ] },
        });
        assert_eq!(serde_json::to_value(&head).unwrap(), expected);
        assert_eq!(serde_json::from_value::<Head>(expected).unwrap(), head);
        assert_eq!((head.share("meaning"), head.share("all")), (Some(1.0 / 3.0), None));
        assert_eq!(head.evaluators[2].kind(), EvaluatorType::LlmJudge);
    }

    // EV-103
    #[test]
    fn a_predicate_is_shown_as_written() {
        let rule = json!({ "type": "predicate", "callback": "p", "source": "(s: S) => s.fields === 1" });
        let head = Head::of(&definition(rule));
        assert_eq!(head.pass, PassHead::Predicate { source: Some("(s: S) => s.fields === 1".into()) });
        assert_eq!(head.share("fields"), None);
    }

    // D-81
    #[test]
    fn the_gate_is_a_share_of_runs() {
        let mut summary = Summary::default();
        assert!(head().is_reached(&summary));
        summary.add(&run("a", &[("fields", Some(1.0))], Some(true)));
        assert!(head().is_reached(&summary));
        summary.add(&run("b", &[("fields", None)], None));
        assert!(!head().is_reached(&summary));
        let gate = |min_pass_rate| Head { min_pass_rate, ..head() }.is_reached(&summary);
        assert_eq!((gate(0.5), gate(0.51), gate(f64::NAN)), (true, false, false));
    }
}

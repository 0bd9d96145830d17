//! One output evaluated: the callbacks in cells, the judge through its connection, and one verdict (3.2, 6, 7.2).

use crate::definition::{Definition, Evaluator, Method, Pass};
use crate::exact_diff::{self, Options, Projection};
use crate::judge::{self, ModelConnection, Patience};
use crate::model::{EvaluationUsage, EvaluatorResult, EvaluatorType, Example, Failure, RunResult};
use crate::pass::{self, Evaluated, Verdict};
use crate::{Score, ScoreInvalid};
use callcell_runtime::{Bundle, CallOptions, Outcome};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Instant;
use thiserror::Error;

const NO_CONNECTION: judge::ConnectionError =
    judge::ConnectionError::Unavailable { what: "no connection to a model is configured" };

/// An agent's evaluations, ready to run. One serves any number of outputs, from any number of tasks.
pub struct Evaluations {
    bundle: Bundle,
    definition: Definition,
    judge: Option<Arc<dyn ModelConnection>>,
    patience: Patience,
}

/// A judge is declared, and its model cannot be asked. Found out before an experiment is spent on it (D-65).
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the evaluator `{evaluator}` needs a judge: {source}")]
pub struct JudgeMissing {
    /// Whose judge.
    pub evaluator: String,
    /// Why.
    pub source: judge::ConnectionError,
}

impl JudgeMissing {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.source.code()
    }
}

impl std::fmt::Debug for Evaluations {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Evaluations").field("definition", &self.definition).finish_non_exhaustive()
    }
}

impl Evaluations {
    /// Prepares the evaluations of an agent of a bundle. `judge` may be none where no evaluator needs one.
    ///
    /// # Errors
    /// When a judge's model is not available.
    pub fn new(
        bundle: Bundle,
        definition: Definition,
        judge: Option<Arc<dyn ModelConnection>>,
        patience: Patience,
    ) -> Result<Self, JudgeMissing> {
        for evaluator in &definition.evaluators {
            if let Method::LlmJudge { model, .. } = &evaluator.method {
                let available = judge.as_ref().map_or(Err(NO_CONNECTION), |judge| judge.available(model.as_deref()));
                available.map_err(|source| JudgeMissing { evaluator: evaluator.name.clone(), source })?;
            }
        }
        Ok(Self { bundle, definition, judge, patience })
    }

    /// What is evaluated, and how.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The bundle whose callbacks are run.
    pub fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// Evaluates an output of an example. Evaluators run side by side and none affects another; the pass rule comes after all (7.2).
    /// An error of theirs is part of the result. `repetition` and `run_fuel` are the caller's to fill in.
    pub async fn evaluate(&self, example: &Example, output: &Value) -> RunResult {
        let start = Instant::now();
        let evaluators = self.definition.evaluators.iter();
        let all = evaluators.map(|evaluator| self.evaluator(evaluator, example, output));
        let mut usage = EvaluationUsage::default();
        let mut results = Vec::new();
        for (result, cost) in join_all(all).await {
            usage.add(&cost);
            results.push(result);
        }
        let verdict = self.verdict(&results, &mut usage).await;
        RunResult {
            example: example.name.clone(),
            repetition: 0,
            passed: verdict.passed,
            status: verdict.status,
            value: verdict.value,
            error: verdict.block.map(|block| Failure {
                message: match &block.evaluators[..] {
                    [] => "the pass rule did not decide".into(),
                    evaluators => {
                        let names: Vec<_> =
                            evaluators.iter().map(|it| format!("`{}` ({})", it.name, it.code)).collect();
                        format!("nothing was decided, because there is no score of {}", names.join(", "))
                    }
                },
                code: block.code,
                path: None,
            }),
            output: Some(output.clone()),
            evaluators: results,
            run_fuel: 0,
            evaluation: usage,
            duration_millis: start.elapsed().as_millis().try_into().unwrap_or(u64::MAX),
        }
    }

    async fn evaluator(
        &self,
        evaluator: &Evaluator,
        example: &Example,
        output: &Value,
    ) -> (EvaluatorResult, EvaluationUsage) {
        let mut usage = EvaluationUsage::default();
        let (kind, outcome) = match &evaluator.method {
            Method::Callback => (EvaluatorType::Callback, self.callback(evaluator, example, output, &mut usage).await),
            Method::ExactDiff { options } => {
                (EvaluatorType::ExactDiff, self.compared(evaluator, options, example, output, &mut usage).await)
            }
            Method::LlmJudge { prompt, model } => {
                let model = model.as_deref();
                (EvaluatorType::LlmJudge, self.judged(evaluator, prompt, model, example, output, &mut usage).await)
            }
        };
        let (score, error, details) = match outcome {
            Ok((score, details)) => (Some(score.get()), None, details),
            Err(failure) => (None, Some(failure), None),
        };
        (EvaluatorResult { name: evaluator.name.clone(), kind, score, error, details }, usage)
    }

    async fn callback(
        &self,
        evaluator: &Evaluator,
        example: &Example,
        output: &Value,
        usage: &mut EvaluationUsage,
    ) -> Result<(Score, Option<Value>), Failure> {
        let outcome = self.call(&evaluator.callback, &both(example, output), usage).await?;
        let score = Score::from_json(&outcome.value)
            .map_err(|invalid: ScoreInvalid| failure(invalid.code(), &invalid, None))?;
        Ok((score, None))
    }

    /// 4.1: without an expectation the selector is not called; it is called with the expectation first.
    async fn compared(
        &self,
        evaluator: &Evaluator,
        options: &Options,
        example: &Example,
        output: &Value,
        usage: &mut EvaluationUsage,
    ) -> Result<(Score, Option<Value>), Failure> {
        let Some(expected) = &example.expected else {
            return Err(failure("E_EXPECTED_MISSING", &"the example has no expectation to compare with", None));
        };
        let expected = self.call(&evaluator.callback, expected, usage).await?;
        let actual = self.call(&evaluator.callback, output, usage).await?;
        let comparison = exact_diff::compare(Projection::from(&expected), Projection::from(&actual), options)
            .map_err(|error| failure(error.code(), &error, error.path().map(str::to_owned)))?;
        let score = Score::new(comparison.score).map_err(|invalid| failure(invalid.code(), &invalid, None))?;
        Ok((score, serde_json::to_value(&comparison).ok()))
    }

    async fn judged(
        &self,
        evaluator: &Evaluator,
        prompt: &str,
        model: Option<&str>,
        example: &Example,
        output: &Value,
        usage: &mut EvaluationUsage,
    ) -> Result<(Score, Option<Value>), Failure> {
        let selection = self.call(&evaluator.callback, &both(example, output), usage).await?;
        let request = judge::request(prompt, model, &selection.value, &selection.undefined)?;
        let Some(connection) = &self.judge else {
            return Err(NO_CONNECTION.into());
        };
        // Outside of any cell: the callback's limits are not the judge's (EV-84).
        let asked = judge::ask(&**connection, &request, &self.patience).await;
        usage.judge_requests += u64::from(asked.attempts - asked.cached.min(asked.attempts));
        usage.judge_cached += u64::from(asked.cached);
        usage.prompt_tokens = usage.prompt_tokens.saturating_add(asked.prompt_tokens);
        usage.completion_tokens = usage.completion_tokens.saturating_add(asked.completion_tokens);
        let judgement = asked.outcome?;
        let details = json!({ "rationale": judgement.rationale, "model": asked.model, "attempts": asked.attempts });
        Ok((judgement.score, Some(details)))
    }

    async fn verdict(&self, results: &[EvaluatorResult], usage: &mut EvaluationUsage) -> Verdict {
        let evaluated: Vec<_> = results
            .iter()
            .map(|result| {
                let code = result.error.as_ref().map_or(ScoreInvalid.code(), |error| error.code.as_str());
                let score = result.score.and_then(|score| Score::new(score).ok());
                Evaluated { name: &result.name, outcome: score.ok_or(code) }
            })
            .collect();
        match &self.definition.pass {
            Pass::Weighted(rule) => rule.verdict(&evaluated),
            Pass::Predicate { callback, .. } => {
                // It would see a hole (D-74).
                if let Some(blocked) = pass::blocked(&evaluated) {
                    return blocked;
                }
                let scores: Map<_, _> = results.iter().map(|it| (it.name.clone(), json!(it.score))).collect();
                let answer = self.call(callback, &Value::Object(scores), usage).await;
                let answer = match &answer {
                    Ok(outcome) => outcome.value.as_bool().ok_or("E_PASS_NOT_BOOLEAN"),
                    Err(failure) => Err(failure.code.as_str()),
                };
                pass::predicate_verdict(&evaluated, answer)
            }
        }
    }

    async fn call(&self, callback: &str, argument: &Value, usage: &mut EvaluationUsage) -> Result<Outcome, Failure> {
        usage.calls += 1;
        let called = self.bundle.call(callback, argument, &CallOptions::default()).await;
        let fuel = match &called {
            Ok(outcome) => outcome.usage.fuel,
            Err(error) => error.usage.map_or(0, |usage| usage.fuel),
        };
        usage.fuel = usage.fuel.saturating_add(fuel);
        called.map_err(|error| failure(error.code(), &error.kind, error.kind.path().map(str::to_owned)))
    }
}

/// The argument of evaluators and judges; `expected` is absent where there is none (EV-32).
fn both(example: &Example, output: &Value) -> Value {
    let mut argument = Map::new();
    argument.insert("actual".into(), output.clone());
    if let Some(expected) = &example.expected {
        argument.insert("expected".into(), expected.clone());
    }
    Value::Object(argument)
}

fn failure(code: &str, message: &dyn std::fmt::Display, path: Option<String>) -> Failure {
    Failure { code: code.into(), message: message.to_string(), path }
}

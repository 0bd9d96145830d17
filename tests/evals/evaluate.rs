//! One output evaluated (3.2, 4.1, 5, 6, 7.2).

use callcell_compiler::{Project, compile};
use callcell_evals::definition::Definition;
use callcell_evals::evaluate::{Evaluations, JudgeMissing};
use callcell_evals::judge::{
    BoxFuture, ConnectionError, JudgeRequest, ModelConnection, ModelIdentity, Patience, Reply,
};
use callcell_evals::model::{Example, RunResult, Status};
use callcell_tests::engine;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A judge that says the same to everybody and remembers what it was asked.
struct Judge {
    says: Result<&'static str, ConnectionError>,
    asked: Mutex<Vec<JudgeRequest>>,
}

impl Judge {
    fn says(says: &'static str) -> Arc<Self> {
        Arc::new(Self { says: Ok(says), asked: Mutex::default() })
    }
}

impl ModelConnection for Judge {
    fn available(&self, model: Option<&str>) -> Result<ModelIdentity, ConnectionError> {
        match model {
            Some("unknown") => Err(ConnectionError::Unavailable { what: "the model is not configured" }),
            _ => Ok(ModelIdentity { service: "test".into(), model: "judge-1".into() }),
        }
    }

    fn ask<'a>(&'a self, request: &'a JudgeRequest, _: Duration) -> BoxFuture<'a, Result<Reply, ConnectionError>> {
        self.asked.lock().expect("no panic").push(request.clone());
        let reply = self.says.clone().map(|text| Reply {
            text: text.into(),
            model: "judge-1".into(),
            prompt_tokens: 100,
            completion_tokens: 10,
            cached: false,
        });
        Box::pin(async move { reply })
    }
}

/// An agent whose output has a total, a summary and a note; the chain of its evaluations follows.
pub fn evaluations(chain: &str, judge: Option<Arc<dyn ModelConnection>>) -> Result<Evaluations, JudgeMissing> {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "import {{ createAgent, exactDiff, llmJudge, weightedScore }} from '@eigenpal/automations';\nimport {{ z }} from 'zod';\n\
         export default createAgent({{ name: 'a', instructions: 'Work.', outputSchema: z.object({{ total: z.number(), summary: z.string(), note: z.string().optional() }}) }})\n{chain};\n"
    );
    std::fs::write(folder.path().join("a.ts"), text).expect("it is written");
    let project = Project::with_root(folder.path(), Path::new("a.ts")).expect("it opens");
    let file = compile(engine(), &project).unwrap_or_else(|error| panic!("{:#?}", error.diagnostics())).bundle;
    let definition = Definition::of(&file.manifest, None).expect("it has evaluations");
    let bundle = engine().load(file).expect("it loads");
    Evaluations::new(bundle, definition, judge, Patience { pause: Duration::from_millis(1), ..Patience::default() })
}

pub fn run(evaluations: &Evaluations, output: Value, expected: Option<Value>) -> RunResult {
    let example = Example { name: "one".into(), input: json!({}), actual: None, expected, annotation: None };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(evaluations.evaluate(&example, &output))
}

pub fn output() -> Value {
    json!({ "total": 10.0, "summary": "Ten." })
}

/// Scores and codes of the evaluators, in order.
pub fn outcomes(result: &RunResult) -> Vec<(&str, Result<f64, &str>)> {
    result
        .evaluators
        .iter()
        .map(|it| (it.name.as_str(), it.score.ok_or_else(|| it.error.as_ref().map_or("", |error| error.code.as_str()))))
        .collect()
}

/// The seed's example.
pub const SEED: &str = ".defineEvaluator('fields', exactDiff({ select: (output) => ({ total: output.total }), options: { rules: { total: { numericTolerance: 0.01 } } } }))
.defineEvaluator('meaning', llmJudge({ prompt: 'Score whether the actual summary preserves the expected invoice facts.', select: ({ actual, expected }) => ({ actual: actual.summary, expected: expected?.summary }) }))
.defineEvaluator('nonnegative', ({ actual }) => Number(actual.total >= 0))
.defineEvalPass(weightedScore({ weights: { fields: 2, meaning: 1, nonnegative: 1 }, threshold: 0.9 }))";

// EV-08, EV-28, EV-43, EV-88, EV-89, EV-91, EV-92
#[test]
fn the_seeds_example_is_evaluated() {
    let judge = Judge::says(r#"{"rationale":"It does.","score":0.75}"#);
    let evaluations = evaluations(SEED, Some(judge.clone())).expect("it is ready");
    let expected = json!({ "total": 10.01, "summary": "Ten euros." });
    let result = run(&evaluations, output(), Some(expected));
    assert_eq!(outcomes(&result), [("fields", Ok(1.0)), ("meaning", Ok(0.75)), ("nonnegative", Ok(1.0))]);
    assert_eq!((result.passed, result.status, result.value), (true, Status::Decided, Some(0.9375)));
    assert_eq!(
        result.evaluators[1].details,
        Some(json!({ "rationale": "It does.", "model": "judge-1", "attempts": 1 }))
    );
    // Two selections, one for the judge, one score.
    assert_eq!(
        (result.evaluation.calls, result.evaluation.judge_requests, result.evaluation.prompt_tokens),
        (4, 1, 100)
    );
    assert!(result.evaluation.fuel > 0);
    let asked = judge.asked.lock().expect("no panic").clone();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        asked[0].user.lines().nth(1),
        Some(r#"{"actual":"Ten.","expected":"Ten euros."}"#),
        "EV-81: nothing else"
    );

    let wrong =
        run(&evaluations, json!({ "total": 11, "summary": "" }), Some(json!({ "total": 10.01, "summary": "x" })));
    assert_eq!((wrong.passed, wrong.status, wrong.value), (false, Status::Decided, Some(0.4375)));
    let mismatches = &wrong.evaluators[0].details.as_ref().expect("a report")["mismatches"];
    assert_eq!(mismatches, &json!([{ "path": "total", "kind": "value", "expected": 10.01, "actual": 11 }]));
}

// EV-104 to EV-108, D-66, 4.1
#[test]
fn an_error_blocks_and_shrinks_nothing() {
    let judge = Judge::says(r#"{"score":1}"#);
    let evaluations = evaluations(SEED, Some(judge.clone())).expect("it is ready");
    let result = run(&evaluations, output(), None);
    assert_eq!(
        outcomes(&result),
        [("fields", Err("E_EXPECTED_MISSING")), ("meaning", Err("E_SELECTION_MISSING")), ("nonnegative", Ok(1.0))]
    );
    assert_eq!((result.passed, result.status, result.value), (false, Status::Blocked, None));
    let error = result.error.expect("it says why");
    assert_eq!(error.code, "E_PASS_BLOCKED");
    assert!(
        error.message.contains("`fields` (E_EXPECTED_MISSING)") && error.message.contains("`meaning`"),
        "{}",
        error.message
    );
    assert_eq!(judge.asked.lock().expect("no panic").len(), 0, "EV-88: nothing to judge, nobody asked");
}

// 5.3: never a score
#[test]
fn a_judge_that_cannot_be_used_is_an_error() {
    for (says, code) in [
        (Ok("I would say 0.9."), "E_JUDGE_REPLY_INVALID"),
        (Ok(r#"{"score":1.5}"#), "E_JUDGE_REPLY_INVALID"),
        (Err(ConnectionError::Unavailable { what: "the quota is used up" }), "E_JUDGE_UNAVAILABLE"),
        (Err(ConnectionError::Transport { what: "it is busy", retry_after: None }), "E_JUDGE_TRANSPORT"),
    ] {
        let judge = Arc::new(Judge { says, asked: Mutex::default() });
        let evaluations = evaluations(SEED, Some(judge)).expect("it is ready");
        let result = run(&evaluations, output(), Some(json!({ "total": 10, "summary": "x" })));
        assert_eq!(outcomes(&result)[1], ("meaning", Err(code)));
        assert_eq!((result.passed, result.status), (false, Status::Blocked));
    }
}

// D-65
#[test]
fn a_judge_that_is_not_there_is_found_out_before() {
    assert_eq!(evaluations(SEED, None).expect_err("there is no judge").code(), "E_JUDGE_UNAVAILABLE");
    let named = SEED.replace("prompt: 'Score", "model: 'unknown', prompt: 'Score");
    let refused = evaluations(&named, Some(Judge::says("{}"))).expect_err("there is no such model");
    assert_eq!(
        refused.to_string(),
        "the evaluator `meaning` needs a judge: the judge's model is not available: the model is not configured"
    );
}

// EV-98 to EV-101, D-74, 3.2
#[test]
fn a_predicate_decides_over_the_scores() {
    let chain = |rule: &str| {
        format!(
            ".defineEvaluator('constructor', ({{ actual }}) => Number(actual.total >= 10))\n\
             .defineEvaluator('noted', ({{ actual }}) => {{ if (actual.note === 'throw') throw new Error('secret'); return actual.note === undefined ? 0.5 : 1; }})\n\
             .defineEvalPass({rule})"
        )
    };
    let passes = |rule: &str, output: Value| run(&evaluations(&chain(rule), None).expect("it is ready"), output, None);
    let rule = "(scores) => Object.keys(scores).join() === 'constructor,noted' && scores.constructor === 1 && scores.noted >= 0.5";
    let result = passes(rule, output());
    assert_eq!((result.passed, result.status, result.value), (true, Status::Decided, None));
    assert!(!passes(rule, json!({ "total": 9, "summary": "" })).passed);
    let blocked = passes("() => true", json!({ "total": 10, "summary": "", "note": "throw" }));
    assert_eq!((blocked.passed, blocked.status), (false, Status::Blocked));
    assert_eq!(outcomes(&blocked)[1], ("noted", Err("R_THREW")));
    assert!(!serde_json::to_string(&blocked).expect("it is data").contains("secret"), "CB-123");
    let odd = passes("(() => 1) as any", output());
    assert_eq!((odd.status, odd.error.map(|error| error.code)), (Status::Blocked, Some("E_PASS_NOT_BOOLEAN".into())));
}

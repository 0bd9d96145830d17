//! Experiments: what runs, what is kept, and what happens when somebody stops them (7.2).

use crate::agents::{Counting, Home, bundle, home, import, numbers};
use callcell_evals::evaluate::Evaluations;
use callcell_evals::experiment::{
    Control, DEFAULT_CONCURRENCY, Ended, Event, ExperimentError, Mode, OutputSource, Plan, Source, cancel, create,
    open, run,
};
use callcell_evals::judge::Patience;
use callcell_evals::model::{Failure, RunResult, Status};
use callcell_evals::store::{Experiment, ExperimentStatus, ImportMode, Store};
use callcell_tests::engine;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().expect("a runtime")
}

fn opened(store: &Store, experiment: &Experiment) -> Arc<Evaluations> {
    let evaluations = open(store, experiment, engine(), None, Patience::default());
    Arc::new(evaluations.expect("the bundle is there"))
}

/// Runs an experiment; what it told comes with it.
fn go(
    store: &Arc<Store>,
    experiment: &Experiment,
    source: Option<Arc<dyn OutputSource>>,
    control: &Control,
) -> (Result<Ended, ExperimentError>, Vec<Event>) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&events);
    let evaluations = opened(store, experiment);
    let ended = runtime().block_on(run(store, &experiment.id, evaluations, source, control, move |event| {
        told.lock().expect("no panic").push(event);
    }));
    let events = events.lock().expect("no panic").clone();
    (ended, events)
}

fn complete(store: &Arc<Store>, experiment: &Experiment, source: Option<Arc<dyn OutputSource>>) -> Vec<Event> {
    let (ended, events) = go(store, experiment, source, &Control::default());
    assert_eq!(ended.expect("it runs").status, ExperimentStatus::Completed);
    events
}

fn runs(store: &Store, experiment: &Experiment) -> Vec<RunResult> {
    store.runs(experiment).map(|run| run.expect("it is good").result).collect()
}

/// Runs without what two of them never have in common.
fn timeless(store: &Store, experiment: &Experiment) -> Vec<RunResult> {
    runs(store, experiment).into_iter().map(|run| RunResult { duration_millis: 0, ..run }).collect()
}

fn endpoint() -> Source {
    Source::Endpoint { address: "http://127.0.0.1/agent".into() }
}

fn planned(home: &Home, lines: &str, source: Source) -> Experiment {
    let dataset = import(&home.store, "d", ImportMode::Replace, lines).expect("it is imported");
    create(&home.store, bundle(), &Plan::new(dataset, source)).expect("it is planned")
}

// 7.2, 7.5, EV-04: outputs that exist are evaluated; a run without one is recorded and not evaluated
#[test]
fn stored_outputs_are_evaluated() {
    let home = home();
    let lines = concat!(
        "{\"name\":\"good\",\"input\":{\"n\":1},\"actual\":{\"total\":2},\"expected\":{\"total\":2}}\n",
        "{\"name\":\"constructor\",\"input\":{\"n\":1},\"actual\":{\"total\":3},\"expected\":{\"total\":2}}\n",
        "{\"name\":\"none\",\"input\":{\"n\":1},\"expected\":{\"total\":2}}\n",
        "{\"name\":\"throws\",\"input\":{\"n\":1},\"actual\":{\"total\":13},\"expected\":{\"total\":13}}\n",
        "{\"name\":\"null\",\"input\":{\"n\":1},\"actual\":null,\"expected\":{\"total\":2}}\n",
    );
    let experiment = planned(&home, lines, Source::Actual);
    assert_eq!((experiment.status, experiment.concurrency, experiment.repeat), (ExperimentStatus::Queued, 4, 1));
    assert_eq!(DEFAULT_CONCURRENCY, 4, "D-77");
    let events = complete(&home.store, &experiment, None);
    let found: Vec<_> = runs(&home.store, &experiment);
    let short: Vec<_> = found.iter().map(|it| (it.example.as_str(), it.passed, it.status, it.value)).collect();
    assert_eq!(
        short,
        [
            ("good", true, Status::Decided, Some(1.0)),
            ("constructor", false, Status::Decided, Some(0.25)),
            ("none", false, Status::RunFailed, None),
            ("throws", false, Status::Blocked, None),
            ("null", false, Status::Blocked, None),
        ]
    );
    let failed = &found[2];
    assert_eq!(failed.error.as_ref().map(|error| error.code.as_str()), Some("X_RUN_FAILED"));
    assert_eq!((failed.evaluators.len(), &failed.output, failed.evaluation.calls), (0, &None, 0));
    assert_eq!(found[4].output, Some(Value::Null), "null is an output, and comes back as one");
    let summary = home.store.summary(&experiment).expect("it is read");
    assert_eq!((summary.total, summary.passed, summary.failed, summary.errors), (5, 1, 1, 3));
    let counts = home.store.counts(&experiment).expect("they are read");
    assert_eq!((counts.total, counts.passed, counts.failed, counts.errors), (5, 1, 1, 3));
    // Progress: one line first, one for each run, one at the end.
    assert_eq!(events.len(), 7);
    let lines: Vec<_> = events.iter().map(|event| serde_json::to_value(event).expect("it is data")).collect();
    assert_eq!(lines[0], json!({ "event": "started", "id": experiment.id, "total": 5, "finished": 0 }));
    assert_eq!(lines[6], json!({ "event": "ended", "status": "completed", "ran": 5 }));
    assert!(lines[1..6].iter().all(|line| line["event"] == "finished" && line["example"].is_string()));
    assert!(!format!("{events:?}{found:?}").contains("secret"), "CB-123");
    let again = home.store.experiment(&experiment.id).expect("it is there");
    assert_eq!(again.status, ExperimentStatus::Completed);
    assert!(again.started_millis.is_some() && again.ended_millis >= again.started_millis);
}

// EV-86: whoever makes the output sees the input, what the schema leaves of it, and nothing else
#[test]
fn an_agent_is_given_the_input_alone() {
    let home = home();
    let lines = "{\"name\":\"hidden-name\",\"input\":{\"n\":4,\"extra\":\"x\"},\"actual\":{\"total\":5},\"expected\":{\"total\":8},\"annotation\":\"told\"}";
    let source = Counting::doubling();
    let outside = planned(&home, lines, endpoint());
    complete(&home.store, &outside, Some(source.clone()));
    assert_eq!(source.seen(), BTreeMap::from([("{\"n\":4}".to_owned(), 1)]));
    let found = &runs(&home.store, &outside)[0];
    assert_eq!((found.output.clone(), found.passed, found.run_fuel), (Some(json!({ "total": 8 })), true, 7));

    let tool = planned(&home, lines, Source::Tool { callback: "double".into() });
    complete(&home.store, &tool, None);
    let found = &runs(&home.store, &tool)[0];
    assert_eq!(found.output, Some(json!({ "total": 8, "keys": "n" })));
    // EV-114, EV-115, EV-89: what the run cost and what evaluating cost are apart
    assert!(found.run_fuel > 1_000 && found.evaluation.fuel > 1_000, "{found:?}");
    assert_eq!(found.evaluation.calls, 3, "two selections and a score");
}

// 7.2: failures of the agent, of its input and of its output
#[test]
fn a_run_without_an_output_is_recorded() {
    let home = home();
    let source = Counting::new(|input| match input["n"].as_i64() {
        Some(1) => Err(Failure { code: "R_TIMEOUT".into(), message: "It took too long.".into(), path: None }),
        Some(2) => Ok(json!({ "total": "two" })),
        Some(3) => panic!("a mistake of the host's"),
        Some(4) => Ok(json!({ "total": 8, "more": 1 })),
        _ => Ok(json!([1])),
    });
    let lines = format!("{}{{\"name\":\"odd\",\"input\":{{\"n\":\"x\"}}}}\n", numbers(5));
    let experiment = planned(&home, &lines, endpoint());
    complete(&home.store, &experiment, Some(source.clone()));
    let found = runs(&home.store, &experiment);
    let errors: Vec<_> =
        found.iter().map(|it| it.error.as_ref().map(|error| (error.code.as_str(), error.path.as_deref()))).collect();
    assert_eq!(
        errors,
        [
            Some(("X_RUN_FAILED", None)),
            Some(("X_RUN_FAILED", Some("$.total"))),
            Some(("X_RUN_FAILED", None)),
            None,
            Some(("X_RUN_FAILED", Some("$"))),
            Some(("X_RUN_FAILED", Some("$.n"))),
        ]
    );
    assert!(found[0].error.as_ref().is_some_and(|error| error.message.contains("R_TIMEOUT")), "{found:?}");
    assert_eq!(found[3].output, Some(json!({ "total": 8 })), "the output is what its schema makes of it");
    assert_eq!(source.seen().len(), 5, "an input that does not fit is not sent");
    assert!(found.iter().filter(|it| it.status == Status::RunFailed).all(|it| it.evaluators.is_empty() && !it.passed));

    let tool =
        planned(&home, "{\"name\":\"negative\",\"input\":{\"n\":-1}}", Source::Tool { callback: "double".into() });
    complete(&home.store, &tool, None);
    let found = &runs(&home.store, &tool)[0];
    let error = found.error.as_ref().expect("it threw");
    assert_eq!((found.status, error.code.as_str()), (Status::RunFailed, "X_RUN_FAILED"));
    assert!(error.message.contains("R_THREW") && !error.message.contains("secret"), "{error:?}");
    assert!(found.run_fuel > 0, "a failed run costs as well");
}

// D-77, D-78: results depend neither on how many run at once nor on who ends first
#[test]
fn results_do_not_depend_on_concurrency() {
    let home = home();
    let dataset = import(&home.store, "d", ImportMode::Replace, &numbers(40)).expect("it is imported");
    let mut found = Vec::new();
    for concurrency in [1, 3, 64] {
        let plan =
            Plan { repeat: 3, concurrency, ..Plan::new(dataset.clone(), Source::Tool { callback: "double".into() }) };
        let experiment = create(&home.store, bundle(), &plan).expect("it is planned");
        complete(&home.store, &experiment, None);
        let order: Vec<_> = runs(&home.store, &experiment).into_iter().map(|it| (it.example, it.repetition)).collect();
        let due: Vec<_> = (1..=40).flat_map(|n| (0..3).map(move |repetition| (format!("e-{n}"), repetition))).collect();
        assert_eq!(order, due);
        found.push((timeless(&home.store, &experiment), home.store.summary(&experiment).expect("it is read")));
    }
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
    assert_eq!((found[0].1.total, found[0].1.passed), (120, 120));
}

// 7.2: cancelling keeps what is finished, twice is no different, and resuming does the rest once
#[test]
fn a_cancelled_experiment_goes_on_where_it_was() {
    let home = home();
    let experiment = planned(&home, &numbers(200), endpoint());
    let control = Control::default();
    let token = control.cancel.clone();
    let source = Counting::new(move |input| {
        if input["n"] == 50 {
            token.cancel();
        }
        Ok(json!({ "total": 2 * input["n"].as_i64().unwrap_or_default() }))
    });
    let (ended, events) = go(&home.store, &experiment, Some(source), &control);
    let ended = ended.expect("cancelling is no error");
    assert_eq!(ended.status, ExperimentStatus::Cancelled);
    let before = runs(&home.store, &experiment);
    assert!((20..=60).contains(&before.len()), "{}", before.len());
    assert_eq!(ended.ran, before.len() as u64);
    let told = events.iter().filter(|event| matches!(event, Event::Finished(_))).count();
    assert_eq!(told, before.len(), "what is told of is what is kept");
    assert_eq!(events.last(), Some(&Event::Ended(ended)));

    // Nothing starts under a token that is cancelled already.
    let idle = Counting::doubling();
    let (ended, _) = go(&home.store, &experiment, Some(idle.clone()), &control);
    assert_eq!(ended.expect("no error"), Ended { status: ExperimentStatus::Cancelled, ran: 0 });
    assert!(idle.seen().is_empty());
    assert_eq!(cancel(&home.store, &experiment.id).expect("no error"), ExperimentStatus::Cancelled);

    let rest = Counting::doubling();
    let events = complete(&home.store, &experiment, Some(rest.clone()));
    assert_eq!(rest.seen().len(), 200 - before.len());
    assert!(rest.seen().values().all(|calls| *calls == 1));
    assert!(matches!(&events[0], Event::Started { finished, .. } if *finished == before.len() as u64));
    let after = runs(&home.store, &experiment);
    assert_eq!(after.len(), 200);
    assert!(before.iter().all(|run| after.contains(run)), "finished runs stay as they were");
    // A complete one is complete whatever is asked of it.
    assert_eq!(cancel(&home.store, &experiment.id).expect("no error"), ExperimentStatus::Completed);
    let (ended, _) = go(&home.store, &experiment, Some(rest), &control);
    assert_eq!(ended.expect("no error"), Ended { status: ExperimentStatus::Completed, ran: 0 });
}

// Issue 4: a future that is dropped is a process that ends
#[test]
fn a_dropped_experiment_can_be_resumed() {
    let home = home();
    let experiment = planned(&home, &numbers(100), endpoint());
    let source = Counting::new(|input| Ok(json!({ "total": 2 * input["n"].as_i64().unwrap_or_default() })));
    let seen = source.clone();
    runtime().block_on(async {
        let control = Control::default();
        let running =
            run(&home.store, &experiment.id, opened(&home.store, &experiment), Some(source), &control, |_| {});
        tokio::select! {
            ended = running => panic!("it ended: {ended:?}"),
            () = async { while seen.seen().len() < 20 { tokio::task::yield_now().await } } => {}
        }
    });
    let before = runs(&home.store, &experiment).len();
    let rest = Counting::doubling();
    complete(&home.store, &experiment, Some(rest.clone()));
    assert_eq!(rest.seen().len(), 100 - before);
    assert_eq!(runs(&home.store, &experiment).len(), 100);
}

// Issue 4: two processes resume the same experiment
#[test]
fn only_one_runs_an_experiment() {
    let home = home();
    let experiment = planned(&home, &numbers(20), endpoint());
    let (store, id) = (home.store.clone(), experiment.id.clone());
    let path = home.folder.path().join("callcell.db");
    let refused = Arc::new(Mutex::new(Vec::new()));
    let other = refused.clone();
    // From inside of a run, the experiment is running for certain.
    let source = Counting::new(move |input| {
        if input["n"] == 7 {
            let second = Arc::new(Store::open(&path).expect("it opens twice"));
            for store in [&store, &second] {
                let error = cancel(store, &id).expect_err("it runs");
                other.lock().expect("no panic").push((error.code(), error.to_string()));
            }
        }
        Ok(json!({ "total": 2 * input["n"].as_i64().unwrap_or_default() }))
    });
    complete(&home.store, &experiment, Some(source));
    let sentence = format!("the experiment `{}` is running already; wait for it or cancel it", experiment.id);
    let due = ("X_EXPERIMENT_RUNNING", sentence);
    assert_eq!(*refused.lock().expect("no panic"), [due.clone(), due]);

    // Two at once: one runs everything, the other nothing, whoever comes first.
    let experiment = planned(&home, &numbers(60), endpoint());
    let second = Arc::new(Store::open(&home.folder.path().join("callcell.db")).expect("it opens twice"));
    let source = Counting::doubling();
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let both = [&home.store, &second].map(|store| {
            let (source, experiment) = (source.clone(), &experiment);
            scope.spawn(move || go(store, experiment, Some(source), &Control::default()).0)
        });
        both.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(source.seen().len() == 60 && source.seen().values().all(|calls| *calls == 1));
    let ran: u64 = outcomes.iter().flatten().map(|ended| ended.ran).sum();
    assert_eq!(ran, 60);
    assert!(outcomes.iter().filter_map(|it| it.as_ref().err()).all(|error| error.code() == "X_EXPERIMENT_RUNNING"));
}

// D-79: undecided rows run again, decided ones stay
#[test]
fn errors_are_run_again() {
    let home = home();
    let experiment = planned(&home, &numbers(30), endpoint());
    let flaky = Counting::new(|input| match input["n"].as_i64().unwrap_or_default() {
        n if n % 3 == 0 => Err(Failure { code: "X_RUN_FAILED".into(), message: "It is down.".into(), path: None }),
        n if n % 5 == 0 => Ok(json!({ "total": 13 })),
        n => Ok(json!({ "total": 2 * n })),
    });
    complete(&home.store, &experiment, Some(flaky));
    let before = runs(&home.store, &experiment);
    assert_eq!(home.store.counts(&experiment).expect("they are read").errors, 14);
    let better = Counting::doubling();
    // Not without being asked.
    complete(&home.store, &experiment, Some(better.clone()));
    assert!(better.seen().is_empty());
    let control = Control { mode: Mode::Errors, ..Control::default() };
    let (ended, events) = go(&home.store, &experiment, Some(better.clone()), &control);
    assert_eq!(ended.expect("it runs"), Ended { status: ExperimentStatus::Completed, ran: 14 });
    assert_eq!(better.seen().len(), 14);
    assert_eq!(events.len(), 16);
    let after = runs(&home.store, &experiment);
    assert_eq!(after.len(), 30);
    for (old, new) in before.iter().zip(&after) {
        match old.status {
            Status::Decided => assert_eq!(old, new),
            _ => assert!(new.passed, "{new:?}"),
        }
    }
}

// D-79: outputs are scored again, perhaps by another agent's evaluations, and nobody is asked for them
#[test]
fn stored_outputs_are_scored_again() {
    let home = home();
    let dataset = import(&home.store, "d", ImportMode::Replace, &numbers(10)).expect("it is imported");
    let chosen = Some(vec!["e-9".to_owned(), "e-2".to_owned(), "e-2".to_owned(), "e-3".to_owned()]);
    let plan = Plan { examples: chosen, repeat: 2, ..Plan::new(dataset, endpoint()) };
    let experiment = create(&home.store, bundle(), &plan).expect("it is planned");
    assert_eq!((experiment.selected, experiment.total()), (Some(3), 6));
    let source = Counting::new(|input| match input["n"].as_i64() {
        Some(9) => Err(Failure { code: "X_RUN_FAILED".into(), message: "It is down.".into(), path: None }),
        _ => Ok(json!({ "total": 4 })),
    });
    complete(&home.store, &experiment, Some(source));
    let first = timeless(&home.store, &experiment);
    let short = |runs: &[RunResult]| runs.iter().map(|it| (it.example.clone(), it.passed)).collect::<Vec<_>>();
    let due = [("e-2", true), ("e-2", true), ("e-3", false), ("e-3", false), ("e-9", false), ("e-9", false)];
    assert_eq!(short(&first), due.map(|(name, passed)| (name.to_owned(), passed)));

    let again = create(&home.store, bundle(), &Plan::rescore(&experiment)).expect("it is planned");
    assert_eq!((again.rescores(), again.total()), (Some(experiment.id.as_str()), 6));
    complete(&home.store, &again, None);
    let unfuelled: Vec<_> = first.iter().cloned().map(|run| RunResult { run_fuel: 0, ..run }).collect();
    assert_eq!(timeless(&home.store, &again), unfuelled);

    let plan = Plan { agent: Some("pessimist".into()), ..Plan::rescore(&experiment) };
    let other = create(&home.store, bundle(), &plan).expect("it is planned");
    complete(&home.store, &other, None);
    let summary = home.store.summary(&other).expect("it is read");
    assert_eq!((summary.total, summary.passed, summary.failed, summary.errors), (6, 0, 4, 2));
    assert_eq!(timeless(&home.store, &experiment), first, "the earlier one stays as it is");
}

// 7.1, 7.2: imports change nothing of an experiment, not even while it runs
#[test]
fn an_experiment_pins_its_dataset() {
    let home = home();
    let experiment = planned(&home, &numbers(50), endpoint());
    let store = home.store.clone();
    let source = Counting::new(move |input| {
        if input["n"] == 2 {
            import(&store, "d", ImportMode::Append, "{\"name\":\"late\",\"input\":{\"n\":1000}}")
                .expect("it is imported");
            import(&store, "d", ImportMode::Replace, "{\"name\":\"other\",\"input\":{\"n\":2000}}")
                .expect("it is imported");
        }
        Ok(json!({ "total": 2 * input["n"].as_i64().unwrap_or_default() }))
    });
    complete(&home.store, &experiment, Some(source.clone()));
    assert_eq!(source.seen().len(), 50);
    assert!(!source.seen().contains_key("{\"n\":1000}") && !source.seen().contains_key("{\"n\":2000}"));
    let again = home.store.experiment(&experiment.id).expect("it is there");
    assert_eq!((again.dataset.version, again.dataset.examples, again.total()), (1, 50, 50));
    assert_eq!(home.store.dataset("d", None).expect("it is there").version, 2);
}

#[test]
fn an_empty_dataset_completes() {
    let home = home();
    let experiment = planned(&home, "", Source::Actual);
    let events = complete(&home.store, &experiment, None);
    assert_eq!(events.len(), 2);
    let summary = home.store.summary(&experiment).expect("it is read");
    assert_eq!((summary.total, summary.pass_rate()), (0, 1.0));
}

// Large and deep outputs come back as they were
#[test]
fn an_output_as_deep_as_allowed_is_kept() {
    let home = home();
    let deep = format!("{}1{}", "[".repeat(120), "]".repeat(120));
    let lines = format!(
        "{{\"name\":\"deep\",\"input\":{{\"n\":1}},\"actual\":{{\"total\":{deep}}},\"expected\":{{\"total\":[]}}}}"
    );
    let experiment = planned(&home, &lines, Source::Actual);
    complete(&home.store, &experiment, None);
    let found = runs(&home.store, &experiment);
    assert_eq!(found[0].output.as_ref().map(ToString::to_string), Some(format!("{{\"total\":{deep}}}")));
    let wide =
        format!("{{\"name\":\"wide\",\"input\":{{\"n\":1}},\"actual\":{{\"x\":\"{}\"}}}}", "y".repeat(4_000_000));
    let experiment = planned(&home, &wide, Source::Actual);
    complete(&home.store, &experiment, None);
    let found = &runs(&home.store, &experiment)[0];
    // More than a callback takes is an error of the evaluators, not of the experiment.
    assert_eq!(
        (found.status, found.output.as_ref().map(|it| it.to_string().len())),
        (Status::Blocked, Some(4_000_008))
    );
}

// 7.2: a plan that cannot be run is refused before anything is spent
#[test]
fn plans_are_checked() {
    let home = home();
    let dataset = import(&home.store, "d", ImportMode::Replace, &numbers(2)).expect("it is imported");
    let refused = |plan: Plan| create(&home.store, bundle(), &plan).expect_err("it is refused").code();
    let plan = Plan::new(dataset, Source::Actual);
    for (repeat, concurrency) in [(0, 1), (1, 0), (u32::MAX, 1), (1, u32::MAX)] {
        assert_eq!(refused(Plan { repeat, concurrency, ..plan.clone() }), "X_PLAN_INVALID");
    }
    let examples = Some(vec!["e-1".to_owned(), "constructor".to_owned()]);
    assert_eq!(refused(Plan { examples, ..plan.clone() }), "X_UNKNOWN_EXAMPLE");
    for callback in ["no-tool", "default.evaluators.fields"] {
        let source = Source::Tool { callback: callback.into() };
        assert_eq!(refused(Plan { source, ..plan.clone() }), "X_UNKNOWN_TOOL");
    }
    assert_eq!(refused(Plan { agent: Some("nobody".into()), ..plan.clone() }), "E_UNKNOWN_AGENT");
    let source = Source::Stored { experiment: "nothing".into() };
    assert_eq!(refused(Plan { source, ..plan.clone() }), "X_UNKNOWN_EXPERIMENT");
    assert_eq!(home.store.experiments(10).expect("they are read"), []);

    let outside = create(&home.store, bundle(), &Plan { source: endpoint(), ..plan }).expect("it is planned");
    let (refused, events) = go(&home.store, &outside, None, &Control::default());
    assert_eq!((refused.expect_err("nobody to ask").code(), events.len()), ("X_SOURCE_MISSING", 0));
    let status = home.store.experiment(&outside.id).expect("it is there").status;
    assert_eq!(status, ExperimentStatus::Queued, "nothing was begun");
}

// EV-102, EV-103, EV-110
#[test]
fn what_is_evaluated_can_be_shown() {
    let home = home();
    let dataset = import(&home.store, "d", ImportMode::Replace, &numbers(1)).expect("it is imported");
    let plan = Plan::new(dataset, Source::Actual);
    let weighted = create(&home.store, bundle(), &plan).expect("it is planned").definition;
    assert_eq!(weighted["pass"]["weights"], json!({ "fields": 3, "constructor": 1 }));
    assert_eq!(weighted["pass"]["threshold"], json!(0.9));
    let kinds: Vec<_> =
        weighted["evaluators"].as_array().expect("a list").iter().map(|it| (&it["name"], &it["type"])).collect();
    assert_eq!(json!(kinds), json!([["fields", "exactDiff"], ["constructor", "callback"]]));
    let plan = Plan { agent: Some("pessimist".into()), ..plan };
    let predicate = create(&home.store, bundle(), &plan).expect("it is planned").definition;
    assert_eq!(predicate["pass"]["source"], json!("(scores) => scores.never === 1"));
}

// A row that somebody edited is an error with its place, and there is nothing behind it
#[test]
fn edited_runs_are_found_out() {
    let home = home();
    let lines: String = (1..=3)
        .map(|n| format!("{{\"input\":{{\"n\":{n}}},\"actual\":{{\"total\":1}},\"expected\":{{\"total\":1}}}}\n"))
        .collect();
    let experiment = planned(&home, &lines, Source::Actual);
    complete(&home.store, &experiment, None);
    let connection = rusqlite::Connection::open(home.folder.path().join("callcell.db")).expect("it opens");
    connection.execute_batch("CREATE TEMP TABLE good AS SELECT * FROM runs").expect("it is kept");
    for change in [
        "result = 'nonsense'",
        "result = '{}'",
        "result = replace(result, '\"score\":1.0', '\"score\":2.0')",
        "result = replace(result, '\"passed\":true', '\"passed\":false')",
        "passed = 0",
        "status = 'blocked'",
        "repetition = 5",
        "output = '['",
        "result = replace(hex(zeroblob(100000)), '00', '[')",
    ] {
        connection.execute_batch(&format!("UPDATE runs SET {change} WHERE seq = 2")).expect("it is changed");
        let mut read = home.store.runs(&experiment);
        let found: Vec<_> = read.by_ref().collect();
        let error = found.iter().find_map(|it| it.as_ref().err()).unwrap_or_else(|| panic!("not found out: {change}"));
        assert_eq!(error.code(), "X_STORE_DAMAGED", "{change}");
        assert!(error.to_string().contains("example 2"), "{change}: {error}");
        assert!(found.last().is_some_and(Result::is_err), "{change}: nothing comes behind the error");
        connection.execute_batch("DELETE FROM runs; INSERT INTO runs SELECT * FROM good").expect("it is restored");
    }
    assert_eq!(runs(&home.store, &experiment).len(), 3);
}

const CHILD: &str = "CALLCELL_TEST_EXPERIMENT";

/// Tells another process, by a line in a file, before anything is done that could be cut off.
fn note(path: &Path, line: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).expect("it opens");
    file.write_all(format!("{line}\n").as_bytes()).expect("it is written");
}

fn noted(path: &Path) -> Vec<String> {
    // A line that is cut off by the kill was not told.
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect()
}

/// The other process of the next test: runs an experiment until it is killed.
#[test]
fn running_child() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let folder = Path::new(&folder).to_owned();
    let store = Arc::new(Store::open(&folder.join("callcell.db")).expect("it opens"));
    let experiment = store.experiments(1).expect("they are read").remove(0);
    let (calls, told) = (folder.join("calls"), folder.join("told"));
    let source = Counting::new(move |input| {
        note(&calls, &input["n"].to_string());
        Ok(json!({ "total": 2 * input["n"].as_i64().unwrap_or_default() }))
    });
    let evaluations = opened(&store, &experiment);
    let control = Control::default();
    let ended = runtime().block_on(run(&store, &experiment.id, evaluations, Some(source), &control, move |event| {
        if let Event::Finished(run) = event {
            note(&told, run.example.trim_start_matches("e-"));
        }
    }));
    ended.expect("it runs");
}

// Issue 4: killed in the middle, at several points; nothing is lost and no finished row runs twice
#[test]
fn a_killed_experiment_is_resumed() {
    let home = home();
    let experiment = planned(&home, &numbers(600), endpoint());
    let (calls, told) = (home.folder.path().join("calls"), home.folder.path().join("told"));
    let mut finished = 0;
    for kill_after in [1, 60, 61, 200, 350] {
        let mut child = Command::new(std::env::current_exe().expect("a test knows its binary"))
            .args(["experiment::running_child", "--exact"])
            .env(CHILD, home.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        while noted(&calls).len() < kill_after && child.try_wait().expect("it is ours").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        child.kill().expect("it is killed");
        child.wait().expect("it ends");
        let kept: Vec<_> =
            runs(&home.store, &experiment).into_iter().map(|run| run.example.replace("e-", "")).collect();
        assert!(kept.len() >= finished, "what was finished stays");
        finished = kept.len();
        let told = noted(&told);
        assert!(told.iter().all(|name| kept.contains(name)), "what was told of is kept");
        home.store.check().expect("the file is whole");
    }
    assert!(finished < 600, "the last kill came too late to show anything");
    let before = runs(&home.store, &experiment);
    let rest = Counting::doubling();
    complete(&home.store, &experiment, Some(rest.clone()));
    let after = runs(&home.store, &experiment);
    assert_eq!(after.len(), 600);
    assert!(after.iter().all(|run| run.passed));
    assert!(before.iter().all(|run| after.contains(run)), "finished rows were not touched");
    assert_eq!(rest.seen().len(), 600 - before.len());
    assert!(rest.seen().values().all(|calls| *calls == 1));
    assert!(
        before.iter().all(|run| !rest.seen().contains_key(&format!("{{\"n\":{}}}", run.example.replace("e-", ""))))
    );
}

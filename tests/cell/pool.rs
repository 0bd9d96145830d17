//! Many calls at once: fairness, order, cancellation, and no cell ever lost (issue 2, hostile 40).

use callcell_runtime::{
    CallError, CallOptions, CallbackKind, CancellationToken, Engine, EngineConfig, Limits, Outcome,
};
use callcell_tests::{Callback, alone, assert_alive, callback_on, config, engine_with, resident_bytes};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

fn engine_of(cells: u32) -> Engine {
    engine_with(EngineConfig { cells, warm_memories: cells, ..config() })
}

fn looping(engine: &Engine) -> Callback {
    callback_on(engine, CallbackKind::Tool, "", "for (;;);")
}

fn quick(engine: &Engine) -> Callback {
    callback_on(engine, CallbackKind::DiffSelector, "", "let n = 0; for (let i = 0; i < 1000; i++) n += i; return n;")
}

async fn run(callback: &Callback, options: CallOptions) -> Result<Outcome, CallError> {
    callback.bundle.call(&callback.name, &json!({}), &options).await
}

fn all_free(engine: &Engine) -> bool {
    engine.report().free_cells == engine.report().cells as usize
}

// CB-86: one instrumentation serves deadline and fairness
#[test]
fn endless_loops_do_not_starve_good_calls() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().expect("a runtime");
    let engine = engine_of(200);
    let (looping, quick) = (looping(&engine), quick(&engine));
    runtime.block_on(async {
        let limits = Some(Limits { time: Duration::from_millis(1800), ..Limits::default() });
        let mut tasks = JoinSet::new();
        for _ in 0..100 {
            let (looping, quick) = (looping.clone(), quick.clone());
            tasks.spawn(async move {
                let error =
                    run(&looping, CallOptions { limits, ..CallOptions::default() }).await.expect_err("it loops");
                assert_eq!(error.code(), "R_TIMEOUT");
                (false, Instant::now())
            });
            tasks.spawn(async move {
                assert_eq!(run(&quick, CallOptions::default()).await.expect("it is good").value, json!(499_500));
                (true, Instant::now())
            });
        }
        let ends = tasks.join_all().await;
        let last_good = ends.iter().filter(|(good, _)| *good).map(|(_, end)| *end).max().expect("100 of them");
        let first_loop = ends.iter().filter(|(good, _)| !*good).map(|(_, end)| *end).min().expect("100 of them");
        assert_eq!(ends.len(), 200);
        assert!(last_good + Duration::from_millis(300) < first_loop, "good calls ended only with the loops");
    });
    assert!(all_free(&engine));
}

/// Runs a test's future on one thread.
fn on_one_thread<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime")
        .block_on(tokio::task::LocalSet::new().run_until(future))
}

// R_BUSY of 3.6
#[test]
fn a_full_pool_serves_in_order() {
    let engine = engine_of(1);
    let (looping, quick) = (looping(&engine), quick(&engine));
    on_one_thread(async {
        let release = CancellationToken::new();
        let holder = {
            let (looping, cancel) = (looping.clone(), Some(release.clone()));
            tokio::task::spawn_local(
                async move { run(&looping, CallOptions { cancel, ..CallOptions::default() }).await },
            )
        };
        tokio::task::yield_now().await;
        assert_eq!(engine.report().free_cells, 0);
        let order = Arc::new(Mutex::new(Vec::new()));
        let waiting: Vec<_> = (0..10)
            .map(|number| {
                let (quick, order) = (quick.clone(), order.clone());
                tokio::task::spawn_local(async move {
                    run(&quick, CallOptions::default()).await.expect("it is good");
                    order.lock().expect("not poisoned").push(number);
                })
            })
            .collect();
        // Every task is polled once in a turn, and the loop many times.
        for _ in 0..2 {
            tokio::task::yield_now().await;
        }
        release.cancel();
        assert_eq!(holder.await.expect("no panic").expect_err("cancelled").code(), "R_CANCELLED");
        for task in waiting {
            task.await.expect("no panic");
        }
        assert_eq!(*order.lock().expect("not poisoned"), (0..10).collect::<Vec<_>>());
    });
    assert!(all_free(&engine));
}

// R_BUSY of 3.6
#[test]
fn a_full_pool_is_busy_at_the_deadline() {
    let engine = engine_of(1);
    let (looping, quick) = (looping(&engine), quick(&engine));
    on_one_thread(async {
        let holder = tokio::task::spawn_local({
            let looping = looping.clone();
            async move { run(&looping, CallOptions::default()).await }
        });
        tokio::task::yield_now().await;
        let started = Instant::now();
        let deadline = Some(started + Duration::from_millis(100));
        let error =
            run(&quick, CallOptions { deadline, ..CallOptions::default() }).await.expect_err("the pool is full");
        assert_eq!((error.code(), error.usage, error.kind.is_retryable()), ("R_BUSY", None, true));
        assert!((Duration::from_millis(100)..Duration::from_millis(1000)).contains(&started.elapsed()));
        holder.abort();
        let _ = holder.await;
        assert_eq!(run(&quick, CallOptions::default()).await.expect("the cell is free").value, json!(499_500));
    });
    assert!(all_free(&engine));
}

// R_CANCELLED of 3.6
#[test]
fn a_call_can_be_cancelled_while_it_runs_and_while_it_waits() {
    let engine = engine_of(1);
    let (looping, quick) = (looping(&engine), quick(&engine));
    on_one_thread(async {
        let cancel = CancellationToken::new();
        let options = CallOptions { cancel: Some(cancel.clone()), ..CallOptions::default() };
        let running = tokio::task::spawn_local({
            let (looping, options) = (looping.clone(), options.clone());
            async move { run(&looping, options).await }
        });
        tokio::task::yield_now().await;
        let waiting = tokio::task::spawn_local(async move { run(&quick, options).await });
        tokio::time::sleep(Duration::from_millis(50)).await;
        let cancelled = Instant::now();
        cancel.cancel();
        let running = running.await.expect("no panic").expect_err("cancelled");
        let waiting = waiting.await.expect("no panic").expect_err("cancelled");
        assert_eq!((running.code(), running.usage.is_some()), ("R_CANCELLED", true));
        assert_eq!((waiting.code(), waiting.usage), ("R_CANCELLED", None));
        assert!(cancelled.elapsed() < Duration::from_millis(500));
        let error = run(&looping, CallOptions { cancel: Some(cancel), ..CallOptions::default() })
            .await
            .expect_err("cancelled before");
        assert_eq!((error.code(), error.usage), ("R_CANCELLED", None));
    });
    assert!(all_free(&engine));
    assert_alive(&engine);
}

// hostile 40
#[test]
fn a_dropped_call_frees_its_cell() {
    let engine = engine_of(2);
    let looping = looping(&engine);
    on_one_thread(async {
        for _ in 0..50 {
            let call = run(&looping, CallOptions::default());
            assert!(tokio::time::timeout(Duration::from_millis(2), call).await.is_err());
            assert!(all_free(&engine));
        }
        // Dropped before the first poll, and while it waits.
        drop(run(&looping, CallOptions::default()));
        let calls: Vec<_> = (0..5).map(|_| Box::pin(run(&looping, CallOptions::default()))).collect();
        let mut set = JoinSet::new();
        for _ in &calls {
            let looping = looping.clone();
            set.spawn_local(async move { run(&looping, CallOptions::default()).await });
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert_eq!(engine.report().free_cells, 0);
        set.shutdown().await;
    });
    assert!(all_free(&engine));
    assert_alive(&engine);
}

// hostile 40
#[test]
fn a_thousand_calls_share_sixteen_cells() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().expect("a runtime");
    let engine = engine_of(16);
    let quick = quick(&engine);
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for number in 0..1000 {
            let quick = quick.clone();
            tasks.spawn(async move {
                let call = run(&quick, CallOptions::default());
                if number % 2 == 0 {
                    assert_eq!(call.await.expect("it is good").value, json!(499_500));
                } else {
                    let _ = tokio::time::timeout(Duration::from_micros(number), call).await;
                }
            });
        }
        tasks.join_all().await;
    });
    assert!(all_free(&engine));
}

/// One callback for each way to fail, with the options that make it fail fast, and its code.
fn failures(engine: &Engine) -> Vec<(Callback, Value, CallOptions, &'static str)> {
    let tool = |body: &str| callback_on(engine, CallbackKind::Tool, "", body);
    let limits = |limits: Limits| CallOptions { limits: Some(limits), ..CallOptions::default() };
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let small = Limits { memory_bytes: 4 << 20, ..Limits::default() };
    let unknown = Callback { name: "nobody".into(), ..tool("return {};") };
    let score = callback_on(engine, CallbackKind::Evaluator, "", "return 2;");
    let rule = callback_on(engine, CallbackKind::PassRule, "", "return 1;");
    let none = CallOptions::default;
    vec![
        (tool("throw 1;"), json!({}), none(), "R_THREW"),
        (tool(""), json!({}), none(), "R_RESULT_UNDEFINED"),
        (tool("return { v: [() => 1] };"), json!({}), none(), "R_RESULT_NOT_JSON"),
        (tool("return { v: 'x'.repeat(200000) };"), json!({}), none(), "R_RESULT_TOO_LARGE"),
        (tool("return Promise.resolve({});"), json!({}), none(), "R_PROMISE"),
        (tool("return [].values();"), json!({}), none(), "R_GENERATOR"),
        (tool("return [];"), json!({}), none(), "R_OUTPUT_SCHEMA"),
        (tool("return {};"), json!([]), none(), "R_INPUT_SCHEMA"),
        (tool("return {};"), json!({ "v": "x".repeat(262_144) }), none(), "R_ARGS_TOO_LARGE"),
        (unknown, json!({}), none(), "R_UNKNOWN_CALLBACK"),
        (score, json!({}), none(), "E_SCORE_INVALID"),
        (rule, json!({}), none(), "E_PASS_NOT_BOOLEAN"),
        (tool("(function f() { f(); })();"), json!({}), none(), "R_STACK"),
        (tool("const all = []; for (;;) all.push(new Uint8Array(2 ** 16));"), json!({}), limits(small), "R_MEMORY"),
        (tool("for (;;);"), json!({}), limits(Limits { fuel: 5_000_000, ..Limits::default() }), "R_FUEL"),
        (
            tool("for (;;);"),
            json!({}),
            limits(Limits { time: Duration::from_millis(2), ..Limits::default() }),
            "R_TIMEOUT",
        ),
        (tool("return {};"), json!({}), limits(Limits { time: Duration::ZERO, ..Limits::default() }), "R_TIMEOUT"),
        (tool("return {};"), json!({}), CallOptions { cancel: Some(cancelled), ..none() }, "R_CANCELLED"),
    ]
}

// hostile 22, wasmtime#13374
#[test]
fn after_10000_failing_calls_nothing_is_lost() {
    alone("pool::after_10000_failing_calls_nothing_is_lost", || {
        let engine = engine_of(4);
        let failures = failures(&engine);
        let fail = |count: usize| {
            for (callback, argument, options, code) in failures.iter().cycle().take(count) {
                assert_eq!(callback.call_with(argument.clone(), options).expect_err(code).code(), *code);
            }
        };
        fail(1000);
        std::thread::sleep(Duration::from_millis(200));
        let before = resident_bytes();
        fail(10_000);
        let after = resident_bytes();
        assert!(all_free(&engine));
        assert_alive(&engine);
        assert!(after < before + (8 << 20), "{before} bytes grew to {after}");
    });
}

// issue 2: after every kind of failure the next call works
#[test]
fn after_every_kind_of_failure_the_next_call_works() {
    let engine = engine_of(1);
    for (callback, argument, options, code) in failures(&engine) {
        assert_eq!(callback.call_with(argument, &options).expect_err(code).code(), code);
        assert!(all_free(&engine), "{code}");
        assert_alive(&engine);
    }
}

// hostile 22
#[test]
fn memory_driven_to_the_limit_a_hundred_times_goes_back() {
    alone("pool::memory_driven_to_the_limit_a_hundred_times_goes_back", || {
        let engine = engine_of(1);
        let hungry = callback_on(
            &engine,
            CallbackKind::Tool,
            "",
            "const all = []; for (;;) all.push(new Uint8Array(2 ** 20).fill(1));",
        );
        let fail = |count: usize| {
            (0..count).for_each(|_| assert_eq!(hungry.call(json!({})).expect_err("too much").code(), "R_MEMORY"))
        };
        // Enough for the bundle to get its own image, which stays.
        fail(30);
        std::thread::sleep(Duration::from_millis(200));
        let before = resident_bytes();
        fail(100);
        let after = resident_bytes();
        assert!(after < before + (8 << 20), "{before} bytes grew to {after}");
        assert!(after < 150 << 20, "{after} bytes are held");
        assert_alive(&engine);
    });
}

// design 4: `pagemap_scan` only where it is safe, and said so
#[test]
fn the_report_tells_how_memory_is_reset() {
    use callcell_runtime::Reset;
    let report = |reset| engine_with(EngineConfig { reset, cells: 1, warm_memories: 1, ..config() }).report();
    let forced = report(Reset::SwapSafe);
    assert_eq!((forced.reset, forced.reset_reason.as_str()), (Reset::SwapSafe, "configured"));
    let swap = std::fs::read_to_string("/proc/swaps").unwrap_or_default().lines().count() > 1;
    let auto = report(Reset::Auto);
    assert!(auto.reset != Reset::Auto && !auto.reset_reason.is_empty());
    assert!(!(swap && auto.reset == Reset::PagemapScan));
    assert_eq!((auto.cells, auto.free_cells), (1, 1));
}

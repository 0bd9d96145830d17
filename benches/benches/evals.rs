//! `cargo bench --bench evals` measures evaluations: the comparison at its caps, one output, an experiment of 1,000 examples.
//!
//! Issue 4 allows 5 ms for 128 KiB against 128 KiB in order, and 50 ms without order at 1,000 items.

use callcell_benches::{evaluation, scripts};
use callcell_evals::exact_diff::{Options, Projection, compare};
use callcell_evals::experiment::{Control, Plan, Source, create, open, run};
use callcell_evals::judge::Patience;
use callcell_evals::model::Example;
use callcell_evals::store::{ImportMode, Store};
use callcell_runtime::ImagePolicy;
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::Arc;

/// 1,000 items that have just under 128 KiB together; no two are equal.
fn items(order: impl Iterator<Item = usize>) -> Value {
    let items: Vec<_> =
        order.map(|n| json!({ "sku": format!("item-{n:04}"), "price": n, "text": "x".repeat(84) })).collect();
    json!({ "items": items })
}

fn exact_diff(criterion: &mut Criterion) {
    let (forth, back) = (items(0..1_000), items((0..1_000).rev()));
    let bytes = forth.to_string().len();
    assert!((120 * 1024..=128 * 1024).contains(&bytes), "{bytes}");
    let ordered = Options::default();
    let unordered = Options::parse(&json!({ "rules": { "items": { "order": "unordered" } } })).expect("they are good");
    let mut group = criterion.benchmark_group("exactDiff");
    group.sample_size(20);
    for (name, options, actual, score) in
        [("128 KiB ordered", &ordered, &forth, 1.0), ("128 KiB unordered", &unordered, &back, 1.0)]
    {
        let compared =
            || compare(Projection::new(&forth, &[]), Projection::new(actual, &[]), options).expect("it compares");
        assert_eq!(compared().score, score, "{name}");
        group.bench_function(name, |bencher| bencher.iter(|| black_box(compared())));
    }
    group.finish();
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_time().build().expect("a runtime")
}

fn one_output(criterion: &mut Criterion) {
    let evaluations = evaluation::evaluations(&scripts::engine(ImagePolicy::Own));
    let line: Value = serde_json::from_str(&evaluation::line(1)).expect("it is JSON");
    let (input, output, expected) = (line["input"].clone(), line["actual"].clone(), Some(line["expected"].clone()));
    let example = Example { name: "one".into(), input, actual: None, expected, annotation: None };
    let runtime = runtime();
    assert!(runtime.block_on(evaluations.evaluate(&example, &output)).passed);
    criterion.bench_function("evaluate/one output, three evaluators", |bencher| {
        bencher.iter(|| runtime.block_on(evaluations.evaluate(&example, &output)));
    });
}

fn experiment(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = scripts::engine(ImagePolicy::Own);
    let file = evaluation::bundle(&engine);
    let store = Arc::new(Store::open(&folder.path().join("callcell.db")).expect("it opens"));
    let lines = evaluation::lines(1_000);
    let dataset =
        store.import_lines("d", ImportMode::Replace, lines.as_bytes(), None, &mut |_| {}).expect("it is imported");
    let plan = Plan::new(dataset, Source::Actual);
    let runtime = runtime();
    let mut group = criterion.benchmark_group("experiment");
    group.sample_size(10);
    group.bench_function("1,000 examples", |bencher| {
        bencher.iter(|| {
            let experiment = create(&store, &file, &plan).expect("it is planned");
            let evaluations = open(&store, &experiment, &engine, None, Patience::default()).expect("it opens");
            let control = Control::default();
            let ended = runtime.block_on(run(&store, &experiment.id, Arc::new(evaluations), None, &control, |_| {}));
            assert_eq!(ended.expect("it runs").ran, 1_000);
        });
    });
    group.finish();
}

criterion_group!(benches, exact_diff, one_output, experiment);
criterion_main!(benches);

//! `cargo bench` measures the cell, each time beside native QuickJS in the same run; `cargo run --release --bin ratios`
//! then prints the medians and ratios as a table.

use callcell_benches::native::Native;
use callcell_benches::scripts::{self, bundle, engine};
use callcell_compiler::Project;
use callcell_runtime::{Bundle, BundleFile, CallOptions, ImagePolicy};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

fn call(bundle: &Bundle, name: &str, argument: &Value) -> Value {
    bundle.call_blocking(name, argument, &CallOptions::default()).expect("the call works").value
}

/// Cell and native side by side, fresh on both sides.
fn fresh(criterion: &mut Criterion) {
    let engine = engine(ImagePolicy::Own);
    let cases = [("noop", scripts::NOOP, json!({})), ("plain", scripts::PLAIN, json!({"subtotal": 100}))];
    for (name, source, argument) in cases {
        let mut group = criterion.benchmark_group(format!("fresh/{name}"));
        let (bundle, native) = (bundle(&engine, source, "tool"), Native::function(source, "callback"));
        let text = argument.to_string();
        group.bench_function("cell", |bencher| bencher.iter(|| call(&bundle, "tool", &argument)));
        group.bench_function("native", |bencher| bencher.iter(|| native.call_fresh(&text)));
        group.finish();
    }
    let tax = tax(&engine);
    let native = Native::tool(&tax.modules, "calculateTotal");
    let tax = engine.load(tax).expect("it loads");
    let argument = json!({"subtotal": 100});
    let mut group = criterion.benchmark_group("fresh/tax");
    group.bench_function("cell", |bencher| bencher.iter(|| call(&tax, "calculateTotal", &argument)));
    group.sample_size(10);
    group.bench_function("native", |bencher| bencher.iter(|| native.call_fresh(r#"{"subtotal":100}"#)));
    group.finish();
}

fn tax(engine: &callcell_runtime::Engine) -> BundleFile {
    let project = Project::open(&scripts::example("tax/tools.ts")).expect("the example is there");
    callcell_compiler::compile(engine, &project).expect("the example compiles").bundle
}

/// CPU-bound callbacks, metered, against a warm native context that has nothing to set up.
fn cpu(criterion: &mut Criterion) {
    let engine = engine(ImagePolicy::Own);
    let cases = [
        ("recursion", scripts::RECURSION, json!({"n": 20})),
        ("arrays", scripts::ARRAYS, json!({"n": 5000})),
        ("strings", scripts::STRINGS, json!({"n": 3000})),
    ];
    for (name, source, argument) in cases {
        let mut group = criterion.benchmark_group(format!("cpu/{name}"));
        let (bundle, native) = (bundle(&engine, source, "tool"), Native::function(source, "callback").warm());
        let text = argument.to_string();
        assert_eq!(call(&bundle, "tool", &argument).to_string(), native.call(&text));
        group.bench_function("cell", |bencher| bencher.iter(|| call(&bundle, "tool", &argument)));
        group.bench_function("native", |bencher| bencher.iter(|| native.call(&text)));
        group.finish();
    }
}

/// 256 KiB in, 128 KiB out: many small members, and fewer with long texts.
fn json_at_the_caps(criterion: &mut Criterion) {
    let engine = engine(ImagePolicy::Own);
    for (name, argument) in [("rows", scripts::rows()), ("texts", scripts::texts())] {
        let text = argument.to_string();
        let (bundle, native) =
            (bundle(&engine, scripts::JSON, "tool"), Native::function(scripts::JSON, "callback").warm());
        let mut group = criterion.benchmark_group(format!("json/{name}"));
        group.bench_function("cell", |bencher| bencher.iter(|| call(&bundle, "tool", &argument)));
        group.bench_function("native", |bencher| bencher.iter(|| native.call(&text)));
        group.finish();
    }
}

/// Many bundles in turn, so that no pool slot is warm by luck, on one and two threads.
fn turns(criterion: &mut Criterion) {
    let engine = engine(ImagePolicy::Own);
    let argument = json!({"subtotal": 100});
    for count in [1usize, 50, 1000] {
        let bundles: Vec<_> = (0..count)
            .map(|index| bundle(&engine, &format!("const bundle = {index};\n{}", scripts::PLAIN), "tool"))
            .collect();
        for threads in [1usize, 2] {
            let mut group = criterion.benchmark_group(format!("turns/{count}"));
            group.bench_function(format!("{threads}-threads"), |bencher| {
                bencher.iter_custom(|iterations| {
                    let next = AtomicUsize::new(0);
                    let started = Instant::now();
                    std::thread::scope(|scope| {
                        for _ in 0..threads {
                            scope.spawn(|| {
                                loop {
                                    let turn = next.fetch_add(1, Ordering::Relaxed);
                                    if turn as u64 >= iterations {
                                        break;
                                    }
                                    call(&bundles[turn % count], "tool", &argument);
                                }
                            });
                        }
                    });
                    started.elapsed()
                });
            });
            group.finish();
        }
    }
}

/// Loading a bundle, and the first call, for each image policy.
fn register(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("register");
    for (name, images) in [("own", ImagePolicy::Own), ("shared", ImagePolicy::Shared)] {
        let engine = engine(images);
        for (kind, file) in [("plain", scripts::file(&engine, scripts::PLAIN, "tool")), ("tax", tax(&engine))] {
            group.bench_function(format!("{name}-{kind}"), |bencher| {
                bencher.iter_batched(
                    || file.clone(),
                    |file| engine.load(file).expect("it loads"),
                    BatchSize::LargeInput,
                );
            });
        }
    }
    group.finish();
}

/// From exec to result, with a warm engine cache: the tax bundle through the program.
fn process(criterion: &mut Criterion) {
    let program = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.parent()?.join("callcell")));
    let Some(program) = program.filter(|path| path.exists()) else {
        eprintln!("process/start is left out: build the program first with `cargo build --release`");
        return;
    };
    let folder = std::env::temp_dir().join("callcell-benches");
    let engine = engine(ImagePolicy::Shared);
    let bundle = folder.join("tax.cell");
    std::fs::write(&bundle, tax(&engine).to_bytes().expect("a bundle")).expect("the bundle is written");
    let mut group = criterion.benchmark_group("process");
    group.sample_size(20);
    group.bench_function("start", |bencher| {
        bencher.iter(|| {
            let output = std::process::Command::new(&program)
                .args(["call".as_ref(), bundle.as_os_str(), "calculateTotal".as_ref(), r#"{"subtotal":100}"#.as_ref()])
                .env("CALLCELL_CACHE_DIR", &folder)
                .output()
                .expect("the program runs");
            assert_eq!(output.stdout, b"{\"total\":120}\n");
        });
    });
    group.finish();
}

criterion_group!(benches, fresh, cpu, json_at_the_caps, turns, register, process);
criterion_main!(benches);

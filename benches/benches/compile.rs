//! `cargo bench --bench compile` measures the compiler in a warm process: from the files on disk to a bundle.

use callcell_benches::{projects, scripts};
use callcell_compiler::{Compiler, Project, compile};
use callcell_runtime::ImagePolicy;
use criterion::{Criterion, criterion_group, criterion_main};
use std::path::Path;

fn check(criterion: &mut Criterion) {
    let engine = scripts::engine(ImagePolicy::Shared);
    let folder = tempfile::tempdir().expect("a folder");
    projects::of_modules(folder.path(), 200);
    let entries = [
        ("tax", scripts::example("tax/tools.ts")),
        ("invoice", scripts::example("invoice/agents/invoice/agent.ts")),
        ("200 modules", folder.path().join("index.ts")),
    ];
    let mut group = criterion.benchmark_group("check");
    group.sample_size(20);
    for (name, entry) in &entries {
        group.bench_function(*name, |bencher| bencher.iter(|| compile(&engine, &open(entry)).expect("it compiles")));
    }
    for (name, entry) in &entries {
        let mut compiler = Compiler::new(engine.clone());
        compiler.compile(&open(entry)).expect("it compiles");
        group.bench_function(format!("{name}, nothing changed"), |bencher| {
            bencher.iter(|| compiler.compile(&open(entry)).expect("it compiles"));
        });
    }
    let entry = folder.path().join("index.ts");
    let mut compiler = Compiler::new(engine);
    let mut generation = 0;
    group.bench_function("200 modules, one changed", |bencher| {
        bencher.iter(|| {
            generation += 1;
            projects::change(folder.path(), generation);
            compiler.compile(&open(&entry)).expect("it compiles")
        });
    });
    group.finish();
}

fn open(entry: &Path) -> Project {
    Project::open(entry).expect("the project is there")
}

criterion_group!(benches, check);
criterion_main!(benches);

//! What the tests of stores and experiments share: an agent compiled once, stores in folders of their own, sources that count.

use callcell_compiler::{Project, compile};
use callcell_evals::experiment::{OutputSource, Produced};
use callcell_evals::judge::BoxFuture;
use callcell_evals::model::Failure;
use callcell_evals::store::{Dataset, ImportEvent, ImportMode, Store, StoreError};
use callcell_runtime::BundleFile;
use callcell_tests::engine;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

/// Its input is `{n}`, its output `{total}`. The tool doubles, throws for a negative number, and says which keys it was given.
const AGENT: &str = "import { createAgent, createTool, exactDiff, weightedScore } from '@eigenpal/automations';
import { z } from 'zod';
const Output = z.object({ total: z.number(), keys: z.string().optional() });
export const double = createTool({
  description: 'Doubles a number.', inputSchema: z.object({ n: z.number() }), outputSchema: Output,
  execute: (input) => {
    if (input.n < 0) throw new Error('secret');
    return { total: 2 * input.n, keys: Object.keys(input).join() };
  },
});
export const pessimist = createAgent({ name: 'b', instructions: 'Work.', inputSchema: z.object({ n: z.number() }), outputSchema: Output })
  .defineEvaluator('never', () => 0)
  .defineEvalPass((scores) => scores.never === 1);
export default createAgent({ name: 'a', instructions: 'Work.', inputSchema: z.object({ n: z.number() }), outputSchema: Output })
  .defineEvaluator('fields', exactDiff({ select: (output) => ({ total: output.total }) }))
  .defineEvaluator('constructor', ({ actual }) => {
    if (actual.total === 13) throw new Error('secret');
    return Number(actual.total >= 0);
  })
  .defineEvalPass(weightedScore({ weights: { fields: 3, constructor: 1 }, threshold: 0.9 }));
";

/// The agent's bundle.
pub fn bundle() -> &'static BundleFile {
    static BUNDLE: OnceLock<BundleFile> = OnceLock::new();
    BUNDLE.get_or_init(|| compiled(AGENT))
}

/// A bundle of one module.
pub fn compiled(source: &str) -> BundleFile {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.ts"), source).expect("it is written");
    let project = Project::with_root(folder.path(), Path::new("a.ts")).expect("it opens");
    compile(engine(), &project).unwrap_or_else(|error| panic!("{:#?}", error.diagnostics())).bundle
}

/// A store in a folder that goes with it.
pub struct Home {
    pub folder: tempfile::TempDir,
    pub store: Arc<Store>,
}

pub fn home() -> Home {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(&folder.path().join("callcell.db")).expect("a new store");
    Home { folder, store: Arc::new(store) }
}

/// Imports lines without a definition; the events are dropped.
pub fn import(store: &Store, name: &str, mode: ImportMode, lines: &str) -> Result<Dataset, StoreError> {
    store.import_lines(name, mode, lines.as_bytes(), None, &mut |_: ImportEvent| {})
}

/// Lines `e-1` and so on with the input `{n}` and an expectation of twice as much; without outputs.
pub fn numbers(count: u32) -> String {
    let line = |n| format!("{{\"name\":\"e-{n}\",\"input\":{{\"n\":{n}}},\"expected\":{{\"total\":{}}}}}\n", 2 * n);
    (1..=count).map(line).collect()
}

type Answer = dyn Fn(&Value) -> Result<Value, Failure> + Send + Sync;

/// An agent outside of the process that remembers what it was given.
pub struct Counting {
    pub calls: Mutex<BTreeMap<String, u32>>,
    answer: Box<Answer>,
}

impl Counting {
    pub fn new(answer: impl Fn(&Value) -> Result<Value, Failure> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { calls: Mutex::default(), answer: Box::new(answer) })
    }

    /// Doubles.
    pub fn doubling() -> Arc<Self> {
        Self::new(|input| Ok(serde_json::json!({ "total": 2 * input["n"].as_i64().unwrap_or_default() })))
    }

    /// What it was given, with how often.
    pub fn seen(&self) -> BTreeMap<String, u32> {
        self.calls.lock().expect("no panic").clone()
    }
}

impl OutputSource for Counting {
    fn output<'a>(&'a self, input: &'a Value) -> BoxFuture<'a, Produced> {
        *self.calls.lock().expect("no panic").entry(input.to_string()).or_default() += 1;
        Box::pin(async move {
            // Others get their turn, so that runs really are in flight at once.
            tokio::task::yield_now().await;
            Produced { output: (self.answer)(input), fuel: 7 }
        })
    }
}

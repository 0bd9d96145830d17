//! An agent with three evaluators and examples for it: what experiments are measured with.

use callcell_compiler::{Project, compile};
use callcell_evals::definition::Definition;
use callcell_evals::evaluate::Evaluations;
use callcell_evals::judge::Patience;
use callcell_runtime::{BundleFile, Engine};
use std::path::Path;

/// One `exactDiff` and two score callbacks, as issue 4 asks for.
const AGENT: &str = "import { createAgent, exactDiff, weightedScore } from '@eigenpal/automations';
import { z } from 'zod';
const Line = z.object({ text: z.string(), amount: z.number() });
const Invoice = z.object({ vendor: z.string(), total: z.number(), lines: z.array(Line) });
export default createAgent({ name: 'invoices', instructions: 'Read the invoice.', outputSchema: Invoice })
  .defineEvaluator('fields', exactDiff({ select: (output) => ({ vendor: output.vendor, total: output.total, lines: output.lines }) }))
  .defineEvaluator('sum', ({ actual }) => Number(Math.abs(actual.lines.reduce((sum, line) => sum + line.amount, 0) - actual.total) < 0.005))
  .defineEvaluator('nonnegative', ({ actual }) => Number(actual.total >= 0))
  .defineEvalPass(weightedScore({ weights: { fields: 2, sum: 1, nonnegative: 1 }, threshold: 0.9 }));
";

/// The agent's bundle.
pub fn bundle(engine: &Engine) -> BundleFile {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("agent.ts"), AGENT).expect("it is written");
    let project = Project::with_root(folder.path(), Path::new("agent.ts")).expect("it opens");
    compile(engine, &project).expect("it compiles").bundle
}

/// The agent's evaluations, ready to run.
pub fn evaluations(engine: &Engine) -> Evaluations {
    let file = bundle(engine);
    let definition = Definition::of(&file.manifest, None).expect("it has evaluations");
    let bundle = engine.load(file).expect("it loads");
    Evaluations::new(bundle, definition, None, Patience::default()).expect("there is no judge")
}

/// One example as a line of JSON; every tenth is a wrong answer.
pub fn line(number: u64) -> String {
    let (first, second) = (number % 97, number % 13);
    let total = first + second;
    let wrong = total + u64::from(number.is_multiple_of(10));
    let lines = format!(r#"[{{"text":"Paper","amount":{first}}},{{"text":"Ink","amount":{second}}}]"#);
    format!(
        r#"{{"name":"i-{number}","input":{{"text":"Invoice {number}"}},"actual":{{"vendor":"Acme","total":{wrong},"lines":{lines}}},"expected":{{"vendor":"Acme","total":{total},"lines":{lines}}}}}"#
    ) + "\n"
}

/// So many lines.
pub fn lines(count: u64) -> String {
    (1..=count).map(line).collect()
}

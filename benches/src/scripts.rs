//! The callbacks that are measured.

use callcell_runtime::{Bundle, BundleFile, Engine, EngineConfig, ImagePolicy, ModuleSet, ModuleSource};
use std::path::{Path, PathBuf};

/// A callback without Zod: the tax calculation as a bare function.
pub const PLAIN: &str = "export const callback = ({ subtotal }) => ({ total: subtotal * (1 + 0.2) });";
/// Nothing at all.
pub const NOOP: &str = "export const callback = () => ({});";
/// Recursion: many calls, little memory.
pub const RECURSION: &str = "export const callback = ({ n }) => {
  const fibonacci = (n) => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2));
  return { value: fibonacci(n) };
};";
/// Arrays: map, filter, sort, reduce over 5,000 numbers.
pub const ARRAYS: &str = "export const callback = ({ n }) => {
  const numbers = Array.from({ length: n }, (_, index) => (index * 7919) % 10007);
  const sorted = numbers.map((x) => x * 2).filter((x) => x % 3 !== 0).sort((a, b) => a - b);
  return { value: sorted.reduce((sum, x) => (sum + x) % 1000003, 0) };
};";
/// Strings: building, splitting, replacing.
pub const STRINGS: &str = "export const callback = ({ n }) => {
  let text = '';
  for (let index = 0; index < n; index++) text += 'item ' + index + ';';
  const words = text.split(';').map((word) => word.toUpperCase().replace(/ITEM (\\d+)/, '$1-item'));
  return { value: words.join(',').length };
};";
/// Returns its input's rows, cut to what fits the result.
pub const JSON: &str = "export const callback = ({ rows }) => ({ rows: rows.slice(0, rows.length / 2 - 20) });";

/// An engine for benches, compiled once per machine.
pub fn engine(images: ImagePolicy) -> Engine {
    let cache_dir = Some(std::env::temp_dir().join("callcell-benches"));
    Engine::new(EngineConfig { images, cache_dir, ..EngineConfig::default() }).expect("an engine")
}

/// The project's own examples.
pub fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(path)
}

/// A script as a tool whose schemas let everything pass.
pub fn as_tool(source: &str, name: &str) -> ModuleSet {
    let tool = format!(
        "import {{ createTool }} from '@eigenpal/automations';\n{}\nexport const {name} = createTool({{ description: 'measured', \
         inputSchema: {{ type: 'object' }}, outputSchema: {{ type: 'object' }}, execute: callback }});",
        source.replace("export const callback", "const callback")
    );
    let specifier = "@eigenpal/automations".to_owned();
    let module = ModuleSource {
        name: format!("{name}.js"),
        source: tool,
        source_map: None,
        imports: vec![(specifier.clone(), specifier)],
    };
    ModuleSet { entry: module.name.clone(), modules: vec![module] }
}

/// A script as a bundle's data.
pub fn file(engine: &Engine, source: &str, name: &str) -> BundleFile {
    let modules = as_tool(source, name);
    let evaluation = engine.evaluate(&modules).expect("it evaluates");
    assert_eq!(evaluation.problems, []);
    engine.bundle_file(evaluation, modules)
}

/// A script as a loaded bundle.
pub fn bundle(engine: &Engine, source: &str, name: &str) -> Bundle {
    engine.load(file(engine, source, name)).expect("it loads")
}

/// About 256 KiB of JSON: rows as an application has them.
pub fn rows() -> serde_json::Value {
    let row = |index: usize| {
        serde_json::json!({
            "id": index, "sku": format!("SKU-{index:05}"), "name": format!("Item number {index}"),
            "price": index as f64 * 1.25, "quantity": index % 17, "tags": ["new", "sale"], "inStock": index.is_multiple_of(3),
        })
    };
    let mut rows: Vec<_> = (0..2000).map(row).collect();
    while serde_json::json!({ "rows": rows }).to_string().len() > 256 * 1024 {
        rows.pop();
    }
    serde_json::json!({ "rows": rows })
}

/// About 256 KiB of JSON: 500 documents of text.
pub fn texts() -> serde_json::Value {
    let row = |index: usize| serde_json::json!({ "id": index, "text": "A line of text, as a document has many. ".repeat(12) });
    serde_json::json!({ "rows": (0..500).map(row).collect::<Vec<_>>() })
}

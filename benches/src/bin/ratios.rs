//! Prints what `cargo bench` measured last as a table: medians, and cell against native.

use serde_json::Value;
use std::path::Path;

fn median(folder: &Path) -> Option<f64> {
    let text = std::fs::read(folder.join("new/estimates.json")).ok()?;
    serde_json::from_slice::<Value>(&text).ok()?["median"]["point_estimate"].as_f64()
}

fn micros(nanos: f64) -> String {
    format!("{:.1} µs", nanos / 1000.0)
}

fn main() {
    let root = std::env::args().nth(1).unwrap_or_else(|| "target/criterion".into());
    let mut groups: Vec<_> = match std::fs::read_dir(&root) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect(),
        Err(error) => {
            eprintln!("cannot read `{root}`: {error}\nhint: run `cargo bench` first");
            std::process::exit(1);
        }
    };
    groups.sort();
    println!("{:<26} {:>12} {:>12} {:>9}", "bench", "cell", "native", "ratio");
    for group in groups {
        let name = group.file_name().unwrap_or_default().to_string_lossy().replace('_', "/");
        if let (Some(cell), Some(native)) = (median(&group.join("cell")), median(&group.join("native"))) {
            let ratio =
                if native > cell { format!("{:.1}x", native / cell) } else { format!("1/{:.2}", cell / native) };
            println!("{name:<26} {:>12} {:>12} {ratio:>9}", micros(cell), micros(native));
            continue;
        }
        let mut members: Vec<_> = std::fs::read_dir(&group).into_iter().flatten().flatten().collect();
        members.sort_by_key(std::fs::DirEntry::file_name);
        for member in members {
            if let Some(time) = median(&member.path()) {
                let member = format!("{name}/{}", member.file_name().to_string_lossy());
                println!("{member:<26} {:>12}", micros(time));
            }
        }
    }
}

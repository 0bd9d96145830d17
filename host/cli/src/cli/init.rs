//! `callcell init`: a project to start from. Its files are those of `examples/invoice`, which the tests compile, check and run.

use super::args::InitArguments;
use super::failure::Problem;
use super::files;
use super::render::{Terminal, plural};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of the example, embedded.
macro_rules! example {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../../examples/invoice/", $path)))),*]
    };
}

/// What is written as it is.
const FILES: &[(&str, &str)] = example![
    ".gitignore",
    "README.md",
    "tsconfig.json",
    "agents/invoice/agent.ts",
    "agents/invoice/base.ts",
    "agents/invoice/dates.ts",
    "agents/invoice/identifiers.ts",
    "agents/invoice/money.ts",
    "agents/invoice/schema.ts",
    "agents/invoice/strict.ts",
    "agents/invoice/tools.ts",
    "agents/invoice/skills/read-scans/SKILL.md",
    "agents/invoice/skills/read-scans/amounts.py",
    "datasets/generate.mjs",
    "datasets/judge.mjs",
    "inputs/invoices.evaluators.fields/whole-output.expected.json",
    "inputs/invoices.evaluators.fields/whole-output.json",
    "inputs/invoices.evaluators.meaning/both-summaries.expected.json",
    "inputs/invoices.evaluators.meaning/both-summaries.json",
    "inputs/invoices.evaluators.nonnegative/credit-note.expected.json",
    "inputs/invoices.evaluators.nonnegative/credit-note.json",
    "inputs/invoices.evaluators.nonnegative/invoice.expected.json",
    "inputs/invoices.evaluators.nonnegative/invoice.json",
    "inputs/invoices.tools.checkIban/swapped-digits.expected.json",
    "inputs/invoices.tools.checkIban/swapped-digits.json",
    "inputs/invoices.tools.checkIban/valid.expected.json",
    "inputs/invoices.tools.checkIban/valid.json",
    "inputs/invoices.tools.checkTaxId/printed-with-spaces.expected.json",
    "inputs/invoices.tools.checkTaxId/printed-with-spaces.json",
    "inputs/invoices.tools.checkTaxId/unknown-country.expected.json",
    "inputs/invoices.tools.checkTaxId/unknown-country.json",
    "inputs/invoices.tools.computeDueDate/default-terms.expected.json",
    "inputs/invoices.tools.computeDueDate/default-terms.json",
    "inputs/invoices.tools.computeDueDate/end-of-month-in-leap-year.expected.json",
    "inputs/invoices.tools.computeDueDate/end-of-month-in-leap-year.json",
    "inputs/invoices.tools.computeDueDate/no-such-day.error.json",
    "inputs/invoices.tools.computeDueDate/no-such-day.json",
    "inputs/invoices.tools.computeTotals/foreign-rate.expected.json",
    "inputs/invoices.tools.computeTotals/foreign-rate.json",
    "inputs/invoices.tools.computeTotals/no-lines.error.json",
    "inputs/invoices.tools.computeTotals/no-lines.json",
    "inputs/invoices.tools.computeTotals/two-rates.expected.json",
    "inputs/invoices.tools.computeTotals/two-rates.json",
    "inputs/invoices.tools.computeTotals/yen-credit-note.expected.json",
    "inputs/invoices.tools.computeTotals/yen-credit-note.json",
    "inputs/invoices.tools.preparePayment/name-the-bank-refuses.error.json",
    "inputs/invoices.tools.preparePayment/name-the-bank-refuses.json",
    "inputs/invoices.tools.preparePayment/name-with-umlauts.expected.json",
    "inputs/invoices.tools.preparePayment/name-with-umlauts.json",
    "inputs/invoices.tools.preparePayment/wrong-iban.error.json",
    "inputs/invoices.tools.preparePayment/wrong-iban.json",
    "resources/payment-order.ts",
    "resources/vat-rates.ts",
    "verify/agents.test.ts",
    "verify/tsconfig.json",
];
const PACKAGE: &str = include_str!("../../../../examples/invoice/package.json");
/// The SDK's types. The program brings the SDK itself, so nothing is published or downloaded for it.
const SDK_PACKAGE: &str = include_str!("../../../../guest/sdk/package.json");
const SDK_TYPES: &str = include_str!("../../../../guest/sdk/index.d.ts");

pub fn run(arguments: &InitArguments, terminal: &Terminal) -> anyhow::Result<()> {
    let folder = &arguments.folder;
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Problem::File { action: "write", path, source }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let files = project(&name(folder))?;
    let mut tops: Vec<&OsStr> = files.iter().filter_map(|(path, _)| path.iter().next()).collect();
    tops.sort();
    tops.dedup();
    let taken = tops.iter().filter(|top| folder.join(top).symlink_metadata().is_ok());
    let names: Vec<String> = taken.map(|top| top.to_string_lossy().into_owned()).collect();
    if !names.is_empty() {
        return Err(Problem::Exists { folder: folder.clone(), names }.into());
    }
    // Written aside and then moved, so that a process killed on the way leaves a folder to delete, not half a project.
    let aside = tempfile::Builder::new().prefix(".callcell-").tempdir_in(folder).map_err(failed(folder))?;
    for (path, text) in &files {
        let path = aside.path().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed(parent))?;
        }
        files::write(&path, text.as_bytes())?;
    }
    for top in tops {
        fs::rename(aside.path().join(top), folder.join(top)).map_err(failed(&folder.join(top)))?;
    }
    terminal.note(&format!("wrote {} to `{}`", plural(files.len(), "file"), folder.display()));
    let inside = if folder == Path::new(".") { String::new() } else { format!("cd {} && ", folder.display()) };
    terminal.note(&format!("{inside}callcell check && callcell test"));
    terminal.note("`npm install && npm run types` checks the types in your editor's way; README.md tells the rest");
    Ok(())
}

/// The package's name: the folder's, in npm's letters.
fn name(folder: &Path) -> String {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let name = absolute.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let letters = name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
    let name: String = letters.collect::<String>().trim_matches('-').chars().take(100).collect();
    if name.is_empty() { "agents".into() } else { name }
}

/// Every file of a new project.
fn project(name: &str) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let mut package: Value = serde_json::from_str(PACKAGE)?;
    package["name"] = json!(name);
    package["devDependencies"]["@eigenpal/automations"] = json!("file:./sdk");
    let sdk: Value = serde_json::from_str(SDK_PACKAGE)?;
    let sdk = json!({
        "name": sdk["name"],
        "version": sdk["version"],
        "description": sdk["description"],
        "type": "module",
        "license": sdk["license"],
        "exports": { ".": { "types": "./index.d.ts" } },
        "peerDependencies": sdk["peerDependencies"],
    });
    let pretty = |value: &Value| serde_json::to_string_pretty(value).map(|text| text + "\n");
    let mut files: Vec<_> = FILES.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
    files.push(("package.json".into(), pretty(&package)?));
    files.push(("sdk/package.json".into(), pretty(&sdk)?));
    files.push(("sdk/index.d.ts".into(), SDK_TYPES.to_owned()));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::process::Command;

    #[test]
    fn every_file_of_the_example_is_written() {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/invoice");
        // The example's own way to the SDK, and its package.json, which is rewritten.
        let other = ["package.json", ".npmrc"];
        let git = Command::new("git").args(["ls-files"]).current_dir(&example).output();
        let Ok(output) = git.map(|output| String::from_utf8(output.stdout).unwrap()) else { return };
        let there: BTreeSet<&str> = output.lines().filter(|path| !other.contains(path)).collect();
        if !there.is_empty() {
            assert_eq!(FILES.iter().map(|(path, _)| *path).collect::<BTreeSet<_>>(), there);
        }
    }

    #[test]
    fn the_package_is_named_after_its_folder() {
        assert_eq!(name(Path::new("/a/My Agent!")), "my-agent");
        assert_eq!(name(Path::new("/")), "agents");
        let files = project("mine").unwrap();
        let package = &files.iter().find(|(path, _)| path == Path::new("package.json")).unwrap().1;
        assert!(package.contains("\"name\": \"mine\"") && package.contains("\"file:./sdk\""), "{package}");
    }
}

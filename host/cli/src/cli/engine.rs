//! `callcell engine`: the compiled engine, as a file for hosts without a compiler and as a report.

use super::args::EngineArguments;
use super::environment::Environment;
use super::render::{Terminal, bytes};
use super::{files, open};
use callcell::runtime::{CodeOrigin, EngineReport, Reset};
use serde_json::json;

pub fn run(arguments: &EngineArguments, environment: &Environment, terminal: &Terminal) -> anyhow::Result<()> {
    let engine = open::engine(environment, arguments.no_cache, terminal)?;
    let report = engine.report();
    let mut object = json!({ "ok": true, "digest": report.digest });
    if let Some(output) = &arguments.output {
        let (contents, _) = engine.to_artifact()?;
        files::write(output, &contents)?;
        terminal.note(&format!("wrote `{}`: {}", output.display(), bytes(contents.len() as u64)));
        object["file"] = json!(output.display().to_string());
        object["bytes"] = json!(contents.len());
    }
    if arguments.json {
        if arguments.report {
            object["report"] = json!({
                "reset": reset(&report),
                "resetReason": report.reset_reason,
                "cells": report.cells,
                "code": origin(&report),
            });
        }
        return Ok(terminal.json(&object)?);
    }
    if !arguments.report {
        return Ok(terminal.data(&report.digest)?);
    }
    let rows = [
        ("digest", report.digest.clone()),
        ("code", origin(&report).to_owned()),
        ("reset", format!("{}: {}", reset(&report), report.reset_reason)),
        ("cells", report.cells.to_string()),
    ];
    Ok(terminal.data(&rows.map(|(name, value)| format!("{name:<6}  {value}")).join("\n"))?)
}

fn reset(report: &EngineReport) -> &'static str {
    match report.reset {
        Reset::Auto => "auto",
        Reset::SwapSafe => "swap-safe",
        Reset::PagemapScan => "pagemap-scan",
    }
}

fn origin(report: &EngineReport) -> &'static str {
    match report.code {
        CodeOrigin::Compiled => "compiled in this process",
        CodeOrigin::Cache => "read from the cache",
        CodeOrigin::Artifact => "loaded from a precompiled engine",
    }
}

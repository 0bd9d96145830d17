//! The compile cell: evaluates a project's modules once and keeps what they left in memory as an image.

use crate::abi::{self, Status};
use crate::boundary;
use crate::bundle::{Manifest, ModuleSet, Problem};
use crate::cell::{Cell, Stop, Watch};
use crate::engine::{Base, Engine};
use crate::error::{EngineError, EvaluateError, Thrown};
use crate::image::Image;
use crate::outcome::Logs;
use serde::Deserialize;
use std::time::{Duration, Instant};

/// Wall clock a compilation may take (D-13).
const TIME: Duration = Duration::from_secs(10);
/// Work a compilation may do: five times that of a call, as its time.
const FUEL: u64 = 100_000_000_000;
/// Bytes of a failure's detail.
const MAX_DETAIL_BYTES: usize = 256 * 1024;
/// Bytes all modules of a project may have together, so that they fit a compile cell's memory several times.
const MAX_SOURCE_BYTES: usize = 16 * 1024 * 1024;

/// What evaluating a project gave.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// What the project declares.
    pub manifest: Manifest,
    /// Everything that is wrong with the declarations. A project with problems must not be bundled.
    pub problems: Vec<Problem>,
    /// The memory it left, as the pages that differ from the base.
    pub image: Image,
    /// Which base that is.
    pub base: Base,
    /// The clock was read and the error caught (`W_CLOCK_TOUCHED`, D-25).
    pub clock_touched: bool,
    /// `Math.random` was called and the error caught.
    pub random_touched: bool,
    /// What the modules wrote to `console`.
    pub logs: Logs,
}

#[derive(Deserialize)]
struct Harvest {
    #[serde(flatten)]
    manifest: Manifest,
    #[serde(default)]
    problems: Vec<Problem>,
}

#[derive(Deserialize)]
struct Detail {
    name: String,
    message: String,
    stack: String,
}

impl Engine {
    /// Evaluates modules in a compile cell: clock and random disabled, 10 s, 64 MiB, 512 KiB of stack (2.5). Callback
    /// bodies are not invoked (CB-72). Blocks the thread; needs no Cranelift.
    pub fn evaluate(&self, modules: &ModuleSet) -> Result<Evaluation, EvaluateError> {
        pollster::block_on(self.evaluate_in_cell(modules))
    }

    async fn evaluate_in_cell(&self, modules: &ModuleSet) -> Result<Evaluation, EvaluateError> {
        let engine_failed = |error: EngineError| EvaluateError::Engine(error.to_string());
        let refused = |error: wasmtime::Error| EvaluateError::Engine(format!("{error:#}"));
        let total: usize = modules.modules.iter().map(|module| module.source.len()).sum();
        if total > MAX_SOURCE_BYTES {
            return Err(EvaluateError::Limit { what: "source size" });
        }
        let base = if modules.imports_zod() { Base::Zod } else { Base::Sdk };
        let base_memory = self.base_memory(base).await.map_err(engine_failed)?;
        let _permit = self.inner.cells.acquire().await.map_err(|error| EvaluateError::Engine(error.to_string()))?;
        let module = self.base(base).map_err(engine_failed)?;
        let mut cell = self.cell(module, None, FUEL).map_err(refused)?;
        let watch = Watch { deadline: Instant::now() + TIME, cancel: None };
        let exchange = self.inner.exchange_offset;
        let zeros = [0; abi::ARGUMENTS_OFFSET];
        cell.write(exchange, &zeros).map_err(engine_failed)?;

        let stopped = |stop| stop_error(stop, &abi::Response::default());
        cell.run::<(), ()>("unseal", (), &watch).await.map_err(stopped)?;
        for module in &modules.modules {
            let block = write_texts(&mut cell, &[&module.name, &module.source], &watch).await.map_err(engine_failed)?;
            let lengths = (block, module.name.len() as u32, module.source.len() as u32);
            cell.run::<_, ()>("add_module", lengths, &watch).await.map_err(stopped)?;
            for (specifier, target) in &module.imports {
                let texts = [module.name.as_str(), specifier.as_str(), target.as_str()];
                let block = write_texts(&mut cell, &texts, &watch).await.map_err(engine_failed)?;
                let [from, specifier, target] = texts.map(|text| text.len() as u32);
                cell.run::<_, ()>("add_import", (block, from, specifier, target), &watch).await.map_err(stopped)?;
            }
        }
        let entry = write_texts(&mut cell, &[&modules.entry], &watch).await.map_err(engine_failed)?;
        let status = cell.run::<_, u32>("harvest", (entry, modules.entry.len() as u32), &watch).await;
        let response = cell.response(exchange);
        let status = status.map_err(|stop| stop_error(stop, &response))?;
        let limit = if status == Status::Ok as u32 { abi::MAX_DECLARATION_BYTES } else { MAX_DETAIL_BYTES };
        let text = boundary::copy(cell.memory(), response.result_offset, response.result_bytes, limit);
        let text =
            text.ok_or(EvaluateError::Declaration { what: "the guest named bytes outside its memory".into() })?;
        if Status::from_code(status) != Some(Status::Ok) {
            return Err(evaluate_error(status, &text, &response));
        }
        let harvest = boundary::parse(&text)
            .ok_or_else(|| "they are not JSON".to_owned())
            .and_then(|value| serde_json::from_value::<Harvest>(value).map_err(|error| error.to_string()))
            .map_err(|what| EvaluateError::Declaration { what })?;
        let log = boundary::copy(cell.memory(), response.log_offset, response.log_bytes, abi::MAX_LOG_BYTES);
        cell.run::<(), ()>("seal", (), &watch).await.map_err(|stop| stop_error(stop, &response))?;
        // The exchange area belongs to the moment, not to the image.
        cell.write(exchange, &vec![0; abi::EXCHANGE_BYTES]).map_err(engine_failed)?;

        let flag = |bit| response.flags & bit != 0;
        Ok(Evaluation {
            manifest: harvest.manifest,
            problems: harvest.problems,
            image: Image::difference(cell.memory(), base_memory),
            base,
            clock_touched: flag(abi::RESPONSE_CLOCK_REFUSED),
            random_touched: flag(abi::RESPONSE_RANDOM_REFUSED),
            logs: Logs {
                lines: boundary::log_lines(&log.unwrap_or_default()),
                truncated: flag(abi::RESPONSE_LOG_TRUNCATED),
            },
        })
    }
}

fn stop_error(stop: Stop, response: &abi::Response) -> EvaluateError {
    match stop {
        Stop::Timeout | Stop::Cancelled => EvaluateError::Limit { what: "time" },
        Stop::Fuel => EvaluateError::Limit { what: "work" },
        Stop::Stack => EvaluateError::Limit { what: "stack" },
        Stop::Trapped if response.flags & abi::RESPONSE_OUT_OF_MEMORY != 0 => EvaluateError::Limit { what: "memory" },
        Stop::Trapped => EvaluateError::Engine("the compile cell was lost".into()),
        Stop::Refused(error) => EvaluateError::Engine(format!("{error:#}")),
    }
}

fn evaluate_error(status: u32, text: &[u8], response: &abi::Response) -> EvaluateError {
    let thrown = || {
        let detail = boundary::parse(text).and_then(|value| serde_json::from_value::<Detail>(value).ok());
        Box::new(match detail {
            Some(Detail { name, message, stack }) => Thrown { name, message, stack },
            None => Thrown { name: String::new(), message: String::new(), stack: String::new() },
        })
    };
    match Status::from_code(status) {
        Some(Status::Memory) => EvaluateError::Limit { what: "memory" },
        Some(Status::Stack) => EvaluateError::Limit { what: "stack" },
        Some(Status::TopLevelAwait) => EvaluateError::TopLevelAwait,
        Some(Status::Threw) if response.flags & abi::RESPONSE_CLOCK_REFUSED != 0 => {
            EvaluateError::ClockDisabled { thrown: thrown() }
        }
        Some(Status::Threw) if response.flags & abi::RESPONSE_RANDOM_REFUSED != 0 => {
            EvaluateError::RandomDisabled { thrown: thrown() }
        }
        Some(Status::Threw) => {
            let thrown = thrown();
            if thrown.name == "SyntaxError" {
                EvaluateError::Syntax { thrown }
            } else {
                EvaluateError::Threw { thrown }
            }
        }
        _ => EvaluateError::Declaration { what: String::from_utf8_lossy(text).into_owned() },
    }
}

/// Allocates a block in the guest and writes texts into it, one behind the other.
pub(crate) async fn write_texts(cell: &mut Cell, texts: &[&str], watch: &Watch<'_>) -> Result<u32, EngineError> {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let block: u32 = cell
        .run("allocate", (bytes as u32,), watch)
        .await
        .map_err(|stop| EngineError::Guest { what: format!("no room for a module: {stop:?}") })?;
    let mut at = block as usize;
    for text in texts {
        cell.write(at, text.as_bytes())?;
        at += text.len();
    }
    Ok(block)
}

//! One call: wait for a cell, run the callback in it, check what comes out, drop it.

use crate::abi::{self, Request, Status};
use crate::boundary;
use crate::bundle::{Bundle, CallbackKind};
use crate::cell::{Cell, Stop, Watch};
use crate::error::{CallError, CallErrorKind, Thrown};
use crate::limits::Limits;
use crate::outcome::{Logs, Outcome, Usage};
use crate::schema::Violation;
use futures_timer::Delay;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

/// With [`ImagePolicy::Adaptive`](crate::ImagePolicy::Adaptive), the call with which a bundle earns an image of its own.
#[cfg(feature = "compiler")]
const CALLS_UNTIL_OWN_IMAGE: u32 = 16;
/// Bytes of a failure's detail.
const MAX_DETAIL_BYTES: usize = 256 * 1024;

/// Bytes of the list of undefined members: 1,000 paths of 512 bytes, escaped.
const MAX_UNDEFINED_BYTES: usize = 2 * 1024 * 1024;

/// What one call may differ in.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// When the caller wants an answer at the latest; shortens the time limit and bounds the wait for a cell. Default:
    /// none, the call waits for a cell as long as it takes.
    pub deadline: Option<Instant>,
    /// Lower limits for this call. Values above the engine's have no effect.
    pub limits: Option<Limits>,
    /// The clock the callback sees, for the whole call. Default: the time at which it starts.
    pub clock: Option<SystemTime>,
    /// Seed of `Math.random`. Default: another one for every call.
    pub seed: Option<u64>,
    /// Cancels the call from outside. Dropping the future of [`Bundle::call`] does the same.
    pub cancel: Option<CancellationToken>,
    /// Whether the text of an exception may leave the cell. Only for the author's own machine: it may hold data of the
    /// input (D-41). Default: false.
    pub reveal: bool,
}

#[derive(Deserialize)]
struct Detail {
    #[serde(default)]
    path: String,
    #[serde(default)]
    what: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    stack: String,
}

impl Bundle {
    /// Calls a callback with one JSON argument, in a cell of its own.
    ///
    /// A tool's argument is checked against its input schema first and its result against its output schema afterwards;
    /// an evaluator's result must be a score, a pass rule's true or false. The future works on any executor and gives up
    /// its thread about every millisecond.
    pub async fn call(&self, callback: &str, argument: &Value, options: &CallOptions) -> Result<Outcome, CallError> {
        let config = &self.inner.engine.inner.config;
        if !config.scripts_enabled {
            return Err(CallErrorKind::ScriptsDisabled.into());
        }
        let index = self.find(callback)?;
        let limits = config.limits.lowered_to(options.limits.unwrap_or_default());
        let kind = self.inner.manifest.callbacks[index].kind;
        if boundary::value_depth(argument) > abi::MAX_DEPTH {
            return Err(CallErrorKind::ArgumentsTooDeep.into());
        }
        let schemas = &self.inner.schemas[index];
        let bytes = match &schemas.input {
            Some(schema) => {
                // Checking a value takes time by its size, so the size comes first; normalising may change it.
                let bytes = encode(argument, limits.argument_bytes)?;
                let checked = schema.check_cow(Cow::Borrowed(argument));
                match checked.map_err(|Violation { path, expected }| CallErrorKind::InputSchema { path, expected })? {
                    Cow::Borrowed(_) => bytes,
                    Cow::Owned(normalised) => encode(&normalised, limits.argument_bytes)?,
                }
            }
            None => encode(argument, limits.argument_bytes)?,
        };
        let _permit = self.wait_for_cell(options).await?;
        let mut outcome = self.run(index, kind, &bytes, &limits, options).await?;
        let refused =
            |kind, outcome: &Outcome| CallError { kind, usage: Some(outcome.usage), logs: outcome.logs.clone() };
        match kind {
            CallbackKind::Tool => {
                if let Some(schema) = &schemas.output {
                    let value = std::mem::take(&mut outcome.value);
                    outcome.value = schema.check(value).map_err(|Violation { path, expected }| {
                        refused(CallErrorKind::OutputSchema { path, expected }, &outcome)
                    })?;
                }
            }
            CallbackKind::Evaluator => {
                let score = outcome.value.as_f64().filter(|score| (0.0..=1.0).contains(score));
                if score.is_none() {
                    return Err(refused(CallErrorKind::ScoreInvalid, &outcome));
                }
            }
            CallbackKind::PassRule if !outcome.value.is_boolean() => {
                return Err(refused(CallErrorKind::PassNotBoolean, &outcome));
            }
            _ => {}
        }
        Ok(outcome)
    }

    /// [`Bundle::call`] for a thread that may block. Do not use it on an executor's own threads.
    pub fn call_blocking(&self, callback: &str, argument: &Value, options: &CallOptions) -> Result<Outcome, CallError> {
        pollster::block_on(self.call(callback, argument, options))
    }

    /// A place in the pool: at once where one is free, else in order of arrival until the deadline.
    async fn wait_for_cell(&self, options: &CallOptions) -> Result<OwnedSemaphorePermit, CallErrorKind> {
        let cells = &self.inner.engine.inner.cells;
        if let Ok(permit) = cells.clone().try_acquire_owned() {
            return Ok(permit);
        }
        let mut turn = pin!(cells.clone().acquire_owned());
        let mut cancelled = pin!(async {
            match &options.cancel {
                Some(cancel) => cancel.cancelled().await,
                None => std::future::pending().await,
            }
        });
        let mut deadline = pin!(async {
            match options.deadline {
                Some(deadline) => Delay::new(deadline.saturating_duration_since(Instant::now())).await,
                None => std::future::pending().await,
            }
        });
        poll_fn(|context| {
            if let Poll::Ready(permit) = turn.as_mut().poll(context) {
                return Poll::Ready(permit.map_err(|_| CallErrorKind::Busy));
            }
            if cancelled.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(CallErrorKind::Cancelled));
            }
            if deadline.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(CallErrorKind::Busy));
            }
            Poll::Pending
        })
        .await
    }

    async fn run(
        &self,
        index: usize,
        kind: CallbackKind,
        argument: &[u8],
        limits: &Limits,
        options: &CallOptions,
    ) -> Result<Outcome, CallError> {
        let started = Instant::now();
        let time_limit = started + limits.time;
        let deadline = options.deadline.map_or(time_limit, |deadline| deadline.min(time_limit));
        if options.cancel.as_ref().is_some_and(CancellationToken::is_cancelled) {
            return Err(CallErrorKind::Cancelled.into());
        }
        if started >= deadline {
            return Err(CallErrorKind::Timeout.into());
        }
        let mut cell = self.new_cell(limits.fuel).map_err(|_| CallErrorKind::WorkerLost)?;
        let exchange = self.inner.engine.inner.exchange_offset;
        let request = Request {
            callback: index as u32,
            argument_bytes: argument.len() as u32,
            flags: request_flags(kind, options.reveal),
            result_limit: limits.result_bytes as u32,
            memory_limit: limits.memory_bytes as u32,
            stack_limit: limits.stack_bytes as u32,
            log_limit: abi::MAX_LOG_BYTES as u32,
            clock_millis: millis(options.clock.unwrap_or_else(SystemTime::now)),
            seed: options.seed.unwrap_or_else(random_seed),
        };
        let mut message = Vec::with_capacity(abi::ARGUMENTS_OFFSET + argument.len());
        message.extend_from_slice(&request.to_bytes());
        message.resize(abi::ARGUMENTS_OFFSET, 0);
        message.extend_from_slice(argument);
        cell.write(exchange, &message).map_err(|_| CallErrorKind::WorkerLost)?;

        let watch = Watch { deadline, cancel: options.cancel.as_ref() };
        let status = cell.run::<(), u32>("call", (), &watch).await;
        let response = cell.response(exchange);
        let flag = |bit| response.flags & bit != 0;
        let log = boundary::copy(cell.memory(), response.log_offset, response.log_bytes, abi::MAX_LOG_BYTES);
        let logs =
            Logs { lines: boundary::log_lines(&log.unwrap_or_default()), truncated: flag(abi::RESPONSE_LOG_TRUNCATED) };
        let fuel = cell.fuel_used();
        let mut usage = Usage {
            fuel: fuel.min(limits.fuel),
            wall: Duration::ZERO,
            peak_memory_bytes: u64::from(response.peak_memory),
            argument_bytes: argument.len() as u64,
            result_bytes: 0,
            clock_used: flag(abi::RESPONSE_CLOCK_USED),
            random_used: flag(abi::RESPONSE_RANDOM_USED),
        };
        let result = status.map_err(|stop| stop_kind(stop, &response)).and_then(|status| {
            if fuel > limits.fuel {
                return Err(CallErrorKind::Fuel);
            }
            let text = |limit| boundary::copy(cell.memory(), response.result_offset, response.result_bytes, limit);
            match Status::from_code(status) {
                Some(Status::Ok) => {
                    let text = text(limits.result_bytes).ok_or(CallErrorKind::WorkerLost)?;
                    usage.result_bytes = text.len() as u64;
                    let value = boundary::parse(&text).ok_or(CallErrorKind::WorkerLost)?;
                    Ok((value, undefined_paths(&cell, &response)?))
                }
                // A result that is no JSON is no score and no verdict either.
                Some(Status::NotJson) if kind == CallbackKind::Evaluator => Err(CallErrorKind::ScoreInvalid),
                Some(Status::NotJson) if kind == CallbackKind::PassRule => Err(CallErrorKind::PassNotBoolean),
                Some(status) => Err(status_kind(status, text(MAX_DETAIL_BYTES), limits, options.reveal)),
                None => Err(CallErrorKind::WorkerLost),
            }
        });
        drop(cell);
        usage.wall = started.elapsed();
        match result {
            Ok((value, undefined)) => Ok(Outcome { value, undefined, usage, logs }),
            Err(kind) => Err(CallError { kind, usage: Some(usage), logs }),
        }
    }

    fn new_cell(&self, fuel: u64) -> Result<Cell, wasmtime::Error> {
        let engine = &self.inner.engine;
        #[cfg(feature = "compiler")]
        {
            if let Some(own) = self.inner.own.get() {
                return engine.cell(own, None, fuel);
            }
            if engine.inner.config.images == crate::config::ImagePolicy::Adaptive
                && self.inner.calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1 == CALLS_UNTIL_OWN_IMAGE
            {
                let bundle = self.clone();
                // Without the thread or the image, calls go on as before; that is slower, not wrong.
                let _ =
                    std::thread::Builder::new().name("callcell-image".into()).spawn(move || bundle.build_own_image());
            }
        }
        let base = engine.base(self.inner.base).map_err(|error| wasmtime::Error::msg(error.to_string()))?;
        engine.cell(base, Some(&self.inner.pages), fuel)
    }
}

fn request_flags(kind: CallbackKind, reveal: bool) -> u32 {
    let flags = match kind {
        CallbackKind::PassRule => abi::REQUEST_NULL_PROTOTYPE,
        CallbackKind::DiffSelector | CallbackKind::JudgeSelector => abi::REQUEST_MARK_UNDEFINED,
        CallbackKind::Tool | CallbackKind::Evaluator => 0,
    };
    if reveal { flags | abi::REQUEST_REVEAL } else { flags }
}

fn encode(argument: &Value, limit: usize) -> Result<Vec<u8>, CallErrorKind> {
    let bytes = serde_json::to_vec(argument).map_err(|_| CallErrorKind::ArgumentsTooDeep)?;
    if bytes.len() > limit {
        return Err(CallErrorKind::ArgumentsTooLarge { bytes: bytes.len(), limit });
    }
    Ok(bytes)
}

fn millis(time: SystemTime) -> f64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => since.as_millis() as f64,
        Err(before) => -(before.duration().as_millis() as f64),
    }
}

/// Nothing secret hangs on `Math.random`; it only has to differ between calls.
fn random_seed() -> u64 {
    fastrand::u64(..)
}

fn undefined_paths(cell: &Cell, response: &abi::Response) -> Result<Vec<String>, CallErrorKind> {
    if response.undefined_bytes == 0 {
        return Ok(Vec::new());
    }
    boundary::copy(cell.memory(), response.undefined_offset, response.undefined_bytes, MAX_UNDEFINED_BYTES)
        .and_then(|text| boundary::parse(&text))
        .and_then(|paths| serde_json::from_value(paths).ok())
        .ok_or(CallErrorKind::WorkerLost)
}

fn stop_kind(stop: Stop, response: &abi::Response) -> CallErrorKind {
    match stop {
        Stop::Timeout => CallErrorKind::Timeout,
        Stop::Cancelled => CallErrorKind::Cancelled,
        Stop::Fuel => CallErrorKind::Fuel,
        Stop::Stack => CallErrorKind::Stack,
        // The guest aborts when our own code in it runs out of memory, after saying so.
        Stop::Trapped if response.flags & abi::RESPONSE_OUT_OF_MEMORY != 0 => CallErrorKind::Memory,
        Stop::Trapped | Stop::Refused(_) => CallErrorKind::WorkerLost,
    }
}

fn status_kind(status: Status, detail: Option<Vec<u8>>, limits: &Limits, reveal: bool) -> CallErrorKind {
    let detail = || {
        let value = detail.as_deref().and_then(boundary::parse)?;
        serde_json::from_value::<Detail>(value).ok()
    };
    match status {
        Status::Threw => CallErrorKind::Threw {
            detail: detail()
                .filter(|_| reveal)
                .map(|Detail { name, message, stack, .. }| Box::new(Thrown { name, message, stack })),
        },
        Status::Promise => CallErrorKind::Promise,
        Status::Generator => CallErrorKind::Generator,
        Status::Undefined => CallErrorKind::ResultUndefined,
        Status::NotJson => match detail() {
            Some(Detail { path, what, .. }) => CallErrorKind::ResultNotJson { path, what },
            None => CallErrorKind::WorkerLost,
        },
        Status::TooLarge => CallErrorKind::ResultTooLarge { limit: limits.result_bytes },
        Status::Memory => CallErrorKind::Memory,
        Status::Stack => CallErrorKind::Stack,
        Status::Ok | Status::UnknownCallback | Status::ArgumentsNotJson | Status::TopLevelAwait => {
            CallErrorKind::WorkerLost
        }
    }
}

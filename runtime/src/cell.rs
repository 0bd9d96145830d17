//! The cell: one store, two instances, one use.

use crate::abi;
use crate::error::EngineError;
use crate::image::Image;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use wasmtime::{Engine, Extern, Instance, Memory, Module, Store, Trap, TypedFunc, WasmParams, WasmResults};

/// Fuel between two looks at clock and cancellation: about 1 ms.
const FUEL_SLICE: u64 = 10_000_000;

/// wasmtime looks at the fuel where blocks begin, so code may run a little past the end of it. The margin makes that
/// visible: whoever needed more than the limit fails, by one unit too.
const FUEL_MARGIN: u64 = 1_000_000;

/// What stops a cell besides its own code.
pub(crate) struct Watch<'a> {
    pub deadline: Instant,
    pub cancel: Option<&'a CancellationToken>,
}

/// Why a cell stopped before it answered.
#[derive(Debug)]
pub(crate) enum Stop {
    Timeout,
    Cancelled,
    Fuel,
    Stack,
    /// Any other trap: the guest aborted, or was driven out of its memory.
    Trapped,
    /// wasmtime could not start the code.
    Refused(wasmtime::Error),
}

/// A store with a copy of an image and the engine's code on top of it.
pub(crate) struct Cell {
    store: Store<()>,
    memory: Memory,
    instance: Instance,
    fuel: u64,
}

impl Cell {
    /// Instantiates `image` and `code`. `pages` are then written over the image.
    pub fn new(
        engine: &Engine,
        code: &Module,
        image: &Module,
        pages: Option<&Image>,
        fuel: u64,
    ) -> Result<Self, wasmtime::Error> {
        let mut store = Store::new(engine, ());
        store.set_fuel(fuel.saturating_add(FUEL_MARGIN))?;
        let base = Instance::new(&mut store, image, &[])?;
        let Some(memory) = base.get_memory(&mut store, "memory") else {
            return Err(wasmtime::Error::msg("an image exports its memory"));
        };
        let instance = Instance::new(&mut store, code, &[Extern::Memory(memory)])?;
        if let Some(pages) = pages {
            let missing = pages.memory_bytes().saturating_sub(memory.data_size(&store));
            if missing > 0 {
                memory.grow(&mut store, missing.div_ceil(crate::image::WASM_PAGE_BYTES) as u64)?;
            }
            let bytes = memory.data_mut(&mut store);
            for (offset, run) in pages.runs() {
                match bytes.get_mut(offset..offset + run.len()) {
                    Some(place) => place.copy_from_slice(run),
                    None => return Err(wasmtime::Error::msg("the image lies outside the memory")),
                }
            }
        }
        store.fuel_async_yield_interval(Some(FUEL_SLICE))?;
        Ok(Self { store, memory, instance, fuel })
    }

    /// Runs an export to its end, or until the watch stops it.
    pub async fn run<P, R>(&mut self, name: &str, parameters: P, watch: &Watch<'_>) -> Result<R, Stop>
    where
        P: WasmParams + Sync + 'static,
        R: WasmResults + Sync + 'static,
    {
        let function: TypedFunc<P, R> = self.instance.get_typed_func(&mut self.store, name).map_err(Stop::Refused)?;
        let mut running = pin!(function.call_async(&mut self.store, parameters));
        poll_fn(|context| {
            if let Poll::Ready(result) = running.as_mut().poll(context) {
                return Poll::Ready(result.map_err(Stop::from_error));
            }
            // The guest gave up its slice; wasmtime has asked for the next poll already.
            if watch.cancel.is_some_and(CancellationToken::is_cancelled) {
                return Poll::Ready(Err(Stop::Cancelled));
            }
            if Instant::now() >= watch.deadline {
                return Poll::Ready(Err(Stop::Timeout));
            }
            Poll::Pending
        })
        .await
    }

    /// The whole linear memory. Nothing in it can be trusted.
    pub fn memory(&self) -> &[u8] {
        self.memory.data(&self.store)
    }

    /// Writes at an offset the host knows; fails if the guest's memory does not reach that far.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), EngineError> {
        self.memory
            .write(&mut self.store, offset, bytes)
            .map_err(|_| EngineError::Guest { what: "an offset lies outside the memory".into() })
    }

    /// Fuel used so far; more than the limit if the code ran past it.
    pub fn fuel_used(&self) -> u64 {
        self.fuel.saturating_add(FUEL_MARGIN) - self.store.get_fuel().unwrap_or(0)
    }

    /// The response as it stands in memory.
    pub fn response(&self, exchange_offset: usize) -> abi::Response {
        let mut bytes = [0; abi::Response::BYTES];
        let start = exchange_offset + abi::RESPONSE_OFFSET;
        if let Some(found) = self.memory().get(start..start + bytes.len()) {
            bytes.copy_from_slice(found);
        }
        abi::Response::from_bytes(&bytes)
    }
}

impl Stop {
    fn from_error(error: wasmtime::Error) -> Self {
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => Self::Fuel,
            Some(Trap::StackOverflow) => Self::Stack,
            Some(_) => Self::Trapped,
            None => Self::Refused(error),
        }
    }
}

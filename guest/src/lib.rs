//! The guest: QuickJS behind eight exports.
//!
//! An image is built once: `start`, any number of `add_module`, `add_import` and `load_builtin`, then `harvest` and
//! `seal`. Afterwards only `call` is used, each time in a fresh copy of that image. All numbers and offsets are those of
//! `abi.rs`, which the host compiles too.

#[path = "../../runtime/src/abi.rs"]
#[allow(dead_code, reason = "the host uses the rest")]
mod abi;
mod allocator;
mod clock;
mod console;
mod decode;
mod encode;
mod failure;
mod modules;
mod value;
mod wasi;

use abi::{Request, Response, Status};
use decode::Decoder;
use encode::{Encoder, Intrinsics, Refusal, Undefined};
use javy::{Config, Runtime};
use modules::Registry;
use rquickjs::qjs::{self, JSValue};
use rquickjs::{Module, promise::PromiseState};
use std::cell::UnsafeCell;

#[global_allocator]
static ALLOCATOR: allocator::CellAllocator = allocator::CellAllocator::new();

/// QuickJS collects cycles when this much was allocated since the last time.
const GC_THRESHOLD: usize = 16 * 1024 * 1024;
/// The built-in module whose `harvest` describes a project. Projects cannot import it.
const SDK: &str = "callcell:sdk";

#[repr(align(4096))]
struct Exchange(UnsafeCell<[u8; abi::EXCHANGE_BYTES]>);

// SAFETY: the guest has exactly one thread.
unsafe impl Sync for Exchange {}

static EXCHANGE: Exchange = Exchange(UnsafeCell::new([0; abi::EXCHANGE_BYTES]));

struct Engine {
    runtime: Runtime,
    context: value::Context,
    intrinsics: Intrinsics,
    registry: Registry,
    /// The bundle's callbacks, in the manifest's order.
    callbacks: Vec<JSValue>,
    /// Put the guarded clock in place for compilation, and take it away for calls.
    guard: JSValue,
    release: JSValue,
    /// The SDK's `harvest`, once the SDK is loaded.
    harvest: JSValue,
    /// What the last response points at.
    result: Vec<u8>,
    undefined: Vec<u8>,
}

struct Slot(UnsafeCell<Option<Engine>>);

// SAFETY: the guest has exactly one thread.
unsafe impl Sync for Slot {}

static ENGINE: Slot = Slot(UnsafeCell::new(None));

fn engine() -> &'static mut Engine {
    // SAFETY: one thread; exports do not nest, because the guest imports nothing that could call back.
    unsafe { (*ENGINE.0.get()).as_mut().expect("the host calls `start` first") }
}

fn exchange() -> *mut u8 {
    EXCHANGE.0.get().cast()
}

/// Keeps the response's account of memory up to date while a call runs: if it is stopped, nobody can ask any more.
fn note_memory(peak: usize, refused: bool) {
    let response = exchange().wrapping_add(abi::RESPONSE_OFFSET);
    // SAFETY: two words of the response, inside the exchange area.
    unsafe {
        *response.add(abi::RESPONSE_PEAK_OFFSET).cast::<u32>() = peak as u32;
        if refused {
            *response.add(abi::RESPONSE_FLAGS_OFFSET).cast::<u32>() |= abi::RESPONSE_OUT_OF_MEMORY;
        }
    }
}

/// Where the exchange area lies.
#[unsafe(no_mangle)]
extern "C" fn exchange_offset() -> u32 {
    exchange() as u32
}

/// Creates the engine and its environment.
#[unsafe(no_mangle)]
extern "C" fn start() {
    let mut config = Config::default();
    config.gc_threshold(GC_THRESHOLD).max_stack_size(abi::MAX_STACK_BYTES).weak_ref(true);
    let runtime = Runtime::new(config).expect("a fresh heap has room for an engine");
    let context = runtime.context().as_raw().as_ptr();
    // SAFETY: the context lives as long as the cell, and no script has run yet.
    let engine = unsafe {
        let intrinsics = Intrinsics::capture(context).expect("the intrinsics are there");
        console::install(context);
        install_random(context);
        let (guard, release) = install_environment(context);
        Engine {
            runtime,
            context,
            intrinsics,
            registry: Registry::default(),
            callbacks: Vec::new(),
            guard,
            release,
            harvest: qjs::JS_UNDEFINED,
            result: Vec::new(),
            undefined: Vec::new(),
        }
    };
    engine.registry.install(engine.runtime.context().runtime());
    // SAFETY: nothing else holds the slot.
    unsafe { *ENGINE.0.get() = Some(engine) };
    unseal();
}

/// A block for the host to write module names and sources into. `add_module` and `add_import` take it over.
#[unsafe(no_mangle)]
extern "C" fn allocate(bytes: u32) -> *mut u8 {
    Box::leak(vec![0u8; bytes as usize].into_boxed_slice()).as_mut_ptr()
}

/// Takes back a block from `allocate` as `N` texts that lie one behind the other.
///
/// # Safety
/// The block came from `allocate` with exactly the sum of the lengths.
unsafe fn take_texts<const N: usize>(block: *mut u8, lengths: [u32; N]) -> [String; N] {
    let total: u32 = lengths.iter().sum();
    // SAFETY: as promised by the caller.
    let bytes = unsafe { Box::from_raw(core::ptr::slice_from_raw_parts_mut(block, total as usize)) };
    let mut rest = &bytes[..];
    lengths.map(|length| {
        let (text, behind) = rest.split_at(length as usize);
        rest = behind;
        String::from_utf8_lossy(text).into_owned()
    })
}

/// Adds a module: its canonical name and its JavaScript source.
#[unsafe(no_mangle)]
unsafe extern "C" fn add_module(block: *mut u8, name_bytes: u32, source_bytes: u32) {
    // SAFETY: the host allocated the block for these two texts.
    let [name, source] = unsafe { take_texts(block, [name_bytes, source_bytes]) };
    engine().registry.add_source(name, source);
}

/// Says which module a specifier means in a module.
#[unsafe(no_mangle)]
unsafe extern "C" fn add_import(block: *mut u8, from_bytes: u32, specifier_bytes: u32, target_bytes: u32) {
    // SAFETY: the host allocated the block for these three texts.
    let [from, specifier, target] = unsafe { take_texts(block, [from_bytes, specifier_bytes, target_bytes]) };
    engine().registry.add_import(from, specifier, target);
}

/// Evaluates an added module as part of a base image, importable by its own name.
#[unsafe(no_mangle)]
unsafe extern "C" fn load_builtin(block: *mut u8, name_bytes: u32) -> u32 {
    // SAFETY: the host allocated the block for this text.
    let [name] = unsafe { take_texts(block, [name_bytes]) };
    let engine = engine();
    engine.update_stack_top();
    let registry = engine.registry.clone();
    let source = registry.source(&name).unwrap_or_default();
    let bytecode = modules::compile_stripped(engine.runtime.context().runtime(), &name, &source);
    let javascript = engine.runtime.context().clone();
    let loaded = javascript.with(|context| {
        // SAFETY: this engine wrote the bytes a moment ago; bytecode from outside is never loaded.
        let (module, promise) = unsafe { Module::load(context, &bytecode?) }?.eval()?;
        if name == SDK {
            let harvest: rquickjs::Value = module.get("harvest")?;
            // SAFETY: a live value; the reference is kept for the life of the cell.
            engine.harvest = unsafe { qjs::JS_DupValue(engine.context, harvest.as_raw()) };
        }
        Ok::<_, rquickjs::Error>(promise.state() == PromiseState::Resolved)
    });
    registry.add_builtin(name);
    // Here and not in `seal`: a collection touches every object, so a bundle's image would repeat the whole base.
    engine.runtime.context().runtime().run_gc();
    match loaded {
        Ok(true) => Status::Ok as u32,
        Ok(false) => Status::TopLevelAwait as u32,
        // SAFETY: rquickjs leaves the exception pending.
        Err(_) => unsafe { engine.fail(true) as u32 },
    }
}

/// Evaluates the entry module, asks the SDK's `harvest` what it declares, and keeps the callbacks. The result is the
/// manifest.
#[unsafe(no_mangle)]
unsafe extern "C" fn harvest(block: *mut u8, entry_bytes: u32) -> u32 {
    // SAFETY: the host allocated the block for this text.
    let [entry] = unsafe { take_texts(block, [entry_bytes]) };
    let engine = engine();
    ALLOCATOR.begin(abi::MAX_MEMORY_BYTES);
    console::begin(abi::MAX_LOG_BYTES);
    engine.update_stack_top();
    let context = engine.context;
    let javascript = engine.runtime.context().clone();
    let status = javascript.with(|ctx| {
        // SAFETY: raw values are freed or kept as QuickJS's conventions ask.
        unsafe {
            let namespace = match evaluate(&ctx, &engine.registry, &entry) {
                Ok(namespace) => namespace,
                Err(status) => return status,
            };
            if engine.has_pending_jobs() {
                return Ok(Status::TopLevelAwait);
            }
            let mut arguments = [namespace];
            let harvested = qjs::JS_Call(context, engine.harvest, qjs::JS_UNDEFINED, 1, arguments.as_mut_ptr());
            if qjs::JS_IsException(harvested) {
                return Err(());
            }
            let callbacks = qjs::JS_GetPropertyStr(context, harvested, c"callbacks".as_ptr());
            let mut count = 0i64;
            if qjs::JS_GetLength(context, callbacks, &mut count) < 0 {
                return Err(());
            }
            engine.callbacks = (0..count).map(|index| qjs::JS_GetPropertyInt64(context, callbacks, index)).collect();
            let manifest = qjs::JS_GetPropertyStr(context, harvested, c"manifest".as_ptr());
            let encoded = engine.encode(manifest, Undefined::Omit, abi::MAX_DECLARATION_BYTES);
            for value in [manifest, callbacks, harvested, namespace] {
                qjs::JS_FreeValue(context, value);
            }
            Ok(encoded)
        }
    });
    match status {
        Ok(status) => engine.respond(status),
        // SAFETY: an exception is pending.
        Err(()) => unsafe { engine.fail(true) as u32 },
    }
}

/// Evaluates the entry and gives its namespace. `Err(Ok(status))` is a status, `Err(Err(()))` a pending exception.
fn evaluate(ctx: &rquickjs::Ctx<'_>, registry: &Registry, entry: &str) -> Result<JSValue, Result<Status, ()>> {
    let source = registry.source(entry).unwrap_or_default();
    let module = Module::declare(ctx.clone(), entry, source).map_err(|_| Err(()))?;
    let (module, promise) = module.eval().map_err(|_| Err(()))?;
    match promise.state() {
        PromiseState::Resolved => {}
        PromiseState::Pending => return Err(Ok(Status::TopLevelAwait)),
        PromiseState::Rejected => {
            // SAFETY: the reason becomes the pending exception again.
            unsafe {
                let reason = qjs::JS_PromiseResult(ctx.as_raw().as_ptr(), promise.as_raw());
                qjs::JS_Throw(ctx.as_raw().as_ptr(), reason);
            }
            return Err(Err(()));
        }
    }
    let namespace = module.namespace().map_err(|_| Err(()))?;
    // SAFETY: the caller frees the reference.
    Ok(unsafe { qjs::JS_DupValue(ctx.as_raw().as_ptr(), namespace.as_raw()) })
}

/// Ends the building of an image: sources go, the clock comes back.
#[unsafe(no_mangle)]
extern "C" fn seal() {
    let engine = engine();
    engine.update_stack_top();
    engine.result = Vec::new();
    engine.undefined = Vec::new();
    engine.registry.clear();
    // SAFETY: a live function that takes nothing.
    unsafe {
        let done = qjs::JS_Call(engine.context, engine.release, qjs::JS_UNDEFINED, 0, core::ptr::null_mut());
        value::discard(engine.context, done);
    }
    ALLOCATOR.seal();
}

/// Resumes building on top of a sealed image.
#[unsafe(no_mangle)]
extern "C" fn unseal() {
    let engine = engine();
    engine.update_stack_top();
    ALLOCATOR.unseal();
    clock::disable();
    // SAFETY: a live function that takes nothing.
    unsafe {
        let done = qjs::JS_Call(engine.context, engine.guard, qjs::JS_UNDEFINED, 0, core::ptr::null_mut());
        value::discard(engine.context, done);
    }
}

/// Runs one callback, as the request in the exchange area says.
#[unsafe(no_mangle)]
extern "C" fn call() -> u32 {
    let engine = engine();
    // SAFETY: the exchange area is ours; the host has written the request before this call.
    let request = unsafe { Request::from_bytes(&*exchange().add(abi::REQUEST_OFFSET).cast()) };
    clock::begin(request.clock_millis, request.seed);
    console::begin(request.log_limit as usize);
    engine.set_stack_limit((request.stack_limit as usize).min(abi::MAX_STACK_BYTES));
    ALLOCATOR.begin((request.memory_limit as usize).min(abi::MAX_MEMORY_BYTES));
    let status = engine.call(&request);
    engine.respond(status)
}

impl Engine {
    fn update_stack_top(&self) {
        // SAFETY: a live runtime.
        unsafe { qjs::JS_UpdateStackTop(qjs::JS_GetRuntime(self.context)) };
    }

    fn has_pending_jobs(&self) -> bool {
        // SAFETY: a live runtime.
        unsafe { qjs::JS_IsJobPending(qjs::JS_GetRuntime(self.context)) }
    }

    fn set_stack_limit(&mut self, bytes: usize) {
        // SAFETY: a live runtime.
        unsafe { qjs::JS_SetMaxStackSize(qjs::JS_GetRuntime(self.context), bytes as _) };
        self.update_stack_top();
    }

    fn call(&mut self, request: &Request) -> Status {
        let context = self.context;
        let Some(&callback) = self.callbacks.get(request.callback as usize) else {
            return Status::UnknownCallback;
        };
        let reveal = request.flags & abi::REQUEST_REVEAL != 0;
        let bytes = (request.argument_bytes as usize).min(abi::MAX_ARGUMENT_BYTES);
        // SAFETY: the arguments lie inside the exchange area, and values are freed as QuickJS's conventions ask.
        unsafe {
            let text = core::slice::from_raw_parts(exchange().add(abi::ARGUMENTS_OFFSET), bytes);
            let bare = request.flags & abi::REQUEST_NULL_PROTOTYPE != 0;
            let Ok(argument) = Decoder::new(context, text).read(bare) else {
                decode::clear(context);
                return if ALLOCATOR.refused() { Status::Memory } else { Status::ArgumentsNotJson };
            };
            let mut arguments = [argument];
            let result = qjs::JS_Call(context, callback, qjs::JS_UNDEFINED, 1, arguments.as_mut_ptr());
            if qjs::JS_IsException(result) {
                let (status, detail) = failure::take(context, reveal);
                self.result = detail;
                return status;
            }
            let mark = request.flags & abi::REQUEST_MARK_UNDEFINED != 0;
            let undefined = if mark { Undefined::Mark } else { Undefined::Omit };
            let limit = (request.result_limit as usize).min(abi::MAX_RESULT_BYTES);
            let status = self.encode(result, undefined, limit);
            if status == Status::Ok && self.has_pending_jobs() {
                return Status::Promise;
            }
            status
        }
    }

    /// Leaves the JSON, or the detail of the refusal, in `result`.
    unsafe fn encode(&mut self, value: JSValue, undefined: Undefined, limit: usize) -> Status {
        ALLOCATOR.unlimited(|| {
            let mut encoder = Encoder::new(self.context, &self.intrinsics, undefined, limit);
            // SAFETY: a live value.
            let written = unsafe { encoder.result(value) };
            let (out, paths) = (core::mem::take(&mut encoder.out), core::mem::take(&mut encoder.undefined_paths));
            drop(encoder);
            match written {
                Ok(()) => {
                    self.result = out;
                    self.undefined = list(&paths);
                    Status::Ok
                }
                Err(Refusal { status, path, what }) => {
                    self.result = Vec::new();
                    self.result.extend_from_slice(b"{\"path\":");
                    value::append_json_string(path.as_bytes(), &mut self.result);
                    self.result.extend_from_slice(b",\"what\":");
                    value::append_json_string(what.as_bytes(), &mut self.result);
                    self.result.push(b'}');
                    status
                }
            }
        })
    }

    unsafe fn fail(&mut self, reveal: bool) -> Status {
        // SAFETY: an exception is pending.
        let (status, detail) = unsafe { failure::take(self.context, reveal) };
        self.result = detail;
        let _ = self.respond(status);
        status
    }

    /// Writes the response. An allocation that failed decides, whatever the callback made of it (D-39).
    fn respond(&mut self, status: Status) -> u32 {
        let out_of_memory = ALLOCATOR.refused();
        let (log_offset, log_bytes, truncated) = console::written();
        let mut flags = clock::flags();
        if out_of_memory {
            flags |= abi::RESPONSE_OUT_OF_MEMORY;
        }
        if truncated {
            flags |= abi::RESPONSE_LOG_TRUNCATED;
        }
        let response = Response {
            result_offset: self.result.as_ptr() as u32,
            result_bytes: self.result.len() as u32,
            log_offset: log_offset as u32,
            log_bytes: log_bytes as u32,
            peak_memory: ALLOCATOR.peak() as u32,
            flags,
            undefined_offset: self.undefined.as_ptr() as u32,
            undefined_bytes: self.undefined.len() as u32,
        };
        // SAFETY: the response's place inside the exchange area.
        unsafe { *exchange().add(abi::RESPONSE_OFFSET).cast() = response.to_bytes() };
        if out_of_memory { Status::Memory as u32 } else { status as u32 }
    }
}

fn list(paths: &[String]) -> Vec<u8> {
    if paths.is_empty() {
        return Vec::new();
    }
    let mut json = Vec::new();
    for path in paths {
        json.push(if json.is_empty() { b'[' } else { b',' });
        value::append_json_string(path.as_bytes(), &mut json);
    }
    json.push(b']');
    json
}

/// Replaces `Math.random` by the cell's own, so that every call has the sequence of its seed.
unsafe fn install_random(context: value::Context) {
    // SAFETY: values are freed or handed over as QuickJS's conventions ask.
    unsafe {
        let global = qjs::JS_GetGlobalObject(context);
        let math = qjs::JS_GetPropertyStr(context, global, c"Math".as_ptr());
        let function = value::native(context, Some(random), c"random", 0, 0);
        qjs::JS_DefinePropertyValueStr(context, math, c"random".as_ptr(), function, value::METHOD);
        qjs::JS_FreeValue(context, math);
        qjs::JS_FreeValue(context, global);
    }
}

unsafe extern "C" fn random(
    context: *mut qjs::JSContext,
    _this: JSValue,
    _count: i32,
    _arguments: *mut JSValue,
    _magic: i32,
    _data: *mut JSValue,
) -> JSValue {
    match clock::random() {
        Some(number) => qjs::JS_NewFloat64(number),
        None => {
            let message = c"Math.random() is disabled while a project is compiled: pass random values in as input";
            // SAFETY: a live context; the error takes a copy of the text.
            unsafe {
                let error = qjs::JS_NewError(context);
                let text = qjs::JS_NewStringLen(context, message.as_ptr(), message.to_bytes().len() as _);
                qjs::JS_DefinePropertyValueStr(context, error, c"message".as_ptr(), text, value::METHOD);
                qjs::JS_Throw(context, error)
            }
        }
    }
}

/// Evaluates `environment.js`. Gives its two functions.
unsafe fn install_environment(context: value::Context) -> (JSValue, JSValue) {
    const SOURCE: &str = concat!(include_str!("environment.js"), "\0");
    // SAFETY: the source ends in NUL, as JS_Eval asks; values are freed or kept.
    unsafe {
        let install =
            qjs::JS_Eval(context, SOURCE.as_ptr().cast(), (SOURCE.len() - 1) as _, c"<environment>".as_ptr(), 0);
        let refuse = value::native(context, Some(refuse_clock), c"refuseClock", 0, 0);
        let mut arguments = [refuse];
        let functions = qjs::JS_Call(context, install, qjs::JS_UNDEFINED, 1, arguments.as_mut_ptr());
        assert!(!qjs::JS_IsException(functions), "environment.js runs");
        let guard = qjs::JS_GetPropertyStr(context, functions, c"guard".as_ptr());
        let release = qjs::JS_GetPropertyStr(context, functions, c"release".as_ptr());
        for value in [functions, refuse, install] {
            qjs::JS_FreeValue(context, value);
        }
        (guard, release)
    }
}

unsafe extern "C" fn refuse_clock(
    _context: *mut qjs::JSContext,
    _this: JSValue,
    _count: i32,
    _arguments: *mut JSValue,
    _magic: i32,
    _data: *mut JSValue,
) -> JSValue {
    if clock::refuse_clock() { qjs::JS_TRUE } else { qjs::JS_FALSE }
}

//! `console`: lines are kept for the author, up to a limit, and go nowhere else (D-26).
//!
//! A line is stored as one byte of level, four bytes of length and the text. Host code reads it back in
//! `callcell-runtime`'s `outcome` module.

use crate::abi::MAX_LOG_BYTES;
use crate::value::{self, Context};
use rquickjs::qjs;
use std::cell::UnsafeCell;

const HEADER_BYTES: usize = 5;
const LEVELS: [&core::ffi::CStr; 5] = [c"log", c"info", c"warn", c"error", c"debug"];

struct Buffer(UnsafeCell<State>);

struct State {
    bytes: [u8; MAX_LOG_BYTES],
    length: usize,
    limit: usize,
    truncated: bool,
}

// SAFETY: the guest has exactly one thread.
unsafe impl Sync for Buffer {}

static BUFFER: Buffer =
    Buffer(UnsafeCell::new(State { bytes: [0; MAX_LOG_BYTES], length: 0, limit: 0, truncated: false }));

fn state() -> &'static mut State {
    // SAFETY: one thread, and no caller keeps the reference across a call into QuickJS.
    unsafe { &mut *BUFFER.0.get() }
}

/// Starts a call with an empty buffer.
pub fn begin(limit: usize) {
    let state = state();
    state.length = 0;
    state.limit = limit.min(MAX_LOG_BYTES);
    state.truncated = false;
}

/// Address, length and whether something was cut.
pub fn written() -> (usize, usize, bool) {
    let state = state();
    (state.bytes.as_ptr() as usize, state.length, state.truncated)
}

/// Puts `console` on the global object.
///
/// # Safety
/// `context` is a live context.
pub unsafe fn install(context: Context) {
    // SAFETY: values are freed or handed over as QuickJS's conventions ask.
    unsafe {
        let console = qjs::JS_NewObject(context);
        for (level, name) in LEVELS.iter().enumerate() {
            let function = value::native(context, Some(write), name, 0, level as i32);
            qjs::JS_DefinePropertyValueStr(context, console, name.as_ptr(), function, value::METHOD);
        }
        let global = qjs::JS_GetGlobalObject(context);
        qjs::JS_DefinePropertyValueStr(context, global, c"console".as_ptr(), console, value::METHOD);
        qjs::JS_FreeValue(context, global);
    }
}

unsafe extern "C" fn write(
    context: *mut qjs::JSContext,
    _this: qjs::JSValue,
    count: i32,
    arguments: *mut qjs::JSValue,
    level: i32,
    _data: *mut qjs::JSValue,
) -> qjs::JSValue {
    if state().truncated {
        return qjs::JS_UNDEFINED;
    }
    let mut line = Vec::new();
    for index in 0..count as usize {
        if index > 0 {
            line.push(b' ');
        }
        if line.len() >= MAX_LOG_BYTES {
            break;
        }
        // SAFETY: QuickJS passes `count` values.
        let argument = unsafe { *arguments.add(index) };
        // SAFETY: a live context and value.
        unsafe { render(context, argument, &mut line) };
    }
    let state = state();
    let Some(room) = state.limit.checked_sub(state.length + HEADER_BYTES) else {
        state.truncated = true;
        return qjs::JS_UNDEFINED;
    };
    if line.len() > room {
        state.truncated = true;
        let mut cut = room;
        while cut > 0 && line[cut] & 0xc0 == 0x80 {
            cut -= 1;
        }
        line.truncate(cut);
        if line.is_empty() {
            return qjs::JS_UNDEFINED;
        }
    }
    let at = state.length;
    state.bytes[at] = level as u8;
    state.bytes[at + 1..at + HEADER_BYTES].copy_from_slice(&(line.len() as u32).to_le_bytes());
    state.bytes[at + HEADER_BYTES..at + HEADER_BYTES + line.len()].copy_from_slice(&line);
    state.length += HEADER_BYTES + line.len();
    qjs::JS_UNDEFINED
}

/// Strings as they are, data as JSON, everything else as `String(value)`; never throws.
unsafe fn render(context: Context, value: qjs::JSValue, line: &mut Vec<u8>) {
    // SAFETY: values are freed as QuickJS's conventions ask.
    unsafe {
        if qjs::JS_IsObject(value) && !qjs::JS_IsFunction(context, value) && !qjs::JS_IsError(value) {
            let json = qjs::JS_JSONStringify(context, value, qjs::JS_UNDEFINED, qjs::JS_UNDEFINED);
            if qjs::JS_IsString(json) {
                value::append_text(context, json, line, MAX_LOG_BYTES);
                qjs::JS_FreeValue(context, json);
                return;
            }
            value::discard(context, json);
        }
        if qjs::JS_IsSymbol(value) {
            line.extend_from_slice(b"Symbol()");
        } else if !value::append_text(context, value, line, MAX_LOG_BYTES) {
            line.extend_from_slice(b"[unprintable]");
        }
    }
}

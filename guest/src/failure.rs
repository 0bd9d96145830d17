//! What an exception becomes: a status, and for the author's eyes its text.

use crate::ALLOCATOR;
use crate::abi::Status;
use crate::value::{self, Context};
use rquickjs::qjs::{self, JSValue};

const STACK_MESSAGE: &[u8] = b"Maximum call stack size exceeded";
const MAX_MESSAGE_BYTES: usize = 4096;
const MAX_STACK_BYTES: usize = 8192;

/// Takes the pending exception. The second value is `{"name","message","stack"}` where `reveal` allows it, else empty.
///
/// # Safety
/// The context is live and an exception is pending.
pub unsafe fn take(context: Context, reveal: bool) -> (Status, Vec<u8>) {
    // SAFETY: as promised by the caller.
    unsafe {
        let exception = qjs::JS_GetException(context);
        if ALLOCATOR.refused() {
            return (Status::Memory, Vec::new());
        }
        let outcome = describe(context, exception, reveal);
        qjs::JS_FreeValue(context, exception);
        outcome
    }
}

/// The same for a value in hand, such as the reason of a rejected promise.
///
/// # Safety
/// The context and `exception` are live.
pub unsafe fn describe(context: Context, exception: JSValue, reveal: bool) -> (Status, Vec<u8>) {
    // SAFETY: as promised by the caller.
    unsafe {
        let is_error = qjs::JS_IsError(exception);
        let message = if is_error { property(context, exception, c"message", MAX_MESSAGE_BYTES) } else { Vec::new() };
        if is_error && message == STACK_MESSAGE {
            return (Status::Stack, Vec::new());
        }
        if !reveal {
            return (Status::Threw, Vec::new());
        }
        let (name, message, stack) = if is_error {
            let name = property(context, exception, c"name", MAX_MESSAGE_BYTES);
            (name, message, property(context, exception, c"stack", MAX_STACK_BYTES))
        } else {
            let mut text = Vec::new();
            if qjs::JS_IsSymbol(exception) || !value::append_text(context, exception, &mut text, MAX_MESSAGE_BYTES) {
                text = b"[a value without text]".to_vec();
            }
            (Vec::new(), text, Vec::new())
        };
        let mut detail = b"{\"name\":".to_vec();
        value::append_json_string(&name, &mut detail);
        detail.extend_from_slice(b",\"message\":");
        value::append_json_string(&message, &mut detail);
        detail.extend_from_slice(b",\"stack\":");
        value::append_json_string(&stack, &mut detail);
        detail.push(b'}');
        (Status::Threw, detail)
    }
}

unsafe fn property(context: Context, object: JSValue, name: &core::ffi::CStr, limit: usize) -> Vec<u8> {
    let mut text = Vec::new();
    // SAFETY: a live object; a getter that throws leaves nothing behind.
    unsafe {
        let member = qjs::JS_GetPropertyStr(context, object, name.as_ptr());
        if qjs::JS_IsString(member) {
            value::append_text(context, member, &mut text, limit);
        }
        value::discard(context, member);
    }
    text
}

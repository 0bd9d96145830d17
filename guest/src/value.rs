//! Small helpers over QuickJS values.

use rquickjs::qjs;

/// A QuickJS context. Only ever the one of this cell.
pub type Context = *mut qjs::JSContext;

/// Attributes of a built-in method: writable and configurable, not enumerable.
pub const METHOD: i32 = (qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE) as i32;

/// A native function with a number of its own.
///
/// # Safety
/// `context` is live and `function` keeps QuickJS's conventions.
pub unsafe fn native(
    context: Context,
    function: qjs::JSCFunctionData,
    name: &core::ffi::CStr,
    length: i32,
    magic: i32,
) -> qjs::JSValue {
    // SAFETY: no data values are passed.
    unsafe { qjs::JS_NewCFunctionData2(context, function, name.as_ptr(), length, magic, 0, core::ptr::null_mut()) }
}

/// Appends the value's string form as UTF-8, at most `limit` bytes of it. False if it has none.
///
/// # Safety
/// `context` and `value` are live.
pub unsafe fn append_text(context: Context, value: qjs::JSValue, out: &mut Vec<u8>, limit: usize) -> bool {
    let mut length = 0usize;
    // SAFETY: QuickJS writes the length and returns that many bytes, which live until freed.
    unsafe {
        let text = qjs::JS_ToCStringLen(context, &mut length, value);
        if text.is_null() {
            discard(context, qjs::JS_EXCEPTION);
            return false;
        }
        let bytes = core::slice::from_raw_parts(text.cast::<u8>(), length);
        let mut cut = length.min(limit);
        while cut > 0 && cut < length && bytes[cut] & 0xc0 == 0x80 {
            cut -= 1;
        }
        append_utf8(&bytes[..cut], out);
        qjs::JS_FreeCString(context, text);
    }
    true
}

/// Copies what QuickJS calls UTF-8, with a lone surrogate (which it encodes as three bytes) replaced by U+FFFD (D-33).
pub fn append_utf8(bytes: &[u8], out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(at) = rest.windows(2).position(|pair| pair[0] == 0xed && pair[1] >= 0xa0) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice("\u{fffd}".as_bytes());
        rest = &rest[(at + 3).min(rest.len())..];
    }
    out.extend_from_slice(rest);
}

/// Frees a value; if it is the exception mark, frees the pending exception.
///
/// # Safety
/// `context` and `value` are live, and the caller owns `value`.
pub unsafe fn discard(context: Context, value: qjs::JSValue) {
    // SAFETY: as promised by the caller.
    unsafe {
        if qjs::JS_IsException(value) {
            qjs::JS_FreeValue(context, qjs::JS_GetException(context));
        } else {
            qjs::JS_FreeValue(context, value);
        }
    }
}

/// Appends `text` as a JSON string, quotes included.
pub fn append_json_string(text: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let mut start = 0;
    for (index, &byte) in text.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&text[start..index]);
        start = index + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            _ => {
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', HEX[(byte >> 4) as usize], HEX[(byte & 15) as usize]])
            }
        }
    }
    out.extend_from_slice(&text[start..]);
    out.push(b'"');
}

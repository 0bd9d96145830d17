//! The boundary codec, inward: JSON text becomes frozen JavaScript values.
//!
//! The host has parsed and bounded the text already; this reader still checks everything it relies on. Members are
//! defined, not assigned, so `__proto__` in data is an own property, and they are born read-only, so no second pass
//! has to freeze them (D-31).

use crate::abi::MAX_DEPTH;
use crate::value::{self, Context};
use rquickjs::qjs::{self, JSValue};

/// Places for recent keys; a power of two.
const KEY_SLOTS: usize = 32;
/// Texts shorter than this hardly repeat a key.
const KEYS_PAY_OFF_BYTES: usize = 1024;
const FROZEN: i32 = qjs::JS_PROP_ENUMERABLE as i32;

/// The text is not JSON, or QuickJS ran out of memory over it.
pub struct Malformed;

pub struct Decoder<'a> {
    context: Context,
    text: &'a [u8],
    at: usize,
    scratch: Vec<u8>,
    /// Items of the arrays that are being read.
    items: Vec<JSValue>,
    /// Keys seen lately and their atoms: rows repeat their keys.
    keys: Vec<(usize, usize, qjs::JSAtom)>,
}

impl<'a> Decoder<'a> {
    pub fn new(context: Context, text: &'a [u8]) -> Self {
        Self { context, text, at: 0, scratch: Vec::new(), items: Vec::new(), keys: Vec::new() }
    }

    /// Reads the whole text as one frozen value. With `bare`, an object at the root has no prototype.
    ///
    /// # Safety
    /// The context is live.
    pub unsafe fn read(&mut self, bare: bool) -> Result<JSValue, Malformed> {
        // SAFETY: as promised by the caller; the root is owned here until returned.
        unsafe {
            let root = self.value(0)?;
            self.skip_blanks();
            if self.at != self.text.len() {
                qjs::JS_FreeValue(self.context, root);
                return Err(Malformed);
            }
            if bare && qjs::JS_IsObject(root) {
                return self.without_prototype(root);
            }
            Ok(root)
        }
    }

    /// A frozen object's prototype is fixed, so the members move to a bare object.
    unsafe fn without_prototype(&mut self, root: JSValue) -> Result<JSValue, Malformed> {
        // SAFETY: a live plain object; every reference taken is freed or handed over.
        unsafe {
            let bare = qjs::JS_NewObjectProto(self.context, qjs::JS_NULL);
            let mut table: *mut qjs::JSPropertyEnum = core::ptr::null_mut();
            let mut count = 0u32;
            let names = qjs::JS_GPN_STRING_MASK as i32;
            if qjs::JS_IsException(bare)
                || qjs::JS_GetOwnPropertyNames(self.context, &mut table, &mut count, root, names) < 0
            {
                return Err(Malformed);
            }
            for index in 0..count as usize {
                let atom = (*table.add(index)).atom;
                let member = qjs::JS_GetProperty(self.context, root, atom);
                if qjs::JS_DefinePropertyValue(self.context, bare, atom, member, FROZEN) < 0 {
                    return Err(Malformed);
                }
            }
            qjs::JS_FreePropertyEnum(self.context, table, count);
            qjs::JS_FreeValue(self.context, root);
            self.frozen(bare)
        }
    }

    unsafe fn value(&mut self, depth: usize) -> Result<JSValue, Malformed> {
        if depth > MAX_DEPTH {
            return Err(Malformed);
        }
        self.skip_blanks();
        // SAFETY: values are owned by exactly one place.
        unsafe {
            match self.peek()? {
                b'{' => self.object(depth),
                b'[' => self.array(depth),
                b'"' => self.string(),
                b't' => self.word(b"true", qjs::JS_TRUE),
                b'f' => self.word(b"false", qjs::JS_FALSE),
                b'n' => self.word(b"null", qjs::JS_NULL),
                _ => self.number(),
            }
        }
    }

    unsafe fn object(&mut self, depth: usize) -> Result<JSValue, Malformed> {
        // SAFETY: as above. A failure ends the call, so what is left half-built is not freed.
        unsafe {
            let object = qjs::JS_NewObject(self.context);
            if qjs::JS_IsException(object) {
                return Err(Malformed);
            }
            self.at += 1;
            self.skip_blanks();
            if self.peek()? == b'}' {
                self.at += 1;
                return self.frozen(object);
            }
            loop {
                self.skip_blanks();
                if self.peek()? != b'"' {
                    return Err(Malformed);
                }
                let atom = match self.text_span()? {
                    Some((start, end)) => self.key(start, end),
                    None => self.atom(&self.scratch),
                };
                if atom == 0 {
                    return Err(Malformed);
                }
                self.skip_blanks();
                self.expect(b':')?;
                let member = self.value(depth + 1)?;
                let defined = qjs::JS_DefinePropertyValue(self.context, object, atom, member, FROZEN);
                if defined < 0 {
                    return Err(Malformed);
                }
                self.skip_blanks();
                match self.next()? {
                    b',' => {}
                    b'}' => return self.frozen(object),
                    _ => return Err(Malformed),
                }
            }
        }
    }

    unsafe fn array(&mut self, depth: usize) -> Result<JSValue, Malformed> {
        let first = self.items.len();
        self.at += 1;
        self.skip_blanks();
        if self.peek()? == b']' {
            self.at += 1;
        } else {
            loop {
                // SAFETY: as above.
                let item = unsafe { self.value(depth + 1)? };
                self.items.push(item);
                self.skip_blanks();
                match self.next()? {
                    b',' => {}
                    b']' => break,
                    _ => return Err(Malformed),
                }
            }
        }
        let items = &self.items[first..];
        // SAFETY: the array takes over the items, so they are forgotten here.
        unsafe {
            let array = qjs::JS_NewArrayFrom(self.context, items.len() as i32, items.as_ptr());
            self.items.truncate(first);
            if qjs::JS_IsException(array) {
                return Err(Malformed);
            }
            self.frozen(array)
        }
    }

    /// Members are read-only already; this keeps new ones out (and fixes an array's length).
    unsafe fn frozen(&self, object: JSValue) -> Result<JSValue, Malformed> {
        // SAFETY: a live plain object or array that this call made.
        unsafe {
            let done = if qjs::JS_IsArray(object) {
                qjs::JS_FreezeObject(self.context, object)
            } else {
                qjs::JS_PreventExtensions(self.context, object)
            };
            if done < 0 { Err(Malformed) } else { Ok(object) }
        }
    }

    unsafe fn string(&mut self) -> Result<JSValue, Malformed> {
        let span = self.text_span()?;
        let text = match span {
            Some((start, end)) => &self.text[start..end],
            None => &self.scratch[..],
        };
        // SAFETY: QuickJS copies the bytes.
        let string = unsafe { qjs::JS_NewStringLen(self.context, text.as_ptr().cast(), text.len() as _) };
        // SAFETY: only the tag is read.
        if unsafe { qjs::JS_IsException(string) } { Err(Malformed) } else { Ok(string) }
    }

    /// The atom of a key without escapes. Atoms are not freed: their count is bounded by the text, and the heap dies with
    /// the call.
    fn key(&mut self, start: usize, end: usize) -> qjs::JSAtom {
        if self.text.len() < KEYS_PAY_OFF_BYTES {
            return self.atom(&self.text[start..end]);
        }
        if self.keys.is_empty() {
            self.keys = vec![(0, 0, 0); KEY_SLOTS];
        }
        let text = &self.text[start..end];
        let (first, last) = (text.first().copied().unwrap_or(0), text.last().copied().unwrap_or(0));
        let slot = (text.len() + usize::from(first) * 7 + usize::from(last) * 13) % KEY_SLOTS;
        let (known_start, known_end, atom) = self.keys[slot];
        if atom != 0 && &self.text[known_start..known_end] == text {
            return atom;
        }
        let atom = self.atom(text);
        self.keys[slot] = (start, end, atom);
        atom
    }

    fn atom(&self, text: &[u8]) -> qjs::JSAtom {
        // SAFETY: QuickJS copies the bytes.
        unsafe { qjs::JS_NewAtomLen(self.context, text.as_ptr().cast(), text.len() as _) }
    }

    /// The bytes between the quotes: a span of the input, or, where there were escapes, `scratch`.
    fn text_span(&mut self) -> Result<Option<(usize, usize)>, Malformed> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek()? {
                b'"' => {
                    let end = self.at;
                    self.at += 1;
                    return Ok(Some((start, end)));
                }
                b'\\' => break,
                byte if byte < 0x20 => return Err(Malformed),
                _ => self.at += 1,
            }
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(&self.text[start..self.at]);
        loop {
            match self.next()? {
                b'"' => return Ok(None),
                b'\\' => self.escape()?,
                byte if byte < 0x20 => return Err(Malformed),
                byte => self.scratch.push(byte),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Malformed> {
        let plain = match self.next()? {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let unit = self.code_unit()?;
                let mut units = vec![unit];
                if (0xd800..0xdc00).contains(&unit) && self.text[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    units.push(self.code_unit()?);
                }
                let mut utf8 = [0; 4];
                for unit in char::decode_utf16(units) {
                    let character = unit.unwrap_or(char::REPLACEMENT_CHARACTER);
                    self.scratch.extend_from_slice(character.encode_utf8(&mut utf8).as_bytes());
                }
                return Ok(());
            }
            _ => return Err(Malformed),
        };
        self.scratch.push(plain);
        Ok(())
    }

    fn code_unit(&mut self) -> Result<u16, Malformed> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = (self.next()? as char).to_digit(16).ok_or(Malformed)?;
            unit = unit << 4 | digit as u16;
        }
        Ok(unit)
    }

    fn number(&mut self) -> Result<JSValue, Malformed> {
        let start = self.at;
        while self.at < self.text.len() && matches!(self.text[self.at], b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
        {
            self.at += 1;
        }
        let digits = &self.text[start..self.at];
        if digits.len() <= 9 && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
            let number = digits.iter().fold(0i32, |sum, digit| sum * 10 + i32::from(digit - b'0'));
            return Ok(qjs::JS_MKVAL(qjs::JS_TAG_INT, number));
        }
        let text = core::str::from_utf8(digits).map_err(|_| Malformed)?;
        text.parse().map(qjs::JS_NewFloat64).map_err(|_| Malformed)
    }

    fn word(&mut self, word: &[u8], value: JSValue) -> Result<JSValue, Malformed> {
        if !self.text[self.at..].starts_with(word) {
            return Err(Malformed);
        }
        self.at += word.len();
        Ok(value)
    }

    fn skip_blanks(&mut self) {
        while self.at < self.text.len() && matches!(self.text[self.at], b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    fn peek(&self) -> Result<u8, Malformed> {
        self.text.get(self.at).copied().ok_or(Malformed)
    }

    fn next(&mut self) -> Result<u8, Malformed> {
        let byte = self.peek()?;
        self.at += 1;
        Ok(byte)
    }

    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.next()? == byte { Ok(()) } else { Err(Malformed) }
    }
}

/// Frees what a failed read left pending.
///
/// # Safety
/// The context is live.
pub unsafe fn clear(context: Context) {
    // SAFETY: as promised by the caller.
    unsafe { value::discard(context, qjs::JS_EXCEPTION) }
}

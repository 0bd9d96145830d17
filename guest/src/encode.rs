//! The boundary codec, outward: a JavaScript value becomes JSON, or a refusal with the path of what cannot.
//!
//! `JSON.stringify` would hide what must be refused (a function becomes nothing, NaN becomes null, a Map becomes `{}`)
//! and would run the script's own `toJSON` and getters. This walk runs no script: proxies, accessors and class instances
//! are refused before they could act, and the prototypes it compares with were captured before any script ran (3.1).

use crate::abi::{MAX_DEPTH, Status};
use crate::value::{self, Context};
use rquickjs::qjs::{self, JSAtom, JSValue};

/// The most undefined members listed by path; a selector that leaves out more is told so by the last entry's absence.
const MAX_UNDEFINED: usize = 1000;
/// The longest path reported, in bytes.
const MAX_PATH_BYTES: usize = 512;
/// How far a prototype chain is followed when looking for an iterator.
const MAX_PROTOTYPES: usize = 16;

/// What to do with an undefined member.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Undefined {
    /// Leave it out, as absent (D-35).
    Omit,
    /// Write null and list its path (4.3).
    Mark,
}

/// Prototypes and class numbers as they were before any script ran.
pub struct Intrinsics {
    object_prototype: JSValue,
    array_prototype: JSValue,
    iterator_prototype: JSValue,
    async_iterator_prototype: JSValue,
    object_class: u32,
    array_class: u32,
    promise_class: u32,
    to_json: JSAtom,
    then: JSAtom,
}

/// Why a value did not become JSON.
pub struct Refusal {
    pub status: Status,
    pub path: String,
    pub what: &'static str,
}

enum Segment {
    Key(JSAtom),
    Index(u32),
}

pub struct Encoder<'a> {
    context: Context,
    intrinsics: &'a Intrinsics,
    undefined: Undefined,
    limit: usize,
    /// The JSON text.
    pub out: Vec<u8>,
    /// Paths of undefined members, as written by `Undefined::Mark`.
    pub undefined_paths: Vec<String>,
    path: Vec<Segment>,
    ancestors: Vec<JSValue>,
}

impl Intrinsics {
    /// Captures them.
    ///
    /// # Safety
    /// `context` is live and no script has run in it.
    pub unsafe fn capture(context: Context) -> Option<Self> {
        // The references are kept for the life of the cell.
        // SAFETY: as promised by the caller.
        unsafe {
            let evaluate = |source: &core::ffi::CStr| {
                let value =
                    qjs::JS_Eval(context, source.as_ptr(), source.to_bytes().len() as _, c"<start>".as_ptr(), 0);
                (!qjs::JS_IsException(value)).then_some(value)
            };
            Some(Self {
                object_prototype: evaluate(c"Object.prototype")?,
                array_prototype: evaluate(c"Array.prototype")?,
                iterator_prototype: evaluate(c"Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))")?,
                async_iterator_prototype: evaluate(
                    c"Object.getPrototypeOf(Object.getPrototypeOf((async function* () {}).prototype))",
                )?,
                object_class: qjs::JS_GetClassID(evaluate(c"({})")?),
                array_class: qjs::JS_GetClassID(evaluate(c"[]")?),
                promise_class: qjs::JS_GetClassID(evaluate(c"Promise.resolve()")?),
                to_json: qjs::JS_NewAtom(context, c"toJSON".as_ptr()),
                then: qjs::JS_NewAtom(context, c"then".as_ptr()),
            })
        }
    }
}

impl<'a> Encoder<'a> {
    pub fn new(context: Context, intrinsics: &'a Intrinsics, undefined: Undefined, limit: usize) -> Self {
        Self {
            context,
            intrinsics,
            undefined,
            limit,
            out: Vec::with_capacity(256),
            undefined_paths: Vec::new(),
            path: Vec::new(),
            ancestors: Vec::new(),
        }
    }

    /// Writes the result of a callback.
    ///
    /// # Safety
    /// The context and `value` are live.
    pub unsafe fn result(&mut self, value: JSValue) -> Result<(), Refusal> {
        // SAFETY: as promised by the caller.
        unsafe {
            if qjs::JS_IsUndefined(value) {
                if self.undefined == Undefined::Mark {
                    return self.write_undefined();
                }
                return Err(self.refuse(Status::Undefined, "undefined"));
            }
            if qjs::JS_IsObject(value) && !qjs::JS_IsProxy(value) {
                if qjs::JS_GetClassID(value) == self.intrinsics.promise_class || self.is_thenable(value) {
                    return Err(self.refuse(Status::Promise, "a promise"));
                }
                if self.is_iterator(value) {
                    return Err(self.refuse(Status::Generator, "an iterator"));
                }
            }
            self.write(value)
        }
    }

    /// A function in `then`, wherever a prototype chain without proxies holds it as data.
    unsafe fn is_thenable(&self, value: JSValue) -> bool {
        // SAFETY: a live object; the descriptor's values are freed.
        unsafe {
            self.own_function(value, self.intrinsics.then) || self.prototype_function(value, self.intrinsics.then)
        }
    }

    unsafe fn own_function(&self, object: JSValue, name: JSAtom) -> bool {
        let mut descriptor = empty_descriptor();
        // SAFETY: a live object that is no proxy; the descriptor's values are freed.
        unsafe {
            if qjs::JS_GetOwnProperty(self.context, &mut descriptor, object, name) <= 0 {
                return false;
            }
            let callable = qjs::JS_IsFunction(self.context, descriptor.value);
            free_descriptor(self.context, &descriptor);
            callable
        }
    }

    unsafe fn prototype_function(&self, object: JSValue, name: JSAtom) -> bool {
        // SAFETY: each prototype is owned here until the next replaces it.
        unsafe {
            let mut found = false;
            self.walk_prototypes(object, |prototype| {
                found = self.own_function(prototype, name);
                found
            });
            found
        }
    }

    unsafe fn is_iterator(&self, value: JSValue) -> bool {
        let mut found = false;
        // SAFETY: a live object.
        unsafe {
            self.walk_prototypes(value, |prototype| {
                found = prototype == self.intrinsics.iterator_prototype
                    || prototype == self.intrinsics.async_iterator_prototype;
                found
            });
        }
        found
    }

    unsafe fn walk_prototypes(&self, object: JSValue, mut stop: impl FnMut(JSValue) -> bool) {
        // SAFETY: a live object that is no proxy; each prototype is owned here until the next replaces it.
        unsafe {
            let mut current = qjs::JS_GetPrototype(self.context, object);
            for _ in 0..MAX_PROTOTYPES {
                if !qjs::JS_IsObject(current) || qjs::JS_IsProxy(current) || stop(current) {
                    break;
                }
                let next = qjs::JS_GetPrototype(self.context, current);
                value::discard(self.context, current);
                current = next;
            }
            value::discard(self.context, current);
        }
    }

    unsafe fn write(&mut self, value: JSValue) -> Result<(), Refusal> {
        // SAFETY: tags are checked before payloads are read.
        unsafe {
            match qjs::JS_VALUE_GET_NORM_TAG(value) {
                qjs::JS_TAG_INT => self.write_integer(qjs::JS_VALUE_GET_INT(value)),
                qjs::JS_TAG_FLOAT64 => self.write_number(qjs::JS_VALUE_GET_FLOAT64(value)),
                qjs::JS_TAG_BOOL if qjs::JS_VALUE_GET_BOOL(value) => self.put(b"true"),
                qjs::JS_TAG_BOOL => self.put(b"false"),
                qjs::JS_TAG_NULL => self.put(b"null"),
                qjs::JS_TAG_STRING | qjs::JS_TAG_STRING_ROPE => self.write_string(value),
                qjs::JS_TAG_OBJECT => self.write_object(value),
                qjs::JS_TAG_SYMBOL => Err(self.refuse(Status::NotJson, "a symbol")),
                qjs::JS_TAG_BIG_INT | qjs::JS_TAG_SHORT_BIG_INT => Err(self.refuse(Status::NotJson, "a bigint")),
                qjs::JS_TAG_UNDEFINED => Err(self.refuse(Status::NotJson, "undefined")),
                _ => Err(self.refuse(Status::NotJson, "an unknown value")),
            }
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        if self.out.len() + bytes.len() > self.limit {
            return Err(self.refuse(Status::TooLarge, "too large"));
        }
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn write_integer(&mut self, number: i32) -> Result<(), Refusal> {
        let mut digits = [0u8; 11];
        let mut at = digits.len();
        let mut rest = number.unsigned_abs();
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            at -= 1;
            digits[at] = b'-';
        }
        self.put(&digits[at..])
    }

    fn write_number(&mut self, number: f64) -> Result<(), Refusal> {
        if !number.is_finite() {
            return Err(self.refuse(Status::NotJson, "a number that is not finite"));
        }
        // Adding zero makes -0 a 0.
        let mut buffer = ryu_js::Buffer::new();
        self.put(buffer.format_finite(number + 0.0).as_bytes())
    }

    unsafe fn write_string(&mut self, text: JSValue) -> Result<(), Refusal> {
        let mut length = 0usize;
        // SAFETY: QuickJS returns `length` bytes, which live until freed.
        unsafe {
            let bytes = qjs::JS_ToCStringLen(self.context, &mut length, text);
            if bytes.is_null() {
                value::discard(self.context, qjs::JS_EXCEPTION);
                return Err(self.refuse(Status::Memory, "a string"));
            }
            let result = self.write_text(core::slice::from_raw_parts(bytes.cast(), length));
            qjs::JS_FreeCString(self.context, bytes);
            result
        }
    }

    fn write_text(&mut self, text: &[u8]) -> Result<(), Refusal> {
        if self.out.len() + text.len() + 2 > self.limit {
            return Err(self.refuse(Status::TooLarge, "too large"));
        }
        if text.contains(&0xed) {
            let mut replaced = Vec::with_capacity(text.len());
            value::append_utf8(text, &mut replaced);
            value::append_json_string(&replaced, &mut self.out);
        } else {
            value::append_json_string(text, &mut self.out);
        }
        if self.out.len() > self.limit {
            return Err(self.refuse(Status::TooLarge, "too large"));
        }
        Ok(())
    }

    unsafe fn write_object(&mut self, object: JSValue) -> Result<(), Refusal> {
        // SAFETY: a live object; proxies are refused before anything could call their traps.
        unsafe {
            if qjs::JS_IsProxy(object) {
                return Err(self.refuse(Status::NotJson, "a proxy"));
            }
            if qjs::JS_IsFunction(self.context, object) {
                return Err(self.refuse(Status::NotJson, "a function"));
            }
            let class = qjs::JS_GetClassID(object);
            let is_array = class == self.intrinsics.array_class;
            if !is_array && class != self.intrinsics.object_class {
                return Err(self.refuse(Status::NotJson, self.describe(object)));
            }
            let prototype = qjs::JS_GetPrototype(self.context, object);
            let plain = if is_array {
                prototype == self.intrinsics.array_prototype
            } else {
                prototype == self.intrinsics.object_prototype || qjs::JS_IsNull(prototype)
            };
            let bare = qjs::JS_IsNull(prototype);
            value::discard(self.context, prototype);
            if !plain {
                let what = if self.is_iterator(object) { "an iterator" } else { "a class instance" };
                return Err(self.refuse(Status::NotJson, what));
            }
            let to_json = self.intrinsics.to_json;
            if self.own_function(object, to_json) || (!bare && self.prototype_function(object, to_json)) {
                return Err(self.refuse(Status::NotJson, "an object with a toJSON method"));
            }
            if self.ancestors.contains(&object) {
                return Err(self.refuse(Status::NotJson, "a cycle"));
            }
            if self.ancestors.len() == MAX_DEPTH {
                return Err(self.refuse(Status::NotJson, "nested more than 128 levels deep"));
            }
            self.ancestors.push(object);
            if is_array {
                self.write_items(object)?;
            } else {
                self.write_members(object)?;
            }
            self.ancestors.pop();
        }
        Ok(())
    }

    unsafe fn write_items(&mut self, array: JSValue) -> Result<(), Refusal> {
        let mut length = 0i64;
        // SAFETY: a live array; its length is a data property of its own.
        unsafe {
            if qjs::JS_GetLength(self.context, array, &mut length) < 0 {
                value::discard(self.context, qjs::JS_EXCEPTION);
                return Err(self.refuse(Status::NotJson, "an array without a length"));
            }
        }
        self.put(b"[")?;
        for index in 0..length as u32 {
            if index > 0 {
                self.put(b",")?;
            }
            self.path.push(Segment::Index(index));
            // SAFETY: a live array; the atom is freed.
            unsafe {
                let atom = qjs::JS_NewAtomUInt32(self.context, index);
                let result = self.write_property(array, atom, &[]);
                qjs::JS_FreeAtom(self.context, atom);
                result?;
            }
            self.path.pop();
        }
        self.put(b"]")
    }

    unsafe fn write_members(&mut self, object: JSValue) -> Result<(), Refusal> {
        let mut table: *mut qjs::JSPropertyEnum = core::ptr::null_mut();
        let mut count = 0u32;
        let what = qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_SYMBOL_MASK | qjs::JS_GPN_ENUM_ONLY;
        // SAFETY: a live object; the table is freed below, with its atoms.
        let result = unsafe {
            if qjs::JS_GetOwnPropertyNames(self.context, &mut table, &mut count, object, what as i32) < 0 {
                value::discard(self.context, qjs::JS_EXCEPTION);
                return Err(self.refuse(Status::Memory, "an object"));
            }
            let members = if count == 0 { &[][..] } else { core::slice::from_raw_parts(table, count as usize) };
            let result = self.write_table(object, members);
            qjs::JS_FreePropertyEnum(self.context, table, count);
            result
        };
        result
    }

    unsafe fn write_table(&mut self, object: JSValue, members: &[qjs::JSPropertyEnum]) -> Result<(), Refusal> {
        self.put(b"{")?;
        let mut key = Vec::new();
        let start = self.out.len();
        for member in members {
            key.clear();
            if self.out.len() > start {
                key.push(b',');
            }
            // SAFETY: a live atom; its value is freed.
            unsafe {
                let name = qjs::JS_AtomToValue(self.context, member.atom);
                if qjs::JS_IsSymbol(name) {
                    value::discard(self.context, name);
                    return Err(self.refuse(Status::NotJson, "a symbol as a key"));
                }
                let mut length = 0usize;
                let text = qjs::JS_ToCStringLen(self.context, &mut length, name);
                value::discard(self.context, name);
                if text.is_null() {
                    value::discard(self.context, qjs::JS_EXCEPTION);
                    return Err(self.refuse(Status::Memory, "a key"));
                }
                let bytes = core::slice::from_raw_parts(text.cast::<u8>(), length);
                let fits = self.out.len() + length <= self.limit;
                if fits && bytes.contains(&0xed) {
                    let mut replaced = Vec::with_capacity(length);
                    value::append_utf8(bytes, &mut replaced);
                    value::append_json_string(&replaced, &mut key);
                } else if fits {
                    value::append_json_string(bytes, &mut key);
                }
                qjs::JS_FreeCString(self.context, text);
                if !fits {
                    return Err(self.refuse(Status::TooLarge, "too large"));
                }
                key.push(b':');
                self.path.push(Segment::Key(member.atom));
                self.write_property(object, member.atom, &key)?;
                self.path.pop();
            }
        }
        self.put(b"}")
    }

    /// Writes `lead` and the property, or nothing where an undefined member is left out.
    unsafe fn write_property(&mut self, object: JSValue, atom: JSAtom, lead: &[u8]) -> Result<(), Refusal> {
        let mut descriptor = empty_descriptor();
        let is_item = lead.is_empty();
        // SAFETY: a live object that is no proxy; the descriptor's values are freed.
        unsafe {
            let found = qjs::JS_GetOwnProperty(self.context, &mut descriptor, object, atom);
            if found < 0 {
                value::discard(self.context, qjs::JS_EXCEPTION);
                return Err(self.refuse(Status::NotJson, "an unreadable property"));
            }
            if found == 0 {
                if self.undefined == Undefined::Mark {
                    self.put(lead)?;
                    return self.write_undefined();
                }
                return Err(self.refuse(Status::NotJson, "a hole in an array"));
            }
            let result = if descriptor.flags & qjs::JS_PROP_GETSET as i32 != 0 {
                Err(self.refuse(Status::NotJson, "an accessor"))
            } else if qjs::JS_IsUndefined(descriptor.value) {
                match self.undefined {
                    Undefined::Mark => self.put(lead).and_then(|()| self.write_undefined()),
                    Undefined::Omit if is_item => Err(self.refuse(Status::NotJson, "undefined")),
                    Undefined::Omit => Ok(()),
                }
            } else {
                self.put(lead).and_then(|()| self.write(descriptor.value))
            };
            free_descriptor(self.context, &descriptor);
            result
        }
    }

    fn write_undefined(&mut self) -> Result<(), Refusal> {
        if self.undefined_paths.len() < MAX_UNDEFINED {
            let path = self.render_path();
            self.undefined_paths.push(path);
        }
        self.put(b"null")
    }

    fn refuse(&self, status: Status, what: &'static str) -> Refusal {
        Refusal { status, path: self.render_path(), what }
    }

    /// The path as the spec writes it: `$.items[2].price`, with quotes where a key is not a plain name.
    fn render_path(&self) -> String {
        let mut path = String::from("$");
        for segment in &self.path {
            if path.len() > MAX_PATH_BYTES {
                break;
            }
            match segment {
                Segment::Index(index) => {
                    path.push('[');
                    path.push_str(&index.to_string());
                    path.push(']');
                }
                Segment::Key(atom) => {
                    let mut key = Vec::new();
                    // SAFETY: the table that holds the atom is alive while its member is on the path.
                    unsafe {
                        let name = qjs::JS_AtomToValue(self.context, *atom);
                        value::append_text(self.context, name, &mut key, MAX_PATH_BYTES);
                        value::discard(self.context, name);
                    }
                    let plain = key.first().is_some_and(|byte| !byte.is_ascii_digit())
                        && key.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'$');
                    if plain {
                        path.push('.');
                        path.push_str(&String::from_utf8_lossy(&key));
                    } else {
                        let mut quoted = Vec::new();
                        value::append_json_string(&key, &mut quoted);
                        path.push('[');
                        path.push_str(&String::from_utf8_lossy(&quoted));
                        path.push(']');
                    }
                }
            }
        }
        if path.len() > MAX_PATH_BYTES {
            path.truncate(path.floor_char_boundary(MAX_PATH_BYTES));
            path.push('…');
        }
        path
    }

    /// A name for an object that is neither a plain object nor an array.
    unsafe fn describe(&self, object: JSValue) -> &'static str {
        // SAFETY: a live object; these only look at its class.
        unsafe {
            if qjs::JS_GetClassID(object) == self.intrinsics.promise_class {
                "a promise"
            } else if qjs::JS_IsMap(object) {
                "a Map"
            } else if qjs::JS_IsSet(object) {
                "a Set"
            } else if qjs::JS_IsDate(object) {
                "a Date"
            } else if qjs::JS_IsRegExp(object) {
                "a RegExp"
            } else if qjs::JS_IsArrayBuffer(object) {
                "an ArrayBuffer"
            } else if qjs::JS_GetTypedArrayType(object) >= 0 || qjs::JS_IsDataView(object) {
                "a typed array"
            } else if qjs::JS_IsError(object) {
                "an Error"
            } else if self.is_iterator(object) {
                "an iterator"
            } else {
                "a class instance"
            }
        }
    }
}

fn empty_descriptor() -> qjs::JSPropertyDescriptor {
    qjs::JSPropertyDescriptor {
        flags: 0,
        value: qjs::JS_UNDEFINED,
        getter: qjs::JS_UNDEFINED,
        setter: qjs::JS_UNDEFINED,
    }
}

unsafe fn free_descriptor(context: Context, descriptor: &qjs::JSPropertyDescriptor) {
    // SAFETY: QuickJS hands over one reference to each.
    unsafe {
        qjs::JS_FreeValue(context, descriptor.value);
        qjs::JS_FreeValue(context, descriptor.getter);
        qjs::JS_FreeValue(context, descriptor.setter);
    }
}

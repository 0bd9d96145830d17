//! The contract between host and guest: one fixed area of the guest's memory, and the numbers written into it.
//!
//! The guest compiles this very file (`guest/src/lib.rs` includes it), so both sides agree by construction. Everything
//! is little-endian. The host writes a request and the arguments right behind it, calls `call`, and reads the response;
//! a small call therefore touches one page of exchange memory. The host trusts nothing it reads here.

/// Bytes of arguments a call may carry: 256 KiB of JSON (CB-90).
pub const MAX_ARGUMENT_BYTES: usize = 256 * 1024;
/// Bytes of result a call may return: 128 KiB of JSON (CB-89).
pub const MAX_RESULT_BYTES: usize = 128 * 1024;
/// Bytes of console output kept per call (D-26).
pub const MAX_LOG_BYTES: usize = 8 * 1024;
/// Memory QuickJS may hold at once: 64 MiB (CB-87).
pub const MAX_MEMORY_BYTES: usize = 64 * 1024 * 1024;
/// Stack QuickJS may use: 512 KiB (CB-88).
pub const MAX_STACK_BYTES: usize = 512 * 1024;
/// Containers a result may nest (D-34).
pub const MAX_DEPTH: usize = 128;
/// Bytes a harvested declaration may have; compile time only.
pub const MAX_DECLARATION_BYTES: usize = 8 * 1024 * 1024;

/// Where the request begins, from the start of the exchange area.
pub const REQUEST_OFFSET: usize = 0;
/// Where the response begins.
pub const RESPONSE_OFFSET: usize = 64;
/// Where the arguments begin: right behind the two records.
pub const ARGUMENTS_OFFSET: usize = 128;
/// Room behind the arguments and in front of the result: a terminating NUL, and the result's alignment.
pub const RESULT_GAP: usize = 8;
/// Size of the whole exchange area.
pub const EXCHANGE_BYTES: usize = ARGUMENTS_OFFSET + MAX_ARGUMENT_BYTES + RESULT_GAP + MAX_RESULT_BYTES + RESULT_GAP;

/// What the host asks for. 44 bytes, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Request {
    /// The clock for the whole call, in milliseconds since 1970.
    pub clock_millis: f64,
    /// Seed of `Math.random`.
    pub seed: u64,
    /// Index into the bundle's callbacks.
    pub callback: u32,
    /// Bytes of JSON behind the two records.
    pub argument_bytes: u32,
    /// A combination of the `REQUEST_*` bits.
    pub flags: u32,
    /// Most bytes the result may have.
    pub result_limit: u32,
    /// Most bytes QuickJS may hold.
    pub memory_limit: u32,
    /// Most bytes of stack QuickJS may use.
    pub stack_limit: u32,
    /// Most bytes of console output to keep.
    pub log_limit: u32,
}

/// The single argument loses its prototype: score records (1.4, EV-99).
pub const REQUEST_NULL_PROTOTYPE: u32 = 1;
/// Undefined members are listed by path instead of left out: selectors (4.3).
pub const REQUEST_MARK_UNDEFINED: u32 = 2;
/// The text of an exception may leave the cell: the author's own machine only (D-41).
pub const REQUEST_REVEAL: u32 = 4;

/// What the guest answers besides its status. 32 bytes, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// Where the result (or the detail of a failure) lies in memory.
    pub result_offset: u32,
    /// Its length in bytes.
    pub result_bytes: u32,
    /// Where the console output lies.
    pub log_offset: u32,
    /// Its length in bytes.
    pub log_bytes: u32,
    /// The most memory QuickJS held at once, in bytes.
    pub peak_memory: u32,
    /// A combination of the `RESPONSE_*` bits.
    pub flags: u32,
    /// Where the undefined members are listed: JSON, an array of paths.
    pub undefined_offset: u32,
    /// Its length in bytes.
    pub undefined_bytes: u32,
}

/// Where in the response the guest keeps `peak_memory` while it runs.
pub const RESPONSE_PEAK_OFFSET: usize = 16;
/// Where in the response it keeps `flags`.
pub const RESPONSE_FLAGS_OFFSET: usize = 20;

/// An allocation failed, whether or not the callback noticed (D-39).
pub const RESPONSE_OUT_OF_MEMORY: u32 = 1;
/// The clock was read.
pub const RESPONSE_CLOCK_USED: u32 = 2;
/// `Math.random` was called.
pub const RESPONSE_RANDOM_USED: u32 = 4;
/// Console output was cut at the limit.
pub const RESPONSE_LOG_TRUNCATED: u32 = 8;
/// The clock was asked for while disabled (compile time, D-25).
pub const RESPONSE_CLOCK_REFUSED: u32 = 16;
/// `Math.random` was called while disabled (compile time, D-25).
pub const RESPONSE_RANDOM_REFUSED: u32 = 32;

/// How a call or an evaluation ended. The discriminants are the guest's return values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Status {
    /// The result is JSON.
    Ok = 0,
    /// The code threw; the detail is `{"name","message","stack"}` if it may leave the cell.
    Threw = 1,
    /// The result is a promise or a thenable, or jobs are pending.
    Promise = 2,
    /// The result is a generator or another iterator.
    Generator = 3,
    /// The result is undefined.
    Undefined = 4,
    /// The result holds something JSON cannot carry; the detail is `{"path","what"}`.
    NotJson = 5,
    /// The result is longer than the limit.
    TooLarge = 6,
    /// The memory limit was hit.
    Memory = 7,
    /// The stack limit was hit and nothing caught the error.
    Stack = 8,
    /// There is no callback with that index.
    UnknownCallback = 9,
    /// The arguments are not JSON.
    ArgumentsNotJson = 10,
    /// A module waits at its top level, or left jobs behind.
    TopLevelAwait = 11,
}

impl Status {
    /// The status behind a number that the guest returned, if it is one.
    pub fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            0 => Self::Ok,
            1 => Self::Threw,
            2 => Self::Promise,
            3 => Self::Generator,
            4 => Self::Undefined,
            5 => Self::NotJson,
            6 => Self::TooLarge,
            7 => Self::Memory,
            8 => Self::Stack,
            9 => Self::UnknownCallback,
            10 => Self::ArgumentsNotJson,
            11 => Self::TopLevelAwait,
            _ => return None,
        })
    }
}

impl Request {
    /// Size in memory.
    pub const BYTES: usize = 44;

    /// As the guest reads it.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.clock_millis.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.seed.to_le_bytes());
        let words = [
            self.callback,
            self.argument_bytes,
            self.flags,
            self.result_limit,
            self.memory_limit,
            self.stack_limit,
            self.log_limit,
        ];
        for (slot, word) in bytes[16..].chunks_exact_mut(4).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// As the host wrote it.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        Self {
            clock_millis: f64::from_bits(long(0)),
            seed: long(8),
            callback: word(16),
            argument_bytes: word(20),
            flags: word(24),
            result_limit: word(28),
            memory_limit: word(32),
            stack_limit: word(36),
            log_limit: word(40),
        }
    }
}

impl Response {
    /// Size in memory.
    pub const BYTES: usize = 32;

    /// As the host reads it.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let words = [
            self.result_offset,
            self.result_bytes,
            self.log_offset,
            self.log_bytes,
            self.peak_memory,
            self.flags,
            self.undefined_offset,
            self.undefined_bytes,
        ];
        for (slot, word) in bytes.chunks_exact_mut(4).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// As the guest wrote it.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Self {
            result_offset: word(0),
            result_bytes: word(4),
            log_offset: word(8),
            log_bytes: word(12),
            peak_memory: word(16),
            flags: word(20),
            undefined_offset: word(24),
            undefined_bytes: word(28),
        }
    }
}

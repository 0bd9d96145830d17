//! Time and chance: the two things the host tells a call. Both are disabled while modules are evaluated (D-25).
//!
//! The clock stands still during a call. A script that could watch it move could measure its neighbours, and its fuel
//! would not repeat.

use std::cell::Cell;

struct State {
    millis: Cell<f64>,
    random: Cell<u64>,
    disabled: Cell<bool>,
    flags: Cell<u32>,
}

// SAFETY: the guest has exactly one thread.
unsafe impl Sync for State {}

static STATE: State =
    State { millis: Cell::new(0.0), random: Cell::new(0), disabled: Cell::new(true), flags: Cell::new(0) };

/// Starts a call with the host's clock and seed.
pub fn begin(millis: f64, seed: u64) {
    STATE.millis.set(millis);
    STATE.random.set(seed);
    STATE.disabled.set(false);
    STATE.flags.set(0);
}

/// Disables both while modules are evaluated.
pub fn disable() {
    STATE.disabled.set(true);
    STATE.flags.set(0);
}

/// What was used, and what was refused: `RESPONSE_CLOCK_*` and `RESPONSE_RANDOM_*`.
pub fn flags() -> u32 {
    STATE.flags.get()
}

fn note(flag: u32) {
    STATE.flags.set(STATE.flags.get() | flag);
}

/// libc's `timeval` on wasi.
#[repr(C)]
struct Timeval {
    seconds: i64,
    micros: i64,
}

/// The clock for QuickJS, in libc's place: wasi's own clock cannot tell times before 1970. Reading it while disabled gives
/// 1970; scripts are stopped earlier, by `refuse_clock`.
#[unsafe(no_mangle)]
unsafe extern "C" fn gettimeofday(time: *mut Timeval, _zone: *mut core::ffi::c_void) -> i32 {
    let millis = if STATE.disabled.get() {
        0
    } else {
        note(crate::abi::RESPONSE_CLOCK_USED);
        STATE.millis.get() as i64
    };
    // SAFETY: the caller passes a place of its own.
    unsafe { *time = Timeval { seconds: millis.div_euclid(1000), micros: millis.rem_euclid(1000) * 1000 } };
    0
}

/// Whether a script may not read the clock now. Says so to the host.
pub fn refuse_clock() -> bool {
    if STATE.disabled.get() {
        note(crate::abi::RESPONSE_CLOCK_REFUSED);
    }
    STATE.disabled.get()
}

/// The next number of the sequence, in [0, 1), or nothing while disabled.
pub fn random() -> Option<f64> {
    if STATE.disabled.get() {
        note(crate::abi::RESPONSE_RANDOM_REFUSED);
        return None;
    }
    note(crate::abi::RESPONSE_RANDOM_USED);
    // SplitMix64 (Steele, Lea, Flood, 2014): every seed is a good one, and one word of state is all it needs.
    let state = STATE.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    STATE.random.set(state);
    let mut bits = state;
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    Some((bits >> 11) as f64 / (1u64 << 53) as f64)
}

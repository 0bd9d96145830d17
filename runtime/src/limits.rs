//! What one call may use. A deployment may lower any of these; nothing may raise them (CB-91, CB-93).

use crate::abi;
use std::time::Duration;

/// The limits of one call.
///
/// [`Limits::default`] is what the platform allows: 2 s, 20,000,000,000 fuel, 64 MiB of QuickJS memory, 512 KiB of stack,
/// 256 KiB of arguments, 128 KiB of result (spec 3.3). Larger values are lowered to these wherever a call begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall clock, from before the cell exists until its result is read. Waiting for a free cell does not count.
    pub time: Duration,
    /// WebAssembly work. About 10,800,000,000 fuel are one second on the reference machine.
    pub fuel: u64,
    /// Bytes QuickJS may hold at once, the bundle and the arguments among them.
    pub memory_bytes: usize,
    /// Bytes of stack QuickJS may use.
    pub stack_bytes: usize,
    /// Bytes of the arguments as compact JSON.
    pub argument_bytes: usize,
    /// Bytes of the result as compact JSON.
    pub result_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(2),
            fuel: 20_000_000_000,
            memory_bytes: abi::MAX_MEMORY_BYTES,
            stack_bytes: abi::MAX_STACK_BYTES,
            argument_bytes: abi::MAX_ARGUMENT_BYTES,
            result_bytes: abi::MAX_RESULT_BYTES,
        }
    }
}

impl Limits {
    /// The smaller of both, limit by limit.
    pub fn lowered_to(self, other: Self) -> Self {
        Self {
            time: self.time.min(other.time),
            fuel: self.fuel.min(other.fuel),
            memory_bytes: self.memory_bytes.min(other.memory_bytes),
            stack_bytes: self.stack_bytes.min(other.stack_bytes),
            argument_bytes: self.argument_bytes.min(other.argument_bytes),
            result_bytes: self.result_bytes.min(other.result_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // CB-91
    #[test]
    fn a_limit_can_be_lowered_and_never_raised() {
        let tight = Limits { fuel: 7, ..Limits::default() };
        let loose = Limits { fuel: u64::MAX, memory_bytes: usize::MAX, ..Limits::default() };
        assert_eq!(Limits::default().lowered_to(tight).fuel, 7);
        assert_eq!(Limits::default().lowered_to(loose), Limits::default());
        assert_eq!(tight.lowered_to(loose), tight);
    }
}

//! The allocator of a heap that dies with its call.
//!
//! Small blocks come from free lists by size class over chunks that are only ever bumped, so what one call allocates
//! lies together on few fresh pages; a general allocator would spread it over the image's holes. Large blocks go to
//! libc. Everything is counted against one limit, because QuickJS's own limit cannot tell us that a failed allocation
//! was swallowed by the script (D-39), and because on wasi it looks at single allocations only.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;

const GRANULE: usize = 8;
/// Blocks up to here have a class for every multiple of eight.
const FINE_LIMIT: usize = 512;
const FINE_CLASSES: usize = FINE_LIMIT / GRANULE;
/// Blocks up to here have four classes for every doubling.
const SMALL_LIMIT: usize = 8192;
const CLASSES: usize = FINE_CLASSES + 16;
const CHUNK_BYTES: usize = 64 * 1024;
/// Untouched memory that a sealed image ends with. Growing a memory takes a lock of the whole process, so a call that
/// needs no more than this does not wait for its neighbours.
const SPARE_BYTES: usize = 512 * 1024;

/// The one allocator of the guest.
pub struct CellAllocator {
    state: UnsafeCell<State>,
}

struct State {
    /// Next free byte of the current chunk, and its end.
    bump: usize,
    end: usize,
    /// Heads of the free lists; 0 is empty.
    free: [usize; CLASSES],
    in_use: usize,
    peak: usize,
    limit: usize,
    /// Off while Rust code of ours runs on behalf of a script that may already be at its limit.
    enforced: bool,
    /// An allocation was refused since the flag was last cleared.
    refused: bool,
    /// While an image is built freed memory is zeroed, so that the image has fewer pages.
    wipe: bool,
}

// SAFETY: the guest has exactly one thread; wasm32-wasip1 offers no other.
unsafe impl Sync for CellAllocator {}

fn class_of(size: usize) -> usize {
    if size <= FINE_LIMIT {
        return (size.max(1) - 1) / GRANULE;
    }
    let doubling = (usize::BITS - 1 - (size - 1).leading_zeros()) as usize;
    let quarter = (size - 1) >> (doubling - 2) & 3;
    FINE_CLASSES + (doubling - 9) * 4 + quarter
}

fn class_bytes(class: usize) -> usize {
    if class < FINE_CLASSES {
        return (class + 1) * GRANULE;
    }
    let (doubling, quarter) = ((class - FINE_CLASSES) / 4 + 9, (class - FINE_CLASSES) % 4);
    (4 + quarter + 1) << (doubling - 2)
}

impl CellAllocator {
    /// An allocator without a limit.
    pub const fn new() -> Self {
        Self {
            state: UnsafeCell::new(State {
                bump: 0,
                end: 0,
                free: [0; CLASSES],
                in_use: 0,
                peak: 0,
                limit: usize::MAX,
                enforced: false,
                refused: false,
                wipe: true,
            }),
        }
    }

    #[allow(clippy::mut_from_ref)]
    fn state(&self) -> &mut State {
        // SAFETY: one thread, and no method keeps the reference across a call that could come back here.
        unsafe { &mut *self.state.get() }
    }

    /// Starts a call: sets the limit, forgets the peak and every refusal.
    pub fn begin(&self, limit: usize) {
        let state = self.state();
        state.limit = limit;
        state.peak = state.in_use;
        state.refused = false;
        state.enforced = true;
    }

    /// The most bytes held since `begin`.
    pub fn peak(&self) -> usize {
        self.state().peak
    }

    /// Whether an allocation failed since `begin`.
    pub fn refused(&self) -> bool {
        self.state().refused
    }

    /// Runs Rust code of ours beyond the limit: a script at its limit must still be able to learn so.
    pub fn unlimited<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = core::mem::replace(&mut self.state().enforced, false);
        let value = work();
        self.state().enforced = before;
        value
    }

    /// Ends the building of an image. Freed blocks lie scattered over the image's pages; forgetting them makes every
    /// later allocation come from fresh, neighbouring ones.
    pub fn seal(&self) {
        // SAFETY: the layout has a size and a valid alignment.
        let chunk = unsafe { System.alloc(Layout::from_size_align_unchecked(SPARE_BYTES, 4096)) } as usize;
        let state = self.state();
        if chunk != 0 {
            state.bump = chunk;
            state.end = chunk + SPARE_BYTES;
        }
        state.free = [0; CLASSES];
        state.wipe = false;
    }

    /// Resumes building on top of a sealed image.
    pub fn unseal(&self) {
        self.state().wipe = true;
    }

    #[inline]
    fn charge(&self, bytes: usize) -> bool {
        let state = self.state();
        let in_use = state.in_use + bytes;
        if in_use > state.limit && state.enforced {
            return self.refuse();
        }
        state.in_use = in_use;
        if in_use > state.peak {
            state.peak = in_use;
        }
        true
    }

    /// Tells the host at once, because what follows may be a trap.
    #[cold]
    fn refuse(&self) -> bool {
        let state = self.state();
        state.refused = true;
        crate::note_memory(state.peak, true);
        false
    }

    #[inline]
    fn take(&self, class: usize) -> *mut u8 {
        let bytes = class_bytes(class);
        if !self.charge(bytes) {
            return core::ptr::null_mut();
        }
        let state = self.state();
        let head = state.free[class];
        if head != 0 {
            // SAFETY: the head of a free list is a block of this class, whose first word is the next head.
            state.free[class] = unsafe { *(head as *const usize) };
            return head as *mut u8;
        }
        if state.bump + bytes <= state.end {
            let block = state.bump;
            state.bump += bytes;
            return block as *mut u8;
        }
        self.take_from_new_chunk(bytes)
    }

    #[cold]
    fn take_from_new_chunk(&self, bytes: usize) -> *mut u8 {
        // SAFETY: the layout has a size and a valid alignment.
        let chunk = unsafe { System.alloc(Layout::from_size_align_unchecked(CHUNK_BYTES, 16)) } as usize;
        let state = self.state();
        if chunk == 0 {
            state.in_use -= bytes;
            self.refuse();
            return core::ptr::null_mut();
        }
        crate::note_memory(state.peak, false);
        state.bump = chunk + bytes;
        state.end = chunk + CHUNK_BYTES;
        chunk as *mut u8
    }

    #[inline]
    fn give_back(&self, block: *mut u8, class: usize) {
        let state = self.state();
        let bytes = class_bytes(class);
        state.in_use -= bytes;
        // SAFETY: the block belongs to the caller and has at least one word.
        unsafe {
            if state.wipe {
                core::ptr::write_bytes(block, 0, bytes);
            }
            *(block as *mut usize) = state.free[class];
        }
        state.free[class] = block as usize;
    }
}

// SAFETY: blocks are disjoint, as large as asked for and aligned to eight; larger alignments and sizes go to libc.
unsafe impl GlobalAlloc for CellAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() <= SMALL_LIMIT && layout.align() <= GRANULE {
            return self.take(class_of(layout.size()));
        }
        if !self.charge(layout.size()) {
            return core::ptr::null_mut();
        }
        // SAFETY: the caller's layout.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() {
            self.state().in_use -= layout.size();
            self.refuse();
        }
        crate::note_memory(self.state().peak, false);
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.size() <= SMALL_LIMIT && layout.align() <= GRANULE {
            self.give_back(block, class_of(layout.size()));
            return;
        }
        let state = self.state();
        state.in_use -= layout.size();
        // SAFETY: the block came from `System` with this layout.
        unsafe {
            if state.wipe {
                core::ptr::write_bytes(block, 0, layout.size());
            }
            System.dealloc(block, layout);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let small = layout.size() <= SMALL_LIMIT && layout.align() <= GRANULE;
        let stays_small = new_size <= SMALL_LIMIT && layout.align() <= GRANULE;
        if small && stays_small && class_of(layout.size()) == class_of(new_size) {
            return block;
        }
        if !small && !stays_small {
            let state = self.state();
            state.in_use -= layout.size();
            if !self.charge(new_size) {
                self.state().in_use += layout.size();
                return core::ptr::null_mut();
            }
            // SAFETY: the block came from `System` with this layout.
            let moved = unsafe { System.realloc(block, layout, new_size) };
            if moved.is_null() {
                let state = self.state();
                state.in_use = state.in_use - new_size + layout.size();
                self.refuse();
            }
            crate::note_memory(self.state().peak, false);
            return moved;
        }
        // SAFETY: the alignment is the caller's; both blocks are live and as long as the shorter size.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
            if !moved.is_null() {
                core::ptr::copy_nonoverlapping(block, moved, layout.size().min(new_size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

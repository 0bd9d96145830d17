//! The system calls libc and Rust's standard library would import, answered inside the guest.
//!
//! The linker finds these definitions under the names of the imports, so the finished module imports nothing but its
//! memory: there is no host function to call, whatever happens inside. They answer "not supported"; QuickJS's clock is in `clock.rs`.

const NOT_SUPPORTED: i32 = 58;

macro_rules! not_supported {
    ($($name:ident($($argument:ident: $kind:ty),*));* $(;)?) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $kind),*) -> i32 {
            let _ = ($($argument,)*);
            NOT_SUPPORTED
        }
    )*};
}

not_supported! {
    __imported_wasi_snapshot_preview1_args_get(argv: i32, buffer: i32);
    __imported_wasi_snapshot_preview1_args_sizes_get(count: i32, bytes: i32);
    __imported_wasi_snapshot_preview1_fd_close(fd: i32);
    __imported_wasi_snapshot_preview1_fd_fdstat_get(fd: i32, stat: i32);
    __imported_wasi_snapshot_preview1_fd_fdstat_set_flags(fd: i32, flags: i32);
    __imported_wasi_snapshot_preview1_fd_filestat_get(fd: i32, stat: i32);
    __imported_wasi_snapshot_preview1_fd_prestat_dir_name(fd: i32, path: i32, length: i32);
    __imported_wasi_snapshot_preview1_fd_read(fd: i32, vectors: i32, count: i32, read: i32);
    __imported_wasi_snapshot_preview1_fd_seek(fd: i32, offset: i64, whence: i32, position: i32);
    __imported_wasi_snapshot_preview1_fd_write(fd: i32, vectors: i32, count: i32, written: i32);
    __imported_wasi_snapshot_preview1_path_open(fd: i32, lookup: i32, path: i32, length: i32, open: i32, base: i64, inheriting: i64, flags: i32, opened: i32);
    __imported_wasi_snapshot_preview1_poll_oneoff(subscriptions: i32, events: i32, count: i32, ready: i32);
    __imported_wasi_snapshot_preview1_random_get(buffer: i32, length: i32);
}

/// No preopened directory: libc's start-up stops looking at the first "bad file descriptor".
#[unsafe(no_mangle)]
extern "C" fn __imported_wasi_snapshot_preview1_fd_prestat_get(_fd: i32, _prestat: i32) -> i32 {
    8
}

/// No environment.
#[unsafe(no_mangle)]
unsafe extern "C" fn __imported_wasi_snapshot_preview1_environ_sizes_get(count: *mut u32, bytes: *mut u32) -> i32 {
    // SAFETY: libc passes two words of its own.
    unsafe {
        *count = 0;
        *bytes = 0;
    }
    0
}

#[unsafe(no_mangle)]
extern "C" fn __imported_wasi_snapshot_preview1_environ_get(_environ: i32, _buffer: i32) -> i32 {
    0
}

/// The monotonic clock, which QuickJS asks for when it makes a context and scripts cannot reach: it stands at zero.
#[unsafe(no_mangle)]
unsafe extern "C" fn __imported_wasi_snapshot_preview1_clock_time_get(
    _clock: i32,
    _precision: i64,
    time: *mut u64,
) -> i32 {
    // SAFETY: libc passes a word of its own.
    unsafe { *time = 0 };
    0
}

#[unsafe(no_mangle)]
extern "C" fn __imported_wasi_snapshot_preview1_proc_exit(_code: i32) -> ! {
    core::arch::wasm32::unreachable()
}

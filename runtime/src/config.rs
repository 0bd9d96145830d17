//! How an engine is set up.

use crate::limits::Limits;
use std::path::PathBuf;

/// Options of an engine.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Calls that may run at once; further ones wait in order. Each costs about 2.3 MiB of address space for its stack,
    /// and memory only while it runs. Default: 256.
    pub cells: u32,
    /// Memories kept mapped for the bundles used last. One costs 4 GiB of address space and, while it is warm, about
    /// 0.3 MiB of memory. Never fewer than `cells`. Default: 2,048.
    pub warm_memories: u32,
    /// Whether callbacks may run at all. With `false` every call fails with `R_SCRIPTS_DISABLED` (CB-94). Default: true.
    pub scripts_enabled: bool,
    /// Limits of every call. Values above the platform's have no effect (CB-91). Default: the platform's.
    pub limits: Limits,
    /// How memory is reset between calls. Default: [`Reset::Auto`].
    pub reset: Reset,
    /// How a bundle's image gets into a cell. Default: [`ImagePolicy::Adaptive`].
    pub images: ImagePolicy,
    /// Where the compiled engine is kept between processes. The folder holds native code: whoever can write there can run
    /// code as this process. Ignored without the feature `compiler`. Default: none, the engine is compiled every time.
    pub cache_dir: Option<PathBuf>,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            cells: 256,
            warm_memories: 2048,
            scripts_enabled: true,
            limits: Limits::default(),
            reset: Reset::Auto,
            images: ImagePolicy::Adaptive,
            cache_dir: None,
        }
    }
}

impl EngineConfig {
    /// A small pool, for a process that makes a few calls and ends.
    pub fn one_shot() -> Self {
        Self { cells: 4, warm_memories: 4, ..Self::default() }
    }
}

/// How the memory of a finished cell becomes clean again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// [`Reset::PagemapScan`] where the kernel offers it and no swap is configured, else [`Reset::SwapSafe`].
    Auto,
    /// The whole memory is given back to the kernel. Correct everywhere; 2 to 4 times the time per call.
    SwapSafe,
    /// The kernel tells which pages were written, and only those are restored. Pages that were swapped out meanwhile
    /// would be missed, so an engine refuses this where swap is configured.
    PagemapScan,
}

/// How a bundle's image gets into a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImagePolicy {
    /// The first calls of a bundle share the base image and write the bundle's own pages; a bundle that is used more gets
    /// an image of its own, built on the side. Without the feature `compiler` the same as [`ImagePolicy::Shared`].
    Adaptive,
    /// Every call writes the bundle's pages over the shared base image. No set-up cost, least memory.
    Shared,
    /// Every bundle gets an image of its own when it is loaded. Fastest calls.
    Own,
}

/// How an engine was set up, for logs and bug reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineReport {
    /// How memory is reset, decided at start.
    pub reset: Reset,
    /// Why, in words.
    pub reset_reason: String,
    /// Calls that may run at once.
    pub cells: u32,
    /// Calls that could start now without waiting.
    pub free_cells: usize,
    /// Where the engine's code came from.
    pub code: CodeOrigin,
    /// SHA-256 of the engine's header: names this engine, see `Engine::from_artifact`.
    pub digest: String,
}

/// Where an engine's code came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeOrigin {
    /// Compiled in this process.
    Compiled,
    /// Read from the cache folder.
    Cache,
    /// Loaded from a precompiled engine.
    Artifact,
}

/// Decides the reset. The error is a sentence.
pub(crate) fn decide_reset(wanted: Reset) -> Result<(Reset, String), String> {
    if wanted == Reset::SwapSafe {
        return Ok((Reset::SwapSafe, "configured".into()));
    }
    let obstacle = if !wasmtime::PoolingAllocationConfig::is_pagemap_scan_available() {
        Some("the kernel has no PAGEMAP_SCAN (Linux 6.7 and later have it)".to_owned())
    } else {
        match std::fs::read_to_string("/proc/swaps") {
            Ok(table) if table.lines().skip(1).any(|line| !line.trim().is_empty()) => {
                Some("swap is configured, and swapped-out pages would be missed".to_owned())
            }
            Ok(_) => None,
            Err(error) => Some(format!("/proc/swaps cannot be read ({error}), so swap cannot be ruled out")),
        }
    };
    match (obstacle, wanted) {
        (None, _) => Ok((Reset::PagemapScan, "no swap is configured".into())),
        (Some(obstacle), Reset::PagemapScan) => Err(format!("PagemapScan cannot be used: {obstacle}")),
        (Some(obstacle), _) => Ok((Reset::SwapSafe, obstacle)),
    }
}

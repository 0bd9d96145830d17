//! The engine: code compiled once, images shared by all cells, and the pool they come from.

use crate::artifact::{self, Artifact, Code};
use crate::cell::Cell;
use crate::config::{CodeOrigin, EngineConfig, EngineReport, Reset, decide_reset};
use crate::error::EngineError;
use crate::image::{Image, MAX_IMAGE_BYTES};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use tokio::sync::Semaphore;
use wasmtime::{Config, Enabled, InstanceAllocationStrategy, Module, PoolingAllocationConfig};

/// WebAssembly stack of a cell. Well above QuickJS's own limit, so that scripts see a catchable error first.
const WASM_STACK_BYTES: usize = 2 * 1024 * 1024;
/// Stack for wasmtime itself, below the guest's on the same fiber.
const HOST_STACK_BYTES: usize = 256 * 1024;
/// Memory of a finished cell that stays mapped for the next.
const KEEP_RESIDENT_BYTES: usize = 2 * 1024 * 1024;

/// What every bundle starts from: the engine with the SDK, or that with Zod in addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The SDK alone.
    Sdk,
    /// The SDK and Zod.
    Zod,
}

impl Base {
    /// Both.
    pub(crate) const ALL: [Self; 2] = [Self::Sdk, Self::Zod];

    /// The name in artifacts and bundles: `sdk` or `zod`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sdk => "sdk",
            Self::Zod => "zod",
        }
    }
}

/// A compiled engine and its pool of cells. Cloning is cheap and shares both.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub wasmtime: wasmtime::Engine,
    pub code: Module,
    pub exchange_offset: usize,
    pub config: EngineConfig,
    /// One permit per cell; waiters are served in order.
    pub cells: Arc<Semaphore>,
    artifact: Artifact,
    bases: [OnceLock<Module>; 2],
    /// What the base images hold, for comparing.
    base_memories: [OnceLock<Vec<u8>>; 2],
    reset: Reset,
    reset_reason: String,
    origin: CodeOrigin,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Engine").field("report", &self.report()).finish()
    }
}

impl Engine {
    /// An engine from the guest this crate carries. Compiling it takes about a second; with
    /// [`EngineConfig::cache_dir`] that happens once per machine.
    #[cfg(feature = "compiler")]
    pub fn new(config: EngineConfig) -> Result<Self, EngineError> {
        let (reset, reason) = decide_reset(config.reset).map_err(|message| EngineError::Wasmtime { message })?;
        let wasmtime = new_wasmtime(&config, reset)?;
        let cached = config.cache_dir.clone();
        let Some(folder) = cached else {
            let artifact = crate::build::build(&wasmtime)?;
            return Self::assemble(wasmtime, artifact, config, (reset, reason), CodeOrigin::Compiled);
        };
        let path = crate::build::cache_path(&folder);
        if let Ok(artifact) = Artifact::open_cache(&path)
            && artifact.header.key == crate::build::key()
            && let Ok(engine) =
                Self::assemble(wasmtime.clone(), artifact, config.clone(), (reset, reason.clone()), CodeOrigin::Cache)
        {
            return Ok(engine);
        }
        let artifact = crate::build::build(&wasmtime)?;
        artifact.store(&path)?;
        Self::assemble(wasmtime, artifact, config, (reset, reason), CodeOrigin::Compiled)
    }

    /// An engine from a file that [`Engine::to_artifact`] wrote, without a compiler in this process.
    ///
    /// The file holds native code, so `digest` must come from a place the caller trusts: it names exactly one engine, and
    /// a file that is not that engine, in any byte, is refused.
    pub fn from_artifact(path: &Path, digest: &str, config: EngineConfig) -> Result<Self, EngineError> {
        let (reset, reason) = decide_reset(config.reset).map_err(|message| EngineError::Wasmtime { message })?;
        let artifact = Artifact::open(path)?;
        if !artifact.digest.eq_ignore_ascii_case(digest.trim()) {
            let what = format!("its digest is {}, not the {} asked for", artifact.digest, digest.trim());
            return Err(EngineError::Artifact { what });
        }
        let wasmtime = new_wasmtime(&config, reset)?;
        Self::assemble(wasmtime, artifact, config, (reset, reason), CodeOrigin::Artifact)
    }

    /// This engine as a file for [`Engine::from_artifact`], and its digest. Such a file suits machines with this
    /// machine's instruction set and this build of wasmtime.
    #[cfg(feature = "compiler")]
    pub fn to_artifact(&self) -> Result<(Vec<u8>, String), EngineError> {
        Ok((self.inner.artifact.to_bytes()?, self.inner.artifact.digest.clone()))
    }

    fn assemble(
        wasmtime: wasmtime::Engine,
        artifact: Artifact,
        mut config: EngineConfig,
        (reset, reset_reason): (Reset, String),
        origin: CodeOrigin,
    ) -> Result<Self, EngineError> {
        let code = load(&wasmtime, &artifact, artifact::CODE)?;
        config.limits = config.limits.lowered_to(crate::limits::Limits::default());
        let inner = Inner {
            code,
            exchange_offset: artifact.header.exchange_offset as usize,
            cells: Arc::new(Semaphore::new(config.cells as usize)),
            config,
            artifact,
            bases: [OnceLock::new(), OnceLock::new()],
            base_memories: [OnceLock::new(), OnceLock::new()],
            wasmtime,
            reset,
            reset_reason,
            origin,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// How this engine was set up.
    pub fn report(&self) -> EngineReport {
        EngineReport {
            reset: self.inner.reset,
            reset_reason: self.inner.reset_reason.clone(),
            cells: self.inner.config.cells,
            free_cells: self.inner.cells.available_permits(),
            code: self.inner.origin,
            digest: self.inner.artifact.digest.clone(),
        }
    }

    /// The module of a base image, loaded when it is first needed.
    pub(crate) fn base(&self, base: Base) -> Result<&Module, EngineError> {
        let slot = &self.inner.bases[base as usize];
        if let Some(module) = slot.get() {
            return Ok(module);
        }
        let module = load(&self.inner.wasmtime, &self.inner.artifact, base.name())?;
        Ok(slot.get_or_init(|| module))
    }

    /// The memory of a base image, copied once from a cell that runs nothing.
    pub(crate) async fn base_memory(&self, base: Base) -> Result<&[u8], EngineError> {
        let slot = &self.inner.base_memories[base as usize];
        if slot.get().is_none() {
            let closed = |_| EngineError::Wasmtime { message: "the pool is closed".into() };
            let _permit = self.inner.cells.acquire().await.map_err(closed)?;
            let cell = self.cell(self.base(base)?, None, 0).map_err(EngineError::wasmtime)?;
            let _ = slot.set(cell.memory().to_vec());
        }
        Ok(slot.get().map_or(&[], Vec::as_slice))
    }

    /// Names a base image's contents. A bundle's image fits only the base it was made on.
    pub(crate) fn base_id(&self, base: Base) -> Option<&str> {
        let bases = &self.inner.artifact.header.bases;
        bases.iter().find(|(name, _)| name == base.name()).map(|(_, id)| id.as_str())
    }

    /// A cell on an image.
    pub(crate) fn cell(&self, image: &Module, pages: Option<&Image>, fuel: u64) -> Result<Cell, wasmtime::Error> {
        Cell::new(&self.inner.wasmtime, &self.inner.code, image, pages, fuel)
    }
}

/// Loads a section of native code.
fn load(wasmtime: &wasmtime::Engine, artifact: &Artifact, name: &str) -> Result<Module, EngineError> {
    let module = match artifact.code(name)? {
        // SAFETY: wasmtime demands bytes that `Module::serialize` wrote. These match the digest in a header that this
        // process made itself, or whose own digest the caller vouches for.
        Code::Checked(bytes) => unsafe { Module::deserialize(wasmtime, bytes) },
        // SAFETY: the same, from a folder that only its owner can write to and that `EngineConfig::cache_dir` names;
        // files there are replaced by renaming, never changed.
        #[cfg(feature = "compiler")]
        Code::Cached(path) => unsafe { Module::deserialize_file(wasmtime, path) },
    };
    module.map_err(EngineError::wasmtime)
}

/// wasmtime, set up the same way for every origin of code, or the code would not load.
pub(crate) fn new_wasmtime(config: &EngineConfig, reset: Reset) -> Result<wasmtime::Engine, EngineError> {
    let cells = config.cells.max(1);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_core_instances(cells.saturating_mul(2))
        .total_memories(config.warm_memories.max(cells))
        .total_tables(cells)
        .total_stacks(cells)
        .max_unused_warm_slots(config.warm_memories.max(cells))
        .max_memory_size(MAX_IMAGE_BYTES)
        .max_tables_per_module(1)
        .table_elements(4096)
        .table_keep_resident(32 * 1024)
        .async_stack_keep_resident(64 * 1024)
        .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
        .pagemap_scan(if reset == Reset::PagemapScan { Enabled::Yes } else { Enabled::No });
    let mut settings = Config::new();
    settings
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
        .consume_fuel(true)
        .max_wasm_stack(WASM_STACK_BYTES)
        .async_stack_size(WASM_STACK_BYTES + HOST_STACK_BYTES)
        .memory_may_move(false)
        .wasm_backtrace_max_frames(None)
        .wasm_simd(true)
        .wasm_bulk_memory(true);
    #[cfg(feature = "compiler")]
    settings.cranelift_opt_level(wasmtime::OptLevel::Speed).generate_address_map(false).native_unwind_info(false);
    wasmtime::Engine::new(&settings).map_err(EngineError::wasmtime)
}

//! Compiles the guest into an engine: native code, and the base images with SDK and Zod evaluated.

use crate::artifact::{self, Artifact, hex_sha256};
use crate::cell::{Cell, Watch};
use crate::engine::Base;
use crate::error::EngineError;
use crate::image::Image;
use crate::{abi, split};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wasmtime::Module;

const GUEST: &[u8] = include_bytes!("../../guest/dist/guest.wasm");
const SDK: &str = include_str!("../../guest/dist/sdk.js");
const AUTOMATIONS: &str = include_str!("../../guest/dist/automations.js");
const ZOD: &str = include_str!("../../guest/dist/zod.js");
/// The digests of the four files above; CI checks that they match.
const OUTPUTS: &str = include_str!("../../guest/dist/outputs.sha256");
const TIME: Duration = Duration::from_secs(120);
/// Changes when something about the artifact changes that the key does not hash.
const FORMAT: &str = "1";

/// Names everything an engine is made from, apart from the machine it is compiled on: wasmtime checks that itself.
pub(crate) fn key() -> String {
    hex_sha256(format!("{FORMAT}\n{OUTPUTS}").as_bytes())
}

/// Compiles everything. About a second.
pub(crate) fn build(wasmtime: &wasmtime::Engine) -> Result<Artifact, EngineError> {
    let halves = split::split(GUEST)?;
    let code = Module::new(wasmtime, &halves.engine).map_err(EngineError::wasmtime)?;
    let initial = Module::new(wasmtime, halves.image.to_module()).map_err(EngineError::wasmtime)?;
    let mut sections = vec![(artifact::CODE.to_owned(), code.serialize().map_err(EngineError::wasmtime)?)];
    let mut bases = Vec::new();
    let mut exchange_offset = 0;
    for base in Base::ALL {
        let (image, offset) = pollster::block_on(evaluate(wasmtime, &code, &initial, base))?;
        exchange_offset = offset;
        let module = Module::new(wasmtime, image.to_module()).map_err(EngineError::wasmtime)?;
        bases.push((base.name().to_owned(), hex_sha256(&image.to_bytes())));
        sections.push((base.name().to_owned(), module.serialize().map_err(EngineError::wasmtime)?));
    }
    Artifact::from_sections(key(), exchange_offset, bases, sections)
}

/// Starts the guest, evaluates the built-in modules, and takes the image.
async fn evaluate(
    wasmtime: &wasmtime::Engine,
    code: &Module,
    initial: &Module,
    base: Base,
) -> Result<(Image, u32), EngineError> {
    let failed = |module: &str, message: String| EngineError::Builtin { module: module.to_owned(), message };
    let stopped = |module: &str, stop| failed(module, format!("{stop:?}"));
    let mut cell = Cell::new(wasmtime, code, initial, None, u64::MAX).map_err(EngineError::wasmtime)?;
    let watch = Watch { deadline: Instant::now() + TIME, cancel: None };
    for export in ["_initialize", "start"] {
        cell.run::<(), ()>(export, (), &watch).await.map_err(|stop| stopped("engine", stop))?;
    }
    let offset: u32 = cell.run("exchange_offset", (), &watch).await.map_err(|stop| stopped("engine", stop))?;
    let mut builtins = vec![("callcell:sdk", SDK), ("@eigenpal/automations", AUTOMATIONS)];
    if base == Base::Zod {
        builtins.push(("zod", ZOD));
    }
    for (name, source) in builtins {
        let block = crate::evaluate::write_texts(&mut cell, &[name, source], &watch).await?;
        let lengths = (block, name.len() as u32, source.len() as u32);
        cell.run::<_, ()>("add_module", lengths, &watch).await.map_err(|stop| stopped(name, stop))?;
        let block = crate::evaluate::write_texts(&mut cell, &[name], &watch).await?;
        let status: u32 =
            cell.run("load_builtin", (block, name.len() as u32), &watch).await.map_err(|stop| stopped(name, stop))?;
        if status != abi::Status::Ok as u32 {
            let response = cell.response(offset as usize);
            let detail = crate::boundary::copy(cell.memory(), response.result_offset, response.result_bytes, 1 << 20);
            let detail = String::from_utf8_lossy(&detail.unwrap_or_default()).into_owned();
            return Err(failed(name, format!("status {status}: {detail}")));
        }
    }
    cell.run::<(), ()>("seal", (), &watch).await.map_err(|stop| stopped("engine", stop))?;
    Ok((Image::difference(cell.memory(), &[]), offset))
}

/// The cached engine's folder.
pub(crate) fn cache_path(folder: &Path) -> PathBuf {
    folder.join(format!("engine-{}", &key()[..16]))
}

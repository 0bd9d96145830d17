//! Splits the guest into the engine module, which is all code on an imported memory, and its initial image.

use crate::error::EngineError;
use crate::image::{Image, WASM_PAGE_BYTES};
use wasm_encoder::{EntityType, ExportKind, ExportSection, ImportSection, MemoryType, Module, RawSection, SectionId};
use wasmparser::{DataKind, ExternalKind, Operator, Parser, Payload};

/// The exports a host uses. Everything else the linker left behind is dropped.
const EXPORTS: [&str; 11] = [
    "_initialize",
    "add_import",
    "add_module",
    "allocate",
    "call",
    "exchange_offset",
    "harvest",
    "load_builtin",
    "seal",
    "start",
    "unseal",
];

/// The two halves of the guest.
pub(crate) struct Halves {
    /// WebAssembly that imports its memory as `cell.memory` and nothing else.
    pub engine: Vec<u8>,
    /// The memory the guest expects to start with.
    pub image: Image,
}

/// Splits `guest`. Fails if it is not a module this host can rely on: one memory, active data only, no imports.
pub(crate) fn split(guest: &[u8]) -> Result<Halves, EngineError> {
    let unusable = |what: &str| EngineError::Guest { what: what.to_owned() };
    let invalid = |error: wasmparser::BinaryReaderError| EngineError::Guest { what: error.to_string() };
    let mut module = Module::new();
    let mut imports = ImportSection::new();
    let mut pages = None;
    let mut segments = Vec::new();
    let raw = |id: SectionId, range: std::ops::Range<usize>| RawSection { id: id as u8, data: &guest[range] };

    for payload in Parser::new(0).parse_all(guest) {
        match payload.map_err(invalid)? {
            Payload::TypeSection(section) => {
                module.section(&raw(SectionId::Type, section.range()));
            }
            Payload::ImportSection(section) if section.count() > 0 => {
                return Err(unusable("the guest imports something"));
            }
            Payload::FunctionSection(section) => {
                // The memory becomes an import, and imports stand in front of the functions.
                let memory =
                    MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None };
                imports.import("cell", "memory", EntityType::Memory(memory));
                module.section(&imports).section(&raw(SectionId::Function, section.range()));
            }
            Payload::TableSection(section) => {
                module.section(&raw(SectionId::Table, section.range()));
            }
            Payload::MemorySection(section) => {
                for memory in section {
                    if pages.replace(memory.map_err(invalid)?.initial).is_some() {
                        return Err(unusable("the guest has two memories"));
                    }
                }
            }
            Payload::GlobalSection(section) => {
                module.section(&raw(SectionId::Global, section.range()));
            }
            Payload::ExportSection(section) => {
                let mut exports = ExportSection::new();
                for export in section {
                    let export = export.map_err(invalid)?;
                    if export.kind == ExternalKind::Func && EXPORTS.contains(&export.name) {
                        exports.export(export.name, ExportKind::Func, export.index);
                    }
                }
                if exports.len() as usize != EXPORTS.len() {
                    return Err(unusable("the guest lacks an export"));
                }
                module.section(&exports);
            }
            Payload::StartSection { .. } => return Err(unusable("the guest has a start function")),
            Payload::ElementSection(section) => {
                module.section(&raw(SectionId::Element, section.range()));
            }
            Payload::CodeSectionStart { range, .. } => {
                module.section(&raw(SectionId::Code, range));
            }
            Payload::DataSection(section) => {
                for segment in section {
                    let segment = segment.map_err(invalid)?;
                    let DataKind::Active { memory_index: 0, offset_expr } = segment.kind else {
                        return Err(unusable("the guest has a passive data segment"));
                    };
                    let Operator::I32Const { value } = offset_expr.get_operators_reader().read().map_err(invalid)?
                    else {
                        return Err(unusable("a data segment's offset is not a constant"));
                    };
                    segments.push((value as u32, segment.data.to_vec()));
                }
            }
            _ => {}
        }
    }
    let pages = pages.ok_or_else(|| unusable("the guest has no memory"))? as usize;
    let image = Image::from_segments(pages * WASM_PAGE_BYTES, &segments)
        .ok_or_else(|| unusable("a data segment lies outside the memory"))?;
    Ok(Halves { engine: module.finish(), image })
}

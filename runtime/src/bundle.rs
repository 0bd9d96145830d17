//! Bundles: a compiled project as data, and the same loaded into an engine.

use crate::engine::{Base, Engine};
use crate::error::{BundleError, CallErrorKind};
use crate::image::Image;
use crate::schema::Schema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Version of the manifest and of the bundle's file format.
pub const BUNDLE_FORMAT: u32 = 1;
const MAGIC: &[u8; 16] = b"callcell bundle\n";
const DIGEST_BYTES: usize = 32;
/// Largest bundle that is read, in bytes.
const MAX_BUNDLE_BYTES: usize = 256 * 1024 * 1024;

/// What a project declares. Plain JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// [`BUNDLE_FORMAT`].
    pub format: u32,
    /// Every function the host may invoke, in the order of the guest's table.
    pub callbacks: Vec<CallbackDeclaration>,
    /// The agents, as the SDK's `harvest` describes them.
    #[serde(default)]
    pub agents: Vec<Value>,
    /// The sources the project was compiled from.
    #[serde(default)]
    pub sources: Vec<SourceFile>,
}

/// One function the host may invoke.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallbackDeclaration {
    /// Its name in the bundle, as `calculateTotal` or `invoices.evaluators.fields`.
    pub name: String,
    /// What it is.
    pub kind: CallbackKind,
    /// What a tool does, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A tool's input schema, in the IR of `guest/sdk/SCHEMA-IR.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// A tool's output schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
}

/// The five kinds of callbacks. All run in the same kind of cell (CB-02).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallbackKind {
    /// Plain object in, plain object out, both checked against schemas.
    Tool,
    /// `{actual, expected}` in, a score from 0 to 1 out.
    Evaluator,
    /// A partial output in, JSON data out; undefined members are listed.
    DiffSelector,
    /// `{actual, expected}` in, JSON data out; undefined members are listed.
    JudgeSelector,
    /// Scores by name in (no prototype), true or false out.
    PassRule,
}

/// A source file a bundle was compiled from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Path relative to the project, with `/`.
    pub path: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// A declaration that is wrong, as the SDK found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// A `C_…` code of spec 3.6.
    pub code: String,
    /// Where, from the export on: `calculateTotal.inputSchema.subtotal`.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    #[serde(default)]
    pub help: Option<String>,
}

/// A module of a project: JavaScript, under its canonical name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModuleSource {
    /// Path relative to the project, with `/`.
    pub name: String,
    /// JavaScript.
    pub source: String,
    /// Source map to the TypeScript it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_map: Option<String>,
    /// What each import specifier means: the specifier as written, and the module's canonical name.
    pub imports: Vec<(String, String)>,
}

/// The modules of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleSet {
    /// Canonical name of the module whose exports are the project's declarations.
    pub entry: String,
    /// All modules, the entry among them.
    pub modules: Vec<ModuleSource>,
}

impl ModuleSet {
    /// Whether any module needs Zod.
    pub(crate) fn imports_zod(&self) -> bool {
        self.modules.iter().any(|module| module.imports.iter().any(|(_, target)| target == "zod"))
    }
}

/// A compiled project as data: nothing in it is native code.
#[derive(Clone, Debug, PartialEq)]
pub struct BundleFile {
    /// What it declares.
    pub manifest: Manifest,
    /// The modules it was evaluated from; evaluated again where the image does not fit the engine.
    pub modules: ModuleSet,
    /// Memory after evaluation, on the base named `base_id`.
    pub image: Image,
    /// Which base image that is.
    pub base: Base,
    /// SHA-256 of that base image.
    pub base_id: String,
}

#[derive(Serialize, Deserialize)]
struct FileHeader {
    manifest: Manifest,
    modules: ModuleSet,
    base: String,
    base_id: String,
}

impl BundleFile {
    /// Magic, `u32` format, `u32` length of the JSON part, the JSON part, the image, and the SHA-256 of all that.
    pub fn to_bytes(&self) -> Result<Vec<u8>, BundleError> {
        let header = FileHeader {
            manifest: self.manifest.clone(),
            modules: self.modules.clone(),
            base: self.base.name().into(),
            base_id: self.base_id.clone(),
        };
        let header =
            serde_json::to_vec(&header).map_err(|_| BundleError::Damaged { what: "its manifest cannot be written" })?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&BUNDLE_FORMAT.to_le_bytes());
        bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(&self.image.to_bytes());
        let digest = Sha256::digest(&bytes);
        bytes.extend_from_slice(&digest);
        Ok(bytes)
    }

    /// Reads what [`BundleFile::to_bytes`] wrote, trusting nothing: sizes, offsets and the digest are checked first.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BundleError> {
        let damaged = |what| BundleError::Damaged { what };
        if bytes.len() > MAX_BUNDLE_BYTES {
            return Err(damaged("it is larger than 256 MiB"));
        }
        if !bytes.starts_with(MAGIC) {
            return Err(damaged("it does not begin like a bundle"));
        }
        let word = |at: usize| -> Option<u32> {
            let slice = bytes.get(at..at + 4)?;
            Some(u32::from_le_bytes([slice[0], slice[1], slice[2], slice[3]]))
        };
        let format = word(16).ok_or(damaged("it is cut short"))?;
        if format != BUNDLE_FORMAT {
            return Err(BundleError::Format { found: format, expected: BUNDLE_FORMAT });
        }
        let end = bytes.len().checked_sub(DIGEST_BYTES).ok_or(damaged("it is cut short"))?;
        if Sha256::digest(&bytes[..end])[..] != bytes[end..] {
            return Err(damaged("its contents do not match its digest"));
        }
        let header_bytes = word(20).ok_or(damaged("it is cut short"))? as usize;
        let header = bytes[..end].get(24..24 + header_bytes).ok_or(damaged("it is cut short"))?;
        let header: FileHeader = serde_json::from_slice(header).map_err(|_| damaged("its manifest cannot be read"))?;
        let mut names = HashSet::new();
        if !header.manifest.callbacks.iter().all(|callback| names.insert(callback.name.as_str())) {
            return Err(damaged("it declares two callbacks of one name"));
        }
        let base = Base::ALL.into_iter().find(|base| base.name() == header.base);
        Ok(Self {
            manifest: header.manifest,
            modules: header.modules,
            image: Image::from_bytes(&bytes[24 + header_bytes..end])?,
            base: base.ok_or(damaged("it names an unknown base image"))?,
            base_id: header.base_id,
        })
    }
}

/// A bundle loaded into an engine, ready to be called. Cloning is cheap.
#[derive(Clone)]
pub struct Bundle {
    pub(crate) inner: Arc<BundleInner>,
}

pub(crate) struct BundleInner {
    pub engine: Engine,
    pub manifest: Manifest,
    pub callbacks: HashMap<String, usize>,
    pub schemas: Vec<Schemas>,
    pub base: Base,
    /// The bundle's own pages, for cells on the base image.
    pub pages: Image,
    /// The whole image as a module of its own, once it is built.
    #[cfg(feature = "compiler")]
    pub own: std::sync::OnceLock<wasmtime::Module>,
    /// Calls so far, until one of them has the own image built.
    #[cfg(feature = "compiler")]
    pub calls: std::sync::atomic::AtomicU32,
}

/// The compiled schemas of one callback.
#[derive(Default)]
pub(crate) struct Schemas {
    pub input: Option<Schema>,
    pub output: Option<Schema>,
}

impl std::fmt::Debug for Bundle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Bundle").field("manifest", &self.inner.manifest).finish_non_exhaustive()
    }
}

impl Engine {
    /// Loads a bundle. If it was made on another engine, its modules are evaluated again.
    pub fn load(&self, file: BundleFile) -> Result<Bundle, BundleError> {
        let mut file = file;
        if self.base_id(file.base) != Some(file.base_id.as_str()) {
            let evaluation = self.evaluate(&file.modules)?;
            let same = |manifest: &Manifest| {
                manifest.callbacks.iter().map(|callback| (callback.name.clone(), callback.kind)).collect::<Vec<_>>()
            };
            if same(&evaluation.manifest) != same(&file.manifest) {
                return Err(BundleError::Damaged { what: "its modules declare other callbacks than its manifest" });
            }
            file.image = evaluation.image;
            file.base = evaluation.base;
        }
        // Loaded now, so that the first call does not pay for it.
        self.base(file.base).map_err(|error| BundleError::Engine(error.to_string()))?;
        let mut schemas = Vec::new();
        for callback in &file.manifest.callbacks {
            let compile = |schema: &Option<Value>| {
                let compiled = schema.as_ref().map(Schema::compile).transpose();
                compiled.map_err(|what| BundleError::Schema { callback: callback.name.clone(), what })
            };
            schemas
                .push(Schemas { input: compile(&callback.input_schema)?, output: compile(&callback.output_schema)? });
        }
        let names = file.manifest.callbacks.iter().enumerate();
        let callbacks = names.map(|(index, callback)| (callback.name.clone(), index)).collect();
        let bundle = Bundle {
            inner: Arc::new(BundleInner {
                engine: self.clone(),
                callbacks,
                schemas,
                manifest: file.manifest,
                base: file.base,
                pages: file.image,
                #[cfg(feature = "compiler")]
                own: std::sync::OnceLock::new(),
                #[cfg(feature = "compiler")]
                calls: std::sync::atomic::AtomicU32::new(0),
            }),
        };
        #[cfg(feature = "compiler")]
        if self.inner.config.images == crate::config::ImagePolicy::Own {
            bundle.build_own_image().map_err(|error| BundleError::Engine(error.to_string()))?;
        }
        Ok(bundle)
    }

    /// Turns an evaluation into a bundle's data.
    pub fn bundle_file(&self, evaluation: crate::Evaluation, modules: ModuleSet) -> BundleFile {
        BundleFile {
            manifest: evaluation.manifest,
            modules,
            image: evaluation.image,
            base: evaluation.base,
            base_id: self.base_id(evaluation.base).unwrap_or_default().to_owned(),
        }
    }
}

impl Bundle {
    /// What the bundle declares.
    pub fn manifest(&self) -> &Manifest {
        &self.inner.manifest
    }

    /// The engine it is loaded into.
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// The index of a callback, or an error that names the nearest.
    pub(crate) fn find(&self, name: &str) -> Result<usize, CallErrorKind> {
        self.inner.callbacks.get(name).copied().ok_or_else(|| {
            let names = self.inner.manifest.callbacks.iter().map(|callback| callback.name.as_str());
            // People know the last part of a long name.
            let likeness = |candidate: &str| {
                let last = candidate.rsplit('.').next().unwrap_or(candidate);
                strsim::jaro_winkler(name, candidate).max(strsim::jaro_winkler(name, last))
            };
            let scored = names.map(|candidate| (likeness(candidate), candidate));
            let nearest = scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.8);
            CallErrorKind::UnknownCallback {
                name: name.chars().take(200).collect(),
                nearest: nearest.map(|(_, candidate)| candidate.to_owned()),
            }
        })
    }

    /// Builds the image module, unless it is there.
    #[cfg(feature = "compiler")]
    pub(crate) fn build_own_image(&self) -> Result<(), crate::EngineError> {
        if self.inner.own.get().is_some() {
            return Ok(());
        }
        let engine = &self.inner.engine;
        let base = pollster::block_on(engine.base_memory(self.inner.base))?;
        let image = self.inner.pages.over(base);
        let module = wasmtime::Module::new(&engine.inner.wasmtime, image.to_module());
        let module = module.map_err(crate::EngineError::wasmtime)?;
        let _ = self.inner.own.set(module);
        Ok(())
    }
}

//! Runs untrusted JavaScript callbacks, each call in a WebAssembly store of its own.
//!
//! An [`Engine`] holds QuickJS, compiled to WebAssembly and then to native code once, and a pool of cells. A project's
//! modules are evaluated once ([`Engine::evaluate`]); what they left in memory is the image every call starts from. A
//! [`Bundle`] is such a project loaded into an engine, and [`Bundle::call`] runs one of its callbacks: JSON in, JSON or a
//! typed error out, and nothing of the call left behind.
//!
//! This crate knows no TypeScript; `callcell-compiler` does. Without the feature `compiler` it contains no code generator
//! either, and runs a precompiled engine ([`Engine::from_artifact`]).
#![deny(missing_docs)]

#[doc(hidden)]
pub mod abi;
mod artifact;
mod boundary;
#[cfg(feature = "compiler")]
mod build;
mod bundle;
mod call;
mod cell;
mod config;
mod engine;
mod error;
mod evaluate;
mod image;
mod limits;
mod outcome;
mod schema;
#[cfg(feature = "compiler")]
mod split;
mod text;

pub use boundary::{JsonError, parse_json};
pub use bundle::{
    BUNDLE_FORMAT, Bundle, BundleFile, CallbackDeclaration, CallbackKind, Manifest, ModuleSet, ModuleSource, Problem,
    SourceFile,
};
pub use call::CallOptions;
pub use config::{CodeOrigin, EngineConfig, EngineReport, ImagePolicy, Reset};
pub use engine::{Base, Engine};
pub use error::{BundleError, CallError, CallErrorKind, EngineError, EvaluateError, Thrown};
pub use evaluate::Evaluation;
pub use image::{Image, PAGE_BYTES};
pub use limits::Limits;
pub use outcome::{LogLevel, LogLine, Logs, Outcome, Usage};
pub use schema::{ConditionalKeyword, DataSchema, PartialSchemaError, SchemaError, SchemaViolation, partial_schema};
pub use text::{clean, is_unsafe};
pub use tokio_util::sync::CancellationToken;

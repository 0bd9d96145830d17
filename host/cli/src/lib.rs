//! Runs small pieces of TypeScript somebody else wrote, each call in a WebAssembly store of its own.
//!
//! This crate is the front door: it re-exports the libraries that the program `callcell` is made of, so that a host needs
//! one dependency. [`compiler`] turns a project into a bundle, [`runtime`] loads a bundle and calls what it declares,
//! [`evals`] scores what agents answer.
//! A host that never compiles a project depends on `callcell-runtime` alone.
//!
//! ```no_run
//! use callcell::compiler::{Project, compile};
//! use callcell::runtime::{CallOptions, Engine, EngineConfig};
//! use serde_json::json;
//!
//! // Once per process. With a cache folder the engine is compiled once per machine.
//! let engine = Engine::new(EngineConfig { cache_dir: Some("/var/cache/callcell".into()), ..EngineConfig::default() })?;
//!
//! // Once per project. No callback runs here.
//! let project = Project::open("examples/tax/tools.ts".as_ref())?;
//! let compilation = compile(&engine, &project)?;
//! let bundle = engine.load(compilation.bundle)?;
//!
//! // As often as you like, from any thread; `Bundle::call` is the same for asynchronous code.
//! let outcome = bundle.call_blocking("calculateTotal", &json!({ "subtotal": 100 }), &CallOptions::default())?;
//! assert_eq!(outcome.value, json!({ "total": 120 }));
//! println!("{} fuel", outcome.usage.fuel);
//!
//! // A failure is a stable code and a fixed sentence; nothing the callback threw is in it.
//! let refused = bundle.call_blocking("calculateTotal", &json!({ "subtotal": -1 }), &CallOptions::default());
//! assert_eq!(refused.unwrap_err().code(), "R_INPUT_SCHEMA");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

pub use callcell_compiler as compiler;
pub use callcell_evals as evals;
pub use callcell_runtime as runtime;

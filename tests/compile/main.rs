//! The compiler: from a TypeScript project to a bundle, or to everything that is wrong with it. One module per subject.

mod bundle;
mod declarations;
mod files;
mod language;
mod modules;
mod project;
mod schemas;
mod top_level;

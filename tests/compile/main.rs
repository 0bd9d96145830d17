//! The compiler: from a TypeScript project to a bundle, or to everything that is wrong with it. One module per subject.

mod schemas;

//! What the benches share: the scripts, and native QuickJS running them the way a host without callcell would.

pub mod evaluation;
pub mod native;
pub mod projects;
pub mod scripts;

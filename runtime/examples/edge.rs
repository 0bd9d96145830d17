//! A host without a compiler: runs a precompiled engine and a bundle. Build it with `--no-default-features`.
//!
//! ```text
//! callcell engine -o engine.bin            # once, on a build machine; prints the digest
//! callcell build examples/tax/tools.ts -o tax.cell
//! edge engine.bin DIGEST tax.cell calculateTotal '{"subtotal":100}'
//! ```

use callcell_runtime::{BundleFile, CallOptions, Engine, EngineConfig};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, engine, digest, bundle, callback, argument] = &arguments[..] else {
        eprintln!("usage: edge ENGINE DIGEST BUNDLE CALLBACK JSON");
        std::process::exit(2);
    };
    // The digest is part of this host's own configuration: it decides which native code may run here.
    let engine = Engine::from_artifact(Path::new(engine), digest, EngineConfig::one_shot())?;
    // The bundle may come from anywhere. It is data.
    let bundle = engine.load(BundleFile::from_bytes(&std::fs::read(bundle)?)?)?;
    let outcome = bundle.call_blocking(callback, &serde_json::from_str(argument)?, &CallOptions::default())?;
    println!("{}", outcome.value);
    eprintln!("{} fuel, {:?}", outcome.usage.fuel, outcome.usage.wall);
    Ok(())
}

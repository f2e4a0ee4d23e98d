//! Makes the folder of the built studio exist, because it is embedded when the server is compiled.
//!
//! Invariants
//! - A studio that was built is left alone.
//!
//! Not here: building the studio (`npm run build` in web/, which `cargo xtask up` and `cargo xtask test` do).

use std::path::Path;
use std::{env, fs, io};

const NOT_BUILT: &str = "<!doctype html><title>Atelier</title><p>The studio is not built yet: run <code>npm ci &amp;&amp; npm run build</code> in web/, then build the server again.";

fn main() -> io::Result<()> {
    let manifest = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let built = Path::new(&manifest).join("../web/dist");
    if !built.join("index.html").exists() {
        fs::create_dir_all(&built)?;
        fs::write(built.join("index.html"), NOT_BUILT)?;
    }
    println!("cargo::rerun-if-changed=../web/dist");
    Ok(())
}

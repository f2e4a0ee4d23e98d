//! Vectors: made once, of one model at a time, and in the background.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use domain::search::{SearchIndex as _, SearchLeg};
use search::{Embedder, EmbedderChoice, Search};

use crate::house::{House, eventually, ids, on_both_databases, tasks_only};

on_both_databases!(
    another_model_makes_all_vectors_anew_and_words_are_searched_meanwhile,
    a_text_is_embedded_once_whoever_starts,
    what_is_gone_has_no_vector,
    an_embedder_that_fails_keeps_nobody_from_finding_words,
);

/// An embedder of tests: a dimension for each of some words, and a shift that tells models apart.
pub(crate) struct Bags {
    model: String,
    pub(crate) texts: AtomicUsize,
}

impl Bags {
    pub(crate) fn new(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            texts: AtomicUsize::new(0),
        }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.01_f32; 64];
        let shift = self.model.len() * 7;
        for word in text.to_lowercase().split_whitespace() {
            // `boat` and `ship` mean the same.
            let word = if word == "ship" { "boat" } else { word };
            let hash = word.bytes().fold(7_usize, |hash, byte| {
                hash.wrapping_mul(31).wrapping_add(byte.into())
            });
            vector[(hash + shift) % 64] += 1.0;
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        for x in &mut vector {
            *x /= length;
        }
        vector
    }
}

#[async_trait]
impl Embedder for Bags {
    fn model(&self) -> &str {
        &self.model
    }

    async fn embed(&self, texts: Vec<String>) -> search::Result<Vec<Vec<f32>>> {
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

/// An embedder that can not be reached.
struct Unreachable;

#[async_trait]
impl Embedder for Unreachable {
    fn model(&self) -> &'static str {
        "unreachable"
    }

    async fn embed(&self, _: Vec<String>) -> search::Result<Vec<Vec<f32>>> {
        Err(search::Error::Embedder("it is away".to_owned()))
    }
}

fn with(embedder: &Arc<Bags>) -> EmbedderChoice {
    EmbedderChoice::Other(embedder.clone())
}

/// Waits until meanings of all tasks are searched.
async fn until_whole(house: &House, search: &Search, tasks: usize) {
    eventually("every task has its vector", async || {
        let answer = search.find(&tasks_only(house.request("boat").await)).await;
        let near = answer.found.iter().filter(|found| found.vector.is_some());
        near.count() == tasks && answer.missing.is_empty()
    })
    .await;
}

async fn another_model_makes_all_vectors_anew_and_words_are_searched_meanwhile(house: House) {
    let first = Arc::new(Bags::new("first"));
    let search = house.search_with(with(&first));
    let ship = house.task("ship", "ship").await;
    for number in 0..5 {
        house.task(&format!("thing {number}"), "other words").await;
    }
    until_whole(&house, &search, 6).await;
    let answer = house
        .ask(&search, tasks_only(house.request("boat").await))
        .await;
    assert_eq!(answer.found[0].id, ship.uuid());
    assert_eq!(answer.found[0].keyword, None);
    search.stop().await;

    let second = Arc::new(Bags::new("the second"));
    let search = house.search_with(with(&second));
    let words = house
        .ask(&search, tasks_only(house.request("ship").await))
        .await;
    assert_eq!(
        words.found[0].id,
        ship.uuid(),
        "words are searched meanwhile"
    );
    until_whole(&house, &search, 6).await;
    let answer = house
        .ask(&search, tasks_only(house.request("boat").await))
        .await;
    assert_eq!(answer.found[0].id, ship.uuid());
    assert!(answer.found[0].vector > Some(0.9), "{:?}", answer.found[0]);
    let reads = house.store.reads();
    let left = reads.list_embeddings(house.workspace, "first", (0, uuid::Uuid::nil()), 100);
    assert!(
        left.await.expect("reads").is_empty(),
        "what the first model made is gone"
    );
    house.leave(search).await;
}

async fn a_text_is_embedded_once_whoever_starts(house: House) {
    let first = Arc::new(Bags::new("one"));
    let search = house.search_with(with(&first));
    for number in 0..10 {
        house.task(&format!("thing {number}"), "some words").await;
    }
    until_whole(&house, &search, 10).await;
    search.stop().await;
    // The index of words is of no importance to vectors. It is moved away: a merge may still write into its folder.
    let gone = house.index().with_extension("gone");
    std::fs::rename(house.index(), gone).expect("the index goes");

    let again = Arc::new(Bags::new("one"));
    let search = house.search_with(with(&again));
    until_whole(&house, &search, 10).await;
    let questions = again.texts.load(Ordering::SeqCst);
    let task = house.task("thing 11", "some words").await;
    eventually("the new one has its vector", async || {
        let answer = search.find(&tasks_only(house.request("boat").await)).await;
        let near = answer.found.iter().filter(|found| found.vector.is_some());
        near.map(|found| found.id)
            .collect::<HashSet<_>>()
            .contains(&task.uuid())
    })
    .await;
    let reads = house.store.reads();
    let rows = reads
        .list_embeddings(house.workspace, "one", (0, uuid::Uuid::nil()), 100)
        .await
        .expect("reads");
    assert_eq!(rows.len(), 11);
    assert!(questions > 0, "questions are embedded");
    let hashes: HashSet<[u8; 32]> = rows.iter().map(|(_, row)| row.text_hash).collect();
    assert_eq!(hashes.len(), 11);
    house.leave(search).await;
}

async fn what_is_gone_has_no_vector(house: House) {
    let search = house.search_with(with(&Arc::new(Bags::new("one"))));
    let task = house.task("thing", "words").await;
    let message = house.message(task, "a ship").await;
    let near = async || {
        let answer = search.find(&house.request("boat").await).await;
        let near = answer.found.iter().filter(|found| found.vector.is_some());
        near.map(|found| found.id).collect::<HashSet<_>>()
    };
    eventually("the message has its vector", async || {
        near().await.contains(&message.uuid())
    })
    .await;
    house.withdraw(message).await;
    eventually("the message has no vector", async || {
        !near().await.contains(&message.uuid())
    })
    .await;
    let reads = house.store.reads();
    let rows = reads
        .list_embeddings(house.workspace, "one", (0, uuid::Uuid::nil()), 100)
        .await
        .expect("reads");
    let row = rows.iter().find(|(_, row)| row.id == message.uuid());
    assert_eq!(row.and_then(|(_, row)| row.vector.clone()), None);
    house.leave(search).await;
}

async fn an_embedder_that_fails_keeps_nobody_from_finding_words(house: House) {
    let search = house.search_with(EmbedderChoice::Other(Arc::new(Unreachable)));
    let task = house.task("ship", "words").await;
    let answer = house.ask(&search, house.request("ships").await).await;
    assert_eq!(ids(&answer), [task.uuid()]);
    assert_eq!(answer.missing, [SearchLeg::Vector]);
    house.leave(search).await;
}

//! Random lives of memories, and one with many descendants: what was forgotten is nowhere, and forgotten in time.
//! `ATELIER_TEST_SEED` names the first of the lives (a fresh one by default), `ATELIER_TEST_HISTORIES` how many there are (200).

use std::collections::HashSet;

use domain::ids::{MemoryId, MessageId};
use domain::memory::{Extracted, ForgetTarget, MemoryScope};
use domain::store::StoreExt;
use serde_json::json;

use crate::databases::{TestDatabase, on_both_databases};
use crate::forgetting::fill_task;
use crate::memory_seeds::{Speaking, about, extraction, fact, rows_with, with_evidence};
use crate::seeds::{bootstrap, second_workspace, seconds, within};
use crate::task_seeds::named_task;

on_both_databases!(
    random_histories_leave_no_word_of_what_was_forgotten,
    a_fact_with_a_thousand_descendants_is_forgotten_in_time,
);

/// Numbers that look random, and are the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % most
    }
}

async fn random_histories_leave_no_word_of_what_was_forgotten(database: TestDatabase) {
    let storage = database.open().await;
    let first = bootstrap(&storage.store).await;
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let histories = number("ATELIER_TEST_HISTORIES").unwrap_or(200);
    let fresh = u64::from(uuid::Uuid::new_v4().as_fields().0);
    let first_seed = number("ATELIER_TEST_SEED").unwrap_or(fresh);
    eprintln!("ATELIER_TEST_SEED={first_seed} ATELIER_TEST_HISTORIES={histories}");
    let mut gone: HashSet<String> = HashSet::new();
    for seed in first_seed..first_seed + histories {
        let place = second_workspace(&storage.store, first).await;
        let task = named_task(&storage.store, place).await;
        let it = Speaking {
            task: Some(task.id),
            ..Speaking::new(&storage.store, place)
        };
        let mut history = History::new(it, seed);
        history.live().await;
        gone.extend(history.forget_some().await);
        history.it.derive(history.second + 100).await;
        let faults = storage
            .store
            .reads()
            .list_memory_faults(place.workspace)
            .await;
        assert_eq!(faults.expect("reads"), [], "history {seed}");
    }
    assert!(gone.len() as u64 > histories, "{} words", gone.len());
    storage.close().await;
    drop(storage);
    // After a restart, which brings the schema to this version again.
    database.open().await.close().await;
    let rows = rows_with(&database, "kanari").await;
    assert!(
        rows.len() as u64 > histories,
        "what was not forgotten is there"
    );
    for (table, row) in rows {
        let word = row
            .split(|c: char| !c.is_ascii_alphanumeric())
            .find(|word| gone.contains(*word));
        assert!(word.is_none(), "{word:?} stands in {table}: {row}");
    }
}

/// One random life of memories; each thing that is said has a word of its own.
struct History {
    it: Speaking,
    chance: Chance,
    seed: u64,
    second: u64,
    said: Vec<(MessageId, String)>,
    memories: Vec<(MemoryId, Vec<String>)>,
}

impl History {
    fn new(it: Speaking, seed: u64) -> Self {
        Self {
            it,
            chance: Chance(seed + 1),
            seed,
            second: 100,
            said: Vec::new(),
            memories: Vec::new(),
        }
    }

    fn word(&self) -> String {
        format!("kanari{}x{}", self.seed, self.second)
    }

    async fn live(&mut self) {
        for _ in 0..8 {
            self.second += 10;
            let word = self.word();
            match (self.chance.below(5), self.memories.len()) {
                (0, _) | (_, 0) => self.originate(word).await,
                (1, count) => self.refine(word, count).await,
                (2, count) => self.confirm(word, count).await,
                (3, _) => {
                    let content = format!("we like {word}");
                    let scope = MemoryScope::Person(self.it.user());
                    let memory = self.it.remember(&content, scope, self.second).await;
                    self.memories.push((memory, vec![word]));
                }
                (_, count) => {
                    let place = self.chance.below(count);
                    let memory = self.memories[place].0;
                    self.it
                        .correct(memory, &format!("it is {word}"), self.second)
                        .await;
                    self.memories[place].1.push(word);
                }
            }
        }
        let words: Vec<String> = self
            .memories
            .iter()
            .flat_map(|(_, words)| words.clone())
            .collect();
        fill_task(
            &self.it,
            &format!("made with {}", words.join(" ")),
            self.second + 5,
        )
        .await;
    }

    async fn originate(&mut self, word: String) {
        let text = format!("the brand is {word}");
        let (message, memory) = self.it.learn(&text, fact(&text), self.second).await;
        self.said.push((message, word.clone()));
        self.memories.push((memory, vec![word]));
    }

    async fn refine(&mut self, word: String, count: usize) {
        let place = self.chance.below(count);
        let (memory, _) = self.memories[place];
        let former = self.it.holds(memory).await.unwrap_or_default();
        let text = format!("also {word}");
        let mut found = about(memory, "refine", &format!("{former} also {word}"));
        if self.it.memory(memory).await.scope != MemoryScope::Workspace {
            found["scope"] = json!("person");
        }
        let (message, _) = self.it.extract(&text, found, self.second).await;
        self.said.push((message, word.clone()));
        self.memories[place].1.push(word);
    }

    async fn confirm(&mut self, word: String, count: usize) {
        let place = self.chance.below(count);
        let (memory, _) = self.memories[place];
        let mut found = about(memory, "confirm", "yes");
        if self.it.memory(memory).await.scope != MemoryScope::Workspace {
            found["scope"] = json!("person");
        }
        let (message, _) = self
            .it
            .extract(&format!("yes, {word}"), found, self.second)
            .await;
        self.said.push((message, word));
    }

    /// Forgets a memory and a message; the words of everything that may not be used any more.
    async fn forget_some(&mut self) -> Vec<String> {
        self.second += 50;
        let memory = self.memories[self.chance.below(self.memories.len())].0;
        self.it
            .forget(ForgetTarget::Memory(memory), self.second)
            .await;
        if !self.said.is_empty() {
            let message = self.said[self.chance.below(self.said.len())].0;
            self.it
                .forget(ForgetTarget::Message(message), self.second + 1)
                .await;
        }
        let reads = self.it.store.reads();
        let workspace = self.it.place.workspace;
        let forgotten = reads.list_forgotten(workspace, None).await.expect("reads");
        let ids: Vec<MessageId> = forgotten.iter().map(|one| one.message).collect();
        let messages = reads.list_messages_by_id(&ids).await.expect("reads");
        let people = messages.iter().filter(|message| message.person().is_some());
        people
            .filter_map(|message| {
                message
                    .text
                    .split(' ')
                    .find(|word| word.starts_with("kanari"))
            })
            .map(str::to_owned)
            .collect()
    }
}

async fn a_fact_with_a_thousand_descendants_is_forgotten_in_time(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let it = Speaking::new(&storage.store, place);
    let said = it.say("Our brand is blue, as all of this tells", 10).await;
    let claim = it.claim(it.group(), 11).await.expect("it waits");
    let mut memories = Vec::new();
    for part in 0..20_usize {
        // Words of two letters say nothing by themselves, and make each of them another one.
        let letter = |place: usize| char::from(b'a' + (place % 26) as u8);
        let found: Vec<_> = (0..50_usize)
            .map(|number| {
                let (one, other) = (letter(number / 26), letter(number));
                let content = format!("our brand is blue {}z {one}{other}", letter(part));
                with_evidence(fact(&content), said)
            })
            .collect();
        let group = domain::memory::ExtractionGroup {
            memory: Some(MemoryId::new()),
            ..claim.group
        };
        let mut command = extraction(&claim, &found, seconds(12));
        command.group = group;
        let waiting = [domain::memory::Waiting {
            message: said,
            is_stated: false,
            attempts: 0,
            queued_at: seconds(11),
        }];
        let store = &storage.store;
        let queued = within!(store, place.workspace, |tx, group, waiting| tx
            .queue_extractions(&group, &waiting)
            .await);
        queued.expect("waits");
        match storage.store.run(command).await.expect("stores") {
            Extracted::Stored { changed, .. } => memories.extend(changed),
            other => panic!("{other:?}"),
        }
    }
    assert!(memories.len() >= 900, "{}", memories.len());
    let began = std::time::Instant::now();
    let forgotten = it.forget(ForgetTarget::Message(said), 20).await;
    let took = began.elapsed();
    eprintln!(
        "{} memories are forgotten in {took:?}",
        forgotten.scrubbed.len()
    );
    assert_eq!(forgotten.scrubbed.len(), memories.len());
    assert!(took.as_secs_f64() < 10.0, "{took:?} in a debug build");
    storage.close().await;
}

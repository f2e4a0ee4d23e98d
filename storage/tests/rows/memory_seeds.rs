//! What tests of memories start from: people who say something, an extractor that finds what a test names, and looks at every table.

use std::time::Duration;

use domain::actor::Actor;
use domain::ids::{MemoryId, MessageId, TaskId, UserId};
use domain::memory::{
    Candidate, Claim, ClaimExtraction, CorrectMemory, Evidence, EvidenceRole, Extracted,
    ExtractionGroup, Forget, ForgetTarget, Forgotten, Memory, MemoryKind, MemoryScope,
    MemoryVersion, Profile, Remember, StoreExtraction, Waiting,
};
use domain::message::{Message, MessageState};
use domain::store::{SharedStore, StoreExt};
use domain::time::Timestamp;
use sea_orm::{ConnectionTrait, Database, Statement};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::databases::TestDatabase;
use crate::seeds::{Place, seconds, within};
use crate::task_seeds::new_message;

/// A workspace in which somebody speaks.
#[derive(Clone)]
pub(crate) struct Speaking {
    pub(crate) store: SharedStore,
    pub(crate) place: Place,
    pub(crate) task: Option<TaskId>,
}

impl Speaking {
    pub(crate) fn new(store: &SharedStore, place: Place) -> Self {
        let store = store.clone();
        Self {
            store,
            place,
            task: None,
        }
    }

    pub(crate) fn user(&self) -> UserId {
        self.place.caller.user
    }

    pub(crate) fn group(&self) -> ExtractionGroup {
        ExtractionGroup {
            workspace: self.place.workspace,
            user: self.user(),
            task: self.task,
            memory: None,
        }
    }

    /// A message that was read, and waits to be extracted from.
    pub(crate) async fn say(&self, text: &str, second: u64) -> MessageId {
        let message = Message {
            main_of: Some(self.user()),
            task: self.task,
            text: text.to_owned(),
            state: MessageState::Consumed,
            ..new_message(self.place, seconds(second))
        };
        let group = self.group();
        let waiting = [Waiting {
            message: message.id,
            is_stated: false,
            attempts: 0,
            queued_at: seconds(second),
        }];
        let (store, id) = (&self.store, message.id);
        let stored = within!(
            store,
            self.place.workspace,
            |tx, message, group, waiting| {
                tx.insert_message(&message).await?;
                tx.queue_extractions(&group, &waiting).await
            }
        );
        stored.expect("is stored");
        id
    }

    /// Something that the agent wrote.
    pub(crate) async fn reply(&self, text: &str, second: u64) -> MessageId {
        let task = self.task.unwrap_or_default();
        let message = Message {
            author: Actor::Agent {
                task,
                turn: 1,
                step: 1,
            },
            task: self.task,
            text: text.to_owned(),
            state: MessageState::Consumed,
            ..new_message(self.place, seconds(second))
        };
        let (store, id) = (&self.store, message.id);
        let stored = within!(store, self.place.workspace, |tx, message| tx
            .insert_message(&message)
            .await);
        stored.expect("is stored");
        id
    }

    pub(crate) async fn claim(&self, group: ExtractionGroup, second: u64) -> Option<Claim> {
        let command = ClaimExtraction {
            group,
            lease: Duration::from_mins(1),
            at: seconds(second),
        };
        self.store.run(command).await.expect("claims")
    }

    /// Stores what an extractor found in what it had claimed.
    pub(crate) async fn store(&self, claim: &Claim, found: &[Value], second: u64) -> Extracted {
        let command = extraction(claim, found, seconds(second));
        self.store.run(command).await.expect("stores")
    }

    /// Says something, and extracts this from it.
    pub(crate) async fn extract(
        &self,
        text: &str,
        found: Value,
        second: u64,
    ) -> (MessageId, Extracted) {
        let message = self.say(text, second).await;
        let claim = self.claim(self.group(), second + 1).await;
        let claim = claim.expect("something waits");
        let found = with_evidence(found, message);
        (message, self.store(&claim, &[found], second + 1).await)
    }

    /// The same, where it must change one memory.
    pub(crate) async fn learn(
        &self,
        text: &str,
        found: Value,
        second: u64,
    ) -> (MessageId, MemoryId) {
        let (message, extracted) = self.extract(text, found, second).await;
        match extracted {
            Extracted::Stored {
                changed,
                rejected: 0,
            } if changed.len() == 1 => (message, changed[0]),
            other => panic!("{text}: {other:?}"),
        }
    }

    pub(crate) async fn remember(
        &self,
        content: &str,
        scope: MemoryScope,
        second: u64,
    ) -> MemoryId {
        let command = Remember {
            caller: self.place.caller,
            workspace: self.place.workspace,
            content: content.to_owned(),
            kind: MemoryKind::Fact,
            scope,
            memory: MemoryId::new(),
            message: MessageId::new(),
            at: seconds(second),
        };
        self.store.run(command).await.expect("remembers")
    }

    pub(crate) async fn correct(&self, memory: MemoryId, content: &str, second: u64) {
        let command = CorrectMemory {
            caller: self.place.caller,
            workspace: self.place.workspace,
            memory,
            content: content.to_owned(),
            message: MessageId::new(),
            at: seconds(second),
        };
        self.store.run(command).await.expect("corrects");
    }

    pub(crate) async fn forget(&self, target: ForgetTarget, second: u64) -> Forgotten {
        let command = Forget {
            caller: self.place.caller,
            workspace: self.place.workspace,
            target,
            receipt: Uuid::now_v7(),
            at: seconds(second),
        };
        self.store.run(command).await.expect("forgets")
    }

    /// Reads everything that is to be derived anew, as an extractor does that takes each message for what it says.
    pub(crate) async fn derive(&self, second: u64) {
        let reads = self.store.reads();
        let late = seconds(second);
        for group in reads
            .list_due_extractions(late, late, 100)
            .await
            .expect("reads")
        {
            if group.workspace != self.place.workspace {
                continue;
            }
            while let Some(claim) = self.claim(group, second).await {
                let found: Vec<Value> = claim
                    .messages
                    .iter()
                    .map(|(message, _)| with_evidence(fact(&message.text), message.id))
                    .collect();
                self.store(&claim, &found, second).await;
            }
        }
    }

    pub(crate) async fn memory(&self, id: MemoryId) -> Memory {
        let found = self.store.reads().list_memories_by_id(&[id]).await;
        found.expect("reads").pop().expect("a memory")
    }

    pub(crate) async fn versions(&self, id: MemoryId) -> Vec<MemoryVersion> {
        let found = self.store.reads().list_memory_versions(&[id]).await;
        found.expect("reads")
    }

    /// What holds.
    pub(crate) async fn holds(&self, id: MemoryId) -> Option<String> {
        let found = self.store.reads().list_contents(&[id]).await;
        found.expect("reads").pop().map(|(_, content)| content)
    }

    pub(crate) async fn evidence(&self, id: MemoryId) -> Vec<Evidence> {
        let found = self.store.reads().list_evidence(&[id]).await;
        found.expect("reads")
    }

    /// Evidence of one version: messages and what they are to it.
    pub(crate) async fn edges(
        &self,
        id: MemoryId,
        number: u32,
    ) -> Vec<(MessageId, EvidenceRole, bool)> {
        let mut edges: Vec<_> = self
            .evidence(id)
            .await
            .into_iter()
            .filter(|edge| edge.number == number)
            .map(|edge| (edge.message, edge.role, edge.is_usable))
            .collect();
        edges.sort_unstable_by_key(|(message, ..)| *message);
        edges
    }

    pub(crate) async fn profile(&self) -> Profile {
        let read = Profile::read(self.store.reads(), self.place.workspace, self.user()).await;
        read.expect("reads")
    }
}

/// A candidate of the workspace for the profile, without its evidence.
pub(crate) fn fact(content: &str) -> Value {
    json!({"content": content, "kind": "fact", "scope": "workspace", "basis": "explicit", "relation": "origin", "for_profile": true})
}

/// The same for a memory that is known.
pub(crate) fn about(memory: MemoryId, relation: &str, content: &str) -> Value {
    let mut found = fact(content);
    found["relation"] = json!(relation);
    found["memory_id"] = json!(memory);
    found
}

pub(crate) fn with_evidence(mut found: Value, message: MessageId) -> Value {
    if found.get("evidence").is_none() {
        found["evidence"] = json!([message]);
    }
    found
}

pub(crate) fn extraction(claim: &Claim, found: &[Value], at: Timestamp) -> StoreExtraction {
    StoreExtraction {
        group: claim.group,
        read: claim
            .messages
            .iter()
            .map(|(message, _)| message.id)
            .collect(),
        shown: claim
            .shown
            .iter()
            .map(|shown| (shown.memory.id, shown.memory.current))
            .collect(),
        forgets: claim.forgets,
        candidates: found.iter().map(Candidate::read).collect(),
        spare: found.iter().map(|_| MemoryId::new()).collect(),
        at,
    }
}

/// Rows that hold this text, beside the names of their tables; those of the conversation and the journal are not looked at.
pub(crate) async fn rows_with(database: &TestDatabase, text: &str) -> Vec<(String, String)> {
    let connection = Database::connect(&database.url).await.expect("connects");
    let backend = connection.get_database_backend();
    let query = async |sql: &str| {
        let statement = Statement::from_string(backend, sql);
        connection.query_all_raw(statement).await.expect("reads")
    };
    let names = if database.is_postgres() {
        "select tablename::text as name from pg_tables where schemaname = 'public'"
    } else {
        "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'"
    };
    let mut found = Vec::new();
    for row in query(names).await {
        let name: String = row.try_get("", "name").expect("a name");
        // The conversation, the journal, and exchanges of lines are only ever appended to.
        if ["messages", "journal", "line_exchanges"].contains(&name.as_str()) {
            continue;
        }
        let whole = if database.is_postgres() {
            "t::text".to_owned()
        } else {
            let columns = query(&format!("select name from pragma_table_info('{name}')")).await;
            let columns: Vec<String> = columns
                .iter()
                .map(|column| column.try_get("", "name").expect("a name"))
                .map(|column: String| format!("coalesce(cast({column} as text), '')"))
                .collect();
            columns.join(" || ' ' || ")
        };
        let place = if database.is_postgres() {
            format!("position('{text}' in {whole})")
        } else {
            format!("instr({whole}, '{text}')")
        };
        // Ids are bytes, and no text.
        let bytes = if database.is_postgres() {
            format!("convert_to({whole}, 'UTF8')")
        } else {
            format!("cast({whole} as blob)")
        };
        let sql = format!("select {bytes} as whole from {name} t where {place} > 0");
        for row in query(&sql).await {
            let whole: Vec<u8> = row.try_get("", "whole").expect("bytes");
            let whole = String::from_utf8_lossy(&whole).into_owned();
            found.push((name.clone(), whole));
        }
    }
    connection.close().await.expect("closes");
    found
}

/// The tables of such rows.
pub(crate) async fn tables_with(database: &TestDatabase, text: &str) -> Vec<String> {
    let rows = rows_with(database, text).await;
    rows.into_iter().map(|(table, _)| table).collect()
}

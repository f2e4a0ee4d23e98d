//! Recalling: in time, for the person and the task alone, with what it rests on; and asking to forget.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use domain::ids::{MemoryId, MessageId, UserId};
use domain::memory::{
    Evidence, EvidenceRole, Forget, ForgetTarget, Memory, MemoryBasis, MemoryKind, MemoryScope,
    MemoryState, Remember,
};
use domain::message::{Message, MessageState};
use domain::search::{Found, SearchAnswer, SearchIndex, SearchKind, SearchLeg, SearchRequest};
use domain::store::StoreExt as _;
use domain::time::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{House, on_both_databases};

on_both_databases!(
    recall_finds_what_is_for_the_task_with_what_it_rests_on,
    what_was_said_is_recalled_with_what_stands_beside_it,
    recall_ends_in_time_and_says_what_it_lacks,
    what_was_forgotten_is_recalled_by_no_tool,
);

/// An index that finds these things, after a while.
struct Finds(Vec<Uuid>, Duration);

#[async_trait]
impl SearchIndex for Finds {
    async fn find(&self, _: &SearchRequest) -> SearchAnswer {
        tokio::time::sleep(self.1).await;
        let found = |id: &Uuid| Found {
            kind: SearchKind::Memory,
            id: *id,
            score: 1.0,
            keyword: None,
            vector: None,
            at: Timestamp::from_micros(0),
        };
        SearchAnswer {
            found: self.0.iter().map(found).collect(),
            missing: vec![SearchLeg::Vector],
            is_current: true,
        }
    }

    fn excerpt(&self, text: &str, _: &str, _: usize) -> String {
        text.to_owned()
    }
}

async fn remember(house: &House, content: &str, scope: MemoryScope) -> MemoryId {
    let command = Remember {
        caller: house.owner,
        workspace: house.workspace,
        content: content.to_owned(),
        kind: MemoryKind::Fact,
        scope,
        memory: MemoryId::new(),
        message: MessageId::new(),
        at: house.now(),
    };
    house.services.store.run(command).await.expect("remembers")
}

/// Somebody else's own, stored as it is.
#[derive(Clone)]
struct Put(Memory);

#[async_trait]
impl domain::store::Command for Put {
    type Output = ();
    const NAME: &'static str = "test.put_memory";

    fn scope(&self) -> domain::store::Scope {
        domain::store::Scope::Workspace(self.0.workspace)
    }

    async fn run(&self, tx: &dyn domain::store::Transaction) -> domain::Result<()> {
        let version = domain::memory::MemoryVersion {
            memory: self.0.id,
            number: 1,
            content: Some("Secret of somebody else".to_owned()),
            words: None,
            state: MemoryState::Active,
            basis: MemoryBasis::Explicit,
            valid_from: None,
            valid_to: None,
            derived_from: Vec::new(),
            created_at: self.0.created_at,
        };
        tx.put_memory(&self.0).await?;
        tx.put_memory_version(self.0.workspace, &version).await
    }
}

async fn recall_finds_what_is_for_the_task_with_what_it_rests_on(mut house: House) {
    let own = remember(
        &house,
        "I prefer close-ups",
        MemoryScope::Person(house.owner.user),
    )
    .await;
    let brand = remember(&house, "Our brand is teal", MemoryScope::Workspace).await;
    let here = remember(&house, "The keeper is old", MemoryScope::Task(house.task)).await;
    let other = house.new_task(house.owner, house.workspace, "en").await;
    let elsewhere = remember(&house, "The fox is red", MemoryScope::Task(other)).await;
    let foreign = Memory {
        id: MemoryId::new(),
        workspace: house.workspace,
        kind: MemoryKind::Fact,
        scope: MemoryScope::Person(UserId::new()),
        basis: MemoryBasis::Explicit,
        state: MemoryState::Active,
        current: Some(1),
        versions: 1,
        words: None,
        confirmations: 0,
        for_profile: true,
        created_at: house.now(),
        updated_at: house.now(),
    };
    let put = Put(foreign.clone());
    house.services.store.run(put).await.expect("is stored");
    let all = [foreign.id, elsewhere, here, brand, own].map(MemoryId::uuid);
    house.services.search = Arc::new(Finds(all.to_vec(), Duration::ZERO));
    let recalled = house
        .done("recall", json!({"query": "what is known"}))
        .await;
    let memories = recalled["memories"].as_array().expect("a list");
    let contents: Vec<&Value> = memories.iter().map(|one| &one["content"]).collect();
    assert_eq!(
        contents,
        [
            "The keeper is old",
            "Our brand is teal",
            "I prefer close-ups"
        ]
    );
    assert_eq!(memories[1]["memory_id"], json!(brand));
    assert_eq!(memories[1]["evidence"].as_array().map(Vec::len), Some(1));
    assert_eq!(recalled["degraded"], json!(["meanings"]));
    let asked = json!({"query": "what is known", "scopes": ["workspace"]});
    let recalled = house.done("recall", asked).await;
    assert_eq!(recalled["memories"].as_array().map(Vec::len), Some(1));
    let refused = house
        .refused("recall", json!({"query": "x", "scopes": ["workspce"]}))
        .await;
    assert!(refused.contains("scopes"), "{refused}");
}

/// A thread, and a memory that rests on one of its messages.
#[derive(Clone)]
struct Say(Vec<Message>, Memory, MessageId);

#[async_trait]
impl domain::store::Command for Say {
    type Output = ();
    const NAME: &'static str = "test.say";

    fn scope(&self) -> domain::store::Scope {
        domain::store::Scope::Workspace(self.1.workspace)
    }

    async fn run(&self, tx: &dyn domain::store::Transaction) -> domain::Result<()> {
        for message in &self.0 {
            tx.insert_message(message).await?;
        }
        Put(self.1.clone()).run(tx).await?;
        let evidence = Evidence {
            memory: self.1.id,
            number: 1,
            message: self.2,
            role: EvidenceRole::Origin,
            quote: None,
            is_usable: true,
        };
        tx.insert_evidence(self.1.workspace, &[evidence]).await
    }
}

async fn what_was_said_is_recalled_with_what_stands_beside_it(mut house: House) {
    let message = |text: &str, minute: i64| Message {
        id: MessageId::new(),
        workspace: house.workspace,
        main_of: None,
        task: Some(house.task),
        author: house.owner.actor(),
        text: text.to_owned(),
        language: None,
        created_at: Timestamp::from_micros(minute * 60_000_000),
        state: MessageState::Consumed,
        taken_by: None,
        replaced_by: None,
        reply_to: None,
        attachments: Vec::new(),
        by_program: false,
        routing: None,
    };
    let kayak = message("I have bought a kayak", 1);
    let lisbon = message("It was in Lisbon", 2);
    let later = message("Good morning", 200);
    let memory = Memory {
        id: MemoryId::new(),
        workspace: house.workspace,
        kind: MemoryKind::Fact,
        scope: MemoryScope::Workspace,
        basis: MemoryBasis::Explicit,
        state: MemoryState::Active,
        current: Some(1),
        versions: 1,
        words: None,
        confirmations: 0,
        for_profile: false,
        created_at: house.now(),
        updated_at: house.now(),
    };
    let (first, second) = (kayak.id, lisbon.id);
    let say = Say(vec![kayak, lisbon, later], memory.clone(), second);
    house.services.store.run(say).await.expect("is stored");
    house.services.search = Arc::new(Finds(vec![first.uuid()], Duration::ZERO));
    let recalled = house.done("recall", json!({"query": "kayak"})).await;
    let said = recalled["said"].as_array().expect("a list");
    let ids: Vec<&Value> = said.iter().map(|one| &one["message_id"]).collect();
    assert_eq!(ids, [&json!(first), &json!(second)], "{recalled}");
    assert_eq!(said[0]["after"]["text"], "It was in Lisbon");
    assert_eq!(said[0]["before"], Value::Null);
    assert_eq!(said[1]["before"]["text"], "I have bought a kayak");
    assert_eq!(said[1]["after"], Value::Null, "hours later is another talk");
    // The memory was not found by itself, but by what it rests on.
    assert_eq!(recalled["memories"][0]["memory_id"], json!(memory.id));
    let asked = json!({"query": "kayak", "scopes": ["person"]});
    let elsewhere = house.done("recall", asked).await;
    assert_eq!(elsewhere["said"], json!([]));
    // What may not be used stands beside nothing any more.
    let forget = Forget {
        caller: house.owner,
        workspace: house.workspace,
        target: ForgetTarget::Message(second),
        receipt: Uuid::now_v7(),
        at: house.now(),
    };
    house.services.store.run(forget).await.expect("forgets");
    house.claim(true).await;
    let recalled = house.done("recall", json!({"query": "the kayak"})).await;
    let said = recalled["said"].as_array().expect("a list");
    assert_eq!(said.len(), 1, "{recalled}");
    assert_eq!(said[0]["after"], Value::Null);
    assert_eq!(recalled["memories"], json!([]));
}

async fn recall_ends_in_time_and_says_what_it_lacks(mut house: House) {
    remember(&house, "Our brand is teal", MemoryScope::Workspace).await;
    house.services.search = Arc::new(Finds(Vec::new(), Duration::from_secs(5)));
    let began = Instant::now();
    let recalled = house.done("recall", json!({"query": "brand"})).await;
    assert!(
        began.elapsed() < Duration::from_secs(4),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(recalled["memories"], json!([]));
    assert_eq!(recalled["degraded"], json!(["words", "meanings"]));
}

async fn what_was_forgotten_is_recalled_by_no_tool(mut house: House) {
    let brand = remember(&house, "Our brand is zinnober9", MemoryScope::Workspace).await;
    house.services.search = Arc::new(Finds(vec![brand.uuid()], Duration::ZERO));
    house
        .done("reply", json!({"text": "I use zinnober9"}))
        .await;
    house.done("recall", json!({"query": "brand"})).await;
    let forget = Forget {
        caller: house.owner,
        workspace: house.workspace,
        target: ForgetTarget::Memory(brand),
        receipt: Uuid::now_v7(),
        at: house.now(),
    };
    house.services.store.run(forget).await.expect("forgets");
    // The decision that was under way does not count; the next one is made with what is left.
    house.claim(true).await;
    for (tool, arguments) in [
        ("recall", json!({"query": "brand"})),
        ("search", json!({"query": "zinnober9"})),
        ("read_journal", json!({})),
        ("read_journal", json!({"after": 0, "limit": 50})),
    ] {
        let result = house.act(tool, arguments).await.result.expect("a result");
        let found = result["matches"].as_array().map_or(0, Vec::len);
        assert_eq!(found, 0, "{tool}: {result}");
        let entries = result["entries"].as_array().cloned().unwrap_or_default();
        let told = entries.iter().filter(|entry| {
            let text = entry["text"].as_str().unwrap_or_default();
            text.contains("zinnober9")
        });
        assert_eq!(told.count(), 0, "{tool}: {result}");
    }
    let gone = house
        .failed("propose_forget", json!({"memory_id": brand}))
        .await;
    assert!(gone.0.contains("was not found"), "{gone:?}");
}

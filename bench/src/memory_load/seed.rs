//! Puts conversations and memories into a store, many with one command.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use domain::actor::Actor;
use domain::event::{EventKind, NewEvent, Subject};
use domain::ids::{MemoryId, MessageId, TaskId, TokenId, UserId, WorkspaceId};
use domain::memory::{
    Evidence, EvidenceRole, Memory, MemoryBasis, MemoryKind, MemoryScope, MemoryState,
    MemoryVersion,
};
use domain::message::{Message, MessageState};
use domain::people::{ApiToken, Bootstrap, TokenKind, User, Workspace};
use domain::store::{Command, Scope, SharedStore, StoreExt as _, Transaction};
use domain::task::{Autonomy, Course, Task, TaskKind, TaskStatus, Usage};
use domain::time::Timestamp;
use uuid::Uuid;

use super::conversations::Conversation;

const SECOND: i64 = 1_000_000;

/// A new installation with the conversation in the thread of a task; where each message stands in it.
pub(super) async fn tell(
    store: &SharedStore,
    conversation: &Conversation,
) -> Result<(Task, HashMap<MessageId, usize>)> {
    let at = Timestamp::from_micros(1_600_000_000 * SECOND);
    let (owner, workspace) = (UserId::new(), WorkspaceId::new());
    let command = Bootstrap {
        user: User {
            id: owner,
            name: "Owner".to_owned(),
            email: None,
            created_in: None,
            created_at: at,
        },
        workspace: Workspace {
            id: workspace,
            name: conversation.id.clone(),
            created_at: at,
        },
        token: ApiToken {
            id: TokenId::new(),
            user: owner,
            label: "first".to_owned(),
            kind: TokenKind::Personal,
            secret_hash: [7; 32],
            created_at: at,
            last_used_at: None,
            expires_at: None,
        },
    };
    anyhow::ensure!(store.run(command).await?, "it has an owner");
    let task = task(workspace, owner, at);
    let mut speakers: BTreeMap<&str, UserId> = BTreeMap::new();
    let mut messages = Vec::new();
    for turn in &conversation.turns {
        // The first who speaks is whose task it is.
        let known = speakers.len();
        let author = *speakers
            .entry(&turn.speaker)
            .or_insert_with(|| if known == 0 { owner } else { UserId::new() });
        messages.push(message(&task, author, (turn.at, &turn.text)));
    }
    let ids = messages.iter().map(|message| message.id).zip(0..);
    let places = ids.collect();
    let command = PutThread {
        task: task.clone(),
        messages,
    };
    store.run(command).await?;
    Ok((task, places))
}

fn message(task: &Task, author: UserId, (seconds, text): (u64, &str)) -> Message {
    Message {
        id: MessageId::new(),
        workspace: task.workspace,
        main_of: None,
        task: Some(task.id),
        author: Actor::Person(author),
        text: text.to_owned(),
        language: None,
        created_at: Timestamp::from_micros(seconds as i64 * SECOND),
        state: MessageState::Consumed,
        taken_by: None,
        replaced_by: None,
        reply_to: None,
        attachments: Vec::new(),
        by_program: false,
        routing: None,
    }
}

fn task(workspace: WorkspaceId, owner: UserId, at: Timestamp) -> Task {
    Task {
        id: TaskId::new(),
        workspace,
        kind: TaskKind::Persistent,
        status: TaskStatus::Delivered,
        status_reason: None,
        title: "what was said".to_owned(),
        goal: "what was said".to_owned(),
        brief: String::new(),
        language: "en".to_owned(),
        created_by: owner,
        origin: None,
        main_of: None,
        autonomy: Autonomy::AskAtCheckpoints,
        budget_micros: None,
        created_at: at,
        updated_at: at,
        journal_head: 0,
        news_head: 0,
        active_turn: None,
        course: Course::default(),
        usage: Usage::default(),
    }
}

struct PutThread {
    task: Task,
    messages: Vec<Message>,
}

#[async_trait]
impl Command for PutThread {
    type Output = ();
    const NAME: &'static str = "bench.put_thread";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.task.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> domain::Result<()> {
        tx.insert_task(&self.task).await?;
        let mut events = Vec::new();
        for message in &self.messages {
            tx.insert_message(message).await?;
            events.push(posted(message));
        }
        tx.emit(self.task.workspace, events).await
    }
}

fn posted(message: &Message) -> NewEvent {
    NewEvent {
        kind: EventKind::MessagePosted,
        subject: Subject::Message(message.id),
        task: message.task,
        actor: message.author.clone(),
        at: message.created_at,
        data: serde_json::json!({"state": message.state}),
    }
}

/// Memories of an owner, and one fact that as many others as `descendants` says rest on.
pub(super) async fn remember(
    store: &SharedStore,
    (workspace, owner): (WorkspaceId, UserId),
    (memories, descendants): (u64, u64),
) -> Result<MemoryId> {
    const AT_ONCE: u64 = 500;
    let mut from = 0;
    while from < memories {
        let to = memories.min(from + AT_ONCE);
        let rows = (from..to).map(|number| row((workspace, owner), number, None));
        store
            .run(PutMemories {
                workspace,
                rows: rows.collect(),
            })
            .await?;
        from = to;
    }
    // Half of them rest on the same message, and half on one of those.
    let fact = row((workspace, owner), memories, None);
    let mut rows = vec![fact];
    for number in 1..=descendants {
        let is_said = number <= descendants / 2;
        let mut one = row((workspace, owner), memories + number, Some(&rows[0]));
        if !is_said {
            let parent = rows[(number - descendants / 2) as usize].memory.id;
            one.version.derived_from = vec![(parent, 1)];
            one.message = row((workspace, owner), memories + number, None).message;
            one.evidence.message = one.message.id;
            one.evidence.role = EvidenceRole::Confirm;
        }
        rows.push(one);
    }
    let fact = rows.first().map(|row| row.memory.id);
    store.run(PutMemories { workspace, rows }).await?;
    fact.context("there is no fact")
}

#[derive(Clone)]
struct Row {
    memory: Memory,
    version: MemoryVersion,
    message: Message,
    evidence: Evidence,
}

/// A memory with a message of its own, or with that of another one.
fn row((workspace, owner): (WorkspaceId, UserId), number: u64, beside: Option<&Row>) -> Row {
    let seconds = 1_600_000_000 + number;
    let at = Timestamp::from_micros(seconds as i64 * SECOND);
    let content = format!(
        "Fact {number}: shelf {} holds jar {}",
        number % 977,
        number % 7_919
    );
    let words = Some(Uuid::new_v5(&workspace.uuid(), content.as_bytes()));
    let scope = if number.is_multiple_of(2) {
        MemoryScope::Person(owner)
    } else {
        MemoryScope::Workspace
    };
    let id = MemoryId::new();
    let said = task(workspace, owner, at);
    let mut message = message(&said, owner, (seconds, &content));
    (message.task, message.main_of) = (None, Some(owner));
    if let Some(beside) = beside {
        message = beside.message.clone();
    }
    Row {
        evidence: Evidence {
            memory: id,
            number: 1,
            message: message.id,
            role: EvidenceRole::Origin,
            quote: Some(content.clone()),
            is_usable: true,
        },
        memory: Memory {
            id,
            workspace,
            kind: MemoryKind::Fact,
            scope,
            basis: MemoryBasis::Explicit,
            state: MemoryState::Active,
            current: Some(1),
            versions: 1,
            words,
            confirmations: 0,
            for_profile: number.is_multiple_of(2_500),
            created_at: at,
            updated_at: at,
        },
        version: MemoryVersion {
            memory: id,
            number: 1,
            content: Some(content),
            words,
            state: MemoryState::Active,
            basis: MemoryBasis::Explicit,
            valid_from: Some(at),
            valid_to: None,
            derived_from: Vec::new(),
            created_at: at,
        },
        message,
    }
}

struct PutMemories {
    workspace: WorkspaceId,
    rows: Vec<Row>,
}

#[async_trait]
impl Command for PutMemories {
    type Output = ();
    const NAME: &'static str = "bench.put_memories";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> domain::Result<()> {
        let mut told = std::collections::HashSet::new();
        for row in &self.rows {
            if told.insert(row.message.id) {
                tx.insert_message(&row.message).await?;
            }
            tx.put_memory(&row.memory).await?;
            tx.put_memory_version(self.workspace, &row.version).await?;
        }
        let evidence: Vec<Evidence> = self.rows.iter().map(|row| row.evidence.clone()).collect();
        tx.insert_evidence(self.workspace, &evidence).await
    }
}

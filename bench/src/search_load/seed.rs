//! Puts made-up tasks and their vectors into a store, many with one command.

use std::time::Instant;

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use bytes::Bytes;
use domain::actor::Actor;
use domain::embedding::{Embedding, EmbeddingMark};
use domain::event::{EventKind, NewEvent, Sequence, Subject};
use domain::ids::{TokenId, UserId, WorkspaceId};
use domain::people::{ApiToken, Bootstrap, Member, Role, TokenKind, User, Workspace};
use domain::search::SearchKind;
use domain::store::{Command, Scope, SharedStore, StoreExt as _, Transaction};
use domain::task::{Autonomy, Course, Projections, Task, TaskKind, TaskStatus, Usage};
use domain::time::{Clock as _, SystemClock, Timestamp};
use uuid::Uuid;

use super::MODEL;
use super::made_up::{Made, Text, vector, workspace_id};

/// Tasks of one command.
const TASKS: u64 = 500;
/// The name of the workspace that is made last: it says that all is there.
const DONE: &str = "all is there";

/// Fills the store where it is not filled; whose everything is.
pub(super) async fn fill(store: &SharedStore, made: &Made) -> Result<UserId> {
    let owner = UserId::from_uuid(Uuid::from_u128(0x0003_0000_0000_7000_8000_0000_0000_0000));
    let done = WorkspaceId::from_uuid(Uuid::from_u128(0x0004_0000_0000_7000_8000_0000_0000_0000));
    if !store.reads().list_workspaces(&[done]).await?.is_empty() {
        println!("{} tasks are there from an earlier run", made.tasks);
        return Ok(owner);
    }
    let began = Instant::now();
    bootstrap(store, owner)
        .await
        .context("the store is of another run; remove it")?;
    for (place, start) in made.starts.iter().enumerate() {
        let end = made.starts.get(place + 1).copied().unwrap_or(made.tasks);
        let workspace = workspace_id(place);
        store
            .run(PutWorkspace {
                id: workspace,
                name: "workspace".to_owned(),
                owner,
            })
            .await?;
        let mut from = *start;
        while from < end {
            let to = end.min(from + TASKS);
            let texts: Vec<Text> = (from..to).map(|number| made.text(number)).collect();
            store.run(PutTasks::new(workspace, owner, &texts)).await?;
            from = to;
        }
    }
    store
        .run(PutWorkspace {
            id: done,
            name: DONE.to_owned(),
            owner,
        })
        .await?;
    println!(
        "{} tasks were stored in {:.0} s",
        made.tasks,
        began.elapsed().as_secs_f64()
    );
    Ok(owner)
}

async fn bootstrap(store: &SharedStore, owner: UserId) -> Result<()> {
    let at = SystemClock.now();
    let command = Bootstrap {
        user: User {
            id: owner,
            name: "Owner".to_owned(),
            email: None,
            created_in: None,
            created_at: at,
        },
        workspace: Workspace {
            id: WorkspaceId::new(),
            name: "first".to_owned(),
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
    Ok(())
}

struct PutWorkspace {
    id: WorkspaceId,
    name: String,
    owner: UserId,
}

#[async_trait]
impl Command for PutWorkspace {
    type Output = ();
    const NAME: &'static str = "bench.put_workspace";

    fn scope(&self) -> Scope {
        Scope::Installation
    }

    async fn run(&self, tx: &dyn Transaction) -> domain::Result<()> {
        let at = Timestamp::from_micros(1_700_000_000_000_000);
        let workspace = Workspace {
            id: self.id,
            name: self.name.clone(),
            created_at: at,
        };
        tx.insert_workspace(&workspace).await?;
        let member = Member {
            workspace: self.id,
            user: self.owner,
            role: Role::Owner,
            joined_at: at,
        };
        tx.upsert_member(&member).await
    }
}

struct PutTasks {
    workspace: WorkspaceId,
    tasks: Vec<(Task, Projections)>,
    embeddings: Vec<Embedding>,
}

impl PutTasks {
    fn new(workspace: WorkspaceId, owner: UserId, texts: &[Text]) -> Self {
        let embeddings = texts.iter().map(|text| Embedding {
            kind: SearchKind::Task,
            id: text.task.uuid(),
            owner: None,
            at: Timestamp::from_micros(1_700_000_000_000_000),
            text_hash: [1; 32],
            vector: Some(Bytes::from(search::kept_vector(&vector(&format!(
                "{} {} {}",
                text.title, text.goal, text.line
            ))))),
        });
        Self {
            workspace,
            embeddings: embeddings.collect(),
            tasks: texts
                .iter()
                .map(|text| task(workspace, owner, text))
                .collect(),
        }
    }
}

#[async_trait]
impl Command for PutTasks {
    type Output = ();
    const NAME: &'static str = "bench.put_tasks";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.workspace)
    }

    async fn run(&self, tx: &dyn Transaction) -> domain::Result<()> {
        for (task, projections) in &self.tasks {
            tx.insert_task(task).await?;
            tx.put_projections(self.workspace, task.id, projections)
                .await?;
        }
        if let Some((task, _)) = self.tasks.last() {
            let event = NewEvent {
                kind: EventKind::TaskCreated,
                subject: Subject::Task(task.id),
                task: Some(task.id),
                actor: Actor::System,
                at: task.created_at,
                data: serde_json::json!({}),
            };
            tx.emit(self.workspace, vec![event]).await?;
        }
        let head = tx.event_head(self.workspace).await?;
        let mark = EmbeddingMark {
            writes: head.0,
            sequence: Some(Sequence(head.0)),
        };
        tx.put_embeddings(self.workspace, MODEL, mark.writes, &self.embeddings)
            .await?;
        tx.put_embedding_mark(self.workspace, MODEL, mark).await
    }
}

fn task(workspace: WorkspaceId, owner: UserId, text: &Text) -> (Task, Projections) {
    let at = Timestamp::from_micros(1_700_000_000_000_000);
    let task = Task {
        id: text.task,
        workspace,
        kind: TaskKind::Persistent,
        status: TaskStatus::Delivered,
        status_reason: None,
        title: text.title.clone(),
        goal: text.goal.clone(),
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
    };
    let projections = Projections {
        summary: String::new(),
        short_line: text.line.clone(),
        checklist: Vec::new(),
        rewritten_at: Some(at),
        journal_sequence: 0,
    };
    (task, projections)
}

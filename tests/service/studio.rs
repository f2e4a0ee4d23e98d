//! An owner with a workspace, and document services on it that stand for processes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::actor::Actor;
use domain::document::{
    Access, Connection, Content, DocumentOptions, DocumentService, Editor, Inbound, Join, Outbound,
    Touched, Version,
};
use domain::ids::{ConnectionId, TaskId, TokenId, UserId, WorkId, WorkspaceId};
use domain::people::{ApiToken, Bootstrap, Caller, TokenKind, User, Workspace};
use domain::store::StoreExt as _;
use domain::task::{Autonomy, Course, CreateTask, Task, TaskKind, TaskStatus, Usage};
use domain::time::{SystemClock, Timestamp};
use domain::turn::Spare;
use domain::work::{CreateWork, PendingChange, Work, WorkKind};
use storage::Storage;

use crate::place::Place;
use crate::store::HandledStore;

/// The time at which everything is made.
const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);
/// How long anything may take that should happen soon. Generous: the machine may be busy with other tests.
const SOON: Duration = Duration::from_secs(30);

/// Waits for what should happen soon.
pub(crate) async fn soon<T>(what: &str, happening: impl Future<Output = T>) -> T {
    let happened = tokio::time::timeout(SOON, happening).await;
    happened.unwrap_or_else(|_| panic!("it did not come about: {what}"))
}

/// An installation with an owner and one workspace.
pub(crate) struct Studio {
    storage: Storage,
    pub(crate) caller: Caller,
    pub(crate) workspace: WorkspaceId,
}

/// A process: a document service with hands on its store.
pub(crate) struct Process {
    pub(crate) store: Arc<HandledStore>,
    pub(crate) documents: DocumentService,
}

impl Studio {
    /// Makes the owner and the workspace.
    pub(crate) async fn open(place: &Place) -> Self {
        let storage = place.open().await;
        let (user, workspace, token) = (UserId::new(), WorkspaceId::new(), TokenId::new());
        let bootstrap = Bootstrap {
            user: User {
                id: user,
                name: "Ada".into(),
                email: None,
                created_in: None,
                created_at: START,
            },
            workspace: Workspace {
                id: workspace,
                name: "Studio".into(),
                created_at: START,
            },
            token: ApiToken {
                id: token,
                user,
                label: "first".into(),
                kind: TokenKind::Personal,
                secret_hash: [7; 32],
                created_at: START,
                last_used_at: None,
                expires_at: None,
            },
        };
        let made = storage.store.run(bootstrap).await.expect("bootstraps");
        assert!(made, "the installation was empty");
        let kind = TokenKind::Personal;
        Self {
            storage,
            caller: Caller::new(user, token, kind),
            workspace,
        }
    }

    /// The agent at work on a new task.
    pub(crate) async fn agent(&self) -> Actor {
        let task = Task {
            id: TaskId::new(),
            workspace: self.workspace,
            kind: TaskKind::Persistent,
            status: TaskStatus::Queued,
            status_reason: None,
            title: "A task".into(),
            goal: "A task".into(),
            brief: String::new(),
            language: "en".into(),
            created_by: self.caller.user,
            origin: None,
            main_of: None,
            autonomy: Autonomy::AskAtCheckpoints,
            budget_micros: None,
            created_at: START,
            updated_at: START,
            journal_head: 0,
            news_head: 0,
            active_turn: None,
            course: Course::default(),
            usage: Usage::default(),
        };
        let command = CreateTask {
            caller: self.caller,
            task,
            works: Vec::new(),
            idempotency: None,
            spare: Spare::new(),
        };
        let task = self.storage.store.run(command).await.expect("makes a task");
        Actor::Agent {
            task,
            turn: 1,
            step: 1,
        }
    }

    /// Starts a process.
    pub(crate) fn process(&self) -> Process {
        self.process_with(DocumentOptions::default())
    }

    /// Starts a process with these options.
    pub(crate) fn process_with(&self, options: DocumentOptions) -> Process {
        let store = HandledStore::new(self.storage.store.clone());
        let documents = DocumentService::start(options, store.clone(), Arc::new(SystemClock));
        Process { store, documents }
    }

    /// Makes a work with this content.
    pub(crate) async fn create(&self, kind: WorkKind, content: (Bytes, Touched)) -> WorkId {
        let actor = self.caller.actor();
        let (update, touched) = content;
        let work = Work {
            id: WorkId::new(),
            workspace: self.workspace,
            kind,
            title: "A work".into(),
            version: Version(0),
            created_at: START,
            updated_at: START,
            updated_by: actor.clone(),
            deleted_at: None,
            asset: None,
        };
        let command = CreateWork {
            user: self.caller.user,
            fence: None,
            work,
            content: Some(PendingChange {
                actor,
                at: START,
                update,
                touched,
            }),
            idempotency: None,
        };
        self.storage.store.run(command).await.expect("makes a work")
    }

    /// Makes a text.
    pub(crate) async fn create_text(&self, process: &Process, text: &str) -> WorkId {
        let content = Content {
            text: text.into(),
            ..Content::default()
        };
        let seed = process.documents.seed(&content, WorkKind::Text);
        self.create(WorkKind::Text, seed.expect("a seed")).await
    }

    /// The owner's editor on a work, which has what the process has.
    pub(crate) async fn join(&self, process: &Process, work: WorkId) -> Connection {
        let join = Join {
            work,
            connection: ConnectionId::new(),
            actor: self.caller.actor(),
            label: "Ada".into(),
            access: Access::Write,
        };
        let connection = process.documents.join(join).await.expect("joins");
        connection
            .send(Inbound::SyncStep1(Bytes::from_static(&[0])))
            .await;
        let difference = |frame: &Outbound| matches!(frame, Outbound::SyncStep2(_));
        receive(&connection, "the difference", difference).await;
        connection
    }

    /// Ends everything.
    pub(crate) async fn close(self) {
        self.storage.close().await;
    }
}

/// Options with which a document that is not worked on rests almost at once.
pub(crate) fn quick_to_rest() -> DocumentOptions {
    DocumentOptions {
        idle_ms: 20,
        ..DocumentOptions::default()
    }
}

impl Process {
    /// Returns when every open document rests.
    pub(crate) async fn rests(&self) {
        soon("every open document rests", async {
            loop {
                let statistics = self.documents.statistics();
                if statistics.open == statistics.resting {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
    }

    /// What a work holds, read from the log and its snapshots.
    pub(crate) async fn content(&self, work: WorkId) -> Arc<Content> {
        let contents = self.documents.contents(&[work], None).await;
        contents.expect("reads").remove(0)
    }
}

/// The next frame that fits; others are passed over.
pub(crate) async fn receive(
    connection: &Connection,
    what: &str,
    fits: impl Fn(&Outbound) -> bool,
) -> Outbound {
    soon(what, async {
        loop {
            let frame = connection.next().await;
            let frame = frame.unwrap_or_else(|| panic!("the connection ended before {what}"));
            if fits(&frame) {
                return frame;
            }
        }
    })
    .await
}

/// The same task, some steps later.
pub(crate) fn later_step(actor: &Actor) -> Actor {
    let Actor::Agent { task, turn, .. } = actor else {
        panic!("{actor} is no agent");
    };
    Actor::Agent {
        task: *task,
        turn: turn + 1,
        step: 7,
    }
}

/// Somebody who edits without a key.
pub(crate) fn no_key(actor: &Actor) -> Editor {
    Editor {
        actor: actor.clone(),
        idempotency: None,
        fence: None,
    }
}

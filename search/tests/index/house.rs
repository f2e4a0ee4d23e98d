//! A store with people and workspaces, and a search beside it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use domain::document::{DocumentOptions, DocumentService, Version};
use domain::ids::{MessageId, TaskId, TokenId, UserId, WorkId, WorkspaceId};
use domain::message::{Address, Message, MessageState, PostMessage, WithdrawMessage};
use domain::people::{
    AddMember, ApiToken, Bootstrap, Caller, CreateWorkspace, Role, TokenKind, User, Workspace,
};
use domain::search::{SearchAnswer, SearchIndex as _, SearchKind, SearchRequest};
use domain::store::{SharedStore, StoreExt as _};
use domain::task::{Autonomy, Course, CreateTask, Task, TaskKind, TaskStatus, Usage};
use domain::time::{Clock as _, SystemClock, Timestamp};
use domain::turn::Spare;
use domain::work::{CreateWork, DeleteWork, RenameWork, Work, WorkKind};
use search::{EmbedderChoice, Search, SearchOptions};
use storage::Storage;
use storage::test_support::TestDatabase;
use uuid::Uuid;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_mins(1);

/// Runs each test on SQLite and, where a server is named, on PostgreSQL.
macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {$(
        mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                super::$name($crate::house::House::new(storage::test_support::TestDatabase::sqlite()).await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                if let Some(database) = storage::test_support::TestDatabase::postgres().await {
                    super::$name($crate::house::House::new(database).await).await;
                }
            }
        }
    )*};
}

pub(crate) use on_both_databases;

/// A store and what its tests need.
pub(crate) struct House {
    pub(crate) store: SharedStore,
    pub(crate) documents: DocumentService,
    pub(crate) owner: Caller,
    pub(crate) workspace: WorkspaceId,
    pub(crate) folder: PathBuf,
    storage: Storage,
    database: TestDatabase,
}

impl House {
    pub(crate) async fn new(database: TestDatabase) -> Self {
        let storage = database.open().await;
        let store = storage.store.clone();
        let clock = Arc::new(SystemClock);
        let documents =
            DocumentService::start(DocumentOptions::default(), store.clone(), clock.clone());
        let (owner, workspace) = bootstrap(&store).await;
        let folder =
            std::env::temp_dir().join(format!("atelier-search-{}", Uuid::new_v4().simple()));
        Self {
            store,
            documents,
            owner,
            workspace,
            folder,
            storage,
            database,
        }
    }

    /// A search by words over it.
    pub(crate) fn search(&self) -> Arc<Search> {
        self.search_with(EmbedderChoice::None)
    }

    pub(crate) fn search_with(&self, embedder: EmbedderChoice) -> Arc<Search> {
        let patient = Duration::from_secs(20);
        let options = SearchOptions {
            embedder,
            keyword_time: patient,
            vector_time: patient,
            seen_time: patient,
            ..SearchOptions::new(self.folder.clone())
        };
        let (store, documents) = (self.store.clone(), self.documents.clone());
        Search::start(options, store, documents, Arc::new(SystemClock))
    }

    /// Where the index lies.
    pub(crate) fn index(&self) -> PathBuf {
        self.folder.join("search")
    }

    /// How many words on the disk end so.
    pub(crate) fn words_on_disk(&self, ending: &str) -> usize {
        let (words, _) = search::words_on_disk(&self.folder).expect("the index is there");
        words.iter().filter(|word| word.ends_with(ending)).count()
    }

    /// Whether every file of words belongs to a segment that is in use, as it does after a purge.
    ///
    /// Before one, a merge that is under way may have written a file of its own.
    pub(crate) fn has_only_used_files(&self) -> bool {
        let (_, segments) = search::words_on_disk(&self.folder).expect("the index is there");
        let files = std::fs::read_dir(self.index()).expect("the folder is there");
        let paths = files.flatten().map(|entry| entry.path());
        let of_words = paths.filter(|path| path.extension().is_some_and(|end| end == "term"));
        of_words.count() == segments
    }

    /// Ends everything: the test has passed.
    pub(crate) async fn leave(self, search: Arc<Search>) {
        search.stop().await;
        self.documents.stop().await;
        self.storage.close().await;
        drop(self.storage);
        self.database.remove().await;
        // A merge that was under way may still write a file.
        let is_gone = async || std::fs::remove_dir_all(&self.folder).is_ok();
        eventually("the folder goes", is_gone).await;
    }

    /// Makes the row of a task one that nobody can read.
    pub(crate) async fn damage(&self, title: &str) {
        let sql = format!("update tasks set status = 'NONSENSE' where title = '{title}'");
        self.database.execute(&sql).await;
    }

    /// Somebody else who may change this workspace.
    pub(crate) async fn editor(&self, name: &str) -> Caller {
        let new_user = UserId::new();
        let command = AddMember {
            caller: self.owner,
            workspace: self.workspace,
            email: format!("{name}@atelier.example"),
            name: Some(name.to_owned()),
            role: Role::Editor,
            new_user,
            at: SystemClock.now(),
        };
        self.store.run(command).await.expect("a member");
        caller(new_user)
    }

    /// Another workspace of the owner.
    pub(crate) async fn workspace(&self) -> WorkspaceId {
        let workspace = Workspace {
            id: WorkspaceId::new(),
            name: "another".to_owned(),
            created_at: SystemClock.now(),
        };
        let command = CreateWorkspace {
            caller: self.owner,
            workspace,
        };
        self.store.run(command).await.expect("a workspace").id
    }

    pub(crate) async fn task(&self, title: &str, goal: &str) -> TaskId {
        self.task_in(self.workspace, title, goal, &[]).await
    }

    pub(crate) async fn task_in(
        &self,
        workspace: WorkspaceId,
        title: &str,
        goal: &str,
        works: &[WorkId],
    ) -> TaskId {
        let command = CreateTask {
            caller: self.owner,
            task: new_task(workspace, self.owner.user, title, goal),
            works: works.to_vec(),
            idempotency: None,
            spare: Spare::new(),
        };
        self.store.run(command).await.expect("a task")
    }

    pub(crate) async fn work(&self, title: &str) -> WorkId {
        self.work_in(self.workspace, title).await
    }

    pub(crate) async fn work_in(&self, workspace: WorkspaceId, title: &str) -> WorkId {
        let now = SystemClock.now();
        let work = Work {
            id: WorkId::new(),
            workspace,
            kind: WorkKind::Text,
            title: title.to_owned(),
            version: Version(0),
            created_at: now,
            updated_at: now,
            updated_by: self.owner.actor(),
            deleted_at: None,
            asset: None,
        };
        let command = CreateWork {
            user: self.owner.user,
            fence: None,
            work,
            content: None,
            idempotency: None,
        };
        self.store.run(command).await.expect("a work")
    }

    pub(crate) async fn rename(&self, work: WorkId, title: &str) {
        let command = RenameWork {
            caller: self.owner,
            workspace: self.workspace,
            work,
            title: title.to_owned(),
            at: SystemClock.now(),
        };
        self.store.run(command).await.expect("renamed");
    }

    pub(crate) async fn delete(&self, work: WorkId) {
        let command = DeleteWork {
            caller: self.owner,
            workspace: self.workspace,
            work,
            at: SystemClock.now(),
        };
        self.store.run(command).await.expect("deleted");
    }

    /// A message to a task.
    pub(crate) async fn message(&self, task: TaskId, text: &str) -> MessageId {
        let message = Message {
            id: MessageId::new(),
            workspace: self.workspace,
            main_of: None,
            task: None,
            author: self.owner.actor(),
            text: text.to_owned(),
            language: None,
            created_at: SystemClock.now(),
            state: MessageState::Received,
            taken_by: None,
            replaced_by: None,
            reply_to: None,
            attachments: Vec::new(),
            by_program: false,
            routing: None,
        };
        let command = PostMessage {
            caller: self.owner,
            message,
            address: Address::Task(task),
            idempotency: None,
            spare: Spare::new(),
        };
        self.store.run(command).await.expect("a message")
    }

    pub(crate) async fn withdraw(&self, message: MessageId) {
        let command = WithdrawMessage {
            caller: self.owner,
            workspace: self.workspace,
            message,
            at: SystemClock.now(),
        };
        self.store.run(command).await.expect("taken back");
    }

    /// What the owner finds of all kinds, with everything that was written before.
    pub(crate) async fn find(&self, search: &Search, text: &str) -> Vec<Uuid> {
        let answer = self.ask(search, self.request(text).await).await;
        ids(&answer)
    }

    pub(crate) async fn request(&self, text: &str) -> SearchRequest {
        self.request_in(self.workspace, text).await
    }

    pub(crate) async fn request_in(&self, workspace: WorkspaceId, text: &str) -> SearchRequest {
        let head = self.store.reads().event_head(workspace).await;
        SearchRequest {
            workspace,
            user: self.owner.user,
            text: text.to_owned(),
            kinds: Vec::new(),
            among: Vec::new(),
            limit: 20,
            seen: Some(head.expect("the workspace is there")),
            within: None,
        }
    }

    pub(crate) async fn ask(&self, search: &Search, request: SearchRequest) -> SearchAnswer {
        let answer = search.find(&request).await;
        assert!(answer.is_current, "the index has not come to {request:?}");
        answer
    }

    /// Whether the index on the disk holds what the store holds, of this many things.
    pub(crate) async fn is_whole(&self, things: u64) -> bool {
        let (store, documents) = (self.store.clone(), self.documents.clone());
        match search::compare(&self.folder, store, documents).await {
            Ok(Some(found)) => {
                assert!(found.differing.is_empty(), "{found:?}");
                found.skipped == 0 && found.same == things
            }
            // It is being made, or was written while it was read.
            Ok(None) | Err(_) => false,
        }
    }

    pub(crate) async fn until_whole(&self, things: u64) {
        eventually("the index holds what the store holds", async || {
            self.is_whole(things).await
        })
        .await;
    }
}

/// Waits for a condition, for as long as a busy machine may take.
pub(crate) async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waited = tokio::time::timeout(PATIENCE, async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert!(waited.await.is_ok(), "never: {what}");
}

pub(crate) fn ids(answer: &SearchAnswer) -> Vec<Uuid> {
    answer.found.iter().map(|found| found.id).collect()
}

pub(crate) fn tasks_only(mut request: SearchRequest) -> SearchRequest {
    request.kinds = vec![SearchKind::Task];
    request
}

pub(crate) fn caller(user: UserId) -> Caller {
    Caller::new(user, TokenId::new(), TokenKind::Personal)
}

fn new_task(workspace: WorkspaceId, owner: UserId, title: &str, goal: &str) -> Task {
    let now = SystemClock.now();
    Task {
        id: TaskId::new(),
        workspace,
        kind: TaskKind::Persistent,
        status: TaskStatus::Queued,
        status_reason: None,
        title: title.to_owned(),
        goal: goal.to_owned(),
        brief: String::new(),
        language: "en".to_owned(),
        created_by: owner,
        origin: None,
        main_of: None,
        autonomy: Autonomy::AskAtCheckpoints,
        budget_micros: None,
        created_at: now,
        updated_at: now,
        journal_head: 0,
        news_head: 0,
        active_turn: None,
        course: Course::default(),
        usage: Usage::default(),
    }
}

async fn bootstrap(store: &SharedStore) -> (Caller, WorkspaceId) {
    let at: Timestamp = SystemClock.now();
    let user = User {
        id: UserId::new(),
        name: "Owner".to_owned(),
        email: None,
        created_in: None,
        created_at: at,
    };
    let owner = caller(user.id);
    let workspace = Workspace {
        id: WorkspaceId::new(),
        name: "house".to_owned(),
        created_at: at,
    };
    let token = ApiToken {
        id: owner.token,
        user: user.id,
        label: "first".to_owned(),
        kind: TokenKind::Personal,
        secret_hash: [7; 32],
        created_at: at,
        last_used_at: None,
        expires_at: None,
    };
    let id = workspace.id;
    let command = Bootstrap {
        user,
        workspace,
        token,
    };
    assert!(store.run(command).await.expect("the house is made"));
    (owner, id)
}

/// Stores a message as it is, wherever it stands.
#[derive(Clone)]
struct PutMessage(Message);

#[async_trait::async_trait]
impl domain::store::Command for PutMessage {
    type Output = ();
    const NAME: &'static str = "test.put_message";

    fn scope(&self) -> domain::store::Scope {
        domain::store::Scope::Workspace(self.0.workspace)
    }

    async fn run(&self, tx: &dyn domain::store::Transaction) -> domain::Result<()> {
        tx.insert_message(&self.0).await?;
        let event = domain::event::NewEvent {
            kind: domain::event::EventKind::MessagePosted,
            subject: domain::event::Subject::Message(self.0.id),
            task: None,
            actor: self.0.author.clone(),
            at: self.0.created_at,
            data: serde_json::json!({}),
        };
        tx.emit(self.0.workspace, vec![event]).await
    }
}

impl House {
    /// A message in somebody's main thread, for that person alone.
    pub(crate) async fn private_message(
        &self,
        workspace: WorkspaceId,
        owner: Caller,
        text: &str,
    ) -> MessageId {
        let id = MessageId::new();
        let message = Message {
            id,
            workspace,
            main_of: Some(owner.user),
            task: None,
            author: owner.actor(),
            text: text.to_owned(),
            language: None,
            created_at: SystemClock.now(),
            state: MessageState::Received,
            taken_by: None,
            replaced_by: None,
            reply_to: None,
            attachments: Vec::new(),
            by_program: false,
            routing: None,
        };
        self.store.run(PutMessage(message)).await.expect("stored");
        id
    }
}

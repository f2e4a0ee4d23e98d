//! A store, a search by words and meaning beside it, and an engine whose router is the offline planner.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::card::Card;
use domain::document::{DocumentOptions, DocumentService};
use domain::event::{EventKind, NewEvent, Subject};
use domain::ids::{MessageId, TokenId, UserId, WorkspaceId};
use domain::message::{Address, Message, MessageState, PostMessage};
use domain::people::{ApiToken, Bootstrap, Caller, CreateWorkspace, TokenKind, User, Workspace};
use domain::search::{SearchIndex as _, SearchKind, SearchRequest};
use domain::store::{Command, Scope, SharedStore, StoreExt as _, Transaction};
use domain::task::{LinkedWork, Projections, Task, detect_language, main_id};
use domain::time::{Clock as _, SystemClock};
use domain::turn::Spare;
use domain::work::Work;
use runtime::engine::{Engine, EngineOptions, Progress};
use runtime::executors::Executors;
use runtime::model::Prices;
use runtime::offline::Offline;
use runtime::tools::{ToolServices, Tools};
use search::{EmbedderChoice, Search, SearchOptions, WEIGHTS_FILE};
use storage::Storage;
use storage::test_support::TestDatabase;
use tokio_util::sync::CancellationToken;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_mins(2);

/// A store and what stands beside it.
pub(crate) struct House {
    pub(crate) store: SharedStore,
    pub(crate) caller: Caller,
    search: Arc<Search>,
    engine: Engine,
    documents: DocumentService,
    folder: PathBuf,
    storage: Storage,
    database: TestDatabase,
}

/// What is put into a workspace at once.
#[derive(Clone, Default)]
pub(crate) struct Contents {
    pub(crate) works: Vec<Work>,
    pub(crate) tasks: Vec<(Task, Projections, Vec<LinkedWork>)>,
    pub(crate) messages: Vec<Message>,
    pub(crate) cards: Vec<Card>,
}

/// The weights of the built-in embedder, where they were fetched.
fn weights() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let file = cache.or_else(home)?.join("atelier").join(WEIGHTS_FILE);
    file.exists().then_some(file)
}

impl House {
    /// A house whose search knows meanings; none where there are no weights.
    pub(crate) async fn new(database: TestDatabase) -> Option<Self> {
        let Some(weights) = weights() else {
            eprintln!("left out: `cargo xtask test` fetches the weights of the embedder");
            return None;
        };
        let storage = database.open().await;
        let store = storage.store.clone();
        let clock = Arc::new(SystemClock);
        let documents =
            DocumentService::start(DocumentOptions::default(), store.clone(), clock.clone());
        let caller = bootstrap(&store).await;
        let folder =
            std::env::temp_dir().join(format!("atelier-router-{}", uuid::Uuid::new_v4().simple()));
        let patient = Duration::from_secs(20);
        let options = SearchOptions {
            embedder: EmbedderChoice::Builtin(weights),
            keyword_time: patient,
            vector_time: patient,
            ..SearchOptions::new(folder.clone())
        };
        let search = Search::start(options, store.clone(), documents.clone(), clock.clone());
        let services = ToolServices {
            store: store.clone(),
            documents: documents.clone(),
            search: search.clone(),
            clock,
            model: Arc::new(Offline),
            executors: Arc::new(Executors::default()),
            prices: Prices::default(),
            media: runtime::tools::MediaChoice::default(),
        };
        let tools = Arc::new(Tools::default());
        Some(Self {
            engine: Engine::new(services, tools, EngineOptions::default()),
            store,
            caller,
            search,
            documents,
            folder,
            storage,
            database,
        })
    }

    /// A workspace with these contents, made for its id.
    pub(crate) async fn fill(&self, workspace: WorkspaceId, contents: Contents) {
        let made = Workspace {
            id: workspace,
            name: "case".to_owned(),
            created_at: SystemClock.now(),
        };
        let command = CreateWorkspace {
            caller: self.caller,
            workspace: made,
        };
        self.store.run(command).await.expect("a workspace");
        let command = Put(workspace, contents);
        self.store.run(command).await.expect("its contents");
    }

    /// Waits until all tasks of a workspace can be found by word and meaning.
    pub(crate) async fn until_known(&self, workspace: WorkspaceId, tasks: usize) {
        let began = std::time::Instant::now();
        while !self.knows(workspace, tasks).await {
            assert!(began.elapsed() < PATIENCE, "the index never came about");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Whether words and meanings of all tasks are there.
    async fn knows(&self, workspace: WorkspaceId, tasks: usize) -> bool {
        let head = self.store.reads().event_head(workspace).await;
        let request = SearchRequest {
            workspace,
            user: self.caller.user,
            text: "плакат poster 海报".to_owned(),
            kinds: vec![SearchKind::Task],
            among: Vec::new(),
            limit: 100,
            seen: Some(head.expect("reads")),
            within: None,
        };
        let answer = self.search.find(&request).await;
        let with_meaning = answer.found.iter().filter(|one| one.vector.is_some());
        answer.missing.is_empty() && answer.is_current && with_meaning.count() == tasks
    }

    /// Posts a message, lets Main find its place, and reads it.
    pub(crate) async fn route(
        &self,
        workspace: WorkspaceId,
        text: &str,
        address: Address,
    ) -> Message {
        let message = Message {
            id: MessageId::new(),
            workspace,
            main_of: None,
            task: None,
            author: self.caller.actor(),
            text: text.to_owned(),
            language: Some(detect_language(text).to_owned()),
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
            caller: self.caller,
            message,
            address,
            idempotency: None,
            spare: Spare::new(),
        };
        let id = self.store.run(command).await.expect("posts");
        self.drive_main(workspace).await;
        let found = self.store.reads().list_messages_by_id(&[id]).await;
        found.expect("reads").pop().expect("the message")
    }

    async fn drive_main(&self, workspace: WorkspaceId) {
        let main = main_id(workspace, self.caller.user);
        let due = self
            .store
            .reads()
            .list_claimable(SystemClock.now(), 100)
            .await;
        let due = due.expect("reads").into_iter().find(|one| one.task == main);
        let Some(due) = due else { return };
        let claimed = self.engine.claim(due, false).await.expect("claims");
        let mut drive = claimed.expect("nobody else is there");
        let stop = CancellationToken::new();
        while self
            .engine
            .advance(&mut drive, &stop)
            .await
            .expect("moves on")
            == Progress::Onward
        {}
    }

    pub(crate) async fn leave(self) {
        self.search.stop().await;
        self.documents.stop().await;
        self.storage.close().await;
        drop(self.storage);
        self.database.remove().await;
        // A merge of the index may still write a file.
        while std::fs::remove_dir_all(&self.folder).is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Stores contents as they are.
#[derive(Clone)]
struct Put(WorkspaceId, Contents);

#[async_trait]
impl Command for Put {
    type Output = ();
    const NAME: &'static str = "test.put";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.0)
    }

    async fn run(&self, tx: &dyn Transaction) -> domain::Result<()> {
        let Self(workspace, contents) = self;
        for work in &contents.works {
            tx.insert_work(work).await?;
            tx.update_work(work).await?;
        }
        let mut events = Vec::new();
        for (task, projections, works) in &contents.tasks {
            tx.insert_task(task).await?;
            tx.put_projections(*workspace, task.id, projections).await?;
            for linked in works {
                tx.put_linked_work(linked).await?;
            }
            events.push(NewEvent {
                kind: EventKind::TaskCreated,
                subject: Subject::Task(task.id),
                task: Some(task.id),
                actor: domain::actor::Actor::System,
                at: task.created_at,
                data: serde_json::json!({}),
            });
        }
        for message in &contents.messages {
            tx.insert_message(message).await?;
        }
        for card in &contents.cards {
            tx.insert_card(card).await?;
        }
        tx.emit(*workspace, events).await
    }
}

async fn bootstrap(store: &SharedStore) -> Caller {
    let at = SystemClock.now();
    let (user, token) = (UserId::new(), TokenId::new());
    let command = Bootstrap {
        user: User {
            id: user,
            name: "Owner".to_owned(),
            email: None,
            created_in: None,
            created_at: at,
        },
        workspace: Workspace {
            id: WorkspaceId::new(),
            name: "house".to_owned(),
            created_at: at,
        },
        token: ApiToken {
            id: token,
            user,
            label: "first".to_owned(),
            kind: TokenKind::Personal,
            secret_hash: [7; 32],
            created_at: at,
            last_used_at: None,
            expires_at: None,
        },
    };
    assert!(store.run(command).await.expect("the house is made"));
    let kind = TokenKind::Personal;
    Caller::new(user, token, kind)
}

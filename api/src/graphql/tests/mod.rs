//! The schema over real storage, as a caller sees it.

mod agent;
mod following;
mod isolation;
mod statements;
mod why;
mod writing;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_graphql::{Request, Response, ServerError, Variables};
use domain::document::{DocumentOptions, DocumentService};
use domain::ids::{TokenId, UserId};
use domain::people::{AddMember, ApiToken, Bootstrap, Caller, Role, TokenKind, User, Workspace};
use domain::search::NoSearch;
use domain::store::{SharedStore, StoreExt as _};
use domain::time::{Clock as _, SystemClock};
use domain::work::{Upload, Work};
use futures_util::stream::BoxStream;
use serde_json::{Value, json};
use storage::{Storage, StorageOptions};

use super::error::{code_of, present};
use super::{AssetUrls, AtelierSchema, CursorKey, Services, schema};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server without its network: an owner and the owner's workspace.
struct House {
    schema: AtelierSchema,
    store: SharedStore,
    owner: Caller,
    workspace: Workspace,
    _storage: Storage,
    _folder: Folder,
}

/// A folder that goes with its test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that can not be removed is no failure of the test.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

struct Paths;

impl AssetUrls for Paths {
    fn asset_url(&self, work: &Work) -> String {
        format!("/files/{}", work.id)
    }

    fn preview_url(&self, _: &Work) -> Option<String> {
        None
    }

    fn upload_url(&self, upload: &Upload) -> String {
        format!("https://atelier.example/uploads/{}", upload.id)
    }
}

impl House {
    async fn open() -> Self {
        let folder = Folder(std::env::temp_dir().join(format!("atelier-{}", UserId::new())));
        std::fs::create_dir_all(&folder.0).expect("the folder can be made");
        let options = StorageOptions {
            database_url: format!("sqlite://{}", folder.0.join("atelier.sqlite").display()),
            connections: 4,
            blob_url: folder.0.join("blobs").display().to_string(),
            blob_options: Vec::new(),
        };
        let storage = storage::open(options).await.expect("storage opens");
        let store = storage.store.clone();
        let (owner, workspace) = bootstrap(&store).await;
        Self {
            schema: schema(services(&store)),
            store,
            owner,
            workspace,
            _storage: storage,
            _folder: folder,
        }
    }

    /// Somebody with this role in the workspace; none is a stranger, who is owner of another one.
    async fn person(&self, name: &str, role: Option<Role>) -> Caller {
        let new_user = UserId::new();
        let (workspace, role) = if let Some(role) = role {
            (self.workspace.id, role)
        } else {
            let query =
                "mutation { createWorkspace(input: {name: \"other\"}) { workspace { id } } }";
            let made = self.done(self.owner, query).await;
            let id = text(&made["createWorkspace"]["workspace"]["id"]);
            (id.parse().expect("an id"), Role::Owner)
        };
        let command = AddMember {
            caller: self.owner,
            workspace,
            email: format!("{name}@atelier.example"),
            name: Some(name.to_owned()),
            role,
            new_user,
            at: SystemClock.now(),
        };
        self.store.run(command).await.expect("the member is added");
        caller(new_user)
    }

    async fn answer(&self, caller: Caller, query: &str, variables: Value) -> Response {
        self.schema.execute(request(caller, query, variables)).await
    }

    /// The data of an answer without errors.
    async fn done(&self, caller: Caller, query: &str) -> Value {
        self.done_with(caller, query, json!({})).await
    }

    async fn done_with(&self, caller: Caller, query: &str, variables: Value) -> Value {
        let answer = self.answer(caller, query, variables).await;
        assert!(answer.errors.is_empty(), "{query}: {:?}", answer.errors);
        answer.data.into_json().expect("JSON")
    }

    /// The code of the first error of an answer.
    async fn refused(&self, caller: Caller, query: &str, variables: Value) -> String {
        let answer = self.answer(caller, query, variables).await;
        let error = answer.errors.into_iter().next();
        code(error.unwrap_or_else(|| panic!("{query} was answered with {:?}", answer.data)))
    }

    /// Makes a storyboard with these shots; its id.
    async fn storyboard(&self, shots: &[&str]) -> String {
        let nodes: Vec<_> = shots
            .iter()
            .map(|id| json!({"id": id, "type": "shot", "fields": {"title": id}}))
            .collect();
        let query = "mutation($w: ID!, $n: [NodeInput!]) { createWork(input: {workspaceId: $w, kind: STORYBOARD, title: \"film\", nodes: $n}) { work { id } } }";
        let variables = json!({"w": self.workspace.id, "n": nodes});
        let made = self.done_with(self.owner, query, variables).await;
        text(&made["createWork"]["work"]["id"])
    }

    /// Gives a shot another title.
    async fn retitle(&self, work: &str, shot: &str, title: &str) -> Value {
        let query = "mutation($i: EditNodesInput!) { editNodes(input: $i) { __typename ... on EditApplied { version } } }";
        let operation = json!({"set": {"nodeId": shot, "fields": {"title": title}}});
        let input = json!({"workId": work, "baseVersion": 1, "operations": [operation]});
        self.done_with(self.owner, query, json!({"i": input})).await
    }

    fn follow(
        &self,
        caller: Caller,
        query: &str,
        variables: Value,
    ) -> BoxStream<'static, Response> {
        Box::pin(
            self.schema
                .execute_stream(request(caller, query, variables)),
        )
    }
}

async fn bootstrap(store: &SharedStore) -> (Caller, Workspace) {
    let at = SystemClock.now();
    let user = User {
        id: UserId::new(),
        name: "Owner".to_owned(),
        email: None,
        created_in: None,
        created_at: at,
    };
    let owner = caller(user.id);
    let workspace = Workspace {
        id: domain::ids::WorkspaceId::new(),
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
    let command = Bootstrap {
        user,
        workspace: workspace.clone(),
        token,
    };
    assert!(store.run(command).await.expect("the house is made"));
    (owner, workspace)
}

fn services(store: &SharedStore) -> Services {
    let clock = Arc::new(SystemClock);
    Services {
        documents: DocumentService::start(DocumentOptions::default(), store.clone(), clock.clone()),
        store: store.clone(),
        clock,
        cursors: CursorKey::new(b"a secret of the tests"),
        search: Arc::new(NoSearch),
        asset_urls: Arc::new(Paths),
        media: Arc::new(domain::media::NoMedia),
        upload_limit: 1_000,
    }
}

fn caller(user: UserId) -> Caller {
    Caller::new(user, TokenId::new(), TokenKind::Personal)
}

fn request(caller: Caller, query: &str, variables: Value) -> Request {
    Request::new(query)
        .variables(Variables::from_json(variables))
        .data(caller)
}

/// The code that a client reads.
fn code(error: ServerError) -> String {
    let shown = present(error, "r1");
    let code = code_of(&shown).expect("every error has a code");
    code.as_str().to_owned()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

//! The first start of an installation: its secret, its first owner and workspace.
//!
//! Invariants
//! - Processes that start at the same moment on one empty database make one owner.
//! - A secret that was made here is given back once, to be shown to whoever started the server; only its hash is stored.

use aws_lc_rs::rand;
use domain::Result;
use domain::ids::{TokenId, UserId, WorkspaceId};
use domain::installation::{EnsureSecret, InstallationSecret};
use domain::people::{ApiToken, Bootstrap, TokenKind, User, Workspace};
use domain::secret::Secret;
use domain::store::{SharedStore, StoreExt as _};
use domain::time::{SharedClock, Timestamp};

use crate::tokens;

/// Name of the first workspace.
const FIRST_WORKSPACE: &str = "My workspace";

/// The owner that the first start made.
#[derive(Debug)]
pub struct FirstOwner {
    /// The person.
    pub user: UserId,
    /// The person's workspace.
    pub workspace: WorkspaceId,
    /// The secret of the person's token.
    pub secret: Secret,
}

/// The secret of the installation, which is made at the first start.
pub async fn installation_secret(store: &SharedStore) -> Result<InstallationSecret> {
    let mut bytes = [0; 32];
    rand::fill(&mut bytes).expect("the system gives random bytes");
    let candidate = InstallationSecret(bytes);
    store.run(EnsureSecret { candidate }).await
}

/// Makes the first owner of an empty installation, with this secret or a new one; none where it is not empty.
pub async fn first_owner(
    store: &SharedStore,
    clock: &SharedClock,
    secret: Option<&Secret>,
) -> Result<Option<FirstOwner>> {
    if !store.reads().is_empty_installation().await? {
        return Ok(None);
    }
    let secret = secret
        .cloned()
        .unwrap_or_else(|| Secret::new(tokens::new_secret()));
    let command = bootstrap(&secret, clock.now());
    let owner = FirstOwner {
        user: command.user.id,
        workspace: command.workspace.id,
        secret,
    };
    Ok(store.run(command).await?.then_some(owner))
}

fn bootstrap(secret: &Secret, created_at: Timestamp) -> Bootstrap {
    let user = User {
        id: UserId::new(),
        name: "Owner".to_owned(),
        email: None,
        created_in: None,
        created_at,
    };
    let workspace = Workspace {
        id: WorkspaceId::new(),
        name: FIRST_WORKSPACE.to_owned(),
        created_at,
    };
    let token = ApiToken {
        id: TokenId::new(),
        user: user.id,
        label: "First token".to_owned(),
        kind: TokenKind::Personal,
        secret_hash: tokens::hash(secret.expose()),
        created_at,
        last_used_at: None,
        expires_at: None,
    };
    Bootstrap {
        user,
        workspace,
        token,
    }
}

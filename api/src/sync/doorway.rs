//! The way into a document: token, permission, a place, and then the live document itself. Both protocols come through here.
//!
//! Invariants
//! - Nobody joins without a good token and membership in the work's workspace; a viewer joins to read.
//! - A work of another workspace, one in the bin and one that never was are the same: unknown.
//!
//! Not here: how a refusal looks on the wire.

use std::sync::Arc;

use domain::document::{Access, Connection, DocumentService, Join};
use domain::ids::{ConnectionId, WorkId};
use domain::people::{Caller, Role};
use domain::store::SharedStore;
use domain::work::{Work, visible_work};
use tokio::sync::Notify;

use super::access::{AccessHandle, AccessWatch, Standing, Watched};
use super::close::Close;
use super::limits::{Place, Places};
use crate::auth::Authenticate;

/// What is needed to let somebody in.
pub(crate) struct Doorway {
    pub(crate) documents: DocumentService,
    pub(crate) store: SharedStore,
    pub(crate) authenticate: Arc<dyn Authenticate>,
    pub(crate) watch: AccessWatch,
    pub(crate) places: Arc<Places>,
}

/// Somebody who may join a document.
pub(crate) struct Admitted {
    pub(crate) caller: Caller,
    pub(crate) work: Work,
    pub(crate) role: Role,
}

/// Somebody who has joined.
pub(crate) struct Joined {
    pub(crate) caller: Caller,
    pub(crate) connection: Arc<Connection>,
    /// What its rights are watched by.
    pub(crate) rights: AccessHandle,
    _place: Place,
}

/// What a role may do with a document.
pub(crate) fn access_of(role: Role) -> Access {
    if role >= Role::Editor {
        Access::Write
    } else {
        Access::Read
    }
}

impl Doorway {
    /// Finds out who asks and whether this person may see the document of this name.
    pub(crate) async fn admit(&self, token: Option<&str>, name: &str) -> Result<Admitted, Close> {
        let caller = self.authenticate.authenticate(token).await?;
        let work: WorkId = name
            .parse()
            .map_err(|_| Close::new(Close::UNKNOWN_WORK, "the document name is no work id"))?;
        let (work, role) = visible_work(self.store.reads(), work, caller.user).await?;
        if work.deleted_at.is_some() {
            return Err(Close::new(Close::UNKNOWN_WORK, "the work is in the bin"));
        }
        Ok(Admitted { caller, work, role })
    }

    /// Watches the rights of somebody who was let in; `changed` is notified.
    pub(crate) fn watch(&self, admitted: &Admitted, changed: Arc<Notify>) -> AccessHandle {
        let watched = Watched {
            caller: admitted.caller,
            workspace: Some(admitted.work.workspace),
            work: Some(admitted.work.id),
        };
        self.watch
            .watch(watched, Standing::Good(Some(admitted.role)), changed)
    }

    /// Joins the document.
    pub(crate) async fn join(
        &self,
        admitted: &Admitted,
        changed: Arc<Notify>,
    ) -> Result<Joined, Close> {
        let caller = admitted.caller;
        let place = self.places.take(caller.user, admitted.work.id)?;
        let rights = self.watch(admitted, changed);
        let users = self.store.reads().list_users(&[caller.user]).await?;
        let join = Join {
            work: admitted.work.id,
            connection: ConnectionId::new(),
            actor: caller.actor(),
            label: users
                .into_iter()
                .next()
                .map(|user| user.name)
                .unwrap_or_default(),
            access: access_of(admitted.role),
        };
        let connection = self.documents.join(join).await?;
        Ok(Joined {
            caller,
            connection: Arc::new(connection),
            rights,
            _place: place,
        })
    }
}

/// Why somebody has to leave, or what they may do from now on.
pub(crate) fn judge(standing: Standing) -> Result<Access, Close> {
    match standing {
        Standing::Good(role) => Ok(role.map_or(Access::Read, access_of)),
        Standing::TokenRevoked => Err(Close::new(Close::TOKEN, "the token was revoked")),
        Standing::TokenExpired => Err(Close::new(Close::TOKEN, "the token has expired")),
        Standing::NoMember => Err(Close::new(
            Close::PERMISSION,
            "you are no longer a member of the workspace",
        )),
        Standing::WorkDeleted => Err(Close::new(Close::UNKNOWN_WORK, "the work was deleted")),
    }
}

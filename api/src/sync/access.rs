//! The watch over rights: what a live socket or subscription was let in for is looked at again whenever it may have changed.
//!
//! Invariants
//! - One task per process reads, in a few statements for all that is live; nothing is read while nothing is live.
//! - A change in this process is seen at once, one in another process with its notification, and every change, the
//!   expiry of a token included, at the latest after [`LOOK_INTERVAL`].
//! - Rights are never widened by a failed read: what was known stays, and the next look comes.
//!
//! Not here: what a holder does about it (sockets close, documents become read-only).

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use domain::Result;
use domain::ids::{TokenId, UserId, WorkId, WorkspaceId};
use domain::people::{Caller, Role};
use domain::store::SharedStore;
use domain::time::{SharedClock, Timestamp};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// How long a change can stay unseen when every notification is lost.
pub const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// Shortest time between two looks, so that many who come at once are looked at together.
const LOOK_SPACING: Duration = Duration::from_millis(200);
/// Ids in one statement.
const IDS_PER_READ: usize = 500;

/// What became of somebody's rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The token is good, and the person is a member with this role (none where no workspace is watched).
    Good(Option<Role>),
    /// The token was revoked.
    TokenRevoked,
    /// The token has expired.
    TokenExpired,
    /// The person is no longer a member.
    NoMember,
    /// The work was put into the bin.
    WorkDeleted,
}

/// Whose rights are watched, and for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watched {
    /// Who, by which token.
    pub caller: Caller,
    /// The workspace whose membership is needed.
    pub workspace: Option<WorkspaceId>,
    /// The work that must not be in the bin.
    pub work: Option<WorkId>,
}

/// The watch. Cheap to clone; it ends when the token it was started with is cancelled.
#[derive(Clone)]
pub struct AccessWatch {
    shared: Arc<Shared>,
}

struct Shared {
    store: SharedStore,
    clock: SharedClock,
    entries: Mutex<HashMap<u64, Arc<Entry>>>,
    next_entry: AtomicU64,
    poke: Notify,
}

struct Entry {
    watched: Watched,
    state: Mutex<EntryState>,
    changed: Arc<Notify>,
}

#[derive(Clone, Copy)]
struct EntryState {
    standing: Standing,
    expires_at: Option<Timestamp>,
    is_taken: bool,
}

/// One watched right; dropping it ends the watching.
pub struct AccessHandle {
    number: u64,
    entry: Arc<Entry>,
    shared: Weak<Shared>,
}

impl AccessWatch {
    /// Starts the watch on the present runtime; the task ends with `stop`.
    pub fn start(store: SharedStore, clock: SharedClock, stop: CancellationToken) -> Self {
        let shared = Arc::new(Shared {
            store,
            clock,
            entries: Mutex::default(),
            next_entry: AtomicU64::new(0),
            poke: Notify::new(),
        });
        let watch = shared.clone();
        tokio::spawn(async move { stop.run_until_cancelled(watch.run()).await });
        Self { shared }
    }

    /// Watches a caller's token and membership in a workspace.
    pub fn register(&self, caller: Caller, workspace: WorkspaceId) -> AccessHandle {
        let watched = Watched {
            caller,
            workspace: Some(workspace),
            work: None,
        };
        self.watch(watched, Standing::Good(None), Arc::default())
    }

    /// Watches; `standing` is what the caller of this has just read, `changed` is notified of every change and of a newly
    /// known expiry. A first look comes soon, so that nothing between that reading and now is missed.
    pub fn watch(
        &self,
        watched: Watched,
        standing: Standing,
        changed: Arc<Notify>,
    ) -> AccessHandle {
        let state = EntryState {
            standing,
            expires_at: None,
            is_taken: true,
        };
        let entry = Arc::new(Entry {
            watched,
            state: Mutex::new(state),
            changed,
        });
        let number = self.shared.next_entry.fetch_add(1, Ordering::Relaxed);
        self.shared.entries().insert(number, entry.clone());
        self.shared.poke.notify_one();
        AccessHandle {
            number,
            entry,
            shared: Arc::downgrade(&self.shared),
        }
    }

    /// Returns when the caller's token is no longer good.
    pub async fn until_token_is_gone(&self, caller: Caller) {
        let watched = Watched {
            caller,
            workspace: None,
            work: None,
        };
        let handle = self.watch(watched, Standing::Good(None), Arc::default());
        while matches!(handle.changed().await, Standing::Good(_)) {}
    }
}

impl AccessHandle {
    /// What is known now.
    pub fn standing(&self) -> Standing {
        self.entry.state().standing
    }

    /// When the token expires, once that was read.
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.entry.state().expires_at
    }

    /// The new standing, if it has changed since it was asked for last.
    pub fn take_change(&self) -> Option<Standing> {
        let mut state = self.entry.state();
        let is_new = !std::mem::replace(&mut state.is_taken, true);
        is_new.then_some(state.standing)
    }

    /// Waits for the next change. Cancel-safe.
    pub async fn changed(&self) -> Standing {
        loop {
            if let Some(standing) = self.take_change() {
                return standing;
            }
            self.entry.changed.notified().await;
        }
    }
}

impl Drop for AccessHandle {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.entries().remove(&self.number);
        }
    }
}

impl Entry {
    fn state(&self) -> MutexGuard<'_, EntryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, standing: Standing, expires_at: Option<Timestamp>) {
        let mut state = self.state();
        let is_same = state.standing == standing;
        if is_same && state.expires_at == expires_at {
            return;
        }
        state.is_taken &= is_same;
        state.standing = standing;
        state.expires_at = expires_at;
        drop(state);
        self.changed.notify_one();
    }
}

/// What one look has read.
#[derive(Default)]
struct Seen {
    tokens: HashMap<TokenId, Option<Timestamp>>,
    roles: HashMap<(WorkspaceId, UserId), Role>,
    works: HashSet<WorkId>,
}

impl Shared {
    async fn run(self: Arc<Self>) {
        let mut access = self.store.follow_access();
        let mut next_look = Instant::now() + LOOK_INTERVAL;
        loop {
            tokio::select! {
                changed = access.changed() => if changed.is_err() {
                    return;
                },
                () = self.poke.notified() => {}
                () = sleep_until(next_look) => {}
            }
            let until_expiry = match self.look().await {
                Ok(until_expiry) => until_expiry,
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "rights of live connections could not be read"
                    );
                    None
                }
            };
            tokio::time::sleep(LOOK_SPACING).await;
            let wait = until_expiry.map_or(LOOK_INTERVAL, |until| until.min(LOOK_INTERVAL));
            next_look = Instant::now() + wait;
        }
    }

    /// Reads what all live entries depend on and tells those whose rights have changed; returns the time to the next expiry.
    async fn look(&self) -> Result<Option<Duration>> {
        let entries: Vec<_> = self.entries().values().cloned().collect();
        if entries.is_empty() {
            return Ok(None);
        }
        let seen = self.read(&entries).await?;
        let now = self.clock.now();
        let mut next_expiry = None;
        for entry in entries {
            let expires_at = seen
                .tokens
                .get(&entry.watched.caller.token)
                .copied()
                .flatten();
            entry.update(seen.standing(&entry.watched, now), expires_at);
            let ahead = expires_at.filter(|at| *at > now).map(|at| at.since(now));
            next_expiry = [next_expiry, ahead].into_iter().flatten().min();
        }
        Ok(next_expiry)
    }

    async fn read(&self, entries: &[Arc<Entry>]) -> Result<Seen> {
        let reads = self.store.reads();
        let mut seen = Seen::default();
        for ids in distinct(entries, |watched| Some(watched.caller.token)).chunks(IDS_PER_READ) {
            let tokens = reads.list_tokens_by_id(ids).await?;
            seen.tokens
                .extend(tokens.into_iter().map(|token| (token.id, token.expires_at)));
        }
        for ids in distinct(entries, |watched| watched.workspace).chunks(IDS_PER_READ) {
            let members = reads.list_members(ids).await?;
            seen.roles.extend(
                members
                    .into_iter()
                    .map(|member| ((member.workspace, member.user), member.role)),
            );
        }
        for ids in distinct(entries, |watched| watched.work).chunks(IDS_PER_READ) {
            let works = reads.list_works_by_id(ids).await?;
            let present = works.into_iter().filter(|work| work.deleted_at.is_none());
            seen.works.extend(present.map(|work| work.id));
        }
        Ok(seen)
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<u64, Arc<Entry>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn standing(&self, watched: &Watched, now: Timestamp) -> Standing {
        match self.tokens.get(&watched.caller.token) {
            None => return Standing::TokenRevoked,
            Some(Some(at)) if *at <= now => return Standing::TokenExpired,
            Some(_) => {}
        }
        let role = watched
            .workspace
            .map(|workspace| self.roles.get(&(workspace, watched.caller.user)).copied());
        if role == Some(None) {
            return Standing::NoMember;
        }
        if watched.work.is_some_and(|work| !self.works.contains(&work)) {
            return Standing::WorkDeleted;
        }
        Standing::Good(role.flatten())
    }
}

fn distinct<T: Eq + std::hash::Hash>(
    entries: &[Arc<Entry>],
    part: impl Fn(&Watched) -> Option<T>,
) -> Vec<T> {
    let parts: HashSet<T> = entries
        .iter()
        .filter_map(|entry| part(&entry.watched))
        .collect();
    parts.into_iter().collect()
}

#[cfg(test)]
mod tests;

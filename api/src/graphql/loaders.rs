//! The loaders of one execution: each reads the rows of many keys in one statement or two.
//!
//! Invariants
//! - Works and roles are those the caller may see; everything else is asked for only after one of them was found.
//! - A workspace's newest event is read before anything inside the workspace, so that a subscription from there misses nothing.
//!
//! Not here: batching itself (`loader`), tasks and what belongs to them (`tasks`).

mod memories;
mod tasks;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use domain::document::{Content, NodeState, Version};
use domain::event::Sequence;
use domain::ids::{TokenId, UserId, WorkId, WorkspaceId};
use domain::people::{ApiToken, Caller, Member, Role, User, Workspace};
use domain::work::{Revision, Work};
use futures_util::FutureExt as _;

use super::loader::{Loaded, Loader};
use super::services::Services;
pub(super) use memories::MemoryLoaders;
pub(super) use tasks::{Part, TaskLoaders, keep_cards};

/// A work at a version; none is the present one.
type At = (WorkId, Option<Version>);

/// A workspace, and where its event log stood when it was read.
#[derive(Debug, Clone)]
pub(crate) struct WorkspaceRow {
    /// The workspace.
    pub(crate) workspace: Workspace,
    /// The last sequence of its log.
    pub(crate) head: Sequence,
}

/// The loaders of one execution.
pub(crate) struct Loaders {
    pub(super) users: Loader<UserId, User>,
    pub(super) acquainted: Loader<UserId, ()>,
    pub(super) tokens: Loader<UserId, Arc<Vec<ApiToken>>>,
    pub(super) programs: Loader<TokenId, ApiToken>,
    pub(super) roles: Loader<WorkspaceId, Role>,
    pub(super) workspaces: Loader<WorkspaceId, WorkspaceRow>,
    pub(super) members: Loader<WorkspaceId, Arc<Vec<Member>>>,
    pub(super) works: Loader<WorkId, Arc<Work>>,
    pub(super) contents: Loader<At, Arc<Content>>,
    pub(super) nodes: Loader<At, Arc<Vec<NodeState>>>,
    pub(super) revisions: Loader<(WorkId, u32), Arc<Vec<Revision>>>,
    pub(super) tasks: TaskLoaders,
    pub(super) memories: MemoryLoaders,
}

impl Loaders {
    /// Loaders in which nothing is loaded yet.
    pub(super) fn new(services: &Arc<Services>, caller: Caller) -> Self {
        Self {
            users: loader(services, users),
            acquainted: loader(services, move |services, ids| {
                acquainted(services, caller, ids)
            }),
            tokens: loader(services, tokens),
            programs: loader(services, programs),
            roles: loader(services, move |services, ids| roles(services, caller, ids)),
            workspaces: loader(services, |services, ids| async move {
                list_workspaces(&services, &ids).await
            }),
            members: loader(services, members),
            works: loader(services, move |services, ids| works(services, caller, ids)),
            contents: loader(services, contents),
            nodes: loader(services, nodes),
            revisions: loader(services, revisions),
            tasks: TaskLoaders::new(services, caller),
            memories: MemoryLoaders::new(services, caller),
        }
    }
}

fn loader<K, V, F, R>(services: &Arc<Services>, fetch: F) -> Loader<K, V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    F: Fn(Arc<Services>, Vec<K>) -> R + Send + Sync + 'static,
    R: Future<Output = Loaded<K, V>> + Send + 'static,
{
    let services = services.clone();
    Loader::new(move |keys| fetch(services.clone(), keys).boxed())
}

async fn users(services: Arc<Services>, ids: Vec<UserId>) -> Loaded<UserId, User> {
    let rows = services.store.reads().list_users(&ids).await?;
    Ok(rows.into_iter().map(|user| (user.id, user)).collect())
}

async fn acquainted(
    services: Arc<Services>,
    caller: Caller,
    ids: Vec<UserId>,
) -> Loaded<UserId, ()> {
    let reads = services.store.reads();
    let known = reads.list_acquainted(caller.user, &ids).await?;
    Ok(known.into_iter().map(|user| (user, ())).collect())
}

async fn tokens(services: Arc<Services>, ids: Vec<UserId>) -> Loaded<UserId, Arc<Vec<ApiToken>>> {
    let mut found = HashMap::new();
    for id in ids {
        let rows = services.store.reads().list_tokens(id).await?;
        found.insert(id, Arc::new(rows));
    }
    Ok(found)
}

async fn programs(services: Arc<Services>, ids: Vec<TokenId>) -> Loaded<TokenId, ApiToken> {
    let rows = services.store.reads().list_tokens_by_id(&ids).await?;
    Ok(rows.into_iter().map(|token| (token.id, token)).collect())
}

async fn roles(
    services: Arc<Services>,
    caller: Caller,
    ids: Vec<WorkspaceId>,
) -> Loaded<WorkspaceId, Role> {
    let rows = services.store.reads().list_roles(caller.user, &ids).await?;
    Ok(rows
        .into_iter()
        .map(|member| (member.workspace, member.role))
        .collect())
}

/// Workspaces by id, each with the head of its log; the heads are read first.
async fn list_workspaces(
    services: &Services,
    ids: &[WorkspaceId],
) -> Loaded<WorkspaceId, WorkspaceRow> {
    let heads = event_heads(services, ids).await?;
    let rows = services.store.reads().list_workspaces(ids).await?;
    Ok(with_heads(rows, &heads)
        .into_iter()
        .map(|row| (row.workspace.id, row))
        .collect())
}

/// Where the logs of these workspaces stand.
pub(super) async fn event_heads(
    services: &Services,
    ids: &[WorkspaceId],
) -> domain::Result<HashMap<WorkspaceId, Sequence>> {
    let heads = services.store.reads().list_event_heads(ids).await?;
    Ok(heads.into_iter().collect())
}

/// Workspaces beside the heads of their logs; one without a head starts at the beginning.
pub(super) fn with_heads(
    rows: Vec<Workspace>,
    heads: &HashMap<WorkspaceId, Sequence>,
) -> Vec<WorkspaceRow> {
    rows.into_iter()
        .map(|workspace| WorkspaceRow {
            head: heads.get(&workspace.id).copied().unwrap_or_default(),
            workspace,
        })
        .collect()
}

async fn members(
    services: Arc<Services>,
    ids: Vec<WorkspaceId>,
) -> Loaded<WorkspaceId, Arc<Vec<Member>>> {
    let rows = services.store.reads().list_members(&ids).await?;
    Ok(grouped(rows, |member| member.workspace))
}

async fn works(
    services: Arc<Services>,
    caller: Caller,
    ids: Vec<WorkId>,
) -> Loaded<WorkId, Arc<Work>> {
    let reads = services.store.reads();
    let mut rows = reads.list_works_by_id(&ids).await?;
    keep_visible(&services, caller, &mut rows, |work| work.workspace).await?;
    Ok(by_id(rows, |work| work.id))
}

/// Leaves out rows of workspaces that the caller is no member of.
async fn keep_visible<R>(
    services: &Services,
    caller: Caller,
    rows: &mut Vec<R>,
    workspace_of: fn(&R) -> WorkspaceId,
) -> domain::Result<()> {
    let workspaces: HashSet<_> = rows.iter().map(workspace_of).collect();
    let workspaces: Vec<_> = workspaces.into_iter().collect();
    let reads = services.store.reads();
    let roles = reads.list_roles(caller.user, &workspaces).await?;
    let mine: HashSet<_> = roles.iter().map(|member| member.workspace).collect();
    rows.retain(|row| mine.contains(&workspace_of(row)));
    Ok(())
}

fn by_id<K: Eq + Hash, R>(rows: Vec<R>, id_of: fn(&R) -> K) -> HashMap<K, Arc<R>> {
    rows.into_iter()
        .map(|row| (id_of(&row), Arc::new(row)))
        .collect()
}

async fn contents(services: Arc<Services>, keys: Vec<At>) -> Loaded<At, Arc<Content>> {
    let mut found = HashMap::new();
    for (at, ids) in by_version(keys) {
        let contents = services.documents.contents(&ids, at).await?;
        found.extend(ids.into_iter().map(|id| (id, at)).zip(contents));
    }
    Ok(found)
}

async fn nodes(services: Arc<Services>, keys: Vec<At>) -> Loaded<At, Arc<Vec<NodeState>>> {
    let mut found = HashMap::new();
    for (at, ids) in by_version(keys) {
        let states = services.documents.node_states(&ids, at).await?;
        let states = states.into_iter().map(Arc::new);
        found.extend(ids.into_iter().map(|id| (id, at)).zip(states));
    }
    Ok(found)
}

async fn revisions(
    services: Arc<Services>,
    keys: Vec<(WorkId, u32)>,
) -> Loaded<(WorkId, u32), Arc<Vec<Revision>>> {
    let mut by_limit: BTreeMap<u32, Vec<WorkId>> = BTreeMap::new();
    for (id, limit) in keys {
        by_limit.entry(limit).or_default().push(id);
    }
    let mut found = HashMap::new();
    for (limit, ids) in by_limit {
        let reads = services.store.reads();
        let rows = reads.list_newest_revisions(&ids, limit).await?;
        found.extend(grouped(rows, |revision| (revision.work, limit)));
    }
    Ok(found)
}

/// One request names few versions, so one batch for each of them is few batches.
fn by_version(keys: Vec<At>) -> BTreeMap<Option<Version>, Vec<WorkId>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (id, at) in keys {
        groups.entry(at).or_default().push(id);
    }
    groups
}

fn grouped<K: Eq + Hash, R>(rows: Vec<R>, key: impl Fn(&R) -> K) -> HashMap<K, Arc<Vec<R>>> {
    pairs(rows.into_iter().map(|row| (key(&row), row)))
}

/// Rows by their keys, in their order.
fn pairs<K: Eq + Hash, R>(rows: impl IntoIterator<Item = (K, R)>) -> HashMap<K, Arc<Vec<R>>> {
    let mut groups: HashMap<K, Vec<R>> = HashMap::new();
    for (key, row) in rows {
        groups.entry(key).or_default().push(row);
    }
    groups
        .into_iter()
        .map(|(key, rows)| (key, Arc::new(rows)))
        .collect()
}

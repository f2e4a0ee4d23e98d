//! What one execution works with: who asks, the services, and loaders that batch.
//!
//! Invariants
//! - Loaders give only what the caller may see; what they leave out does not exist for the caller.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use async_graphql::Context;
use domain::document::{Content, NodeState, Version};
use domain::ids::{UserId, WorkId, WorkspaceId};
use domain::people::{Caller, Member, Role, User, Workspace};
use domain::work::Work;
use domain::{Error, Result};
use futures_util::FutureExt as _;

use super::loader::Loader;
use super::services::Services;

/// A document at a version; none for the present one.
pub(crate) type DocumentKey = (WorkId, Option<Version>);

/// One execution.
pub(crate) struct Scope {
    pub(crate) services: Services,
    pub(crate) caller: Caller,
    pub(crate) users: Loader<UserId, User>,
    pub(crate) workspaces: Loader<WorkspaceId, (Workspace, Role)>,
    pub(crate) members: Loader<WorkspaceId, Vec<Member>>,
    pub(crate) works: Loader<WorkId, Work>,
    pub(crate) contents: Loader<DocumentKey, Arc<Content>>,
    pub(crate) node_states: Loader<DocumentKey, Arc<Vec<NodeState>>>,
}

impl Scope {
    pub(crate) fn new(services: Services, caller: Caller) -> Self {
        let with = |services: &Services| services.clone();
        let (users, workspaces, members, works, contents, states) = (
            with(&services),
            with(&services),
            with(&services),
            with(&services),
            with(&services),
            with(&services),
        );
        Self {
            users: Loader::new(move |ids| load_users(users.clone(), ids).boxed()),
            workspaces: Loader::new(move |ids| {
                load_workspaces(workspaces.clone(), caller, ids).boxed()
            }),
            members: Loader::new(move |ids| load_members(members.clone(), ids).boxed()),
            works: Loader::new(move |ids| load_works(works.clone(), caller, ids).boxed()),
            contents: Loader::new(move |keys| load_contents(contents.clone(), keys).boxed()),
            node_states: Loader::new(move |keys| load_states(states.clone(), keys).boxed()),
            services,
            caller,
        }
    }
}

/// The scope of a resolver.
pub(crate) fn scope<'a>(ctx: &Context<'a>) -> async_graphql::Result<&'a Scope> {
    ctx.data::<Scope>()
        .map_err(|_| Error::internal("an execution without a scope").into())
}

/// Users by id. Who is named by something the caller may see may be seen by name.
async fn load_users(services: Services, ids: Vec<UserId>) -> Result<HashMap<UserId, User>> {
    let users = services.store.reads().list_users(&ids).await?;
    Ok(users.into_iter().map(|user| (user.id, user)).collect())
}

async fn load_workspaces(
    services: Services,
    caller: Caller,
    ids: Vec<WorkspaceId>,
) -> Result<HashMap<WorkspaceId, (Workspace, Role)>> {
    let reads = services.store.reads();
    let roles: HashMap<_, _> = reads
        .list_roles(caller.user, &ids)
        .await?
        .into_iter()
        .map(|member| (member.workspace, member.role))
        .collect();
    let own: Vec<_> = roles.keys().copied().collect();
    let workspaces = reads.list_workspaces(&own).await?;
    Ok(workspaces
        .into_iter()
        .filter_map(|workspace| {
            Some((
                workspace.id,
                (workspace.clone(), *roles.get(&workspace.id)?),
            ))
        })
        .collect())
}

async fn load_members(
    services: Services,
    ids: Vec<WorkspaceId>,
) -> Result<HashMap<WorkspaceId, Vec<Member>>> {
    let mut members: HashMap<_, Vec<Member>> = HashMap::new();
    for member in services.store.reads().list_members(&ids).await? {
        members.entry(member.workspace).or_default().push(member);
    }
    Ok(members)
}

async fn load_works(
    services: Services,
    caller: Caller,
    ids: Vec<WorkId>,
) -> Result<HashMap<WorkId, Work>> {
    let reads = services.store.reads();
    let works = reads.list_works_by_id(&ids).await?;
    let workspaces: HashSet<_> = works.iter().map(|work| work.workspace).collect();
    let workspaces: Vec<_> = workspaces.into_iter().collect();
    let own: HashSet<_> = reads
        .list_roles(caller.user, &workspaces)
        .await?
        .into_iter()
        .map(|member| member.workspace)
        .collect();
    Ok(works
        .into_iter()
        .filter(|work| own.contains(&work.workspace))
        .map(|work| (work.id, work))
        .collect())
}

async fn load_contents(
    services: Services,
    keys: Vec<DocumentKey>,
) -> Result<HashMap<DocumentKey, Arc<Content>>> {
    let mut found = HashMap::new();
    for (at, works) in by_version(keys) {
        let contents = services.documents.contents(&works, at).await?;
        found.extend(works.into_iter().map(|work| (work, at)).zip(contents));
    }
    Ok(found)
}

async fn load_states(
    services: Services,
    keys: Vec<DocumentKey>,
) -> Result<HashMap<DocumentKey, Arc<Vec<NodeState>>>> {
    let mut found = HashMap::new();
    for (at, works) in by_version(keys) {
        let states = services.documents.node_states(&works, at).await?;
        found.extend(
            works
                .into_iter()
                .map(|work| (work, at))
                .zip(states.into_iter().map(Arc::new)),
        );
    }
    Ok(found)
}

fn by_version<W, V: Eq + Hash>(keys: Vec<(W, V)>) -> HashMap<V, Vec<W>> {
    let mut groups: HashMap<V, Vec<W>> = HashMap::new();
    for (work, at) in keys {
        groups.entry(at).or_default().push(work);
    }
    groups
}

//! Mutations of works as a whole: making, renaming, moving to the bin and back.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};
use domain::document::Version;
use domain::ids::WorkId;
use domain::work::{self, CreateWork, DeleteWork, PendingChange, RenameWork, RestoreWork};

use super::content::content_of;
use super::input::{id, idempotency};
use super::operations::{EdgeInput, NodeInput};
use crate::graphql::model::work::{Work, WorkKind};
use crate::graphql::scope::Scope;

/// A work to make.
#[derive(InputObject)]
pub(super) struct CreateWorkInput {
    /// The workspace it belongs to.
    pub(super) workspace_id: ID,
    /// What it is. An asset is made by `createUpload`.
    pub(super) kind: WorkKind,
    /// Its title.
    pub(super) title: String,
    /// The nodes of a structured work, in order.
    pub(super) nodes: Option<Vec<NodeInput>>,
    /// The edges of a flow.
    pub(super) edges: Option<Vec<EdgeInput>>,
    /// The text of a text document.
    pub(super) text: Option<String>,
    /// The same key by the same person gives the first work again, and makes no second one.
    idempotency_key: Option<String>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A work that was made.
#[derive(SimpleObject)]
struct CreateWorkPayload {
    /// The work.
    work: Work,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// A work that was changed.
#[derive(SimpleObject)]
struct WorkPayload {
    /// The work.
    work: Work,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// A work and its new title.
#[derive(InputObject)]
struct RenameWorkInput {
    /// The work.
    work_id: ID,
    /// Its new title.
    title: String,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A work to move to the bin.
#[derive(InputObject)]
struct DeleteWorkInput {
    /// The work.
    work_id: ID,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A work to bring back from the bin.
#[derive(InputObject)]
struct RestoreWorkInput {
    /// The work.
    work_id: ID,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// Mutations of works as a whole.
#[derive(Debug, Default)]
pub(crate) struct WorkMutation;

#[Object]
impl WorkMutation {
    /// Makes a work, with content where some is given.
    async fn create_work(
        &self,
        ctx: &Context<'_>,
        input: CreateWorkInput,
    ) -> Result<CreateWorkPayload> {
        let scope = Scope::of(ctx)?;
        let key = input.idempotency_key.as_deref();
        let idempotency = idempotency(scope, "createWork", key, &input)?;
        let work = new_work(scope, &input)?;
        let command = CreateWork {
            user: scope.caller.user,
            fence: None,
            content: first_change(scope, &work, &input)?,
            work,
            idempotency,
        };
        let made = scope.run(command).await?;
        Ok(CreateWorkPayload {
            work: scope.work(made).await?.into(),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Gives a work another title.
    async fn rename_work(&self, ctx: &Context<'_>, input: RenameWorkInput) -> Result<WorkPayload> {
        let scope = Scope::of(ctx)?;
        let work = scope.work(id(&input.work_id)?).await?;
        let command = RenameWork {
            caller: scope.caller,
            workspace: work.workspace,
            work: work.id,
            title: input.title,
            at: scope.now(),
        };
        let changed = scope.run(command).await?;
        Ok(payload(changed, input.client_mutation_id))
    }

    /// By a person: moves to the bin, and can be restored. By the agent: first a CONFIRM_IRREVERSIBLE card.
    async fn delete_work(&self, ctx: &Context<'_>, input: DeleteWorkInput) -> Result<WorkPayload> {
        let scope = Scope::of(ctx)?;
        let work = scope.work(id(&input.work_id)?).await?;
        let command = DeleteWork {
            caller: scope.caller,
            workspace: work.workspace,
            work: work.id,
            at: scope.now(),
        };
        let changed = scope.run(command).await?;
        Ok(payload(changed, input.client_mutation_id))
    }

    /// Brings a work back from the bin.
    async fn restore_work(
        &self,
        ctx: &Context<'_>,
        input: RestoreWorkInput,
    ) -> Result<WorkPayload> {
        let scope = Scope::of(ctx)?;
        let work = scope.work(id(&input.work_id)?).await?;
        let command = RestoreWork {
            caller: scope.caller,
            workspace: work.workspace,
            work: work.id,
            at: scope.now(),
        };
        let changed = scope.run(command).await?;
        Ok(payload(changed, input.client_mutation_id))
    }
}

fn payload(work: work::Work, client_mutation_id: Option<String>) -> WorkPayload {
    WorkPayload {
        work: std::sync::Arc::new(work).into(),
        client_mutation_id,
    }
}

fn new_work(scope: &Scope, input: &CreateWorkInput) -> domain::Result<work::Work> {
    if input.kind == WorkKind::Asset {
        return Err(domain::Error::Invalid(
            "an asset is made by `createUpload`, which takes its bytes".to_owned(),
        ));
    }
    let now = scope.now();
    Ok(work::Work {
        id: WorkId::new(),
        workspace: id(&input.workspace_id)?,
        kind: input.kind.into(),
        title: input.title.clone(),
        version: Version(0),
        created_at: now,
        updated_at: now,
        updated_by: scope.caller.actor(),
        deleted_at: None,
        asset: None,
    })
}

fn first_change(
    scope: &Scope,
    work: &work::Work,
    input: &CreateWorkInput,
) -> domain::Result<Option<PendingChange>> {
    let content = content_of(input)?;
    let (update, touched) = scope.services.documents.seed(&content, work.kind)?;
    Ok((!touched.is_empty()).then(|| PendingChange {
        actor: scope.caller.actor(),
        at: work.created_at,
        update,
        touched,
    }))
}

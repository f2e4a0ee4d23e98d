//! Making, naming, binning and restoring works, and uploads.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};
use domain::Error;
use domain::document::{Content, Edge, Node, NodeInput as DomainNode, Placement, Version};
use domain::ids::{UploadId, WorkId, WorkspaceId};
use domain::store::StoreExt as _;
use domain::work::{
    AssetFile, CreateUpload, CreateWork, DeleteWork, PendingChange, RenameWork, RestoreWork,
    Upload, Work, WorkKind, visible_work,
};

use super::super::model::{Asset, WorkKindName, WorkObject};
use super::super::scope::{Scope, scope};
use super::inputs::{EdgeInput, NodeInput};
use super::{idempotency, parse};

/// Input of createWork.
#[derive(InputObject, Debug, Clone)]
struct CreateWorkInput {
    /// The workspace.
    workspace_id: ID,
    /// What it is.
    kind: WorkKindName,
    /// Its title.
    title: String,
    /// Its nodes, in order.
    nodes: Option<Vec<NodeInput>>,
    /// Its edges.
    edges: Option<Vec<EdgeInput>>,
    /// Its text.
    text: Option<String>,
    /// The same key gives the first result again.
    idempotency_key: Option<String>,
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// Result of createWork.
#[derive(SimpleObject)]
struct CreateWorkPayload {
    /// The work.
    work: WorkObject,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// Result of a mutation of a work.
#[derive(SimpleObject)]
struct WorkPayload {
    /// The work.
    work: WorkObject,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// Input of renameWork.
#[derive(InputObject)]
struct RenameWorkInput {
    /// The work.
    work_id: ID,
    /// Its new title.
    title: String,
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// Input of deleteWork.
#[derive(InputObject)]
struct DeleteWorkInput {
    /// The work.
    work_id: ID,
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// Input of restoreWork.
#[derive(InputObject)]
struct RestoreWorkInput {
    /// The work.
    work_id: ID,
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// Input of createUpload. With `workId` the bytes become a new version of that asset. At most the server's upload limit; the
/// type is checked against the content.
#[derive(InputObject)]
struct CreateUploadInput {
    /// The workspace.
    workspace_id: ID,
    /// The title of a new asset.
    title: String,
    /// The media type.
    media_type: String,
    /// The size in bytes.
    byte_size: i32,
    /// The asset that gets a new version.
    work_id: Option<ID>,
    /// Given back as it is.
    client_mutation_id: Option<String>,
}

/// Result of createUpload.
#[derive(SimpleObject)]
struct CreateUploadPayload {
    /// The asset; its bytes are there after the upload.
    asset: Asset,
    /// Where to PUT the bytes.
    upload_url: String,
    /// As it was given.
    client_mutation_id: Option<String>,
}

#[derive(Default)]
pub(super) struct WorkMutation;

#[Object]
impl WorkMutation {
    /// Makes a work, with content where some is given.
    async fn create_work(
        &self,
        ctx: &Context<'_>,
        input: CreateWorkInput,
    ) -> Result<CreateWorkPayload> {
        let scope = scope(ctx)?;
        let client_mutation_id = input.client_mutation_id.clone();
        let id = scope.services.store.run(create_work(scope, input)?).await?;
        let work = scope
            .works
            .load(id)
            .await?
            .ok_or_else(|| Error::not_found("work", id))?;
        Ok(CreateWorkPayload {
            work: work.into(),
            client_mutation_id,
        })
    }

    /// Gives a work another title.
    async fn rename_work(&self, ctx: &Context<'_>, input: RenameWorkInput) -> Result<WorkPayload> {
        let scope = scope(ctx)?;
        let (work, workspace, at) = (
            parse(&input.work_id)?,
            workspace_of(scope, &input.work_id).await?,
            scope.services.clock.now(),
        );
        let command = RenameWork {
            caller: scope.caller,
            workspace,
            work,
            title: input.title,
            at,
        };
        let work = scope.services.store.run(command).await?;
        Ok(WorkPayload {
            work: work.into(),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Moves a work to the bin; it can be restored.
    async fn delete_work(&self, ctx: &Context<'_>, input: DeleteWorkInput) -> Result<WorkPayload> {
        let scope = scope(ctx)?;
        let (work, workspace, at) = (
            parse(&input.work_id)?,
            workspace_of(scope, &input.work_id).await?,
            scope.services.clock.now(),
        );
        let work = scope
            .services
            .store
            .run(DeleteWork {
                caller: scope.caller,
                workspace,
                work,
                at,
            })
            .await?;
        Ok(WorkPayload {
            work: work.into(),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Brings a work back from the bin.
    async fn restore_work(
        &self,
        ctx: &Context<'_>,
        input: RestoreWorkInput,
    ) -> Result<WorkPayload> {
        let scope = scope(ctx)?;
        let (work, workspace, at) = (
            parse(&input.work_id)?,
            workspace_of(scope, &input.work_id).await?,
            scope.services.clock.now(),
        );
        let work = scope
            .services
            .store
            .run(RestoreWork {
                caller: scope.caller,
                workspace,
                work,
                at,
            })
            .await?;
        Ok(WorkPayload {
            work: work.into(),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Registers an upload; PUT the bytes to `uploadUrl`, then the asset is there.
    async fn create_upload(
        &self,
        ctx: &Context<'_>,
        input: CreateUploadInput,
    ) -> Result<CreateUploadPayload> {
        let scope = scope(ctx)?;
        let client_mutation_id = input.client_mutation_id.clone();
        let command = create_upload(scope, input)?;
        let upload_url = scope.services.asset_urls.upload_url(&command.upload);
        let work = scope.services.store.run(command).await?;
        Ok(CreateUploadPayload {
            asset: Asset(work),
            upload_url,
            client_mutation_id,
        })
    }
}

async fn workspace_of(scope: &Scope, work: &ID) -> Result<WorkspaceId> {
    let (work, _) = visible_work(
        scope.services.store.reads(),
        parse(work)?,
        scope.caller.user,
    )
    .await?;
    Ok(work.workspace)
}

fn new_work(scope: &Scope, workspace: WorkspaceId, kind: WorkKind, title: String) -> Work {
    let at = scope.services.clock.now();
    Work {
        id: WorkId::new(),
        workspace,
        kind,
        title,
        version: Version(0),
        created_at: at,
        updated_at: at,
        updated_by: scope.caller.actor(),
        deleted_at: None,
        asset: None,
    }
}

fn create_work(scope: &Scope, input: CreateWorkInput) -> domain::Result<CreateWork> {
    let at = scope.services.clock.now();
    let kind: WorkKind = input.kind.into();
    if kind == WorkKind::Asset {
        return Err(Error::Invalid(
            "an asset is made by createUpload".to_owned(),
        ));
    }
    let hashed = CreateWorkInput {
        client_mutation_id: None,
        idempotency_key: None,
        ..input.clone()
    };
    let key = idempotency(
        scope.caller,
        "createWork",
        input.idempotency_key.clone(),
        &hashed,
        at,
    )?;
    let work = new_work(
        scope,
        parse(&input.workspace_id)?,
        kind,
        input.title.clone(),
    );
    let content = content(input)?;
    let is_empty = content == Content::default();
    let change = (!is_empty)
        .then(|| scope.services.documents.seed(&content, kind))
        .transpose()?;
    let content = change.map(|(update, touched)| PendingChange {
        actor: scope.caller.actor(),
        at,
        update,
        touched,
    });
    Ok(CreateWork {
        caller: scope.caller,
        work,
        content,
        idempotency: key,
    })
}

/// The content of a new work; nodes stand in the order in which they are given, `after` taken into account.
fn content(input: CreateWorkInput) -> domain::Result<Content> {
    let mut nodes: Vec<Node> = Vec::new();
    for node in input.nodes.unwrap_or_default() {
        let node = DomainNode::try_from(node)?;
        let place = match &node.placement {
            Placement::First => 0,
            Placement::End => nodes.len(),
            Placement::After(after) => nodes
                .iter()
                .position(|other| other.id == *after)
                .map_or(nodes.len(), |place| place + 1),
        };
        let id = node.id.unwrap_or_else(fresh_id);
        nodes.insert(
            place,
            Node {
                id,
                kind: node.kind.unwrap_or_default(),
                order: None,
                fields: node.fields,
            },
        );
    }
    let edge = |edge: EdgeInput| Edge {
        id: edge.id.map_or_else(fresh_id, |id| id.0),
        source: edge.source.0,
        target: edge.target.0,
        source_port: edge.source_port,
        target_port: edge.target_port,
    };
    let edges = input
        .edges
        .unwrap_or_default()
        .into_iter()
        .map(edge)
        .collect();
    Ok(Content {
        nodes,
        edges,
        text: input.text.unwrap_or_default(),
        ..Content::default()
    })
}

fn fresh_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

fn create_upload(scope: &Scope, input: CreateUploadInput) -> domain::Result<CreateUpload> {
    let limit = scope.services.upload_limit;
    let byte_size = u64::try_from(input.byte_size)
        .map_err(|_| Error::Invalid("`byteSize` can not be negative".to_owned()))?;
    if byte_size > limit {
        return Err(Error::TooLarge(format!(
            "a file can have {limit} bytes here, and this one has {byte_size}"
        )));
    }
    let media_type = crate::assets::normal(&input.media_type).ok_or_else(|| {
        let given: String = input.media_type.chars().take(100).collect();
        Error::Invalid(format!("`{given}` is no media type, such as image/png"))
    })?;
    let workspace = parse(&input.workspace_id)?;
    let file = AssetFile {
        sha256: String::new(),
        media_type: media_type.clone(),
        byte_size,
    };
    let new_work = input.work_id.is_none().then(|| Work {
        asset: Some(file),
        ..new_work(scope, workspace, WorkKind::Asset, input.title)
    });
    let work = match (&input.work_id, &new_work) {
        (Some(id), _) => parse(id)?,
        (None, Some(work)) => work.id,
        (None, None) => return Err(Error::internal("an upload without an asset")),
    };
    let upload = Upload {
        id: UploadId::new(),
        workspace,
        work,
        user: scope.caller.user,
        media_type,
        byte_size,
        created_at: scope.services.clock.now(),
        finished_at: None,
    };
    Ok(CreateUpload {
        caller: scope.caller,
        upload,
        new_work,
    })
}

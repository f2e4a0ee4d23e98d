//! From what an upstream has made to assets of the workspace, in the place where they are wanted.
//!
//! Invariants
//! - Ids of assets follow from the order: fetching once more makes nothing twice.
//! - Bytes are stored before the asset that shows them; what is not of the ordered kind is never stored as one.

use bytes::Bytes;
use domain::actor::Actor;
use domain::blob::{BlobKey, Blobs};
use domain::document::{Content, EditNodes, EditOutcome, Editor, NodeOperation, Version};
use domain::error::{Error, Result};
use domain::idempotency::IdempotencyKey;
use domain::ids::{WorkId, WorkspaceId};
use domain::job::{Job, JobPlace, MadeAsset, NotePlaced, StoreOutputs, UpstreamFile};
use domain::store::StoreExt as _;
use domain::task::Task;
use domain::time::Timestamp;
use domain::work::{AssetFile, PendingChange, Work, WorkKind};
use serde_json::{Map, json};
use uuid::Uuid;

use super::download::{Failure, Fetched, Request, fetch};
use super::{FetchLimits, MediaProvider, MediaServices, Source, sniff};
use crate::context::cut;

/// Where bytes that came with an answer lie until they are an asset: `blob:` and their hash.
const KEPT: &str = "blob:";
/// How often a place is written to that others write to as well.
const PLACINGS: usize = 3;
/// Characters of an asset's title.
const TITLE: usize = 120;

/// Keeps bytes that came with an answer, before anybody is told that they came.
pub(super) async fn keep(
    blobs: &dyn Blobs,
    workspace: WorkspaceId,
    bytes: Vec<u8>,
) -> Result<UpstreamFile> {
    let (size, sha256) = (bytes.len(), hash(&bytes));
    let mut writer = blobs.create(workspace).await?;
    writer.write(Bytes::from(bytes)).await?;
    writer.finish(&key(workspace, &sha256)).await?;
    Ok(UpstreamFile {
        url: format!("{KEPT}{sha256}:{size}"),
    })
}

fn key(workspace: WorkspaceId, sha256: &str) -> BlobKey {
    BlobKey {
        workspace,
        name: sha256.to_owned(),
    }
}

fn hash(bytes: &[u8]) -> String {
    hexadecimal(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes).as_ref())
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
    bytes.iter().flat_map(digits).flatten().collect()
}

/// Fetches one file into the blobs of the job's workspace.
pub(super) async fn file(
    services: &MediaServices,
    provider: &dyn MediaProvider,
    (job, file, limits): (&Job, &UpstreamFile, FetchLimits),
) -> Result<AssetFile, Failure> {
    let passing = |error: &Error| Failure::Passing(error.to_string());
    if let Some(kept) = file.url.strip_prefix(KEPT) {
        return kept_file(services, job, kept).await;
    }
    let source = provider.source(job, file).await.map_err(Failure::Final)?;
    let writer = services.blobs.create(job.workspace).await;
    let mut writer = writer.map_err(|error| passing(&error))?;
    let home = provider.home();
    let fetched = match source {
        Source::Bytes(bytes) => {
            let fetched = whole(&bytes);
            let written = writer.write(Bytes::from(bytes)).await;
            written.map_err(|error| passing(&error))?;
            fetched
        }
        Source::Remote(url, authorization) => {
            let request = Request {
                url,
                authorization,
                home: home.as_ref(),
                limits,
            };
            fetch(request, &mut writer).await?
        }
    };
    let media_type = checked(job, &fetched.head)?;
    let sha256 = hexadecimal(fetched.hash.as_ref());
    let finished = writer.finish(&key(job.workspace, &sha256)).await;
    finished.map_err(|error| passing(&error))?;
    Ok(AssetFile {
        sha256,
        media_type: media_type.to_owned(),
        byte_size: fetched.bytes,
    })
}

fn whole(bytes: &[u8]) -> Fetched {
    Fetched {
        head: bytes[..bytes.len().min(sniff::HEAD)].to_vec(),
        bytes: bytes.len() as u64,
        hash: aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes),
    }
}

fn checked(job: &Job, head: &[u8]) -> Result<&'static str, Failure> {
    let found = sniff::media_type(head).filter(|found| sniff::fits(job.kind, found));
    found.ok_or_else(|| {
        let kind = job.kind.tool_name();
        Failure::Final(format!(
            "its file is not of the kind {kind} that was ordered"
        ))
    })
}

async fn kept_file(services: &MediaServices, job: &Job, kept: &str) -> Result<AssetFile, Failure> {
    let lost = || Failure::Final("the bytes that came with the answer are gone".to_owned());
    let (sha256, size) = kept.split_once(':').ok_or_else(lost)?;
    let size: u64 = size.parse().map_err(|_| lost())?;
    let read = services
        .blobs
        .read(&key(job.workspace, sha256), 0..size.min(sniff::HEAD as u64))
        .await;
    let mut stream = match read {
        Ok(stream) => stream,
        Err(Error::NotFound(_)) => return Err(lost()),
        Err(error) => return Err(Failure::Passing(error.to_string())),
    };
    let mut head = Vec::new();
    while let Some(chunk) = futures_util::StreamExt::next(&mut stream).await {
        let chunk = chunk.map_err(|error| Failure::Passing(error.to_string()))?;
        head.extend_from_slice(&chunk);
    }
    Ok(AssetFile {
        sha256: sha256.to_owned(),
        media_type: checked(job, &head)?.to_owned(),
        byte_size: size,
    })
}

/// Stores files as assets of the job; returns the job with them.
pub(super) async fn store(
    services: &MediaServices,
    job: &Job,
    files: Vec<AssetFile>,
) -> Result<Job> {
    let at = services.clock.now();
    let count = files.len();
    let mut assets = Vec::with_capacity(count);
    for (index, file) in files.into_iter().enumerate() {
        assets.push(asset(services, job, (index, count), file, at)?);
    }
    let command = StoreOutputs {
        workspace: job.workspace,
        job: job.id,
        assets,
        at,
    };
    services.store.run(command).await
}

fn asset(
    services: &MediaServices,
    job: &Job,
    (index, count): (usize, usize),
    file: AssetFile,
    at: Timestamp,
) -> Result<MadeAsset> {
    let actor = Actor::Provider(job.provider.clone());
    let mut described = Map::new();
    described.insert("sha256".to_owned(), json!(file.sha256));
    described.insert("mediaType".to_owned(), json!(file.media_type));
    described.insert("byteSize".to_owned(), json!(file.byte_size));
    described.insert("caption".to_owned(), json!(cut(&job.prompt, 1_000)));
    let content = Content {
        asset: described,
        ..Content::default()
    };
    let (update, touched) = services.documents.seed(&content, WorkKind::Asset)?;
    Ok(MadeAsset {
        work: Work {
            id: output_id(job, index),
            workspace: job.workspace,
            kind: WorkKind::Asset,
            title: title(job, (index, count)),
            version: Version(0),
            created_at: at,
            updated_at: at,
            updated_by: actor.clone(),
            deleted_at: None,
            asset: Some(file),
        },
        content: PendingChange {
            actor,
            at,
            update,
            touched,
        },
    })
}

fn output_id(job: &Job, index: usize) -> WorkId {
    let name = format!("{}/output/{index}", job.id);
    WorkId::from_uuid(Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()))
}

fn title(job: &Job, (index, count): (usize, usize)) -> String {
    let given = job.parameters["title"].as_str().unwrap_or_default();
    let words = if given.trim().is_empty() {
        job.prompt.as_str()
    } else {
        given
    };
    let line = words.trim().lines().next().unwrap_or_default();
    let title = match cut(line, TITLE).trim() {
        "" => job.kind.tool_name().to_owned(),
        title => title.to_owned(),
    };
    if count > 1 {
        format!("{title} ({} of {count})", index + 1)
    } else {
        title
    }
}

/// Puts the first output where the call wanted it. What can not be placed is no failure of the order: it is there, and the text says
/// why it stands nowhere.
pub(super) async fn place(services: &MediaServices, job: &Job) -> Result<Option<String>> {
    let (Some(place), Some(output)) = (&job.place, job.outputs.first()) else {
        return Ok(None);
    };
    let reads = services.store.reads();
    let task = reads.list_tasks_by_id(&[job.task]).await?.pop();
    let task = task.ok_or_else(|| Error::not_found("task", job.task))?;
    if !task.status.takes_messages() {
        // Nothing is written for a task that a person has ended (D6).
        return Ok(Some("the task was ended before it was placed".to_owned()));
    }
    for _ in 0..PLACINGS {
        match write_place(services, (job, &task), place, *output).await {
            Ok(EditOutcome::Applied(applied)) => {
                let command = NotePlaced {
                    workspace: job.workspace,
                    task: job.task,
                    work: place.work,
                    version: applied.version,
                    at: services.clock.now(),
                };
                services.store.run(command).await?;
                return Ok(None);
            }
            Ok(_) => {}
            Err(error @ (Error::Unavailable(_) | Error::Internal(_))) => return Err(error),
            Err(error) => return Ok(Some(error.to_string())),
        }
    }
    Ok(Some("others kept changing the place".to_owned()))
}

async fn write_place(
    services: &MediaServices,
    (job, task): (&Job, &Task),
    place: &JobPlace,
    output: WorkId,
) -> Result<EditOutcome> {
    let reads = services.store.reads();
    let work = reads.list_works_by_id(&[place.work]).await?.pop();
    let work = work
        .filter(|work| work.workspace == job.workspace)
        .ok_or_else(|| Error::not_found("work", place.work))?;
    let turn = reads.list_turns_by_id(&[job.call.turn]).await?.pop();
    let mut fields = Map::new();
    fields.insert(place.field.clone(), json!(output));
    let actor = Actor::Agent {
        task: task.id,
        turn: turn.map_or(0, |turn| turn.number),
        step: job.call.step,
    };
    let edit = EditNodes {
        work: place.work,
        editor: Editor {
            idempotency: Some(placing_key(
                job,
                output,
                (actor.clone(), services.clock.now()),
            )),
            actor,
            fence: None,
        },
        base: work.version,
        operations: vec![NodeOperation::Set {
            node: place.node.clone(),
            fields,
        }],
        summary: Some(format!("{} of {}", job.kind.tool_name(), job.id)),
    };
    services.documents.edit_nodes(edit).await
}

/// Under this key a result is placed: whoever takes over after the placing was stored changes nothing, least of all what a person has
/// put there since.
fn placing_key(job: &Job, output: WorkId, (actor, at): (Actor, Timestamp)) -> IdempotencyKey {
    let mut input_hash = [0; 32];
    let digest = whole(output.to_string().as_bytes()).hash;
    input_hash.copy_from_slice(digest.as_ref());
    IdempotencyKey {
        actor,
        mutation: "editNodes",
        key: format!("{}/place", job.id),
        input_hash,
        at,
    }
}

//! Memories as rows: what is read of each table, and written to it.

use domain::Result;
use domain::ids::{MemoryId, MessageId, UserId, WorkspaceId};
use domain::memory::{
    Evidence, EvidenceRole, ForgottenMessage, Memory, MemoryBasis, MemoryKind, MemoryRejection,
    MemoryScope, MemoryState, MemoryVersion, RejectionReason, ScopeKind, Tombstone,
};
use domain::time::Timestamp;
use sea_orm::Value;

use super::{Row, at, id, number, optional_id};
use crate::link::DatabaseRow;

pub(super) fn memory(row: &DatabaseRow) -> Result<Memory> {
    let row = Row::of("memories", row);
    let kind = row.named("scope", ScopeKind::from_name)?;
    Ok(Memory {
        id: MemoryId::from_uuid(row.uuid("id")?),
        workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
        kind: row.named("kind", MemoryKind::from_name)?,
        scope: MemoryScope::from_key(kind, row.uuid("scope_key")?),
        basis: row.named("basis", MemoryBasis::from_name)?,
        state: row.named("state", MemoryState::from_name)?,
        current: row
            .get::<Option<i64>>("head")?
            .map(|_| row.integer("head"))
            .transpose()?,
        versions: row.integer("versions")?,
        words: row.optional_uuid("words")?,
        confirmations: row.integer("confirmations")?,
        for_profile: row.get("for_profile")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

/// A memory beside what holds of it.
pub(super) fn memory_with_content(row: &DatabaseRow) -> Result<(Memory, String)> {
    let memory = memory(row)?;
    Ok((memory, Row::of("memory_versions", row).get("content")?))
}

/// A memory in the order of [`MEMORY`].
pub(super) fn memory_values(memory: &Memory) -> Vec<Value> {
    vec![
        id(memory.workspace.uuid()),
        id(memory.id.uuid()),
        memory.kind.name().into(),
        memory.scope.kind().name().into(),
        id(memory.scope.key(memory.workspace)),
        memory.basis.name().into(),
        memory.state.name().into(),
        memory.current.map(i64::from).into(),
        number(memory.versions.into()),
        optional_id(memory.words),
        number(memory.confirmations.into()),
        memory.for_profile.into(),
        memory.is_in_profile().into(),
        at(memory.created_at),
        at(memory.updated_at),
    ]
}

/// The columns of a memory; the first two are its key, and the last but one never changes.
pub(super) const MEMORY: [&str; 15] = [
    "workspace_id",
    "id",
    "kind",
    "scope",
    "scope_key",
    "basis",
    "state",
    "head",
    "versions",
    "words",
    "confirmations",
    "for_profile",
    "in_profile",
    "created_at",
    "updated_at",
];

/// A version without what it was made of.
pub(super) fn version(row: &DatabaseRow) -> Result<MemoryVersion> {
    let row = Row::of("memory_versions", row);
    Ok(MemoryVersion {
        memory: MemoryId::from_uuid(row.uuid("memory_id")?),
        number: row.integer("number")?,
        content: row.get("content")?,
        words: row.optional_uuid("words")?,
        state: row.named("state", MemoryState::from_name)?,
        basis: row.named("basis", MemoryBasis::from_name)?,
        valid_from: row.optional_time("valid_from")?,
        valid_to: row.optional_time("valid_to")?,
        derived_from: Vec::new(),
        created_at: row.time("created_at")?,
    })
}

pub(super) fn version_values(workspace: WorkspaceId, version: &MemoryVersion) -> Vec<Value> {
    vec![
        id(workspace.uuid()),
        id(version.memory.uuid()),
        number(version.number.into()),
        version.content.clone().into(),
        optional_id(version.words),
        version.state.name().into(),
        version.basis.name().into(),
        version.valid_from.map(Timestamp::micros).into(),
        version.valid_to.map(Timestamp::micros).into(),
        at(version.created_at),
    ]
}

pub(super) fn evidence(row: &DatabaseRow) -> Result<Evidence> {
    let row = Row::of("evidence", row);
    Ok(Evidence {
        memory: MemoryId::from_uuid(row.uuid("memory_id")?),
        number: row.integer("number")?,
        message: MessageId::from_uuid(row.uuid("message_id")?),
        role: row.named("role", EvidenceRole::from_name)?,
        quote: row.get("quote")?,
        is_usable: row.get::<i64>("usable")? == 1,
    })
}

pub(super) fn evidence_values(workspace: WorkspaceId, edge: &Evidence) -> [Value; 6] {
    [
        id(workspace.uuid()),
        id(edge.memory.uuid()),
        number(edge.number.into()),
        id(edge.message.uuid()),
        edge.role.name().into(),
        edge.quote.clone().into(),
    ]
}

pub(super) fn tombstone(row: &DatabaseRow) -> Result<Tombstone> {
    let row = Row::of("tombstones", row);
    Ok(Tombstone {
        id: row.uuid("id")?,
        scope: row.uuid("scope_key")?,
        words: row.uuid("words")?,
        memory: MemoryId::from_uuid(row.uuid("memory_id")?),
        number: row.integer("number")?,
        by: UserId::from_uuid(row.uuid("user_id")?),
        at: row.time("at")?,
    })
}

pub(super) fn tombstone_values(workspace: WorkspaceId, tombstone: &Tombstone) -> [Value; 8] {
    [
        id(workspace.uuid()),
        id(tombstone.id),
        id(tombstone.scope),
        id(tombstone.words),
        id(tombstone.memory.uuid()),
        number(tombstone.number.into()),
        id(tombstone.by.uuid()),
        at(tombstone.at),
    ]
}

pub(super) fn forgotten(row: &DatabaseRow) -> Result<ForgottenMessage> {
    let row = Row::of("forgotten_messages", row);
    Ok(ForgottenMessage {
        message: MessageId::from_uuid(row.uuid("message_id")?),
        by: UserId::from_uuid(row.uuid("user_id")?),
        at: row.time("at")?,
    })
}

pub(super) fn rejection(row: &DatabaseRow) -> Result<MemoryRejection> {
    let row = Row::of("memory_rejections", row);
    Ok(MemoryRejection {
        id: row.uuid("id")?,
        user: UserId::from_uuid(row.uuid("user_id")?),
        content: row.get("content")?,
        reason: row.named("reason", RejectionReason::from_name)?,
        detail: row.get("detail")?,
        messages: row.json("messages")?,
        at: row.time("at")?,
    })
}

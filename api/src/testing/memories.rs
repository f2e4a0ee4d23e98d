//! What the store in memory says of memories: it has none.

use async_trait::async_trait;
use domain::Result;
use domain::event::Sequence;
use domain::ids::{LineId, MemoryId, MessageId, TaskId, UserId, WorkspaceId};
use domain::memory::{
    Evidence, ExtractionGroup, ForgottenMessage, Memory, MemoryFilter, MemoryMark, MemoryReads,
    MemoryRejection, MemoryScope, MemoryVersion, Tombstone, VersionRef, Waiting,
};
use domain::message::Message;
use domain::page::{Page, PageRequest};
use domain::people::CreatedPosition;
use domain::time::Timestamp;
use domain::turn::{Call, LargeResult, Step};
use uuid::Uuid;

use super::{MemoryStore, unused};

#[async_trait]
impl MemoryReads for MemoryStore {
    async fn list_memories_by_id(&self, _: &[MemoryId]) -> Result<Vec<Memory>> {
        unused()
    }

    async fn list_memories(
        &self,
        _: WorkspaceId,
        _: UserId,
        _: &MemoryFilter,
        _: PageRequest<CreatedPosition>,
    ) -> Result<Page<Memory>> {
        unused()
    }

    async fn count_memories(&self, _: WorkspaceId, _: UserId, _: &MemoryFilter) -> Result<u64> {
        unused()
    }

    async fn list_memory_ids(
        &self,
        _: WorkspaceId,
        _: Option<MemoryId>,
        _: u32,
    ) -> Result<Vec<MemoryId>> {
        unused()
    }

    async fn list_memory_versions(&self, _: &[MemoryId]) -> Result<Vec<MemoryVersion>> {
        unused()
    }

    async fn list_contents(&self, _: &[MemoryId]) -> Result<Vec<(Memory, String)>> {
        unused()
    }

    async fn list_evidence(&self, _: &[MemoryId]) -> Result<Vec<Evidence>> {
        unused()
    }

    async fn list_evidence_of(&self, _: WorkspaceId, _: &[MessageId]) -> Result<Vec<Evidence>> {
        unused()
    }

    async fn list_derived(&self, _: WorkspaceId, _: &[VersionRef]) -> Result<Vec<VersionRef>> {
        unused()
    }

    async fn find_memory_by_words(
        &self,
        _: WorkspaceId,
        _: MemoryScope,
        _: Uuid,
    ) -> Result<Option<Memory>> {
        unused()
    }

    async fn list_newest_memories(
        &self,
        _: WorkspaceId,
        _: &[MemoryScope],
        _: u32,
    ) -> Result<Vec<(Memory, String)>> {
        unused()
    }

    async fn list_profile(
        &self,
        _: WorkspaceId,
        _: UserId,
        _: u32,
    ) -> Result<Vec<(Memory, String)>> {
        unused()
    }

    async fn memory_mark(&self, _: WorkspaceId, _: UserId) -> Result<MemoryMark> {
        unused()
    }

    async fn find_tombstone(
        &self,
        _: WorkspaceId,
        _: &[Uuid],
        _: &[Uuid],
    ) -> Result<Option<Timestamp>> {
        unused()
    }

    async fn list_tombstones(&self, _: WorkspaceId) -> Result<Vec<Tombstone>> {
        unused()
    }

    async fn list_forgotten(
        &self,
        _: WorkspaceId,
        _: Option<&[MessageId]>,
    ) -> Result<Vec<ForgottenMessage>> {
        unused()
    }

    async fn list_rejections(
        &self,
        _: WorkspaceId,
        _: UserId,
        _: PageRequest<CreatedPosition>,
    ) -> Result<Page<MemoryRejection>> {
        unused()
    }

    async fn list_due_extractions(
        &self,
        _: Timestamp,
        _: Timestamp,
        _: u32,
    ) -> Result<Vec<ExtractionGroup>> {
        unused()
    }

    async fn list_waiting(
        &self,
        _: &ExtractionGroup,
        _: Timestamp,
        _: u32,
    ) -> Result<Vec<Waiting>> {
        unused()
    }

    async fn list_left_out(&self, _: TaskId) -> Result<Vec<u64>> {
        unused()
    }

    async fn list_left_out_exchanges(&self, _: &[LineId]) -> Result<Vec<(LineId, u32)>> {
        unused()
    }

    async fn list_memory_faults(&self, _: WorkspaceId) -> Result<Vec<MemoryId>> {
        unused()
    }

    async fn list_tasks_since(&self, _: WorkspaceId, _: Timestamp) -> Result<Vec<TaskId>> {
        unused()
    }

    async fn list_agent_messages(&self, _: TaskId, _: Timestamp) -> Result<Vec<Message>> {
        unused()
    }

    async fn journal_before(&self, _: TaskId, _: Timestamp) -> Result<u64> {
        unused()
    }

    async fn list_steps_since(&self, _: TaskId, _: Timestamp) -> Result<Vec<Step>> {
        unused()
    }

    async fn list_calls_since(
        &self,
        _: TaskId,
        _: Timestamp,
    ) -> Result<Vec<(Call, Option<LargeResult>)>> {
        unused()
    }

    async fn list_told_lines(
        &self,
        _: WorkspaceId,
        _: TaskId,
        _: Timestamp,
    ) -> Result<Vec<(Sequence, String)>> {
        unused()
    }
}

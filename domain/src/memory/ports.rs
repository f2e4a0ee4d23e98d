//! The ports of memories: what storage reads and writes of them.

use async_trait::async_trait;
use uuid::Uuid;

use super::extract::{ExtractionGroup, Waiting};
use super::{
    Evidence, ForgottenMessage, Memory, MemoryFilter, MemoryMark, MemoryRejection, MemoryScope,
    MemoryVersion, Tombstone, VersionRef,
};
use crate::card::Card;
use crate::error::Result;
use crate::event::Sequence;
use crate::ids::{LineId, MemoryId, MessageId, TaskId, UserId, WorkspaceId};
use crate::line::{ContextSegment, Line};
use crate::message::Message;
use crate::page::{Page, PageRequest};
use crate::people::CreatedPosition;
use crate::time::Timestamp;
use crate::turn::{Call, LargeResult, Step};

/// Reading memories. Lists by ids leave out what is not there and promise no order.
#[async_trait]
pub trait MemoryReads {
    /// Memories by id, whoever may see them.
    async fn list_memories_by_id(&self, ids: &[MemoryId]) -> Result<Vec<Memory>>;
    /// Memories of a workspace that this person may see, newest first.
    async fn list_memories(
        &self,
        workspace: WorkspaceId,
        reader: UserId,
        filter: &MemoryFilter,
        page: PageRequest<CreatedPosition>,
    ) -> Result<Page<Memory>>;
    /// How many memories such a list has.
    async fn count_memories(
        &self,
        workspace: WorkspaceId,
        reader: UserId,
        filter: &MemoryFilter,
    ) -> Result<u64>;
    /// Ids of a workspace's memories after one, at most `limit`.
    async fn list_memory_ids(
        &self,
        workspace: WorkspaceId,
        after: Option<MemoryId>,
        limit: u32,
    ) -> Result<Vec<MemoryId>>;
    /// All versions of these memories, by memory and number.
    async fn list_memory_versions(&self, ids: &[MemoryId]) -> Result<Vec<MemoryVersion>>;
    /// What holds of these memories: those of which nothing holds are left out.
    async fn list_contents(&self, ids: &[MemoryId]) -> Result<Vec<(Memory, String)>>;
    /// The evidence of these memories, by memory, version and message.
    async fn list_evidence(&self, ids: &[MemoryId]) -> Result<Vec<Evidence>>;
    /// What these messages of a workspace are evidence of.
    async fn list_evidence_of(
        &self,
        workspace: WorkspaceId,
        messages: &[MessageId],
    ) -> Result<Vec<Evidence>>;
    /// Versions of a workspace that were made of these.
    async fn list_derived(
        &self,
        workspace: WorkspaceId,
        from: &[VersionRef],
    ) -> Result<Vec<VersionRef>>;
    /// The active memory of a scope with these words.
    async fn find_memory_by_words(
        &self,
        workspace: WorkspaceId,
        scope: MemoryScope,
        words: Uuid,
    ) -> Result<Option<Memory>>;
    /// The newest active memories of these scopes with what holds, newest first.
    async fn list_newest_memories(
        &self,
        workspace: WorkspaceId,
        scopes: &[MemoryScope],
        limit: u32,
    ) -> Result<Vec<(Memory, String)>>;
    /// The entries of a person's profile, the newest `limit` of them, oldest first.
    async fn list_profile(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        limit: u32,
    ) -> Result<Vec<(Memory, String)>>;
    /// How often memory has changed, for this person.
    async fn memory_mark(&self, workspace: WorkspaceId, user: UserId) -> Result<MemoryMark>;
    /// When the newest of these words was forgotten in one of these scopes.
    async fn find_tombstone(
        &self,
        workspace: WorkspaceId,
        scopes: &[Uuid],
        words: &[Uuid],
    ) -> Result<Option<Timestamp>>;
    /// All receipts of a workspace.
    async fn list_tombstones(&self, workspace: WorkspaceId) -> Result<Vec<Tombstone>>;
    /// Which of these messages may not be used; none named means all of the workspace.
    async fn list_forgotten(
        &self,
        workspace: WorkspaceId,
        messages: Option<&[MessageId]>,
    ) -> Result<Vec<ForgottenMessage>>;
    /// Candidates of a person's messages that were not taken, newest first.
    async fn list_rejections(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        page: PageRequest<CreatedPosition>,
    ) -> Result<Page<MemoryRejection>>;
    /// Groups of messages that wait to be extracted from: quiet since one time, and not held back beyond another.
    async fn list_due_extractions(
        &self,
        quiet_since: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<ExtractionGroup>>;
    /// Messages of a group that wait and are not held back beyond a time, oldest first, at most `limit`.
    async fn list_waiting(
        &self,
        group: &ExtractionGroup,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Waiting>>;
    /// Entries of a task's journal that are left out of later requests.
    async fn list_left_out(&self, task: TaskId) -> Result<Vec<u64>>;
    /// Exchanges of these lines that are left out of later requests.
    async fn list_left_out_exchanges(&self, lines: &[LineId]) -> Result<Vec<(LineId, u32)>>;
    /// Active versions of a workspace whose evidence may not be used, or whose words were forgotten: there should be none.
    async fn list_memory_faults(&self, workspace: WorkspaceId) -> Result<Vec<MemoryId>>;
    /// Tasks of a workspace that changed since a time, Mains among them.
    async fn list_tasks_since(
        &self,
        workspace: WorkspaceId,
        since: Timestamp,
    ) -> Result<Vec<TaskId>>;
    /// What the agent wrote in the thread of a task since a time.
    async fn list_agent_messages(&self, task: TaskId, since: Timestamp) -> Result<Vec<Message>>;
    /// The sequence before the first entry of a task's journal since a time.
    async fn journal_before(&self, task: TaskId, since: Timestamp) -> Result<u64>;
    /// Steps of a task that were opened since a time.
    async fn list_steps_since(&self, task: TaskId, since: Timestamp) -> Result<Vec<Step>>;
    /// Calls of a task's steps that were opened since a time, with what was too large for them.
    async fn list_calls_since(
        &self,
        task: TaskId,
        since: Timestamp,
    ) -> Result<Vec<(Call, Option<LargeResult>)>>;
    /// Short lines that events of a task told since a time.
    async fn list_told_lines(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        since: Timestamp,
    ) -> Result<Vec<(Sequence, String)>>;
}

/// Writing memories.
#[async_trait]
pub trait MemoryWrites {
    /// Inserts a memory, or writes everything of it that can change.
    async fn put_memory(&self, memory: &Memory) -> Result<()>;
    /// Inserts a version, or writes what it says, where it stands and how long it was so.
    async fn put_memory_version(
        &self,
        workspace: WorkspaceId,
        version: &MemoryVersion,
    ) -> Result<()>;
    /// Inserts evidence; what is there stays.
    async fn insert_evidence(&self, workspace: WorkspaceId, evidence: &[Evidence]) -> Result<()>;
    /// Unlinks messages from a version.
    async fn delete_evidence(
        &self,
        workspace: WorkspaceId,
        version: VersionRef,
        messages: &[MessageId],
    ) -> Result<()>;
    /// Takes the quoted words out of the evidence of these versions.
    async fn blank_quotes(&self, workspace: WorkspaceId, versions: &[VersionRef]) -> Result<()>;
    /// Inserts receipts; what is there stays.
    async fn insert_tombstones(
        &self,
        workspace: WorkspaceId,
        tombstones: &[Tombstone],
    ) -> Result<()>;
    /// Takes the right to be used from messages; one that has lost it already stays as it is.
    async fn forget_messages(
        &self,
        workspace: WorkspaceId,
        messages: &[ForgottenMessage],
    ) -> Result<()>;
    /// Raises the version of the profile part of a person, or of the workspace.
    async fn raise_profile(&self, workspace: WorkspaceId, owner: Option<UserId>) -> Result<()>;
    /// Counts that something was forgotten.
    async fn raise_forgets(&self, workspace: WorkspaceId) -> Result<()>;
    /// Inserts rejections.
    async fn insert_rejections(
        &self,
        workspace: WorkspaceId,
        rejections: &[MemoryRejection],
    ) -> Result<()>;
    /// Takes the words out of rejections that name one of these messages.
    async fn blank_rejections(&self, workspace: WorkspaceId, messages: &[MessageId]) -> Result<()>;
    /// Lets messages wait to be extracted from; one that waits or was read by the same extractor stays as it is.
    async fn queue_extractions(&self, group: &ExtractionGroup, waiting: &[Waiting]) -> Result<()>;
    /// Counts attempts, and holds the messages of a group back until a time.
    async fn hold_extractions(
        &self,
        group: &ExtractionGroup,
        messages: &[MessageId],
        attempts_until: (u32, Timestamp),
    ) -> Result<()>;
    /// Ends the wait of messages of a group; how many waited.
    async fn end_extractions(
        &self,
        group: &ExtractionGroup,
        messages: &[MessageId],
        state: &'static str,
    ) -> Result<u64>;
    /// Ends every wait of messages.
    async fn drop_extractions(&self, workspace: WorkspaceId, messages: &[MessageId]) -> Result<()>;
    /// Takes the vectors of these things away, under one new write number.
    async fn drop_vectors(&self, workspace: WorkspaceId, ids: &[Uuid]) -> Result<()>;
    /// Leaves entries of journals (by task) and exchanges of lines (by line) out of later requests.
    async fn leave_out(&self, workspace: WorkspaceId, places: &[(Uuid, u64)]) -> Result<()>;
    /// Writes the summary of a segment.
    async fn rewrite_segment(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        segment: &ContextSegment,
    ) -> Result<()>;
    /// Writes arguments, result and error of a call that is over, and the whole of a large result.
    async fn rewrite_call(&self, call: &Call, has_large: bool) -> Result<()>;
    /// Writes the rationale of a step.
    async fn rewrite_rationale(&self, step: &Step) -> Result<()>;
    /// Writes what a line is for.
    async fn rewrite_line(&self, line: &Line) -> Result<()>;
    /// Writes the question of a card, and what can be answered.
    async fn rewrite_card(&self, card: &Card) -> Result<()>;
    /// Takes the details out of these events.
    async fn blank_events(&self, workspace: WorkspaceId, events: &[Sequence]) -> Result<()>;
}

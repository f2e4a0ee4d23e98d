//! What the store in memory says of tasks and all that belongs to them: it has none of it.

use async_trait::async_trait;
use domain::Result;
use domain::card::{Card, CardReads};
use domain::ids::{CardId, LineId, MessageId, TaskId, TurnId, UserId, WorkId, WorkspaceId};
use domain::journal::{JournalEntry, JournalKind, JournalReads};
use domain::line::{ContextSegment, Line, LineExchange, LineReads};
use domain::message::{Message, MessagePosition, MessageReads, MessageState};
use domain::page::{End, Page, PageRequest, Window};
use domain::people::CreatedPosition;
use domain::task::{
    ChangeNotice, LinkedWork, Projections, Task, TaskFilter, TaskReads, TaskStatus,
};
use domain::time::Timestamp;
use domain::turn::{Call, CallId, Claimable, Entered, LargeResult, Step, StepRef, Turn, TurnReads};
use uuid::Uuid;

use super::{MemoryStore, unused};

#[async_trait]
impl TaskReads for MemoryStore {
    async fn list_tasks_by_id(&self, _: &[TaskId]) -> Result<Vec<Task>> {
        unused()
    }
    async fn list_tasks(
        &self,
        _: WorkspaceId,
        _: &TaskFilter,
        _: PageRequest<CreatedPosition>,
    ) -> Result<Page<Task>> {
        unused()
    }
    async fn count_tasks(&self, _: WorkspaceId, _: &TaskFilter) -> Result<u64> {
        unused()
    }
    async fn list_active_tasks(
        &self,
        _: WorkspaceId,
        _: &[TaskStatus],
        _: u32,
    ) -> Result<Vec<Task>> {
        unused()
    }
    async fn list_projections(&self, _: &[TaskId]) -> Result<Vec<(TaskId, Projections)>> {
        unused()
    }
    async fn list_linked_works(&self, _: &[TaskId]) -> Result<Vec<LinkedWork>> {
        unused()
    }
    async fn list_linked_tasks(&self, _: WorkspaceId, _: &[WorkId]) -> Result<Vec<LinkedWork>> {
        unused()
    }
    async fn list_change_notices(&self, _: &[TaskId]) -> Result<Vec<ChangeNotice>> {
        unused()
    }
}

#[async_trait]
impl TurnReads for MemoryStore {
    async fn lease_time(&self, _: Timestamp) -> Result<Timestamp> {
        unused()
    }
    async fn list_claimable(&self, _: Timestamp, _: u32) -> Result<Vec<Claimable>> {
        unused()
    }
    async fn list_unmoved(&self, _: Timestamp, _: Timestamp, _: u32) -> Result<Vec<Claimable>> {
        unused()
    }
    async fn list_unwoken(&self, _: u32) -> Result<Vec<(WorkspaceId, TaskId)>> {
        unused()
    }
    async fn enter_turn(&self, _: TurnId) -> Result<Option<Entered>> {
        unused()
    }
    async fn list_turns_by_id(&self, _: &[TurnId]) -> Result<Vec<Turn>> {
        unused()
    }
    async fn list_turns(&self, _: TaskId, _: Window<u32>) -> Result<Page<Turn>> {
        unused()
    }
    async fn list_turns_of(&self, _: &[TaskId], _: u32, _: End) -> Result<Vec<Turn>> {
        unused()
    }
    async fn list_steps_by_number(&self, _: &[(TaskId, StepRef)]) -> Result<Vec<Step>> {
        unused()
    }
    async fn list_steps(&self, _: &[TurnId]) -> Result<Vec<Step>> {
        unused()
    }
    async fn list_calls(&self, _: &[TurnId]) -> Result<Vec<Call>> {
        unused()
    }
    async fn find_step(&self, _: TurnId, _: u32) -> Result<Option<Step>> {
        unused()
    }
    async fn list_step_calls(&self, _: TurnId, _: u32) -> Result<Vec<Call>> {
        unused()
    }
    async fn find_equal_call(&self, _: TaskId, _: Uuid) -> Result<Option<Call>> {
        unused()
    }
    async fn find_large_result(&self, _: &CallId) -> Result<Option<LargeResult>> {
        unused()
    }
}

#[async_trait]
impl MessageReads for MemoryStore {
    async fn list_messages_by_id(&self, _: &[MessageId]) -> Result<Vec<Message>> {
        unused()
    }
    async fn list_main_thread(
        &self,
        _: WorkspaceId,
        _: UserId,
        _: Window<MessagePosition>,
    ) -> Result<Page<Message>> {
        unused()
    }
    async fn list_thread(&self, _: TaskId, _: Window<MessagePosition>) -> Result<Page<Message>> {
        unused()
    }
    async fn list_threads(&self, _: &[TaskId], _: u32, _: End) -> Result<Vec<Message>> {
        unused()
    }
    async fn list_consumed(&self, _: &[(TaskId, StepRef)]) -> Result<Vec<Message>> {
        unused()
    }
    async fn is_consumed_after(&self, _: TaskId, _: StepRef) -> Result<bool> {
        unused()
    }
    async fn list_inbox(&self, _: &[TaskId], _: &[MessageState]) -> Result<Vec<Message>> {
        unused()
    }
}

#[async_trait]
impl JournalReads for MemoryStore {
    async fn list_journal(
        &self,
        _: TaskId,
        _: &[JournalKind],
        _: PageRequest<u64>,
    ) -> Result<Page<JournalEntry>> {
        unused()
    }
    async fn list_journals(
        &self,
        _: &[TaskId],
        _: &[JournalKind],
        _: u32,
    ) -> Result<Vec<(TaskId, JournalEntry)>> {
        unused()
    }
    async fn list_prompts(&self, _: &[(TaskId, StepRef)]) -> Result<Vec<(TaskId, JournalEntry)>> {
        unused()
    }
    async fn list_newest_journal(
        &self,
        _: TaskId,
        _: &[JournalKind],
        _: u64,
        _: u32,
    ) -> Result<Vec<JournalEntry>> {
        unused()
    }
}

#[async_trait]
impl LineReads for MemoryStore {
    async fn list_lines(&self, _: &[TaskId]) -> Result<Vec<Line>> {
        unused()
    }
    async fn find_line(&self, _: LineId) -> Result<Option<Line>> {
        unused()
    }
    async fn list_exchanges(&self, _: &[LineId]) -> Result<Vec<LineExchange>> {
        unused()
    }
    async fn list_segments(&self, _: TaskId, _: u32) -> Result<Vec<ContextSegment>> {
        unused()
    }
}

#[async_trait]
impl CardReads for MemoryStore {
    async fn list_cards_by_id(&self, _: &[CardId]) -> Result<Vec<Card>> {
        unused()
    }
    async fn list_cards(&self, _: &[TaskId], _: Option<bool>) -> Result<Vec<Card>> {
        unused()
    }
    async fn list_open_cards_about(&self, _: WorkspaceId, _: MessageId) -> Result<Vec<Card>> {
        unused()
    }
    async fn list_open_cards(&self, _: WorkspaceId) -> Result<Vec<Card>> {
        unused()
    }
}

//! Tasks and what belongs to them are in no store in memory.

use async_trait::async_trait;
use domain::Result;
use domain::card::{Card, CardReads};
use domain::ids::{CardId, LineId, MessageId, TaskId, TurnId, UserId, WorkId, WorkspaceId};
use domain::journal::{JournalEntry, JournalKind, JournalReads};
use domain::line::{ContextSegment, Line, LineExchange, LineReads};
use domain::message::{Message, MessagePosition, MessageReads, MessageState};
use domain::page::{End, Page, PageRequest, Window};
use domain::people::CreatedPosition;
use domain::task::{ChangeNotice, LinkedWork, Projections, Task, TaskFilter, TaskReads};
use domain::time::Timestamp;
use domain::turn::{Call, CallId, Claimable, LargeResult, Step, StepRef, Turn, TurnReads};
use uuid::Uuid;

use super::{MemoryStore, unused};

/// Refuses every read of a port.
macro_rules! refused {
    ($port:ident { $(fn $name:ident($($argument:ty),*) -> $found:ty;)* }) => {
        #[async_trait]
        impl $port for MemoryStore {
            $(async fn $name(&self, $(_: $argument),*) -> Result<$found> {
                unused()
            })*
        }
    };
}

refused! {TaskReads {
    fn list_tasks_by_id(&[TaskId]) -> Vec<Task>;
    fn list_tasks(WorkspaceId, &TaskFilter, PageRequest<CreatedPosition>) -> Page<Task>;
    fn count_tasks(WorkspaceId, &TaskFilter) -> u64;
    fn list_projections(&[TaskId]) -> Vec<(TaskId, Projections)>;
    fn list_linked_works(&[TaskId]) -> Vec<LinkedWork>;
    fn list_linked_tasks(WorkspaceId, &[WorkId]) -> Vec<LinkedWork>;
    fn list_change_notices(&[TaskId]) -> Vec<ChangeNotice>;
}}

refused! {TurnReads {
    fn lease_time(Timestamp) -> Timestamp;
    fn list_claimable(Timestamp, u32) -> Vec<Claimable>;
    fn list_unmoved(Timestamp, Timestamp, u32) -> Vec<Claimable>;
    fn list_unwoken(u32) -> Vec<(WorkspaceId, TaskId)>;
    fn list_turns_by_id(&[TurnId]) -> Vec<Turn>;
    fn list_turns(TaskId, Window<u32>) -> Page<Turn>;
    fn list_turns_of(&[TaskId], u32, End) -> Vec<Turn>;
    fn list_steps_by_number(&[(TaskId, StepRef)]) -> Vec<Step>;
    fn list_steps(&[TurnId]) -> Vec<Step>;
    fn list_calls(&[TurnId]) -> Vec<Call>;
    fn find_step(TurnId, u32) -> Option<Step>;
    fn list_step_calls(TurnId, u32) -> Vec<Call>;
    fn find_equal_call(TaskId, Uuid) -> Option<Call>;
    fn find_large_result(&CallId) -> Option<LargeResult>;
}}

refused! {MessageReads {
    fn list_messages_by_id(&[MessageId]) -> Vec<Message>;
    fn list_main_thread(WorkspaceId, UserId, Window<MessagePosition>) -> Page<Message>;
    fn list_thread(TaskId, Window<MessagePosition>) -> Page<Message>;
    fn list_threads(&[TaskId], u32, End) -> Vec<Message>;
    fn list_consumed(&[(TaskId, StepRef)]) -> Vec<Message>;
    fn is_consumed_after(TaskId, StepRef) -> bool;
    fn list_inbox(&[TaskId], &[MessageState]) -> Vec<Message>;
}}

refused! {JournalReads {
    fn list_journal(TaskId, &[JournalKind], PageRequest<u64>) -> Page<JournalEntry>;
    fn list_journals(&[TaskId], &[JournalKind], u32) -> Vec<(TaskId, JournalEntry)>;
    fn list_prompts(&[(TaskId, StepRef)]) -> Vec<(TaskId, JournalEntry)>;
    fn list_newest_journal(TaskId, &[JournalKind], u64, u32) -> Vec<JournalEntry>;
}}

refused! {LineReads {
    fn list_lines(&[TaskId]) -> Vec<Line>;
    fn find_line(LineId) -> Option<Line>;
    fn list_exchanges(&[LineId]) -> Vec<LineExchange>;
    fn list_segments(TaskId, u32) -> Vec<ContextSegment>;
}}

refused! {CardReads {
    fn list_cards_by_id(&[CardId]) -> Vec<Card>;
    fn list_cards(&[TaskId], Option<bool>) -> Vec<Card>;
    fn list_open_cards(WorkspaceId) -> Vec<Card>;
}}

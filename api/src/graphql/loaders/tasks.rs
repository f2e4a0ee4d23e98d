//! Loaders of tasks and of what belongs to them: messages, cards, journals, turns, steps, calls, lines.
//!
//! Invariants
//! - Tasks, messages and cards are those the caller may see; what hangs on a task, turn or line is asked for only after its
//!   task was found.
//! - What stands in another person's main thread alone is not there, and neither is a card about it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use domain::card::Card;
use domain::ids::{CardId, JobId, LineId, MessageId, TaskId, TurnId, WorkId, WorkspaceId};
use domain::job::Job;
use domain::journal::{JournalEntry, JournalKind};
use domain::line::{Line, LineExchange};
use domain::message::{Message, MessageState};
use domain::money::WorkspaceBudget;
use domain::page::End;
use domain::people::Caller;
use domain::task::{ChangeNotice, LinkedWork, Projections, Task};
use domain::turn::{Call, Step, StepRef, Turn};

use super::{by_id, grouped, keep_visible, loader, pairs};
use crate::graphql::loader::{Loaded, Loader};
use crate::graphql::services::Services;

/// Rows that belong together.
type Rows<T> = Arc<Vec<T>>;
/// A step, by its task and numbers.
type StepKey = (TaskId, StepRef);

/// At most so many rows from one end of a task's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::graphql) struct Part {
    pub(in crate::graphql) task: TaskId,
    pub(in crate::graphql) limit: u32,
    pub(in crate::graphql) end: End,
}

/// The loaders of tasks.
pub(in crate::graphql) struct TaskLoaders {
    pub(in crate::graphql) tasks: Loader<TaskId, Arc<Task>>,
    pub(in crate::graphql) projections: Loader<TaskId, Arc<Projections>>,
    pub(in crate::graphql) works: Loader<TaskId, Rows<LinkedWork>>,
    pub(in crate::graphql) of_works: Loader<(WorkspaceId, WorkId), Rows<LinkedWork>>,
    pub(in crate::graphql) notices: Loader<TaskId, Rows<ChangeNotice>>,
    pub(in crate::graphql) messages: Loader<MessageId, Arc<Message>>,
    pub(in crate::graphql) inboxes: Loader<(TaskId, Vec<MessageState>), Rows<Message>>,
    pub(in crate::graphql) threads: Loader<Part, Rows<Message>>,
    pub(in crate::graphql) consumed: Loader<StepKey, Rows<Message>>,
    pub(in crate::graphql) cards: Loader<CardId, Arc<Card>>,
    pub(in crate::graphql) task_cards: Loader<(TaskId, Option<bool>), Rows<Card>>,
    pub(in crate::graphql) jobs: Loader<JobId, Arc<Job>>,
    pub(in crate::graphql) task_jobs: Loader<TaskId, Rows<Arc<Job>>>,
    pub(in crate::graphql) budgets: Loader<WorkspaceId, WorkspaceBudget>,
    pub(in crate::graphql) journals: Loader<(TaskId, Vec<JournalKind>, u32), Rows<JournalEntry>>,
    pub(in crate::graphql) prompts: Loader<StepKey, Rows<JournalEntry>>,
    pub(in crate::graphql) turns: Loader<Part, Rows<Turn>>,
    pub(in crate::graphql) steps: Loader<StepKey, Arc<Step>>,
    pub(in crate::graphql) turn_steps: Loader<TurnId, Rows<Arc<Step>>>,
    pub(in crate::graphql) calls: Loader<TurnId, Rows<Arc<Call>>>,
    pub(in crate::graphql) lines: Loader<TaskId, Rows<Line>>,
    pub(in crate::graphql) exchanges: Loader<LineId, Rows<LineExchange>>,
}

impl TaskLoaders {
    /// Loaders in which nothing is loaded yet.
    pub(super) fn new(services: &Arc<Services>, caller: Caller) -> Self {
        Self {
            tasks: loader(services, move |services, ids| tasks(services, caller, ids)),
            projections: loader(services, projections),
            works: loader(services, works),
            of_works: loader(services, of_works),
            notices: loader(services, notices),
            messages: loader(services, move |services, ids| {
                messages(services, caller, ids)
            }),
            inboxes: loader(services, inboxes),
            threads: loader(services, threads),
            consumed: loader(services, consumed),
            cards: loader(services, move |services, ids| cards(services, caller, ids)),
            task_cards: loader(services, task_cards),
            jobs: loader(services, move |services, ids| jobs(services, caller, ids)),
            task_jobs: loader(services, task_jobs),
            budgets: loader(services, budgets),
            journals: loader(services, journals),
            prompts: loader(services, prompts),
            turns: loader(services, turns),
            steps: loader(services, steps),
            turn_steps: loader(services, turn_steps),
            calls: loader(services, calls),
            lines: loader(services, lines),
            exchanges: loader(services, exchanges),
        }
    }
}

async fn tasks(
    services: Arc<Services>,
    caller: Caller,
    ids: Vec<TaskId>,
) -> Loaded<TaskId, Arc<Task>> {
    let mut rows = services.store.reads().list_tasks_by_id(&ids).await?;
    rows.retain(|task| !task.is_main());
    keep_visible(&services, caller, &mut rows, |task| task.workspace).await?;
    Ok(by_id(rows, |task| task.id))
}

async fn projections(
    services: Arc<Services>,
    ids: Vec<TaskId>,
) -> Loaded<TaskId, Arc<Projections>> {
    let rows = services.store.reads().list_projections(&ids).await?;
    let rows = rows.into_iter();
    Ok(rows.map(|(task, row)| (task, Arc::new(row))).collect())
}

async fn works(services: Arc<Services>, ids: Vec<TaskId>) -> Loaded<TaskId, Rows<LinkedWork>> {
    let rows = services.store.reads().list_linked_works(&ids).await?;
    Ok(grouped(rows, |linked| linked.task))
}

async fn of_works(
    services: Arc<Services>,
    keys: Vec<(WorkspaceId, WorkId)>,
) -> Loaded<(WorkspaceId, WorkId), Rows<LinkedWork>> {
    let mut found = HashMap::new();
    for (workspace, works) in gathered(keys) {
        let reads = services.store.reads();
        let rows = reads.list_linked_tasks(workspace, &works).await?;
        found.extend(grouped(rows, |linked| (linked.workspace, linked.work)));
    }
    Ok(found)
}

async fn notices(services: Arc<Services>, ids: Vec<TaskId>) -> Loaded<TaskId, Rows<ChangeNotice>> {
    let rows = services.store.reads().list_change_notices(&ids).await?;
    Ok(grouped(rows, |notice| notice.task))
}

async fn messages(
    services: Arc<Services>,
    caller: Caller,
    ids: Vec<MessageId>,
) -> Loaded<MessageId, Arc<Message>> {
    let rows = visible_messages(&services, caller, &ids).await?;
    Ok(by_id(rows, |message| message.id))
}

async fn visible_messages(
    services: &Services,
    caller: Caller,
    ids: &[MessageId],
) -> domain::Result<Vec<Message>> {
    let mut rows = services.store.reads().list_messages_by_id(ids).await?;
    rows.retain(|message| message.is_visible_to(caller.user));
    keep_visible(services, caller, &mut rows, |message| message.workspace).await?;
    Ok(rows)
}

async fn inboxes(
    services: Arc<Services>,
    keys: Vec<(TaskId, Vec<MessageState>)>,
) -> Loaded<(TaskId, Vec<MessageState>), Rows<Message>> {
    let mut found = HashMap::new();
    for (states, tasks) in gathered(keys.into_iter().map(|(task, states)| (states, task))) {
        let rows = services.store.reads().list_inbox(&tasks, &states).await?;
        found.extend(of_tasks(rows, |message| message.task, &states));
    }
    Ok(found)
}

async fn threads(services: Arc<Services>, parts: Vec<Part>) -> Loaded<Part, Rows<Message>> {
    let mut found = HashMap::new();
    for ((limit, end), tasks) in gathered(parts.into_iter().map(Part::apart)) {
        let reads = services.store.reads();
        let rows = reads.list_threads(&tasks, limit, end).await?;
        let rows = of_tasks(rows, |message| message.task, &());
        found.extend(rows.map(|((task, ()), rows)| (Part { task, limit, end }, rows)));
    }
    Ok(found)
}

async fn consumed(services: Arc<Services>, keys: Vec<StepKey>) -> Loaded<StepKey, Rows<Message>> {
    let rows = services.store.reads().list_consumed(&keys).await?;
    let rows = rows.into_iter().filter_map(|message| {
        let step = (message.task?, message.taken_by?);
        Some((step, message))
    });
    Ok(pairs(rows))
}

async fn cards(
    services: Arc<Services>,
    caller: Caller,
    ids: Vec<CardId>,
) -> Loaded<CardId, Arc<Card>> {
    let mut rows = services.store.reads().list_cards_by_id(&ids).await?;
    keep_visible(&services, caller, &mut rows, |card| card.workspace).await?;
    keep_cards(&services, caller, &mut rows).await?;
    Ok(by_id(rows, |card| card.id))
}

/// Leaves out cards about a message that the caller may not see; a task's card is there for every member.
pub(in crate::graphql) async fn keep_cards(
    services: &Services,
    caller: Caller,
    cards: &mut Vec<Card>,
) -> domain::Result<()> {
    let about = |card: &Card| card.message.filter(|_| card.task.is_none());
    let ids: Vec<_> = cards.iter().filter_map(about).collect();
    let rows = visible_messages(services, caller, &ids).await?;
    let visible: HashSet<_> = rows.iter().map(|message| message.id).collect();
    cards.retain(|card| about(card).is_none_or(|message| visible.contains(&message)));
    Ok(())
}

async fn task_cards(
    services: Arc<Services>,
    keys: Vec<(TaskId, Option<bool>)>,
) -> Loaded<(TaskId, Option<bool>), Rows<Card>> {
    let mut found = HashMap::new();
    for (is_open, tasks) in gathered(keys.into_iter().map(|(task, is_open)| (is_open, task))) {
        let rows = services.store.reads().list_cards(&tasks, is_open).await?;
        found.extend(of_tasks(rows, |card| card.task, &is_open));
    }
    Ok(found)
}

async fn jobs(services: Arc<Services>, caller: Caller, ids: Vec<JobId>) -> Loaded<JobId, Arc<Job>> {
    let mut rows = services.store.reads().list_jobs_by_id(&ids).await?;
    keep_visible(&services, caller, &mut rows, |job| job.workspace).await?;
    Ok(by_id(rows, |job| job.id))
}

async fn task_jobs(services: Arc<Services>, ids: Vec<TaskId>) -> Loaded<TaskId, Rows<Arc<Job>>> {
    let rows = services.store.reads().list_jobs(&ids).await?;
    let rows = rows.into_iter().map(Arc::new).collect();
    Ok(grouped(rows, |job: &Arc<Job>| job.task))
}

/// One request is about one workspace, or a few.
async fn budgets(
    services: Arc<Services>,
    ids: Vec<WorkspaceId>,
) -> Loaded<WorkspaceId, WorkspaceBudget> {
    let mut found = HashMap::new();
    for id in ids {
        found.insert(id, services.store.reads().budget(id).await?);
    }
    Ok(found)
}

async fn journals(
    services: Arc<Services>,
    keys: Vec<(TaskId, Vec<JournalKind>, u32)>,
) -> Loaded<(TaskId, Vec<JournalKind>, u32), Rows<JournalEntry>> {
    let keys = keys.into_iter();
    let mut found = HashMap::new();
    for ((kinds, limit), tasks) in gathered(keys.map(|(task, kinds, limit)| ((kinds, limit), task)))
    {
        let reads = services.store.reads();
        let rows = reads.list_journals(&tasks, &kinds, limit).await?;
        let rows = pairs(rows).into_iter();
        found.extend(rows.map(|(task, rows)| ((task, kinds.clone(), limit), rows)));
    }
    Ok(found)
}

async fn prompts(
    services: Arc<Services>,
    keys: Vec<StepKey>,
) -> Loaded<StepKey, Rows<JournalEntry>> {
    let rows = services.store.reads().list_prompts(&keys).await?;
    let rows = rows.into_iter().filter_map(|(task, entry)| {
        let step = (task, entry.step?);
        Some((step, entry))
    });
    Ok(pairs(rows))
}

async fn turns(services: Arc<Services>, parts: Vec<Part>) -> Loaded<Part, Rows<Turn>> {
    let mut found = HashMap::new();
    for ((limit, end), tasks) in gathered(parts.into_iter().map(Part::apart)) {
        let reads = services.store.reads();
        let rows = reads.list_turns_of(&tasks, limit, end).await?;
        let part_of = |turn: &Turn| Part {
            task: turn.task,
            limit,
            end,
        };
        found.extend(grouped(rows, part_of));
    }
    Ok(found)
}

async fn steps(services: Arc<Services>, keys: Vec<StepKey>) -> Loaded<StepKey, Arc<Step>> {
    let rows = services.store.reads().list_steps_by_number(&keys).await?;
    Ok(by_id(rows, |step| (step.task, step.at)))
}

async fn turn_steps(services: Arc<Services>, ids: Vec<TurnId>) -> Loaded<TurnId, Rows<Arc<Step>>> {
    let rows = services.store.reads().list_steps(&ids).await?;
    let rows = rows.into_iter().map(Arc::new).collect();
    Ok(grouped(rows, |step: &Arc<Step>| step.turn))
}

async fn calls(services: Arc<Services>, ids: Vec<TurnId>) -> Loaded<TurnId, Rows<Arc<Call>>> {
    let rows = services.store.reads().list_calls(&ids).await?;
    let rows = rows.into_iter().map(Arc::new).collect();
    Ok(grouped(rows, |call: &Arc<Call>| call.id.turn))
}

async fn lines(services: Arc<Services>, ids: Vec<TaskId>) -> Loaded<TaskId, Rows<Line>> {
    let rows = services.store.reads().list_lines(&ids).await?;
    Ok(grouped(rows, |line| line.task))
}

async fn exchanges(
    services: Arc<Services>,
    ids: Vec<LineId>,
) -> Loaded<LineId, Rows<LineExchange>> {
    let rows = services.store.reads().list_exchanges(&ids).await?;
    Ok(grouped(rows, |exchange| exchange.line))
}

impl Part {
    fn apart(self) -> ((u32, End), TaskId) {
        ((self.limit, self.end), self.task)
    }
}

/// One request asks in few ways, so one statement for each of them is few statements.
fn gathered<W: Ord, K>(keys: impl IntoIterator<Item = (W, K)>) -> BTreeMap<W, Vec<K>> {
    let mut groups: BTreeMap<W, Vec<K>> = BTreeMap::new();
    for (way, key) in keys {
        groups.entry(way).or_default().push(key);
    }
    groups
}

/// Rows by their task, each beside the way in which they were asked for.
fn of_tasks<T, W: Clone>(
    rows: Vec<T>,
    task_of: fn(&T) -> Option<TaskId>,
    way: &W,
) -> impl Iterator<Item = ((TaskId, W), Rows<T>)> {
    let rows = rows.into_iter();
    let rows = pairs(rows.filter_map(|row| Some((task_of(&row)?, row))));
    rows.into_iter()
        .map(|(task, rows)| ((task, way.clone()), rows))
}

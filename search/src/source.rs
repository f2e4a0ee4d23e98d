//! What is searched: the things of a workspace as texts, read from the store.
//!
//! Invariants
//! - What can not be found by anybody (a work in the bin, a message that was taken back, whatever was forgotten) is not there.
//! - Whose eyes alone a text is for is told with it, by the same rule that the API has: `Message::is_visible_to`.
//! - All things of one reading are loaded with a few statements, whatever their number.
//!
//! Not here: which events touch which things (`subjects`), how texts are cut (`words`).

use std::collections::HashMap;
use std::sync::Arc;

use domain::document::{Content, DocumentService};
use domain::ids::{MemoryId, MessageId, TaskId, UserId, WorkId, WorkspaceId};
use domain::memory::Memory;
use domain::message::Message;
use domain::search::SearchKind;
use domain::store::{Reads, SharedStore};
use domain::task::Task;
use domain::time::Timestamp;
use domain::work::Work;
use uuid::Uuid;

use crate::Result;

/// Characters of one thing that are indexed; a longer work is found by its beginning.
pub(crate) const TEXT_LENGTH: usize = 200_000;
/// Characters whose meaning is looked at: more of them blur it.
const MEANING_LENGTH: usize = 1_000;
/// Works that are read at once: their contents may be large.
const CONTENTS: usize = 8;

/// The name of a thing, for whoever looks it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Subject {
    Task(TaskId),
    Work(WorkId),
    Message(MessageId),
    Memory(MemoryId),
}

impl Subject {
    pub(crate) const fn kind(self) -> SearchKind {
        match self {
            Self::Task(_) => SearchKind::Task,
            Self::Work(_) => SearchKind::Work,
            Self::Message(_) => SearchKind::Message,
            Self::Memory(_) => SearchKind::Memory,
        }
    }

    /// The work that it is.
    pub(crate) const fn work(&self) -> Option<WorkId> {
        match self {
            Self::Work(id) => Some(*id),
            Self::Task(_) | Self::Message(_) | Self::Memory(_) => None,
        }
    }

    pub(crate) const fn uuid(self) -> Uuid {
        match self {
            Self::Task(id) => id.uuid(),
            Self::Work(id) => id.uuid(),
            Self::Message(id) => id.uuid(),
            Self::Memory(id) => id.uuid(),
        }
    }
}

/// A thing as it is searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Searchable {
    pub(crate) subject: Subject,
    /// The only person who may find it; none for every member.
    pub(crate) owner: Option<UserId>,
    /// When it was made or changed last.
    pub(crate) at: Timestamp,
    /// What it is called: words here weigh more.
    pub(crate) title: String,
    /// All its other words.
    pub(crate) text: String,
    /// The text whose meaning is looked at; empty for none.
    pub(crate) meaning: String,
}

/// Which things of a workspace a scan reads next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Scan {
    /// From the first task on.
    #[default]
    Start,
    /// After this thing.
    After(Subject),
    /// Nothing is left.
    End,
}

/// Reads things of workspaces.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) store: SharedStore,
    documents: DocumentService,
}

impl Source {
    pub(crate) const fn new(store: SharedStore, documents: DocumentService) -> Self {
        Self { store, documents }
    }

    /// Those of these things of the workspace that can be found, in no order.
    pub(crate) async fn load(
        &self,
        workspace: WorkspaceId,
        subjects: &[Subject],
    ) -> Result<Vec<Searchable>> {
        let (mut tasks, mut works) = (Vec::new(), Vec::new());
        let (mut messages, mut memories) = (Vec::new(), Vec::new());
        for subject in subjects {
            match subject {
                Subject::Task(id) => tasks.push(*id),
                Subject::Work(id) => works.push(*id),
                Subject::Message(id) => messages.push(*id),
                Subject::Memory(id) => memories.push(*id),
            }
        }
        let mut found = self.tasks(workspace, &tasks).await?;
        found.extend(self.works(workspace, &works).await?);
        found.extend(self.messages(workspace, &messages).await?);
        found.extend(self.memories(workspace, &memories).await?);
        Ok(found)
    }

    /// The names of the next things of a workspace, at most `limit`, those that can not be found included.
    pub(crate) async fn scan(
        &self,
        workspace: WorkspaceId,
        from: Scan,
        limit: u32,
    ) -> Result<(Vec<Subject>, Scan)> {
        let reads = self.store.reads();
        // Kind after kind: none for one that is behind, and for the others the last thing that was read.
        let (task, work, message, memory) = match from {
            Scan::Start => (Some(None), Some(None), Some(None), Some(None)),
            Scan::After(Subject::Task(id)) => (Some(Some(id)), Some(None), Some(None), Some(None)),
            Scan::After(Subject::Work(id)) => (None, Some(Some(id)), Some(None), Some(None)),
            Scan::After(Subject::Message(id)) => (None, None, Some(Some(id)), Some(None)),
            Scan::After(Subject::Memory(id)) => (None, None, None, Some(Some(id))),
            Scan::End => (None, None, None, None),
        };
        let mut found = Vec::new();
        if let Some(after) = task {
            let ids = reads.list_task_ids(workspace, after, limit).await?;
            found.extend(ids.into_iter().map(Subject::Task));
        }
        if let Some(after) = work.filter(|_| found.is_empty()) {
            let ids = reads.list_work_ids(workspace, after, limit).await?;
            found.extend(ids.into_iter().map(Subject::Work));
        }
        if let Some(after) = message.filter(|_| found.is_empty()) {
            let ids = reads.list_message_ids(workspace, after, limit).await?;
            found.extend(ids.into_iter().map(Subject::Message));
        }
        if let Some(after) = memory.filter(|_| found.is_empty()) {
            let ids = reads.list_memory_ids(workspace, after, limit).await?;
            found.extend(ids.into_iter().map(Subject::Memory));
        }
        let next = found.last().map_or(Scan::End, |last| Scan::After(*last));
        Ok((found, next))
    }

    async fn tasks(&self, workspace: WorkspaceId, ids: &[TaskId]) -> Result<Vec<Searchable>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let reads = self.store.reads();
        let mut tasks = reads.list_tasks_by_id(ids).await?;
        tasks.retain(|task| task.workspace == workspace && !task.is_main());
        let projections = reads.list_projections(ids).await?;
        let mut lines: HashMap<TaskId, String> = projections
            .into_iter()
            .map(|(id, projections)| (id, projections.short_line))
            .collect();
        let mut titles = linked_titles(reads, ids).await?;
        let searchable = |task: Task| {
            let line = lines.remove(&task.id).unwrap_or_default();
            let works = titles.remove(&task.id).unwrap_or_default();
            searchable_task(task, &line, &works)
        };
        Ok(tasks.into_iter().map(searchable).collect())
    }

    async fn works(&self, workspace: WorkspaceId, ids: &[WorkId]) -> Result<Vec<Searchable>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut works = self.store.reads().list_works_by_id(ids).await?;
        works.retain(|work| work.workspace == workspace && work.deleted_at.is_none());
        let mut found = Vec::with_capacity(works.len());
        for some in works.chunks(CONTENTS) {
            let contents = self.contents(some).await?;
            let pairs = some.iter().zip(&contents);
            found.extend(pairs.map(|(work, content)| searchable_work(work, content)));
        }
        Ok(found)
    }

    /// What works hold; one that can not be read is found by its title, and keeps no other from being found.
    async fn contents(&self, works: &[Work]) -> Result<Vec<Arc<Content>>> {
        let ids: Vec<WorkId> = works.iter().map(|work| work.id).collect();
        match self.documents.contents(&ids, None).await {
            Ok(contents) => return Ok(contents),
            Err(error @ domain::Error::Unavailable(_)) => return Err(error.into()),
            Err(_) => {}
        }
        let mut contents = Vec::with_capacity(ids.len());
        for id in ids {
            let content = match self.documents.contents(&[id], None).await {
                Ok(mut content) => content.pop(),
                Err(error @ domain::Error::Unavailable(_)) => return Err(error.into()),
                Err(error) => {
                    tracing::warn!(work.id = %id, error = ?error, "a work can not be read, and is found by its title alone");
                    None
                }
            };
            contents.push(content.unwrap_or_default());
        }
        Ok(contents)
    }

    async fn messages(&self, workspace: WorkspaceId, ids: &[MessageId]) -> Result<Vec<Searchable>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let reads = self.store.reads();
        let mut messages = reads.list_messages_by_id(ids).await?;
        let forgotten = reads.list_forgotten(workspace, Some(ids)).await?;
        messages.retain(|message| {
            let is_forgotten = forgotten.iter().any(|one| one.message == message.id);
            message.workspace == workspace && !message.state.is_taken_back() && !is_forgotten
        });
        Ok(messages.iter().map(searchable_message).collect())
    }

    /// What holds; a memory of which nothing does is not there.
    async fn memories(&self, workspace: WorkspaceId, ids: &[MemoryId]) -> Result<Vec<Searchable>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let memories = self.store.reads().list_contents(ids).await?;
        let here = memories
            .into_iter()
            .filter(|(memory, _)| memory.workspace == workspace);
        Ok(here
            .map(|(memory, content)| searchable_memory(&memory, content))
            .collect())
    }
}

/// Titles of the works that each task refers to.
async fn linked_titles(
    reads: &dyn Reads,
    tasks: &[TaskId],
) -> Result<HashMap<TaskId, Vec<String>>> {
    let linked = reads.list_linked_works(tasks).await?;
    let mut ids: Vec<WorkId> = linked.iter().map(|linked| linked.work).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut names = HashMap::new();
    for ids in ids.chunks(1_000) {
        let works = reads.list_works_by_id(ids).await?.into_iter();
        let there = works.filter(|work| work.deleted_at.is_none());
        names.extend(there.map(|work| (work.id, work.title)));
    }
    let mut titles: HashMap<TaskId, Vec<String>> = HashMap::new();
    for linked in linked {
        if let Some(title) = names.get(&linked.work) {
            titles.entry(linked.task).or_default().push(title.clone());
        }
    }
    Ok(titles)
}

fn searchable_task(task: Task, line: &str, works: &[String]) -> Searchable {
    let meaning = joined([task.title.as_str(), &task.goal, line]);
    let own = [task.goal.as_str(), line, &task.brief];
    let text = joined(own.into_iter().chain(works.iter().map(String::as_str)));
    Searchable {
        subject: Subject::Task(task.id),
        owner: None,
        at: task.updated_at,
        title: task.title,
        text: cut(&text, TEXT_LENGTH),
        meaning: cut(&meaning, MEANING_LENGTH),
    }
}

fn searchable_work(work: &Work, content: &Content) -> Searchable {
    let text = cut(&content.prose(), TEXT_LENGTH);
    Searchable {
        subject: Subject::Work(work.id),
        owner: None,
        at: work.updated_at,
        title: work.title.clone(),
        meaning: cut(&joined([work.title.as_str(), &text]), MEANING_LENGTH),
        text,
    }
}

fn searchable_message(message: &Message) -> Searchable {
    Searchable {
        subject: Subject::Message(message.id),
        owner: message.private_to(),
        at: message.created_at,
        title: String::new(),
        text: cut(&message.text, TEXT_LENGTH),
        meaning: cut(&message.text, MEANING_LENGTH),
    }
}

fn searchable_memory(memory: &Memory, content: String) -> Searchable {
    Searchable {
        subject: Subject::Memory(memory.id),
        owner: memory.scope.owner(),
        at: memory.updated_at,
        title: String::new(),
        meaning: content.clone(),
        text: content,
    }
}

fn joined<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let parts: Vec<&str> = parts
        .into_iter()
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("\n")
}

/// At most this many characters of a text.
pub(crate) fn cut(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => text[..end].to_owned(),
        None => text.to_owned(),
    }
}

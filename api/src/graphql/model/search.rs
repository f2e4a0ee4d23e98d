//! Searching a workspace: what was found, read from the store, with the words that show why.
//!
//! Invariants
//! - The index gives ids; whether the caller may see what they stand for is decided by what everything else is read through.
//! - What was written before the question is found: the index is waited for, for a bounded time.

use std::sync::Arc;

use async_graphql::{Context, Enum, Object, Result, SimpleObject, Union};
use domain::Error;
use domain::ids::{MemoryId, MessageId, TaskId, WorkId, WorkspaceId};
use domain::memory;
use domain::message;
use domain::search::{self, FOUND_LIMIT, Found, SearchRequest};
use domain::task;
use domain::work::{self, WorkKind};
use futures_util::future::try_join_all;

use super::memory::Memory;
use super::message::Message;
use super::task::Task;
use super::works::{Asset, Collection, Flow, Storyboard, TextDocument};
use crate::graphql::choice::Choice;
use crate::graphql::connection::PageInfo;
use crate::graphql::cursor::{Kind, List};
use crate::graphql::scalars::Cursor;
use crate::graphql::scope::Scope;

/// Characters of a snippet at most.
const SNIPPET: usize = 200;

/// What can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "search::SearchKind")]
pub(crate) enum SearchKind {
    /// Tasks.
    Task,
    /// Memories.
    Memory,
    /// Works, by their titles and by what stands in them.
    Work,
    /// Messages that the caller may see.
    Message,
}

/// Whatever a search can find.
#[derive(Debug, Clone, Union)]
pub(crate) enum SearchSubject {
    /// A task.
    Task(Task),
    /// A storyboard.
    Storyboard(Storyboard),
    /// A flow.
    Flow(Flow),
    /// A collection.
    Collection(Collection),
    /// A text document.
    TextDocument(TextDocument),
    /// An asset.
    Asset(Asset),
    /// A message.
    Message(Message),
    /// A memory.
    Memory(Memory),
}

impl From<Arc<work::Work>> for SearchSubject {
    fn from(row: Arc<work::Work>) -> Self {
        match row.kind {
            WorkKind::Storyboard => Self::Storyboard(Storyboard(row)),
            WorkKind::Flow => Self::Flow(Flow(row)),
            WorkKind::Collection => Self::Collection(Collection(row)),
            WorkKind::Text => Self::TextDocument(TextDocument(row)),
            WorkKind::Asset => Self::Asset(Asset(row)),
        }
    }
}

/// A page of what was found, best first.
#[derive(SimpleObject)]
pub(crate) struct SearchConnection {
    /// What was found, each with its cursor.
    edges: Vec<SearchEdge>,
    /// Where this page stands.
    page_info: PageInfo,
}

/// Something that was found.
pub(crate) struct SearchEdge {
    node: SearchSubject,
    cursor: Cursor,
    score: f64,
    question: Arc<str>,
}

/// Something that was found.
#[Object]
impl SearchEdge {
    /// What was found.
    async fn node(&self) -> &SearchSubject {
        &self.node
    }

    /// Its position among what was found.
    async fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// How well it fits beside the others, from 0 to 1.
    async fn score(&self) -> f64 {
        self.score
    }

    /// The words in it that show why it was found, on one line.
    async fn snippet(&self, ctx: &Context<'_>) -> Result<String> {
        let scope = Scope::of(ctx)?;
        let text = match &self.node {
            SearchSubject::Task(task) => text_of_task(scope, &task.0).await?,
            SearchSubject::Message(message) => message.0.text.clone(),
            SearchSubject::Memory(memory) => text_of_memory(scope, &memory.0).await?,
            SearchSubject::Storyboard(Storyboard(row))
            | SearchSubject::Flow(Flow(row))
            | SearchSubject::Collection(Collection(row))
            | SearchSubject::TextDocument(TextDocument(row))
            | SearchSubject::Asset(Asset(row)) => text_of_work(scope, row).await?,
        };
        let search = &scope.services.search;
        Ok(search.excerpt(&text, &self.question, SNIPPET))
    }
}

async fn text_of_task(scope: &Scope, task: &task::Task) -> Result<String> {
    let projections = scope.projections(task.id).await?;
    let parts = [
        &task.title,
        &projections.short_line,
        &task.goal,
        &task.brief,
    ];
    let parts = parts.into_iter().filter(|part| !part.trim().is_empty());
    Ok(parts.map(String::as_str).collect::<Vec<_>>().join("\n"))
}

async fn text_of_memory(scope: &Scope, memory: &memory::Memory) -> Result<String> {
    let versions = scope.memory_versions(memory.id).await?;
    let current = versions
        .iter()
        .find(|version| Some(version.number) == memory.current);
    Ok(current
        .and_then(|version| version.content.clone())
        .unwrap_or_default())
}

async fn text_of_work(scope: &Scope, row: &work::Work) -> Result<String> {
    let content = scope.content(row, None).await?;
    Ok(format!("{}\n{}", row.title, content.prose()))
}

/// What is asked for.
pub(crate) struct Asked {
    pub(crate) workspace: WorkspaceId,
    pub(crate) question: String,
    pub(crate) kinds: Option<Vec<SearchKind>>,
    pub(crate) first: Option<i32>,
    pub(crate) after: Option<Cursor>,
}

/// A page of what fits best.
pub(crate) async fn page_of_search(scope: &Scope, asked: Asked) -> Result<SearchConnection> {
    scope.role(asked.workspace).await?;
    let kinds: Choice<search::SearchKind> = Choice::new(asked.kinds);
    let filter = format!(
        "{} {}",
        kinds.text("kinds", search::SearchKind::name),
        asked.question
    );
    let list = List::of(Kind::Search, asked.workspace.uuid()).filtered(&filter);
    let cursors = &scope.services.cursors;
    let page = cursors.page::<u32>(&list, asked.first, asked.after.as_ref())?;
    let begin = page.after.map_or(0, |after| after as usize + 1);
    let found = if kinds.is_nothing() || asked.question.trim().is_empty() {
        Vec::new()
    } else {
        find(scope, asked.workspace, &asked.question, kinds.values()).await?
    };
    let (rows, has_next) = visible(scope, &found, begin, page.first as usize).await?;
    let question: Arc<str> = asked.question.into();
    let edges: Vec<SearchEdge> = rows
        .into_iter()
        .map(|(rank, node)| SearchEdge {
            node,
            cursor: cursors.seal(&list, &(rank as u32)),
            score: found[rank].score,
            question: question.clone(),
        })
        .collect();
    let places: Vec<&Cursor> = edges.iter().map(|edge| &edge.cursor).collect();
    let page_info = PageInfo::new(&places, has_next, page.after.is_some());
    Ok(SearchConnection { edges, page_info })
}

async fn find(
    scope: &Scope,
    workspace: WorkspaceId,
    question: &str,
    kinds: &[search::SearchKind],
) -> Result<Vec<Found>> {
    let head = scope.reads().event_head(workspace).await?;
    let request = SearchRequest {
        workspace,
        user: scope.caller.user,
        text: question.to_owned(),
        kinds: kinds.to_vec(),
        among: Vec::new(),
        limit: FOUND_LIMIT,
        seen: Some(head),
        within: None,
    };
    let answer = scope.services.search.find(&request).await;
    if answer.found.is_empty() && answer.missing.len() > 1 {
        // An empty page would say that nothing is there.
        return Err(Error::Unavailable("no leg of the search answered".into()).into());
    }
    Ok(answer.found)
}

/// The first `count` from a rank on that the caller may see, with their ranks, and whether more may follow.
async fn visible(
    scope: &Scope,
    found: &[Found],
    begin: usize,
    count: usize,
) -> Result<(Vec<(usize, SearchSubject)>, bool)> {
    let mut rows = Vec::with_capacity(count);
    let mut next = begin.min(found.len());
    while rows.len() <= count && next < found.len() {
        // One more than is shown, to know whether any follows.
        let end = found.len().min(next + count + 1 - rows.len());
        let nodes = try_join_all(found[next..end].iter().map(|found| node(scope, found)));
        for (rank, node) in (next..).zip(nodes.await?) {
            rows.extend(node.map(|node| (rank, node)));
        }
        next = end;
    }
    let has_next = rows.len() > count;
    rows.truncate(count);
    Ok((rows, has_next))
}

/// The index may still hold what was forgotten a moment ago.
async fn is_forgotten(scope: &Scope, message: &message::Message) -> Result<bool> {
    let id = [message.id];
    let found = scope
        .reads()
        .list_forgotten(message.workspace, Some(&id))
        .await?;
    Ok(!found.is_empty())
}

/// What stands behind an id; none where it is gone since, or is nothing for the caller.
async fn node(scope: &Scope, found: &Found) -> Result<Option<SearchSubject>> {
    Ok(match found.kind {
        search::SearchKind::Task => {
            let task = scope.find_task(TaskId::from_uuid(found.id)).await?;
            task.map(|task| SearchSubject::Task(Task(task)))
        }
        search::SearchKind::Work => {
            let work = scope.find_work(WorkId::from_uuid(found.id)).await?;
            let work = work.filter(|work| work.deleted_at.is_none());
            work.map(SearchSubject::from)
        }
        search::SearchKind::Message => {
            let message = scope.find_message(MessageId::from_uuid(found.id)).await?;
            let message = message.filter(|message| !message.state.is_taken_back());
            match message {
                Some(message) if !is_forgotten(scope, &message).await? => {
                    Some(SearchSubject::Message(Message(message)))
                }
                _ => None,
            }
        }
        search::SearchKind::Memory => {
            let memory = scope.find_memory(MemoryId::from_uuid(found.id)).await?;
            let memory = memory.filter(|memory| memory.current.is_some());
            memory.map(|memory| SearchSubject::Memory(Memory(memory)))
        }
    })
}

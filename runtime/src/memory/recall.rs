//! Recalling for a task: what is remembered that fits some words, and what people said about it in the thread, within a short time.
//!
//! Invariants
//! - Scopes are named by whoever asks, and looked at again in the store: nothing of another person or task comes along.
//! - What a message answers often stands beside it: its neighbours count with it, and a memory counts with the messages it rests on.
//! - What did not answer is said beside what was found; a leg that is late takes nothing of the other one away.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use domain::error::Result;
use domain::ids::{MemoryId, MessageId};
use domain::memory::{Memory, MemoryScope, ScopeKind};
use domain::message::Message;
use domain::page::{End, Window};
use domain::search::{
    FOUND_LIMIT, Found, SearchIndex, SearchKind, SearchLeg, SearchRequest, SharedSearchIndex,
};
use domain::store::{Reads, SharedStore};
use domain::task::Task;
use uuid::Uuid;

/// How long one leg of the search may take; the task goes on without it.
const LEG: Duration = Duration::from_millis(200);
/// How much longer the whole search may take.
const REST: Duration = Duration::from_millis(80);
/// Memories that the search finds before scopes are looked at.
const FOUND: usize = 60;
/// Memories that are recalled.
const MEMORIES: usize = 12;
/// Messages that are recalled.
const SAID: usize = 20;
/// The end of a thread that is recalled from; what was said before it is remembered or summarised.
const THREAD: u32 = 1_000;
/// The part of a message's score that counts for what stands beside it.
const BESIDE: f64 = 0.3;
/// Messages with a longer pause between them are of two conversations.
const PAUSE: Duration = Duration::from_hours(1);

/// What was recalled.
#[derive(Debug, Default)]
pub struct Recalled {
    /// Memories with what holds, best first.
    pub memories: Vec<(Memory, String)>,
    /// What people said in the thread, best first.
    pub said: Vec<Said>,
    /// What could not be looked at.
    pub degraded: Vec<&'static str>,
}

/// A message, and what stands beside it.
#[derive(Debug)]
pub struct Said {
    /// The message.
    pub message: Message,
    /// What was said before it, in the same conversation.
    pub before: Option<Message>,
    /// What was said after it.
    pub after: Option<Message>,
}

/// What recall looks at.
#[derive(Clone, Copy)]
pub struct Recall<'a> {
    store: &'a SharedStore,
    search: &'a SharedSearchIndex,
    task: &'a Task,
    leg: Duration,
}

impl<'a> Recall<'a> {
    /// Recalls for a task: what its creator may know, and what was said in its thread.
    #[must_use]
    pub fn new(store: &'a SharedStore, search: &'a SharedSearchIndex, task: &'a Task) -> Self {
        Self {
            store,
            search,
            task,
            leg: LEG,
        }
    }

    /// The same with another time for a leg of the search.
    #[must_use]
    pub fn within(self, leg: Duration) -> Self {
        Self { leg, ..self }
    }

    /// What fits these words; no scopes are all that the task may use.
    pub async fn run(&self, words: &str, scopes: &[ScopeKind]) -> Result<Recalled> {
        let thread = self.thread(scopes).await?;
        let among = thread.iter().filter(|message| message.person().is_some());
        let among: Vec<Uuid> = among.map(|message| message.id.uuid()).collect();
        let ((memories, late), (said, late_too)) = tokio::join!(
            self.find(SearchKind::Memory, words, None),
            self.find(SearchKind::Message, words, Some(among)),
        );
        let mut said = beside(&thread, &said);
        said.truncate(SAID);
        let memories = self.memories(scopes, &memories, (&thread, &said)).await?;
        let legs = [
            (SearchLeg::Keyword, "words"),
            (SearchLeg::Vector, "meanings"),
        ];
        let missing = legs
            .into_iter()
            .filter(|(leg, _)| late.contains(leg) || late_too.contains(leg));
        let said = said.into_iter().map(|(place, _)| said_at(&thread, place));
        Ok(Recalled {
            memories,
            said: said.collect(),
            degraded: missing.map(|(_, name)| name).collect(),
        })
    }

    /// The end of the task's thread, oldest first, without what may not be used.
    async fn thread(&self, scopes: &[ScopeKind]) -> Result<Vec<Message>> {
        let own = if self.task.is_main() {
            ScopeKind::Person
        } else {
            ScopeKind::Task
        };
        if !scopes.is_empty() && !scopes.contains(&own) {
            return Ok(Vec::new());
        }
        let reads: &dyn Reads = self.store.reads();
        let window = Window {
            limit: THREAD,
            end: End::Last,
            after: None,
            before: None,
        };
        let mut thread = reads.list_thread(self.task.id, window).await?.rows;
        let ids: Vec<MessageId> = thread.iter().map(|message| message.id).collect();
        let forgotten = reads
            .list_forgotten(self.task.workspace, Some(&ids))
            .await?;
        let forgotten: HashSet<MessageId> = forgotten.iter().map(|one| one.message).collect();
        thread.retain(|message| !forgotten.contains(&message.id) && !message.state.is_taken_back());
        Ok(thread)
    }

    /// What the search finds, and the legs that are missing; nothing where there is nothing to look among.
    async fn find(
        &self,
        kind: SearchKind,
        words: &str,
        among: Option<Vec<Uuid>>,
    ) -> (Vec<Found>, Vec<SearchLeg>) {
        if among.as_ref().is_some_and(Vec::is_empty) {
            return (Vec::new(), Vec::new());
        }
        let request = SearchRequest {
            workspace: self.task.workspace,
            user: self.task.created_by,
            text: words.to_owned(),
            kinds: vec![kind],
            limit: if among.is_some() { FOUND_LIMIT } else { FOUND },
            among: among.unwrap_or_default(),
            seen: None,
            within: Some(self.leg),
        };
        let search: &dyn SearchIndex = self.search.as_ref();
        match tokio::time::timeout(self.leg + REST, search.find(&request)).await {
            Ok(answer) => (answer.found, answer.missing),
            Err(_) => (Vec::new(), vec![SearchLeg::Keyword, SearchLeg::Vector]),
        }
    }

    /// Memories that were found, or rest on what was said there: best first.
    async fn memories(
        &self,
        scopes: &[ScopeKind],
        found: &[Found],
        (thread, said): (&[Message], &[(usize, f64)]),
    ) -> Result<Vec<(Memory, String)>> {
        let reads: &dyn Reads = self.store.reads();
        let said: HashMap<MessageId, f64> = said
            .iter()
            .map(|(place, score)| (thread[*place].id, *score))
            .collect();
        let messages: Vec<MessageId> = said.keys().copied().collect();
        let edges = reads
            .list_evidence_of(self.task.workspace, &messages)
            .await?;
        let mut ids: Vec<MemoryId> = found
            .iter()
            .map(|one| MemoryId::from_uuid(one.id))
            .collect();
        for edge in &edges {
            if !ids.contains(&edge.memory) {
                ids.push(edge.memory);
            }
        }
        let own = |memory: &Memory| {
            let one = found.iter().find(|one| one.id == memory.id.uuid());
            one.map_or(0.0, |one| one.score)
        };
        let around = |memory: &Memory| {
            let edges = edges
                .iter()
                .filter(|edge| edge.memory == memory.id && Some(edge.number) == memory.current);
            let scores = edges.filter_map(|edge| said.get(&edge.message));
            scores.copied().fold(0.0, f64::max)
        };
        let mut memories = reads.list_contents(&ids).await?;
        memories.retain(|(memory, _)| is_for(memory, self.task, scopes));
        // What scores alike stays in the order in which it was found.
        memories.sort_by_key(|(memory, _)| ids.iter().position(|id| *id == memory.id));
        let score = |memory: &Memory| own(memory) + BESIDE * around(memory);
        memories.sort_by(|(one, _), (other, _)| score(other).total_cmp(&score(one)));
        memories.truncate(MEMORIES);
        Ok(memories)
    }
}

/// What people said, by its place in the thread, each with its score and a part of those beside it: best first.
fn beside(thread: &[Message], found: &[Found]) -> Vec<(usize, f64)> {
    let found: HashMap<Uuid, f64> = found.iter().map(|one| (one.id, one.score)).collect();
    let own = |message: &Message| found.get(&message.id.uuid()).copied().unwrap_or_default();
    let near = |place: usize| {
        let both = [before(thread, place), after(thread, place)];
        both.into_iter().flatten().map(own).sum::<f64>()
    };
    let scored = thread.iter().enumerate().map(|(place, message)| {
        let is_said = message.person().is_some();
        let score = own(message) + BESIDE * near(place);
        (place, if is_said { score } else { 0.0 })
    });
    let mut scored: Vec<(usize, f64)> = scored.filter(|(_, score)| *score > 0.0).collect();
    scored.sort_by(|one, other| {
        let by_score = other.1.total_cmp(&one.1);
        by_score.then_with(|| other.0.cmp(&one.0))
    });
    scored
}

fn before(thread: &[Message], place: usize) -> Option<&Message> {
    let former = thread.get(place.checked_sub(1)?)?;
    let pause = thread[place].created_at.since(former.created_at);
    (pause <= PAUSE).then_some(former)
}

fn after(thread: &[Message], place: usize) -> Option<&Message> {
    let next = thread.get(place + 1)?;
    let pause = next.created_at.since(thread[place].created_at);
    (pause <= PAUSE).then_some(next)
}

fn said_at(thread: &[Message], place: usize) -> Said {
    Said {
        message: thread[place].clone(),
        before: before(thread, place).cloned(),
        after: after(thread, place).cloned(),
    }
}

/// Whether a memory may be used for a task.
fn is_for(memory: &Memory, task: &Task, scopes: &[ScopeKind]) -> bool {
    let reaches = match memory.scope {
        MemoryScope::Person(owner) => owner == task.created_by,
        MemoryScope::Workspace => true,
        MemoryScope::Task(of) => of == task.id,
    };
    let is_asked = scopes.is_empty() || scopes.contains(&memory.scope.kind());
    memory.workspace == task.workspace && reaches && is_asked
}

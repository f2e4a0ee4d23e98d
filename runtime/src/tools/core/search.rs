//! `search`: where words stand, in works, tasks, messages and the task's own journal.
//!
//! Invariants
//! - Reads are bounded, and the result says what was looked at: nothing that was not found is said not to be there.
//! - Only what the person whose task it is may see, in the task's workspace; of messages and journals only the task's own (T2).

use std::collections::HashMap;

use async_trait::async_trait;
use domain::Result;
use domain::ids::TaskId;
use domain::message::Message;
use domain::page::{End, PAGE_LIMIT, PageRequest, Window};
use domain::people::{CreatedPosition, role_in};
use domain::store::Reads;
use domain::task::{Task, TaskFilter};
use domain::time::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::cut;
use crate::memory::Recall;
use crate::tools::arguments::{SHOWN, object, read, time};
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

/// Pages of works and of tasks that are looked through.
const PAGES: usize = 5;
/// Messages and journal entries that are looked through.
const ENTRIES: u32 = 500;
/// Characters of an excerpt.
const EXCERPT: usize = 120;
/// Characters of JSON that surround the matches.
const AROUND: usize = 320;

pub(super) struct Search(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    query: String,
    #[serde(default)]
    kinds: Vec<String>,
}

impl Default for Search {
    fn default() -> Self {
        let properties = json!({
            "query": {"type": "string", "maxLength": 200, "description": "Words; all of them must stand there, in any case."},
            "kinds": {"type": "array", "items": {"type": "string", "enum": ["task", "memory", "work", "message"]}, "description": "message: this task's messages and journal. All by default."},
        });
        Self(ToolSpec::core(
            "search",
            "Finds works and tasks of the workspace by title and short line, what is remembered, and places in this task's messages and journal.",
            object(&["query"], properties),
        ))
    }
}

#[async_trait]
impl Tool for Search {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn objection(&self, _task: &Task, arguments: &Value) -> Option<String> {
        let arguments: Arguments = read(arguments).ok()?;
        let is_blank = arguments.query.trim().is_empty();
        is_blank.then(|| "`query` is empty; name a word".to_owned())
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        let (reads, task) = (invocation.services.store.reads(), invocation.task);
        role_in(reads, task.workspace, task.created_by).await?;
        let query = arguments.query.to_lowercase();
        let mut found = Found {
            words: query.split_whitespace().collect(),
            matches: Vec::new(),
            looked_at: Vec::new(),
        };
        let is_asked = |kind: &str| {
            arguments.kinds.is_empty() || arguments.kinds.iter().any(|one| one == kind)
        };
        if is_asked("work") {
            found.works(reads, task).await?;
        }
        if is_asked("task") {
            found.tasks(reads, task).await?;
        }
        if is_asked("message") {
            found.messages(reads, task.id).await?;
            found.journal(reads, task.id).await?;
        }
        if is_asked("memory") {
            found.memories(invocation, &arguments.query).await?;
        }
        Ok(Ran::done(found.result()))
    }
}

/// A place where the words stand.
struct Match {
    at: Timestamp,
    shown: Value,
}

struct Found<'query> {
    words: Vec<&'query str>,
    matches: Vec<Match>,
    /// What was looked at, in words.
    looked_at: Vec<String>,
}

impl Found<'_> {
    async fn works(&mut self, reads: &dyn Reads, task: &Task) -> Result<()> {
        let (mut after, mut count) = (None, 0);
        for _ in 0..PAGES {
            let page = PageRequest {
                first: PAGE_LIMIT,
                after,
            };
            let works = reads.list_works(task.workspace, &[], page).await?;
            count += works.rows.len();
            for work in &works.rows {
                let shown = || json!({"work": work.id, "kind": work.kind, "title": work.title});
                self.look(work.updated_at, &work.title, shown);
            }
            after = works.rows.last().map(|work| CreatedPosition {
                at: work.created_at,
                id: work.id.uuid(),
            });
            if !works.has_next {
                break;
            }
        }
        self.looked_at.push(format!("{count} newest works"));
        Ok(())
    }

    async fn tasks(&mut self, reads: &dyn Reads, own: &Task) -> Result<()> {
        let (mut after, mut count) = (None, 0);
        for _ in 0..PAGES {
            let page = PageRequest {
                first: PAGE_LIMIT,
                after,
            };
            let filter = TaskFilter::default();
            let tasks = reads.list_tasks(own.workspace, &filter, page).await?;
            count += tasks.rows.len();
            let ids: Vec<_> = tasks.rows.iter().map(|task| task.id).collect();
            let projections = reads.list_projections(&ids).await?;
            let lines: HashMap<TaskId, String> = projections
                .into_iter()
                .map(|(id, projections)| (id, projections.short_line))
                .collect();
            for task in &tasks.rows {
                let line = lines.get(&task.id).map_or("", String::as_str);
                let shown = || json!({"task": task.id, "title": task.title, "short_line": line, "status": task.status});
                self.look(task.updated_at, &format!("{}\n{line}", task.title), shown);
            }
            after = tasks.rows.last().map(|task| CreatedPosition {
                at: task.created_at,
                id: task.id.uuid(),
            });
            if !tasks.has_next {
                break;
            }
        }
        self.looked_at.push(format!("{count} newest tasks"));
        Ok(())
    }

    async fn messages(&mut self, reads: &dyn Reads, task: TaskId) -> Result<()> {
        let window = Window {
            limit: ENTRIES,
            end: End::Last,
            after: None,
            before: None,
        };
        let messages = reads.list_thread(task, window).await?.rows;
        let ids: Vec<_> = messages.iter().map(|message| message.id).collect();
        let workspace = messages.first().map(|message| message.workspace);
        let forgotten = match workspace {
            Some(workspace) => reads.list_forgotten(workspace, Some(&ids)).await?,
            None => Vec::new(),
        };
        let is_forgotten =
            |message: &&Message| forgotten.iter().any(|one| one.message == message.id);
        for message in messages.iter().filter(|message| !is_forgotten(message)) {
            let excerpt = self.excerpt(&message.text);
            let shown = || json!({"message": message.id, "by": message.author, "excerpt": excerpt});
            self.look(message.created_at, &message.text, shown);
        }
        self.looked_at
            .push(format!("{} newest messages of this task", messages.len()));
        Ok(())
    }

    async fn journal(&mut self, reads: &dyn Reads, task: TaskId) -> Result<()> {
        let entries = reads.list_newest_journal(task, &[], 0, ENTRIES).await?;
        let left_out = reads.list_left_out(task).await?;
        for entry in entries
            .iter()
            .filter(|one| !left_out.contains(&one.sequence))
        {
            let excerpt = self.excerpt(&entry.text);
            let shown =
                || json!({"journal": entry.sequence, "kind": entry.kind, "excerpt": excerpt});
            self.look(entry.at, &entry.text, shown);
        }
        self.looked_at
            .push(format!("{} newest entries of its journal", entries.len()));
        Ok(())
    }

    /// What is remembered and fits: found by words and meaning, in the scopes of the task alone.
    async fn memories(&mut self, invocation: &Invocation<'_>, query: &str) -> Result<()> {
        let (services, task) = (invocation.services, invocation.task);
        let recall = Recall::new(&services.store, &services.search, task);
        let recalled = recall.run(query, &[]).await?;
        for (memory, content) in &recalled.memories {
            let mut shown = json!({"memory": memory.id, "content": content});
            shown["at"] = time(memory.updated_at).into();
            self.matches.push(Match {
                at: memory.updated_at,
                shown,
            });
        }
        self.looked_at.push(match recalled.degraded.as_slice() {
            [] => "memories".to_owned(),
            missing => format!("memories, without {}", missing.join(" and ")),
        });
        Ok(())
    }

    fn look(&mut self, at: Timestamp, text: &str, shown: impl Fn() -> Value) {
        let text = text.to_lowercase();
        if self.words.iter().all(|word| text.contains(word)) {
            let mut shown = shown();
            shown["at"] = time(at).into();
            self.matches.push(Match { at, shown });
        }
    }

    /// The surroundings of the first word.
    fn excerpt(&self, text: &str) -> String {
        let lower = text.to_lowercase();
        let at = self.words.first().and_then(|word| lower.find(word));
        // Lower case may have other lengths; the excerpt is then a little off its place, and nothing else.
        let before = at.map_or(0, |at| lower[..at].chars().count());
        let start = before.saturating_sub(EXCERPT / 3);
        let excerpt: String = text.chars().skip(start).collect();
        cut(&excerpt, EXCERPT)
    }

    /// The newest matches, as many as can be shown.
    fn result(mut self) -> Value {
        self.matches
            .sort_by_key(|found| std::cmp::Reverse(found.at));
        let count = self.matches.len();
        let mut room = SHOWN - AROUND;
        let shown: Vec<Value> = self
            .matches
            .into_iter()
            .map(|found| found.shown)
            .take_while(|shown| {
                let width = shown.to_string().chars().count() + 1;
                let fits = width <= room;
                room = room.saturating_sub(width);
                fits
            })
            .collect();
        json!({
            "found": count,
            "matches": shown,
            "note": format!("matches of words, newest first; looked at: {}", self.looked_at.join(", ")),
        })
    }
}

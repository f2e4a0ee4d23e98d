//! The cases of `tests/data/routing_cases.jsonl`, as contents of a workspace.

use std::collections::HashMap;
use std::time::Duration;

use domain::actor::Actor;
use domain::card::{Card, CardKind, CardOrigin, CardState};
use domain::document::Version;
use domain::ids::{CardId, MessageId, TaskId, UserId, WorkId, WorkspaceId};
use domain::message::{Address, Message, MessageState};
use domain::task::{
    Autonomy, Course, LinkedWork, Projections, Task, TaskKind, TaskStatus, Usage, detect_language,
};
use domain::time::{Clock as _, SystemClock, Timestamp};
use domain::work::{Work, WorkKind};
use serde::Deserialize;

use crate::house::Contents;

#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) note: String,
    tasks: Vec<CaseTask>,
    recent_messages: Vec<CaseMessage>,
    message: NewMessage,
    pub(crate) expected: Expected,
}

#[derive(Debug, Deserialize)]
struct CaseTask {
    key: String,
    title: String,
    goal: String,
    short_line: String,
    status: String,
    idle_days: f64,
    works: Vec<CaseWork>,
}

#[derive(Debug, Deserialize)]
struct CaseWork {
    key: String,
    kind: String,
    title: String,
    deleted: bool,
}

#[derive(Debug, Deserialize)]
struct CaseMessage {
    from: String,
    task: Option<String>,
    text: String,
}

#[derive(Debug, Deserialize)]
struct NewMessage {
    text: String,
    task: Option<String>,
    about_work: Option<String>,
    reply_to_card_of: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Expected {
    pub(crate) stage: u32,
    pub(crate) outcome: String,
    pub(crate) task: Option<String>,
    pub(crate) acceptable: Vec<String>,
    pub(crate) candidates_must_contain: Vec<String>,
}

/// A case in a workspace of its own.
pub(crate) struct Set {
    pub(crate) workspace: WorkspaceId,
    pub(crate) contents: Contents,
    pub(crate) address: Address,
    /// Tasks by their keys.
    pub(crate) tasks: HashMap<String, TaskId>,
}

/// Every case of the file.
pub(crate) fn all() -> Vec<Case> {
    let text = include_str!("../data/routing_cases.jsonl");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a case can be read"))
        .collect()
}

impl Case {
    pub(crate) fn text(&self) -> &str {
        &self.message.text
    }

    pub(crate) fn set(&self, owner: UserId) -> Set {
        let now = SystemClock.now();
        let workspace = WorkspaceId::new();
        let mut contents = Contents::default();
        let (mut tasks, mut works) = (HashMap::new(), HashMap::new());
        for told in &self.tasks {
            let at = days_before(now, told.idle_days);
            let task = told.task((workspace, owner), at);
            let mut linked = Vec::new();
            for work in &told.works {
                let id = *works.entry(work.key.clone()).or_insert_with(|| {
                    let made = work.work((workspace, owner), at);
                    let id = made.id;
                    contents.works.push(made);
                    id
                });
                linked.push(LinkedWork {
                    workspace,
                    task: task.id,
                    work: id,
                    seen_version: Version(0),
                    last_read_at: None,
                    last_written_at: None,
                });
            }
            tasks.insert(told.key.clone(), task.id);
            let projections = Projections {
                short_line: told.short_line.clone(),
                ..Projections::default()
            };
            contents.tasks.push((task, projections, linked));
        }
        for (number, told) in (1..).zip(self.recent_messages.iter().rev()) {
            let at = days_before(now, f64::from(number) / 1_440.0);
            let task = told.task.as_ref().map(|key| tasks[key]);
            contents
                .messages
                .push(told.message((workspace, owner), task, at));
        }
        let address = self.address(&tasks, &works, (workspace, now, &mut contents));
        Set {
            workspace,
            contents,
            address,
            tasks,
        }
    }

    fn address(
        &self,
        tasks: &HashMap<String, TaskId>,
        works: &HashMap<String, WorkId>,
        (workspace, at, contents): (WorkspaceId, Timestamp, &mut Contents),
    ) -> Address {
        let told = &self.message;
        if let Some(key) = &told.task {
            return Address::Task(tasks[key]);
        }
        if let Some(key) = &told.about_work {
            return Address::Work(works[key]);
        }
        let Some(key) = &told.reply_to_card_of else {
            return Address::Main;
        };
        let card = card(workspace, tasks[key], at);
        let id = card.id;
        contents.cards.push(card);
        Address::Card(id)
    }
}

fn card(workspace: WorkspaceId, task: TaskId, at: Timestamp) -> Card {
    Card {
        id: CardId::new(),
        workspace,
        kind: CardKind::Choice,
        task: Some(task),
        message: None,
        call: None,
        item: None,
        prompt: "A or B?".to_owned(),
        options: Vec::new(),
        recommended: None,
        works: Vec::new(),
        cost: None,
        job: None,
        raised_by: CardOrigin::Model,
        state: CardState::Open,
        answer: None,
        created_at: at,
    }
}

impl CaseTask {
    fn task(&self, (workspace, owner): (WorkspaceId, UserId), at: Timestamp) -> Task {
        Task {
            id: TaskId::new(),
            workspace,
            kind: TaskKind::Persistent,
            status: TaskStatus::from_name(&self.status).expect("a status"),
            status_reason: None,
            title: self.title.clone(),
            goal: self.goal.clone(),
            brief: String::new(),
            language: detect_language(&self.goal).to_owned(),
            created_by: owner,
            origin: None,
            main_of: None,
            autonomy: Autonomy::AskAtCheckpoints,
            budget_micros: None,
            created_at: at,
            updated_at: at,
            journal_head: 0,
            news_head: 0,
            active_turn: None,
            course: Course::default(),
            usage: Usage::default(),
        }
    }
}

impl CaseWork {
    fn work(&self, (workspace, owner): (WorkspaceId, UserId), at: Timestamp) -> Work {
        Work {
            id: WorkId::new(),
            workspace,
            kind: WorkKind::from_name(&self.kind).expect("a kind"),
            title: self.title.clone(),
            version: Version(0),
            created_at: at,
            updated_at: at,
            updated_by: Actor::Person(owner),
            deleted_at: self.deleted.then_some(at),
            asset: None,
        }
    }
}

impl CaseMessage {
    fn message(
        &self,
        (workspace, owner): (WorkspaceId, UserId),
        task: Option<TaskId>,
        at: Timestamp,
    ) -> Message {
        let agent = |task| Actor::Agent {
            task,
            turn: 1,
            step: 1,
        };
        let author = match (self.from.as_str(), task) {
            ("person", _) => Actor::Person(owner),
            (_, Some(task)) => agent(task),
            (_, None) => agent(domain::task::main_id(workspace, owner)),
        };
        Message {
            id: MessageId::new(),
            workspace,
            main_of: Some(owner),
            task,
            author,
            text: self.text.clone(),
            language: None,
            created_at: at,
            state: MessageState::Consumed,
            taken_by: None,
            replaced_by: None,
            reply_to: None,
            attachments: Vec::new(),
            by_program: false,
            routing: None,
        }
    }
}

fn days_before(now: Timestamp, days: f64) -> Timestamp {
    let gone = Duration::from_secs_f64(days * 86_400.0);
    Timestamp::from_micros(now.micros() - gone.as_micros() as i64)
}

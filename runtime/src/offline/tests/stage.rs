//! A stage: the situation of one task, moved on step by step as the engine would, with works in memory and faults at will.
//!
//! Invariants
//! - Every decision fits the contract, and is the same when the situation is decided twice.

use domain::actor::Actor;
use domain::card::{CONFIRM, CardKind};
use domain::document::Version;
use domain::ids::{LineId, MessageId, TurnId, WorkId};
use domain::journal::{JournalEntry, JournalKind};
use domain::line::Line;
use domain::message::{Message, MessageState};
use domain::task::{
    ChecklistItem, ChecklistState, LinkedWork, Projections, Standing, TaskLimits, TaskStatus,
    Verdict, verdict,
};
use domain::time::Timestamp;
use domain::turn::{CallId, CallState, Epoch, Seen, Step, StepRef, StepState};
use domain::work::Work;
use serde_json::{Value, json};

use super::super::{decide, executor};
use super::board::Board;
use super::properties::{card, read_item, runtime_card, task};
use crate::context::Situation;
use crate::model::{Function, ModelMessage, ModelRequest, Speaker, check};

/// When everything happens.
pub(super) const AT: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

/// What a call comes to instead of what the tool would do.
type Fault = Box<dyn FnMut(&str, &Value) -> Option<(CallState, Value, String)>>;

/// One task.
pub(super) struct Stage {
    pub(super) situation: Situation,
    pub(super) boards: Vec<Board>,
    /// What the planner replied, in order.
    pub(super) replies: Vec<String>,
    /// Tools that were called, in order.
    pub(super) called: Vec<String>,
    fault: Fault,
}

impl Stage {
    /// A task with this goal.
    pub(super) fn new(language: &str, goal: &str) -> Self {
        let task = task(language, goal);
        let step = Step {
            workspace: task.workspace,
            task: task.id,
            turn: TurnId::new(),
            at: StepRef { turn: 1, step: 1 },
            state: StepState::Open,
            epoch: Epoch(1),
            opened_at: AT,
            decided_at: None,
            rationale: String::new(),
            seen: Seen::default(),
            context: None,
        };
        Self {
            situation: Situation {
                task,
                projections: Projections::default(),
                step,
                messages: Vec::new(),
                segments: Vec::new(),
                recent: Vec::new(),
                works: Vec::new(),
                notices: Vec::new(),
                cards: Vec::new(),
                jobs: Vec::new(),
                lines: Vec::new(),
                profile: domain::memory::Profile::default(),
                memory: domain::memory::MemoryMark::default(),
            },
            boards: Vec::new(),
            replies: Vec::new(),
            called: Vec::new(),
            fault: Box::new(|_, _| None),
        }
    }

    /// Lets calls come to something else.
    pub(super) fn with_fault(
        mut self,
        fault: impl FnMut(&str, &Value) -> Option<(CallState, Value, String)> + 'static,
    ) -> Self {
        self.fault = Box::new(fault);
        self
    }

    /// A person writes.
    pub(super) fn write(&mut self, text: &str) {
        let person = self.person();
        self.situation.messages.push(Message {
            id: MessageId::new(),
            workspace: self.situation.task.workspace,
            main_of: None,
            task: Some(self.situation.task.id),
            author: person.clone(),
            text: text.to_owned(),
            language: None,
            created_at: AT,
            state: MessageState::Delivered,
            taken_by: None,
            replaced_by: None,
            reply_to: None,
            attachments: Vec::new(),
            by_program: false,
            routing: None,
        });
        self.note(
            JournalKind::IncomingMessage,
            person,
            text,
            json!({"message": "message"}),
        );
    }

    /// A person answers the open card.
    pub(super) fn click(&mut self, option: &str, comment: Option<&str>) {
        let card = self.situation.cards.remove(0);
        assert!(
            card.options.iter().any(|known| known.id == option),
            "the card has {:?}",
            card.options
        );
        let mut confirmed = Vec::new();
        if card.kind == CardKind::Checkpoint && option == CONFIRM {
            for item in self
                .situation
                .projections
                .checklist
                .iter_mut()
                .filter(|item| item.is_open_checkpoint())
            {
                item.is_confirmed = true;
                confirmed.push(item.id.clone());
            }
        }
        let data = json!({"card": card.id, "option": option, "comment": comment, "question": card.prompt, "confirmedItems": confirmed});
        let person = self.person();
        self.note(JournalKind::IncomingMessage, person, option, data);
    }

    /// A work that the person gave to the task.
    pub(super) fn give(&mut self, board: Board) {
        self.link(&board, None);
        self.boards.push(board);
    }

    fn person(&self) -> Actor {
        Actor::Person(self.situation.task.created_by)
    }

    fn note(&mut self, kind: JournalKind, actor: Actor, text: &str, data: Value) {
        let sequence = self
            .situation
            .recent
            .last()
            .map_or(1, |entry| entry.sequence + 1);
        self.situation.recent.push(JournalEntry {
            sequence,
            kind,
            at: AT,
            actor,
            step: Some(self.situation.step.at),
            text: text.to_owned(),
            data,
        });
    }

    fn link(&mut self, board: &Board, written: Option<Timestamp>) {
        let task = &self.situation.task;
        let known = self
            .situation
            .works
            .iter_mut()
            .find(|(_, work)| work.id == board.id);
        if let Some((linked, work)) = known {
            work.version = Version(board.version);
            linked.seen_version = Version(board.version);
            linked.last_written_at = written.or(linked.last_written_at);
            return;
        }
        let linked = LinkedWork {
            workspace: task.workspace,
            task: task.id,
            work: board.id,
            seen_version: Version(if written.is_some() { board.version } else { 0 }),
            last_read_at: None,
            last_written_at: written,
        };
        let work = Work {
            id: board.id,
            workspace: task.workspace,
            kind: board.kind,
            title: board.title.clone(),
            version: Version(board.version),
            created_at: AT,
            updated_at: AT,
            updated_by: Actor::System,
            deleted_at: None,
            asset: None,
        };
        self.situation.works.push((linked, work));
    }

    /// One step.
    pub(super) fn step(&mut self) -> Value {
        let decision = decide(&self.situation);
        assert_eq!(
            decide(&self.situation),
            decision,
            "the same situation is decided in the same way"
        );
        assert_eq!(check(Function::Decide, &decision), Ok(()));
        self.store(&decision);
        let actions = decision["actions"].as_array().expect("actions").clone();
        for (index, action) in actions.iter().enumerate() {
            let (tool, arguments) = (
                action["tool"].as_str().expect("a tool"),
                &action["arguments"],
            );
            self.called.push(tool.to_owned());
            let call = CallId {
                turn: self.situation.step.turn,
                step: self.situation.step.at.step,
                index: index as u32,
            };
            let (state, result, error) = match (self.fault)(tool, arguments) {
                Some(outcome) => outcome,
                None => self.run(tool, arguments, call),
            };
            let data = json!({"call": call, "tool": tool, "state": state, "result": result, "error": error});
            self.note(JournalKind::Result, Actor::System, tool, data);
        }
        self.situation.step.at.step += 1;
        decision
    }

    fn store(&mut self, decision: &Value) {
        let former = std::mem::take(&mut self.situation.projections.checklist);
        let checklist: Vec<ChecklistItem> = decision["checklist"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|item| read_item(item, &former))
            .collect();
        let consumed = !self.situation.messages.is_empty();
        self.situation.messages.clear();
        // A question that was answered in words, or whose reason has gone, is withdrawn.
        self.situation.cards.retain(|card| match &card.item {
            Some(id) => checklist
                .iter()
                .any(|item| item.id == *id && item.state == ChecklistState::Done),
            None => !consumed,
        });
        let seen = self
            .situation
            .recent
            .last()
            .map_or(0, |entry| entry.sequence);
        self.situation.projections = Projections {
            summary: decision["summary"].as_str().expect("a summary").to_owned(),
            short_line: decision["short_line"].as_str().expect("a line").to_owned(),
            checklist,
            rewritten_at: Some(AT),
            journal_sequence: seen,
        };
        for item in &self.situation.projections.checklist {
            let closed = &mut self.situation.task.course.closed_items;
            if item.state == ChecklistState::Done && !closed.contains(&item.id) {
                closed.push(item.id.clone());
            }
        }
        let rationale = decision["rationale"].as_str().expect("a reason").to_owned();
        self.note(
            JournalKind::Plan,
            Actor::System,
            &rationale,
            json!({"actions": decision["actions"]}),
        );
    }

    fn run(&mut self, tool: &str, arguments: &Value, call: CallId) -> (CallState, Value, String) {
        let done = |result: Value| (CallState::Done, result, String::new());
        match tool {
            "reply" => {
                self.replies
                    .push(arguments["text"].as_str().expect("a text").to_owned());
                done(json!({}))
            }
            "ask" => {
                let card = card(&self.situation.task, arguments);
                self.situation.cards.push(card);
                done(json!({}))
            }
            "create_work" => {
                let board = Board::new(arguments);
                let id = board.id;
                self.link(&board, Some(AT));
                self.boards.push(board);
                done(json!({"work_id": id}))
            }
            "read_work" => {
                let at = self.place(arguments);
                let result = self.boards[at].read(arguments);
                done(result)
            }
            "delegate" => done(self.delegate(arguments, call)),
            _ => {
                let at = self.place(arguments);
                let outcome = self.boards[at].edit(tool, arguments);
                let board = self.boards.swap_remove(at);
                self.link(&board, Some(AT));
                self.boards.push(board);
                outcome
            }
        }
    }

    fn place(&self, arguments: &Value) -> usize {
        let id: WorkId = arguments["work_id"]
            .as_str()
            .expect("an id")
            .parse()
            .expect("an id");
        self.boards
            .iter()
            .position(|board| board.id == id)
            .expect("a work that is there")
    }

    fn delegate(&mut self, arguments: &Value, call: CallId) -> Value {
        let prompt = arguments["prompt"].as_str().expect("a prompt").to_owned();
        assert_eq!(
            crate::prompt_lint::dangling(&prompt, crate::prompt_lint::History::None),
            None
        );
        if let Some(executor) = arguments["executor"].as_str() {
            let task = &self.situation.task;
            self.situation.lines.push(Line {
                id: LineId::new(),
                workspace: task.workspace,
                task: task.id,
                executor: executor.to_owned(),
                purpose: arguments["purpose"].as_str().expect("a purpose").to_owned(),
                opened_at: AT,
            });
        }
        let request = ModelRequest {
            function: Function::Answer,
            model: None,
            messages: vec![ModelMessage {
                speaker: Speaker::User,
                text: prompt,
            }],
            summaries: 0,
            situation: None,
            router: None,
        };
        let answer = executor::answer(&request);
        let text = answer["text"].as_str().expect("a text").to_owned();
        self.note(
            JournalKind::Answer,
            Actor::System,
            &text,
            json!({"call": call}),
        );
        answer
    }

    /// Steps until the task stands still; what it stands for.
    pub(super) fn run_on(&mut self) -> Verdict {
        for _ in 0..60 {
            let decision = self.step();
            let verdict = self.verdict(&decision);
            match verdict {
                Verdict::NextStep | Verdict::NextTurn => {}
                Verdict::AskPerson(Some(ref id)) => {
                    let card = runtime_card(&self.situation.task, id);
                    self.situation.cards.push(card);
                    return verdict;
                }
                other => return other,
            }
        }
        panic!(
            "the task does not come to rest: {:#?}",
            self.situation.projections
        );
    }

    fn verdict(&self, decision: &Value) -> Verdict {
        let actions = decision["actions"].as_array().expect("actions").len();
        let results = self
            .situation
            .recent
            .iter()
            .rev()
            .take_while(|entry| entry.kind != JournalKind::Plan);
        let results: Vec<_> = results
            .filter(|entry| entry.kind == JournalKind::Result)
            .collect();
        assert_eq!(results.len(), actions);
        verdict(&Standing {
            status: TaskStatus::Running,
            autonomy: self.situation.task.autonomy,
            checklist: &self.situation.projections.checklist,
            shown_items: &[],
            has_unread: false,
            has_open_card: !self.situation.cards.is_empty(),
            is_looking: false,
            has_trouble: results
                .iter()
                .any(|entry| entry.data["state"] != json!(CallState::Done)),
            waits_for_jobs: false,
            steps: 1,
            idle_turns: 0,
            limit: None,
            limits: TaskLimits::default(),
        })
    }

    /// The one work of the task.
    pub(super) fn board(&mut self) -> &mut Board {
        self.boards.last_mut().expect("a work")
    }

    /// Everything that was replied since the last look.
    pub(super) fn heard(&mut self) -> String {
        std::mem::take(&mut self.replies).join("\n")
    }

    /// Items of the plan with their states.
    pub(super) fn plan(&self) -> Vec<(String, ChecklistState)> {
        let items = self.situation.projections.checklist.iter();
        items.map(|item| (item.id.clone(), item.state)).collect()
    }
}

/// An item of a plan.
pub(super) fn item(id: &str, title: &str, state: ChecklistState) -> ChecklistItem {
    ChecklistItem {
        id: id.to_owned(),
        title: title.to_owned(),
        state,
        needs_confirmation: false,
        is_confirmed: false,
        depends_on: Vec::new(),
        outputs: Vec::new(),
        evidence: None,
        needs: Vec::new(),
        stale_since: None,
    }
}

impl Stage {
    /// Loses what came of the last call of a tool.
    pub(super) fn forget(&mut self, tool: &str) {
        let recent = &mut self.situation.recent;
        let is_result = |entry: &JournalEntry| {
            entry.kind == JournalKind::Result && entry.data["tool"] == json!(tool)
        };
        let at = recent.iter().rposition(is_result).expect("a call of it");
        recent.remove(at);
    }
}

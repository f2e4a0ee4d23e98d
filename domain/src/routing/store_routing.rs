//! Storing what the router decided about a message, and delivering the message there: one transaction, behind the fence of Main's turn.
//!
//! Invariants
//! - What was taken back, or placed by a person while the router thought, stays as it is.
//! - What the router says about a place is checked here against what is stored (R5): a place that is not there becomes a question.

use async_trait::async_trait;
use serde_json::json;

use super::place::{Inquiry, ask_where, deliver, gone_works, language, option, refuse};
use super::{Candidate, place};
use crate::card::{CardOption, NEW_TASK, PICK_ANOTHER, RoutingWords};
use crate::error::{Error, Result};
use crate::ids::{MessageId, TaskId, TurnId, WorkId};
use crate::journal::JournalKind;
use crate::memory;
use crate::message::{Message, MessageState, Routing, RoutingOutcome, RoutingStage};
use crate::people::{Role, role_in};
use crate::store::{Command, Scope, Transaction};
use crate::task::{Task, TaskChange, TaskKind, TaskLimits, Usage, begin, task_of};
use crate::time::Timestamp;
use crate::turn::{After, ContextUsage, Fence, Spare, StepState, TurnChange, settle_routing};
use crate::work::Work;

/// Where the router puts a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Placement {
    /// Main answers it itself.
    Answer {
        /// The id of the answer.
        reply: MessageId,
        /// Its words.
        text: String,
    },
    /// A task that is there.
    Existing(TaskId),
    /// A task of its own.
    New {
        /// How much it weighs.
        kind: TaskKind,
        /// Its title; none for one that is made from the goal.
        title: Option<String>,
        /// What it is to reach.
        goal: String,
        /// Works that it begins with.
        works: Vec<WorkId>,
    },
    /// The person says where.
    Ask {
        /// The question; empty for the usual one.
        question: String,
        /// The tasks that are offered.
        tasks: Vec<TaskId>,
    },
}

/// What was decided about a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Routed {
    /// The message.
    pub message: MessageId,
    /// Where it belongs.
    pub placement: Placement,
    /// Why, in words for a person.
    pub rationale: String,
    /// The tasks that were weighed, best first.
    pub candidates: Vec<Candidate>,
}

/// Stores what an open step of Main decided.
#[derive(Debug, Clone)]
pub struct StoreRouting {
    /// The turn's fence.
    pub fence: Fence,
    /// The step.
    pub step: u32,
    /// What was decided; none where the step had nothing to decide about.
    pub routed: Option<Routed>,
    /// What the request was made of, and what it cost.
    pub context: ContextUsage,
    /// Limits of tasks.
    pub limits: TaskLimits,
    /// Ids for what is made.
    pub spare: Spare,
    /// The present time.
    pub at: Timestamp,
}

#[async_trait]
impl Command for StoreRouting {
    type Output = After;
    const NAME: &'static str = "message.route";

    fn scope(&self) -> Scope {
        Scope::Workspace(self.fence.workspace)
    }

    fn enters(&self) -> Option<TurnId> {
        Some(self.fence.turn)
    }

    async fn run(&self, tx: &dyn Transaction) -> Result<After> {
        let mut change = TurnChange::enter(tx, self.fence, self.step, self.at).await?;
        let mut step = change.undecided(self.step)?;
        step.state = StepState::Decided;
        step.epoch = self.fence.epoch;
        step.decided_at = Some(self.at);
        step.context = Some(self.context.clone());
        let task = &mut change.task.task;
        task.course.model_failures = 0;
        task.usage.add(&Usage {
            steps: 1,
            input_tokens: self.context.input_tokens,
            cached_tokens: self.context.cached_tokens,
            output_tokens: self.context.output_tokens,
            spent_micros: self.context.cost_micros,
        });
        if let Some(routed) = &self.routed {
            step.rationale.clone_from(&routed.rationale);
            let found = tx.list_messages_by_id(&[routed.message]).await?.pop();
            let is_taken = |message: &Message| {
                message.state == MessageState::Routing && message.taken_by == Some(step.at)
            };
            if let Some(message) = found.filter(is_taken) {
                self.place(&mut change.task, message, routed).await?;
            }
        }
        let after = settle_routing(&mut change, step, self.limits, self.spare).await?;
        change.save().await?;
        Ok(after)
    }
}

impl StoreRouting {
    async fn place(
        &self,
        main: &mut TaskChange<'_>,
        mut message: Message,
        routed: &Routed,
    ) -> Result<()> {
        let routing = |outcome| Routing {
            rationale: Some(routed.rationale.clone()).filter(|why| !why.is_empty()),
            candidates: routed.candidates.clone(),
            ..Routing::new(RoutingStage::Semantic, outcome, self.at)
        };
        let message = &mut message;
        if !self.may_still_ask(main.tx, message).await? {
            message.taken_by = None;
            message.state = MessageState::Undeliverable;
            message.routing = Some(Routing {
                rationale: Some("its author may not change this workspace any more".to_owned()),
                ..routing(RoutingOutcome::Rejected)
            });
            return self.keep(main, message).await;
        }
        match &routed.placement {
            Placement::Answer { reply, text } => {
                message.taken_by = None;
                message.state = MessageState::Answered;
                message.routing = Some(routing(RoutingOutcome::AnsweredByMain));
                main.post(&answer(main, message, (*reply, text))).await?;
                memory::queue(main.tx, std::slice::from_ref(message), self.at).await?;
                self.keep(main, message).await
            }
            Placement::Existing(task) => {
                let found = main.tx.list_tasks_by_id(&[*task]).await?.pop();
                let is_here = |task: &Task| task.workspace == message.workspace && !task.is_main();
                if let Some(task) = found.filter(is_here) {
                    let routing = routing(RoutingOutcome::ExistingTask);
                    return self.to_task(main, message, (task, routing)).await;
                }
                let inquiry = (routing(RoutingOutcome::NeedsClarification), "");
                self.ask(main, message, inquiry, routed).await
            }
            Placement::New {
                kind,
                title,
                goal,
                works,
            } => {
                let outcome = match kind {
                    TaskKind::Lightweight => RoutingOutcome::LightweightTask,
                    TaskKind::Persistent => RoutingOutcome::NewTask,
                };
                if let Some(gone) = gone_works(main.tx, message).await?.first() {
                    let question = RoutingWords::of(language(message)).gone(&gone.title);
                    let inquiry = (routing(outcome), question.as_str());
                    return self.ask(main, message, inquiry, routed).await;
                }
                let mut task = task_of(message, self.spare.task, goal, self.at)?;
                task.kind = *kind;
                if let Some(title) = title {
                    task.title.clone_from(title);
                }
                self.to_new(main, message, (task, works, routing(outcome)))
                    .await
            }
            Placement::Ask { question, .. } => {
                let inquiry = (
                    routing(RoutingOutcome::NeedsClarification),
                    question.as_str(),
                );
                self.ask(main, message, inquiry, routed).await
            }
        }
    }

    /// Permissions are those of now, not of when it was written (R7).
    async fn may_still_ask(&self, tx: &dyn Transaction, message: &Message) -> Result<bool> {
        let Some(user) = message.person() else {
            return Ok(false);
        };
        match role_in(tx, message.workspace, user).await {
            Ok(role) => Ok(role >= Role::Editor),
            Err(Error::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn to_task(
        &self,
        main: &mut TaskChange<'_>,
        message: &mut Message,
        (task, routing): (Task, Routing),
    ) -> Result<()> {
        let (tx, author) = (main.tx, message.author.clone());
        let mut change = TaskChange::of(tx, task, author, self.at);
        if let Some(gone) = gone_works(tx, message).await?.first() {
            self.refuse_gone(&mut change, message, (gone, routing))
                .await?;
        } else {
            deliver(&mut change, message, routing, self.spare).await?;
        }
        change.save_message(message).await?;
        let task = change.save().await?;
        note(main, message, Some(task.id));
        Ok(())
    }

    /// Something that the message is about lies in the bin: the person picks again.
    async fn refuse_gone(
        &self,
        change: &mut TaskChange<'_>,
        message: &mut Message,
        (gone, routing): (&Work, Routing),
    ) -> Result<()> {
        let words = RoutingWords::of(language(message));
        let mut options = vec![
            CardOption::plain(NEW_TASK, words.new_task),
            CardOption::plain(PICK_ANOTHER, words.pick_another),
        ];
        if change.task.status.takes_messages() {
            options.insert(0, option(&change.task));
        }
        let prompt = words.gone(&gone.title);
        let told = (prompt.as_str(), prompt.as_str(), options, self.spare);
        refuse(change, message, routing, told).await
    }

    async fn to_new(
        &self,
        main: &mut TaskChange<'_>,
        message: &mut Message,
        (task, works, routing): (Task, &[WorkId], Routing),
    ) -> Result<()> {
        let mut works = works.to_vec();
        works.extend(message.attachments.iter().copied());
        let found = main.tx.list_works_by_id(&works).await?;
        // What the model made up is left out; what came with the message was looked at when it was posted.
        works.retain(|id| {
            let is_it = |work: &Work| work.id == *id && work.workspace == message.workspace;
            found.iter().any(is_it)
        });
        works.dedup();
        let author = message.author.clone();
        let mut change = begin(main.tx, task, &works, (author, self.spare)).await?;
        deliver(&mut change, message, routing, self.spare).await?;
        change.save_message(message).await?;
        let task = change.save().await?;
        note(main, message, Some(task.id));
        Ok(())
    }

    async fn ask(
        &self,
        main: &mut TaskChange<'_>,
        message: &mut Message,
        (routing, question): (Routing, &str),
        routed: &Routed,
    ) -> Result<()> {
        let named: Vec<TaskId> = match &routed.placement {
            Placement::Ask { tasks, .. } if !tasks.is_empty() => tasks.clone(),
            _ => routed.candidates.iter().map(|one| one.task).collect(),
        };
        let found = main.tx.list_tasks_by_id(&named).await?;
        let offered = |id: &TaskId| {
            let is_there = |task: &&Task| {
                task.id == *id && task.workspace == message.workspace && !task.is_main()
            };
            found.iter().find(is_there).cloned()
        };
        let tasks: Vec<Task> = named.iter().filter_map(offered).collect();
        let inquiry = Inquiry {
            question,
            tasks: &tasks[..tasks.len().min(place::OFFERED)],
            routing,
        };
        ask_where(main, message, inquiry, self.spare).await?;
        self.keep(main, message).await
    }

    /// It stays with Main.
    async fn keep(&self, main: &mut TaskChange<'_>, message: &Message) -> Result<()> {
        main.save_message(message).await?;
        note(main, message, None);
        Ok(())
    }
}

/// What Main says to the person, in the person's main thread alone.
fn answer(main: &TaskChange<'_>, message: &Message, (id, text): (MessageId, &str)) -> Message {
    Message {
        id,
        author: main.actor.clone(),
        text: text.to_owned(),
        created_at: main.at,
        state: MessageState::Consumed,
        taken_by: None,
        replaced_by: None,
        reply_to: None,
        attachments: Vec::new(),
        routing: None,
        ..message.clone()
    }
}

/// What became of a message, in Main's own journal.
fn note(main: &mut TaskChange<'_>, message: &Message, task: Option<TaskId>) {
    let routing = message.routing.as_ref();
    let outcome = routing.map(|routing| routing.outcome);
    let why = routing.and_then(|routing| routing.rationale.clone());
    let data =
        json!({"message": message.id, "outcome": outcome, "task": task, "state": message.state});
    main.note(JournalKind::SystemEvent, why.unwrap_or_default(), data);
}

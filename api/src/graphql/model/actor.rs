//! Who did something, as clients see it.

use async_graphql::{Context, Enum, Object, Result};
use domain::ids::TaskId;
use domain::turn::StepRef;

use super::people::User;
use super::step::Step;
use super::task::Task;
use crate::graphql::error::{Nullable, nullable};
use crate::graphql::scalars::int;
use crate::graphql::scope::Scope;

/// What kind of actor it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
pub(crate) enum ActorKind {
    /// A person, or a program for one.
    Person,
    /// The agent, for a task.
    Agent,
    /// The server itself.
    System,
    /// A media provider.
    Provider,
}

/// Who did something.
#[derive(Debug, Clone)]
pub(crate) struct Actor(pub(crate) domain::actor::Actor);

impl Actor {
    async fn find_program(&self, ctx: &Context<'_>) -> Result<Option<String>> {
        let domain::actor::Actor::Program { token, .. } = self.0 else {
            return Ok(None);
        };
        Scope::of(ctx)?.program(token).await.map(Some)
    }

    /// The step of the agent that decided it.
    fn decided(&self) -> Option<(TaskId, StepRef)> {
        match self.0 {
            domain::actor::Actor::Agent { task, turn, step } => {
                Some((task, StepRef { turn, step }))
            }
            _ => None,
        }
    }
}

/// Who did something. `task` is set where the agent acted, with the turn and step that decided it.
#[Object]
impl Actor {
    /// What kind of actor it is.
    async fn kind(&self) -> ActorKind {
        match self.0 {
            domain::actor::Actor::Person(_) | domain::actor::Actor::Program { .. } => {
                ActorKind::Person
            }
            domain::actor::Actor::Agent { .. } => ActorKind::Agent,
            domain::actor::Actor::System => ActorKind::System,
            domain::actor::Actor::Provider(_) => ActorKind::Provider,
        }
    }

    /// The person, where it is one, or for whom a program acted.
    async fn user(&self, ctx: &Context<'_>) -> Nullable<User> {
        Some(User::load(ctx, self.0.user()?).await)
    }

    /// The program that acted for the person, by the label of its token; null where the person acted.
    async fn program(&self, ctx: &Context<'_>) -> Nullable<String> {
        nullable(self.find_program(ctx).await)
    }

    /// The task for which the agent acted.
    async fn task(&self, ctx: &Context<'_>) -> Nullable<Task> {
        let (task, _) = self.decided()?;
        nullable(Task::find(ctx, task).await)
    }

    /// The turn that decided it, by its number in the task.
    async fn turn_number(&self) -> Option<i32> {
        self.decided().map(|(_, step)| int(step.turn.into()))
    }

    /// The step that decided it, by its number in the turn.
    async fn step_number(&self) -> Option<i32> {
        self.decided().map(|(_, step)| int(step.step.into()))
    }

    /// The step that decided it: why it was done.
    async fn step(&self, ctx: &Context<'_>) -> Nullable<Step> {
        let (task, step) = self.decided()?;
        nullable(Step::find(ctx, task, step).await)
    }

    /// What people call this actor.
    async fn label(&self, ctx: &Context<'_>) -> Result<String> {
        Ok(match &self.0 {
            domain::actor::Actor::Person(id) => Scope::of(ctx)?.user(*id).await?.name,
            domain::actor::Actor::Program { user, token } => {
                Scope::of(ctx)?.label_of_program(*user, *token).await?
            }
            domain::actor::Actor::Agent { .. } => "Agent".to_owned(),
            domain::actor::Actor::System => "System".to_owned(),
            domain::actor::Actor::Provider(name) => name.clone(),
        })
    }
}

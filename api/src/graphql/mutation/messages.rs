//! Mutations of messages: posting one, taking one back, putting another in its place, moving one that went wrong.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject, Union};
use domain::Error;
use domain::actor::Actor;
use domain::ids::{MessageId, WorkId};
use domain::message::{
    self, Address, MessageState, PostMessage, ReplaceMessage, WithdrawMessage, Withdrawn,
};
use domain::routing::{Destination, RerouteMessage};
use domain::task::detect_language;
use domain::turn::Spare;

use super::input::{id, idempotency};
use crate::graphql::model::message::Message;
use crate::graphql::model::step::StepRef;
use crate::graphql::scope::Scope;

/// A message, and where it belongs. Without `taskId`, `replyToCardId` and `aboutWorkId` it goes to the main thread, and through the
/// router; at most one of them is named.
#[derive(InputObject)]
struct PostMessageInput {
    /// The workspace.
    workspace_id: ID,
    /// Its words.
    text: String,
    /// The task it is for.
    task_id: Option<ID>,
    /// The card whose task it is for.
    reply_to_card_id: Option<ID>,
    /// The work it is about: it goes to the task that works on it; where there are several or none, through the router.
    about_work_id: Option<ID>,
    /// Works that come with it.
    attachment_ids: Option<Vec<ID>>,
    /// The same key by the same person gives the first message again, and posts no second one.
    idempotency_key: Option<String>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A message that was posted.
#[derive(SimpleObject)]
struct PostMessagePayload {
    /// The message.
    message: Message,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// A message to take back.
#[derive(InputObject)]
struct WithdrawMessageInput {
    /// The message.
    message_id: ID,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// What became of taking a message back.
#[derive(Union)]
enum WithdrawMessageResult {
    /// It is taken back.
    Withdrawn(WithdrawMessagePayload),
    /// It was read before.
    Consumed(MessageAlreadyConsumed),
}

/// A message that was taken back.
#[derive(SimpleObject)]
struct WithdrawMessagePayload {
    /// The message.
    message: Message,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// A step has taken the message: it is final.
#[derive(SimpleObject)]
struct MessageAlreadyConsumed {
    /// The message.
    message: Message,
    /// The step that has taken it.
    consumed_by: StepRef,
}

/// A message, and the words that stand in its place.
#[derive(InputObject)]
struct ReplaceMessageInput {
    /// The message.
    message_id: ID,
    /// The new words.
    text: String,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// What became of replacing a message.
#[derive(Union)]
enum ReplaceMessageResult {
    /// Another message stands in its place.
    Replaced(ReplaceMessagePayload),
    /// It was read before.
    Consumed(MessageAlreadyConsumed),
}

/// A message that stands in the place of another.
#[derive(SimpleObject)]
struct ReplaceMessagePayload {
    /// The new message.
    message: Message,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// A message, and where it belongs instead: exactly one of `taskId` and `newTaskGoal`.
#[derive(InputObject)]
struct RerouteMessageInput {
    /// The message.
    message_id: ID,
    /// The task it is for.
    task_id: Option<ID>,
    /// The goal of the new task that it is for.
    new_task_goal: Option<String>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A message that was moved.
#[derive(SimpleObject)]
struct RerouteMessagePayload {
    /// The message.
    message: Message,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// Mutations of messages.
#[derive(Debug, Default)]
pub(crate) struct MessageMutation;

#[Object]
impl MessageMutation {
    /// Posts a message: to a task, in answer to a card, about a work, or to the main thread, where the router finds its place.
    async fn post_message(
        &self,
        ctx: &Context<'_>,
        input: PostMessageInput,
    ) -> Result<PostMessagePayload> {
        let scope = Scope::of(ctx)?;
        let key = input.idempotency_key.as_deref();
        let idempotency = idempotency(scope, "postMessage", key, &input)?;
        let command = PostMessage {
            caller: scope.caller,
            message: new_message(scope, &input)?,
            address: address(&input)?,
            idempotency,
            spare: Spare::new(),
        };
        let posted = scope.run(command).await?;
        Ok(PostMessagePayload {
            message: Message(scope.message(posted).await?),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Takes one of the caller's messages back, as long as no step has taken it.
    async fn withdraw_message(
        &self,
        ctx: &Context<'_>,
        input: WithdrawMessageInput,
    ) -> Result<WithdrawMessageResult> {
        let scope = Scope::of(ctx)?;
        let former = scope.message(id(&input.message_id)?).await?;
        let command = WithdrawMessage {
            caller: scope.caller,
            workspace: former.workspace,
            message: former.id,
            at: scope.now(),
        };
        Ok(
            match after(scope, &former, scope.run(command).await?).await? {
                Ok(message) => WithdrawMessageResult::Withdrawn(WithdrawMessagePayload {
                    message,
                    client_mutation_id: input.client_mutation_id,
                }),
                Err(consumed) => WithdrawMessageResult::Consumed(consumed),
            },
        )
    }

    /// Moves a message that went to the wrong place: to another task, or to a new one with this goal. Both journals keep what was done.
    async fn reroute_message(
        &self,
        ctx: &Context<'_>,
        input: RerouteMessageInput,
    ) -> Result<RerouteMessagePayload> {
        let scope = Scope::of(ctx)?;
        let message = scope.message(id(&input.message_id)?).await?;
        let to = match (&input.task_id, input.new_task_goal) {
            (Some(task), None) => Destination::Task(id(task)?),
            (None, Some(goal)) => Destination::NewTask(goal),
            _ => return Err(Error::Invalid("name taskId or newTaskGoal".to_owned()).into()),
        };
        let command = RerouteMessage {
            caller: scope.caller,
            workspace: message.workspace,
            message: message.id,
            to,
            spare: Spare::new(),
            at: scope.now(),
        };
        scope.run(command).await?;
        Ok(RerouteMessagePayload {
            message: Message(scope.message(message.id).await?),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Puts another message in the place of one of the caller's, as long as no step has taken it.
    async fn replace_message(
        &self,
        ctx: &Context<'_>,
        input: ReplaceMessageInput,
    ) -> Result<ReplaceMessageResult> {
        let scope = Scope::of(ctx)?;
        let former = scope.message(id(&input.message_id)?).await?;
        let command = ReplaceMessage {
            caller: scope.caller,
            workspace: former.workspace,
            message: former.id,
            new: MessageId::new(),
            text: input.text,
            spare: Spare::new(),
            at: scope.now(),
        };
        Ok(
            match after(scope, &former, scope.run(command).await?).await? {
                Ok(message) => ReplaceMessageResult::Replaced(ReplaceMessagePayload {
                    message,
                    client_mutation_id: input.client_mutation_id,
                }),
                Err(consumed) => ReplaceMessageResult::Consumed(consumed),
            },
        )
    }
}

/// The message that stands now, or the refusal.
async fn after(
    scope: &Scope,
    former: &message::Message,
    outcome: Withdrawn,
) -> Result<std::result::Result<Message, MessageAlreadyConsumed>> {
    let shown =
        |id| async move { Ok::<_, async_graphql::Error>(Message(scope.message(id).await?)) };
    match outcome {
        Withdrawn::Done(id) => Ok(Ok(shown(id).await?)),
        Withdrawn::AlreadyConsumed(step) => {
            let task = former.task.ok_or_else(|| {
                Error::internal(format!("{} was taken without a task", former.id))
            })?;
            Ok(Err(MessageAlreadyConsumed {
                message: shown(former.id).await?,
                consumed_by: StepRef::new(task, step),
            }))
        }
    }
}

fn new_message(scope: &Scope, input: &PostMessageInput) -> Result<message::Message, Error> {
    let attachments = input.attachment_ids.iter().flatten().map(id::<WorkId>);
    Ok(message::Message {
        id: MessageId::new(),
        workspace: id(&input.workspace_id)?,
        main_of: None,
        task: None,
        author: Actor::Person(scope.caller.user),
        text: input.text.clone(),
        language: Some(detect_language(&input.text).to_owned()),
        created_at: scope.now(),
        state: MessageState::Received,
        taken_by: None,
        replaced_by: None,
        reply_to: None,
        attachments: attachments.collect::<Result<_, _>>()?,
        by_program: false,
        routing: None,
    })
}

fn address(input: &PostMessageInput) -> Result<Address, Error> {
    match (
        &input.task_id,
        &input.reply_to_card_id,
        &input.about_work_id,
    ) {
        (Some(task), None, None) => Ok(Address::Task(id(task)?)),
        (None, Some(card), None) => Ok(Address::Card(id(card)?)),
        (None, None, Some(work)) => Ok(Address::Work(id(work)?)),
        (None, None, None) => Ok(Address::Main),
        _ => Err(Error::Invalid(
            "name one of taskId, replyToCardId and aboutWorkId, or none".to_owned(),
        )),
    }
}

//! Mutations of memories: remembering, correcting, giving another reach, forgetting.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};
use domain::Error;
use domain::ids::{MemoryId, MessageId};
use domain::memory::{
    self, CorrectMemory, Forget, ForgetTarget, Remember, RescopeMemory, UndoCorrection,
};
use domain::store::Command;
use futures_util::future::try_join_all;
use uuid::Uuid;

use super::input::id;
use crate::graphql::model::memory::{Memory, MemoryKind, MemoryScope};
use crate::graphql::scalars::int;
use crate::graphql::scope::Scope;

/// Something to remember; it is stored as a message of the caller, which is its evidence.
#[derive(InputObject)]
struct RememberInput {
    /// The workspace.
    workspace_id: ID,
    /// What is so, at most 1,000 characters.
    content: String,
    /// What it is; FACT where none is given.
    kind: Option<MemoryKind>,
    /// How far it reaches; PERSON where none is given, and TASK where a task is.
    scope: Option<MemoryScope>,
    /// With TASK: the task.
    task_id: Option<ID>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A memory, and what is so in place of what it says.
#[derive(InputObject)]
struct CorrectMemoryInput {
    /// The memory.
    memory_id: ID,
    /// What is so, at most 1,000 characters.
    content: String,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A memory whose last change is taken back: what held before it holds again.
#[derive(InputObject)]
struct UndoMemoryCorrectionInput {
    /// The memory.
    memory_id: ID,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A memory, and how far it is to reach.
#[derive(InputObject)]
struct RescopeMemoryInput {
    /// The memory.
    memory_id: ID,
    /// How far; PERSON is the caller, TASK the task in which it was said.
    scope: MemoryScope,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A memory that was made or changed.
#[derive(SimpleObject)]
struct MemoryPayload {
    /// The memory.
    memory: Memory,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// One of them: everything that rests on the memory's evidence, or on one message.
#[derive(InputObject)]
#[expect(clippy::struct_field_names, reason = "the contract names them so")]
struct ForgetInput {
    /// The memory.
    memory_id: Option<ID>,
    /// The message.
    message_id: Option<ID>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// What was forgotten.
#[derive(SimpleObject)]
struct ForgetPayload {
    /// Memories of which a version lost its words.
    scrubbed: Vec<Memory>,
    /// Of these, those of which something holds again already; what else is left to say comes with MEMORY_CHANGED.
    reextracted: Vec<Memory>,
    /// Memories that lost a confirmation alone.
    unlinked: Vec<Memory>,
    /// The version of the caller's profile now.
    profile_version: i32,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// Mutations of memories.
#[derive(Debug, Default)]
pub(crate) struct MemoryMutation;

#[Object]
impl MemoryMutation {
    /// Remembers something at the caller's word; the memory that says the same already gets one more confirmation.
    async fn remember(&self, ctx: &Context<'_>, input: RememberInput) -> Result<MemoryPayload> {
        let scope = Scope::of(ctx)?;
        let command = Remember {
            caller: scope.caller,
            workspace: id(&input.workspace_id)?,
            kind: input.kind.map_or(memory::MemoryKind::Fact, Into::into),
            scope: wanted(scope, &input)?,
            content: input.content,
            memory: MemoryId::new(),
            message: MessageId::new(),
            at: scope.now(),
        };
        let memory = scope.run(command).await?;
        payload(scope, memory, input.client_mutation_id).await
    }

    /// Says what is so in place of what was remembered; what held before stays in the chain, superseded.
    async fn correct_memory(
        &self,
        ctx: &Context<'_>,
        input: CorrectMemoryInput,
    ) -> Result<MemoryPayload> {
        let scope = Scope::of(ctx)?;
        let memory = scope.memory(id(&input.memory_id)?).await?;
        let command = CorrectMemory {
            caller: scope.caller,
            workspace: memory.workspace,
            memory: memory.id,
            content: input.content,
            message: MessageId::new(),
            at: scope.now(),
        };
        changed(scope, command, (memory.id, input.client_mutation_id)).await
    }

    /// Takes the last change of a memory back: what held before it holds again, as a new version.
    async fn undo_memory_correction(
        &self,
        ctx: &Context<'_>,
        input: UndoMemoryCorrectionInput,
    ) -> Result<MemoryPayload> {
        let scope = Scope::of(ctx)?;
        let memory = scope.memory(id(&input.memory_id)?).await?;
        let command = UndoCorrection {
            caller: scope.caller,
            workspace: memory.workspace,
            memory: memory.id,
            at: scope.now(),
        };
        changed(scope, command, (memory.id, input.client_mutation_id)).await
    }

    /// Gives a memory another reach.
    async fn rescope_memory(
        &self,
        ctx: &Context<'_>,
        input: RescopeMemoryInput,
    ) -> Result<MemoryPayload> {
        let scope = Scope::of(ctx)?;
        let memory = scope.memory(id(&input.memory_id)?).await?;
        let command = RescopeMemory {
            caller: scope.caller,
            workspace: memory.workspace,
            memory: memory.id,
            scope: input.scope.into(),
            at: scope.now(),
        };
        changed(scope, command, (memory.id, input.client_mutation_id)).await
    }

    /// Forgets: the evidence may not be used any more, and what rests on it loses its words at once, for good. The conversation and works stay.
    async fn forget(&self, ctx: &Context<'_>, input: ForgetInput) -> Result<ForgetPayload> {
        let scope = Scope::of(ctx)?;
        let (workspace, target) = match (&input.memory_id, &input.message_id) {
            (Some(memory), None) => {
                let memory = scope.memory(id(memory)?).await?;
                (memory.workspace, ForgetTarget::Memory(memory.id))
            }
            (None, Some(message)) => {
                let message = scope.message(id(message)?).await?;
                (message.workspace, ForgetTarget::Message(message.id))
            }
            _ => return Err(Error::Invalid("name memoryId or messageId".to_owned()).into()),
        };
        let command = Forget {
            caller: scope.caller,
            workspace,
            target,
            receipt: Uuid::now_v7(),
            at: scope.now(),
        };
        let forgotten = scope.run(command).await?;
        let reextracted = visible(scope, &forgotten.derived).await?;
        Ok(ForgetPayload {
            scrubbed: visible(scope, &forgotten.scrubbed).await?,
            reextracted: reextracted
                .into_iter()
                .filter(|memory| memory.0.current.is_some())
                .collect(),
            unlinked: visible(scope, &forgotten.unlinked).await?,
            profile_version: int(scope.profile(workspace).await?.version),
            client_mutation_id: input.client_mutation_id,
        })
    }
}

/// How far it is to reach, as the input says.
fn wanted(scope: &Scope, input: &RememberInput) -> Result<memory::MemoryScope, Error> {
    let kind = input.scope.map(memory::ScopeKind::from);
    match (kind, &input.task_id) {
        (None | Some(memory::ScopeKind::Person), None) => {
            Ok(memory::MemoryScope::Person(scope.caller.user))
        }
        (Some(memory::ScopeKind::Workspace), None) => Ok(memory::MemoryScope::Workspace),
        (None | Some(memory::ScopeKind::Task), Some(task)) => {
            Ok(memory::MemoryScope::Task(id(task)?))
        }
        _ => Err(Error::Invalid(
            "`taskId` belongs to the scope TASK, and TASK needs it".to_owned(),
        )),
    }
}

async fn changed<C: Command>(
    scope: &Scope,
    command: C,
    (memory, client_mutation_id): (MemoryId, Option<String>),
) -> Result<MemoryPayload> {
    scope.run(command).await?;
    payload(scope, memory, client_mutation_id).await
}

async fn payload(
    scope: &Scope,
    memory: MemoryId,
    client_mutation_id: Option<String>,
) -> Result<MemoryPayload> {
    Ok(MemoryPayload {
        memory: Memory(scope.memory(memory).await?),
        client_mutation_id,
    })
}

/// Those of these memories that the caller may see.
async fn visible(scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Memory>> {
    let found = try_join_all(ids.iter().map(|id| scope.find_memory(*id))).await?;
    Ok(found.into_iter().flatten().map(Memory).collect())
}

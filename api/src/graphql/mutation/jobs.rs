//! Orders and what may be spent on them: cancelling, limits.

use async_graphql::{Context, ID, InputObject, MaybeUndefined, Object, Result, SimpleObject};
use domain::job;
use domain::money;
use domain::turn::Spare;

use super::input::id;
use super::money::{MoneyInput, limit};
use crate::graphql::model::job::GenerationJob;
use crate::graphql::model::money::Budget;
use crate::graphql::scope::Scope;

/// A job that is to be given up.
#[derive(InputObject)]
struct CancelJobInput {
    /// The job.
    job_id: ID,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A job that is given up, or is about to be.
#[derive(SimpleObject)]
struct CancelJobPayload {
    /// The job.
    job: GenerationJob,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// Limits of a workspace; owners only. What is absent stays; null takes a limit away, or puts it back to its default.
#[derive(InputObject)]
struct SetBudgetInput {
    /// The workspace.
    workspace_id: ID,
    /// What may be spent in all; not below what is spent and set aside.
    limit: MaybeUndefined<MoneyInput>,
    /// What one operation may cost without a person's word.
    per_operation_limit: MaybeUndefined<MoneyInput>,
    /// What operations of one day (UTC) may cost without a person's word.
    daily_limit: MaybeUndefined<MoneyInput>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// The limits as they are now.
#[derive(SimpleObject)]
struct SetBudgetPayload {
    /// The budget.
    budget: Budget,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// Mutations of orders and limits.
#[derive(Debug, Default)]
pub(crate) struct JobMutation;

#[Object]
impl JobMutation {
    /// Gives an order up, where its provider can; one that is not sent yet always.
    async fn cancel_job(
        &self,
        ctx: &Context<'_>,
        input: CancelJobInput,
    ) -> Result<CancelJobPayload> {
        let scope = Scope::of(ctx)?;
        let job = scope.job(id(&input.job_id)?).await?;
        let command = job::CancelJob {
            caller: scope.caller,
            workspace: job.workspace,
            job: job.id,
            can_cancel: scope.services.media.can_cancel(&job.provider),
            spare: Spare::new(),
            at: scope.now(),
        };
        scope.run(command).await?;
        Ok(CancelJobPayload {
            job: GenerationJob(scope.job(job.id).await?),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Sets what a workspace may spend.
    async fn set_budget(
        &self,
        ctx: &Context<'_>,
        input: SetBudgetInput,
    ) -> Result<SetBudgetPayload> {
        let scope = Scope::of(ctx)?;
        let workspace = id(&input.workspace_id)?;
        let command = money::SetBudget {
            caller: scope.caller,
            workspace,
            limit: limit(input.limit)?,
            per_operation: limit(input.per_operation_limit)?,
            daily: limit(input.daily_limit)?,
            at: scope.now(),
        };
        scope.run(command).await?;
        Ok(SetBudgetPayload {
            budget: scope.budget(workspace).await?.into(),
            client_mutation_id: input.client_mutation_id,
        })
    }
}

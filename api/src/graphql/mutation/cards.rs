//! Answering cards, and asking people by one.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject, Union};
use domain::card::{self, Answered};
use domain::ids::CardId;
use domain::task::detect_language;
use domain::turn::Spare;

use super::input::{id, idempotency};
use crate::graphql::model::card::Card;
use crate::graphql::scope::Scope;

/// A card and what is answered: an option, a comment, or both.
#[derive(InputObject)]
struct AnswerCardInput {
    /// The card.
    card_id: ID,
    /// One of its options.
    option_id: Option<ID>,
    /// What the person adds; by itself an answer where nothing is to be confirmed.
    comment: Option<String>,
    /// The same key by the same person gives the first result again, and no second effect.
    idempotency_key: Option<String>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// What became of an answer.
#[derive(Union)]
enum AnswerCardResult {
    /// It holds.
    Answered(AnswerCardPayload),
    /// The card no longer waits.
    NotOpen(CardNotOpen),
}

/// A card that was answered.
#[derive(SimpleObject)]
struct AnswerCardPayload {
    /// The card.
    card: Card,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// The card was answered or withdrawn before.
#[derive(SimpleObject)]
struct CardNotOpen {
    /// The card as it is.
    card: Card,
}

/// A work that a program would move to the bin.
#[derive(InputObject)]
struct ProposeDeleteWorkInput {
    /// The work.
    work_id: ID,
    /// Why, for people, at most 1,000 characters.
    reason: Option<String>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A question that waits for a person.
#[derive(SimpleObject)]
struct ProposeDeleteWorkPayload {
    /// The card that asks.
    card: Card,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// Mutations of cards.
#[derive(Debug, Default)]
pub(crate) struct CardMutation;

#[Object]
impl CardMutation {
    /// Asks the members whether a work may go to the bin, by a CONFIRM_IRREVERSIBLE card: what a program does in place of `deleteWork`.
    async fn propose_delete_work(
        &self,
        ctx: &Context<'_>,
        input: ProposeDeleteWorkInput,
    ) -> Result<ProposeDeleteWorkPayload> {
        let scope = Scope::of(ctx)?;
        let work = scope.work(id(&input.work_id)?).await?;
        let reason = input.reason.filter(|reason| !reason.trim().is_empty());
        let command = card::ProposeDeleteWork {
            caller: scope.caller,
            workspace: work.workspace,
            work: work.id,
            language: detect_language(reason.as_deref().unwrap_or(&work.title)).to_owned(),
            reason,
            card: CardId::new(),
            at: scope.now(),
        };
        let card = scope.run(command).await?;
        Ok(ProposeDeleteWorkPayload {
            card: Card(scope.card(card).await?),
            client_mutation_id: input.client_mutation_id,
        })
    }

    /// Answers an open card; the answer is final.
    async fn answer_card(
        &self,
        ctx: &Context<'_>,
        input: AnswerCardInput,
    ) -> Result<AnswerCardResult> {
        let scope = Scope::of(ctx)?;
        let key = input.idempotency_key.as_deref();
        let idempotency = idempotency(scope, "answerCard", key, &input)?;
        let card = scope.card(id(&input.card_id)?).await?;
        let command = card::AnswerCard {
            caller: scope.caller,
            workspace: card.workspace,
            card: card.id,
            option: input.option_id.map(|option| option.0),
            comment: input.comment,
            idempotency,
            spare: Spare::new(),
            at: scope.now(),
        };
        let answered = scope.run(command).await?;
        let card = Card(scope.card(card.id).await?);
        Ok(match answered {
            Answered::Done => AnswerCardResult::Answered(AnswerCardPayload {
                card,
                client_mutation_id: input.client_mutation_id,
            }),
            Answered::NotOpen => AnswerCardResult::NotOpen(CardNotOpen { card }),
        })
    }
}

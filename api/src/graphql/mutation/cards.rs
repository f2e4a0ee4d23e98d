//! Answering cards.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject, Union};
use domain::card::{self, Answered};
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

/// Mutations of cards.
#[derive(Debug, Default)]
pub(crate) struct CardMutation;

#[Object]
impl CardMutation {
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

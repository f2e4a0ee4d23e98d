//! Deletion: the agent asks, a person's answer does it (A6, A7).

use domain::card::{AnswerCard, Answered, Card, CardKind, CardOrigin};
use domain::ids::WorkId;
use domain::store::StoreExt as _;
use domain::turn::Spare;
use serde_json::json;

use super::house::House;
use super::on_both_databases;

/// The card that asks for a work's deletion.
async fn asked(house: &mut House, work: WorkId) -> Card {
    let arguments = json!({"work_id": work, "reason": "It is a copy."});
    let call = house.act("delete_work", arguments).await;
    let cards = house.reads().list_cards(&[house.task], Some(true)).await;
    let card = cards.expect("cards").pop().expect("a card");
    assert_eq!(call.result, Some(json!({"waiting_for": card.id})));
    assert_eq!(card.call, Some(call.id.to_string()));
    card
}

async fn answer(house: &House, card: &Card, option: &str) {
    let command = AnswerCard {
        caller: house.owner,
        workspace: house.workspace,
        card: card.id,
        option: Some(option.to_owned()),
        comment: None,
        idempotency: None,
        spare: Spare::new(),
        at: house.now(),
    };
    let answered = house.services.store.run(command).await;
    assert_eq!(answered.expect("answers"), Answered::Done);
}

async fn is_in_bin(house: &House, work: WorkId) -> bool {
    let works = house.reads().list_works_by_id(&[work]).await;
    works.expect("works")[0].deleted_at.is_some()
}

async fn a_work_goes_to_the_bin_when_a_person_says_so(mut house: House) {
    let work = house.board(&["a"]).await;
    let card = asked(&mut house, work).await;
    assert_eq!(card.kind, CardKind::ConfirmIrreversible);
    assert_eq!(
        (card.raised_by, &card.works),
        (CardOrigin::Guard, &vec![work])
    );
    assert!(card.prompt.contains("Work of a person") && card.prompt.contains("It is a copy."));
    let ids: Vec<_> = card
        .options
        .iter()
        .map(|option| option.id.as_str())
        .collect();
    assert_eq!(ids, ["confirm", "decline"]);
    assert!(!is_in_bin(&house, work).await, "asking deletes nothing");
    answer(&house, &card, "confirm").await;
    assert!(is_in_bin(&house, work).await);
}

async fn a_work_stays_when_a_person_declines(mut house: House) {
    let work = house.board(&["a"]).await;
    let card = asked(&mut house, work).await;
    answer(&house, &card, "decline").await;
    assert!(!is_in_bin(&house, work).await);
}

on_both_databases!(
    a_work_goes_to_the_bin_when_a_person_says_so,
    a_work_stays_when_a_person_declines,
);

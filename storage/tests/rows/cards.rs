//! Cards.

use domain::card::{CONFIRM, Card, CardAnswer, CardKind, CardOption, CardOrigin, CardState};
use domain::ids::{CardId, MessageId, TaskId, WorkId};
use domain::store::SharedStore;

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{Place, bootstrap, second_workspace, seconds, within};
use crate::task_seeds::stored_task;

on_both_databases!(
    a_card_comes_back_as_it_was_written_and_is_inserted_once,
    a_card_is_closed_once,
    cards_are_listed_by_task_and_by_workspace_oldest_first,
);

fn new_card(place: Place, task: Option<TaskId>, second: u64) -> Card {
    Card {
        id: CardId::new(),
        workspace: place.workspace,
        kind: CardKind::Checkpoint,
        task,
        message: None,
        call: None,
        item: None,
        prompt: "Is it red enough?".into(),
        options: vec![CardOption::plain(CONFIRM, "Yes")],
        recommended: None,
        works: Vec::new(),
        cost: None,
        job: None,
        raised_by: CardOrigin::Runtime,
        state: CardState::Open,
        answer: None,
        created_at: seconds(second),
    }
}

async fn insert(store: &SharedStore, card: &Card) {
    let inserted = within!(store, card.workspace, |tx, card| tx
        .insert_card(&card)
        .await);
    inserted.expect("inserts");
}

async fn close(store: &SharedStore, card: &Card) -> bool {
    let closed = within!(store, card.workspace, |tx, card| tx.close_card(&card).await);
    closed.expect("answers")
}

async fn read(store: &SharedStore, card: &Card) -> Card {
    let found = store.reads().list_cards_by_id(&[card.id]).await;
    found.expect("reads").remove(0)
}

async fn a_card_comes_back_as_it_was_written_and_is_inserted_once(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let card = Card {
        message: Some(MessageId::new()),
        call: Some("turn_00000000000000000000000000000001/1/0".into()),
        item: Some("a".into()),
        options: vec![CardOption {
            detail: Some("as it is".into()),
            work: Some(WorkId::new()),
            task: Some(TaskId::new()),
            ..CardOption::plain(CONFIRM, "Yes")
        }],
        recommended: Some(CONFIRM.into()),
        works: vec![WorkId::new()],
        ..new_card(place, Some(TaskId::new()), 1)
    };
    insert(store, &card).await;
    let again = Card {
        prompt: "Another question".into(),
        ..card.clone()
    };
    insert(store, &again).await;
    assert_eq!(read(store, &card).await, card);
    storage.close().await;
}

async fn a_card_is_closed_once(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let mut card = new_card(place, None, 1);
    insert(store, &card).await;
    card.state = CardState::Answered;
    card.answer = Some(CardAnswer {
        option: Some(CONFIRM.into()),
        comment: None,
        by: place.caller.user,
        at: seconds(2),
    });
    assert!(close(store, &card).await);
    let withdrawn = Card {
        state: CardState::Withdrawn,
        answer: None,
        ..card.clone()
    };
    assert!(!close(store, &withdrawn).await);
    assert_eq!(read(store, &card).await, card);
    storage.close().await;
}

async fn cards_are_listed_by_task_and_by_workspace_oldest_first(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let tasks = [
        stored_task(store, place).await.id,
        stored_task(store, place).await.id,
    ];
    let closed = Card {
        state: CardState::Withdrawn,
        ..new_card(place, Some(tasks[0]), 1)
    };
    let late = new_card(place, Some(tasks[0]), 4);
    let early = new_card(place, Some(tasks[1]), 3);
    let of_none = new_card(place, None, 2);
    let elsewhere = new_card(second_workspace(store, place).await, None, 1);
    for card in [&closed, &late, &early, &of_none, &elsewhere] {
        insert(store, card).await;
    }
    let of_tasks = async |is_open| {
        let cards = store.reads().list_cards(&tasks, is_open).await;
        cards.expect("reads")
    };
    assert_eq!(of_tasks(Some(true)).await, [early.clone(), late.clone()]);
    assert_eq!(of_tasks(Some(false)).await, std::slice::from_ref(&closed));
    let all = [closed, early.clone(), late.clone()];
    assert_eq!(of_tasks(None).await, all);
    let open = store.reads().list_open_cards(place.workspace).await;
    assert_eq!(open.expect("reads"), [of_none, early, late]);
    storage.close().await;
}

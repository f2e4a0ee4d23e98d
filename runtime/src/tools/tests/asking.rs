//! Replies and questions.

use domain::card::{Card, CardKind, CardOrigin, CardState};
use domain::message::{Message, MessageState};
use domain::page::{End, Window};
use domain::task::TaskStatus;
use domain::turn::{CallState, Effect};
use serde_json::json;

use super::{House, on_both_databases};

async fn main_thread(house: &House) -> Vec<Message> {
    let window = Window {
        limit: 50,
        end: End::First,
        after: None,
        before: None,
    };
    let (workspace, user) = (house.workspace, house.owner.user);
    let page = house
        .reads()
        .list_main_thread(workspace, user, window)
        .await;
    page.expect("messages").rows
}

async fn cards(house: &House) -> Vec<Card> {
    let cards = house.reads().list_cards(&[house.task], None).await;
    cards.expect("cards")
}

async fn a_reply_stands_in_both_threads_and_in_no_inbox(mut house: House) {
    let work = house.board(&["a"]).await;
    let arguments = json!({"text": "The board is there.", "work_ids": [work, work]});
    let result = house.done("reply", arguments).await;
    let main = main_thread(&house).await;
    assert_eq!(main.len(), 1);
    let message = &main[0];
    assert_eq!(result["message_id"], json!(message.id));
    assert_eq!(message.task, Some(house.task));
    assert_eq!(message.attachments, [work]);
    assert_eq!(message.language.as_deref(), Some("en"));
    assert!(message.author.to_string().starts_with("agent:"));
    assert_eq!(message.state, MessageState::Consumed);
    let inbox = house.reads().list_inbox(&[house.task], &[]).await;
    assert_eq!(inbox.expect("messages"), []);
    let unwoken = house.reads().list_unwoken(10).await;
    assert_eq!(unwoken.expect("tasks"), []);
}

async fn a_reply_that_is_run_again_is_the_same_message(mut house: House) {
    let (step, calls) = house.decide(&[("reply", json!({"text": "Once."}))]).await;
    let started = house.start(&step, &calls[0]).await;
    let lost = house.run(&step, &started).await.expect("runs");
    let again = house.start(&step, &started).await;
    let ran = house.run(&step, &again).await.expect("runs");
    let (Effect::Reply(first), Effect::Reply(second)) = (&lost.effects[0], &ran.effects[0]) else {
        panic!("a reply is a message");
    };
    assert_eq!(first.id, second.id);
    house.finish(&step, &again, Ok(ran)).await;
    assert_eq!(main_thread(&house).await.len(), 1);
}

async fn a_work_of_another_workspace_is_attached_to_nothing(mut house: House) {
    let other = house.other_workspace().await;
    let kind = domain::work::WorkKind::Text;
    let content = domain::document::Content {
        text: "secret".to_owned(),
        ..Default::default()
    };
    let work = house.made(house.owner, other, kind, content).await;
    let arguments = json!({"text": "Look.", "work_ids": [work]});
    let (error, _) = house.failed("reply", arguments).await;
    assert_eq!(error, format!("work {work} was not found"));
    let option = json!({"label": "This", "work_id": work});
    let arguments =
        json!({"prompt": "Which?", "kind": "choice", "options": [option, {"label": "None"}]});
    let (error, _) = house.failed("ask", arguments).await;
    assert_eq!(error, format!("work {work} was not found"));
    assert_eq!(cards(&house).await, []);
}

async fn a_checkpoint_without_options_can_be_confirmed_in_the_tasks_language(mut house: House) {
    house.begin_task("ru-RU").await;
    let arguments = json!({"prompt": "Раскадровка готова?", "kind": "checkpoint"});
    let result = house.done("ask", arguments).await;
    let card = cards(&house).await.pop().expect("a card");
    assert_eq!(result["waiting_for"], json!(card.id));
    assert_eq!(card.kind, CardKind::Checkpoint);
    let ids: Vec<_> = card
        .options
        .iter()
        .map(|option| option.id.as_str())
        .collect();
    assert_eq!(ids, ["confirm", "adjust"]);
    assert_eq!(card.options[1].label, "Исправить");
    assert_eq!(
        (card.raised_by, card.state),
        (CardOrigin::Model, CardState::Open)
    );
    assert_eq!(house.task().await.status, TaskStatus::WaitingForPerson);
}

async fn options_keep_their_ids_and_others_are_numbered(mut house: House) {
    let work = house.board(&["a"]).await;
    let arguments = json!({
        "prompt": "Which look?",
        "kind": "choice",
        "options": [{"id": "noir", "label": "Noir", "detail": "hard light"}, {"label": "Pastel", "work_id": work}],
        "recommended": "option-2",
    });
    house.done("ask", arguments).await;
    let card = cards(&house).await.pop().expect("a card");
    let ids: Vec<_> = card
        .options
        .iter()
        .map(|option| option.id.as_str())
        .collect();
    assert_eq!(ids, ["noir", "option-2"]);
    assert_eq!(card.options[0].detail.as_deref(), Some("hard light"));
    assert_eq!(card.options[1].work, Some(work));
    assert_eq!(card.works, [work]);
    assert_eq!(card.recommended.as_deref(), Some("option-2"));
}

async fn questions_that_can_not_be_answered_are_refused(mut house: House) {
    let two = json!([{"label": "One"}, {"label": "Two"}]);
    let same = json!([{"id": "a", "label": "One"}, {"id": "a", "label": "Two"}]);
    let many: Vec<_> = (0..13).map(|_| json!({"label": "One"})).collect();
    for (arguments, said) in [
        (
            json!({"prompt": "", "kind": "choice", "options": two}),
            "is empty",
        ),
        (
            json!({"prompt": "Which?", "kind": "choice"}),
            "at least two",
        ),
        (
            json!({"prompt": "Which?", "kind": "choice", "options": same}),
            "the id `a`",
        ),
        (
            json!({"prompt": "Which?", "kind": "choice", "options": many}),
            "at most 12",
        ),
        (
            json!({"prompt": "Which?", "kind": "choice", "options": [{"label": " "}, {"label": "b"}]}),
            "not blank",
        ),
        (
            json!({"prompt": "Which?", "kind": "choice", "options": two, "recommended": "three"}),
            "option-1, option-2",
        ),
    ] {
        let error = house.refused("ask", arguments).await;
        assert!(error.contains(said), "{error}");
    }
    assert_eq!(cards(&house).await, []);
}

async fn a_checkpoint_names_an_item_of_the_plan(mut house: House) {
    let arguments = json!({"prompt": "Right?", "kind": "checkpoint", "item_id": "poster"});
    let (error, _) = house.failed("ask", arguments).await;
    assert!(error.contains("it has: film"), "{error}");
    let arguments = json!({"prompt": "Right?", "kind": "checkpoint", "item_id": "film"});
    let call = house.act("ask", arguments).await;
    assert_eq!(call.state, CallState::Done, "{:?}", call.error);
    let card = cards(&house).await.pop().expect("a card");
    assert_eq!(card.item.as_deref(), Some("film"));
    assert_eq!(card.call, Some(call.id.to_string()));
}

async fn a_question_that_is_run_again_is_the_same_card(mut house: House) {
    let arguments = json!({"prompt": "What is meant?", "kind": "clarification"});
    let (step, calls) = house.decide(&[("ask", arguments)]).await;
    let started = house.start(&step, &calls[0]).await;
    let first = house.run(&step, &started).await.expect("runs").effects;
    let second = house.run(&step, &started).await.expect("runs").effects;
    let (Effect::Ask(first), Effect::Ask(second)) = (&first[0], &second[0]) else {
        panic!("a question is a card");
    };
    assert_eq!(first.id, second.id);
    assert_eq!(first.options, []);
}

on_both_databases!(
    a_reply_stands_in_both_threads_and_in_no_inbox,
    a_reply_that_is_run_again_is_the_same_message,
    a_work_of_another_workspace_is_attached_to_nothing,
    a_checkpoint_without_options_can_be_confirmed_in_the_tasks_language,
    options_keep_their_ids_and_others_are_numbered,
    questions_that_can_not_be_answered_are_refused,
    a_checkpoint_names_an_item_of_the_plan,
    a_question_that_is_run_again_is_the_same_card,
);

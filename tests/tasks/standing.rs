//! Where tasks stand: held, ended, gone on, and what then becomes of messages and cards.

use serde_json::{Value, json};

use crate::harness::people::text;
use crate::harness::tasks::{CARD, each, list};
use crate::harness::{Answer, Installation, Person, on_both_databases};

on_both_databases![
    a_task_is_held_and_goes_on,
    a_stop_ends_the_turn_and_a_resume_makes_another,
    what_is_over_can_not_be_held,
    a_message_to_a_stopped_task_waits_for_an_answer,
    a_card_is_answered_once,
    an_archived_task_says_so,
    projections_without_a_plan_are_rebuilt_to_nothing,
];

async fn a_task_is_held_and_goes_on(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    let input = json!({"taskId": task.id, "reason": "lunch", "clientMutationId": "c"});
    let selection = "{ task { status statusReason } clientMutationId }";
    for _ in 0..2 {
        let paused = owner
            .client
            .change("pauseTask", input.clone(), selection)
            .await;
        let task = json!({"status": "PAUSED", "statusReason": "lunch"});
        assert_eq!(paused, json!({"task": task, "clientMutationId": "c"}));
    }
    // What is written to a held task waits, and does not make it go on.
    task.post("later").await;
    assert_eq!(task.status().await, "PAUSED");
    server.kill();
    let server = installation.start_without_agent().await;
    let owner = owner.at(&server);
    let task = task.by(&owner);
    assert_eq!(task.status().await, "PAUSED");
    assert_eq!(task.act("resumeTask").await, "QUEUED");
    assert_eq!(task.act("resumeTask").await, "QUEUED");
    let shown = task
        .show("statusReason turns { nodes { number state } }")
        .await;
    assert_eq!(shown["statusReason"], Value::Null);
    assert_eq!(
        shown["turns"]["nodes"],
        json!([{"number": 1, "state": "QUEUED"}])
    );
}

async fn a_stop_ends_the_turn_and_a_resume_makes_another(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    for _ in 0..2 {
        assert_eq!(task.act("stopTask").await, "STOPPED");
    }
    assert_eq!(task.act("resumeTask").await, "QUEUED");
    let shown = task
        .show("turns { nodes { number state epoch endedAt } } first: turn(number: 1) { number } none: turn(number: 3) { number } zero: turn(number: 0) { number }")
        .await;
    let turns = list(&shown["turns"]["nodes"]);
    assert_eq!(
        (&turns[0]["state"], &turns[0]["epoch"]),
        (&json!("CANCELLED"), &json!(1))
    );
    assert_ne!(turns[0]["endedAt"], Value::Null);
    assert_eq!(
        (&turns[1]["state"], &turns[1]["epoch"]),
        (&json!("QUEUED"), &json!(0))
    );
    assert_eq!(
        (&shown["first"], &shown["none"], &shown["zero"]),
        (&json!({"number": 1}), &Value::Null, &Value::Null)
    );
    let changes = task.journal(Some(&["STATUS_CHANGE"])).await;
    assert_eq!(
        changes.len(),
        1,
        "going on is nothing to remember: {changes:?}"
    );
    assert_eq!(changes[0]["data"]["to"], "STOPPED");
}

async fn what_is_over_can_not_be_held(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    task.act("stopTask").await;
    assert_eq!(task.ask_to("pauseTask").await.code(), "CONFLICT");
    assert_eq!(task.status().await, "STOPPED");
    let long = json!({"taskId": task.id, "reason": "x".repeat(2_001)});
    let selection = "{ task { status } }";
    let answer = owner.client.mutate("resumeTask", long, selection).await;
    assert_eq!(answer.code(), "BAD_USER_INPUT");
    for (id, code) in [
        ("task_0198f3c2a1b47c3d8e9f001122334455", "NOT_FOUND"),
        ("task_1", "BAD_USER_INPUT"),
    ] {
        let input = json!({"taskId": id});
        let answer = owner.client.mutate("stopTask", input, selection).await;
        assert_eq!(answer.code(), code, "{id}");
    }
}

/// Answers a card with everything that may come of it.
async fn answer(person: &Person, input: Value) -> Answer {
    let selection = format!(
        "{{ __typename ... on AnswerCardPayload {{ card {{ {CARD} }} clientMutationId }} ... on CardNotOpen {{ card {{ {CARD} }} }} }}"
    );
    person.client.mutate("answerCard", input, &selection).await
}

async fn a_message_to_a_stopped_task_waits_for_an_answer(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    task.act("stopTask").await;
    let message = task.post("one more thing").await;
    assert_eq!(
        (&message["state"], &message["routing"]["outcome"]),
        (&json!("UNDELIVERABLE"), &json!("REJECTED"))
    );
    let why = text(&message["routing"]["rationale"]);
    assert!(why.contains("stopped"), "{why}");
    assert_eq!(task.status().await, "STOPPED");
    assert!(task.inbox(None).await.is_empty());
    let card = task.cards().await[0].clone();
    assert_eq!(
        (
            &card["state"],
            &card["raisedBy"],
            &card["message"]["id"],
            &card["cost"]
        ),
        (
            &json!("OPEN"),
            &json!("ROUTER"),
            &message["id"],
            &Value::Null
        )
    );
    assert_eq!(
        each(&list(&card["options"]), "id"),
        ["resume", "pick_another"]
    );
    assert_eq!(owner.open_cards().await, std::slice::from_ref(&card));
    let input = json!({"cardId": card["id"], "optionId": "resume", "comment": "please", "clientMutationId": "c"});
    let done = answer(&owner, input).await.data()["answerCard"].clone();
    assert_eq!(
        (&done["__typename"], &done["clientMutationId"]),
        (&json!("AnswerCardPayload"), &json!("c"))
    );
    let expected = json!({"option": "resume", "comment": "please", "by": {"id": owner.user}});
    assert_eq!(done["card"]["answer"], expected);
    assert_eq!(task.status().await, "QUEUED");
    let inbox = task.inbox(None).await;
    assert_eq!(each(&inbox, "id"), [text(&message["id"])]);
    assert!(owner.open_cards().await.is_empty());
    let closed = task
        .show("open: cards(open: true) { id } closed: cards(open: false) { id }")
        .await;
    assert_eq!(
        (&closed["open"], &closed["closed"]),
        (&json!([]), &json!([{"id": card["id"]}]))
    );
}

async fn a_card_is_answered_once(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    task.act("stopTask").await;
    let message = task.post("one more thing").await;
    let card = task.cards().await[0]["id"].clone();
    for wrong in [
        json!({"cardId": card}),
        json!({"cardId": card, "optionId": "confirm"}),
        json!({"cardId": card, "optionId": "resume", "comment": ""}),
        json!({"cardId": "card_1", "optionId": "resume"}),
    ] {
        assert_eq!(
            answer(&owner, wrong.clone()).await.code(),
            "BAD_USER_INPUT",
            "{wrong}"
        );
    }
    let input = json!({"cardId": card, "optionId": "pick_another", "idempotencyKey": "k"});
    for _ in 0..2 {
        let done = answer(&owner, input.clone()).await.data();
        assert_eq!(done["answerCard"]["__typename"], "AnswerCardPayload");
    }
    let late = json!({"cardId": card, "optionId": "resume"});
    let refused = answer(&owner, late).await.data()["answerCard"].clone();
    assert_eq!(refused["__typename"], "CardNotOpen");
    assert_eq!(refused["card"]["answer"]["option"], "pick_another");
    assert_eq!(task.status().await, "STOPPED");
    // The person picks from what is there, which is a new task at least.
    let left = task.inbox(Some(&["AWAITING_CHOICE"])).await;
    assert_eq!(each(&left, "id"), [text(&message["id"])]);
    let next = owner.open_cards().await[0].clone();
    assert_eq!(each(&list(&next["options"]), "id"), ["new_task"]);
}

async fn an_archived_task_says_so(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    task.act("stopTask").await;
    task.post("hello").await;
    assert_eq!(task.act("archiveTask").await, "ARCHIVED");
    // Where the message should go is still to be said: a task that ends takes no question about somebody's words with it.
    assert_eq!(each(&task.cards().await, "state"), ["OPEN"]);
    let message = task.post("hello?").await;
    let why = text(&message["routing"]["rationale"]);
    assert!(why.contains("archived"), "{why}");
    assert_eq!(task.act("resumeTask").await, "QUEUED");
}

async fn projections_without_a_plan_are_rebuilt_to_nothing(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    let before = task.show("summary { text stale } checklist { id }").await;
    assert_eq!(task.act("rebuildProjections").await, "QUEUED");
    let after = task.show("summary { text stale } checklist { id }").await;
    assert_eq!(before, after);
}

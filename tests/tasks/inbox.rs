//! What people write to tasks: where it goes, and how it is taken back.

use serde_json::{Value, json};

use crate::harness::people::text;
use crate::harness::tasks::{MESSAGE, each, list};
use crate::harness::{Installation, Person, Task, on_both_databases};

on_both_databases![
    a_message_is_delivered_and_waits_to_be_read,
    a_message_is_taken_back_by_its_author,
    a_message_is_replaced_by_another,
    a_message_that_could_not_be_delivered_takes_its_question_with_it,
    what_was_written_to_a_stopped_task_is_read_once_it_goes_on,
    the_same_key_posts_one_message,
    a_message_about_a_work_goes_to_the_task_that_works_on_it,
    of_several_tasks_the_router_finds_the_one,
    a_message_about_what_lies_in_the_bin_is_told_so,
    what_can_not_be_a_message_is_refused,
];

async fn a_message_is_delivered_and_waits_to_be_read(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    let work = owner.create_text("facts").await;
    let posted = owner
        .ask_post(json!({"taskId": task.id, "text": "Сделай ярче", "attachmentIds": [work.id], "clientMutationId": "m"}))
        .await
        .data();
    let message = posted["postMessage"]["message"].clone();
    assert_eq!(message["state"], "DELIVERED");
    assert_eq!(
        (&message["text"], &message["language"]),
        (&json!("Сделай ярче"), &json!("ru"))
    );
    assert_eq!(message["author"]["user"]["id"], owner.user.as_str());
    assert_eq!(message["task"]["id"], task.id.as_str());
    assert_eq!(message["attachments"], json!([{"id": work.id}]));
    assert_eq!(
        message["routing"],
        json!({"stage": "DETERMINISTIC", "outcome": "EXISTING_TASK", "rationale": null})
    );
    assert_eq!(
        (&message["consumedBy"], &message["replacedBy"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(task.inbox(None).await, std::slice::from_ref(&message));
    let query =
        format!("query ($id: ID!) {{ node(id: $id) {{ ... on Message {{ {MESSAGE} }} }} }}");
    let found = owner.client.run(&query, json!({"id": message["id"]})).await;
    assert_eq!(found["node"], message);
    // It stands in the task's thread, and in nobody's main thread.
    let main = "query ($id: ID!) { workspace(id: $id) { mainThread { nodes { id } } } }";
    let data = owner.client.run(main, json!({"id": owner.workspace})).await;
    assert_eq!(data["workspace"]["mainThread"]["nodes"], json!([]));
    let entry = &task.journal(Some(&["INCOMING_MESSAGE"])).await[0];
    assert_eq!(
        (&entry["text"], &entry["data"]["message"]),
        (&message["text"], &message["id"])
    );
}

/// Takes a message back, and returns what came of it.
async fn withdraw(person: &Person, message: &Value) -> crate::harness::Answer {
    let selection = format!(
        "{{ __typename ... on WithdrawMessagePayload {{ message {{ {MESSAGE} }} }} ... on MessageAlreadyConsumed {{ consumedBy {{ stepNumber }} }} }}"
    );
    let input = json!({"messageId": message["id"]});
    person
        .client
        .mutate("withdrawMessage", input, &selection)
        .await
}

async fn a_message_is_taken_back_by_its_author(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let editor = owner.invite("Ed", "EDITOR").await;
    let task = owner.create_task("goal").await;
    let (first, second) = (task.post("one").await, task.post("two").await);
    assert_eq!(withdraw(&editor, &first).await.code(), "FORBIDDEN");
    for _ in 0..2 {
        let done = withdraw(&owner, &first).await.data()["withdrawMessage"].clone();
        assert_eq!(done["__typename"], "WithdrawMessagePayload");
        assert_eq!(done["message"]["state"], "WITHDRAWN");
    }
    assert_eq!(each(&task.inbox(None).await, "id"), [text(&second["id"])]);
    let gone = task.inbox(Some(&["WITHDRAWN"])).await;
    assert_eq!(each(&gone, "text"), ["one"]);
    assert!(task.inbox(Some(&[])).await.is_empty());
    let nothing = json!({"id": "message_0198f3c2a1b47c3d8e9f001122334455"});
    assert_eq!(withdraw(&owner, &nothing).await.code(), "NOT_FOUND");
}

async fn a_message_is_replaced_by_another(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    let former = task.post("make it blue").await;
    let selection = format!(
        "{{ __typename ... on ReplaceMessagePayload {{ message {{ {MESSAGE} }} clientMutationId }} }}"
    );
    let input = json!({"messageId": former["id"], "text": "做成绿色的", "clientMutationId": "c"});
    let done = owner
        .client
        .change("replaceMessage", input.clone(), &selection)
        .await;
    assert_eq!(
        (&done["__typename"], &done["clientMutationId"]),
        (&json!("ReplaceMessagePayload"), &json!("c"))
    );
    let new = &done["message"];
    assert_eq!(
        (&new["state"], &new["text"], &new["language"]),
        (&json!("DELIVERED"), &json!("做成绿色的"), &json!("zh"))
    );
    assert_eq!(task.inbox(None).await, std::slice::from_ref(new));
    let replaced = task.inbox(Some(&["REPLACED"])).await;
    assert_eq!(replaced[0]["id"], former["id"]);
    assert_eq!(replaced[0]["replacedBy"]["id"], new["id"]);
    let again = owner
        .client
        .mutate("replaceMessage", input, &selection)
        .await;
    assert_eq!(again.code(), "CONFLICT");
}

async fn a_message_that_could_not_be_delivered_takes_its_question_with_it(
    installation: &Installation,
) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    task.act("stopTask").await;
    let (first, second) = (
        task.post("too late").await,
        task.post("too late, too").await,
    );
    assert_eq!(
        each(&[first.clone(), second.clone()], "state"),
        ["UNDELIVERABLE"; 2]
    );
    let asked = async |person: &Person| each(&person.open_cards().await, "prompt").len();
    assert_eq!(asked(&owner).await, 2);
    withdraw(&owner, &first).await.data();
    let left = owner.open_cards().await;
    assert_eq!(left[0]["message"]["id"], second["id"]);
    assert_eq!(left.len(), 1, "the other question stays");
    let cards = task.cards().await;
    assert_eq!(each(&cards, "state"), ["WITHDRAWN", "OPEN"]);
    let answer = json!({"cardId": cards[0]["id"], "optionId": "resume"});
    let answered = owner
        .client
        .change("answerCard", answer, "{ __typename }")
        .await;
    assert_eq!(answered["__typename"], "CardNotOpen");
    assert_eq!(task.status().await, "STOPPED");
    // What takes the place of a message takes that of its question as well.
    let input = json!({"messageId": second["id"], "text": "later still"});
    let selection = "{ ... on ReplaceMessagePayload { message { id state } } }";
    let replaced = owner
        .client
        .change("replaceMessage", input, selection)
        .await;
    assert_eq!(replaced["message"]["state"], "UNDELIVERABLE");
    let left = owner.open_cards().await;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0]["message"]["id"], replaced["message"]["id"]);
}

/// However it comes to go on, and whatever happened to it meanwhile: nobody's words stay behind unread.
async fn what_was_written_to_a_stopped_task_is_read_once_it_goes_on(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let states = async |task: &Task| {
        let inbox = task.inbox(Some(&["DELIVERED"])).await;
        each(&inbox, "text")
    };
    let resumed = owner.create_task("resumed").await;
    resumed.act("stopTask").await;
    resumed.post("first").await;
    resumed.act("archiveTask").await;
    assert_eq!(owner.open_cards().await.len(), 1, "the question stays open");
    resumed.post("second").await;
    resumed.act("resumeTask").await;
    assert_eq!(states(&resumed).await, ["first", "second"]);
    assert!(
        owner.open_cards().await.is_empty(),
        "nothing is left to ask"
    );
    // A stop after that takes nothing back.
    resumed.act("stopTask").await;
    resumed.act("resumeTask").await;
    assert_eq!(states(&resumed).await, ["first", "second"]);

    let answered = owner.create_task("answered").await;
    answered.act("stopTask").await;
    answered.post("third").await;
    answered.post("fourth").await;
    let card = answered.cards().await[1].clone();
    let answer = json!({"cardId": card["id"], "optionId": "resume"});
    owner
        .client
        .change("answerCard", answer, "{ __typename }")
        .await;
    assert_eq!(answered.status().await, "QUEUED");
    assert_eq!(states(&answered).await, ["third", "fourth"]);
    let cards = answered.cards().await;
    assert_eq!(each(&cards, "state"), ["WITHDRAWN", "ANSWERED"]);
}

async fn the_same_key_posts_one_message(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    let input = json!({"taskId": task.id, "text": "once", "idempotencyKey": "k"});
    let first = owner.ask_post(input.clone()).await.data();
    let second = owner.ask_post(input).await.data();
    assert_eq!(first, second);
    assert_eq!(task.inbox(None).await.len(), 1);
    let other = json!({"taskId": task.id, "text": "twice", "idempotencyKey": "k"});
    assert_eq!(owner.ask_post(other).await.code(), "IDEMPOTENCY_KEY_REUSED");
}

async fn a_message_about_a_work_goes_to_the_task_that_works_on_it(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let work = owner.create_text("facts").await;
    let about = json!({"aboutWorkId": work.id, "text": "shorter"});
    // With no task that works on it, its place is to be found.
    let posted = owner.ask_post(about.clone()).await.data();
    let message = &posted["postMessage"]["message"];
    assert_eq!(message["state"], "RECEIVED");
    assert_eq!(message["attachments"], json!([{"id": work.id}]));
    let task = owner
        .create_task_with(json!({"goal": "goal", "workIds": [work.id]}))
        .await;
    let posted = owner.ask_post(about).await.data();
    assert_eq!(
        posted["postMessage"]["message"]["task"]["id"],
        task.id.as_str()
    );
    assert_eq!(each(&task.inbox(None).await, "text"), ["shorter"]);
}

async fn of_several_tasks_the_router_finds_the_one(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let editor = owner.invite("Ed", "EDITOR").await;
    let work = owner.create_text("facts").await;
    for goal in ["first", "second"] {
        let input = json!({"goal": goal, "workIds": [work.id]});
        owner.create_task_with(input).await;
    }
    let posted = owner
        .ask_post(json!({"aboutWorkId": work.id, "text": "shorter"}))
        .await;
    let message = posted.data()["postMessage"]["message"].clone();
    assert_eq!(
        (&message["state"], &message["task"], &message["routing"]),
        (&json!("RECEIVED"), &Value::Null, &Value::Null)
    );
    let main = "query ($id: ID!) { workspace(id: $id) { mainThread(last: 5) { nodes { id } } } }";
    let thread = async |person: &Person| {
        let data = person
            .client
            .run(main, json!({"id": owner.workspace}))
            .await;
        data["workspace"]["mainThread"]["nodes"].clone()
    };
    assert_eq!(thread(&owner).await, json!([{"id": message["id"]}]));
    // What stands in somebody's main thread is theirs.
    assert_eq!(thread(&editor).await, json!([]));
    let node = "query ($id: ID!) { node(id: $id) { id } }";
    let seen = editor.client.run(node, json!({"id": message["id"]})).await;
    assert_eq!(seen["node"], Value::Null);
    let events = "query ($id: ID!) { workspace(id: $id) { events(first: 100) { nodes { kind subject { __typename } } } } }";
    let subject = async |person: &Person| {
        let data = person
            .client
            .run(events, json!({"id": owner.workspace}))
            .await;
        let log = list(&data["workspace"]["events"]["nodes"]);
        let mut posted = log
            .into_iter()
            .filter(|event| event["kind"] == "MESSAGE_POSTED");
        posted.next().expect("an event")["subject"].clone()
    };
    assert_eq!(subject(&owner).await["__typename"], "Message");
    assert_eq!(subject(&editor).await, Value::Null);
}

async fn a_message_about_what_lies_in_the_bin_is_told_so(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let work = owner.create_text("banner").await;
    let input = json!({"goal": "banners", "workIds": [work.id]});
    let task = owner.create_task_with(input).await;
    let gone = json!({"workId": work.id});
    owner
        .client
        .change("deleteWork", gone, "{ __typename }")
        .await;
    let posted = owner
        .ask_post(json!({"aboutWorkId": work.id, "text": "верни старую цену"}))
        .await;
    let message = posted.data()["postMessage"]["message"].clone();
    assert_eq!(
        (&message["state"], &message["routing"]["outcome"]),
        (&json!("UNDELIVERABLE"), &json!("REJECTED"))
    );
    let why = text(&message["routing"]["rationale"]);
    assert!(why.contains("в корзине"), "{why}");
    let card = owner.open_cards().await[0].clone();
    assert_eq!(
        each(&list(&card["options"]), "id"),
        [task.id.as_str(), "new_task", "pick_another"]
    );
    let answer = json!({"cardId": card["id"], "optionId": task.id});
    owner
        .client
        .change("answerCard", answer, "{ __typename }")
        .await;
    assert_eq!(each(&task.inbox(None).await, "id"), [text(&message["id"])]);
}

async fn what_can_not_be_a_message_is_refused(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let task = owner.create_task("goal").await;
    let work = owner.create_text("facts").await;
    let absent_task = "task_0198f3c2a1b47c3d8e9f001122334455";
    let absent_card = "card_0198f3c2a1b47c3d8e9f001122334455";
    let works: Vec<_> = (0..21).map(|_| work.id.clone()).collect();
    for (wrong, code) in [
        (
            json!({"text": "x", "taskId": task.id, "aboutWorkId": work.id}),
            "BAD_USER_INPUT",
        ),
        (json!({"text": " ", "taskId": task.id}), "BAD_USER_INPUT"),
        (
            json!({"text": "\u{200b}", "taskId": task.id}),
            "BAD_USER_INPUT",
        ),
        (
            json!({"text": "a\u{0}b", "taskId": task.id}),
            "BAD_USER_INPUT",
        ),
        (
            json!({"text": "x".repeat(20_001), "taskId": task.id}),
            "BAD_USER_INPUT",
        ),
        (json!({"text": "x", "taskId": "task_1"}), "BAD_USER_INPUT"),
        (json!({"text": "x", "taskId": work.id}), "BAD_USER_INPUT"),
        (
            json!({"text": "x", "taskId": task.id, "attachmentIds": works}),
            "BAD_USER_INPUT",
        ),
        (json!({"text": "x", "taskId": absent_task}), "NOT_FOUND"),
        (
            json!({"text": "x", "replyToCardId": absent_card}),
            "NOT_FOUND",
        ),
    ] {
        assert_eq!(owner.ask_post(wrong.clone()).await.code(), code, "{wrong}");
    }
    assert!(task.inbox(None).await.is_empty());
}

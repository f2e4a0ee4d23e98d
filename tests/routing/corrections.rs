//! What went to the wrong place is moved, and both journals say so.

use serde_json::{Value, json};

use crate::harness::people::text;
use crate::harness::tasks::each;
use crate::harness::{Answer, Installation, Person, Task, on_both_databases};

on_both_databases![
    a_misrouted_message_is_moved_to_another_task,
    a_message_becomes_a_task_of_its_own,
    what_waits_in_the_main_thread_can_be_moved_by_its_person_alone,
    what_can_not_be_moved_is_refused,
    a_superfluous_task_is_merged_into_another,
    a_question_about_a_message_goes_with_the_merged_task,
    what_can_not_be_merged_is_refused,
    a_light_task_is_promoted,
];

impl Person {
    async fn reroute(&self, input: Value) -> Answer {
        let selection = "{ message { id state task { id goal } routing { stage outcome correctedFrom { id } } } }";
        self.client.mutate("rerouteMessage", input, selection).await
    }

    async fn merge(&self, from: &Task, into: &Task) -> Answer {
        let input = json!({"fromTaskId": from.id, "intoTaskId": into.id});
        let selection = "{ task { id status } }";
        self.client.mutate("mergeTasks", input, selection).await
    }
}

/// The entries of a journal whose data hold this member.
async fn noted(task: &Task, member: &str) -> Vec<Value> {
    let entries = task.journal(None).await.into_iter();
    entries
        .filter(|entry| !entry["data"][member].is_null())
        .collect()
}

async fn a_misrouted_message_is_moved_to_another_task(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let wrong = owner.create_task("Posters about seals").await;
    let right = owner.create_task("Posters about whales").await;
    let message = wrong.post("make the whales bluer").await;
    let moved = owner
        .reroute(json!({"messageId": message["id"], "taskId": right.id}))
        .await
        .data()["rerouteMessage"]["message"]
        .clone();
    assert_eq!(
        (&moved["state"], &moved["task"]["id"]),
        (&json!("DELIVERED"), &json!(right.id))
    );
    assert_eq!(
        moved["routing"],
        json!({"stage": "CORRECTION", "outcome": "EXISTING_TASK", "correctedFrom": {"id": wrong.id}})
    );
    assert!(wrong.inbox(None).await.is_empty());
    assert_eq!(each(&right.inbox(None).await, "id"), [text(&message["id"])]);
    let left = noted(&wrong, "movedTo").await;
    assert_eq!(left[0]["data"]["movedTo"], right.id.as_str());
    assert_eq!(left[0]["data"]["moved"], message["id"]);
    assert_eq!(left[0]["data"]["text"], "make the whales bluer");
    let came = noted(&right, "correctedFrom").await;
    assert_eq!(came[0]["data"]["correctedFrom"], wrong.id.as_str());
    assert_eq!(came[0]["kind"], "INCOMING_MESSAGE");
    // What the wrong task's journal held, it holds.
    let received = wrong.journal(Some(&["INCOMING_MESSAGE"])).await;
    assert_eq!(received[0]["data"]["message"], message["id"]);
}

async fn a_message_becomes_a_task_of_its_own(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let wrong = owner.create_task("Posters").await;
    let message = wrong.post("и ещё фильм про маяк").await;
    let input = json!({"messageId": message["id"], "newTaskGoal": "A film about a lighthouse"});
    let moved = owner.reroute(input).await.data()["rerouteMessage"]["message"].clone();
    assert_eq!(moved["task"]["goal"], "A film about a lighthouse");
    assert_eq!(moved["routing"]["outcome"], "NEW_TASK");
    let made = text(&moved["task"]["id"]);
    let query = "query ($id: ID!) { node(id: $id) { ... on Task { language origin { id } } } }";
    let shown = owner.client.run(query, json!({"id": made})).await["node"].clone();
    // The language is that of the person's words, not of the goal.
    assert_eq!(shown["language"], "ru");
    assert_eq!(shown["origin"]["id"], message["id"]);
    assert_eq!(
        noted(&wrong, "movedTo").await[0]["data"]["movedTo"],
        made.as_str()
    );
}

async fn what_waits_in_the_main_thread_can_be_moved_by_its_person_alone(
    installation: &Installation,
) {
    let (_server, owner) = installation.open_without_agent().await;
    let editor = owner.invite("Ed", "EDITOR").await;
    let task = owner.create_task("Posters").await;
    let id = owner.say("brighter").await;
    let input = json!({"messageId": id, "taskId": task.id});
    assert_eq!(editor.reroute(input.clone()).await.code(), "NOT_FOUND");
    let moved = owner.reroute(input).await.data()["rerouteMessage"]["message"].clone();
    assert_eq!(moved["state"], "DELIVERED");
    assert_eq!(moved["routing"]["correctedFrom"], Value::Null);
    // One that waits is taken back and replaced as any other.
    let id = owner.say("darker").await;
    let input = json!({"messageId": id, "text": "much darker"});
    let selection = "{ ... on ReplaceMessagePayload { message { id state text } } }";
    let replaced = owner
        .client
        .change("replaceMessage", input, selection)
        .await;
    assert_eq!(replaced["message"]["state"], "RECEIVED");
    let input = json!({"messageId": replaced["message"]["id"]});
    let selection = "{ ... on WithdrawMessagePayload { message { state } } }";
    let gone = owner
        .client
        .change("withdrawMessage", input, selection)
        .await;
    assert_eq!(gone["message"]["state"], "WITHDRAWN");
}

async fn what_can_not_be_moved_is_refused(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let viewer = owner.invite("Vi", "VIEWER").await;
    let (one, other) = (
        owner.create_task("one").await,
        owner.create_task("other").await,
    );
    let elsewhere = Person::with_workspace(owner.client.clone(), "Elsewhere").await;
    let far = elsewhere.create_task("far").await;
    let message = one.post("words").await["id"].clone();
    for (input, code) in [
        (json!({"messageId": message}), "BAD_USER_INPUT"),
        (
            json!({"messageId": message, "taskId": other.id, "newTaskGoal": "x"}),
            "BAD_USER_INPUT",
        ),
        (
            json!({"messageId": message, "newTaskGoal": " "}),
            "BAD_USER_INPUT",
        ),
        (json!({"messageId": message, "taskId": one.id}), "CONFLICT"),
        (json!({"messageId": message, "taskId": far.id}), "NOT_FOUND"),
    ] {
        assert_eq!(owner.reroute(input.clone()).await.code(), code, "{input}");
    }
    let input = json!({"messageId": message, "taskId": other.id});
    assert_eq!(viewer.reroute(input).await.code(), "FORBIDDEN");
    // A place that takes no messages says so, and offers what can be done.
    other.act("archiveTask").await;
    let input = json!({"messageId": message, "taskId": other.id});
    let moved = owner.reroute(input).await.data()["rerouteMessage"]["message"].clone();
    assert_eq!(
        (&moved["state"], &moved["routing"]["outcome"]),
        (&json!("UNDELIVERABLE"), &json!("REJECTED"))
    );
    assert_eq!(owner.open_cards().await.len(), 1);
}

async fn a_superfluous_task_is_merged_into_another(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let work = owner.create_text("facts").await;
    let input = json!({"goal": "Posters about whales, again", "workIds": [work.id]});
    let from = owner.create_task_with(input).await;
    let into = owner.create_task("Posters about whales").await;
    let message = from.post("in blue").await;
    let merged = owner.merge(&from, &into).await.data()["mergeTasks"]["task"].clone();
    assert_eq!(merged["id"], into.id.as_str());
    let ended = from
        .show("status statusReason inbox { id } works { work { id } }")
        .await;
    assert_eq!(ended["status"], "ARCHIVED");
    assert!(text(&ended["statusReason"]).contains(&into.id), "{ended}");
    assert_eq!((&ended["inbox"], &ended["works"]), (&json!([]), &json!([])));
    let whole = into
        .show("status inbox { id text } works { work { id } }")
        .await;
    assert_eq!(
        whole["inbox"],
        json!([{"id": message["id"], "text": "in blue"}])
    );
    assert_eq!(whole["works"], json!([{"work": {"id": work.id}}]));
    // Both journals stay, and point to each other.
    let left = noted(&from, "mergedInto").await;
    assert_eq!(left[0]["data"]["mergedInto"], into.id.as_str());
    assert_eq!(left[0]["data"]["moved"]["messages"], json!([message["id"]]));
    assert_eq!(
        from.journal(Some(&["INCOMING_MESSAGE"])).await[0]["text"],
        "in blue"
    );
    let came = noted(&into, "mergedFrom").await;
    assert_eq!(each(&came, "kind"), ["SYSTEM_EVENT", "INCOMING_MESSAGE"]);
    assert_eq!(came[0]["data"]["goal"], "Posters about whales, again");
    assert_eq!(came[0]["data"]["mergedFrom"], from.id.as_str());
}

async fn a_question_about_a_message_goes_with_the_merged_task(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let from = owner.create_task("one").await;
    let into = owner.create_task("other").await;
    from.act("stopTask").await;
    let message = from.post("too late").await;
    owner.merge(&from, &into).await.data();
    assert!(from.cards().await.is_empty());
    let card = into.cards().await[0].clone();
    assert_eq!(card["state"], "OPEN");
    owner.answer(&card, "resume").await;
    assert_eq!(each(&into.inbox(None).await, "id"), [text(&message["id"])]);
}

async fn what_can_not_be_merged_is_refused(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let viewer = owner.invite("Vi", "VIEWER").await;
    let (one, other) = (
        owner.create_task("one").await,
        owner.create_task("other").await,
    );
    let elsewhere = Person::with_workspace(owner.client.clone(), "Elsewhere").await;
    let far = elsewhere.create_task("far").await;
    assert_eq!(owner.merge(&one, &one).await.code(), "BAD_USER_INPUT");
    assert_eq!(owner.merge(&one, &far).await.code(), "NOT_FOUND");
    assert_eq!(owner.merge(&far, &one).await.code(), "NOT_FOUND");
    assert_eq!(viewer.merge(&one, &other).await.code(), "FORBIDDEN");
    other.act("archiveTask").await;
    assert_eq!(owner.merge(&one, &other).await.code(), "CONFLICT");
    assert_eq!(owner.merge(&other, &one).await.code(), "CONFLICT");
}

async fn a_light_task_is_promoted(installation: &Installation) {
    let (_server, owner) = installation.open_without_agent().await;
    let input = json!({"goal": "a goose", "kind": "LIGHTWEIGHT"});
    let light = owner.create_task_with(input).await;
    light.act("promoteTask").await;
    assert_eq!(light.show("kind").await["kind"], "PERSISTENT");
    assert_eq!(noted(&light, "promoted").await.len(), 1);
}

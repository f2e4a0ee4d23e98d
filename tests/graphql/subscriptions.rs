//! Subscriptions: stored events first, then live ones, none lost and none twice, whatever happens to the server.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use crate::harness::people::text;
use crate::harness::sse::EventStream;
use crate::harness::subscription::{Heard, Subscription};
use crate::harness::{Installation, Person, on_both_databases, on_postgres};

on_both_databases![
    events_resume_over_a_kill_without_loss_or_double,
    changes_of_a_work_come_without_a_gap,
    the_log_of_events_is_what_subscriptions_read,
    server_sent_events_resume_after_the_last_id,
    without_a_cursor_only_what_comes_is_heard,
];
on_postgres![events_of_one_process_are_heard_at_another];

const EVENTS: &str = "subscription ($id: ID!, $after: Cursor) { workspaceEvents(workspaceId: $id, after: $after) {
  cursor kind at data actor { label user { id } } subject { __typename ... on TextDocument { id } } } }";

/// Makes a text, so that there is an event that tells of it.
async fn make(owner: &Person, number: usize) -> String {
    owner
        .create(json!({"kind": "TEXT", "title": format!("work {number}")}))
        .await
        .id
}

async fn next_created(subscription: &mut Subscription) -> (String, String) {
    let event = subscription.event().await["workspaceEvents"].clone();
    assert_eq!(event["kind"], "WORK_CREATED", "{event}");
    (text(&event["subject"]["id"]), text(&event["cursor"]))
}

async fn events_resume_over_a_kill_without_loss_or_double(installation: &Installation) {
    let (mut server, mut owner) = installation.open().await;
    let mut cursor = owner.event_cursor().await;
    let mut number = 0;
    for _ in 0..4 {
        let variables = json!({"id": owner.workspace, "after": cursor});
        let mut subscription = Subscription::open(&owner.client, EVENTS, variables).await;
        let mut expected = Vec::new();
        for _ in 0..3 {
            expected.push(make(&owner, number).await);
            number += 1;
        }
        // Only some of them are heard before the end.
        for id in &expected[..2] {
            let (created, at) = next_created(&mut subscription).await;
            assert_eq!(created, *id);
            cursor = at;
        }
        expected.push(make(&owner, number).await);
        number += 1;
        server.kill();
        server = installation.start().await;
        owner = owner.at(&server);
        let variables = json!({"id": owner.workspace, "after": cursor});
        let mut subscription = Subscription::open(&owner.client, EVENTS, variables).await;
        expected.push(make(&owner, number).await);
        number += 1;
        for id in &expected[2..] {
            let (created, at) = next_created(&mut subscription).await;
            assert_eq!(created, *id);
            cursor = at;
        }
    }
    assert_eq!(owner.event_cursor().await, cursor);
}

async fn changes_of_a_work_come_without_a_gap(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let work = owner.create_text("0").await;
    for version in 1..5 {
        work.replace_text(version, &version.to_string()).await;
    }
    let document = "subscription ($id: ID!, $after: Int) { workChanges(workId: $id, afterVersion: $after) { version nodeIds summary update by { user { id } } } }";
    let mut subscription =
        Subscription::open(&owner.client, document, json!({"id": work.id, "after": 2})).await;
    let versions = async |subscription: &mut Subscription, expected: &[i64]| {
        for version in expected {
            let change = subscription.event().await["workChanges"].clone();
            assert_eq!(change["version"], *version, "{change}");
            assert_eq!(change["by"]["user"]["id"], owner.user.as_str());
            assert!(
                change["update"]
                    .as_str()
                    .is_some_and(|update| !update.is_empty())
            );
        }
    };
    versions(&mut subscription, &[3, 4, 5]).await;
    work.replace_text(5, "five").await;
    versions(&mut subscription, &[6]).await;
    server.kill();
    assert!(matches!(subscription.next().await, Heard::Closed(_)));
    let server = installation.start().await;
    let owner_now = owner.at(&server);
    let variables = json!({"id": work.id, "after": 4});
    let mut subscription = Subscription::open(&owner_now.client, document, variables).await;
    work.by(&owner_now.client).replace_text(6, "six").await;
    versions(&mut subscription, &[5, 6, 7]).await;
    let wrong = json!({"id": work.id, "after": 99});
    let mut refused = Subscription::open(&owner_now.client, document, wrong).await;
    let Heard::Errors(errors) = refused.next().await else {
        panic!("a version that is not there yet is refused");
    };
    assert_eq!(errors[0]["extensions"]["code"], "BAD_USER_INPUT");
}

/// One event of each kind, and two changes.
async fn make_events(owner: &Person) {
    let work = owner.create_text("a").await;
    work.replace_text(1, "b").await;
    owner
        .client
        .change(
            "renameWork",
            json!({"workId": work.id, "title": "New"}),
            "{ work { id } }",
        )
        .await;
    owner
        .client
        .change("deleteWork", json!({"workId": work.id}), "{ work { id } }")
        .await;
    owner
        .client
        .change("restoreWork", json!({"workId": work.id}), "{ work { id } }")
        .await;
    owner.invite("Ana", "VIEWER").await;
}

async fn the_log_of_events_is_what_subscriptions_read(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let start = owner.event_cursor().await;
    make_events(&owner).await;
    let query = "query ($id: ID!, $after: Cursor) { workspace(id: $id) { eventCursor events(first: 100, after: $after) {
      nodes { cursor kind data } pageInfo { hasNextPage endCursor } } } }";
    let data = owner
        .client
        .run(query, json!({"id": owner.workspace, "after": start}))
        .await;
    let events = data["workspace"]["events"]["nodes"]
        .as_array()
        .expect("events")
        .clone();
    let kinds: Vec<&str> = events
        .iter()
        .filter_map(|event| event["kind"].as_str())
        .collect();
    assert_eq!(
        kinds.iter().filter(|kind| **kind == "WORK_CHANGED").count(),
        2,
        "one for each stored change: {kinds:?}"
    );
    for kind in [
        "WORK_CREATED",
        "WORK_DELETED",
        "WORK_RESTORED",
        "MEMBERS_CHANGED",
    ] {
        assert_eq!(
            kinds.iter().filter(|one| **one == kind).count(),
            1,
            "{kind} in {kinds:?}"
        );
    }
    let changed = events
        .iter()
        .rfind(|event| event["kind"] == "WORK_CHANGED")
        .expect("a change");
    assert_eq!(changed["data"]["version"], 2);
    assert!(
        changed["data"]["summary"].is_string() && changed["data"]["nodeIds"].is_array(),
        "{changed}"
    );
    assert_eq!(
        data["workspace"]["eventCursor"],
        events.last().expect("an event")["cursor"]
    );
    let variables = json!({"id": owner.workspace, "after": start});
    let mut subscription = Subscription::open(&owner.client, EVENTS, variables).await;
    for event in &events {
        let heard = subscription.event().await["workspaceEvents"].clone();
        assert_eq!(
            (&heard["cursor"], &heard["kind"]),
            (&event["cursor"], &event["kind"])
        );
    }
}

async fn server_sent_events_resume_after_the_last_id(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let start = owner.event_cursor().await;
    let variables = json!({"id": owner.workspace, "after": start});
    let mut stream = EventStream::open(&owner.client, EVENTS, variables.clone(), None).await;
    let first = make(&owner, 1).await;
    let event = stream.next().await;
    assert!(
        event.event == "next" && event.data.contains(&first),
        "{event:?}"
    );
    let id = event.id.expect("an id to resume from");
    let second = make(&owner, 2).await;
    server.kill();
    let server = installation.start().await;
    let owner = owner.at(&server);
    let mut stream = EventStream::open(&owner.client, EVENTS, variables, Some(&id)).await;
    let event = stream.next().await;
    assert!(event.data.contains(&second), "{event:?}");
}

async fn without_a_cursor_only_what_comes_is_heard(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    make(&owner, 0).await;
    let variables = json!({"id": owner.workspace});
    let mut subscription = Subscription::open(&owner.client, EVENTS, variables).await;
    // From when on it hears is known only when it has heard something.
    let mut made = Vec::new();
    let first = loop {
        made.push(make(&owner, made.len()).await);
        let heard = timeout(Duration::from_millis(300), next_created(&mut subscription)).await;
        if let Ok((first, _)) = heard {
            break first;
        }
    };
    let place = made.iter().position(|id| *id == first);
    let place = place.expect("nothing from before the subscription");
    made.push(make(&owner, made.len()).await);
    for id in &made[place + 1..] {
        assert_eq!(next_created(&mut subscription).await.0, *id);
    }
}

async fn events_of_one_process_are_heard_at_another(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let second = installation.start().await;
    let there = owner.at(&second);
    let variables = json!({"id": owner.workspace, "after": owner.event_cursor().await});
    let mut here = Subscription::open(&owner.client, EVENTS, variables.clone()).await;
    let mut elsewhere = Subscription::open(&there.client, EVENTS, variables).await;
    let mut expected = Vec::new();
    for number in 0..10 {
        expected.push(make(if number % 2 == 0 { &owner } else { &there }, number).await);
    }
    for id in &expected {
        let (one, other) = (
            next_created(&mut here).await,
            next_created(&mut elsewhere).await,
        );
        assert_eq!(one, other);
        assert_eq!(one.0, *id);
    }
}

//! Subscriptions: nothing lost, nothing doubled, nothing after the end of a right.

use domain::people::{RemoveMember, Role};
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::*;

const EVENTS: &str = "subscription($w: ID!, $a: Cursor) { workspaceEvents(workspaceId: $w, after: $a) { cursor kind data subject { ... on Work { id } } } }";

/// The field of the next answer, within the time that a test waits.
async fn next(stream: &mut BoxStream<'static, Response>, field: &str) -> Value {
    let answer = timeout(PATIENCE, stream.next()).await;
    let answer = answer.expect("comes in time").expect("goes on");
    assert!(answer.errors.is_empty(), "{:?}", answer.errors);
    answer.data.into_json().expect("JSON")[field].clone()
}

async fn all_events(house: &House) -> Vec<Value> {
    let query = "query($w: ID!) { workspace(id: $w) { eventCursor events(first: 100) { nodes { cursor kind data subject { ... on Work { id } } } pageInfo { endCursor } } } }";
    let log = house
        .done_with(house.owner, query, json!({"w": house.workspace.id}))
        .await;
    let workspace = &log["workspace"];
    assert_eq!(
        workspace["eventCursor"],
        workspace["events"]["pageInfo"]["endCursor"]
    );
    workspace["events"]["nodes"]
        .as_array()
        .expect("a list")
        .clone()
}

#[tokio::test]
async fn readers_that_come_back_see_each_event_once_and_in_order() {
    let house = House::open().await;
    let work = house.storyboard(&["a"]).await;
    let start = all_events(&house).await;
    let mut after = start[0]["cursor"].clone();
    let mut seen = Vec::new();
    for round in 0..4 {
        let variables = json!({"w": house.workspace.id, "a": after});
        let mut stream = house.follow(house.owner, EVENTS, variables);
        // The first rounds read what is stored, the later ones what happens while they wait.
        for step in 0..3 {
            let edit = async {
                if !(round == 0 && step < 2) {
                    house.retitle(&work, "a", &format!("{round} {step}")).await;
                }
            };
            let (event, ()) = tokio::join!(next(&mut stream, "workspaceEvents"), edit);
            after = event["cursor"].clone();
            seen.push(event);
        }
    }
    let log = all_events(&house).await;
    assert_eq!(seen, log[1..=seen.len()]);
    assert_eq!(seen.len(), 12);
}

#[tokio::test]
async fn without_a_cursor_a_reader_starts_from_now() {
    let house = House::open().await;
    let work = house.storyboard(&["a"]).await;
    let mut stream = house.follow(house.owner, EVENTS, json!({"w": house.workspace.id}));
    let mut event = Box::pin(next(&mut stream, "workspaceEvents"));
    let mut edits = 0;
    let event = loop {
        // Nobody can see when the reader has begun, so edits go on until it tells of one.
        edits += 1;
        house.retitle(&work, "a", &format!("{edits}")).await;
        if let Some(event) = event.as_mut().now_or_never() {
            break event;
        }
    };
    assert_eq!(event["kind"], json!("WORK_CHANGED"));
    assert_eq!(event["data"]["nodeIds"], json!(["a"]));
    assert_eq!(event["subject"]["id"], json!(work));
}

#[tokio::test]
async fn a_removed_member_gets_an_error_and_nothing_after_it() {
    let house = House::open().await;
    let work = house.storyboard(&["a"]).await;
    let guest = house.person("guest", Some(Role::Viewer)).await;
    let first = all_events(&house).await[0]["cursor"].clone();
    let variables = json!({"w": house.workspace.id, "i": work, "a": first, "v": 0});
    let mut streams = [
        house.follow(guest, EVENTS, variables.clone()),
        house.follow(guest, "subscription($i: ID!, $v: Int) { workChanges(workId: $i, afterVersion: $v) { version } }", variables.clone()),
        house.follow(guest, "subscription($i: ID!) { presence(workId: $i) { label } }", variables),
    ];
    for stream in &mut streams {
        let answer = timeout(PATIENCE, stream.next()).await.expect("in time");
        assert!(answer.expect("goes on").errors.is_empty());
    }
    let command = RemoveMember {
        caller: house.owner,
        workspace: house.workspace.id,
        user: guest.user,
        at: SystemClock.now(),
    };
    house
        .store
        .run(command)
        .await
        .expect("the guest is removed");
    for stream in &mut streams {
        let answer = timeout(PATIENCE, stream.next()).await.expect("in time");
        let error = answer.expect("an error").errors.remove(0);
        assert_eq!(code(error), "NOT_FOUND");
        assert!(
            timeout(PATIENCE, stream.next())
                .await
                .expect("in time")
                .is_none()
        );
    }
}

#[tokio::test]
async fn the_changes_of_a_work_come_without_a_gap_and_make_the_document() {
    let house = House::open().await;
    let work = house.storyboard(&["a"]).await;
    house.retitle(&work, "a", "Arrival").await;
    let query = "subscription($i: ID!, $v: Int) { workChanges(workId: $i, afterVersion: $v) { version summary nodeIds update by { label } } }";
    let mut stream = house.follow(house.owner, query, json!({"i": work, "v": 0}));
    let edit = async { house.retitle(&work, "a", "Departure").await };
    let read = async {
        let mut versions = Vec::new();
        for _ in 0..3 {
            let change = next(&mut stream, "workChanges").await;
            assert_eq!(change["by"]["label"], json!("Owner"));
            assert_ne!(change["update"], json!(""));
            versions.push(change["version"].clone());
        }
        versions
    };
    let (versions, _) = tokio::join!(read, edit);
    assert_eq!(versions, [json!(1), json!(2), json!(3)]);
    let mut ahead = house.follow(house.owner, query, json!({"i": work, "v": 9}));
    let error = ahead.next().await.expect("an answer").errors.remove(0);
    assert_eq!(code(error), "BAD_USER_INPUT");
}

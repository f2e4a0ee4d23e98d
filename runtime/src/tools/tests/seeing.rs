//! The agent is seen where it edits, as people are (W4).

use std::time::Duration;

use domain::actor::Actor;
use domain::document::Presence;
use serde_json::json;

use super::house::House;
use super::on_both_databases;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

fn agent(presence: &[Presence]) -> Option<&Presence> {
    presence
        .iter()
        .find(|shown| matches!(shown.actor, Actor::Agent { .. }))
}

async fn people_see_where_the_agent_edits(mut house: House) {
    let work = house.board(&["a", "b"]).await;
    let documents = house.services.documents.clone();
    let mut followed = documents.follow_presence(work).await.expect("follows");
    house.done("read_work", json!({"work_id": work})).await;
    assert!(
        agent(&followed.borrow()).is_none(),
        "reading is not being there"
    );
    for node in ["b", "a"] {
        let operations = json!([{"set": {"nodeId": node, "fields": {"duration": 3}}}]);
        let arguments = json!({"work_id": work, "base_version": 1, "operations": operations});
        house.done("edit_nodes", arguments).await;
        let is_there = |shown: &Vec<Presence>| {
            agent(shown).is_some_and(|shown| {
                shown.label == "Agent" && shown.node_id.as_deref() == Some(node)
            })
        };
        let seen = tokio::time::timeout(PATIENCE, followed.wait_for(is_there)).await;
        drop(
            seen.expect("is seen in time")
                .expect("the document is open"),
        );
    }
    // Whoever asks now sees it as well, and once.
    let presence = documents.presence(work).await.expect("presence");
    assert_eq!(presence.len(), 1);
    let Actor::Agent { task, .. } = presence[0].actor else {
        panic!("{presence:?}");
    };
    assert_eq!(task, house.task);
}

async fn nobody_is_shown_at_what_the_task_may_not_see(mut house: House) {
    let other = house.other_workspace().await;
    let content = domain::document::Content {
        text: "secret".to_owned(),
        ..Default::default()
    };
    let kind = domain::work::WorkKind::Text;
    let work = house.made(house.owner, other, kind, content).await;
    let documents = house.services.documents.clone();
    let followed = documents.follow_presence(work).await.expect("follows");
    let arguments = json!({"work_id": work, "base_version": 1, "text": "mine"});
    house.failed("replace_text", arguments).await;
    assert!(followed.borrow().is_empty());
}

on_both_databases!(
    people_see_where_the_agent_edits,
    nobody_is_shown_at_what_the_task_may_not_see,
);

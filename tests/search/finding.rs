//! What is found, by whom, how soon, and how it is shown.

use serde_json::json;

use super::{ask, find, ids};
use crate::harness::{Installation, on_both_databases, on_postgres};

on_both_databases![
    what_somebody_writes_they_find_at_once,
    a_snippet_shows_where_the_words_stand,
    pages_follow_each_other_without_doubles,
    a_stranger_finds_nothing_and_is_told_nothing,
    a_work_in_the_bin_is_found_again_when_it_comes_back,
];
on_postgres![what_is_written_at_one_server_is_found_at_the_other];

async fn what_somebody_writes_they_find_at_once(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    for number in 0..10 {
        let animal = format!("walrus{number}");
        let task = owner.create_task(&format!("A poster with {animal}")).await;
        assert_eq!(ids(&owner, &animal).await, std::slice::from_ref(&task.id));
        let said = task.post(&format!("make it like otter{number}")).await;
        assert_eq!(
            ids(&owner, &format!("otter{number}")).await,
            [said["id"].as_str().expect("an id")]
        );
        let work = owner.create_text(&format!("gannet{number}")).await;
        assert_eq!(ids(&owner, &format!("gannet{number}")).await, [work.id]);
    }
    server.stop().await;
}

async fn a_snippet_shows_where_the_words_stand(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let filling = "и так далее ".repeat(60);
    owner
        .create_text(&format!("{filling} шесть плакатов для маяка {filling}"))
        .await;
    let found = find(&owner, "плакат маяк").await;
    let snippet = found[0]["snippet"].as_str().expect("a text");
    assert!(snippet.contains("плакатов для маяка"), "{snippet}");
    assert!(snippet.chars().count() <= 200, "{snippet}");
    let score = found[0]["score"].as_f64().expect("a number");
    assert!(score > 0.0 && score <= 1.0, "{score}");
    server.stop().await;
}

async fn pages_follow_each_other_without_doubles(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let mut expected = Vec::new();
    for number in 0..7 {
        expected.push(owner.create_task(&format!("Lighthouse {number}")).await.id);
    }
    owner.create_text("lighthouse").await;
    let (mut seen, mut after) = (Vec::new(), json!(null));
    loop {
        let arguments = json!({"q": "lighthouse", "k": ["TASK"], "f": 3, "a": after});
        let page = ask(&owner, arguments).await.data()["search"].clone();
        for edge in page["edges"].as_array().expect("a list") {
            seen.push(edge["node"]["id"].as_str().expect("an id").to_owned());
        }
        after = page["pageInfo"]["endCursor"].clone();
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    assert_eq!(seen.len(), 7);
    seen.sort_unstable();
    expected.sort_unstable();
    assert_eq!(seen, expected);
    let foreign = ask(&owner, json!({"q": "other words", "a": after})).await;
    assert_eq!(foreign.code(), "CURSOR_INVALID");
    let nothing = ask(&owner, json!({"q": "lighthouse", "k": []}))
        .await
        .data();
    assert_eq!(nothing["search"]["edges"], json!([]));
    let too_many = ask(&owner, json!({"q": "lighthouse", "f": 1000})).await;
    assert_eq!(too_many.code(), "BAD_USER_INPUT");
    server.stop().await;
}

async fn a_stranger_finds_nothing_and_is_told_nothing(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    owner.create_task("A lighthouse").await;
    let viewer = owner.invite("viewer", "VIEWER").await;
    assert_eq!(ids(&viewer, "lighthouse").await.len(), 1);
    let stranger = owner.invite("stranger", "EDITOR").await;
    let input = json!({"workspaceId": owner.workspace, "userId": stranger.user});
    owner
        .client
        .change("removeMember", input, "{ clientMutationId }")
        .await;
    let refused = ask(&stranger, json!({"q": "lighthouse"})).await;
    assert_eq!(refused.code(), "NOT_FOUND");
    let wrong = json!({"q": "lighthouse", "w": "task_1"});
    assert_eq!(ask(&owner, wrong).await.code(), "BAD_USER_INPUT");
    server.stop().await;
}

async fn a_work_in_the_bin_is_found_again_when_it_comes_back(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let work = owner.create_text("capercaillie").await;
    let input = json!({"workId": work.id});
    owner
        .client
        .change("deleteWork", input.clone(), "{ work { id } }")
        .await;
    assert!(ids(&owner, "capercaillie").await.is_empty());
    owner
        .client
        .change("restoreWork", input, "{ work { id } }")
        .await;
    assert_eq!(ids(&owner, "capercaillie").await, [work.id]);
    server.stop().await;
}

async fn what_is_written_at_one_server_is_found_at_the_other(installation: &Installation) {
    let (first, owner) = installation.open_without_agent().await;
    let second = installation.start_without_agent().await;
    let there = owner.at(&second);
    for number in 0..5 {
        let word = format!("walrus{number}");
        let task = owner.create_task(&format!("A poster with {word}")).await;
        assert_eq!(ids(&there, &word).await, [task.id]);
    }
    first.stop().await;
    second.stop().await;
}

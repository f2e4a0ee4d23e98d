//! The same idempotency key: one effect, one result, however often and at whatever moment it comes.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::harness::works::{RESULT, applied};
use crate::harness::{Installation, Work, on_both_databases};

on_both_databases![
    the_same_key_gives_the_first_result_again,
    the_same_key_at_the_same_moment_has_one_effect,
    the_same_key_with_other_input_is_refused,
    a_conflict_is_not_kept_under_its_key,
    a_key_counts_for_one_person_and_one_mutation,
    a_key_outlives_the_server,
];

fn edit(work: &Work, base: i64, key: &str, duration: i64) -> Value {
    let operations = json!([{"put": {"type": "shot", "fields": {"duration": duration}}}]);
    json!({"workId": work.id, "baseVersion": base, "operations": operations, "idempotencyKey": key})
}

async fn the_same_key_gives_the_first_result_again(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner.create_nodes("STORYBOARD", json!([])).await;
    assert_eq!(work.version().await, 0, "a new empty work");
    let first = owner
        .client
        .change("editNodes", edit(&work, 0, "k1", 1), RESULT)
        .await;
    assert_eq!(applied(&first), 1);
    work.edit(json!([{"put": {"id": "later", "fields": {}}}]))
        .await;
    let mut input = edit(&work, 0, "k1", 1);
    let again = owner
        .client
        .change("editNodes", input.clone(), RESULT)
        .await;
    assert_eq!(
        (&again["version"], &again["nodeIds"]),
        (&first["version"], &first["nodeIds"])
    );
    // What only comes back to the client is no part of the input.
    input["clientMutationId"] = json!("echo");
    let again = owner.client.change("editNodes", input, RESULT).await;
    assert_eq!(
        (&again["version"], &again["clientMutationId"]),
        (&json!(1), &json!("echo"))
    );
    assert_eq!((work.version().await, work.node_ids().await.len()), (2, 2));
    let create = json!({"workspaceId": owner.workspace, "kind": "TEXT", "title": "T", "text": "x", "idempotencyKey": "k1"});
    let made = owner
        .client
        .change("createWork", create.clone(), "{ work { id } }")
        .await;
    let again = owner
        .client
        .change("createWork", create, "{ work { id } }")
        .await;
    assert_eq!(made, again);
}

async fn the_same_key_at_the_same_moment_has_one_effect(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let mut clients = vec![owner.client.clone()];
    let second;
    if installation.takes_several_servers() {
        second = installation.start().await;
        clients.push(owner.at(&second).client);
    }
    let work = owner.create_nodes("STORYBOARD", json!([])).await;
    let input = edit(&work, 0, "at once", 1);
    let edits = (0..12)
        .map(|number| clients[number % clients.len()].change("editNodes", input.clone(), RESULT));
    let results = join_all(edits).await;
    for result in &results {
        assert_eq!(applied(result), 1, "{result}");
        assert_eq!(result["nodeIds"], results[0]["nodeIds"]);
    }
    assert_eq!((work.version().await, work.node_ids().await.len()), (1, 1));
}

async fn the_same_key_with_other_input_is_refused(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner.create_nodes("STORYBOARD", json!([])).await;
    owner
        .client
        .change("editNodes", edit(&work, 0, "k", 1), RESULT)
        .await;
    let answer = owner
        .client
        .mutate("editNodes", edit(&work, 0, "k", 2), RESULT)
        .await;
    assert_eq!(answer.code(), "IDEMPOTENCY_KEY_REUSED");
    for wrong in [String::new(), "k".repeat(256)] {
        let answer = owner
            .client
            .mutate("editNodes", edit(&work, 1, &wrong, 1), RESULT)
            .await;
        assert_eq!(answer.code(), "BAD_USER_INPUT");
    }
    assert_eq!(work.version().await, 1);
}

async fn a_conflict_is_not_kept_under_its_key(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let person = owner.invite("Ana", "EDITOR").await;
    let work = owner
        .create_nodes("STORYBOARD", json!([{"id": "a", "fields": {}}]))
        .await;
    let set = |base: i64| {
        let operations = json!([{"set": {"nodeId": "a", "fields": {"duration": 9}}}]);
        json!({"workId": work.id, "baseVersion": base, "operations": operations, "idempotencyKey": "retry"})
    };
    work.by(&person.client)
        .edit(json!([{"set": {"nodeId": "a", "fields": {"lens": "wide"}}}]))
        .await;
    let result = owner.client.change("editNodes", set(1), RESULT).await;
    assert_eq!(result["__typename"], "NodeConflict", "{result}");
    assert_eq!(
        applied(&owner.client.change("editNodes", set(2), RESULT).await),
        3
    );
    assert_eq!(
        applied(&owner.client.change("editNodes", set(2), RESULT).await),
        3
    );
}

async fn a_key_counts_for_one_person_and_one_mutation(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let person = owner.invite("Ana", "EDITOR").await;
    let work = owner.create_nodes("STORYBOARD", json!([])).await;
    assert_eq!(
        applied(
            &owner
                .client
                .change("editNodes", edit(&work, 0, "k", 1), RESULT)
                .await
        ),
        1
    );
    assert_eq!(
        applied(
            &person
                .client
                .change("editNodes", edit(&work, 0, "k", 1), RESULT)
                .await
        ),
        2
    );
    let text = owner.create_text("one").await;
    let input = json!({"workId": text.id, "replacements": [{"find": "one", "replace": "two"}], "idempotencyKey": "k"});
    assert_eq!(
        applied(&owner.client.change("editText", input, RESULT).await),
        2
    );
}

async fn a_key_outlives_the_server(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let work = owner.create_nodes("STORYBOARD", json!([])).await;
    let first = owner
        .client
        .change("editNodes", edit(&work, 0, "k", 1), RESULT)
        .await;
    server.kill();
    let server = installation.start().await;
    let owner = owner.at(&server);
    let again = owner
        .client
        .change("editNodes", edit(&work, 0, "k", 1), RESULT)
        .await;
    assert_eq!(first, again);
    assert_eq!(work.by(&owner.client).version().await, 1);
}

//! History: versions, revisions in words, any version viewed, restore as a change forward.

use serde_json::{Value, json};

use crate::harness::editor::replica;
use crate::harness::works::applied;
use crate::harness::{Editor, Installation, Protocol, Work, on_both_databases};

on_both_databases![
    a_revision_says_in_words_what_changed_and_who_did_it,
    every_version_can_be_viewed,
    restoring_is_a_change_forward_that_editors_see,
    a_restore_on_an_old_base_is_refused,
    each_node_knows_who_changed_it_last,
    the_bin_keeps_a_work_until_it_is_taken_out,
    a_change_that_changes_nothing_is_no_version,
];

async fn board(owner: &crate::harness::Person) -> Work {
    let shots = json!([
        {"id": "a", "type": "shot", "fields": {"description": "one", "duration": 1}},
        {"id": "b", "type": "shot", "fields": {"description": "two", "duration": 2}},
    ]);
    owner.create_nodes("STORYBOARD", shots).await
}

async fn a_revision_says_in_words_what_changed_and_who_did_it(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let person = owner.invite("Ana", "EDITOR").await;
    let work = board(&owner).await;
    let theirs = work.by(&person.client);
    theirs
        .edit(
            json!([{"set": {"nodeId": "b", "fields": {"description": "two dogs", "duration": 3}}}]),
        )
        .await;
    theirs
        .edit(json!([{"set": {"nodeId": "a", "fields": {"duration": 4}}}]))
        .await;
    work.edit(json!([{"remove": "a"}])).await;
    let history = work.history().await;
    assert_eq!(history.len(), 3, "{history:?}");
    let (newest, middle, oldest) = (&history[0], &history[1], &history[2]);
    assert_eq!(
        (&newest["fromVersion"], &newest["toVersion"]),
        (&json!(4), &json!(4))
    );
    assert_eq!(newest["by"]["user"]["id"], owner.user.as_str());
    // One run of one person is one entry.
    assert_eq!(
        (&middle["fromVersion"], &middle["toVersion"]),
        (&json!(2), &json!(3))
    );
    assert_eq!(
        (&middle["by"]["label"], &middle["by"]["kind"]),
        (&json!("Ana"), &json!("PERSON"))
    );
    let summary = middle["summary"].as_str().expect("a summary");
    assert!(
        summary.contains("shot 2: description, duration"),
        "{summary}"
    );
    assert!(summary.contains("shot 1: duration"), "{summary}");
    let mut touched: Vec<&str> = middle["nodeIds"]
        .as_array()
        .expect("ids")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    touched.sort_unstable();
    assert_eq!(touched, ["a", "b"]);
    assert_eq!(
        (&oldest["fromVersion"], &oldest["toVersion"]),
        (&json!(1), &json!(1))
    );
}

async fn every_version_can_be_viewed(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let work = owner.create_text("v1").await;
    for version in 2..=60 {
        assert_eq!(
            applied(&work.replace_text(version - 1, &format!("v{version}")).await),
            version
        );
    }
    let look = async |work: &Work| {
        assert_eq!(work.content_at(Some(0)).await["text"], "");
        for version in [1, 2, 17, 59, 60] {
            assert_eq!(
                work.content_at(Some(version)).await["text"],
                format!("v{version}")
            );
        }
        for wrong in [-1, 61] {
            assert_eq!(work.ask_content_at(wrong).await.code(), "BAD_USER_INPUT");
        }
    };
    look(&work).await;
    server.kill();
    let server = installation.start().await;
    look(&work.by(&owner.at(&server).client)).await;
}

async fn restoring_is_a_change_forward_that_editors_see(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = board(&owner).await;
    let editor = Editor::open(&work, Protocol::Hocuspocus).await;
    work.edit(json!([
        {"set": {"nodeId": "a", "fields": {"description": "other", "duration": null, "lens": "wide"}}},
        {"remove": "b"},
        {"put": {"id": "c", "fields": {}}},
    ]))
    .await;
    let first = work.content_at(Some(1)).await["nodes"].clone();
    assert_eq!(applied(&work.restore(1, 2).await), 3);
    let shown = |nodes: &Value| {
        let nodes = nodes.as_array().expect("nodes");
        nodes
            .iter()
            .map(|node| {
                (
                    node["id"].clone(),
                    node["type"].clone(),
                    node["fields"].clone(),
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(shown(&work.content().await["nodes"]), shown(&first));
    editor
        .sees("the restored shots", |replica| {
            let lacks_new = replica.node("c").is_none();
            lacks_new
                && replica
                    .node("b")
                    .is_some_and(|node| node["description"] == "two")
        })
        .await;
    assert_eq!(
        work.content_at(Some(2)).await["nodes"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    // Going back is one more step forward.
    assert_eq!(applied(&work.restore(2, 3).await), 4);
    assert_eq!(work.node_ids().await, ["a", "c"]);
}

async fn a_restore_on_an_old_base_is_refused(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let person = owner.invite("Ana", "EDITOR").await;
    let work = owner.create_text("one").await;
    applied(&work.replace_text(1, "two").await);
    applied(&work.by(&person.client).edit_text(&[("two", "three")]).await);
    let result = work.restore(1, 2).await;
    assert_eq!(result["__typename"], "VersionConflict", "{result}");
    assert_eq!(result["currentVersion"], 3);
    assert_eq!(work.text().await, "three");
}

async fn each_node_knows_who_changed_it_last(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let person = owner.invite("Ana", "EDITOR").await;
    let work = board(&owner).await;
    let editor = Editor::open(&work.by(&person.client), Protocol::YWebsocket).await;
    editor
        .edit(|txn, roots| {
            let description = replica::prose(txn, roots, "b", "description");
            yrs::Text::insert(&description, txn, 0, "the ");
        })
        .await;
    assert!(editor.acknowledged().await);
    let look = async |work: &Work| {
        let (a, b) = (work.node("a").await, work.node("b").await);
        assert_eq!(
            (&a["changedAtVersion"], &a["changedBy"]["user"]["id"]),
            (&json!(1), &json!(owner.user))
        );
        assert_eq!(
            (&b["changedAtVersion"], &b["changedBy"]["user"]["id"]),
            (&json!(2), &json!(person.user))
        );
        assert_eq!(b["changedBy"]["label"], "Ana");
    };
    look(&work).await;
    drop(editor);
    server.kill();
    let server = installation.start().await;
    look(&work.by(&owner.at(&server).client)).await;
}

async fn the_bin_keeps_a_work_until_it_is_taken_out(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner.create_text("kept").await;
    let editor = Editor::open(&work, Protocol::YWebsocket).await;
    let input = json!({"workId": work.id});
    owner
        .client
        .change("deleteWork", input.clone(), "{ work { id deletedAt } }")
        .await;
    assert_eq!(editor.closed().await, Some(4404));
    assert!(work.content().await["deletedAt"].is_string());
    let list = "query ($id: ID!) { workspace(id: $id) { works { totalCount nodes { id } } } }";
    let listed = async || {
        owner.client.run(list, json!({"id": owner.workspace})).await["workspace"]["works"]["totalCount"].clone()
    };
    assert_eq!(listed().await, 0);
    let refused = Editor::knock(&work, Protocol::YWebsocket).await;
    assert_eq!(refused.closed().await, Some(4404));
    owner
        .client
        .change("restoreWork", input, "{ work { deletedAt } }")
        .await;
    assert_eq!(listed().await, 1);
    let editor = Editor::open(&work, Protocol::Hocuspocus).await;
    assert_eq!(
        editor.read(crate::harness::editor::replica::Replica::text),
        "kept"
    );
    let renamed = owner
        .client
        .change(
            "renameWork",
            json!({"workId": work.id, "title": "New"}),
            "{ work { title version } }",
        )
        .await;
    assert_eq!(renamed["work"], json!({"title": "New", "version": 1}));
}

async fn a_change_that_changes_nothing_is_no_version(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner.create_text("same").await;
    for protocol in Protocol::ALL {
        let editor = Editor::open(&work, protocol).await;
        // What the server has already, once more.
        let all = editor.read(|replica| replica.difference(&[0]));
        editor.send_update(&all).await;
        assert!(editor.acknowledged().await);
    }
    assert_eq!(work.version().await, 1);
}

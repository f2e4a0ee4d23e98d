//! Roles: owners look after people, editors change works, viewers read; a change of role is felt at once.

use serde_json::{Value, json};

use crate::harness::editor::replica;
use crate::harness::subscription::{Heard, Subscription};
use crate::harness::{Editor, Installation, Protocol, on_both_databases};

on_both_databases![
    each_role_may_do_its_part,
    adding_somebody_again_changes_the_role,
    the_last_owner_stays,
    a_demoted_editor_can_not_write_on_a_live_socket,
    a_removed_member_is_cut_off_everywhere,
];

async fn each_role_may_do_its_part(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let editor = owner.invite("Ed", "EDITOR").await;
    let viewer = owner.invite("Vera", "VIEWER").await;
    let work = owner.create_text("text").await;
    let role =
        "query ($id: ID!) { workspace(id: $id) { viewerRole members { role user { id name } } } }";
    for (person, expected) in [(&owner, "OWNER"), (&editor, "EDITOR"), (&viewer, "VIEWER")] {
        let data = person
            .client
            .run(role, json!({"id": owner.workspace}))
            .await;
        assert_eq!(data["workspace"]["viewerRole"], expected);
        assert_eq!(
            data["workspace"]["members"].as_array().map(Vec::len),
            Some(3)
        );
        assert_eq!(work.by(&person.client).text().await, "text");
    }
    let rename = json!({"workId": work.id, "title": "Renamed"});
    assert_eq!(
        viewer
            .client
            .mutate("renameWork", rename.clone(), "{ work { id } }")
            .await
            .code(),
        "FORBIDDEN"
    );
    editor
        .client
        .change("renameWork", rename, "{ work { id } }")
        .await;
    let create = json!({"workspaceId": owner.workspace, "kind": "TEXT", "title": "x"});
    assert_eq!(
        viewer
            .client
            .mutate("createWork", create.clone(), "{ work { id } }")
            .await
            .code(),
        "FORBIDDEN"
    );
    editor
        .client
        .change("createWork", create, "{ work { id } }")
        .await;
    let add = json!({"workspaceId": owner.workspace, "email": "new@example.com", "role": "VIEWER"});
    for person in [&editor, &viewer] {
        assert_eq!(
            person
                .client
                .mutate("addMember", add.clone(), "{ member { role } }")
                .await
                .code(),
            "FORBIDDEN"
        );
        let remove = json!({"workspaceId": owner.workspace, "userId": owner.user});
        assert_eq!(
            person
                .client
                .mutate("removeMember", remove, "{ workspace { id } }")
                .await
                .code(),
            "FORBIDDEN"
        );
    }
}

async fn adding_somebody_again_changes_the_role(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let editor = owner.invite("Ed", "EDITOR").await;
    let add = json!({"workspaceId": owner.workspace, "email": "new@example.com", "role": "VIEWER"});
    // Somebody who is there already gets another role.
    let data = owner
        .client
        .change("addMember", add.clone(), "{ member { role user { id } } }")
        .await;
    let mut again = add;
    again["role"] = json!("EDITOR");
    let changed = owner
        .client
        .change("addMember", again, "{ member { role user { id } } }")
        .await;
    assert_eq!(
        (&changed["member"]["role"], &changed["member"]["user"]),
        (&json!("EDITOR"), &data["member"]["user"])
    );
    // Somebody who has a token gets no second one through an owner.
    let input = json!({"label": "x", "kind": "PERSONAL", "userId": editor.user, "workspaceId": owner.workspace});
    let answer = owner
        .client
        .mutate("createToken", input, "{ secret }")
        .await;
    assert!(
        ["FORBIDDEN", "CONFLICT"].contains(&answer.code()),
        "{}",
        answer.body
    );
}

async fn the_last_owner_stays(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let second = owner.invite("Second", "EDITOR").await;
    let remove = json!({"workspaceId": owner.workspace, "userId": owner.user});
    let answer = owner
        .client
        .mutate("removeMember", remove.clone(), "{ workspace { id } }")
        .await;
    assert_eq!(answer.code(), "CONFLICT", "{}", answer.body);
    // Another owner may, and then the first is gone.
    let members = "query ($id: ID!) { workspace(id: $id) { members { user { id email } } } }";
    let data = owner
        .client
        .run(members, json!({"id": owner.workspace}))
        .await;
    let members = data["workspace"]["members"]
        .as_array()
        .expect("members")
        .clone();
    let email = members
        .iter()
        .find(|member| member["user"]["id"] == second.user.as_str())
        .map(|member| member["user"]["email"].clone());
    let promote = json!({"workspaceId": owner.workspace, "email": email, "role": "OWNER"});
    owner
        .client
        .change("addMember", promote, "{ member { role } }")
        .await;
    second
        .client
        .change("removeMember", remove, "{ workspace { id } }")
        .await;
    let data = owner
        .client
        .run(
            "query ($id: ID!) { workspace(id: $id) { id } }",
            json!({"id": owner.workspace}),
        )
        .await;
    assert_eq!(data["workspace"], Value::Null);
}

async fn a_demoted_editor_can_not_write_on_a_live_socket(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner.create_text("kept").await;
    let input = json!({"workspaceId": owner.workspace, "email": "dora@example.com", "name": "Dora", "role": "EDITOR"});
    let added = owner
        .client
        .change("addMember", input.clone(), "{ member { user { id } } }")
        .await;
    let token = json!({"label": "first", "kind": "PERSONAL", "userId": added["member"]["user"]["id"], "workspaceId": owner.workspace});
    let made = owner
        .client
        .change("createToken", token, "{ secret }")
        .await;
    let client = crate::harness::Client::new(
        owner.client.address(),
        made["secret"].as_str().expect("a secret"),
    );
    let work_of_dora = work.by(&client);
    let sync = Editor::open(&work_of_dora, Protocol::YWebsocket).await;
    let collab = Editor::open(&work_of_dora, Protocol::Hocuspocus).await;
    collab
        .see("the scope", |seen| {
            seen.scope.as_deref() == Some("read-write")
        })
        .await;
    let mut demotion = input;
    demotion["role"] = json!("VIEWER");
    owner
        .client
        .change("addMember", demotion, "{ member { role } }")
        .await;
    collab
        .see("the new scope", |seen| {
            seen.scope.as_deref() == Some("readonly")
        })
        .await;
    for editor in [&sync, &collab] {
        editor
            .edit(|txn, roots| replica::append(txn, roots, " HACKED"))
            .await;
        editor.ask_what_is_lacking().await;
        editor.synced().await;
    }
    assert_eq!(work.text().await, "kept");
    let writer = Editor::open(&work, Protocol::YWebsocket).await;
    writer
        .edit(|txn, roots| replica::append(txn, roots, "!"))
        .await;
    sync.sees("what others write", |replica| replica.text().contains('!'))
        .await;
}

async fn a_removed_member_is_cut_off_everywhere(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let mut clients = vec![owner.client.clone()];
    let second;
    if installation.takes_several_servers() {
        second = installation.start().await;
        clients.push(owner.at(&second).client);
    }
    let person = owner.invite("Rem", "EDITOR").await;
    let work = owner.create_text("text").await;
    let mut cut_off = Vec::new();
    let mut subscriptions = Vec::new();
    let document = "subscription ($id: ID!) { workspaceEvents(workspaceId: $id) { kind } }";
    for client in &clients {
        let theirs = person.client.at(client.address());
        cut_off.push(Editor::open(&work.by(&theirs), Protocol::YWebsocket).await);
        subscriptions
            .push(Subscription::open(&theirs, document, json!({"id": owner.workspace})).await);
    }
    let collab = Editor::open(&work.by(&person.client), Protocol::Hocuspocus).await;
    let remove = json!({"workspaceId": owner.workspace, "userId": person.user});
    owner
        .client
        .change("removeMember", remove, "{ workspace { id } }")
        .await;
    for editor in &cut_off {
        assert_eq!(editor.closed().await, Some(4403));
    }
    collab
        .see("it is told to go", |seen| {
            seen.denied.is_some() || seen.let_go.is_some()
        })
        .await;
    for subscription in &mut subscriptions {
        // The removal itself may still be heard, and nothing after it.
        loop {
            match subscription.next().await {
                Heard::Event(event) => {
                    assert_eq!(event["workspaceEvents"]["kind"], "MEMBERS_CHANGED");
                }
                Heard::Errors(_) | Heard::Closed(_) => break,
                Heard::Complete => panic!("a subscription that is cut off is not complete"),
            }
        }
    }
    let data = person
        .client
        .run(
            "query ($id: ID!) { node(id: $id) { id } }",
            json!({"id": work.id}),
        )
        .await;
    assert_eq!(data["node"], Value::Null);
}

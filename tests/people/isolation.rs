//! Another workspace's things can not be reached through any door: they look like what does not exist.

use serde_json::{Value, json};

use crate::harness::subscription::{Heard, Subscription};
use crate::harness::{
    Client, Editor, Installation, Person, Protocol, Server, Work, on_both_databases,
};

on_both_databases![
    foreign_ids_look_like_ids_of_nothing,
    foreign_things_can_not_be_changed,
    foreign_events_and_cursors_are_out_of_reach,
    foreign_sockets_and_files_are_out_of_reach,
    the_way_of_refusal_does_not_tell_foreign_from_absent,
];

/// Two owners of two workspaces who know nothing of each other; the first has things.
struct Strangers {
    _server: Server,
    owner: Person,
    work: Work,
    stranger: Person,
}

impl Strangers {
    async fn meet(installation: &Installation) -> Self {
        let (server, owner) = installation.open().await;
        let work = owner
            .create_nodes(
                "STORYBOARD",
                json!([{"id": "a", "fields": {"secret": "plan"}}]),
            )
            .await;
        // The first owner makes a workspace where somebody becomes an owner, who then makes one of their own.
        let other = Person::with_workspace(owner.client.clone(), "Elsewhere").await;
        let guest = other.invite("Stranger", "OWNER").await;
        let stranger = Person::with_workspace(guest.client.clone(), "Own").await;
        Self {
            _server: server,
            owner,
            work,
            stranger,
        }
    }

    fn client(&self) -> &Client {
        &self.stranger.client
    }
}

const ABSENT_WORK: &str = "work_0198f3c2a1b47c3d8e9f001122334455";
const ABSENT_WORKSPACE: &str = "workspace_0198f3c2a1b47c3d8e9f001122334455";

async fn foreign_ids_look_like_ids_of_nothing(installation: &Installation) {
    let strangers = Strangers::meet(installation).await;
    let client = strangers.client();
    let token = strangers.owner.token.as_str();
    for id in [
        strangers.work.id.as_str(),
        &strangers.owner.workspace,
        token,
        ABSENT_WORK,
    ] {
        let data = client
            .run(
                "query ($id: ID!) { node(id: $id) { id } }",
                json!({"id": id}),
            )
            .await;
        assert_eq!(data["node"], Value::Null, "{id}");
    }
    let own = client
        .run(
            "query ($id: ID!) { workspace(id: $id) { name } }",
            json!({"id": strangers.stranger.workspace}),
        )
        .await;
    assert_eq!(own["workspace"]["name"], "Own");
    let foreign = client
        .run(
            "query ($id: ID!) { workspace(id: $id) { name } }",
            json!({"id": strangers.owner.workspace}),
        )
        .await;
    assert_eq!(foreign["workspace"], Value::Null);
    let ids = json!([
        strangers.work.id,
        strangers.stranger.workspace,
        ABSENT_WORK,
        strangers.owner.workspace
    ]);
    let data = client
        .run(
            "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }",
            json!({"ids": ids}),
        )
        .await;
    assert_eq!(
        data["nodes"],
        json!([null, {"id": strangers.stranger.workspace}, null, null])
    );
    let viewer = client
        .run(
            "{ viewer { workspaces { totalCount nodes { name } } } }",
            Value::Null,
        )
        .await;
    assert_eq!(viewer["viewer"]["workspaces"]["totalCount"], 2);
}

/// Every mutation, on things of the first owner.
fn attempts(strangers: &Strangers) -> Vec<(&'static str, Value, &'static str)> {
    let (owner, work) = (&strangers.owner, strangers.work.id.as_str());
    let workspace = owner.workspace.as_str();
    let result = crate::harness::works::RESULT;
    vec![
        (
            "editNodes",
            json!({"workId": work, "baseVersion": 1, "operations": [{"remove": "a"}]}),
            result,
        ),
        (
            "editText",
            json!({"workId": work, "replacements": [{"find": "a", "replace": "b"}]}),
            result,
        ),
        (
            "replaceText",
            json!({"workId": work, "baseVersion": 1, "text": "x"}),
            result,
        ),
        (
            "restoreVersion",
            json!({"workId": work, "baseVersion": 1, "version": 0}),
            result,
        ),
        (
            "applyUpdate",
            json!({"workId": work, "update": "AAA="}),
            result,
        ),
        (
            "renameWork",
            json!({"workId": work, "title": "x"}),
            "{ work { id } }",
        ),
        ("deleteWork", json!({"workId": work}), "{ work { id } }"),
        ("restoreWork", json!({"workId": work}), "{ work { id } }"),
        (
            "createWork",
            json!({"workspaceId": workspace, "kind": "TEXT", "title": "x"}),
            "{ work { id } }",
        ),
        (
            "createUpload",
            json!({"workspaceId": workspace, "title": "x", "mediaType": "image/png", "byteSize": 9}),
            "{ uploadUrl }",
        ),
        (
            "addMember",
            json!({"workspaceId": workspace, "email": "me@example.com", "role": "OWNER"}),
            "{ member { role } }",
        ),
        (
            "removeMember",
            json!({"workspaceId": workspace, "userId": owner.user}),
            "{ workspace { id } }",
        ),
        (
            "createToken",
            json!({"label": "x", "kind": "PERSONAL", "userId": owner.user, "workspaceId": workspace}),
            "{ secret }",
        ),
        ("revokeToken", json!({"id": owner.token}), "{ revokedId }"),
    ]
}

async fn foreign_things_can_not_be_changed(installation: &Installation) {
    let strangers = Strangers::meet(installation).await;
    let client = strangers.client();
    let before = strangers.work.content().await;
    for (field, input, selection) in attempts(&strangers) {
        let answer = client.mutate(field, input, selection).await;
        assert_eq!(answer.code(), "NOT_FOUND", "{field}: {}", answer.body);
        assert!(
            !answer.body.to_string().contains("plan"),
            "{field} tells what is in it"
        );
    }
    assert_eq!(strangers.work.content().await, before);
    assert_eq!(strangers.work.history().await.len(), 1);
}

async fn foreign_events_and_cursors_are_out_of_reach(installation: &Installation) {
    let strangers = Strangers::meet(installation).await;
    let client = strangers.client();
    let foreign_cursor = strangers.owner.event_cursor().await;
    let events = "query ($id: ID!, $after: Cursor) { workspace(id: $id) { events(after: $after) { nodes { kind } } } }";
    let variables = json!({"id": strangers.stranger.workspace, "after": foreign_cursor});
    assert_eq!(client.ask(events, variables).await.code(), "CURSOR_INVALID");
    let attempts = [
        (
            "subscription ($id: ID!) { workspaceEvents(workspaceId: $id) { kind } }",
            &strangers.owner.workspace,
        ),
        (
            "subscription ($id: ID!) { workChanges(workId: $id) { version } }",
            &strangers.work.id,
        ),
        (
            "subscription ($id: ID!) { workChanges(workId: $id, afterVersion: 0) { version } }",
            &strangers.work.id,
        ),
        (
            "subscription ($id: ID!) { presence(workId: $id) { label } }",
            &strangers.work.id,
        ),
    ];
    for (document, id) in attempts {
        let mut subscription = Subscription::open(client, document, json!({"id": id})).await;
        let Heard::Errors(errors) = subscription.next().await else {
            panic!("{document} is refused");
        };
        assert_eq!(errors[0]["extensions"]["code"], "NOT_FOUND", "{errors}");
    }
    let document = "subscription ($id: ID!, $after: Cursor) { workspaceEvents(workspaceId: $id, after: $after) { kind } }";
    let variables = json!({"id": strangers.stranger.workspace, "after": foreign_cursor});
    let mut subscription = Subscription::open(client, document, variables).await;
    let Heard::Errors(errors) = subscription.next().await else {
        panic!("a foreign cursor is refused");
    };
    assert_eq!(
        errors[0]["extensions"]["code"], "CURSOR_INVALID",
        "{errors}"
    );
}

async fn foreign_sockets_and_files_are_out_of_reach(installation: &Installation) {
    let strangers = Strangers::meet(installation).await;
    let theirs = strangers.work.by(strangers.client());
    let sync = Editor::knock(&theirs, Protocol::YWebsocket).await;
    assert_eq!(sync.closed().await, Some(4404));
    assert_eq!(
        sync.content(),
        json!({"nodes": {}, "edges": {}, "text": ""})
    );
    let collab = Editor::knock(&theirs, Protocol::Hocuspocus).await;
    let seen = collab
        .see("the refusal", |seen| seen.denied.is_some())
        .await;
    assert_eq!((seen.scope, seen.replies), (None, 0));
    let upload = json!({"workspaceId": strangers.owner.workspace, "title": "x", "mediaType": "text/plain", "byteSize": 4});
    let made = strangers
        .owner
        .client
        .change("createUpload", upload, "{ uploadUrl asset { id url } }")
        .await;
    let put = strangers
        .owner
        .client
        .http()
        .put(made["uploadUrl"].as_str().expect("a URL"))
        .body("mine")
        .send()
        .await;
    assert_eq!(put.expect("an answer").status(), 201);
    // With a foreign token and without the signature there is nothing.
    let url = made["asset"]["url"].as_str().expect("a path");
    let (path, _) = url.split_once('?').unwrap_or((url, ""));
    let get = strangers
        .client()
        .http()
        .get(format!("{}{path}", strangers.client().address()));
    let answer = get
        .bearer_auth(strangers.client().secret())
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status(), 404);
}

async fn the_way_of_refusal_does_not_tell_foreign_from_absent(installation: &Installation) {
    let strangers = Strangers::meet(installation).await;
    let client = strangers.client();
    let message = async |work: &str| {
        let answer = client
            .mutate(
                "renameWork",
                json!({"workId": work, "title": "x"}),
                "{ work { id } }",
            )
            .await;
        (answer.status, answer.body.to_string().replace(work, "ID"))
    };
    assert_eq!(
        message(&strangers.work.id).await,
        message(ABSENT_WORK).await
    );
    let message = async |workspace: &str| {
        let input = json!({"workspaceId": workspace, "kind": "TEXT", "title": "x"});
        let answer = client.mutate("createWork", input, "{ work { id } }").await;
        (
            answer.status,
            answer.body.to_string().replace(workspace, "ID"),
        )
    };
    assert_eq!(
        message(&strangers.owner.workspace).await,
        message(ABSENT_WORKSPACE).await
    );
}

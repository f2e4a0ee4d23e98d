//! Each code of the contract that can be met so far, met; every answer has a text, and none tells what is inside.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Installation, Server, on_both_databases, on_sqlite};

on_sqlite![
    what_is_no_request_is_told_so,
    what_does_not_fit_the_schema_is_told_so,
    values_that_do_not_fit_are_wrong_input,
    a_defect_is_masked_and_named_by_the_id_of_its_request,
    a_person_who_asks_too_much_is_told_when_to_come_back,
    a_query_that_takes_too_long_is_ended,
    queries_alone_are_taken_by_get,
];
on_both_databases![wrong_input_changes_nothing];

async fn post(server: &Server, client: &Client, body: &str) -> Answer {
    let request = client
        .http()
        .post(format!("{}/graphql", server.address()))
        .bearer_auth(client.secret());
    let response = request
        .header("content-type", "application/json")
        .body(body.to_owned())
        .send()
        .await;
    let response = response.expect("an answer");
    Answer {
        status: response.status(),
        body: response.json().await.expect("JSON"),
    }
}

async fn what_is_no_request_is_told_so(installation: &Installation) {
    let (server, owner) = installation.open().await;
    for body in [
        "",
        "{",
        "[]",
        "null",
        "{}",
        r#"{"query": 5}"#,
        r#"{"query": "{ viewer { user { id } } }", "variables": []}"#,
        "[{\"query\": \"{ viewer { user { id } } }\"}]",
    ] {
        let answer = post(&server, &owner.client, body).await;
        assert_eq!(answer.code(), "BAD_REQUEST", "{body}");
        assert!(
            answer.status.is_client_error() && !answer.message().is_empty(),
            "{body}"
        );
    }
    for (document, code) in [
        ("{", "GRAPHQL_PARSE_FAILED"),
        ("query { viewer { user { id } }", "GRAPHQL_PARSE_FAILED"),
        (
            "query a { viewer { user { id } } } query b { viewer { user { id } } }",
            "OPERATION_RESOLUTION_FAILURE",
        ),
    ] {
        assert_eq!(
            owner.client.ask(document, Value::Null).await.code(),
            code,
            "{document}"
        );
    }
    let named =
        json!({"query": "query a { viewer { user { id } } }", "operationName": "c"}).to_string();
    assert_eq!(
        post(&server, &owner.client, &named).await.code(),
        "OPERATION_RESOLUTION_FAILURE"
    );
}

async fn what_does_not_fit_the_schema_is_told_so(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    for document in [
        "{ viewer { user { shoeSize } } }",
        "{ nothing }",
        "{ viewer }",
        "{ node { id } }",
        "query ($id: Nonsense) { node(id: $id) { id } }",
        "{ viewer { user { ...lost } } }",
        "fragment a on User { ...b } fragment b on User { ...a } { viewer { user { ...a } } }",
        "mutation { editNodes(input: { workId: \"x\", baseVersion: 1, operations: [{ explode: 1 }] }) { __typename } }",
    ] {
        let answer = owner.client.ask(document, Value::Null).await;
        assert_eq!(
            answer.code(),
            "GRAPHQL_VALIDATION_FAILED",
            "{document}: {}",
            answer.body
        );
        assert!(
            answer.body.get("data").is_none_or(Value::is_null),
            "{document}"
        );
    }
}

async fn values_that_do_not_fit_are_wrong_input(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner
        .create_nodes("STORYBOARD", json!([{"id": "a", "fields": {}}]))
        .await;
    let inputs = [
        json!({}),
        json!({"workId": work.id, "baseVersion": "1", "operations": []}),
        json!({"workId": work.id, "baseVersion": 1.5, "operations": []}),
        json!({"workId": work.id, "baseVersion": 4_294_967_296_i64, "operations": []}),
        json!({"workId": work.id, "baseVersion": 1, "operations": [{}]}),
        json!({"workId": work.id, "baseVersion": 1, "operations": [{"remove": "a", "disconnect": "a"}]}),
        json!({"workId": work.id, "baseVersion": 1, "operations": [{"remove": null}]}),
        json!({"workId": work.id, "baseVersion": 1, "operations": [{"put": {"id": "", "fields": {}}}]}),
        json!({"workId": work.id, "baseVersion": 1, "operations": [{"put": {"id": "x".repeat(1_000), "fields": {}}}]}),
        json!({"workId": work.id, "baseVersion": 1, "operations": [{"put": {"fields": []}}]}),
        json!({"workId": work.id, "baseVersion": 1, "operations": [{"set": {"nodeId": "a", "fields": {"order": "x"}}}]}),
        json!({"workId": work.id, "baseVersion": 1, "operations": [{"set": {"nodeId": "a", "fields": {"title": 5}}}]}),
        json!({"workId": work.id, "baseVersion": 1, "operations": [{"set": {"nodeId": "a", "fields": {"deep": deep(100)}}}]}),
        json!({"workId": work.id, "baseVersion": 1, "operations": [], "unknown": 1}),
        json!({"workId": "not an id", "baseVersion": 1, "operations": [{"remove": "a"}]}),
    ];
    for input in inputs {
        let answer = owner
            .client
            .mutate("editNodes", input.clone(), "{ __typename }")
            .await;
        assert_eq!(answer.code(), "BAD_USER_INPUT", "{input}: {}", answer.body);
        assert!(answer.message().len() > 10, "{}", answer.message());
    }
    let absent = json!({"workId": "work_0198f3c2a1b47c3d8e9f001122334455", "baseVersion": 1, "operations": [{"remove": "a"}]});
    assert_eq!(
        owner
            .client
            .mutate("editNodes", absent, "{ __typename }")
            .await
            .code(),
        "NOT_FOUND"
    );
    assert_eq!(work.version().await, 1);
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

/// Mutations with values that can not be.
fn wrong_inputs(workspace: &str) -> Vec<(&'static str, Value, &'static str)> {
    vec![
        (
            "createWorkspace",
            json!({"name": ""}),
            "{ workspace { id } }",
        ),
        (
            "createWorkspace",
            json!({"name": "x".repeat(10_000)}),
            "{ workspace { id } }",
        ),
        (
            "createWork",
            json!({"workspaceId": workspace, "kind": "TEXT", "title": ""}),
            "{ work { id } }",
        ),
        (
            "createWork",
            json!({"workspaceId": workspace, "kind": "TEXT", "title": "x", "nodes": [{"fields": {}}]}),
            "{ work { id } }",
        ),
        (
            "createWork",
            json!({"workspaceId": workspace, "kind": "STORYBOARD", "title": "x", "text": "x"}),
            "{ work { id } }",
        ),
        (
            "createWork",
            json!({"workspaceId": workspace, "kind": "STORYBOARD", "title": "x", "edges": [{"source": "a", "target": "b"}]}),
            "{ work { id } }",
        ),
        (
            "createWork",
            json!({"workspaceId": workspace, "kind": "STORYBOARD", "title": "x", "nodes": [{"id": "a", "fields": {}}, {"id": "a", "fields": {}}]}),
            "{ work { id } }",
        ),
        (
            "createWork",
            json!({"workspaceId": workspace, "kind": "SCULPTURE", "title": "x"}),
            "{ work { id } }",
        ),
        (
            "addMember",
            json!({"workspaceId": workspace, "email": "no address", "role": "VIEWER"}),
            "{ member { role } }",
        ),
        (
            "createToken",
            json!({"label": "", "kind": "PERSONAL"}),
            "{ secret }",
        ),
        (
            "createUpload",
            json!({"workspaceId": workspace, "title": "x", "mediaType": "nonsense", "byteSize": 4}),
            "{ uploadUrl }",
        ),
        (
            "createUpload",
            json!({"workspaceId": workspace, "title": "x", "mediaType": "image/png", "byteSize": -1}),
            "{ uploadUrl }",
        ),
    ]
}

async fn wrong_input_changes_nothing(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let cursor = owner.event_cursor().await;
    for (field, input, selection) in wrong_inputs(&owner.workspace) {
        let answer = owner.client.mutate(field, input.clone(), selection).await;
        assert_eq!(
            answer.code(),
            "BAD_USER_INPUT",
            "{field} {input}: {}",
            answer.body
        );
    }
    assert_eq!(owner.event_cursor().await, cursor, "no event was written");
}

async fn a_defect_is_masked_and_named_by_the_id_of_its_request(installation: &Installation) {
    let (server, owner) = installation.open().await;
    for field in ["broken", "panics"] {
        let answer = owner
            .client
            .ask(&format!("{{ {field} }}"), Value::Null)
            .await;
        assert_eq!(answer.code(), "INTERNAL_SERVER_ERROR", "{}", answer.body);
        let request = answer.body["errors"][0]["extensions"]["requestId"]
            .as_str()
            .expect("an id")
            .to_owned();
        assert!(
            !answer.body.to_string().contains("secret internal detail"),
            "{}",
            answer.body
        );
        assert!(
            server.log().contains(&request),
            "the log names the request {request}"
        );
    }
    assert_eq!(
        owner
            .client
            .ask("{ viewer { user { id } } }", Value::Null)
            .await
            .status,
        200
    );
}

async fn a_person_who_asks_too_much_is_told_when_to_come_back(installation: &Installation) {
    let (_server, owner) = installation.open_with(&[("ATELIER_RATE_LIMIT", "5")]).await;
    let person = owner.invite("Ana", "EDITOR").await;
    let query = "{ viewer { workspaces(first: 20) { nodes { name } } } }";
    let mut refused = None;
    for _ in 0..200 {
        let answer = person.client.ask(query, Value::Null).await;
        if answer.body.get("errors").is_some() {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("at some time it is too much");
    assert_eq!(
        (refused.code(), refused.status.as_u16()),
        ("RATE_LIMITED", 429)
    );
    assert!(
        refused.body["errors"][0]["extensions"]["retryAfter"].is_number(),
        "{}",
        refused.body
    );
    // It counts by person: others go on.
    assert_eq!(
        owner
            .client
            .ask("{ viewer { user { id } } }", Value::Null)
            .await
            .status,
        200
    );
}

async fn a_query_that_takes_too_long_is_ended(installation: &Installation) {
    let (_server, owner) = installation
        .open_with(&[("ATELIER_QUERY_TIME", "300ms")])
        .await;
    let asked = tokio::time::timeout(
        Duration::from_secs(10),
        owner.client.ask("{ slow }", Value::Null),
    )
    .await;
    assert_eq!(asked.expect("an answer").code(), "TIMEOUT");
}

async fn queries_alone_are_taken_by_get(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let get = async |document: &str| {
        let url = format!("{}/graphql", server.address());
        let url = reqwest::Url::parse_with_params(&url, [("query", document)]).expect("a URL");
        let response = owner
            .client
            .http()
            .get(url)
            .bearer_auth(owner.client.secret())
            .send()
            .await
            .expect("an answer");
        (
            response.status().as_u16(),
            response.json::<Value>().await.expect("JSON"),
        )
    };
    let (status, body) = get("{ viewer { user { id } } }").await;
    assert_eq!(
        (status, &body["data"]["viewer"]["user"]["id"]),
        (200, &json!(owner.user))
    );
    let (status, body) =
        get("mutation { createWorkspace(input: { name: \"x\" }) { workspace { id } } }").await;
    assert_eq!(status, 405, "{body}");
    let form = owner
        .client
        .http()
        .post(format!("{}/graphql", server.address()))
        .bearer_auth(owner.client.secret());
    let form = form
        .header("content-type", "text/plain")
        .body("{\"query\":\"{ viewer { user { id } } }\"}")
        .send()
        .await;
    assert_eq!(form.expect("an answer").status(), 415);
}

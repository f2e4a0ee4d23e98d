//! Who comes in, how large and how often; what is told of the tools.

use reqwest::StatusCode;
use runtime::tools::Tools;
use serde_json::{Value, json};

use crate::harness::mcp::Mcp;
use crate::harness::people::text;
use crate::harness::tasks::list;
use crate::harness::{Client, Installation, Person, on_both_databases, on_sqlite};

on_both_databases![a_token_is_asked_for_and_felt_when_it_goes];
on_sqlite![
    tools_that_the_agent_has_too_take_the_same_arguments,
    what_is_no_request_is_refused_in_words,
    a_person_has_one_rate_at_all_doors,
    trusted_documents_alone_leave_the_tools_in_order,
];

async fn a_token_is_asked_for_and_felt_when_it_goes(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let listed = |client: &Client| {
        let mcp = Mcp::of(client);
        async move { mcp.ask("tools/list", json!({})).await.0 }
    };
    let stranger = Client::new(server.address(), "nonsense");
    assert_eq!(listed(&stranger).await, StatusCode::UNAUTHORIZED);
    let nobody = owner
        .client
        .http()
        .post(format!("{}/mcp", server.address()));
    let answer = nobody.json(&json!({})).send().await.expect("an answer");
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(answer.headers()["www-authenticate"], "Bearer");
    let guest = owner.invite("Guest", "EDITOR").await;
    assert_eq!(listed(&guest.client).await, StatusCode::OK);
    let input = json!({"id": guest.token});
    guest
        .client
        .change("revokeToken", input, "{ revokedId }")
        .await;
    assert_eq!(listed(&guest.client).await, StatusCode::UNAUTHORIZED);
    server.stop().await;
}

async fn tools_that_the_agent_has_too_take_the_same_arguments(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let mcp = Mcp::of(&owner.client);
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "proof", "version": "1"}});
    let met = mcp.run("initialize", hello).await;
    assert_eq!(met["serverInfo"]["name"], "atelier");
    assert!(text(&met["instructions"]).contains("base_version"));
    let listed = list(&mcp.run("tools/list", json!({})).await["tools"]);
    let mut shared = 0;
    for spec in Tools::default().specs() {
        let Some(tool) = listed.iter().find(|tool| tool["name"] == spec.name) else {
            continue;
        };
        shared += 1;
        let (ours, theirs) = (&tool["inputSchema"], &spec.parameters);
        assert_eq!(ours["required"], theirs["required"], "{}", spec.name);
        let names = |schema: &Value| -> Vec<String> {
            schema["properties"]
                .as_object()
                .expect("an object")
                .keys()
                .cloned()
                .collect()
        };
        let taken = names(ours);
        for name in names(theirs) {
            assert!(taken.contains(&name), "{}: {name}", spec.name);
        }
    }
    assert_eq!(shared, 9, "{listed:?}");
    server.stop().await;
}

async fn what_is_no_request_is_refused_in_words(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let mcp = Mcp::of(&owner.client);
    let call = |tool: &str| json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": {}}});
    // A page of somebody else.
    let foreign = mcp.request().header("Origin", "https://evil.example");
    let answer = foreign
        .json(&call("list_works"))
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    let own = mcp.request().header("Origin", server.address());
    let answer = own
        .json(&call("list_works"))
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status(), StatusCode::OK);
    // Too much, and nothing readable.
    let large = mcp
        .request()
        .body(vec![b' '; 300_000])
        .send()
        .await
        .expect("an answer");
    assert_eq!(large.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let garbled = mcp.request().header("Content-Type", "application/json");
    let answer = garbled
        .body("{\"jsonrpc\"")
        .send()
        .await
        .expect("an answer");
    assert!(answer.status().is_client_error(), "{}", answer.status());
    // A session or a stream is not offered.
    for method in [reqwest::Method::GET, reqwest::Method::DELETE] {
        let address = format!("{}/mcp", server.address());
        let request = owner.client.http().request(method, address);
        let request = request.bearer_auth(owner.client.secret());
        let answer = request
            .header("Accept", "text/event-stream")
            .send()
            .await
            .expect("an answer");
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
    }
    let (_, unknown) = mcp
        .ask(
            "tools/call",
            json!({"name": "drop_everything", "arguments": {}}),
        )
        .await;
    assert!(
        text(&unknown["error"]["message"]).contains("edit_nodes"),
        "{unknown}"
    );
    let misfit = mcp.refused("read_work", json!({"work": "x"})).await;
    assert_eq!(misfit["code"], "BAD_USER_INPUT");
    assert!(text(&misfit["message"]).contains("`work`"), "{misfit}");
    let odd = mcp
        .refused("read_work", json!({"work_id": "../../etc"}))
        .await;
    assert!(
        ["BAD_USER_INPUT", "NOT_FOUND"].contains(&text(&odd["code"]).as_str()),
        "{odd}"
    );
    let zero = mcp
        .refused("create_work", json!({"kind": "text", "title": "a\u{0}b"}))
        .await;
    assert_eq!(zero["code"], "BAD_USER_INPUT", "{zero}");
    // Who has several workspaces names one.
    Person::with_workspace(owner.client.clone(), "Second").await;
    let which = mcp.refused("list_works", json!({})).await;
    assert!(list(&which["workspaces"]).len() > 1, "{which}");
    server.stop().await;
}

async fn a_person_has_one_rate_at_all_doors(installation: &Installation) {
    let settings = [("ATELIER_RATE_LIMIT", "3")];
    let (server, owner) = installation.open_with(&settings).await;
    let mcp = Mcp::of(&owner.client);
    let mut last = StatusCode::OK;
    for _ in 0..200 {
        let (status, _) = mcp.ask("ping", json!({})).await;
        last = status;
        if !status.is_success() {
            break;
        }
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
    let elsewhere = owner
        .client
        .ask("{ viewer { user { id } } }", json!({}))
        .await;
    assert_eq!(elsewhere.code(), "RATE_LIMITED");
    server.stop().await;
}

async fn trusted_documents_alone_leave_the_tools_in_order(installation: &Installation) {
    let (server, owner) = installation.open_without_agent().await;
    let work = owner.create_text("Kept.").await;
    server.stop().await;
    let manifest = installation.folder().join("trusted.json");
    std::fs::write(&manifest, "{}").expect("a file");
    let manifest = manifest.to_str().expect("a path");
    let settings = [
        ("ATELIER_TRUSTED_DOCUMENTS", "only"),
        ("ATELIER_TRUSTED_DOCUMENTS_MANIFEST", manifest),
    ];
    let server = installation.start_with(&settings).await;
    let client = owner.client.at(server.address());
    let refused = client.ask("{ __typename }", json!({})).await;
    assert_eq!(refused.code(), "PERSISTED_DOCUMENT_REQUIRED");
    let read = Mcp::of(&client)
        .call("read_work", json!({"work_id": work.id}))
        .await;
    assert_eq!(read["text"], "Kept.");
    server.stop().await;
}

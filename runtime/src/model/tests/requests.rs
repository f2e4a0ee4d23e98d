//! What a provider is sent.

use serde_json::{Value, json};

use super::fake_server::Received;
use super::*;

/// A planner's request: prefix, two summaries, some history, and a tail.
fn planned() -> ModelRequest {
    ModelRequest {
        function: Function::Decide,
        model: None,
        messages: vec![
            message(Speaker::System, "Rules."),
            message(Speaker::System, "Week 1."),
            message(Speaker::System, "Week 2."),
            message(Speaker::Assistant, "I made six shots."),
            message(Speaker::User, "Warmer, please."),
            message(Speaker::System, "Budget: 5."),
        ],
        summaries: 2,
        situation: None,
        router: None,
    }
}

/// Sends a request to a server that replies well, and returns what arrived.
async fn sent(
    change: impl Fn(&mut ModelSettings),
    vendor: Vendor,
    request: &ModelRequest,
) -> Received {
    let body = vendor.call(request.function.name(), json!({"text": "", "summary": ""}));
    let server = FakeServer::replying(&body).await;
    let mut at_server = settings(vendor, &server);
    change(&mut at_server);
    let client = client(&at_server).expect("the settings are good");
    client.ask(request).await.expect("a reply");
    let mut received = server.received();
    assert_eq!(received.len(), 1);
    received.remove(0)
}

fn texts(blocks: &Value) -> Vec<&str> {
    let blocks = blocks.as_array().expect("a list");
    blocks
        .iter()
        .map(|block| block["text"].as_str().expect("a text"))
        .collect()
}

#[tokio::test]
async fn chat_completions_get_the_messages_in_order_and_one_forced_function() {
    let received = sent(|_| {}, Vendor::OpenAi, &planned()).await;
    assert_eq!(received.path, "/v1/chat/completions");
    assert_eq!(received.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(received.headers["content-type"], "application/json");
    let body = received.body();
    let function = json!({
        "name": "decide",
        "description": Function::Decide.description(),
        "parameters": Function::Decide.parameters(),
    });
    assert_eq!(
        body,
        json!({
            "model": "large",
            "messages": [
                {"role": "system", "content": "Rules."},
                {"role": "system", "content": "Week 1."},
                {"role": "system", "content": "Week 2."},
                {"role": "assistant", "content": "I made six shots."},
                {"role": "user", "content": "Warmer, please."},
                {"role": "system", "content": "Budget: 5."},
            ],
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": "decide"}},
        })
    );
}

#[tokio::test]
async fn messages_get_a_system_prompt_turns_and_one_forced_tool() {
    let received = sent(|_| {}, Vendor::Anthropic, &planned()).await;
    assert_eq!(received.path, "/v1/messages");
    assert_eq!(received.headers["x-api-key"], KEY);
    assert_eq!(received.headers["anthropic-version"], "2023-06-01");
    let body = received.body();
    assert_eq!(body["model"], "large");
    assert_eq!(body["max_tokens"], 8_192);
    assert_eq!(
        body["tool_choice"],
        json!({"type": "tool", "name": "decide"})
    );
    assert_eq!(
        body["tools"],
        json!([{
            "name": "decide",
            "description": Function::Decide.description(),
            "input_schema": Function::Decide.parameters(),
        }])
    );
    assert_eq!(texts(&body["system"]), ["Rules.", "Week 1.", "Week 2."]);
    let turns = body["messages"].as_array().expect("a list");
    let roles: Vec<&Value> = turns.iter().map(|turn| &turn["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert!(texts(&turns[0]["content"])[0].contains("left out"));
    assert_eq!(texts(&turns[1]["content"]), ["I made six shots."]);
    assert_eq!(
        texts(&turns[2]["content"]),
        ["Warmer, please.", "Budget: 5."]
    );
}

#[tokio::test]
async fn the_cache_ends_behind_the_prefix_and_behind_the_summaries() {
    let ephemeral = json!({"type": "ephemeral"});
    let body = sent(|_| {}, Vendor::Anthropic, &planned()).await.body();
    let marks: Vec<&Value> = (0..3)
        .map(|index| &body["system"][index]["cache_control"])
        .collect();
    assert_eq!(marks, [&ephemeral, &Value::Null, &ephemeral]);
    assert!(!body["messages"].to_string().contains("cache_control"));

    let mut said_by_user = planned();
    said_by_user.messages[1].speaker = Speaker::User;
    said_by_user.messages[2].speaker = Speaker::User;
    let body = sent(|_| {}, Vendor::Anthropic, &said_by_user).await.body();
    assert_eq!(body["system"][0]["cache_control"], ephemeral);
    assert_eq!(
        body["messages"][0]["content"][1]["cache_control"],
        ephemeral
    );

    let body = sent(|_| {}, Vendor::Anthropic, &request()).await.body();
    assert_eq!(body["system"][0]["cache_control"], ephemeral);
    assert!(!body["messages"].to_string().contains("cache_control"));
}

#[tokio::test]
async fn messages_get_no_blank_block_and_never_none_at_all() {
    let mut blank = planned();
    blank.messages.insert(4, message(Speaker::User, " \n"));
    let body = sent(|_| {}, Vendor::Anthropic, &blank).await.body();
    assert!(!body.to_string().contains("\" \\n\""));

    let mut rules = request();
    rules.messages = vec![
        message(Speaker::System, "Rules."),
        message(Speaker::System, "Now answer."),
    ];
    let body = sent(|_| {}, Vendor::Anthropic, &rules).await.body();
    assert_eq!(texts(&body["system"]), ["Rules."]);
    assert_eq!(texts(&body["messages"][0]["content"]), ["Now answer."]);
    assert_eq!(body["messages"][0]["role"], "user");
}

#[tokio::test]
async fn the_model_of_the_request_beats_the_configured_one() {
    for vendor in Vendor::BOTH {
        let configured =
            |settings: &mut ModelSettings| settings.executor_model = Some("writer".to_owned());
        let mut request = request();
        let received = sent(configured, vendor, &request).await;
        assert_eq!(received.body()["model"], "writer");
        request.model = Some("painter".to_owned());
        let received = sent(configured, vendor, &request).await;
        assert_eq!(received.body()["model"], "painter");
    }
}

#[tokio::test]
async fn a_limit_of_output_tokens_is_passed_on() {
    for vendor in Vendor::BOTH {
        let limited = |settings: &mut ModelSettings| settings.limits.output_tokens = Some(77);
        let received = sent(limited, vendor, &request()).await;
        assert_eq!(received.body()["max_tokens"], 77);
    }
}

#[tokio::test]
async fn a_server_that_wants_no_key_gets_none() {
    for (vendor, name) in [
        (Vendor::OpenAi, "authorization"),
        (Vendor::Anthropic, "x-api-key"),
    ] {
        for key in [None, Some(Secret::new(" "))] {
            let keyless = |settings: &mut ModelSettings| settings.api_key.clone_from(&key);
            let received = sent(keyless, vendor, &request()).await;
            assert!(!received.headers.contains_key(name));
        }
    }
}

#[tokio::test]
async fn the_same_request_is_sent_as_the_same_bytes() {
    for vendor in Vendor::BOTH {
        let first = sent(|_| {}, vendor, &planned()).await;
        let second = sent(|_| {}, vendor, &planned()).await;
        assert_eq!(first.raw, second.raw);
    }
}

//! What becomes of a provider's reply: a call, a misfit that the model is told of, or a refusal.

use serde_json::{Value, json};

use super::vendor::Ends;
use super::*;

async fn asked(vendor: Vendor, body: &Value) -> Result<ModelReply, ModelError> {
    let server = FakeServer::replying(body).await;
    let outcome = client_of(vendor, &server).ask(&request()).await;
    assert_eq!(server.received().len(), 1, "one attempt is one request");
    outcome
}

#[track_caller]
fn assert_misfit(outcome: Result<ModelReply, ModelError>, expected: &str) -> String {
    match outcome {
        Err(ModelError::Misfit { problem, said, .. }) => {
            assert!(problem.contains(expected), "{problem}");
            said
        }
        other => panic!("not a misfit: {other:?}"),
    }
}

#[tokio::test]
async fn a_call_is_a_reply_with_what_the_provider_counted() {
    for vendor in Vendor::BOTH {
        let body = vendor.call("answer", json!({"text": "Rain, again."}));
        let reply = asked(vendor, &body).await.expect("a call");
        let usage = ModelUsage {
            input: 120,
            cached: 100,
            output: 7,
        };
        let model = "large-2026".to_owned();
        let arguments = json!({"text": "Rain, again."});
        assert_eq!(
            reply,
            ModelReply {
                arguments,
                model,
                usage
            }
        );
    }
}

#[tokio::test]
async fn of_several_calls_the_first_of_the_right_function_counts() {
    for vendor in Vendor::BOTH {
        let calls = [
            ("decide", json!({"next": "wait"})),
            ("answer", json!({"text": "first"})),
            ("answer", json!({"text": "second"})),
        ];
        let body = vendor.reply(&calls, "Let me see.", Ends::Well);
        let reply = asked(vendor, &body).await.expect("a call");
        assert_eq!(reply.arguments, json!({"text": "first"}), "{vendor:?}");
    }
}

#[tokio::test]
async fn arguments_off_the_schema_are_a_reply_that_the_engine_checks() {
    for vendor in Vendor::BOTH {
        let body = vendor.call("answer", json!({"words": 3}));
        let reply = asked(vendor, &body).await.expect("a call");
        let text = check(Function::Answer, &reply.arguments).expect_err("it does not fit");
        assert!(text.contains("`text` is missing"), "{text}");
    }
}

#[tokio::test]
async fn a_call_that_is_written_as_text_is_taken_if_it_fits() {
    for vendor in Vendor::BOTH {
        let body = vendor.prose("```json\n{\"text\": \"Rain.\"}\n```");
        let reply = asked(vendor, &body).await.expect("a call");
        assert_eq!(reply.arguments, json!({"text": "Rain."}));
        let body = vendor.prose("```json\n{\"line\": \"Rain.\"}\n```");
        assert_misfit(asked(vendor, &body).await, "prose");
    }
}

#[tokio::test]
async fn a_reply_that_is_no_call_is_a_misfit_that_says_why() {
    for vendor in Vendor::BOTH {
        let other = [("write_file", json!({"path": "/etc"}))];
        for (body, expected, said) in [
            (
                vendor.prose("It rains."),
                "you answered with prose; call `answer`",
                "It rains.",
            ),
            (vendor.prose(""), "the reply is empty; call `answer`", ""),
            (vendor.prose(" \n"), "the reply is empty", " \n"),
            (
                vendor.reply(&other, "", Ends::Well),
                "you called `write_file`, which was not asked for; call `answer`",
                "/etc",
            ),
            (
                vendor.reply(&[], "It rai", Ends::AtTheLimit),
                "broke off",
                "It rai",
            ),
            (vendor.reply(&[], "", Ends::AtTheLimit), "broke off", ""),
        ] {
            let outcome = asked(vendor, &body).await;
            if let Err(ModelError::Misfit { usage, .. }) = &outcome {
                assert_eq!(
                    (usage.input, usage.output),
                    (120, 7),
                    "a misfit is paid for"
                );
            }
            assert!(assert_misfit(outcome, expected).contains(said));
        }
    }
}

#[tokio::test]
async fn a_model_that_would_not_answer_is_not_asked_again() {
    for vendor in Vendor::BOTH {
        let body = vendor.reply(&[], "I can't help with that.", Ends::Refusing);
        let error = asked(vendor, &body).await.expect_err("refused");
        let text = error.to_string();
        assert!(matches!(error, ModelError::Refused(_)), "{vendor:?}");
        assert!(text.contains("would not answer: I can't help"), "{text}");
    }
    let mut body = Vendor::OpenAi.prose("");
    body["choices"][0]["finish_reason"] = json!("content_filter");
    let error = asked(Vendor::OpenAi, &body).await.expect_err("refused");
    assert!(error.to_string().contains("content filter"), "{error}");
}

#[tokio::test]
async fn an_answer_without_what_it_should_have_is_an_empty_reply() {
    for vendor in Vendor::BOTH {
        for body in [
            json!({}),
            json!([]),
            json!(null),
            json!({"choices": []}),
            json!({"choices": [{"message": null}]}),
            json!({"content": []}),
            json!({"content": null, "stop_reason": 7}),
        ] {
            assert_misfit(asked(vendor, &body).await, "the reply is empty");
        }
    }
}

#[tokio::test]
async fn json_that_broke_off_or_is_none_is_a_misfit() {
    let vendor = Vendor::OpenAi;
    for (text, expected) in [
        ("{\"text\": \"Rai", "broke off"),
        ("", "has no arguments"),
        ("{\"text\": \"\\ud800\"}", "are no JSON"),
        ("Rain.", "are no JSON"),
    ] {
        let body = vendor.call("answer", json!(text));
        assert_eq!(assert_misfit(asked(vendor, &body).await, expected), text);
        let body = vendor.reply(&[("answer", json!(text))], "", Ends::AtTheLimit);
        assert_misfit(asked(vendor, &body).await, "broke off");
    }
    let deep = "[".repeat(100_000);
    let body = vendor.call("answer", json!(deep));
    assert_misfit(asked(vendor, &body).await, "recursion limit");
}

#[tokio::test]
async fn json_that_came_to_its_end_at_the_limit_is_a_reply() {
    let whole = [("answer", json!("{\"text\": \"Rain.\"}"))];
    let body = Vendor::OpenAi.reply(&whole, "", Ends::AtTheLimit);
    asked(Vendor::OpenAi, &body).await.expect("a call");
    // Here the provider closed what broke off, so nobody knows.
    let closed = [("answer", json!({"text": "Ra"}))];
    let body = Vendor::Anthropic.reply(&closed, "", Ends::AtTheLimit);
    assert_misfit(asked(Vendor::Anthropic, &body).await, "broke off");
}

#[tokio::test]
async fn servers_that_speak_with_an_accent_are_understood() {
    let vendor = Vendor::OpenAi;
    let mut object = vendor.call("answer", json!({}));
    object["choices"][0]["message"]["tool_calls"][0] =
        json!({"function": {"name": "answer", "arguments": {"text": "Rain."}}});
    object["choices"][0]["finish_reason"] = json!("eos");
    let mut parts = vendor.prose("");
    parts["choices"][0]["message"]["content"] =
        json!([{"type": "text", "text": "{\"text\": \"Rain.\"}"}]);
    for mut body in [object, parts] {
        body["usage"] = json!({"prompt_tokens": 3, "completion_tokens": null});
        body["model"] = json!(null);
        let reply = asked(vendor, &body).await.expect("a call");
        assert_eq!(reply.arguments, json!({"text": "Rain."}));
        assert_eq!(
            (reply.usage.input, reply.usage.output, reply.usage.cached),
            (3, 0, 0)
        );
    }
}

#[tokio::test]
async fn what_a_provider_does_not_count_is_zero() {
    for vendor in Vendor::BOTH {
        let mut body = vendor.call("answer", json!({"text": ""}));
        body.as_object_mut().expect("an object").remove("usage");
        let reply = asked(vendor, &body).await.expect("a call");
        assert_eq!(reply.usage, ModelUsage::default());
    }
}

//! What becomes of a provider that fails, is silent, breaks off, sends too much or sends somewhere else.

use serde_json::json;
use tokio::net::TcpListener;

use super::fake_server::Answer;
use super::*;

/// What is left of a failure, for tables.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Unavailable(Option<Duration>),
    Refused,
}

fn kind_of(error: &ModelError) -> Kind {
    match error {
        ModelError::Unavailable { retry_after, .. } => Kind::Unavailable(*retry_after),
        ModelError::Refused(_) => Kind::Refused,
        ModelError::Misfit { .. } => panic!("a failure is no misfit: {error:?}"),
    }
}

async fn failed(vendor: Vendor, answer: Answer) -> ModelError {
    let server = FakeServer::answering([answer]).await;
    let outcome = client_of(vendor, &server).ask(&request()).await;
    assert_eq!(server.received().len(), 1, "one attempt is one request");
    outcome.expect_err("it fails")
}

#[tokio::test]
async fn statuses_say_whether_asking_again_can_help() {
    for vendor in Vendor::BOTH {
        for (status, expected) in [
            (400, Kind::Refused),
            (401, Kind::Refused),
            (403, Kind::Refused),
            (404, Kind::Refused),
            (413, Kind::Refused),
            (422, Kind::Refused),
            (429, Kind::Unavailable(None)),
            (500, Kind::Unavailable(None)),
            (502, Kind::Unavailable(None)),
            (503, Kind::Unavailable(None)),
            (529, Kind::Unavailable(None)),
        ] {
            let answer = Answer::status(status, vendor.error("no such\nmodel"));
            let error = failed(vendor, answer).await;
            assert_eq!(kind_of(&error), expected, "{status}");
            let text = error.to_string();
            assert!(text.contains(&status.to_string()), "{text}");
            assert!(text.contains("no such model"), "{text}");
        }
    }
}

#[tokio::test]
async fn the_providers_words_are_found_where_servers_put_them_and_told_in_part() {
    let long = "ж".repeat(10_000);
    for (body, expected) in [
        (json!({"message": "bad luck"}).to_string(), "bad luck"),
        (json!({"error": "bad luck"}).to_string(), "bad luck"),
        (json!({"detail": "bad luck"}).to_string(), "bad luck"),
        (json!({"unknown": "bad luck"}).to_string(), "bad luck"),
        ("<h1>bad luck</h1>".to_owned(), "<h1>bad luck</h1>"),
        (String::new(), "400 Bad Request"),
        (json!({"message": long}).to_string(), "жж…"),
    ] {
        let text = failed(Vendor::OpenAi, Answer::status(400, body))
            .await
            .to_string();
        assert!(text.contains(expected), "{text}");
        assert!(text.chars().count() < 600, "{text}");
    }
}

#[tokio::test]
async fn the_providers_word_on_when_to_ask_again_is_understood() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    let after = |text: &str, date: &str| {
        let headers = vec![("retry-after", text.to_owned()), ("date", date.to_owned())];
        Answer::Plain(429, headers, String::new())
    };
    for (text, seconds) in [
        ("7", Some(7.0)),
        (" 0 ", Some(0.0)),
        ("1.5", Some(1.5)),
        ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60.0)),
        ("Sun, 06 Nov 1994 08:49:00 GMT", Some(0.0)),
        ("soon", None),
        ("-1", None),
        ("inf", None),
        ("NaN", None),
        ("", None),
    ] {
        for vendor in Vendor::BOTH {
            let error = failed(vendor, after(text, date)).await;
            let expected = seconds.map(Duration::from_secs_f64);
            assert_eq!(kind_of(&error), Kind::Unavailable(expected), "{text}");
        }
    }
}

#[tokio::test]
async fn a_gateway_that_fails_with_status_200_is_believed_to_have_failed() {
    let body = |code: serde_json::Value| json!({"error": {"code": code, "message": "upstream"}});
    for (code, expected) in [
        (json!(429), Kind::Unavailable(None)),
        (json!(400), Kind::Refused),
        (json!("overloaded"), Kind::Unavailable(None)),
        (json!(200), Kind::Unavailable(None)),
    ] {
        let error = failed(Vendor::OpenAi, Answer::json(&body(code))).await;
        assert_eq!(kind_of(&error), expected);
        assert!(error.to_string().contains("upstream"), "{error}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_json_or_breaks_off_may_be_better_the_next_time() {
    for vendor in Vendor::BOTH {
        for (answer, expected) in [
            (
                Answer::status(200, "<html>Welcome to the hotel</html>"),
                "is no JSON",
            ),
            (Answer::status(200, ""), "is no JSON"),
            (Answer::Broken, "the connection broke"),
        ] {
            let error = failed(vendor, answer).await;
            assert_eq!(kind_of(&error), Kind::Unavailable(None));
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}

#[tokio::test]
async fn a_silent_provider_is_waited_for_only_so_long() {
    for vendor in Vendor::BOTH {
        let server = FakeServer::answering([Answer::Silence]).await;
        let mut settings = settings(vendor, &server);
        settings.limits.request_time = Duration::from_millis(100);
        let client = client(&settings).expect("the settings are good");
        let error = client.ask(&request()).await.expect_err("silence");
        assert_eq!(kind_of(&error), Kind::Unavailable(None));
        assert!(
            error.to_string().contains("no answer within 100ms"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_provider_that_is_not_there_or_hangs_up_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let mut settings = ModelSettings::new(ModelProvider::OpenAi);
    settings.model = Some("large".to_owned());
    settings.retry.attempts = 1;
    settings.base_url = Some(format!("http://{address}/v1").parse().expect("a URL"));
    let client = client(&settings).expect("the settings are good");

    let request = request();
    let hangs_up = async { drop(listener.accept().await.expect("somebody comes")) };
    let (outcome, ()) = tokio::join!(client.ask(&request), hangs_up);
    let error = outcome.expect_err("it hangs up");
    assert!(
        error.to_string().contains("the connection broke"),
        "{error}"
    );

    drop(listener);
    let error = client.ask(&request).await.expect_err("nobody is there");
    assert_eq!(kind_of(&error), Kind::Unavailable(None));
    let text = error.to_string();
    assert!(
        text.contains("no connection") && text.contains("refused"),
        "{text}"
    );
}

#[tokio::test]
async fn a_reply_that_is_too_large_is_a_misfit() {
    for vendor in Vendor::BOTH {
        let told = Answer::json(&vendor.call("answer", json!({"text": "x".repeat(2_000_000)})));
        for answer in [told, Answer::Flood(64 << 20)] {
            let server = FakeServer::answering([answer]).await;
            let mut settings = settings(vendor, &server);
            settings.limits.largest_reply = 1 << 20;
            let client = client(&settings).expect("the settings are good");
            let outcome = client.ask(&request()).await;
            let Err(ModelError::Misfit { problem, .. }) = outcome else {
                panic!("not a misfit: {outcome:?}");
            };
            assert!(problem.contains("more than 1048576 bytes"), "{problem}");
        }
    }
}

#[tokio::test]
async fn a_request_that_is_too_large_is_refused_with_its_size_and_not_sent() {
    for vendor in Vendor::BOTH {
        let server = FakeServer::answering([]).await;
        let mut settings = settings(vendor, &server);
        settings.limits.largest_request = 100_000;
        let client = client(&settings).expect("the settings are good");
        let mut request = request();
        request
            .messages
            .push(message(Speaker::User, &"x".repeat(200_000)));
        let error = client.ask(&request).await.expect_err("it is too large");
        assert_eq!(kind_of(&error), Kind::Refused);
        let text = error.to_string();
        assert!(text.contains("at most 100000 are sent"), "{text}");
        assert!(text.contains("message 3 of 3 with 200000 bytes"), "{text}");
        assert!(server.received().is_empty());
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    for vendor in Vendor::BOTH {
        let elsewhere = FakeServer::answering([]).await;
        let headers = vec![("location", elsewhere.url().to_string())];
        let error = failed(vendor, Answer::Plain(307, headers, String::new())).await;
        assert_eq!(kind_of(&error), Kind::Refused);
        assert!(error.to_string().contains("redirect"), "{error}");
        assert!(elsewhere.received().is_empty());
    }
}

//! What may never be seen: the key, and what is said in prompts and replies.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Mutex;

use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use super::fake_server::Answer;
use super::*;

const PROMPT: &str = "a secret garden behind the station";

/// Everything that was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        let bytes = self.0.lock().expect("not poisoned");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .expect("not poisoned")
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Providers that repeat the key in what they say, and one that replies.
fn answers(vendor: Vendor) -> Vec<Answer> {
    let mut answers: Vec<Answer> = [401, 400, 429, 503]
        .map(|status| Answer::status(status, vendor.error(&format!("{KEY} is no key, {KEY}!"))))
        .into();
    answers.push(Answer::status(401, format!("no JSON: Bearer {KEY}")));
    answers.push(Answer::json(
        &json!({"error": {"message": format!("{KEY} upstream")}}),
    ));
    answers.push(Answer::Broken);
    answers.push(Answer::json(
        &vendor.call("answer", json!({"text": PROMPT})),
    ));
    answers
}

#[tokio::test]
async fn the_key_is_in_no_error_no_description_and_no_log() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
        .with_writer(log.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let mut request = request();
    request.messages.push(message(Speaker::User, PROMPT));
    for vendor in Vendor::BOTH {
        let answers = answers(vendor);
        let count = answers.len();
        let server = FakeServer::answering(answers).await;
        let mut settings = settings(vendor, &server);
        // Some are asked again, so that what is logged then is seen as well.
        settings.retry.attempts = 2;
        settings.retry.first_pause = Duration::from_millis(1);
        let client = client(&settings).expect("the settings are good");
        let provider = match vendor {
            Vendor::OpenAi => format!("{:?}", openai::OpenAi::try_new(&settings)),
            Vendor::Anthropic => format!("{:?}", anthropic::Anthropic::try_new(&settings)),
        };
        let mut seen = format!("{settings:?} {provider}");
        while server.received().len() < count {
            match client.ask(&request).await {
                Ok(reply) => seen.push_str(&reply.model),
                Err(error) => write!(seen, "{error:?} {error}").expect("a text takes more"),
            }
        }
        assert!(seen.contains("is no key"), "{seen}");
        assert!(!seen.contains("hunter2"), "{seen}");
    }
    let log = log.text();
    assert!(log.contains("model.ask{provider=\"openai\""), "{log}");
    assert!(log.contains("a model is asked again"));
    assert!(!log.contains("hunter2") && !log.contains("garden"), "{log}");
}

#[test]
fn the_span_of_an_attempt_says_who_was_asked_for_what_and_how_it_ended() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::CLOSE)
        .with_writer(log.clone())
        .finish();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    tracing::subscriber::with_default(subscriber, || {
        let script = Scripted::queue([Ok(Scripted::reply(json!({"text": "Rain."})))]);
        let retry = Retry::new(script, RetryPolicy::default());
        runtime.block_on(retry.ask(&request())).expect("a reply");
    });
    let log = log.text();
    let expected = "model.ask{provider=\"scripted\" function=\"answer\" attempt=1 outcome=\"replied\" model=\"scripted\"}";
    assert!(log.contains(expected), "{log}");
}

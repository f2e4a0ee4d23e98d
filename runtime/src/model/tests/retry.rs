//! Asking again, with a time that moves by itself.

use std::future::pending;
use std::sync::Mutex;

use async_trait::async_trait;
use serde_json::json;

use super::fake_server::Answer;
use super::*;

/// Time that passes only while somebody sleeps, and chance that is always the same part of what is possible.
#[derive(Debug)]
struct FakeTimer {
    now: Mutex<Duration>,
    slept: Mutex<Vec<Duration>>,
    chance: f64,
}

impl FakeTimer {
    fn new(chance: f64) -> Arc<Self> {
        Arc::new(Self {
            now: Mutex::default(),
            slept: Mutex::default(),
            chance,
        })
    }

    fn advance(&self, duration: Duration) {
        *self.now.lock().expect("not poisoned") += duration;
    }

    fn slept(&self) -> Vec<u64> {
        let slept = self.slept.lock().expect("not poisoned");
        slept
            .iter()
            .map(|duration| duration.as_millis() as u64)
            .collect()
    }
}

#[async_trait]
impl RetryTimer for FakeTimer {
    fn elapsed(&self) -> Duration {
        *self.now.lock().expect("not poisoned")
    }

    async fn sleep(&self, duration: Duration) {
        self.slept.lock().expect("not poisoned").push(duration);
        self.advance(duration);
    }

    fn chance(&self, longest: Duration) -> Duration {
        longest.mul_f64(self.chance)
    }
}

fn unavailable(retry_after: Option<u64>) -> ScriptedReply {
    Err(ModelError::Unavailable {
        reason: "status 503".to_owned(),
        retry_after: retry_after.map(Duration::from_secs),
    })
}

fn reply() -> ModelReply {
    Scripted::reply(json!({"text": "Rain."}))
}

fn policy(attempts: u32) -> RetryPolicy {
    RetryPolicy {
        attempts,
        first_pause: Duration::from_secs(1),
        longest_pause: Duration::from_secs(5),
        time: Duration::from_mins(1),
    }
}

async fn asked(
    script: &Arc<Scripted>,
    policy: RetryPolicy,
    timer: &Arc<FakeTimer>,
) -> ScriptedReply {
    let retry = Retry::with_timer(script.clone(), policy, timer.clone());
    retry.ask(&request()).await
}

#[tokio::test]
async fn an_unavailable_model_is_asked_again_until_it_replies() {
    let script = Scripted::queue([unavailable(None), unavailable(None), Ok(reply())]);
    let timer = FakeTimer::new(1.0);
    asked(&script, policy(5), &timer).await.expect("a reply");
    assert_eq!(script.requests(), vec![request(); 3]);
    assert_eq!(timer.slept(), [1_000, 2_000]);
}

#[tokio::test]
async fn pauses_double_up_to_a_longest_one_and_any_part_of_them_is_taken() {
    for (chance, expected) in [
        (1.0, [1_000, 2_000, 4_000, 5_000, 5_000]),
        (0.5, [500, 1_000, 2_000, 2_500, 2_500]),
        (0.0, [0, 0, 0, 0, 0]),
    ] {
        let script = Scripted::answering(|_| async { unavailable(None) });
        let timer = FakeTimer::new(chance);
        asked(&script, policy(6), &timer).await.expect_err("never");
        assert_eq!(timer.slept(), expected);
        assert_eq!(script.requests().len(), 6);
    }
}

#[tokio::test]
async fn the_providers_own_moment_is_not_come_before() {
    let script = Scripted::queue([unavailable(Some(30)), unavailable(Some(0)), Ok(reply())]);
    let timer = FakeTimer::new(0.5);
    asked(&script, policy(5), &timer).await.expect("a reply");
    assert_eq!(timer.slept(), [30_500, 500]);
}

#[tokio::test]
async fn a_moment_beyond_the_time_is_handed_on_at_once() {
    let script = Scripted::queue([unavailable(Some(3_600))]);
    let timer = FakeTimer::new(0.5);
    let error = asked(&script, policy(5), &timer).await.expect_err("later");
    let ModelError::Unavailable { retry_after, .. } = error else {
        panic!("not unavailable: {error:?}");
    };
    assert_eq!(retry_after, Some(Duration::from_hours(1)));
    assert_eq!(timer.slept(), [0_u64; 0]);
}

#[tokio::test]
async fn misfits_and_refusals_are_not_asked_again() {
    let misfit = ModelError::Misfit {
        problem: "prose".to_owned(),
        said: String::new(),
        usage: ModelUsage::default(),
    };
    for error in [misfit, ModelError::Refused("wrong key".to_owned())] {
        let expected = error.to_string();
        let script = Scripted::queue([Err(error)]);
        let error = asked(&script, policy(5), &FakeTimer::new(1.0)).await;
        assert_eq!(error.expect_err("it fails").to_string(), expected);
        assert_eq!(script.requests().len(), 1);
    }
}

#[tokio::test]
async fn all_attempts_together_end_within_their_time() {
    let timer = FakeTimer::new(1.0);
    let slow = timer.clone();
    let script = Scripted::answering(move |_| {
        slow.advance(Duration::from_secs(25));
        async { unavailable(None) }
    });
    asked(&script, policy(100), &timer).await.expect_err("late");
    assert_eq!(script.requests().len(), 3);

    let timer = FakeTimer::new(1.0);
    let script = Scripted::answering(|_| pending());
    let error = asked(&script, policy(100), &timer).await.expect_err("late");
    assert!(
        error.to_string().contains("no answer within the 60s"),
        "{error}"
    );
    assert_eq!(timer.elapsed(), Duration::from_mins(1));
}

#[tokio::test]
async fn one_attempt_is_made_even_if_none_is_allowed() {
    let script = Scripted::queue([unavailable(None)]);
    asked(&script, policy(0), &FakeTimer::new(1.0))
        .await
        .expect_err("once");
    assert_eq!(script.requests().len(), 1);
}

#[tokio::test]
async fn a_client_of_the_settings_asks_again() {
    for vendor in Vendor::BOTH {
        let again = vec![("retry-after", "0".to_owned())];
        let server = FakeServer::answering([
            Answer::Plain(429, again, String::new()),
            Answer::status(503, ""),
            Answer::json(&vendor.call("answer", json!({"text": "Rain."}))),
        ])
        .await;
        let mut settings = settings(vendor, &server);
        settings.retry.attempts = 3;
        settings.retry.first_pause = Duration::from_millis(1);
        let client = client(&settings).expect("the settings are good");
        client.ask(&request()).await.expect("a reply");
        assert_eq!(server.received().len(), 3);
    }
}

#[test]
fn every_attempt_is_counted() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    metrics::with_local_recorder(&recorder, || {
        let script = Scripted::queue([unavailable(None), unavailable(None), Ok(reply())]);
        let timer = FakeTimer::new(1.0);
        runtime
            .block_on(asked(&script, policy(5), &timer))
            .expect("a reply");
    });
    let seen = recorder.handle().render();
    for (outcome, count) in [("unavailable", 2), ("replied", 1)] {
        let line = format!(
            "atelier_model_attempts_total{{provider=\"scripted\",function=\"answer\",outcome=\"{outcome}\"}} {count}"
        );
        assert!(seen.contains(&line), "{seen}");
    }
}

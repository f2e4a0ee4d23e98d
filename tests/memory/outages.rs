//! Whoever makes vectors is away, slow, or talks nonsense: tasks go on in time with what words find, it is said beside what was found, and
//! nothing that was stored is made anew.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::harness::model::decision;
use crate::harness::people::text;
use crate::harness::tasks::list;
use crate::harness::{Installation, Planner, Task, eventually, on_both_databases};

on_both_databases![recall_without_meanings_is_in_time_and_says_so];

/// How much longer a task may wait for a memory that does not answer.
const EXTRA: Duration = Duration::from_millis(300);
/// What is remembered.
const BRAND: &str = "Our brand is a kingfisher";
/// Dimensions of a good vector.
const WIDTH: usize = 64;
/// How often each is measured; the fastest counts, because others work on the machine.
const TIMES: usize = 3;

/// How the endpoint answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Good,
    /// It says that it is away.
    Away,
    /// After five seconds.
    Slow,
    /// Vectors of another length.
    Short,
    /// Fewer vectors than texts.
    Few,
    /// No vectors at all.
    Prose,
    /// Numbers that are none.
    Infinite,
}

/// All but the good one.
const AWAY: [Manner; 6] = [
    Manner::Away,
    Manner::Slow,
    Manner::Short,
    Manner::Few,
    Manner::Prose,
    Manner::Infinite,
];

/// An endpoint of embeddings: what it is asked for, and how it answers.
#[derive(Clone)]
struct Endpoint {
    manner: Arc<Mutex<Manner>>,
    texts: Arc<Mutex<Vec<String>>>,
}

impl Endpoint {
    /// It, and where it listens.
    async fn start() -> (Self, String) {
        let endpoint = Self {
            manner: Arc::new(Mutex::new(Manner::Good)),
            texts: Arc::default(),
        };
        let router = Router::new()
            .route("/v1/embeddings", post(embed))
            .with_state(endpoint.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move { axum::serve(listener, router).await });
        (endpoint, format!("http://{address}/v1/"))
    }

    fn answer(&self, manner: Manner) {
        *self.manner.lock().expect("a lock") = manner;
    }

    /// How often a good vector of this text was made.
    fn made(&self, text: &str) -> usize {
        let texts = self.texts.lock().expect("a lock");
        texts.iter().filter(|made| *made == text).count()
    }
}

async fn embed(
    State(endpoint): State<Endpoint>,
    Json(request): Json<Value>,
) -> (StatusCode, Json<Value>) {
    let manner = *endpoint.manner.lock().expect("a lock");
    let texts = list(&request["input"]);
    let item = |index: usize, vector: Value| json!({"index": index, "embedding": vector});
    let all = |vector: &dyn Fn(&str) -> Value| {
        let items = texts.iter().enumerate();
        let items = items.map(|(index, one)| item(index, vector(&text(one))));
        json!({"data": items.collect::<Vec<_>>()})
    };
    let answer = match manner {
        Manner::Away => return (StatusCode::SERVICE_UNAVAILABLE, Json(Value::Null)),
        Manner::Slow => {
            tokio::time::sleep(Duration::from_secs(5)).await;
            all(&|text| json!(vector(text)))
        }
        Manner::Good => {
            let mut made = endpoint.texts.lock().expect("a lock");
            made.extend(texts.iter().map(text));
            all(&|text| json!(vector(text)))
        }
        Manner::Short => all(&|_| json!([1.0, 0.5, 0.25])),
        Manner::Few => json!({"data": []}),
        Manner::Prose => json!({"data": "as many as you like"}),
        Manner::Infinite => all(&|_| json!(vec![1e39; WIDTH])),
    };
    (StatusCode::OK, Json(answer))
}

/// A dimension for each of some words.
fn vector(text: &str) -> Vec<f64> {
    let mut vector = vec![0.01; WIDTH];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
        let hash = word.bytes().fold(7_usize, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(byte.into())
        });
        vector[hash % WIDTH] += 1.0;
    }
    vector
}

/// A result of `recall`, and how long the call took.
struct Recalled {
    result: Value,
    took: Duration,
}

impl Recalled {
    /// Whether the brand is among what was found; what came of the task itself may be there as well.
    fn has_brand(&self) -> bool {
        let memories = list(&self.result["memories"]);
        memories.iter().any(|one| one["content"] == BRAND)
    }
}

const CALLS: &str =
    "turns(last: 1) { nodes { steps { calls { tool state result startedAt endedAt } } } }";

/// The task is asked once more, recalls, and comes to its end.
async fn recall(task: &Task, round: usize) -> Recalled {
    task.post(&format!("Go on, round {round}")).await;
    let mut found = None;
    eventually("it has recalled and is delivered", async || {
        let shown = task.show(&format!("status {CALLS}")).await;
        let turns = list(&shown["turns"]["nodes"]);
        let steps = turns
            .first()
            .map(|turn| list(&turn["steps"]))
            .unwrap_or_default();
        let calls = steps.iter().flat_map(|step| list(&step["calls"]));
        let mut recalls = calls.filter(|call| call["tool"] == "recall" && call["state"] == "DONE");
        found = recalls.next_back();
        found.is_some() && shown["status"] == "DELIVERED"
    })
    .await;
    let call = found.expect("a call");
    let moment = |member: &str| -> f64 {
        let text = text(&call[member]);
        let (_, time) = text.split_once('T').expect("a moment");
        let parts = time.trim_end_matches('Z').split(':');
        parts.fold(0.0, |sum, part| {
            sum * 60.0 + part.parse::<f64>().expect("a number")
        })
    };
    let seconds = moment("endedAt") - moment("startedAt");
    Recalled {
        result: call["result"].clone(),
        // Past midnight it is as if it had taken no time, and another one counts.
        took: Duration::from_secs_f64(seconds.max(0.0)),
    }
}

/// The fastest of some, each of which must be so.
async fn fastest(task: &Task, rounds: &mut usize, check: impl Fn(&Recalled)) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..TIMES {
        *rounds += 1;
        let recalled = recall(task, *rounds).await;
        check(&recalled);
        best = best.min(recalled.took);
    }
    best
}

/// Words find what is remembered, in time, and it is said that meanings did not.
async fn goes_on_without(task: &Task, rounds: &mut usize, (manner, usual): (Manner, Duration)) {
    let took = fastest(task, rounds, |recalled| {
        let degraded = &recalled.result["degraded"];
        assert_eq!(degraded, &json!(["meanings"]), "{manner:?}");
        assert!(recalled.has_brand(), "{manner:?}: {}", recalled.result);
    })
    .await;
    eprintln!("{manner:?}: {took:?}, usually {usual:?}");
    assert!(
        took < usual + EXTRA,
        "{manner:?}: {took:?}, usually {usual:?}"
    );
}

async fn recall_without_meanings_is_in_time_and_says_so(installation: &Installation) {
    let decide = |_: u32, step: u32, _: &str| {
        let recall =
            json!([{"tool": "recall", "arguments": {"query": "the brand of the kingfisher"}}]);
        decision(step > 1, &if step == 1 { recall } else { json!([]) })
    };
    let planner = Planner::start(decide).await;
    let (endpoint, address) = Endpoint::start().await;
    let mut settings = planner.settings().to_vec();
    settings.extend([
        ("ATELIER_EMBEDDINGS_PROVIDER", "openai"),
        ("ATELIER_EMBEDDINGS_BASE_URL", address.as_str()),
        ("ATELIER_EMBEDDINGS_MODEL", "bags"),
    ]);
    let (server, owner) = installation.open_with(&settings).await;
    owner
        .remember(json!({"content": BRAND, "scope": "WORKSPACE"}))
        .await;
    let task = owner.create_task("A poster").await;
    let mut rounds = 0;
    eventually("both legs answer", async || {
        rounds += 1;
        let recalled = recall(&task, rounds).await;
        recalled.result["degraded"].is_null() && recalled.has_brand()
    })
    .await;
    let usual = fastest(&task, &mut rounds, |recalled| {
        assert!(recalled.has_brand(), "{}", recalled.result);
    })
    .await;
    let made = endpoint.made(BRAND);
    for (number, manner) in AWAY.into_iter().enumerate() {
        endpoint.answer(manner);
        let late = format!("The kingfisher has {number} eggs");
        owner
            .remember(json!({"content": late, "scope": "WORKSPACE"}))
            .await;
        goes_on_without(&task, &mut rounds, (manner, usual)).await;
    }
    endpoint.answer(Manner::Good);
    eventually("both legs answer again", async || {
        rounds += 1;
        let recalled = recall(&task, rounds).await;
        recalled.result["degraded"].is_null()
    })
    .await;
    eventually("what was said meanwhile has its vector", async || {
        endpoint.made("The kingfisher has 5 eggs") == 2
    })
    .await;
    // The message and the memory say the same; neither was made a second time.
    assert_eq!(endpoint.made(BRAND), made, "nothing is made anew");
    server.stop().await;
}

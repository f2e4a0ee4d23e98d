//! Pictures and films as OpenAI makes them: with the answer, or asked for by their id; paid once, and one for one order.

use std::sync::{Arc, Mutex};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::house::{becomes, booked, ledger, money, one_picture, open, stands};
use super::upstream::picture;
use crate::harness::people::text;
use crate::harness::{Installation, Planner, on_both_databases};

on_both_databases![
    a_picture_comes_with_its_answer_and_a_film_is_asked_for_and_both_are_paid_once,
    what_openai_refuses_or_answers_in_pieces_ends_as_the_rules_say,
];

/// What it was asked for, and how often a film was asked about.
#[derive(Debug, Default)]
struct Asked {
    orders: Vec<Value>,
    looked: u32,
}

/// An upstream of this style.
#[derive(Debug, Clone, Default)]
struct OpenAi(Arc<Mutex<Asked>>);

impl OpenAi {
    /// Starts one, and gives the settings with which it is used.
    async fn start() -> (Self, Vec<(&'static str, String)>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let openai = Self::default();
        let router = Router::new()
            .route("/v1/images/generations", post(image))
            .route("/v1/videos", post(video))
            .route("/v1/videos/{id}", get(look))
            .route("/v1/videos/{id}/content", get(content))
            .with_state(openai.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let settings = vec![
            (
                "ATELIER_OPENAI_MEDIA_BASE_URL",
                format!("http://{address}/v1"),
            ),
            ("ATELIER_OPENAI_MEDIA_API_KEY", "sk-media".to_owned()),
            ("ATELIER_OPENAI_MEDIA_IMAGE_PRICE", "30000".to_owned()),
            ("ATELIER_OPENAI_MEDIA_VIDEO_PRICE", "200000".to_owned()),
            ("ATELIER_MEDIA_PROVIDERS", "openai".to_owned()),
            ("ATELIER_JOB_POLL_INTERVAL", "200ms".to_owned()),
            ("ATELIER_SUBMISSION_TIMEOUT", "2s".to_owned()),
        ];
        (openai, settings)
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, Asked> {
        self.0.lock().expect("a lock")
    }
}

async fn image(State(openai): State<OpenAi>, Json(body): Json<Value>) -> Response {
    openai.asked().orders.push(body.clone());
    let prompt = body["prompt"].as_str().unwrap_or_default();
    if prompt.starts_with("refuse") {
        let why = "your request was rejected by the safety system ".repeat(100);
        return (
            StatusCode::BAD_REQUEST,
            Json(json!({"error": {"message": why}})),
        )
            .into_response();
    }
    if prompt.starts_with("half") {
        return "{\"data\": [{\"b64_json\": \"iVBOR".into_response();
    }
    let data: Vec<_> = (0..body["n"].as_u64().unwrap_or(1))
        .map(|_| json!({"b64_json": STANDARD.encode(picture())}))
        .collect();
    Json(json!({"created": 1, "data": data})).into_response()
}

async fn video(State(openai): State<OpenAi>, Json(body): Json<Value>) -> Json<Value> {
    let is_bad = body["prompt"]
        .as_str()
        .is_some_and(|prompt| prompt.starts_with("fail"));
    openai.asked().orders.push(body);
    let id = if is_bad { "video_bad" } else { "video_good" };
    Json(json!({"id": id, "object": "video", "status": "queued", "progress": 0}))
}

/// It runs when it is asked for the first time, and is over after that.
async fn look(State(openai): State<OpenAi>, Path(id): Path<String>) -> Json<Value> {
    let looked = {
        let mut asked = openai.asked();
        asked.looked += 1;
        asked.looked
    };
    let (status, error) = match (looked, id.as_str()) {
        (1, _) => ("in_progress", Value::Null),
        (_, "video_bad") => ("failed", json!({"message": "no such film ".repeat(1_000)})),
        _ => ("completed", Value::Null),
    };
    Json(json!({"id": id, "status": status, "progress": 40, "error": error}))
}

async fn content(headers: axum::http::HeaderMap) -> Response {
    // Films are behind the key.
    if headers
        .get(AUTHORIZATION)
        .is_none_or(|key| key != "Bearer sk-media")
    {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom"
        .as_slice()
        .into_response()
}

/// A planner whose goal says kind and prompt, and that asks for ten at once.
async fn greedy() -> Planner {
    Planner::start(|_, _, said| {
        let goal = said.rsplit_once("\ngoal: ").expect("a goal").1;
        let goal = goal.lines().next().expect("a line");
        let (kind, prompt) = goal.split_once(' ').expect("a kind and a prompt");
        let parameters = json!({"n": 10, "size": "1024x1024"});
        one_picture(
            said,
            &json!({"kind": kind, "prompt": prompt, "parameters": parameters}),
        )
    })
    .await
}

fn borrowed<'a>(settings: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    let borrow = |(name, value): &'a (&'static str, String)| (*name, value.as_str());
    settings.iter().map(borrow).collect()
}

async fn a_picture_comes_with_its_answer_and_a_film_is_asked_for_and_both_are_paid_once(
    installation: &Installation,
) {
    let (planner, (openai, settings)) = (greedy().await, OpenAi::start().await);
    let (server, owner) = open(installation, &planner, None, &borrowed(&settings)).await;
    let task = owner.create_task("image a red fox").await;
    stands(&task, "DELIVERED").await;
    let job = becomes(&task, "SUCCEEDED").await;
    assert_eq!(job["outputs"][0]["mediaType"], "image/png");
    assert_eq!(job["outputs"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        openai.asked().orders[0],
        json!({"model": "gpt-image-1", "prompt": "a red fox", "size": "1024x1024"}),
        "one, whatever the model asked for"
    );
    assert_eq!(money(&owner).await, (30_000, 0));
    let task = owner.create_task("video a running fox").await;
    stands(&task, "DELIVERED").await;
    let job = becomes(&task, "SUCCEEDED").await;
    assert_eq!(job["outputs"][0]["mediaType"], "video/mp4");
    assert_eq!(job["upstreamId"], "video_good");
    assert!(openai.asked().looked >= 2, "nobody calls back: it is asked");
    assert_eq!(openai.asked().orders.len(), 2);
    assert_eq!(money(&owner).await, (230_000, 0));
    let all = ["RESERVE", "CHARGE", "RESERVE", "CHARGE"];
    assert_eq!(booked(&owner).await, all);
    server.stop().await;
}

async fn what_openai_refuses_or_answers_in_pieces_ends_as_the_rules_say(
    installation: &Installation,
) {
    let (planner, (openai, settings)) = (greedy().await, OpenAi::start().await);
    let (server, owner) = open(installation, &planner, None, &borrowed(&settings)).await;
    for (goal, state, said) in [
        ("image refuse this fox", "FAILED", "safety system"),
        ("image half a fox", "SUBMISSION_UNKNOWN", "no JSON"),
        ("video fail to film a fox", "FAILED", "no such film"),
    ] {
        let before = openai.asked().orders.len();
        let task = owner.create_task(goal).await;
        let job = becomes(&task, state).await;
        let error = text(&job["error"]);
        assert!(error.contains(said), "{goal}: {error}");
        assert!(error.len() < 500, "{goal}: what it says is cut: {error}");
        stands(&task, "DELIVERED").await;
        assert_eq!(openai.asked().orders.len() - before, 1, "{goal}: sent once");
        assert_eq!(money(&owner).await, (0, 0), "{goal}");
    }
    assert_eq!(ledger(&owner).await.len(), 2 + 3 + 2);
    server.stop().await;
}

//! Call backs that are not what they should be.

use serde_json::json;

use super::house::{becomes, money, open, painter, stands};
use super::upstream::{PRICE, SECRET, Upstream, send};
use crate::harness::people::text;
use crate::harness::{Installation, on_both_databases};

on_both_databases![unsigned_forged_stale_foreign_and_boundless_call_backs_change_nothing];

#[expect(
    clippy::too_many_lines,
    reason = "one call back after the other, against the same two orders"
)]
async fn unsigned_forged_stale_foreign_and_boundless_call_backs_change_nothing(
    installation: &Installation,
) {
    let (planner, upstream) = (painter().await, Upstream::start().await);
    let (server, owner) = open(installation, &planner, Some(&upstream), &[]).await;
    let task = owner.create_task("One").await;
    let other = owner.create_task("Two").await;
    let (job, other_job) = (
        becomes(&task, "RUNNING").await,
        becomes(&other, "RUNNING").await,
    );
    let own = text(&job["upstreamId"]);
    upstream.end(&own, "succeeded");
    let body = upstream.prediction(&own).to_string();
    let address = |provider: &str, job: &str| {
        format!("{}/callbacks/{provider}/{job}", owner.client.address())
    };
    let url = address("replicate", &text(&job["id"]));
    let http = reqwest::Client::new();
    let unsigned = http
        .post(&url)
        .body(body.clone())
        .send()
        .await
        .expect("an answer");
    assert_eq!(unsigned.status(), 401);
    assert_eq!(
        send(&url, "msg_1", &body, "whsec_Zm9yZ2Vk", 0).await,
        401,
        "forged"
    );
    assert_eq!(
        send(&url, "msg_1", &body, SECRET, -301).await,
        401,
        "too old"
    );
    assert_eq!(
        send(&url, "msg_1", &body, SECRET, 301).await,
        401,
        "from the future"
    );
    for unknown in [
        address("replicate", "job_0198f3c20000700080000000000000ff"),
        address("replicate", "job_1"),
        address("local", &text(&job["id"])),
        address("nobody", &text(&job["id"])),
    ] {
        let status = send(&unknown, "msg_1", &body, SECRET, 0).await;
        assert!([401, 404].contains(&status.as_u16()), "{unknown}: {status}");
    }
    // One order's truth told about another.
    let foreign = address("replicate", &text(&other_job["id"]));
    assert_eq!(send(&foreign, "msg_1", &body, SECRET, 0).await, 404);
    for nonsense in [
        "<html>",
        "{}",
        "[]",
        r#"{"id": "x", "status": "perhaps"}"#,
        "",
    ] {
        assert_eq!(
            send(&url, "msg_2", nonsense, SECRET, 0).await,
            400,
            "{nonsense}"
        );
    }
    let boundless = "x".repeat(100 << 20);
    let refused = http.post(&url).body(boundless).send().await;
    // The server closes the door before all of it has come.
    assert!(refused.is_err() || refused.is_ok_and(|answer| answer.status() == 413));
    let get = http.get(&url).send().await.expect("an answer");
    assert_eq!(get.status(), 405);
    assert_eq!(becomes(&task, "RUNNING").await["progress"], json!(0.0));
    assert_eq!(money(&owner).await, (0, 2 * PRICE));
    // The true one is taken all the same, under an id that was refused before.
    assert_eq!(send(&url, "msg_1", &body, SECRET, 0).await, 200);
    becomes(&task, "SUCCEEDED").await;
    stands(&task, "DELIVERED").await;
    assert_eq!(money(&owner).await, (PRICE, PRICE));
    server.stop().await;
}

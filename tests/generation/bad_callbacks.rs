//! Call backs that are not what they should be.

use reqwest::Client;
use serde_json::json;

use super::house::{becomes, money, open, painter, stands};
use super::upstream::{PRICE, SECRET, Upstream, send};
use crate::harness::people::text;
use crate::harness::{Installation, on_both_databases};

on_both_databases![unsigned_forged_stale_foreign_and_boundless_call_backs_change_nothing];

/// Where call backs about two orders go, and what the upstream says of the first.
struct Addresses {
    server: String,
    job: String,
    other_job: String,
    body: String,
}

impl Addresses {
    fn of(&self, provider: &str, job: &str) -> String {
        format!("{}/callbacks/{provider}/{job}", self.server)
    }

    fn own(&self) -> String {
        self.of("replicate", &self.job)
    }
}

async fn unsigned_forged_stale_foreign_and_boundless_call_backs_change_nothing(
    installation: &Installation,
) {
    let (planner, upstream) = (painter().await, Upstream::start().await);
    let (server, owner) = open(installation, &planner, Some(&upstream), &[]).await;
    let task = owner.create_task("One").await;
    let other = owner.create_task("Two").await;
    let job = becomes(&task, "RUNNING").await;
    let other_job = becomes(&other, "RUNNING").await;
    let own = text(&job["upstreamId"]);
    upstream.end(&own, "succeeded");
    let addresses = Addresses {
        server: owner.client.address().to_owned(),
        job: text(&job["id"]),
        other_job: text(&other_job["id"]),
        body: upstream.prediction(&own).to_string(),
    };
    nobody_signed_it(&addresses).await;
    it_is_about_no_order_of_the_upstream(&addresses).await;
    it_says_nothing_or_too_much(&addresses).await;
    assert_eq!(becomes(&task, "RUNNING").await["progress"], json!(0.0));
    assert_eq!(money(&owner).await, (0, 2 * PRICE));
    // The true one is taken all the same, under an id that was refused before.
    let taken = send(&addresses.own(), "msg_1", &addresses.body, SECRET, 0).await;
    assert_eq!(taken, 200);
    becomes(&task, "SUCCEEDED").await;
    stands(&task, "DELIVERED").await;
    assert_eq!(money(&owner).await, (PRICE, PRICE));
    server.stop().await;
}

async fn nobody_signed_it(addresses: &Addresses) {
    let (url, body) = (addresses.own(), &addresses.body);
    let unsigned = Client::new().post(&url).body(body.clone()).send().await;
    assert_eq!(unsigned.expect("an answer").status(), 401);
    for (secret, off, why) in [
        ("whsec_Zm9yZ2Vk", 0, "forged"),
        (SECRET, -301, "too old"),
        (SECRET, 330, "from the future"),
    ] {
        assert_eq!(send(&url, "msg_1", body, secret, off).await, 401, "{why}");
    }
}

async fn it_is_about_no_order_of_the_upstream(addresses: &Addresses) {
    for unknown in [
        addresses.of("replicate", "job_0198f3c20000700080000000000000ff"),
        addresses.of("replicate", "job_1"),
        addresses.of("local", &addresses.job),
        addresses.of("nobody", &addresses.job),
    ] {
        let status = send(&unknown, "msg_1", &addresses.body, SECRET, 0).await;
        assert!([401, 404].contains(&status.as_u16()), "{unknown}: {status}");
    }
    // One order's truth told about another.
    let foreign = addresses.of("replicate", &addresses.other_job);
    let status = send(&foreign, "msg_1", &addresses.body, SECRET, 0).await;
    assert_eq!(status, 404);
}

async fn it_says_nothing_or_too_much(addresses: &Addresses) {
    let url = addresses.own();
    for nonsense in [
        "<html>",
        "{}",
        "[]",
        r#"{"id": "x", "status": "perhaps"}"#,
        "",
    ] {
        let status = send(&url, "msg_2", nonsense, SECRET, 0).await;
        assert_eq!(status, 400, "{nonsense}");
    }
    let http = Client::new();
    let boundless = "x".repeat(100 << 20);
    let refused = http.post(&url).body(boundless).send().await;
    // The server closes the door before all of it has come.
    assert!(refused.is_err() || refused.is_ok_and(|answer| answer.status() == 413));
    let get = http.get(&url).send().await.expect("an answer");
    assert_eq!(get.status(), 405);
}

//! Orders: waited for without a turn, told by call backs or asked about, stored, placed, and paid once.

use serde_json::{Value, json};

use super::house::{
    becomes, booked, jobs, ledger, money, one_picture, open, painter, plan, stands, the_job, turns,
};
use super::upstream::{File, Manner, PRICE, Upstream, picture};
use crate::harness::people::text;
use crate::harness::tasks::list;
use crate::harness::{Installation, Planner, eventually, on_both_databases, on_sqlite};

on_both_databases![
    a_picture_is_waited_for_stored_and_placed_and_the_task_goes_on_by_itself,
    call_backs_come_twice_late_and_in_the_wrong_order_and_the_picture_is_paid_once,
    a_call_back_that_never_comes_is_made_up_for_by_asking,
    an_order_of_unknown_fate_is_never_sent_again_and_is_refunded_and_a_late_truth_still_counts,
    what_comes_after_a_stop_is_stored_and_paid_and_wakes_nothing,
    a_job_is_cancelled_where_its_provider_can,
    a_picture_that_was_all_that_was_asked_for_is_just_shown,
    a_plan_that_needs_what_nobody_makes_is_refused_with_what_is_missing,
];
on_sqlite![
    an_upstream_that_misbehaves_ends_an_order_as_the_rules_say,
    files_that_can_not_be_had_end_an_order_with_the_reason,
    every_kind_is_rendered_without_a_network,
    capabilities_and_guides_can_be_read,
];

/// A file's bytes, as a person gets them.
async fn bytes(owner: &crate::harness::Person, url: &str) -> Vec<u8> {
    let url = format!("{}{url}", owner.client.address());
    let answer = owner
        .client
        .http()
        .get(url)
        .send()
        .await
        .expect("an answer");
    assert!(answer.status().is_success(), "{}", answer.status());
    answer.bytes().await.expect("bytes").to_vec()
}

async fn a_picture_is_waited_for_stored_and_placed_and_the_task_goes_on_by_itself(
    installation: &Installation,
) {
    let planner = Planner::start(|_, _, said| {
        let goal = said.rsplit_once("\ngoal: ").expect("a goal").1;
        let board = goal.lines().next().expect("a line");
        let place = json!({"work_id": board, "node_id": "shot-1", "field": "image"});
        one_picture(said, &json!({"place": place}))
    })
    .await;
    let more = [
        ("ATELIER_LOCAL_DELAY", "1s"),
        ("ATELIER_LOCAL_PRICES", "image=7000"),
    ];
    let (server, owner) = open(installation, &planner, None, &more).await;
    let nodes = json!([{"id": "shot-1", "fields": {"title": "One"}}, {"id": "shot-2", "fields": {"title": "Two"}}]);
    let board = owner.create_nodes("STORYBOARD", nodes).await;
    let task = owner.create_task(&board.id).await;
    stands(&task, "WAITING_EXTERNAL").await;
    let job = the_job(&task).await;
    assert_eq!(job["idempotencyKey"], job["callId"]);
    assert_eq!(money(&owner).await, (0, 7_000));
    assert_eq!(planner.asked().len(), 1, "nobody is asked while it waits");
    stands(&task, "DELIVERED").await;
    let job = becomes(&task, "SUCCEEDED").await;
    let output = &job["outputs"][0];
    assert_eq!(output["mediaType"], "image/png");
    let frame = bytes(&owner, &text(&output["url"])).await;
    image::load_from_memory(&frame).expect("a picture");
    let node = board.node("shot-1").await;
    assert_eq!(node["fields"]["image"], output["id"]);
    assert_eq!(node["changedBy"]["kind"], "AGENT");
    assert_eq!(planner.asked().len(), 2, "one decision orders, one goes on");
    assert_eq!(turns(&task).await, 2);
    assert_eq!(money(&owner).await, (7_000, 0));
    assert_eq!(booked(&owner).await, ["RESERVE", "CHARGE"]);
    let budget = task.show("budget { spent { micros } reserved { micros } } usage { spent { micros } } changeNotices { work { id } }").await;
    assert_eq!(
        budget["budget"],
        json!({"spent": {"micros": 7_000}, "reserved": {"micros": 0}})
    );
    assert_eq!(
        list(&budget["changeNotices"]),
        Vec::<Value>::new(),
        "its own placing is no news to it"
    );
    let events = "query ($id: ID!) { workspace(id: $id) { events(first: 100) { nodes { kind data subject { __typename } } } } }";
    let data = owner
        .client
        .run(events, json!({"id": owner.workspace}))
        .await;
    let events = list(&data["workspace"]["events"]["nodes"]);
    let states: Vec<_> = events
        .iter()
        .filter(|event| event["kind"] == "JOB_STATE_CHANGED")
        .map(|event| {
            assert_eq!(event["subject"]["__typename"], "GenerationJob");
            text(&event["data"]["state"])
        })
        .collect();
    assert_eq!(states, ["SUBMITTING", "RUNNING", "SUCCEEDED"]);
    assert!(events.iter().any(|event| event["kind"] == "BUDGET_CHANGED"));
    server.stop().await;
}

async fn call_backs_come_twice_late_and_in_the_wrong_order_and_the_picture_is_paid_once(
    installation: &Installation,
) {
    let (planner, upstream) = (painter().await, Upstream::start().await);
    let (server, owner) = open(installation, &planner, Some(&upstream), &[]).await;
    let task = owner.create_task("A fox").await;
    stands(&task, "WAITING_EXTERNAL").await;
    let job = becomes(&task, "RUNNING").await;
    let order = upstream.orders().remove(0);
    assert_eq!(job["upstreamId"], json!(order.id));
    assert_eq!(order.input, json!({"prompt": "A red fox", "steps": 4}));
    let address = format!(
        "{}/callbacks/replicate/{}",
        owner.client.address(),
        text(&job["id"])
    );
    assert_eq!(order.webhook.as_deref(), Some(address.as_str()));
    let early = upstream.prediction(&order.id).to_string();
    upstream.end(&order.id, "succeeded");
    for _ in 0..2 {
        // A sender repeats when an answer was lost.
        assert_eq!(upstream.call_back_as(&order.id, "msg_end").await, 200);
    }
    let job = becomes(&task, "SUCCEEDED").await;
    let late =
        super::upstream::send(&address, "msg_late", &early, super::upstream::SECRET, 0).await;
    assert_eq!(late, 200, "late news are taken and change nothing");
    upstream.end(&order.id, "failed");
    assert_eq!(upstream.call_back(&order.id).await, 200);
    stands(&task, "DELIVERED").await;
    let after = the_job(&task).await;
    assert_eq!(
        (&after["state"], &after["outputs"]),
        (&job["state"], &job["outputs"])
    );
    assert_eq!(
        bytes(&owner, &text(&after["outputs"][0]["url"])).await,
        picture()
    );
    assert_eq!(
        ledger(&owner).await,
        [("RESERVE".to_owned(), PRICE), ("CHARGE".to_owned(), PRICE)]
    );
    assert_eq!((upstream.submissions(), turns(&task).await), (1, 2));
    assert_eq!(money(&owner).await, (PRICE, 0));
    server.stop().await;
}

async fn a_call_back_that_never_comes_is_made_up_for_by_asking(installation: &Installation) {
    let (planner, upstream) = (painter().await, Upstream::start().await);
    let more = [("ATELIER_JOB_POLL_INTERVAL", "300ms")];
    let (server, owner) = open(installation, &planner, Some(&upstream), &more).await;
    let task = owner.create_task("A fox").await;
    becomes(&task, "RUNNING").await;
    eventually("it is asked", async || upstream.looked() > 0).await;
    let id = upstream.orders()[0].id.clone();
    upstream.end(&id, "succeeded");
    stands(&task, "DELIVERED").await;
    becomes(&task, "SUCCEEDED").await;
    assert_eq!((money(&owner).await, turns(&task).await), ((PRICE, 0), 2));
    server.stop().await;
}

async fn an_order_of_unknown_fate_is_never_sent_again_and_is_refunded_and_a_late_truth_still_counts(
    installation: &Installation,
) {
    let (planner, upstream) = (painter().await, Upstream::start().await);
    upstream.answer(Manner::DropAfter);
    let (server, owner) = open(installation, &planner, Some(&upstream), &[]).await;
    let task = owner.create_task("A fox").await;
    let job = becomes(&task, "SUBMISSION_UNKNOWN").await;
    assert!(text(&job["error"]).contains("connection"), "{job}");
    // It counts as spent until the rule gives it back; then the task goes on with what it knows.
    eventually("it is refunded", async || money(&owner).await == (0, 0)).await;
    stands(&task, "DELIVERED").await;
    assert_eq!(booked(&owner).await, ["RESERVE", "CHARGE", "REFUND"]);
    assert_eq!((upstream.submissions(), upstream.orders().len()), (1, 1));
    assert_eq!(
        the_job(&task).await["state"],
        "SUBMISSION_UNKNOWN",
        "it is shown as such"
    );
    let order = upstream.orders().remove(0);
    upstream.end(&order.id, "succeeded");
    assert_eq!(upstream.call_back(&order.id).await, 200);
    let job = becomes(&task, "SUCCEEDED").await;
    assert_eq!(job["upstreamId"], json!(order.id));
    assert_eq!(
        money(&owner).await,
        (PRICE, 0),
        "what was made after all is paid"
    );
    assert_eq!(upstream.submissions(), 1);
    assert_eq!(task.status().await, "DELIVERED");
    server.stop().await;
}

async fn what_comes_after_a_stop_is_stored_and_paid_and_wakes_nothing(installation: &Installation) {
    let (planner, upstream) = (painter().await, Upstream::start().await);
    let (server, owner) = open(installation, &planner, Some(&upstream), &[]).await;
    let task = owner.create_task("A fox").await;
    stands(&task, "WAITING_EXTERNAL").await;
    becomes(&task, "RUNNING").await;
    assert_eq!(task.act("stopTask").await, "STOPPED");
    let order = upstream.orders().remove(0);
    assert_eq!(order.status, "starting", "a stop cancels nothing upstream");
    upstream.end(&order.id, "succeeded");
    assert_eq!(upstream.call_back(&order.id).await, 200);
    let job = becomes(&task, "SUCCEEDED").await;
    assert_eq!(list(&job["outputs"]).len(), 1);
    assert_eq!(money(&owner).await, (PRICE, 0));
    assert_eq!(
        (task.status().await.as_str(), turns(&task).await),
        ("STOPPED", 1)
    );
    assert_eq!(planner.asked().len(), 1);
    server.stop().await;
}

async fn a_job_is_cancelled_where_its_provider_can(installation: &Installation) {
    let (planner, upstream) = (painter().await, Upstream::start().await);
    let (server, owner) = open(installation, &planner, Some(&upstream), &[]).await;
    let task = owner.create_task("A fox").await;
    let job = becomes(&task, "RUNNING").await;
    let viewer = owner.invite("Viewer", "VIEWER").await;
    let input = json!({"jobId": job["id"]});
    let refused = viewer
        .client
        .mutate("cancelJob", input.clone(), "{ job { state } }")
        .await;
    assert_eq!(refused.code(), "FORBIDDEN");
    owner
        .client
        .mutate("cancelJob", input.clone(), "{ job { state } }")
        .await
        .data();
    becomes(&task, "CANCELLED").await;
    assert_eq!(upstream.orders()[0].status, "canceled");
    assert_eq!(booked(&owner).await, ["RESERVE", "RELEASE"]);
    stands(&task, "DELIVERED").await;
    // Twice is once; what is over otherwise can not be cancelled.
    owner
        .client
        .mutate("cancelJob", input, "{ job { state } }")
        .await
        .data();
    let other = json!({"jobId": text(&job["id"]).replace("job_", "job_0")});
    assert_eq!(
        owner
            .client
            .mutate("cancelJob", other, "{ job { id } }")
            .await
            .code(),
        "BAD_USER_INPUT"
    );
    server.stop().await;
}

async fn a_picture_that_was_all_that_was_asked_for_is_just_shown(installation: &Installation) {
    let planner = Planner::start(|_, _, _| {
        plan(
            json!([{"id": "picture", "title": "a picture", "state": "done"}]),
            json!([{"tool": "generate", "arguments": {"kind": "image", "prompt": "A fox", "item_id": "picture"}}]),
        )
    })
    .await;
    let (server, owner) = open(
        installation,
        &planner,
        None,
        &[("ATELIER_LOCAL_DELAY", "1s")],
    )
    .await;
    let task = owner.create_task("A fox").await;
    stands(&task, "DELIVERED").await;
    becomes(&task, "SUCCEEDED").await;
    assert_eq!(
        (task.status().await.as_str(), turns(&task).await),
        ("DELIVERED", 1)
    );
    assert_eq!(planner.asked().len(), 1);
    server.stop().await;
}

async fn a_plan_that_needs_what_nobody_makes_is_refused_with_what_is_missing(
    installation: &Installation,
) {
    let planner = Planner::start(|_, _, said| {
        let needs = if said.contains("is missing here") { json!([]) } else { json!(["video", "smell"]) };
        plan(json!([{"title": "a film one can smell", "state": "skipped", "needs": []}, {"title": "b", "state": if needs == json!([]) { "done" } else { "todo" }, "needs": needs}]), json!([]))
    })
    .await;
    let (server, owner) = open(installation, &planner, None, &[]).await;
    let task = owner.create_task("A film one can smell").await;
    // The first plan was answered once with what is missing, and nothing of it was stored.
    stands(&task, "DELIVERED").await;
    let plans = task.journal(Some(&["PLAN"])).await;
    assert_eq!((plans.len(), planner.asked().len()), (1, 2));
    server.stop().await;
}

async fn an_upstream_that_misbehaves_ends_an_order_as_the_rules_say(installation: &Installation) {
    let (planner, upstream) = (painter().await, Upstream::start().await);
    let (server, owner) = open(installation, &planner, Some(&upstream), &[]).await;
    for (manner, state, said, taken) in [
        (Manner::Html, "SUBMISSION_UNKNOWN", "no JSON", 0),
        (Manner::Broken, "SUBMISSION_UNKNOWN", "500", 0),
        (Manner::HangAfter, "SUBMISSION_UNKNOWN", "in time", 1),
        (Manner::HalfAnswer, "SUBMISSION_UNKNOWN", "connection", 1),
        (Manner::Refuse, "FAILED", "the prompt is not allowed", 0),
    ] {
        let (orders, submissions) = (upstream.orders().len(), upstream.submissions());
        upstream.answer(manner);
        let task = owner.create_task(&format!("{manner:?}")).await;
        let job = becomes(&task, state).await;
        assert!(text(&job["error"]).contains(said), "{manner:?}: {job}");
        stands(&task, "DELIVERED").await;
        assert_eq!(money(&owner).await, (0, 0), "{manner:?}");
        assert_eq!(upstream.orders().len() - orders, taken, "{manner:?}");
        assert_eq!(
            upstream.submissions() - submissions,
            1,
            "{manner:?}: sent once"
        );
    }
    // Whoever is busy has not taken it: it is sent again, and made once.
    upstream.answer(Manner::Busy);
    let before = upstream.orders().len();
    let task = owner.create_task("Busy").await;
    eventually("it was told to wait", async || {
        jobs(&task).await.iter().any(|job| !job["error"].is_null())
    })
    .await;
    upstream.answer(Manner::Made);
    becomes(&task, "SUCCEEDED").await;
    assert_eq!(upstream.orders().len() - before, 1);
    stands(&task, "DELIVERED").await;
    server.stop().await;
}

async fn files_that_can_not_be_had_end_an_order_with_the_reason(installation: &Installation) {
    let (planner, upstream) = (painter().await, Upstream::start().await);
    upstream.answer(Manner::Made);
    let (server, owner) = open(installation, &planner, Some(&upstream), &[]).await;
    for (file, said) in [
        (File::Html, "not of the kind image"),
        (File::Huge, "larger than"),
        (File::Gone, "404"),
        (
            File::Redirect("http://169.254.169.254/latest/meta-data"),
            "not https",
        ),
        (
            File::Redirect("https://169.254.169.254/latest/meta-data"),
            "no public address",
        ),
        (File::Redirect("https://[::1]/x"), "no public address"),
        (File::Redirect("https://localhost/x"), "no public address"),
        (File::Redirect("file:///etc/passwd"), "not https"),
        (File::Redirect("/files/again.png"), "redirects"),
    ] {
        upstream.serve(file);
        let task = owner.create_task(&format!("{file:?}")).await;
        let job = becomes(&task, "FAILED").await;
        assert!(text(&job["error"]).contains(said), "{file:?}: {job}");
        stands(&task, "DELIVERED").await;
    }
    assert_eq!(money(&owner).await, (0, 0));
    // What broke off is fetched again, and not ordered again.
    upstream.serve(File::Half);
    let submissions = upstream.submissions();
    let task = owner.create_task("Half").await;
    becomes(&task, "RUNNING").await;
    upstream.serve(File::Picture);
    becomes(&task, "SUCCEEDED").await;
    assert_eq!(upstream.submissions() - submissions, 1);
    server.stop().await;
}

async fn every_kind_is_rendered_without_a_network(installation: &Installation) {
    let planner = Planner::start(|_, _, said| {
        let kind = said.rsplit_once("\ngoal: ").expect("a goal").1;
        let kind = kind.lines().next().expect("a line").to_owned();
        one_picture(said, &json!({"kind": kind}))
    })
    .await;
    let (server, owner) = open(installation, &planner, None, &[]).await;
    for (kind, media_type) in [
        ("image", "image/png"),
        ("video", "image/gif"),
        ("audio", "audio/wav"),
        ("model_3d", "model/gltf-binary"),
    ] {
        let task = owner.create_task(kind).await;
        stands(&task, "DELIVERED").await;
        let job = becomes(&task, "SUCCEEDED").await;
        assert_eq!(job["outputs"][0]["mediaType"], media_type);
        assert_eq!(job["kind"], kind.to_uppercase());
    }
    assert_eq!(booked(&owner).await, [""; 0], "what is free is not booked");
    server.stop().await;
}

async fn capabilities_and_guides_can_be_read(installation: &Installation) {
    let (planner, upstream) = (painter().await, Upstream::start().await);
    let (server, owner) = open(installation, &planner, Some(&upstream), &[]).await;
    let query = "query ($id: ID!) { workspace(id: $id) { capabilities { name provider media available price { micros currency } inputs }
      guides { name title language markdown } } }";
    let data = owner
        .client
        .run(query, json!({"id": owner.workspace}))
        .await;
    let capabilities = list(&data["workspace"]["capabilities"]);
    assert_eq!(capabilities[0]["name"], "fake/pictures");
    assert_eq!(
        capabilities[0]["price"],
        json!({"micros": PRICE, "currency": "USD"})
    );
    assert_eq!(
        capabilities[1]["price"],
        Value::Null,
        "nobody knows what a film costs"
    );
    assert!(
        capabilities
            .iter()
            .any(|one| one["provider"] == "local" && one["media"] == "MODEL_3D")
    );
    let guides = list(&data["workspace"]["guides"]);
    for language in ["en", "ru", "zh"] {
        for name in [
            "storyboarding",
            "character_consistency",
            "references",
            "flows",
            "capabilities",
        ] {
            assert!(
                guides
                    .iter()
                    .any(|guide| guide["name"] == name && guide["language"] == language),
                "{name} {language}"
            );
        }
    }
    server.stop().await;
}

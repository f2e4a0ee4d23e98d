//! What the tests of generation share: a server with a written planner and a fake upstream, and what orders and money look like.

use serde_json::{Value, json};

use super::upstream::Upstream;
use crate::harness::people::text;
use crate::harness::tasks::list;
use crate::harness::{Client, Installation, Person, Planner, Server, Task, eventually};

/// What is read of a job.
pub(super) const JOB: &str =
    "id state provider kind prompt upstreamId progress error callId idempotencyKey cost { micros }
  outputs { id mediaType byteSize url } task { id }";

/// Everything that a server of these tests is set up with.
pub(super) fn settings(
    planner: &Planner,
    upstream: Option<&Upstream>,
    more: &[(&str, &str)],
) -> Vec<(String, String)> {
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let mut all: Vec<_> = planner.settings().into_iter().map(owned).collect();
    if let Some(upstream) = upstream {
        let of_upstream = upstream.settings().into_iter();
        all.extend(of_upstream.map(|(name, value)| (name.to_owned(), value)));
    }
    // The last of two settings with one name counts.
    all.extend(more.iter().copied().map(owned));
    all
}

/// A server, and its owner.
pub(super) async fn open(
    installation: &Installation,
    planner: &Planner,
    upstream: Option<&Upstream>,
    more: &[(&str, &str)],
) -> (Server, Person) {
    let settings = settings(planner, upstream, more);
    let settings: Vec<_> = settings
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    installation.open_with(&settings).await
}

/// A decision with this plan.
#[expect(
    clippy::needless_pass_by_value,
    reason = "callers make the values on the spot"
)]
pub(super) fn plan(items: Value, actions: Value) -> Value {
    json!({
        "rationale": "it comes next", "summary": "where it is", "short_line": "under way",
        "checklist": items, "actions": actions, "next": "wait",
    })
}

/// A plan of one picture: ordered first, and done once the journal says that the order has come to its end.
pub(super) fn one_picture(said: &str, order: &Value) -> Value {
    let is_over = [
        "succeeded",
        "failed",
        "declined",
        "cancelled",
        "submission_unknown",
    ]
    .iter()
    .any(|state| said.contains(&format!(" for item picture: {state}")));
    let is_refused = said.contains("generate: ") && said.contains("micros does not reach");
    if is_over || is_refused {
        return plan(
            json!([{"id": "picture", "title": "a picture", "state": "done"}]),
            json!([]),
        );
    }
    let mut arguments = json!({"kind": "image", "prompt": "A red fox", "item_id": "picture"});
    for (name, value) in order.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    // Ordered once: a request that shows the order under way only waits.
    let actions = if said.contains("# Generations under way") {
        json!([])
    } else {
        json!([{"tool": "generate", "arguments": arguments}])
    };
    plan(
        json!([{"id": "picture", "title": "a picture", "state": "in_progress"}]),
        actions,
    )
}

/// A planner that orders one picture.
pub(super) async fn painter() -> Planner {
    Planner::start(|_, _, said| one_picture(said, &json!({}))).await
}

pub(super) async fn stands(task: &Task, status: &str) {
    eventually(&format!("the task is {status}"), async || {
        task.status().await == status
    })
    .await;
}

/// The jobs of a task.
pub(super) async fn jobs(task: &Task) -> Vec<Value> {
    list(&task.show(&format!("jobs {{ {JOB} }}")).await["jobs"])
}

/// The only job of a task, once it has one.
pub(super) async fn the_job(task: &Task) -> Value {
    eventually("there is a job", async || jobs(task).await.len() == 1).await;
    jobs(task).await.remove(0)
}

/// Waits until the only job is in this state, and returns it.
pub(super) async fn becomes(task: &Task, state: &str) -> Value {
    eventually(&format!("the job is {state}"), async || {
        let jobs = jobs(task).await;
        jobs.len() == 1 && jobs[0]["state"] == state
    })
    .await;
    jobs(task).await.remove(0)
}

/// What was booked, as kind and amount, oldest first.
pub(super) async fn ledger(person: &Person) -> Vec<(String, u64)> {
    let query = "query ($id: ID!) { workspace(id: $id) { ledger(first: 100) { nodes { kind amount { micros } job { id } } } } }";
    let data = person
        .client
        .run(query, json!({"id": person.workspace}))
        .await;
    let entries = list(&data["workspace"]["ledger"]["nodes"]);
    let entry = |entry: &Value| {
        let amount = entry["amount"]["micros"].as_u64().expect("an amount");
        (text(&entry["kind"]), amount)
    };
    entries.iter().map(entry).collect()
}

/// The kinds of what was booked.
pub(super) async fn booked(person: &Person) -> Vec<String> {
    ledger(person)
        .await
        .into_iter()
        .map(|(kind, _)| kind)
        .collect()
}

/// Spent and reserved of the workspace; the same as the ledger's sums.
pub(super) async fn money(person: &Person) -> (u64, u64) {
    let mut found = budget(person).await;
    eventually("the budget and the ledger agree", async || {
        // Something may be booked between the two readings: then they are read again.
        let (sums, before) = (sums(person).await, found);
        found = budget(person).await;
        before == sums && found == before
    })
    .await;
    (found.0.unsigned_abs(), found.1.unsigned_abs())
}

async fn budget(person: &Person) -> (i64, i64) {
    let query = "query ($id: ID!) { workspace(id: $id) { budget { spent { micros } reserved { micros } } } }";
    let data = person
        .client
        .run(query, json!({"id": person.workspace}))
        .await;
    let budget = &data["workspace"]["budget"];
    let read = |name: &str| budget[name]["micros"].as_i64().expect("an amount");
    (read("spent"), read("reserved"))
}

/// What the ledger says was spent and is set aside.
async fn sums(person: &Person) -> (i64, i64) {
    let mut sums = (0, 0);
    for (kind, amount) in ledger(person).await {
        let amount = i64::try_from(amount).expect("no fortune");
        match kind.as_str() {
            "RESERVE" => sums.1 += amount,
            "CHARGE" => sums = (sums.0 + amount, sums.1 - amount),
            "RELEASE" => sums.1 -= amount,
            _ => sums.0 -= amount,
        }
    }
    sums
}

/// Sets limits of the workspace.
pub(super) async fn set_budget(person: &Person, mut input: Value) -> crate::harness::Answer {
    input["workspaceId"] = json!(person.workspace);
    let selection = "{ budget { limit { micros } perOperationLimit { micros } dailyLimit { micros } spent { micros } } }";
    person.client.mutate("setBudget", input, selection).await
}

/// Answers a card.
pub(super) async fn answer(person: &Person, card: &Value, option: &str) -> crate::harness::Answer {
    let input = json!({"cardId": card["id"], "optionId": option});
    let selection = "{ __typename ... on AnswerCardPayload { card { state } } ... on CardNotOpen { card { state } } }";
    person.client.mutate("answerCard", input, selection).await
}

/// How many turns a task has had.
pub(super) async fn turns(task: &Task) -> usize {
    list(&task.show("turns(first: 100) { nodes { number } }").await["turns"]["nodes"]).len()
}

/// An amount of money as an input.
pub(super) fn micros(amount: u64) -> Value {
    json!({"micros": amount, "currency": "USD"})
}

/// The open question of a task.
pub(super) async fn question(task: &Task) -> Value {
    let open = async || {
        let mut cards = task.cards().await;
        cards.retain(|card| card["state"] == "OPEN");
        cards
    };
    eventually("there is a question", async || open().await.len() == 1).await;
    open().await.remove(0)
}

/// Another token of the same person.
pub(super) async fn token(person: &Person, kind: &str) -> Client {
    let input = json!({"label": kind, "kind": kind});
    let made = person
        .client
        .change("createToken", input, "{ secret }")
        .await;
    Client::new(person.client.address(), &text(&made["secret"]))
}

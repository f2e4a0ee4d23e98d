//! A person's page of memories, and forgetting a fact that a thousand others rest on, through the API of a server.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use domain::ids::{UserId, WorkspaceId};
use serde_json::{Value, json};
use storage::StorageOptions;

use super::{Options, seed};
use crate::process::{Process, free_port, set_up_atelier};

/// The secret of the first owner's token.
const SECRET: &str = "bench-only-0123456789abcdef0123456789abcdef";
/// Memories that rest on the fact that is forgotten.
const DESCENDANTS: u64 = 1_000;
/// How often each page is asked for.
const TIMES: usize = 40;
/// Rows of a page.
const ROWS: u32 = 20;

const WORKSPACE: &str =
    "mutation { createWorkspace(input: {name: \"Bench\"}) { workspace { id } } }";
/// What a page shows of each memory: what holds, why, since when, and where the list stands.
const PAGE: &str = "query ($id: ID!, $first: Int, $after: Cursor, $scopes: [MemoryScope!]) { workspace(id: $id) { \
    profile { version } memories(first: $first, after: $after, scopes: $scopes, states: [ACTIVE]) { totalCount pageInfo { endCursor } \
    nodes { id kind scope basis state inProfile createdAt current { version content validFrom evidence { role usable quote message { id text } } } \
    versions { version state } } } } }";
const FORGET: &str =
    "mutation ($input: ForgetInput!) { forget(input: $input) { scrubbed { id } unlinked { id } } }";

/// Fills a database behind the server's back, and measures through it.
pub(super) async fn run(options: &Options) -> Result<()> {
    let programs = options
        .programs
        .as_deref()
        .context("--programs is needed for --page")?;
    let url = match &options.database_url {
        Some(url) => url.clone(),
        None => format!("sqlite://{}", options.data.join("bench.sqlite").display()),
    };
    let serve = || -> Result<Process> {
        let port = free_port()?;
        let mut command = Command::new(programs.join("atelier"));
        set_up_atelier(&mut command, port, &options.data.join("data"), SECRET);
        command
            .env("ATELIER_DATABASE_URL", &url)
            .env("ATELIER_LOG", "warn");
        Process::start(command, port, &options.data.join("log"))
    };
    let server = serve()?;
    let made = Client::of(&server).ask(WORKSPACE, json!({})).await?;
    let id = made["createWorkspace"]["workspace"]["id"].as_str();
    let id = id.context("no workspace was made")?.to_owned();
    server.stop()?;
    let fact = fill(options, &url, id.parse().ok().context("an id")?).await?;
    let server = serve()?;
    let client = Client::of(&server);
    println!(
        "{} memories and {DESCENDANTS} that rest on one of them\n| | p50 ms | p95 ms | max ms |\n| --- | ---: | ---: | ---: |",
        options.memories
    );
    let first = json!({"id": id, "first": ROWS});
    let (_, page) = client.timed("the first page", &first).await?;
    let mut next = first.clone();
    next["after"] = page["workspace"]["memories"]["pageInfo"]["endCursor"].clone();
    client.timed("the next page", &next).await?;
    let mut own = first.clone();
    own["scopes"] = json!(["PERSON"]);
    client.timed("of the person alone", &own).await?;
    let began = Instant::now();
    let input = json!({"memoryId": fact});
    let forgotten = client.ask(FORGET, json!({"input": input})).await?;
    let took = began.elapsed();
    let scrubbed = forgotten["forget"]["scrubbed"]
        .as_array()
        .map_or(0, Vec::len);
    ensure!(
        scrubbed as u64 == DESCENDANTS + 1,
        "{scrubbed} were forgotten"
    );
    println!(
        "forgetting a fact with {DESCENDANTS} that rest on it took {:.0} ms",
        took.as_secs_f64() * 1e3
    );
    client.timed("the first page after that", &first).await?;
    server.stop()
}

async fn fill(options: &Options, url: &str, workspace: WorkspaceId) -> Result<String> {
    let storage = storage::open(StorageOptions {
        database_url: url.to_owned(),
        connections: 4,
        blob_url: options.data.join("blobs").display().to_string(),
        blob_options: Vec::new(),
    })
    .await?;
    let members = storage.store.reads().list_members(&[workspace]).await?;
    let owner: UserId = members.first().context("it has no member")?.user;
    let began = Instant::now();
    let counts = (options.memories, DESCENDANTS);
    let fact = seed::remember(&storage.store, (workspace, owner), counts).await?;
    println!("stored in {:.0} s", began.elapsed().as_secs_f64());
    storage.close().await;
    Ok(fact.to_string())
}

struct Client {
    requests: reqwest::Client,
    url: String,
}

impl Client {
    fn of(server: &Process) -> Self {
        Self {
            requests: reqwest::Client::new(),
            url: format!("http://127.0.0.1:{}/graphql", server.port()),
        }
    }

    /// Asks for a page so many times, and prints how long it took; the last answer.
    async fn timed(&self, name: &str, variables: &Value) -> Result<(Duration, Value)> {
        let (mut times, mut answer) = (Vec::new(), Value::Null);
        for _ in 0..TIMES {
            let began = Instant::now();
            answer = self.ask(PAGE, variables.clone()).await?;
            times.push(began.elapsed());
        }
        let rows = answer["workspace"]["memories"]["nodes"]
            .as_array()
            .map_or(0, Vec::len);
        ensure!(rows == ROWS as usize, "{name} holds {rows} rows");
        times.sort_unstable();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        let ms = |share: f64| at(share).as_secs_f64() * 1e3;
        println!(
            "| {name} | {:.1} | {:.1} | {:.1} |",
            ms(0.5),
            ms(0.95),
            ms(1.0)
        );
        Ok((at(0.5), answer))
    }

    async fn ask(&self, document: &str, variables: Value) -> Result<Value> {
        let body = json!({"query": document, "variables": variables});
        let request = self
            .requests
            .post(&self.url)
            .bearer_auth(SECRET)
            .json(&body);
        let answer: Value = request.send().await?.json().await?;
        ensure!(answer.get("errors").is_none(), "{answer}");
        Ok(answer["data"].clone())
    }
}

//! The kill test: eight clients on four works, the server killed at random moments; nothing acknowledged is lost.
//!
//! `ATELIER_TEST_KILLS` says how often (8 by default); `ATELIER_TEST_SEED` repeats the moments.
//!
//! Invariants
//! - After each kill what the server has is read through GraphQL before any editor comes back: an editor would heal a loss.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use crate::harness::editor::replica;
use crate::harness::works::RESULT;
use crate::harness::{
    Editor, Installation, Person, Protocol, Random, Work, number, on_both_databases, on_postgres,
};

on_both_databases![nothing_acknowledged_is_lost_when_the_server_is_killed];
on_postgres![clients_go_on_at_the_other_process_when_one_is_killed];

/// Works, and clients of each protocol and GraphQL on them.
const WORKS: usize = 4;
/// The kills that one run makes unless told otherwise.
const KILLS: u64 = 8;

/// What was acknowledged, by work: each entry is one line of its text.
#[derive(Debug, Default)]
pub(super) struct Ledger(Mutex<BTreeMap<String, Vec<String>>>);

impl Ledger {
    fn note(&self, work: &str, line: String) {
        let mut lines = self.0.lock().expect("no client breaks off");
        lines.entry(work.to_owned()).or_default().push(line);
    }

    pub(super) fn total(&self) -> usize {
        self.0
            .lock()
            .expect("no client breaks off")
            .values()
            .map(Vec::len)
            .sum()
    }

    /// Fails where a server lacks something, or has it twice.
    pub(super) async fn assert_kept(&self, works: &[Work], client: &crate::harness::Client) {
        for work in works {
            let text = work.by(client).text().await;
            let lines = self
                .0
                .lock()
                .expect("no client breaks off")
                .get(&work.id)
                .cloned()
                .unwrap_or_default();
            for line in lines {
                let count = text.matches(&line).count();
                assert_eq!(
                    count, 1,
                    "{line:?} was acknowledged and is there {count} times in {}",
                    work.id
                );
            }
        }
    }
}

/// A client in a closed loop: it changes, waits for the acknowledgement, notes it, and changes again.
pub(super) enum Writer {
    Socket(Box<Editor>),
    GraphQl(Work),
}

impl Writer {
    /// Writes until told to stop or the server is gone; comes back for the next round.
    async fn run(
        self,
        name: String,
        work: String,
        ledger: Arc<Ledger>,
        stop: Arc<AtomicBool>,
    ) -> Self {
        let mut count = 0;
        while !stop.load(Ordering::Relaxed) {
            let line = format!("<{name}.{count}>");
            count += 1;
            let is_kept = match &self {
                Self::Socket(editor) => {
                    editor
                        .edit(|txn, roots| replica::append(txn, roots, &line))
                        .await;
                    editor.acknowledged().await
                }
                Self::GraphQl(work) => append(work, &line).await,
            };
            if !is_kept {
                break;
            }
            ledger.note(&work, line);
        }
        self
    }

    pub(super) async fn come_back(&mut self, owner: &Person) {
        match self {
            Self::Socket(editor) => {
                assert!(
                    editor.connect(&owner.client).await,
                    "the server is there again"
                );
                editor.synced().await;
            }
            Self::GraphQl(work) => *work = work.by(&owner.client),
        }
    }
}

/// Puts a line in front of the mark that every text ends its first line with; false where the server is gone.
async fn append(work: &Work, line: &str) -> bool {
    let input =
        json!({"workId": work.id, "replacements": [{"find": "|", "replace": format!("{line}|")}]});
    let Ok(answer) = work.client.try_mutate("editText", input, RESULT).await else {
        return false;
    };
    if answer.body.get("errors").is_some() {
        // With a database that is away for longer than an operation may take, what became of it is not known either.
        let is_honest = ["UNAVAILABLE", "TIMEOUT"].contains(&answer.code());
        assert!(is_honest, "{}", answer.body);
        return false;
    }
    let result = answer.data()["editText"].clone();
    assert_eq!(result["__typename"], "EditApplied", "{result}");
    true
}

/// Two clients on each work: one by socket, of both protocols in turn, and one more by socket or GraphQL.
pub(super) async fn writers(works: &[Work]) -> Vec<(Work, Writer)> {
    let mut writers = Vec::new();
    for (place, work) in works.iter().enumerate() {
        let protocol = Protocol::ALL[place % 2];
        writers.push((
            work.clone(),
            Writer::Socket(Box::new(Editor::open(work, protocol).await)),
        ));
        let second = if place < 2 {
            Writer::GraphQl(work.clone())
        } else {
            Writer::Socket(Box::new(
                Editor::open(work, Protocol::ALL[(place + 1) % 2]).await,
            ))
        };
        writers.push((work.clone(), second));
    }
    writers
}

/// All clients write for some random time; then `fault` happens to the server, and they notice.
pub(super) async fn round(
    number: u64,
    writers: Vec<(Work, Writer)>,
    ledger: &Arc<Ledger>,
    random: &mut Random,
    fault: impl FnOnce(),
) -> Vec<(Work, Writer)> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut running = JoinSet::new();
    for (place, (work, writer)) in writers.into_iter().enumerate() {
        let name = format!("{number}.{place}");
        let (ledger, stop) = (ledger.clone(), stop.clone());
        running.spawn(async move {
            let id = work.id.clone();
            (work, Box::pin(writer.run(name, id, ledger, stop)).await)
        });
    }
    // The moment is the point of the test: it comes from the seed, and nothing waits for it.
    tokio::time::sleep(Duration::from_micros(random.below(400_000) as u64)).await;
    fault();
    stop.store(true, Ordering::Relaxed);
    running.join_all().await
}

pub(super) async fn assert_converged(
    works: &[Work],
    writers: &[(Work, Writer)],
    client: &crate::harness::Client,
) {
    for work in works {
        let fresh = Editor::open(&work.by(client), Protocol::YWebsocket).await;
        let expected = fresh.read(replica::Replica::text);
        assert_eq!(work.by(client).text().await, expected);
        for (_, writer) in writers.iter().filter(|(on, _)| on.id == work.id) {
            if let Writer::Socket(editor) = writer {
                editor
                    .sees("the text of the others", |replica| {
                        replica.text() == expected
                    })
                    .await;
            }
        }
    }
}

pub(super) async fn start_works(owner: &Person) -> Vec<Work> {
    let mut works = Vec::new();
    for _ in 0..WORKS {
        works.push(owner.create_text("|\n").await);
    }
    works
}

async fn nothing_acknowledged_is_lost_when_the_server_is_killed(installation: &Installation) {
    let mut random = Random::new();
    let kills = number("ATELIER_TEST_KILLS").unwrap_or(KILLS);
    let (mut server, mut owner) = installation.open().await;
    let works = start_works(&owner).await;
    let ledger = Arc::new(Ledger::default());
    let mut clients = writers(&works).await;
    for kill in 0..kills {
        clients = Box::pin(round(kill, clients, &ledger, &mut random, || server.kill())).await;
        server = installation.start().await;
        owner = owner.at(&server);
        ledger.assert_kept(&works, &owner.client).await;
        for (_, writer) in &mut clients {
            writer.come_back(&owner).await;
        }
    }
    settle(&clients).await;
    ledger.assert_kept(&works, &owner.client).await;
    assert_converged(&works, &clients, &owner.client).await;
    eprintln!(
        "{} changes were acknowledged over {kills} kills; none was lost",
        ledger.total()
    );
    assert!(
        ledger.total() > kills as usize,
        "the clients hardly wrote: the test shows nothing"
    );
}

async fn clients_go_on_at_the_other_process_when_one_is_killed(installation: &Installation) {
    let mut random = Random::new();
    let kills = number("ATELIER_TEST_KILLS").unwrap_or(KILLS) / 2;
    let (first, mut owner) = installation.open().await;
    let mut servers = [first, installation.start().await];
    let works = start_works(&owner).await;
    let ledger = Arc::new(Ledger::default());
    let mut clients = writers(&works).await;
    for kill in 0..kills.max(2) {
        // Half of the clients stand at each process when one of them dies.
        for (place, (_, writer)) in clients.iter_mut().enumerate() {
            writer.come_back(&owner.at(&servers[place % 2])).await;
        }
        let [dying, other] = servers;
        clients = Box::pin(round(kill, clients, &ledger, &mut random, || dying.kill())).await;
        owner = owner.at(&other);
        ledger.assert_kept(&works, &owner.client).await;
        for (_, writer) in &mut clients {
            writer.come_back(&owner).await;
        }
        clients = write_a_little(kill, clients, &ledger).await;
        servers = [other, installation.start().await];
    }
    settle(&clients).await;
    for server in &servers {
        ledger.assert_kept(&works, &owner.at(server).client).await;
        assert_converged(&works, &clients, &owner.at(server).client).await;
    }
    eprintln!(
        "{} changes were acknowledged; none was lost",
        ledger.total()
    );
}

/// Each client makes one acknowledged change at the process that is left.
async fn write_a_little(
    kill: u64,
    clients: Vec<(Work, Writer)>,
    ledger: &Arc<Ledger>,
) -> Vec<(Work, Writer)> {
    for (place, (work, writer)) in clients.iter().enumerate() {
        let line = format!("<after {kill}.{place}>");
        let is_kept = match writer {
            Writer::Socket(editor) => {
                editor
                    .edit(|txn, roots| replica::append(txn, roots, &line))
                    .await;
                editor.acknowledged().await
            }
            Writer::GraphQl(work) => append(work, &line).await,
        };
        assert!(is_kept, "the other process takes changes");
        ledger.note(&work.id, line);
    }
    clients
}

/// Waits until everything that editors have is stored.
pub(super) async fn settle(clients: &[(Work, Writer)]) {
    for (_, writer) in clients {
        if let Writer::Socket(editor) = writer {
            assert!(editor.acknowledged().await);
        }
    }
}

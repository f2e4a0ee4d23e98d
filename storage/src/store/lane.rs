//! A lane: carries out waiting commands as a group, with one commit for all of them.
//!
//! Invariants
//! - A command's own error undoes that command alone. Most are found before anything was written, and leave nothing to undo;
//!   where something was, the group is undone and runs again without that command, which then runs by itself. A statement
//!   that failed is an error of its command, also where the command overlooked it.
//! - Answers leave after the commit. A commit whose outcome is unknown is never run again.
//! - A group that meets another transaction, loses its connection before the commit, or of which nobody knows whose rows were
//!   refused, is run again, command by command, a bounded number of times.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use domain::store::{ErasedCommand, Scope};
use domain::{Error, Result};
use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::error::{self, from_db, is_conflict, is_interrupted};
use crate::link::{Begin, OpenTransaction};
use crate::session::{Health, Session, Written};
use crate::wake::Wakes;

/// Commands that share a commit.
const GROUP: usize = 256;
/// How often a command is run before it is given up.
const ATTEMPTS: u32 = 10;

type Answer = Result<Box<dyn Any + Send>>;

/// A command and who waits for it.
pub(super) struct Waiting {
    pub(super) command: Arc<dyn ErasedCommand>,
    pub(super) reply: oneshot::Sender<Answer>,
}

/// Why a group was not committed.
enum Failure {
    /// The command at this place failed after it had written, or after PostgreSQL refused a statement: nothing of the
    /// group is stored.
    Spoilt(usize),
    /// It met another transaction, lost its connection before the commit, or can not be told apart: nothing of it is stored.
    Interrupted,
    /// The database failed; perhaps all of it is stored, perhaps nothing.
    Fault(Error),
}

/// Carries out commands until it is told to stop; what waits then is still carried out.
pub(super) async fn run<B: Begin>(
    connection: B,
    wakes: Arc<Wakes>,
    mut queue: mpsc::Receiver<Waiting>,
    stop: CancellationToken,
) {
    let mut group = Vec::with_capacity(GROUP);
    // As many commands as may come at once: what the largest of the last groups had.
    let mut expected: usize = 1;
    loop {
        let taken = tokio::select! {
            biased;
            () = stop.cancelled(), if !queue.is_closed() => {
                queue.close();
                continue;
            }
            taken = queue.recv_many(&mut group, GROUP) => taken,
        };
        if taken == 0 {
            return;
        }
        if expected > 1 {
            let is_complete = || group.len() + queue.len() >= expected;
            connection.gather(is_complete).await;
            while group.len() < GROUP
                && let Ok(waiting) = queue.try_recv()
            {
                group.push(waiting);
            }
        }
        expected = group.len().max(expected - expected.div_ceil(8));
        // In the order of workspaces, so that two lanes take their locks in the same order.
        group.sort_by_key(|waiting| match waiting.command.scope() {
            Scope::Installation => None,
            Scope::Workspace(workspace) => Some(workspace),
        });
        carry_out(&connection, &wakes, std::mem::take(&mut group)).await;
    }
}

async fn carry_out<B: Begin>(connection: &B, wakes: &Wakes, mut group: Vec<Waiting>) {
    metrics::histogram!("atelier_store_group_commands").record(group.len() as f64);
    let mut apart = Vec::new();
    while !group.is_empty() {
        let commands: Vec<_> = group
            .iter()
            .map(|waiting| waiting.command.clone())
            .collect();
        match commit(connection, &commands, wakes).await {
            Ok(answers) => answer(std::mem::take(&mut group), answers),
            Err(Failure::Spoilt(place)) => apart.push(group.remove(place)),
            Err(Failure::Interrupted) => apart.append(&mut group),
            Err(Failure::Fault(error)) => refuse(std::mem::take(&mut group), &error),
        }
    }
    one_by_one(connection, wakes, apart).await;
}

/// Runs each command of a group alone. Where the database fails for one, the others are not tried: it may be away for long.
async fn one_by_one<B: Begin>(connection: &B, wakes: &Wakes, group: Vec<Waiting>) {
    let mut group = group.into_iter();
    while let Some(waiting) = group.next() {
        match alone(connection, wakes, &waiting.command).await {
            // Whoever no longer waits needs no answer.
            Ok(answer) => drop(waiting.reply.send(answer)),
            Err(error) => {
                return refuse(std::iter::once(waiting).chain(group).collect(), &error);
            }
        }
    }
}

/// Tells everybody of a group that nothing of it is stored, or that nobody knows.
fn refuse(group: Vec<Waiting>, error: &Error) {
    let text = error_text(error);
    tracing::error!(error = text, "the store could not commit");
    let answers = group
        .iter()
        .map(|_| Err(Error::Unavailable(text.clone().into())));
    let answers = answers.collect();
    answer(group, answers);
}

fn answer(group: Vec<Waiting>, answers: Vec<Answer>) {
    for (waiting, answer) in group.into_iter().zip(answers) {
        // Whoever no longer waits needs no answer.
        drop(waiting.reply.send(answer));
    }
}

/// The command's answer; an error where the database fails.
async fn alone<B: Begin>(
    connection: &B,
    wakes: &Wakes,
    command: &Arc<dyn ErasedCommand>,
) -> Result<Answer, Error> {
    for attempt in 0..ATTEMPTS {
        metrics::counter!("atelier_store_retries_total", "command" => command.name()).increment(1);
        match commit(connection, std::slice::from_ref(command), wakes).await {
            Ok(mut answers) => {
                let missing = || Err(Error::internal("a command gave no answer"));
                return Ok(answers.pop().unwrap_or_else(missing));
            }
            Err(Failure::Fault(error)) => return Err(error),
            // One alone is answered with its error instead.
            Err(Failure::Spoilt(_) | Failure::Interrupted) => {
                tokio::time::sleep(delay(attempt)).await;
            }
        }
    }
    Ok(Err(Error::Unavailable(
        format!("{} was interrupted {ATTEMPTS} times", command.name()).into(),
    )))
}

/// Doubles from 4 ms on, with up to as much again by chance.
fn delay(attempt: u32) -> Duration {
    let base = 4_u64 << attempt.min(7);
    let chance = uuid::Uuid::new_v4().as_u128() as u64 % base;
    Duration::from_millis(base + chance)
}

async fn commit<B: Begin>(
    connection: &B,
    commands: &[Arc<dyn ErasedCommand>],
    wakes: &Wakes,
) -> Result<Vec<Answer>, Failure> {
    let transaction = connection.begin().await.map_err(before_commit)?;
    let session = Session::of_commands(transaction, commands.len() > 1);
    let ended = run_all(&session, commands).await;
    let transaction = session.into_connection();
    let outcome = match ended {
        Ok(outcome) => outcome,
        Err(failure) => {
            undo(transaction).await;
            return Err(failure);
        }
    };
    if outcome.iter().any(|(answer, _)| answer.is_ok()) {
        transaction.commit().await.map_err(at_commit)?;
    } else {
        undo(transaction).await;
    }
    let announced = outcome
        .into_iter()
        .map(|(answer, written)| announce(wakes, answer, written));
    Ok(announced.collect())
}

/// Runs commands in one transaction, as far as the commit.
async fn run_all<T: OpenTransaction>(
    session: &Session<T>,
    commands: &[Arc<dyn ErasedCommand>],
) -> Result<Vec<(Answer, Written)>, Failure> {
    let begun = open(session, commands).await;
    begun.map_err(|error| fault(session, error))?;
    let mut outcome = Vec::with_capacity(commands.len());
    for (place, command) in commands.iter().enumerate() {
        session.begin_command();
        let answer = run_one(session, command).await;
        outcome.push(end(session, answer, (place, command)).await?);
    }
    match (session.write_all().await, commands) {
        (Ok(()), _) => Ok(outcome),
        (Err(error), [_]) if session.health() != Health::Interrupted => {
            Ok(vec![(Err(error), Written::default())])
        }
        (Err(_), _) => Err(Failure::Interrupted),
    }
}

/// Takes what the commands need of others' time, in the same order as every other group.
async fn open<T: OpenTransaction>(
    session: &Session<T>,
    commands: &[Arc<dyn ErasedCommand>],
) -> Result<()> {
    let scopes = commands.iter().map(|command| command.scope());
    if scopes.clone().any(|scope| scope == Scope::Installation) {
        session.lock_installation().await?;
    }
    let mut workspaces: Vec<_> = scopes
        .filter_map(|scope| match scope {
            Scope::Workspace(workspace) => Some(workspace),
            Scope::Installation => None,
        })
        .collect();
    workspaces.dedup();
    let turns: Vec<_> = commands
        .iter()
        .filter_map(|command| command.enters())
        .collect();
    session.open(&workspaces, &turns).await
}

/// Ends a command: what it wrote stays in the transaction where it is done, and what it gathered is forgotten where it is not.
async fn end<T: OpenTransaction>(
    session: &Session<T>,
    answer: Answer,
    (place, command): (usize, &Arc<dyn ErasedCommand>),
) -> Result<(Answer, Written), Failure> {
    if session.health() == Health::Interrupted || session.is_lost() {
        return Err(Failure::Interrupted);
    }
    let answer = match answer {
        // One that failed is no success, whatever the command made of it.
        Ok(_) if session.health() == Health::Failed => Err(Error::internal(format!(
            "{} overlooked a failed statement",
            command.name()
        ))),
        answer => answer,
    };
    let ended = match answer {
        Ok(output) => session
            .end_command()
            .await
            .map(|written| (Ok(output), written)),
        Err(error) => Err(error),
    };
    let error = match ended {
        Ok(ended) => return Ok(ended),
        Err(_) if session.health() == Health::Interrupted => return Err(Failure::Interrupted),
        Err(error) => error,
    };
    if session.is_shared() && session.has_written() {
        return Err(Failure::Spoilt(place));
    }
    session.forget_command();
    Ok((Err(error), Written::default()))
}

/// What a failed statement of the group itself means: nothing was asked to be stored.
fn fault<T: OpenTransaction>(session: &Session<T>, error: Error) -> Failure {
    match session.health() {
        Health::Interrupted => Failure::Interrupted,
        Health::Sound | Health::Failed => Failure::Fault(error),
    }
}

/// Undoes a transaction of which nothing is to be stored. Where that fails the database has done it already, or the
/// connection is gone; either way the pool does not give it to the next one as it is.
async fn undo(transaction: impl OpenTransaction) {
    if let Err(error) = transaction.rollback().await {
        tracing::warn!(%error, "a transaction was not undone in order");
    }
}

/// Runs one command; a panic in it is an error of it.
async fn run_one<T: OpenTransaction>(
    session: &Session<T>,
    command: &Arc<dyn ErasedCommand>,
) -> Answer {
    if let Scope::Workspace(workspace) = command.scope()
        && session.held(workspace).is_none()
    {
        return Err(Error::not_found("workspace", workspace));
    }
    let run = AssertUnwindSafe(command.run_erased(session))
        .catch_unwind()
        .await;
    run.unwrap_or_else(|_| Err(Error::internal(format!("{} panicked", command.name()))))
}

fn announce(wakes: &Wakes, answer: Answer, written: Written) -> Answer {
    if answer.is_ok() {
        for (workspace, head) in written.heads {
            wakes.reached(workspace, head);
        }
        if written.has_jobs {
            wakes.jobs_woken();
        }
        if written.access_changed {
            wakes.access_changed();
        }
        for wake in written.turns {
            wakes.turn_woken(wake);
        }
    }
    answer
}

/// What a failure means as long as nothing was asked to be stored.
fn before_commit(fault: error::Fault) -> Failure {
    if is_interrupted(&fault) {
        Failure::Interrupted
    } else {
        Failure::Fault(from_db(fault))
    }
}

/// What a failed commit means: only a conflict is surely undone.
fn at_commit(fault: error::Fault) -> Failure {
    if is_conflict(&fault) {
        Failure::Interrupted
    } else {
        Failure::Fault(Error::Unavailable(fault.into()))
    }
}

fn error_text(error: &Error) -> String {
    match error {
        Error::Unavailable(source) | Error::Internal(source) => source.to_string(),
        error => error.to_string(),
    }
}

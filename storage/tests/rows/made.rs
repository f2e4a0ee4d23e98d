//! Everything else that a task makes of what it was told: a step with calls, lines of executors, a card, an order, its own words.

use domain::card::{CONFIRM, Card, CardKind, CardOption, CardOrigin, CardState};
use domain::event::{EventKind, NewEvent, Subject};
use domain::ids::{CardId, JobId, LineId};
use domain::job::{Job, JobState};
use domain::line::{Line, LineExchange};
use domain::media::MediaKind;
use domain::task::Task;
use domain::time::Timestamp;
use domain::turn::{Call, CallState, LargeResult, Step, StepRef, StepState};
use serde_json::json;

use crate::memory_seeds::Speaking;
use crate::seeds::{seconds, within};
use crate::task_seeds::{new_call, new_step, new_turn, read_task};

/// Stores one of each, with these words in it.
pub(crate) async fn make_more(it: &Speaking, words: &str, second: u64) {
    let (store, workspace) = (&it.store, it.place.workspace);
    let mut task = read_task(store, it.task.expect("a task")).await;
    task.title = format!("Opening with {words}");
    task.goal = format!("Draw the opening with {words}, and sign it");
    task.brief = format!("Keep to {words}");
    let turn = new_turn(&task, 1);
    let step = Step {
        state: StepState::Settled,
        opened_at: seconds(second),
        rationale: format!("because of {words}"),
        ..new_step(&turn, 1)
    };
    let call = Call {
        state: CallState::Done,
        arguments: json!({"title": words}),
        result: Some(json!({"digest": words})),
        ..new_call(&step, 0)
    };
    let large = LargeResult {
        body: json!({"long": words}).to_string(),
    };
    let (line, exchange) = line(&task, words, seconds(second));
    let (card, job) = (
        card(&task, words, seconds(second)),
        job(&call, words, seconds(second)),
    );
    let told = NewEvent {
        kind: EventKind::TaskUpdated,
        subject: Subject::Task(task.id),
        task: Some(task.id),
        actor: it.place.caller.actor(),
        at: seconds(second),
        data: json!({"shortLine": words}),
    };
    let stored =
        within!(store, workspace, |tx,
                                   task,
                                   turn,
                                   step,
                                   call,
                                   large,
                                   line,
                                   exchange,
                                   card,
                                   job,
                                   told| {
            tx.update_task(&task).await?;
            tx.insert_turn(&turn).await?;
            tx.put_step(&step).await?;
            tx.insert_calls(std::slice::from_ref(&call)).await?;
            tx.insert_large_result(workspace, &call.id, &large).await?;
            tx.insert_line(&line).await?;
            tx.insert_exchange(workspace, &exchange).await?;
            tx.insert_card(&card).await?;
            tx.insert_job(&job).await?;
            tx.emit(workspace, vec![told]).await
        });
    stored.expect("is stored");
}

fn line(task: &Task, words: &str, at: Timestamp) -> (Line, LineExchange) {
    let line = Line {
        id: LineId::new(),
        workspace: task.workspace,
        task: task.id,
        executor: "writer".into(),
        purpose: format!("slogans with {words}"),
        opened_at: at,
    };
    let exchange = LineExchange {
        line: line.id,
        number: 1,
        prompt: format!("Write with {words}"),
        answer: format!("All {words}"),
        at,
        step: StepRef { turn: 1, step: 1 },
    };
    (line, exchange)
}

fn card(task: &Task, words: &str, at: Timestamp) -> Card {
    Card {
        id: CardId::new(),
        workspace: task.workspace,
        kind: CardKind::Choice,
        task: Some(task.id),
        message: None,
        call: None,
        item: None,
        prompt: format!("Is {words} right?"),
        options: vec![CardOption {
            detail: Some(format!("as in {words}")),
            ..CardOption::plain(CONFIRM, words)
        }],
        recommended: None,
        works: Vec::new(),
        cost: None,
        job: None,
        raised_by: CardOrigin::Model,
        state: CardState::Open,
        answer: None,
        created_at: at,
    }
}

fn job(call: &Call, words: &str, at: Timestamp) -> Job {
    Job {
        id: JobId::new(),
        workspace: call.workspace,
        task: call.task,
        call: call.id,
        provider: "replicate".into(),
        kind: MediaKind::Image,
        prompt: format!("A fox in {words}"),
        references: Vec::new(),
        parameters: json!({"style": words}),
        item: None,
        place: None,
        state: JobState::Failed,
        progress: 0,
        upstream: None,
        price: 1,
        reserved: 0,
        spent: 0,
        submitted_at: None,
        made: None,
        outputs: Vec::new(),
        error: Some(format!("no {words} here")),
        attempts: 1,
        due_at: None,
        settled_at: None,
        is_cancel_asked: false,
        created_at: at,
        updated_at: at,
    }
}

//! What people do to a task while it is carried out.

use domain::Error;
use domain::card::{AnswerCard, Answered, CONFIRM, Card, CardState, RESUME};
use domain::ids::{MessageId, TaskId};
use domain::journal::JournalKind;
use domain::message::{MessageState, ReplaceMessage, WithdrawMessage, Withdrawn};
use domain::store::{SharedStore, StoreExt};
use domain::task::{ChecklistState, PauseTask, ResumeTask, StopTask, TaskStatus};
use domain::turn::{After, CallOutcome, CallState, Spare, StepRef, TurnState};
use serde_json::json;

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{Place, bootstrap, seconds};
use crate::task_seeds::{
    Worker, action, create_task, decision, item, opened, planned, post, read_message, read_task,
};

on_both_databases!(
    a_stop_refuses_the_worker_at_once_and_keeps_what_came_late,
    a_pause_holds_at_the_next_boundary_and_a_resume_goes_on,
    a_message_can_be_taken_back_until_a_step_has_taken_it,
    an_answer_confirms_the_item_and_the_task_goes_on,
    a_message_to_a_stopped_task_waits_for_the_answer_of_its_card,
    a_message_makes_a_delivered_task_go_on,
);

fn done() -> CallOutcome {
    CallOutcome::Done(json!({"workId": "work_1"}))
}

async fn status(store: &SharedStore, task: TaskId) -> TaskStatus {
    read_task(store, task).await.status
}

async fn turn_state(store: &SharedStore, worker: &Worker<'_>) -> TurnState {
    let turns = store.reads().list_turns_by_id(&[worker.fence.turn]).await;
    turns.expect("reads")[0].state
}

async fn a_stop_refuses_the_worker_at_once_and_keeps_what_came_late(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = create_task(store, place, &[]).await;
    let (worker, _) = Worker::claim(store, task).await;
    let calls = vec![planned("create_work"), planned("edit_work")];
    let decided = worker.decide(1, decision(Vec::new(), calls)).await;
    decided.expect("decides");
    worker.start(1, &[0]).await.expect("starts");
    let stop = StopTask(action(place, task, seconds(3)));
    store.run(stop).await.expect("stops");

    let refused = worker.start(1, &[1]).await;
    assert!(matches!(refused, Err(Error::Fenced { .. })), "{refused:?}");
    let late = worker.finish(1, 0, done()).await.expect("is stored");
    assert_eq!(late, None);
    let calls = store.reads().list_step_calls(worker.fence.turn, 1).await;
    let states = calls.expect("reads");
    let states: Vec<_> = states.iter().map(|call| call.state).collect();
    assert_eq!(states, [CallState::Done, CallState::Refused]);
    let results = [JournalKind::Result];
    let told = store
        .reads()
        .list_newest_journal(task, &results, 0, 9)
        .await;
    assert_eq!(told.expect("reads")[0].data["isLate"], json!(true));
    assert_eq!(status(store, task).await, TaskStatus::Stopped);
    assert_eq!(turn_state(store, &worker).await, TurnState::Cancelled);
    let claimable = store.reads().list_claimable(seconds(9), 9).await;
    assert_eq!(claimable.expect("reads"), []);
    storage.close().await;
}

async fn a_pause_holds_at_the_next_boundary_and_a_resume_goes_on(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = create_task(store, place, &[]).await;
    let (worker, _) = Worker::claim(store, task).await;
    let plan = || vec![item("draw", ChecklistState::Todo)];
    let decided = worker.decide(1, decision(plan(), vec![planned("create_work")]));
    decided.await.expect("decides");
    let pause = PauseTask(action(place, task, seconds(3)));
    store.run(pause).await.expect("pauses");
    worker.start(1, &[0]).await.expect("what is decided begins");
    let after = worker.finish(1, 0, done()).await.expect("and ends");
    assert_eq!(after, Some(After::Ended));
    let held = read_task(store, task).await;
    let reason = held.status_reason.as_deref();
    let standing = (held.status, reason, held.active_turn);
    assert_eq!(
        standing,
        (TaskStatus::Paused, Some("paused by a person"), None)
    );
    assert_eq!(turn_state(store, &worker).await, TurnState::Completed);

    let resume = ResumeTask(action(place, task, seconds(5)));
    store.run(resume).await.expect("resumes");
    assert_eq!(status(store, task).await, TaskStatus::Queued);
    let (_, after) = Worker::claim(store, task).await;
    let at = opened(after).step.at;
    assert_eq!(at, StepRef { turn: 2, step: 1 });
    storage.close().await;
}

async fn withdraw(store: &SharedStore, place: Place, message: MessageId) -> Withdrawn {
    let command = WithdrawMessage {
        caller: place.caller,
        workspace: place.workspace,
        message,
        at: seconds(5),
    };
    store.run(command).await.expect("answers")
}

async fn replace(store: &SharedStore, place: Place, message: MessageId) -> Withdrawn {
    let command = ReplaceMessage {
        caller: place.caller,
        workspace: place.workspace,
        message,
        new: MessageId::new(),
        text: "Make it blue".into(),
        spare: Spare::new(),
        at: seconds(5),
    };
    store.run(command).await.expect("answers")
}

async fn a_message_can_be_taken_back_until_a_step_has_taken_it(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = create_task(store, place, &[]).await;
    let [first, second, third] = [
        post(store, place, task, seconds(1)).await,
        post(store, place, task, seconds(2)).await,
        post(store, place, task, seconds(3)).await,
    ];
    assert_eq!(withdraw(store, place, first).await, Withdrawn::Done(first));
    assert_eq!(withdraw(store, place, first).await, Withdrawn::Done(first));
    let Withdrawn::Done(new) = replace(store, place, second).await else {
        panic!("nobody has taken it");
    };
    let (_, after) = Worker::claim(store, task).await;
    let step = opened(after);
    let texts: Vec<_> = step
        .messages
        .iter()
        .map(|message| (message.id, message.text.as_str()))
        .collect();
    assert_eq!(texts, [(third, "Make it red"), (new, "Make it blue")]);
    let taken = Withdrawn::AlreadyConsumed(step.step.at);
    assert_eq!(withdraw(store, place, third).await, taken);
    assert_eq!(replace(store, place, new).await, taken);
    let former = read_message(store, second).await;
    let seen = (former.state, former.replaced_by);
    assert_eq!(seen, (MessageState::Replaced, Some(new)));
    storage.close().await;
}

async fn open_card(store: &SharedStore, task: TaskId) -> Card {
    let cards = store.reads().list_cards(&[task], Some(true)).await;
    cards.expect("reads").remove(0)
}

async fn answer(store: &SharedStore, place: Place, card: &Card, option: &str) -> Answered {
    let command = AnswerCard {
        caller: place.caller,
        workspace: place.workspace,
        card: card.id,
        option: Some(option.to_owned()),
        comment: None,
        idempotency: None,
        spare: Spare::new(),
        at: seconds(6),
    };
    store.run(command).await.expect("answers")
}

async fn an_answer_confirms_the_item_and_the_task_goes_on(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = create_task(store, place, &[]).await;
    let (worker, _) = Worker::claim(store, task).await;
    let mut look = item("look", ChecklistState::Done);
    look.needs_confirmation = true;
    let asked = worker.decide(1, decision(vec![look.clone()], Vec::new()));
    assert_eq!(asked.await.expect("decides"), After::Ended);
    assert_eq!(status(store, task).await, TaskStatus::WaitingForPerson);
    let card = open_card(store, task).await;
    assert_eq!(card.item.as_deref(), Some("look"));

    assert_eq!(answer(store, place, &card, CONFIRM).await, Answered::Done);
    assert_eq!(
        answer(store, place, &card, CONFIRM).await,
        Answered::NotOpen
    );
    let projections = store.reads().list_projections(&[task]).await;
    let (_, projections) = projections.expect("reads").remove(0);
    assert!(projections.checklist[0].is_confirmed);
    let cards = store.reads().list_cards(&[task], Some(false)).await;
    let card = cards.expect("reads").remove(0);
    assert_eq!(card.state, CardState::Answered);
    assert_eq!(card.answer.expect("an answer").by, place.caller.user);
    let (worker, _) = Worker::claim(store, task).await;
    let end = worker.decide(1, decision(vec![look], Vec::new())).await;
    assert_eq!(end.expect("decides"), After::Ended);
    assert_eq!(status(store, task).await, TaskStatus::Delivered);
    storage.close().await;
}

async fn a_message_to_a_stopped_task_waits_for_the_answer_of_its_card(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = create_task(store, place, &[]).await;
    let stop = StopTask(action(place, task, seconds(1)));
    store.run(stop).await.expect("stops");
    let message = post(store, place, task, seconds(2)).await;
    let found = read_message(store, message).await;
    assert_eq!(found.state, MessageState::Undeliverable);
    let card = open_card(store, task).await;
    assert_eq!(answer(store, place, &card, RESUME).await, Answered::Done);
    assert_eq!(status(store, task).await, TaskStatus::Queued);
    let (_, after) = Worker::claim(store, task).await;
    assert_eq!(opened(after).messages[0].id, message);
    storage.close().await;
}

async fn a_message_makes_a_delivered_task_go_on(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = create_task(store, place, &[]).await;
    let (worker, _) = Worker::claim(store, task).await;
    let end = worker.decide(1, decision(Vec::new(), Vec::new())).await;
    assert_eq!(end.expect("decides"), After::Ended);
    let message = post(store, place, task, seconds(5)).await;
    assert_eq!(status(store, task).await, TaskStatus::Queued);
    let (_, after) = Worker::claim(store, task).await;
    let step = opened(after);
    assert_eq!(step.step.at, StepRef { turn: 2, step: 1 });
    assert_eq!(step.messages[0].id, message);
    storage.close().await;
}

//! What is read of many tasks and steps at once: to each its own rows, and of each no more than its part.

use domain::actor::Actor;
use domain::ids::TaskId;
use domain::journal::{JournalEntry, JournalKind};
use domain::message::MessageState;
use domain::page::End;
use domain::store::SharedStore;
use domain::task::Task;
use domain::turn::{StepRef, StepState};
use serde_json::json;

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{Place, bootstrap, second_workspace, seconds, within};
use crate::task_seeds::{insert_turn, new_message, new_step, new_turn, stored_task};

on_both_databases!(
    each_task_gives_the_end_of_its_own_list,
    each_step_gives_what_is_its_own,
);

/// A task with three turns, in each of them a step that was given a prompt and has read a message.
async fn filled_task(store: &SharedStore, place: Place) -> Task {
    let task = stored_task(store, place).await;
    for number in 1..=3_u32 {
        let turn = new_turn(&task, number);
        insert_turn(store, &turn).await;
        let mut step = new_step(&turn, 1);
        step.state = StepState::Decided;
        let mut message = new_message(place, seconds(number.into()));
        (message.task, message.taken_by) = (Some(task.id), Some(step.at));
        message.state = MessageState::Consumed;
        message.text = format!("{} {number}", task.id);
        let entry = |sequence: u32, kind| JournalEntry {
            sequence: sequence.into(),
            kind,
            at: seconds(sequence.into()),
            actor: Actor::System,
            step: Some(step.at),
            text: format!("{} {number}", task.id),
            data: json!({}),
        };
        let entries = vec![
            entry(number * 2 - 1, JournalKind::Plan),
            entry(number * 2, JournalKind::Prompt),
        ];
        let written = within!(store, task.workspace, |tx, task, step, message, entries| {
            tx.put_step(&step).await?;
            tx.insert_message(&message).await?;
            tx.append_journal(task.workspace, task.id, &entries).await
        });
        written.expect("writes");
    }
    task
}

/// Two tasks of two workspaces, among more ids of nothing than one statement takes.
async fn among_many(store: &SharedStore) -> (Vec<TaskId>, [TaskId; 2]) {
    let place = bootstrap(store).await;
    let first = filled_task(store, place).await.id;
    let elsewhere = second_workspace(store, place).await;
    let second = filled_task(store, elsewhere).await.id;
    let mut ids: Vec<_> = (0..150).map(|_| TaskId::new()).collect();
    ids.insert(3, first);
    ids.push(second);
    (ids, [first, second])
}

async fn each_task_gives_the_end_of_its_own_list(database: TestDatabase) {
    let storage = database.open().await;
    let reads = storage.store.reads();
    let (ids, tasks) = among_many(&storage.store).await;
    for (end, numbers) in [(End::First, [1, 2]), (End::Last, [2, 3])] {
        let threads = reads.list_threads(&ids, 2, end).await.expect("reads");
        let turns = reads.list_turns_of(&ids, 2, end).await.expect("reads");
        for task in tasks {
            let texts = threads.iter().filter(|message| message.task == Some(task));
            let texts: Vec<_> = texts.map(|message| message.text.clone()).collect();
            assert_eq!(texts, numbers.map(|number| format!("{task} {number}")));
            let turns = turns.iter().filter(|turn| turn.task == task);
            assert_eq!(turns.map(|turn| turn.number).collect::<Vec<_>>(), numbers);
        }
        assert_eq!((threads.len(), turns.len()), (4, 4));
    }
    let kinds = [JournalKind::Plan];
    for (kinds, sequences) in [(&[][..], vec![1, 2]), (&kinds[..], vec![1, 3])] {
        let journals = reads.list_journals(&ids, kinds, 2).await.expect("reads");
        for task in tasks {
            let entries = journals.iter().filter(|(of, _)| *of == task);
            let found: Vec<_> = entries.map(|(_, entry)| entry.sequence).collect();
            assert_eq!(found, sequences);
        }
        assert_eq!(journals.len(), 4);
    }
    assert_eq!(
        reads.list_threads(&[], 2, End::First).await.expect("reads"),
        []
    );
    storage.close().await;
}

async fn each_step_gives_what_is_its_own(database: TestDatabase) {
    let storage = database.open().await;
    let reads = storage.store.reads();
    let (ids, tasks) = among_many(&storage.store).await;
    let at = StepRef { turn: 2, step: 1 };
    let mut keys: Vec<_> = ids.iter().map(|task| (*task, at)).collect();
    keys.push((tasks[0], StepRef { turn: 2, step: 2 }));
    let steps = reads.list_steps_by_number(&keys).await.expect("reads");
    let consumed = reads.list_consumed(&keys).await.expect("reads");
    let prompts = reads.list_prompts(&keys).await.expect("reads");
    assert_eq!((steps.len(), consumed.len(), prompts.len()), (2, 2, 2));
    for task in tasks {
        let text = format!("{task} 2");
        assert!(steps.iter().any(|step| step.task == task && step.at == at));
        assert!(consumed.iter().any(|message| message.text == text));
        let prompt = prompts.iter().find(|(of, _)| *of == task);
        let (_, prompt) = prompt.expect("the step was given a prompt");
        assert_eq!((prompt.kind, &prompt.text), (JournalKind::Prompt, &text));
    }
    storage.close().await;
}

//! Messages, threads, and the inboxes of tasks.

use domain::actor::Actor;
use domain::ids::{CardId, MessageId, TaskId, WorkId};
use domain::message::{
    Message, MessagePosition, MessageState, Routing, RoutingOutcome, RoutingStage,
};
use domain::page::{End, Window};
use domain::store::SharedStore;
use domain::turn::StepRef;

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{Place, bootstrap, second_workspace, seconds, within};
use crate::task_seeds::{new_message, read_message, stored_task};

on_both_databases!(
    a_message_comes_back_as_it_was_written,
    threads_are_read_from_both_ends,
    a_step_takes_the_inbox_with_what_it_took_before_and_nobody_else_does,
    what_an_undecided_step_took_goes_back,
    only_what_people_wrote_is_in_an_inbox,
);

async fn insert(store: &SharedStore, message: &Message) {
    let inserted = within!(store, message.workspace, |tx, message| tx
        .insert_message(&message)
        .await);
    inserted.expect("inserts");
}

/// A message in the inbox of a task.
async fn delivered(store: &SharedStore, place: Place, task: TaskId, second: u64) -> MessageId {
    let mut message = new_message(place, seconds(second));
    (message.task, message.state) = (Some(task), MessageState::Delivered);
    insert(store, &message).await;
    message.id
}

async fn a_message_comes_back_as_it_was_written(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let mut message = new_message(place, seconds(1));
    insert(store, &message).await;
    assert_eq!(read_message(store, message.id).await, message);
    message.state = MessageState::Replaced;
    message.task = Some(TaskId::new());
    message.taken_by = Some(StepRef { turn: 2, step: 3 });
    message.replaced_by = Some(MessageId::new());
    message.routing = Some(Routing {
        stage: RoutingStage::Correction,
        outcome: RoutingOutcome::ExistingTask,
        rationale: Some("a person moved it".into()),
        candidates: Vec::new(),
        decided_at: seconds(2),
        corrected_from: Some(TaskId::new()),
    });
    let updated = within!(store, place.workspace, |tx, message| tx
        .update_message(&message)
        .await);
    updated.expect("updates");
    assert_eq!(read_message(store, message.id).await, message);
    let full = Message {
        id: MessageId::new(),
        main_of: Some(place.caller.user),
        language: None,
        reply_to: Some(CardId::new()),
        attachments: vec![WorkId::new(), WorkId::new()],
        ..message
    };
    insert(store, &full).await;
    assert_eq!(read_message(store, full.id).await, full);
    storage.close().await;
}

async fn threads_are_read_from_both_ends(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = stored_task(store, place).await;
    let mut messages = Vec::new();
    // Two of the same microsecond are told apart by their ids.
    for second in [1, 2, 2, 3, 4] {
        let mut message = new_message(place, seconds(second));
        (message.main_of, message.task) = (Some(place.caller.user), Some(task.id));
        insert(store, &message).await;
        messages.push(message);
    }
    let mut elsewhere = new_message(second_workspace(store, place).await, seconds(2));
    elsewhere.main_of = Some(place.caller.user);
    insert(store, &elsewhere).await;
    let position = |place: usize| MessagePosition {
        at: messages[place].created_at,
        id: messages[place].id.uuid(),
    };
    let read = async |end, limit, after: Option<usize>, before: Option<usize>| {
        let window = Window {
            limit,
            end,
            after: after.map(position),
            before: before.map(position),
        };
        let (reads, user) = (store.reads(), place.caller.user);
        let main = reads.list_main_thread(place.workspace, user, window).await;
        let thread = reads.list_thread(task.id, window).await.expect("reads");
        assert_eq!(main.expect("reads"), thread);
        let places = thread.rows.iter().map(|row| {
            let place = messages.iter().position(|message| message.id == row.id);
            place.expect("a message of this thread")
        });
        (places.collect::<Vec<_>>(), thread.has_next)
    };
    assert_eq!(read(End::First, 2, None, None).await, (vec![0, 1], true));
    assert_eq!(
        read(End::First, 9, Some(1), None).await,
        (vec![2, 3, 4], false)
    );
    assert_eq!(read(End::Last, 2, None, None).await, (vec![3, 4], true));
    assert_eq!(read(End::Last, 1, None, Some(2)).await, (vec![1], true));
    assert_eq!(
        read(End::Last, 9, Some(0), Some(3)).await,
        (vec![1, 2], false)
    );
    storage.close().await;
}

/// The inbox of a task under the hands of its steps.
struct Inbox<'store> {
    store: &'store SharedStore,
    place: Place,
    task: TaskId,
}

impl Inbox<'_> {
    async fn take(&self, step: StepRef) -> Vec<MessageId> {
        let (workspace, task) = (self.place.workspace, self.task);
        let taken = within!(self.store, workspace, |tx| tx
            .take_inbox(workspace, task, step, None)
            .await);
        let taken = taken.expect("takes");
        assert!(taken.iter().all(|message| message.taken_by == Some(step)));
        taken.iter().map(|message| message.id).collect()
    }

    async fn consume(&self, step: StepRef) -> Vec<MessageId> {
        let (workspace, task) = (self.place.workspace, self.task);
        let consumed = within!(self.store, workspace, |tx| tx
            .consume_inbox(workspace, task, step)
            .await);
        consumed.expect("consumes")
    }

    async fn release(&self, step: StepRef) {
        let (workspace, task) = (self.place.workspace, self.task);
        let released = within!(self.store, workspace, |tx| tx
            .release_inbox(workspace, task, step)
            .await);
        released.expect("gives back");
    }

    async fn unread(&self) -> u64 {
        let (workspace, task) = (self.place.workspace, self.task);
        let unread = within!(self.store, workspace, |tx| tx
            .count_unread(workspace, task)
            .await);
        unread.expect("counts")
    }

    async fn list(&self, states: &[MessageState]) -> Vec<MessageId> {
        let found = self.store.reads().list_inbox(&[self.task], states).await;
        found
            .expect("reads")
            .iter()
            .map(|message| message.id)
            .collect()
    }

    async fn is_consumed_after(&self, turn: u32, step: u32) -> bool {
        let step = StepRef { turn, step };
        let reads = self.store.reads();
        let found = reads.is_consumed_after(self.task, step).await;
        found.expect("reads")
    }
}

async fn a_step_takes_the_inbox_with_what_it_took_before_and_nobody_else_does(
    database: TestDatabase,
) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = stored_task(store, place).await.id;
    let inbox = Inbox { store, place, task };
    let step = StepRef { turn: 2, step: 3 };
    let second = delivered(store, place, task, 2).await;
    let first = delivered(store, place, task, 1).await;
    assert_eq!(inbox.take(step).await, [first, second]);
    let third = delivered(store, place, task, 3).await;
    assert_eq!(inbox.unread().await, 1);
    assert_eq!(inbox.take(step).await, [first, second, third]);
    let next = StepRef { turn: 2, step: 4 };
    assert_eq!(inbox.take(next).await, []);
    assert_eq!(inbox.consume(next).await, []);
    assert_eq!(inbox.list(&[]).await, [first, second, third]);
    assert_eq!(inbox.consume(step).await, [first, second, third]);
    let found = read_message(store, first).await;
    let seen = (found.state, found.taken_by);
    assert_eq!(seen, (MessageState::Consumed, Some(step)));
    assert_eq!(inbox.list(&[]).await, []);
    let consumed = inbox.list(&[MessageState::Consumed]).await;
    assert_eq!(consumed, [first, second, third]);
    assert!(inbox.is_consumed_after(2, 2).await);
    assert!(inbox.is_consumed_after(1, 9).await);
    assert!(!inbox.is_consumed_after(2, 3).await);
    storage.close().await;
}

async fn what_an_undecided_step_took_goes_back(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = stored_task(store, place).await.id;
    let inbox = Inbox { store, place, task };
    let [former, step, next] = [(1, 1), (1, 2), (2, 1)].map(|(turn, step)| StepRef { turn, step });
    let early = delivered(store, place, task, 1).await;
    inbox.take(former).await;
    inbox.consume(former).await;
    let late = delivered(store, place, task, 2).await;
    inbox.take(step).await;
    inbox.release(step).await;
    inbox.release(former).await;
    assert_eq!(inbox.unread().await, 1);
    assert_eq!(read_message(store, early).await.taken_by, Some(former));
    assert_eq!(inbox.take(next).await, [late]);
    storage.close().await;
}

async fn only_what_people_wrote_is_in_an_inbox(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let task = stored_task(store, place).await.id;
    let inbox = Inbox { store, place, task };
    let (turn, step) = (1, 1);
    let mut reply = new_message(place, seconds(1));
    reply.author = Actor::Agent { task, turn, step };
    (reply.task, reply.state) = (Some(task), MessageState::Delivered);
    insert(store, &reply).await;
    for state in [
        MessageState::Withdrawn,
        MessageState::Undeliverable,
        MessageState::AwaitingChoice,
    ] {
        let mut message = new_message(place, seconds(2));
        (message.task, message.state) = (Some(task), state);
        insert(store, &message).await;
    }
    assert_eq!(inbox.unread().await, 0);
    assert_eq!(inbox.take(StepRef { turn, step }).await, []);
    assert_eq!(inbox.list(&[]).await, []);
    storage.close().await;
}

//! Episodes: what has come of a task is remembered at its milestones, and forgotten with what it rests on.

use domain::ids::TaskId;
use domain::memory::{
    EvidenceRole, ForgetTarget, MemoryBasis, MemoryKind, MemoryState, episode_of,
};
use domain::store::SharedStore;
use domain::task::{ChecklistItem, ChecklistState, TaskStatus};

use crate::databases::{TestDatabase, on_both_databases};
use crate::memory_seeds::{Speaking, fact, tables_with};
use crate::seeds::{Place, bootstrap, seconds};
use crate::task_seeds::{Worker, create_task, decision, item, post, read_task};

on_both_databases!(
    what_came_of_a_task_is_remembered_and_forgotten_with_its_evidence,
    an_episode_that_rests_on_a_forgotten_memory_is_written_anew,
    a_task_to_which_nobody_has_written_has_no_episode,
);

/// The task is delivered with this line, and this done.
async fn deliver(store: &SharedStore, task: TaskId, line: &str, done: &str) {
    let (worker, _) = Worker::claim(store, task).await;
    let mut decided = decision(
        vec![ChecklistItem {
            title: done.into(),
            ..item("all", ChecklistState::Done)
        }],
        Vec::new(),
    );
    decided.short_line = line.into();
    worker.decide(1, decided).await.expect("decides");
    let stored = read_task(store, task).await;
    assert_eq!(stored.status, TaskStatus::Delivered);
}

fn speaking(store: &SharedStore, place: Place, task: TaskId) -> Speaking {
    Speaking {
        task: Some(task),
        ..Speaking::new(store, place)
    }
}

async fn what_came_of_a_task_is_remembered_and_forgotten_with_its_evidence(database: TestDatabase) {
    let storage = database.open().await;
    let (store, place) = (&storage.store, bootstrap(&storage.store).await);
    let task = create_task(store, place, &[]).await;
    let it = speaking(store, place, task);
    let first = post(store, place, task, seconds(1)).await;
    deliver(store, task, "a red fox is drawn", "the fox").await;
    let episode = episode_of(task);
    let memory = it.memory(episode).await;
    assert_eq!(
        (memory.kind, memory.basis, memory.state),
        (
            MemoryKind::Episode,
            MemoryBasis::Inferred,
            MemoryState::Active
        )
    );
    let holds = it.holds(episode).await;
    assert_eq!(
        holds.as_deref(),
        Some("Opening: a red fox is drawn\n✓ the fox")
    );
    assert_eq!(
        it.edges(episode, 1).await,
        [(first, EvidenceRole::Origin, true)]
    );
    assert!(it.profile().await.entries.is_empty());
    // The next stretch is the next version of the same memory.
    let second = post(store, place, task, seconds(3)).await;
    deliver(store, task, "a blue fox is drawn", "the fox").await;
    assert_eq!(
        it.edges(episode, 2).await,
        [(second, EvidenceRole::Refine, true)]
    );
    let versions = it.versions(episode).await;
    assert_eq!(versions[0].state, MemoryState::Superseded);
    assert_eq!(versions[1].derived_from, [(episode, 1)]);
    // Without what the second rests on, the first holds again.
    it.forget(ForgetTarget::Message(second), 10).await;
    let states: Vec<_> = it
        .versions(episode)
        .await
        .iter()
        .map(|one| one.state)
        .collect();
    assert_eq!(states, [MemoryState::Active, MemoryState::Forgotten]);
    // Without any of it, nothing is left to say.
    it.forget(ForgetTarget::Message(first), 11).await;
    assert_eq!(it.holds(episode).await, None);
    assert_eq!(it.memory(episode).await.state, MemoryState::Forgotten);
    storage.close().await;
}

async fn an_episode_that_rests_on_a_forgotten_memory_is_written_anew(database: TestDatabase) {
    let storage = database.open().await;
    let (store, place) = (&storage.store, bootstrap(&storage.store).await);
    let brand = Speaking::new(store, place)
        .learn("Our brand is zinnober9", fact("Our brand is zinnober9"), 1)
        .await
        .1;
    let task = create_task(store, place, &[]).await;
    let it = speaking(store, place, task);
    post(store, place, task, seconds(1)).await;
    deliver(store, task, "a fox in zinnober9 is drawn", "the fox").await;
    let episode = episode_of(task);
    assert_eq!(it.versions(episode).await.len(), 1);
    it.forget(ForgetTarget::Memory(brand), 10).await;
    let versions = it.versions(episode).await;
    assert_eq!(versions[0].state, MemoryState::Forgotten);
    assert_eq!(
        it.holds(episode).await.as_deref(),
        Some("Opening: …\n✓ the fox")
    );
    assert!(tables_with(&database, "zinnober9").await.is_empty());
    storage.close().await;
}

async fn a_task_to_which_nobody_has_written_has_no_episode(database: TestDatabase) {
    let storage = database.open().await;
    let (store, place) = (&storage.store, bootstrap(&storage.store).await);
    let task = create_task(store, place, &[]).await;
    deliver(store, task, "a red fox is drawn", "the fox").await;
    let found = store.reads().list_memories_by_id(&[episode_of(task)]).await;
    assert!(found.expect("reads").is_empty());
    storage.close().await;
}

//! What several commands leave in the rows: runs of revisions, keys that expire, files of a workspace.

use bytes::Bytes;
use domain::actor::Actor;
use domain::document::{Touched, Version};
use domain::idempotency::{IDEMPOTENCY_TTL, IdempotencyKey};
use domain::ids::{UserId, WorkId, WorkspaceId};
use domain::store::{Scope, SharedStore, StoreExt as _};
use domain::time::Timestamp;
use domain::work::{AssetFile, PendingChange, Work, WorkKind};
use domain::{Error, Result};
use serde_json::json;
use std::time::Duration;

use crate::commands::{START, act, workspace};
use crate::on_both_databases;
use crate::place::Place;

on_both_databases! {
    changes_of_one_actor_without_a_long_pause_are_one_revision
    an_idempotency_key_can_be_used_again_when_it_has_expired
    a_file_of_another_workspace_is_not_found
}

async fn insert_work(store: &SharedStore, workspace: WorkspaceId) -> WorkId {
    let work = Work {
        id: WorkId::new(),
        workspace,
        kind: WorkKind::Text,
        title: "A text".to_owned(),
        version: Version(0),
        created_at: START,
        updated_at: START,
        updated_by: Actor::System,
        deleted_at: None,
        asset: None,
    };
    let id = work.id;
    let insert = act(Scope::Workspace(workspace), move |tx| {
        let work = work.clone();
        Box::pin(async move { tx.insert_work(&work).await })
    });
    store.run(insert).await.expect("the work is made");
    id
}

async fn append(
    store: &SharedStore,
    workspace: WorkspaceId,
    work: WorkId,
    changes: Vec<PendingChange>,
) {
    let append = act(Scope::Workspace(workspace), move |tx| {
        let changes = changes.clone();
        Box::pin(async move {
            tx.append_changes(work, workspace, &changes).await?;
            Ok(())
        })
    });
    store.run(append).await.expect("the changes are stored");
}

fn change(actor: &Actor, seconds: u64) -> PendingChange {
    PendingChange {
        actor: actor.clone(),
        at: START.plus(Duration::from_secs(seconds)),
        update: Bytes::from_static(b"update"),
        touched: Touched {
            inserted: 1,
            ..Touched::default()
        },
    }
}

async fn changes_of_one_actor_without_a_long_pause_are_one_revision(place: Place) {
    let storage = place.open().await;
    let store = &storage.store;
    let workspace = workspace(store).await;
    let work = insert_work(store, workspace).await;
    let ada = Actor::Person(UserId::new());
    let ben = Actor::Person(UserId::new());
    append(
        store,
        workspace,
        work,
        vec![change(&ada, 0), change(&ada, 30)],
    )
    .await;
    append(
        store,
        workspace,
        work,
        vec![change(&ada, 90), change(&ben, 91), change(&ada, 92)],
    )
    .await;
    append(store, workspace, work, vec![change(&ada, 153)]).await;

    let revisions = store
        .reads()
        .list_revisions_after(work, Version(0))
        .await
        .expect("reads");
    let mut runs: Vec<_> = revisions
        .iter()
        .map(|revision| {
            let (from, to) = (revision.from_version.0, revision.to_version.0);
            (from, to, revision.actor.clone(), revision.touched.inserted)
        })
        .collect();
    runs.sort_by_key(|run| run.0);
    let expected = [
        (1, 3, ada.clone(), 3),
        (4, 4, ben, 1),
        (5, 5, ada.clone(), 1),
        (6, 6, ada.clone(), 1),
    ];
    assert_eq!(runs, expected);
    let stored = store
        .reads()
        .list_works_by_id(&[work])
        .await
        .expect("reads");
    assert_eq!(stored[0].version, Version(6));
    assert_eq!(stored[0].updated_at, START.plus(Duration::from_secs(153)));
    assert_eq!(stored[0].updated_by, ada);
    storage.close().await;
}

async fn remember(store: &SharedStore, at: Timestamp, result: u64) -> Result<()> {
    let key = key(at);
    let remember = act(Scope::Installation, move |tx| {
        let key = key.clone();
        Box::pin(async move { tx.remember_idempotency(&key, &json!(result)).await })
    });
    store.run(remember).await
}

fn key(at: Timestamp) -> IdempotencyKey {
    IdempotencyKey {
        actor: Actor::System,
        mutation: "createWork",
        key: "key".to_owned(),
        input_hash: [3; 32],
        at,
    }
}

async fn an_idempotency_key_can_be_used_again_when_it_has_expired(place: Place) {
    let storage = place.open().await;
    let store = &storage.store;
    remember(store, START, 1).await.expect("the first use");
    let again = remember(store, START.plus(IDEMPOTENCY_TTL / 2), 2).await;
    assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
    let late = START.plus(IDEMPOTENCY_TTL + Duration::from_secs(1));
    remember(store, late, 3).await.expect("a use after the end");
    let record = store.reads().find_idempotency(&key(late)).await;
    let record = record.expect("reads").expect("is remembered");
    assert_eq!((record.result, record.at), (json!(3), late));
    storage.close().await;
}

async fn a_file_of_another_workspace_is_not_found(place: Place) {
    let storage = place.open().await;
    let store = &storage.store;
    let own = workspace(store).await;
    let other = workspace(store).await;
    let file = AssetFile {
        sha256: "ab".repeat(32),
        media_type: "image/png".to_owned(),
        byte_size: 12,
    };
    let stored = file.clone();
    let insert = act(Scope::Workspace(own), move |tx| {
        let file = stored.clone();
        Box::pin(async move { tx.insert_file(own, &file).await })
    });
    store.run(insert).await.expect("the file is noted");
    let reads = store.reads();
    let found = reads.find_file(own, &file.sha256).await.expect("reads");
    assert_eq!(found, Some(file.clone()));
    let found = reads.find_file(other, &file.sha256).await.expect("reads");
    assert_eq!(found, None);
    storage.close().await;
}

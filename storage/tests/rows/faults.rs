//! What is told about rows and statements that are no good.

use std::error::Error as _;

use domain::Error;
use domain::document::Version;
use domain::ids::WorkspaceId;
use domain::store::{Scope, StoreExt};
use domain::work::RenameWork;

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{self, Does, START, bootstrap, new_work};

on_both_databases!(
    a_damaged_row_is_named_with_table_column_and_id,
    a_row_without_what_it_belongs_to_is_refused_and_nobody_is_told_to_try_again,
    a_workspace_that_is_not_there_is_not_found,
    json_with_the_character_zero_comes_back_as_it_was,
);

async fn a_damaged_row_is_named_with_table_column_and_id(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let work = seeds::work(store, place).await;
    database
        .execute("update works set kind = 'SCULPTURE'")
        .await;
    let error = store.reads().list_works_by_id(&[work]).await;
    let error = error.expect_err("is damaged");
    assert!(matches!(error, Error::Internal(_)), "{error:?}");
    let text = error.source().expect("a source").to_string();
    let id = work.uuid().simple().to_string();
    for part in ["works", "kind", "SCULPTURE", id.as_str()] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    storage.close().await;
}

async fn a_row_without_what_it_belongs_to_is_refused_and_nobody_is_told_to_try_again(
    database: TestDatabase,
) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let mut work = new_work(place, START);
    work.workspace = WorkspaceId::new();
    let command = Does::new(Scope::Workspace(place.workspace), move |tx| {
        let work = work.clone();
        Box::pin(async move { tx.insert_work(&work).await })
    });
    let refused = store.run(command).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    storage.close().await;
}

async fn a_workspace_that_is_not_there_is_not_found(database: TestDatabase) {
    let storage = database.open().await;
    let nowhere = Scope::Workspace(WorkspaceId::new());
    let command = Does::new(nowhere, |_| Box::pin(async { Ok(()) }));
    let refused = storage.store.run(command).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    storage.close().await;
}

async fn json_with_the_character_zero_comes_back_as_it_was(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let work = seeds::work(store, place).await;
    let mut change = seeds::change(&place.caller.actor(), START, "a");
    change.touched.note = Some("before\0after".into());
    seeds::append(store, place, work, vec![change.clone()]).await;
    let changes = store.reads().list_changes(work, Version(0), 1).await;
    assert_eq!(changes.expect("reads")[0].touched, change.touched);
    // As the text of a column PostgreSQL refuses it; the caller is told so, and not to try again.
    let command = RenameWork {
        caller: place.caller,
        workspace: place.workspace,
        work,
        title: "zero \0".into(),
        at: START,
    };
    let renamed = store.run(command).await;
    assert!(
        matches!(renamed, Ok(_) | Err(Error::Invalid(_))),
        "{renamed:?}"
    );
    storage.close().await;
}

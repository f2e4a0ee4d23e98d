//! Lists of works, files and refused updates.

use bytes::Bytes;
use domain::Error;
use domain::ids::{UploadId, WorkId};
use domain::page::PageRequest;
use domain::people::CreatedPosition;
use domain::store::{Scope, StoreExt};
use domain::work::{AssetFile, CreateUpload, Quarantine, QuarantinedUpdate, Upload, WorkKind};

use crate::databases::{TestDatabase, on_both_databases};
use crate::seeds::{self, Does, START, bootstrap, create, new_work, second_workspace, seconds};

on_both_databases!(
    pages_of_works_show_each_work_once_newest_first,
    a_work_of_the_same_id_is_refused_in_another_workspace_too,
    a_file_is_readable_in_the_workspace_of_its_upload_alone,
    refused_updates_are_kept_newest_first_and_not_without_end,
);

async fn pages_of_works_show_each_work_once_newest_first(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let mut expected = Vec::new();
    for number in 0..7 {
        // Some at the same microsecond: the id decides.
        let mut work = new_work(place, seconds(number / 3));
        if number == 2 {
            work.kind = WorkKind::Text;
        }
        let key = (work.created_at, work.id.uuid());
        create(store, place, work).await;
        expected.push(key);
    }
    expected.sort_by(|one, other| other.cmp(one));
    let mut shown = Vec::new();
    let mut after = None;
    loop {
        let page = PageRequest::try_new(Some(3), after).expect("a page");
        let page = store.reads().list_works(place.workspace, &[], page).await;
        let page = page.expect("reads");
        shown.extend(
            page.rows
                .iter()
                .map(|work| (work.created_at, work.id.uuid())),
        );
        let Some(&(at, id)) = shown.last().filter(|_| page.has_next) else {
            break;
        };
        after = Some(CreatedPosition { at, id });
    }
    assert_eq!(shown, expected);
    let texts = [WorkKind::Text];
    let count = store.reads().count_works(place.workspace, &texts).await;
    assert_eq!(count.expect("reads"), 1);
    let page = PageRequest::try_new(None, None).expect("a page");
    let page = store.reads().list_works(place.workspace, &texts, page);
    assert_eq!(page.await.expect("reads").rows.len(), 1);
    storage.close().await;
}

async fn a_work_of_the_same_id_is_refused_in_another_workspace_too(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let other = second_workspace(store, place).await;
    let id = seeds::work(store, place).await;
    let mut work = new_work(other, START);
    work.id = id;
    let command = Does::new(Scope::Workspace(other.workspace), move |tx| {
        let work = work.clone();
        Box::pin(async move { tx.insert_work(&work).await })
    });
    let refused = store.run(command).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    let found = store.reads().list_works_by_id(&[id]).await.expect("reads");
    assert_eq!(found[0].workspace, place.workspace);
    storage.close().await;
}

async fn a_file_is_readable_in_the_workspace_of_its_upload_alone(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let other = second_workspace(store, place).await;
    let promised = AssetFile {
        sha256: String::new(),
        media_type: "image/png".into(),
        byte_size: 5,
    };
    let mut asset = new_work(place, START);
    (asset.kind, asset.asset) = (WorkKind::Asset, Some(promised.clone()));
    let upload = Upload {
        id: UploadId::new(),
        workspace: place.workspace,
        work: asset.id,
        user: place.caller.user,
        media_type: promised.media_type.clone(),
        byte_size: 5,
        created_at: START,
        finished_at: None,
    };
    let id = upload.id;
    let command = CreateUpload {
        caller: place.caller,
        upload,
        new_work: Some(asset),
    };
    store.run(command).await.expect("registers");
    let file = AssetFile {
        sha256: "ab".repeat(32),
        ..promised
    };
    for is_first in [true, false] {
        let file = file.clone();
        let finish = Does::new(Scope::Workspace(place.workspace), move |tx| {
            let file = file.clone();
            Box::pin(async move {
                let finished = tx.finish_upload(id, &file, seconds(9)).await?;
                assert_eq!(finished, is_first);
                Ok(())
            })
        });
        store.run(finish).await.expect("finishes");
    }
    let found = store.reads().find_upload(id).await.expect("reads");
    assert_eq!(found.expect("is there").finished_at, Some(seconds(9)));
    let found = async |workspace| store.reads().find_file(workspace, &file.sha256).await;
    let here = found(place.workspace).await.expect("reads");
    assert_eq!(here.as_ref(), Some(&file));
    assert_eq!(found(other.workspace).await.expect("reads"), None);
    let listed = store.reads().list_files(other.workspace, None, 10).await;
    assert_eq!(listed.expect("reads"), []);
    storage.close().await;
}

async fn refused_updates_are_kept_newest_first_and_not_without_end(database: TestDatabase) {
    let storage = database.open().await;
    let store = &storage.store;
    let place = bootstrap(store).await;
    let work = seeds::work(store, place).await;
    for number in 0..203 {
        let update = QuarantinedUpdate {
            work,
            workspace: place.workspace,
            actor: place.caller.actor(),
            reason: format!("reason {number}"),
            bytes: Bytes::from_static(b"\x00\xff\x00"),
            at: seconds(number),
        };
        store.run(Quarantine(update)).await.expect("keeps");
    }
    let kept = store.reads().list_quarantine(work, 2).await.expect("reads");
    let reasons: Vec<&str> = kept.iter().map(|kept| kept.reason.as_str()).collect();
    assert_eq!(reasons, ["reason 202", "reason 201"]);
    assert_eq!(kept[0].bytes, Bytes::from_static(b"\x00\xff\x00"));
    let counts = store.reads().count_quarantined(place.workspace).await;
    let counts: Vec<(WorkId, u64)> = counts.expect("reads");
    assert_eq!(counts, [(work, 200)]);
    storage.close().await;
}

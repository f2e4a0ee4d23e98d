//! The index comes back from anything, and what was deleted is gone from the disk.

use std::fs;

use domain::search::{SearchIndex as _, SearchLeg};

use crate::house::{House, eventually, ids, on_both_databases};

on_both_databases!(
    an_index_that_was_deleted_while_it_was_used_comes_back_by_itself,
    an_index_that_is_damaged_or_of_another_version_is_built_anew,
    what_was_written_while_nobody_kept_the_index_is_found_at_the_next_start,
    words_of_what_was_deleted_are_gone_from_the_disk_after_a_purge,
    two_processes_keep_an_index_each,
    a_search_before_the_index_is_built_says_so,
    rebuilding_holds_the_same,
    a_row_that_can_not_be_read_holds_up_no_other_workspace,
);

async fn an_index_that_was_deleted_while_it_was_used_comes_back_by_itself(house: House) {
    let search = house.search();
    for number in 0..20 {
        house.task(&format!("task {number}"), "lighthouse").await;
    }
    house.until_whole(20).await;
    fs::rename(house.index(), house.folder.join("gone")).expect("the index goes");
    let request = house.request("lighthouse").await;
    assert_eq!(
        search.find(&request).await.found.len(),
        20,
        "it still serves"
    );
    let late = house.task("late", "submarine").await;
    eventually("the late one is found", async || {
        let request = house.request("submarine").await;
        ids(&search.find(&request).await) == [late.uuid()]
    })
    .await;
    house.until_whole(21).await;
    house.leave(search).await;
}

async fn an_index_that_is_damaged_or_of_another_version_is_built_anew(house: House) {
    let mut search = house.search();
    for number in 0..20 {
        house.task(&format!("task {number}"), "lighthouse").await;
    }
    let damages: [fn(&std::path::Path); 4] = [
        |folder| fs::write(folder.join("meta.json"), "{").expect("written"),
        |folder| {
            let meta = fs::read_to_string(folder.join("meta.json")).expect("read");
            let other = meta.replace("\\\"format\\\":", "\\\"format\\\":9");
            assert_ne!(meta, other);
            fs::write(folder.join("meta.json"), other).expect("written");
        },
        |folder| {
            for entry in fs::read_dir(folder).expect("there").flatten() {
                if entry.path().extension().is_some_and(|end| end == "term") {
                    let mut bytes = fs::read(entry.path()).expect("read");
                    let middle = bytes.len() / 2;
                    bytes[middle] ^= 0xff;
                    fs::write(entry.path(), bytes).expect("written");
                }
            }
        },
        |folder| {
            for entry in fs::read_dir(folder).expect("there").flatten() {
                if entry.path().extension().is_some_and(|end| end == "fast") {
                    fs::remove_file(entry.path()).expect("removed");
                }
            }
        },
    ];
    for damage in damages {
        house.until_whole(20).await;
        search.stop().await;
        damage(&house.index());
        search = house.search();
        let request = house.request("lighthouse").await;
        assert_eq!(house.ask(&search, request).await.found.len(), 20);
    }
    house.until_whole(20).await;
    house.leave(search).await;
}

async fn what_was_written_while_nobody_kept_the_index_is_found_at_the_next_start(house: House) {
    let search = house.search();
    let task = house.task("first", "lighthouse").await;
    house.until_whole(1).await;
    search.stop().await;
    let second = house.task("second", "lighthouse").await;
    let message = house.message(task, "lighthouse").await;
    house.withdraw(message).await;
    let search = house.search();
    let mut found = house.find(&search, "lighthouse").await;
    found.sort_unstable();
    assert_eq!(found, [task.uuid(), second.uuid()]);
    house.until_whole(2).await;
    house.leave(search).await;
}

async fn words_of_what_was_deleted_are_gone_from_the_disk_after_a_purge(house: House) {
    let search = house.search();
    let task = house.task("A task", "for a message").await;
    let message = house.message(task, "xenolith").await;
    house.message(task, "basalt").await;
    assert_eq!(house.find(&search, "xenolith").await, [message.uuid()]);
    assert!(house.words_on_disk("xenolith") > 0);
    house.withdraw(message).await;
    assert!(house.find(&search, "xenolith").await.is_empty());
    search.purge().await.expect("purged");
    assert!(house.has_only_used_files(), "a file of words stays behind");
    assert_eq!(house.words_on_disk("xenolith"), 0);
    assert!(house.words_on_disk("basalt") > 0);
    assert_eq!(house.find(&search, "basalt").await.len(), 1);
    house.leave(search).await;
}

async fn two_processes_keep_an_index_each(house: House) {
    let (one, other) = (house.search(), house.search());
    let task = house.task("shared", "lighthouse").await;
    for search in [&one, &other] {
        assert_eq!(house.find(search, "lighthouse").await, [task.uuid()]);
    }
    one.stop().await;
    house.leave(other).await;
}

async fn a_search_before_the_index_is_built_says_so(house: House) {
    house.task("shared", "lighthouse").await;
    let search = house.search();
    let mut request = house.request("lighthouse").await;
    request.seen = None;
    let first = search.find(&request).await;
    assert!(first.found.len() == 1 || first.missing.contains(&SearchLeg::Keyword));
    eventually("it is found", async || {
        search.find(&request).await.found.len() == 1
    })
    .await;
    house.leave(search).await;
}

async fn rebuilding_holds_the_same(house: House) {
    let search = house.search();
    let task = house.task("shared", "lighthouse").await;
    house.work("a work").await;
    house.until_whole(2).await;
    search.stop().await;
    let (store, documents) = (house.store.clone(), house.documents.clone());
    let built = search::rebuild(&house.folder, store, documents).await;
    assert_eq!(built.expect("built"), Some(2));
    assert!(house.is_whole(2).await);
    let search = house.search();
    assert_eq!(house.find(&search, "lighthouse").await, [task.uuid()]);
    house.leave(search).await;
}

async fn a_row_that_can_not_be_read_holds_up_no_other_workspace(house: House) {
    let other = house.workspace().await;
    house.task("damaged", "lighthouse").await;
    house.damage("damaged").await;
    let search = house.search();
    let sound = house.task_in(other, "sound", "submarine", &[]).await;
    let request = house.request_in(other, "submarine").await;
    assert_eq!(ids(&house.ask(&search, request).await), [sound.uuid()]);
    // It goes on to do so: what is damaged is tried again and again, and others are not behind it.
    let late = house.task_in(other, "late", "bathyscaphe", &[]).await;
    let request = house.request_in(other, "bathyscaphe").await;
    assert_eq!(ids(&house.ask(&search, request).await), [late.uuid()]);
    house.leave(search).await;
}

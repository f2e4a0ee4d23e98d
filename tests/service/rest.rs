//! Documents that are open and not worked on: they leave memory, and nobody notices.
//!
//! Not here: the conflict rules of edits on such documents (`conflicts`).

use domain::document::Version;
use domain::work::WorkKind;
use serde_json::json;

use crate::editing::{LiveEditor, nodes_of};
use crate::place::{Place, on_both_databases};
use crate::replica::{self, Replica};
use crate::studio::{Process, Studio, quick_to_rest};

on_both_databases![
    an_editor_goes_on_where_it_was_after_its_document_has_rested,
    what_another_process_stores_reaches_the_editors_of_a_document_that_rests,
    a_document_that_was_closed_while_it_rested_holds_everything,
];

async fn shots(studio: &Studio, process: &Process) -> LiveEditor {
    let content = nodes_of(json!([{"id": "a", "fields": {"lens": "50mm"}}]));
    let seed = process.documents.seed(&content, WorkKind::Storyboard);
    let seed = seed.expect("a seed");
    let work = studio.create(WorkKind::Storyboard, seed).await;
    LiveEditor::open(studio, process, work).await
}

async fn set(editor: &LiveEditor, lens: &str) {
    editor
        .edit(|txn, roots| replica::set(txn, roots, "a", "lens", lens))
        .await;
}

fn has_35mm(replica: &Replica) -> bool {
    replica.node("a").is_some_and(|node| node["lens"] == "35mm")
}

/// The field in the log, and the version.
async fn stored(process: &Process, editor: &LiveEditor) -> (Version, serde_json::Value) {
    let content = process.content(editor.work).await;
    (content.version, content.nodes[0].fields["lens"].clone())
}

async fn an_editor_goes_on_where_it_was_after_its_document_has_rested(place: &Place) {
    let studio = Studio::open(place).await;
    let process = studio.process_with(quick_to_rest());
    let editor = shots(&studio, &process).await;
    // More changes than it leaves without a snapshot, and a few.
    for (round, changes) in [(1, 70), (2, 2), (3, 1)] {
        for change in 0..changes {
            set(&editor, &format!("{round}/{change}")).await;
        }
        process.rests().await;
    }
    let other = LiveEditor::open(&studio, &process, editor.work).await;
    set(&other, "35mm").await;
    editor.sees("what the other set", has_35mm).await;
    let expected = (Version(75), json!("35mm"));
    assert_eq!(stored(&process, &editor).await, expected);
    assert_eq!(process.documents.statistics().failures, 0);
    process.documents.stop().await;
    studio.close().await;
}

async fn what_another_process_stores_reaches_the_editors_of_a_document_that_rests(place: &Place) {
    let studio = Studio::open(place).await;
    let here = studio.process_with(quick_to_rest());
    let there = studio.process();
    let editor = shots(&studio, &here).await;
    here.rests().await;
    let other = LiveEditor::open(&studio, &there, editor.work).await;
    set(&other, "35mm").await;
    if !place.is_shared() {
        // Processes on SQLite do not hear of each other: what wakes the document is an edit.
        editor
            .edit(|txn, roots| replica::set(txn, roots, "a", "duration", 2))
            .await;
    }
    editor.sees("what the other process stored", has_35mm).await;
    here.documents.stop().await;
    there.documents.stop().await;
    studio.close().await;
}

async fn a_document_that_was_closed_while_it_rested_holds_everything(place: &Place) {
    let studio = Studio::open(place).await;
    let process = studio.process_with(quick_to_rest());
    let editor = shots(&studio, &process).await;
    for lens in ["1", "2", "3"] {
        set(&editor, lens).await;
    }
    process.rests().await;
    process.documents.stop().await;
    let later = studio.process();
    let expected = (Version(4), json!("3"));
    assert_eq!(stored(&later, &editor).await, expected);
    let editor = LiveEditor::open(&studio, &later, editor.work).await;
    set(&editor, "4").await;
    assert_eq!(stored(&later, &editor).await, (Version(5), json!("4")));
    later.documents.stop().await;
    studio.close().await;
}

//! Texts: passages are found exactly once or not at all, whole replacements stand on the present version.

use serde_json::json;

use crate::harness::editor::replica;
use crate::harness::works::{RESULT, applied};
use crate::harness::{Editor, Installation, Protocol, on_both_databases};

on_both_databases![
    a_passage_is_replaced_where_it_stands_once,
    a_passage_that_stands_nowhere_or_twice_is_told_with_its_count,
    of_two_passages_one_of_which_fails_none_is_replaced,
    a_whole_replacement_on_an_old_version_is_refused_with_what_changed,
    a_replacement_keeps_what_others_type_elsewhere,
    passages_are_sought_in_the_text_before_any_replacement,
];

async fn a_passage_is_replaced_where_it_stands_once(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner.create_text("the quick brown fox").await;
    assert_eq!(work.version().await, 1);
    assert_eq!(applied(&work.edit_text(&[("quick", "slow")]).await), 2);
    assert_eq!(work.text().await, "the slow brown fox");
    // Letters outside the basic plane count once, however they are encoded.
    applied(&work.edit_text(&[("brown", "😀 красная")]).await);
    applied(&work.edit_text(&[("😀 к", "К"), (" fox", " лиса 狐")]).await);
    assert_eq!(work.text().await, "the slow Красная лиса 狐");
}

async fn a_passage_that_stands_nowhere_or_twice_is_told_with_its_count(
    installation: &Installation,
) {
    let (_server, owner) = installation.open().await;
    let work = owner.create_text("na na batman; aaa").await;
    for (find, occurrences) in [("robin", 0), ("na ", 2), ("aa", 2), ("Batman", 0)] {
        let result = work.edit_text(&[(find, "x")]).await;
        assert_eq!(result["__typename"], "TextNotUnique", "{result}");
        assert_eq!(
            (&result["find"], &result["occurrences"]),
            (&json!(find), &json!(occurrences))
        );
        assert_eq!(result["currentVersion"], 1);
    }
    assert_eq!(
        (work.version().await, work.text().await.as_str()),
        (1, "na na batman; aaa")
    );
}

async fn of_two_passages_one_of_which_fails_none_is_replaced(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner.create_text("one two three").await;
    let result = work.edit_text(&[("one", "1"), ("four", "4")]).await;
    assert_eq!(
        (&result["__typename"], &result["find"]),
        (&json!("TextNotUnique"), &json!("four"))
    );
    let result = work.edit_text(&[("e", "E"), ("two", "2")]).await;
    assert_eq!(
        (&result["find"], &result["occurrences"]),
        (&json!("e"), &json!(3))
    );
    assert_eq!(
        (work.version().await, work.text().await.as_str()),
        (1, "one two three")
    );
}

async fn a_whole_replacement_on_an_old_version_is_refused_with_what_changed(
    installation: &Installation,
) {
    let (_server, owner) = installation.open().await;
    let person = owner.invite("Ana", "EDITOR").await;
    let work = owner.create_text("draft").await;
    let editor = Editor::open(&work.by(&person.client), Protocol::Hocuspocus).await;
    editor
        .edit(|txn, roots| replica::append(txn, roots, " by Ana"))
        .await;
    assert!(editor.acknowledged().await);
    let result = work.replace_text(1, "mine").await;
    assert_eq!(result["__typename"], "VersionConflict", "{result}");
    assert_eq!(
        (&result["baseVersion"], &result["currentVersion"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(
        result["changes"][0]["by"]["user"]["id"],
        person.user.as_str()
    );
    assert_eq!(work.text().await, "draft by Ana");
    assert_eq!(applied(&work.replace_text(2, "mine by Ana").await), 3);
    editor
        .sees("the replacement", |replica| replica.text() == "mine by Ana")
        .await;
}

async fn a_replacement_keeps_what_others_type_elsewhere(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner
        .create_text("The first line.\nThe second line.\n")
        .await;
    let editor = Editor::open(&work, Protocol::YWebsocket).await;
    // What is typed here has not reached the server when the replacement is made there.
    let update =
        editor.edit_silently(|txn, roots| yrs::Text::insert(&roots.text, txn, 9, ", typed,"));
    applied(
        &work
            .replace_text(1, "The first line.\nThe last line.\n")
            .await,
    );
    editor.send_update(&update).await;
    assert!(editor.acknowledged().await);
    editor
        .sees("both", |replica| {
            replica.text() == "The first, typed, line.\nThe last line.\n"
        })
        .await;
    assert_eq!(
        work.text().await,
        "The first, typed, line.\nThe last line.\n"
    );
}

async fn passages_are_sought_in_the_text_before_any_replacement(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = owner.create_text("alpha beta").await;
    applied(
        &work
            .edit_text(&[("alpha", "beta"), ("beta", "alpha")])
            .await,
    );
    assert_eq!(work.text().await, "beta alpha");
    for wrong in [
        json!([{"find": "", "replace": "x"}]),
        json!([{"find": "beta a", "replace": "x"}, {"find": "alpha", "replace": "y"}]),
    ] {
        let input = json!({"workId": work.id, "replacements": wrong});
        assert_eq!(
            owner.client.mutate("editText", input, RESULT).await.code(),
            "BAD_USER_INPUT"
        );
    }
    // A work of another kind has no text.
    let board = owner.create_nodes("STORYBOARD", json!([])).await;
    let input = json!({"workId": board.id, "replacements": [{"find": "a", "replace": "b"}]});
    assert_eq!(
        owner.client.mutate("editText", input, RESULT).await.code(),
        "BAD_USER_INPUT"
    );
    assert_eq!(
        work.ask_edit(2, json!([{"remove": "a"}])).await.code(),
        "BAD_USER_INPUT"
    );
}

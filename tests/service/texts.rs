//! Texts and keys, as the agent's tools meet them: passages by their one place, whole replacements and restores by their
//! base, the same key once.

use domain::Error;
use domain::document::{
    EditOutcome, EditText, Editor, ReplaceText, RestoreVersion, TextReplacement, Version,
};
use domain::idempotency::IdempotencyKey;
use domain::ids::WorkId;
use domain::time::{Clock as _, SystemClock};
use futures_util::future::join_all;

use crate::place::{Place, on_both_databases};
use crate::studio::{Process, Studio, no_key};

on_both_databases![
    a_passage_is_replaced_where_it_stands_once_and_all_of_them_or_none,
    a_whole_replacement_and_a_restore_stand_on_the_present_version,
    the_same_key_has_one_effect_also_at_the_same_moment,
];

fn edit_text(work: WorkId, editor: Editor, replacements: &[(&str, &str)]) -> EditText {
    let replacement = |(find, replace): &(&str, &str)| TextReplacement {
        find: (*find).to_owned(),
        replace: (*replace).to_owned(),
    };
    EditText {
        work,
        editor,
        replacements: replacements.iter().map(replacement).collect(),
        summary: None,
    }
}

async fn text(process: &Process, work: WorkId) -> (Version, String) {
    let content = process.content(work).await;
    (content.version, content.text.clone())
}

async fn a_passage_is_replaced_where_it_stands_once_and_all_of_them_or_none(place: &Place) {
    let studio = Studio::open(place).await;
    let process = studio.process();
    let before = "na na batman; one; two";
    let work = studio.create_text(&process, before).await;
    let author = studio.agent().await;
    let editor = || no_key(&author);
    for (replacements, wrong, expected) in [
        (&[("robin", "x")][..], "robin", 0),
        (&[("na ", "x")], "na ", 2),
        (&[("one", "1"), ("three", "3")], "three", 0),
        (&[("one", "1"), ("a", "A")], "a", 4),
    ] {
        let outcome = process
            .documents
            .edit_text(edit_text(work, editor(), replacements))
            .await
            .expect("an outcome");
        let EditOutcome::TextNotUnique {
            find,
            occurrences,
            current,
        } = outcome
        else {
            panic!("{replacements:?}: {outcome:?}");
        };
        assert_eq!((find.as_str(), occurrences), (wrong, expected));
        assert_eq!(current, Version(1));
        assert_eq!(text(&process, work).await, (Version(1), before.to_owned()));
    }
    let both = edit_text(work, editor(), &[("one", "1"), ("two", "2")]);
    let outcome = process.documents.edit_text(both).await;
    assert!(
        matches!(&outcome, Ok(EditOutcome::Applied(applied)) if applied.version == Version(2)),
        "{outcome:?}"
    );
    let after = (Version(2), "na na batman; 1; 2".to_owned());
    assert_eq!(text(&process, work).await, after);
    process.documents.stop().await;
    studio.close().await;
}

async fn a_whole_replacement_and_a_restore_stand_on_the_present_version(place: &Place) {
    let studio = Studio::open(place).await;
    let process = studio.process();
    let work = studio.create_text(&process, "draft").await;
    let person = studio.caller.actor();
    let typed = edit_text(work, no_key(&person), &[("draft", "draft by Ada")]);
    let done = process.documents.edit_text(typed).await;
    assert!(matches!(done, Ok(EditOutcome::Applied(_))), "{done:?}");
    let author = studio.agent().await;
    let replace = |base: u64| ReplaceText {
        work,
        editor: no_key(&author),
        base: Version(base),
        text: "the agent's".to_owned(),
        summary: None,
    };
    let restore = |base: u64| RestoreVersion {
        work,
        editor: no_key(&author),
        version: Version(1),
        base: Version(base),
    };
    for refused in [
        process.documents.replace_text(replace(1)).await,
        process.documents.restore_version(restore(1)).await,
    ] {
        let Ok(EditOutcome::VersionConflict {
            base,
            current,
            changes,
        }) = refused
        else {
            panic!("{refused:?}");
        };
        assert_eq!((base, current), (Version(1), Version(2)));
        let actors: Vec<_> = changes.iter().map(|revision| &revision.actor).collect();
        assert_eq!(actors, [&person]);
    }
    let ahead = process.documents.replace_text(replace(3)).await;
    assert!(matches!(ahead, Err(Error::Invalid(_))), "{ahead:?}");
    assert_eq!(text(&process, work).await.1, "draft by Ada");
    let done = process.documents.replace_text(replace(2)).await;
    assert!(matches!(done, Ok(EditOutcome::Applied(_))), "{done:?}");
    let done = process.documents.restore_version(restore(3)).await;
    assert!(matches!(done, Ok(EditOutcome::Applied(_))), "{done:?}");
    let after = (Version(4), "draft".to_owned());
    assert_eq!(text(&process, work).await, after);
    process.documents.stop().await;
    studio.close().await;
}

async fn the_same_key_has_one_effect_also_at_the_same_moment(place: &Place) {
    let studio = Studio::open(place).await;
    let (here, there) = (studio.process(), studio.process());
    let work = studio.create_text(&here, "|").await;
    let actor = studio.agent().await;
    let keyed = |input: u8| Editor {
        actor: actor.clone(),
        fence: None,
        idempotency: Some(IdempotencyKey {
            actor: actor.clone(),
            mutation: "editText",
            key: "call 7".to_owned(),
            input_hash: [input; 32],
            at: SystemClock.now(),
        }),
    };
    let edit = || edit_text(work, keyed(1), &[("|", "once|")]);
    let at_once = (0..8).map(|number| {
        let process = if number % 2 == 0 { &here } else { &there };
        process.documents.edit_text(edit())
    });
    let mut outcomes = join_all(at_once).await;
    outcomes.push(here.documents.edit_text(edit()).await);
    for outcome in outcomes {
        assert!(
            matches!(&outcome, Ok(EditOutcome::Applied(applied)) if applied.version == Version(2)),
            "{outcome:?}"
        );
    }
    assert_eq!(text(&here, work).await, (Version(2), "once|".to_owned()));
    let other = edit_text(work, keyed(2), &[("|", "twice|")]);
    let reused = here.documents.edit_text(other).await;
    assert!(
        matches!(reused, Err(Error::IdempotencyKeyReused)),
        "{reused:?}"
    );
    here.documents.stop().await;
    there.documents.stop().await;
    studio.close().await;
}

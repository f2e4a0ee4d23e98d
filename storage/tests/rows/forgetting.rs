//! Forgetting: what rests on the evidence is gone, what others still say is said again, and nothing comes back.

use domain::actor::Actor;
use domain::embedding::{Embedding, EmbeddingMark, StoreEmbeddings};
use domain::event::{EventKind, Sequence};
use domain::journal::{JournalEntry, JournalKind};
use domain::line::ContextSegment;
use domain::memory::{
    EvidenceRole, Extracted, ForgetTarget, ImportMemories, MemoryScope, MemoryState,
    RejectionReason,
};
use domain::page::PageRequest;
use domain::search::SearchKind;
use domain::store::StoreExt;
use domain::task::Projections;
use domain::turn::StepRef;
use serde_json::json;

use crate::databases::{TestDatabase, on_both_databases};
use crate::made::make_more;
use crate::memory_seeds::{Speaking, about, extraction, fact, tables_with, with_evidence};
use crate::seeds::{bootstrap, seconds, within};
use crate::task_seeds::named_task;

on_both_databases!(
    what_others_still_say_is_said_again,
    what_a_version_was_made_of_takes_it_along,
    what_was_forgotten_is_not_learned_from_what_was_said_before,
    what_a_task_has_made_of_it_is_left_out,
    extraction_and_forgetting_at_once_bring_nothing_back,
    two_extractions_of_the_same_messages_have_one_outcome,
    vectors_go_with_a_write_of_their_own,
    an_archive_brings_nothing_back_that_was_forgotten,
);

async fn what_others_still_say_is_said_again(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let it = Speaking::new(&storage.store, place);
    let one = it.say("Our brand is teal", 10).await;
    let other = it.say("Remember: our brand is teal", 11).await;
    let claim = it.claim(it.group(), 12).await.expect("both wait");
    let mut both = fact("Our brand is teal");
    both["evidence"] = json!([one, other]);
    let Extracted::Stored { changed, .. } = it.store(&claim, &[both], 12).await else {
        panic!("it is stored");
    };
    let brand = changed[0];
    let forgotten = it.forget(ForgetTarget::Message(one), 20).await;
    assert_eq!(forgotten.scrubbed, [brand]);
    assert_eq!(forgotten.derived, [brand]);
    assert_eq!(
        it.holds(brand).await,
        None,
        "hidden until it is derived anew"
    );
    assert!(it.profile().await.entries.is_empty());
    it.derive(30).await;
    assert_eq!(
        it.holds(brand).await.as_deref(),
        Some("Remember: our brand is teal")
    );
    assert_eq!(
        it.edges(brand, 2).await,
        [(other, EvidenceRole::Origin, true)]
    );
    assert_eq!(it.memory(brand).await.state, MemoryState::Active);
    storage.close().await;
}

async fn what_a_version_was_made_of_takes_it_along(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let it = Speaking::new(&storage.store, place);
    let (origin, brand) = it
        .learn("Our brand is blue", fact("Our brand is blue"), 10)
        .await;
    let deep = "Our brand is a deep blue";
    it.learn("A deep blue", about(brand, "refine", deep), 20)
        .await;
    it.correct(brand, "Our brand is petrol", 30).await;
    // The correction rests on itself; what was refined rests on what it refined.
    it.forget(ForgetTarget::Message(origin), 40).await;
    let versions = it.versions(brand).await;
    let states: Vec<_> = versions.iter().map(|one| one.state).collect();
    let expected = [
        MemoryState::Forgotten,
        MemoryState::Forgotten,
        MemoryState::Active,
    ];
    assert_eq!(states, expected);
    assert_eq!(
        it.holds(brand).await.as_deref(),
        Some("Our brand is petrol")
    );
    assert!(tables_with(&database, "deep blue").await.is_empty());
    storage.close().await;
}

async fn what_was_forgotten_is_not_learned_from_what_was_said_before(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let it = Speaking::new(&storage.store, place);
    let (_, brand) = it
        .learn("Our brand is mauve", fact("Our brand is mauve"), 10)
        .await;
    let early = it.say("So: our brand is mauve", 15).await;
    it.forget(ForgetTarget::Memory(brand), 20).await;
    let claim = it.claim(it.group(), 30).await.expect("the early one waits");
    let found = with_evidence(fact("Our brand is mauve"), early);
    let stored = it.store(&claim, &[found], 30).await;
    assert!(
        matches!(stored, Extracted::Stored { rejected: 1, .. }),
        "{stored:?}"
    );
    let page = PageRequest {
        first: 5,
        after: None,
    };
    let reads = storage.store.reads();
    let rejected = reads
        .list_rejections(place.workspace, it.user(), page)
        .await;
    let rejected = rejected.expect("reads").rows;
    assert_eq!(rejected[0].reason, RejectionReason::Forgotten);
    assert_eq!(rejected[0].content, "", "a rejection keeps nothing of it");
    // What a person says after that is new.
    let (_, anew) = it
        .learn(
            "Our brand is mauve after all",
            fact("Our brand is mauve"),
            40,
        )
        .await;
    assert_ne!(anew, brand);
    assert_eq!(it.holds(anew).await.as_deref(), Some("Our brand is mauve"));
    storage.close().await;
}

/// What a task has made since a time: a plan, a result, a summary of both, projections, a reply.
pub(crate) async fn fill_task(it: &Speaking, words: &str, second: u64) {
    let task = it.task.expect("a task");
    let at = seconds(second);
    let agent = Actor::Agent {
        task,
        turn: 1,
        step: 1,
    };
    let entries: Vec<JournalEntry> = [(JournalKind::Plan, words), (JournalKind::Result, "drawn")]
        .into_iter()
        .zip(1..)
        .map(|((kind, text), sequence)| JournalEntry {
            sequence,
            kind,
            at,
            actor: agent.clone(),
            step: Some(StepRef { turn: 1, step: 1 }),
            text: text.to_owned(),
            data: json!({"summary": words, "shortLine": words, "checklist": [], "seenSequence": 0}),
        })
        .collect();
    let entries = vec![
        entries[0].clone(),
        JournalEntry {
            data: json!({"result": "a lighthouse"}),
            ..entries[1].clone()
        },
    ];
    let segment = ContextSegment {
        number: 1,
        from_sequence: 1,
        to_sequence: 2,
        summary: format!("then {words}"),
        tokens: 9,
    };
    let projections = Projections {
        summary: words.to_owned(),
        short_line: words.to_owned(),
        ..Projections::default()
    };
    let (store, workspace) = (&it.store, it.place.workspace);
    let stored = within!(store, workspace, |tx, entries, segment, projections| {
        tx.append_journal(workspace, task, &entries).await?;
        tx.insert_segment(workspace, task, &segment).await?;
        tx.put_projections(workspace, task, &projections).await?;
        let mut touched = tx.list_tasks_by_id(&[task]).await?.remove(0);
        touched.updated_at = at;
        tx.update_task(&touched).await
    });
    stored.expect("is stored");
    it.reply(&format!("I used this: {words}"), second).await;
    make_more(it, words, second).await;
}

async fn what_a_task_has_made_of_it_is_left_out(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let task = named_task(&storage.store, place).await;
    let it = Speaking {
        task: Some(task.id),
        ..Speaking::new(&storage.store, place)
    };
    let (_, brand) = it
        .learn("Our brand is zinnober9", fact("Our brand is zinnober9"), 10)
        .await;
    fill_task(&it, "the whale in zinnober9", 20).await;
    it.forget(ForgetTarget::Memory(brand), 30).await;
    let reads = storage.store.reads();
    assert_eq!(reads.list_left_out(task.id).await.expect("reads"), [1]);
    let segments = reads.list_segments(task.id, 9).await.expect("reads");
    assert_eq!((segments[0].summary.as_str(), segments[0].tokens), ("", 0));
    let found = reads.list_projections(&[task.id]).await.expect("reads");
    assert_eq!(
        (found[0].1.summary.as_str(), found[0].1.short_line.as_str()),
        ("…", "…")
    );
    assert!(tables_with(&database, "zinnober9").await.is_empty());
    // What rests on something else stays.
    let stored = crate::task_seeds::read_task(&storage.store, task.id).await;
    assert_eq!(stored.title, "Opening with the whale in …");
    let cards = reads.list_cards(&[task.id], None).await.expect("reads");
    assert_eq!(cards[0].prompt, "Is the whale in … right?");
    assert_eq!(cards[0].options[0].label, "the whale in …");
    let jobs = reads.list_jobs(&[task.id]).await.expect("reads");
    assert_eq!(jobs[0].prompt, "A fox in the whale in …");
    // Projections that are folded anew bring nothing back.
    let fold = domain::task::FoldProjections {
        workspace: place.workspace,
        task: task.id,
        at: seconds(40),
    };
    storage.store.run(fold).await.expect("folds");
    assert!(tables_with(&database, "zinnober9").await.is_empty());
    let events = reads
        .list_events(place.workspace, Sequence(0), 100)
        .await
        .expect("reads");
    let told = events
        .iter()
        .filter(|event| event.kind == EventKind::MemoryForgotten);
    assert!(
        told.count() >= 3,
        "the memory, the message and the reply are told of"
    );
    storage.close().await;
}

async fn extraction_and_forgetting_at_once_bring_nothing_back(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let it = Speaking::new(&storage.store, place);
    let said = it.say("Our brand is heliotrop7", 10).await;
    let claim = it.claim(it.group(), 11).await.expect("it waits");
    // While the model reads, the message is forgotten.
    it.forget(ForgetTarget::Message(said), 12).await;
    let found = with_evidence(fact("Our brand is heliotrop7"), said);
    assert_eq!(it.store(&claim, &[found], 13).await, Extracted::Stale);
    assert!(
        it.claim(it.group(), 200).await.is_none(),
        "nothing waits any more"
    );
    assert!(tables_with(&database, "heliotrop7").await.is_empty());
    // A claim that was shown what is forgotten meanwhile is read again.
    let (_, brand) = it
        .learn("Our brand is oliv4", fact("Our brand is oliv4"), 20)
        .await;
    let word = it.say("It is a dark one", 30).await;
    let claim = it.claim(it.group(), 31).await.expect("it waits");
    assert_eq!(claim.shown.len(), 1);
    it.forget(ForgetTarget::Memory(brand), 32).await;
    let echo = with_evidence(about(brand, "refine", "Our brand is a dark oliv4"), word);
    assert_eq!(it.store(&claim, &[echo], 33).await, Extracted::Stale);
    assert!(tables_with(&database, "oliv4").await.is_empty());
    storage.close().await;
}

async fn two_extractions_of_the_same_messages_have_one_outcome(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let it = Speaking::new(&storage.store, place);
    let said = it.say("Our brand is blue and we ship on Fridays", 10).await;
    let claim = it.claim(it.group(), 11).await.expect("it waits");
    assert_eq!(claim.attempts, 1);
    let waiting = storage.store.reads();
    let due = waiting
        .list_due_extractions(seconds(20), seconds(20), 9)
        .await;
    assert!(due.expect("reads").is_empty(), "claimed for a minute");
    // A second worker takes it up after the first one's time is over; both come to their end.
    let second = it.claim(it.group(), 120).await.expect("it waits again");
    assert_eq!(second.attempts, 2);
    let found = [
        with_evidence(fact("Our brand is blue"), said),
        with_evidence(fact("We ship on Fridays"), said),
        json!("{broken"),
    ];
    let first = extraction(&claim, &found, seconds(121));
    let late = extraction(&second, &found, seconds(122));
    let (first, late) = tokio::join!(storage.store.run(first), storage.store.run(late));
    let outcomes = [first.expect("stores"), late.expect("stores")];
    let stored = outcomes
        .iter()
        .filter(|one| matches!(one, Extracted::Stored { rejected: 1, .. }));
    assert_eq!(stored.count(), 1, "{outcomes:?}");
    assert!(outcomes.contains(&Extracted::Known), "{outcomes:?}");
    let kept = waiting
        .list_newest_memories(place.workspace, &it.group().scopes(), 9)
        .await;
    assert_eq!(
        kept.expect("reads").len(),
        2,
        "one bad candidate loses no other"
    );
    // A memory that changed since it was shown is not changed by what was concluded from what it said.
    let brand = waiting
        .list_newest_memories(place.workspace, &[MemoryScope::Workspace], 9)
        .await;
    let brand = brand
        .expect("reads")
        .into_iter()
        .find(|(_, content)| content.contains("blue"));
    let brand = brand.expect("the brand").0.id;
    let word = it.say("Rather a green one", 130).await;
    let claim = it.claim(it.group(), 131).await.expect("it waits");
    it.correct(brand, "Our brand is red", 132).await;
    let stale = with_evidence(about(brand, "refine", "Our brand is a green blue"), word);
    assert_eq!(it.store(&claim, &[stale], 133).await, Extracted::Stale);
    assert_eq!(it.holds(brand).await.as_deref(), Some("Our brand is red"));
    storage.close().await;
}

async fn vectors_go_with_a_write_of_their_own(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let it = Speaking::new(&storage.store, place);
    let (said, brand) = it
        .learn("Our brand is blue", fact("Our brand is blue"), 10)
        .await;
    let row = |kind, id| Embedding {
        kind,
        id,
        owner: None,
        at: seconds(10),
        text_hash: [7; 32],
        vector: Some(bytes::Bytes::from_static(&[1, 2, 3, 4, 5])),
    };
    let store = StoreEmbeddings {
        workspace: place.workspace,
        model: "m".into(),
        expected: EmbeddingMark::default(),
        reached: Some(Sequence(2)),
        embeddings: vec![
            row(SearchKind::Memory, brand.uuid()),
            row(SearchKind::Message, said.uuid()),
        ],
    };
    let mark = storage
        .store
        .run(store)
        .await
        .expect("stores")
        .expect("the first");
    it.forget(ForgetTarget::Memory(brand), 20).await;
    let reads = storage.store.reads();
    let now = reads
        .embedding_mark(place.workspace, "m")
        .await
        .expect("reads");
    assert!(now.writes > mark.writes);
    let after = (mark.writes, uuid::Uuid::max());
    let rows = reads
        .list_embeddings(place.workspace, "m", after, 9)
        .await
        .expect("reads");
    assert_eq!(
        rows.len(),
        2,
        "whoever holds them in memory reads that they are gone"
    );
    assert!(rows.iter().all(|(_, row)| row.vector.is_none()));
    storage.close().await;
}

async fn an_archive_brings_nothing_back_that_was_forgotten(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let it = Speaking::new(&storage.store, place);
    let (_, brand) = it
        .learn("Our brand is mauve", fact("Our brand is mauve"), 10)
        .await;
    let reads = storage.store.reads();
    let old = ImportMemories {
        workspace: place.workspace,
        memories: vec![(
            it.memory(brand).await,
            it.versions(brand).await,
            it.evidence(brand).await,
        )],
        tombstones: Vec::new(),
        forgotten: Vec::new(),
    };
    it.forget(ForgetTarget::Memory(brand), 20).await;
    let tombstones = reads.list_tombstones(place.workspace).await.expect("reads");
    assert_eq!(tombstones.len(), 1);
    assert!(
        storage.store.run(old.clone()).await.is_err(),
        "the workspace is here"
    );
    // An archive that is older than the receipts that come with it, into an installation that has neither.
    let other = TestDatabase::new_beside(&database).await;
    let elsewhere = other.open().await;
    let mut import = old;
    import.tombstones = tombstones;
    let workspace = domain::people::Workspace {
        id: place.workspace,
        name: "Studio".into(),
        created_at: seconds(0),
    };
    let start = domain::archive::StartImport {
        workspace,
        users: Vec::new(),
    };
    elsewhere.store.run(start).await.expect("begins");
    elsewhere.store.run(import).await.expect("imports");
    let found = elsewhere.store.reads().list_memories_by_id(&[brand]).await;
    assert!(found.expect("reads").is_empty());
    elsewhere.close().await;
    other.remove_beside(&database).await;
    storage.close().await;
}

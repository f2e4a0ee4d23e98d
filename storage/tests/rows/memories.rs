//! Memories: chains of versions, what they rest on, how far they reach, whose profile they stand in.

use domain::Error;
use domain::ids::{MemoryId, MessageId, UserId};
use domain::memory::{
    EvidenceRole, ForgetTarget, MemoryBasis, MemoryFilter, MemoryKind, MemoryScope, MemoryState,
    Remember, RescopeMemory, ScopeKind, UndoCorrection, visible_memory,
};
use domain::page::PageRequest;
use domain::people::{AddMember, Caller, Role};
use domain::store::{SharedStore, StoreExt};

use crate::databases::{TestDatabase, on_both_databases};
use crate::memory_seeds::{Speaking, about, fact};
use crate::seeds::{Place, bootstrap, second_workspace, seconds};
use crate::task_seeds::create_task;

on_both_databases!(
    the_brand_is_blue_step_by_step,
    a_brand_that_changes_its_colour_is_two_facts_one_after_the_other,
    the_same_said_again_is_support_and_no_second_memory,
    a_correction_leaves_one_version_that_holds_and_can_be_taken_back,
    what_is_a_persons_own_is_seen_and_used_for_that_person_alone,
    another_reach_makes_a_memory_seen_and_unseen,
    a_page_of_memories_shows_what_its_reader_may_see,
    workspaces_with_equal_words_never_meet,
);

/// Somebody else in the workspace.
async fn member(store: &SharedStore, place: Place, role: Role) -> Place {
    let user = UserId::new();
    let command = AddMember {
        caller: place.caller,
        workspace: place.workspace,
        email: format!("{}@example.org", uuid::Uuid::new_v4().simple()),
        name: Some("Bob".into()),
        role,
        new_user: user,
        at: seconds(0),
    };
    store.run(command).await.expect("a member");
    let caller = Caller {
        user,
        ..place.caller
    };
    Place { caller, ..place }
}

/// What the brand is called in the end.
const DEEP: &str = "Our brand is a deep blue, #0B3D91";

/// The brand is named, made more precise, and confirmed; the memory, and the messages of the last two.
async fn say_that_the_brand_is_blue(it: &Speaking) -> (MemoryId, MessageId, MessageId) {
    assert_eq!(it.profile().await.version, 0);
    // Somebody says so: ORIGIN makes the first version.
    let (first, brand) = it
        .learn("Our brand is blue.", fact("Our brand is blue"), 10)
        .await;
    assert_eq!(it.holds(brand).await.as_deref(), Some("Our brand is blue"));
    assert_eq!(
        it.edges(brand, 1).await,
        [(first, EvidenceRole::Origin, true)]
    );
    let profile = it.profile().await;
    assert_eq!(
        (profile.version, profile.text().as_str()),
        (1, "- Our brand is blue\n")
    );
    // It is made more precise: REFINE makes a new one, and the former is SUPERSEDED.
    let deep = DEEP;
    let (second, same) = it
        .learn(
            "A deep blue, I mean: #0B3D91",
            about(brand, "refine", deep),
            20,
        )
        .await;
    assert_eq!(same, brand);
    let versions = it.versions(brand).await;
    assert_eq!(versions[0].state, MemoryState::Superseded);
    assert_eq!(versions[0].valid_to, versions[1].valid_from);
    assert_eq!(versions[1].state, MemoryState::Active);
    assert_eq!(versions[1].derived_from, [(brand, 1)]);
    assert_eq!(
        it.edges(brand, 2).await,
        [(second, EvidenceRole::Refine, true)]
    );
    assert_eq!(it.profile().await.version, 2);
    // Somebody says the same again: CONFIRM supports, and adds no words.
    let (third, _) = it
        .learn(
            "Yes, exactly that deep blue",
            about(brand, "confirm", deep),
            30,
        )
        .await;
    assert_eq!(it.versions(brand).await.len(), 2);
    let edges = it.edges(brand, 2).await;
    assert!(
        edges.contains(&(third, EvidenceRole::Confirm, true)),
        "{edges:?}"
    );
    assert_eq!(it.memory(brand).await.confirmations, 1);
    assert_eq!(
        it.profile().await.version,
        2,
        "a confirmation changes no profile"
    );
    (brand, second, third)
}

async fn the_brand_is_blue_step_by_step(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let it = Speaking::new(&storage.store, place);
    let (brand, second, third) = say_that_the_brand_is_blue(&it).await;
    // The confirmation is forgotten: it is only unlinked.
    let forgotten = it.forget(ForgetTarget::Message(third), 40).await;
    assert_eq!(forgotten.unlinked, [brand]);
    assert!(forgotten.scrubbed.is_empty());
    assert_eq!(it.holds(brand).await.as_deref(), Some(DEEP));
    assert_eq!(
        it.edges(brand, 2).await,
        [(second, EvidenceRole::Refine, true)]
    );
    // What made it precise is forgotten: its version loses its words, and what held before holds again.
    let forgotten = it.forget(ForgetTarget::Message(second), 50).await;
    assert_eq!(forgotten.scrubbed, [brand]);
    assert_eq!(it.holds(brand).await.as_deref(), Some("Our brand is blue"));
    let versions = it.versions(brand).await;
    assert_eq!(
        (versions[1].state, &versions[1].content),
        (MemoryState::Forgotten, &None)
    );
    assert_eq!(
        (versions[0].state, versions[0].valid_to),
        (MemoryState::Active, None)
    );
    assert_eq!(
        it.edges(brand, 2).await,
        [(second, EvidenceRole::Refine, false)]
    );
    let profile = it.profile().await;
    assert_eq!(
        (profile.version, profile.text().as_str()),
        (3, "- Our brand is blue\n")
    );
    // All of it is forgotten.
    it.forget(ForgetTarget::Memory(brand), 60).await;
    assert_eq!(it.memory(brand).await.state, MemoryState::Forgotten);
    assert_eq!(it.holds(brand).await, None);
    let profile = it.profile().await;
    assert_eq!((profile.version, profile.text().as_str()), (4, ""));
    it.derive(70).await;
    assert_eq!(it.holds(brand).await, None, "nothing is left to say");
    storage.close().await;
}

async fn a_brand_that_changes_its_colour_is_two_facts_one_after_the_other(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let it = Speaking::new(&storage.store, place);
    let (_, brand) = it
        .learn("Our brand is blue", fact("Our brand is blue"), 10)
        .await;
    let mut green = about(brand, "refine", "Our brand is green");
    green["valid_from"] = "2026-05-01".into();
    it.learn("Since May our brand is green", green, 20).await;
    let versions = it.versions(brand).await;
    let may = versions[1].valid_from.expect("since May");
    assert_eq!(may.micros(), 1_777_593_600_000_000);
    assert_eq!(versions[0].content.as_deref(), Some("Our brand is blue"));
    assert_eq!(versions[0].valid_to, Some(may));
    assert_eq!(versions[1].valid_to, None);
    // What was said before that does not take its place, whenever it is read.
    let late = it.say("Our brand is grey", 5).await;
    let claim = it.claim(it.group(), 30).await.expect("it waits");
    let mut grey = about(brand, "refine", "Our brand is grey");
    grey["evidence"] = serde_json::json!([late]);
    let stored = it.store(&claim, &[grey], 30).await;
    assert!(
        matches!(
            stored,
            domain::memory::Extracted::Stored { rejected: 1, .. }
        ),
        "{stored:?}"
    );
    assert_eq!(it.holds(brand).await.as_deref(), Some("Our brand is green"));
    storage.close().await;
}

async fn the_same_said_again_is_support_and_no_second_memory(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let it = Speaking::new(&storage.store, place);
    let (_, brand) = it
        .learn("Our brand is blue", fact("Our brand is blue"), 10)
        .await;
    let (_, again) = it
        .learn("Our brand is BLUE!", fact("our brand is blue."), 20)
        .await;
    let word = it
        .remember("Our brand is blue", MemoryScope::Workspace, 30)
        .await;
    assert_eq!((again, word), (brand, brand));
    assert_eq!(it.memory(brand).await.confirmations, 2);
    assert_eq!(it.holds(brand).await.as_deref(), Some("Our brand is blue"));
    assert_eq!(it.profile().await.entries.len(), 1);
    // What a person says is more than what was concluded: it is explicit from then on.
    let mut guess = fact("Likes close-ups");
    guess["basis"] = "inferred".into();
    guess["scope"] = "person".into();
    let (_, likes) = it.learn("Another close-up, please", guess, 40).await;
    assert_eq!(it.memory(likes).await.basis, MemoryBasis::Inferred);
    assert_eq!(
        it.profile().await.entries.len(),
        1,
        "what was inferred once is in no profile"
    );
    let said = it
        .remember("Likes close-ups", MemoryScope::Person(it.user()), 50)
        .await;
    assert_eq!(said, likes);
    assert_eq!(it.memory(likes).await.basis, MemoryBasis::Explicit);
    assert_eq!(it.profile().await.entries.len(), 2);
    storage.close().await;
}

async fn a_correction_leaves_one_version_that_holds_and_can_be_taken_back(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let it = Speaking::new(&storage.store, place);
    let (_, brand) = it
        .learn("Our brand is blue", fact("Our brand is blue"), 10)
        .await;
    it.correct(brand, "Our brand is teal", 20).await;
    it.correct(brand, "our brand is TEAL", 25).await;
    let versions = it.versions(brand).await;
    assert_eq!(versions.len(), 2, "the same again corrects nothing");
    let active = versions
        .iter()
        .filter(|one| one.state == MemoryState::Active);
    assert_eq!(active.count(), 1);
    assert!(
        versions[1].derived_from.is_empty(),
        "it rests on the person's own words"
    );
    let undo = UndoCorrection {
        caller: place.caller,
        workspace: place.workspace,
        memory: brand,
        at: seconds(30),
    };
    storage.store.run(undo).await.expect("takes back");
    assert_eq!(it.holds(brand).await.as_deref(), Some("Our brand is blue"));
    assert_eq!(it.versions(brand).await.len(), 3);
    let secret = Remember {
        caller: place.caller,
        workspace: place.workspace,
        content: "my password is hunter2".into(),
        kind: MemoryKind::Fact,
        scope: MemoryScope::Workspace,
        memory: MemoryId::new(),
        message: MessageId::new(),
        at: seconds(40),
    };
    let refused = storage.store.run(secret).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    storage.close().await;
}

async fn what_is_a_persons_own_is_seen_and_used_for_that_person_alone(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let ada = Speaking::new(&storage.store, place);
    let bob = member(&storage.store, place, Role::Owner).await;
    let bob = Speaking::new(&storage.store, bob);
    let own = MemoryScope::Person(ada.user());
    let memory = ada.remember("I am colour-blind", own, 10).await;
    let seen = visible_memory(storage.store.reads(), memory, bob.user()).await;
    assert!(matches!(seen, Err(Error::NotFound(_))), "{seen:?}");
    assert!(bob.profile().await.entries.is_empty());
    assert_eq!(bob.profile().await.version, 0);
    assert_eq!(ada.profile().await.entries.len(), 1);
    // An owner of the workspace can neither correct nor forget it.
    let forget = domain::memory::Forget {
        caller: bob.place.caller,
        workspace: place.workspace,
        target: ForgetTarget::Memory(memory),
        receipt: uuid::Uuid::now_v7(),
        at: seconds(20),
    };
    let refused = storage.store.run(forget).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    // An extractor of what Bob says is shown nothing of it, and says it of Bob alone.
    bob.say("I am colour-blind", 30).await;
    let claim = bob.claim(bob.group(), 31).await.expect("it waits");
    assert!(claim.shown.is_empty(), "{:?}", claim.shown);
    let mut found = fact("I am colour-blind");
    found["scope"] = "person".into();
    let found = crate::memory_seeds::with_evidence(found, claim.messages[0].0.id);
    bob.store(&claim, &[found], 31).await;
    assert_eq!(bob.profile().await.entries.len(), 1);
    assert_ne!(bob.profile().await.entries[0].0.id, memory);
    storage.close().await;
}

async fn another_reach_makes_a_memory_seen_and_unseen(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let ada = Speaking::new(&storage.store, place);
    let bob = Speaking::new(
        &storage.store,
        member(&storage.store, place, Role::Editor).await,
    );
    let memory = ada
        .remember("Posters are square", MemoryScope::Person(ada.user()), 10)
        .await;
    let rescope = |scope, by: &Speaking| RescopeMemory {
        caller: by.place.caller,
        workspace: place.workspace,
        memory,
        scope,
        at: seconds(20),
    };
    let by_bob = storage.store.run(rescope(ScopeKind::Workspace, &bob)).await;
    assert!(matches!(by_bob, Err(Error::NotFound(_))), "{by_bob:?}");
    storage
        .store
        .run(rescope(ScopeKind::Workspace, &ada))
        .await
        .expect("widens");
    assert_eq!(bob.profile().await.entries.len(), 1);
    assert_eq!(bob.profile().await.version, 1);
    let to_task = storage.store.run(rescope(ScopeKind::Task, &ada)).await;
    assert!(matches!(to_task, Err(Error::Invalid(_))), "{to_task:?}");
    storage
        .store
        .run(rescope(ScopeKind::Person, &bob))
        .await
        .expect("narrows");
    assert!(ada.profile().await.entries.is_empty());
    assert_eq!(bob.profile().await.entries.len(), 1);
    storage.close().await;
}

async fn a_page_of_memories_shows_what_its_reader_may_see(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let ada = Speaking::new(&storage.store, place);
    let bob = Speaking::new(
        &storage.store,
        member(&storage.store, place, Role::Editor).await,
    );
    let task = create_task(&storage.store, place, &[]).await;
    let mut expected = Vec::new();
    for number in 0..7 {
        let scope = [
            MemoryScope::Person(ada.user()),
            MemoryScope::Workspace,
            MemoryScope::Task(task),
        ][number as usize % 3];
        expected.push(
            ada.remember(&format!("Fact {number}"), scope, 10 + number)
                .await,
        );
        bob.remember(
            &format!("Bob's fact {number}"),
            MemoryScope::Person(bob.user()),
            10 + number,
        )
        .await;
    }
    expected.reverse();
    let reads = storage.store.reads();
    let (mut seen, mut after) = (Vec::new(), None);
    let filter = MemoryFilter::default();
    loop {
        let page = PageRequest { first: 3, after };
        let page = reads
            .list_memories(place.workspace, ada.user(), &filter, page)
            .await;
        let page = page.expect("reads");
        after = page.rows.last().map(domain::memory::Memory::position);
        seen.extend(page.rows.iter().map(|memory| memory.id));
        if !page.has_next {
            break;
        }
    }
    assert_eq!(seen, expected);
    let tasks = MemoryFilter {
        scopes: vec![ScopeKind::Task],
        states: vec![MemoryState::Active],
    };
    let count = reads
        .count_memories(place.workspace, ada.user(), &tasks)
        .await;
    assert_eq!(count.expect("counts"), 2);
    let count = reads
        .count_memories(place.workspace, ada.user(), &filter)
        .await;
    assert_eq!(count.expect("counts"), 7);
    storage.close().await;
}

async fn workspaces_with_equal_words_never_meet(database: TestDatabase) {
    let storage = database.open().await;
    let place = bootstrap(&storage.store).await;
    let one = Speaking::new(&storage.store, place);
    let other = second_workspace(&storage.store, place).await;
    let other = Speaking::new(&storage.store, other);
    let (said, memory) = one
        .learn("Our brand is blue", fact("Our brand is blue"), 10)
        .await;
    let (_, twin) = other
        .learn("Our brand is blue", fact("Our brand is blue"), 10)
        .await;
    assert_ne!(memory, twin);
    // A message of another workspace is no evidence, and its memory no target.
    let mut foreign = about(memory, "confirm", "Our brand is blue");
    foreign["evidence"] = serde_json::json!([said]);
    let (_, stored) = other.extract("Our brand is blue again", foreign, 20).await;
    assert!(
        matches!(
            stored,
            domain::memory::Extracted::Stored { rejected: 1, .. }
        ),
        "{stored:?}"
    );
    one.forget(ForgetTarget::Memory(memory), 30).await;
    assert_eq!(one.holds(memory).await, None);
    assert_eq!(
        other.holds(twin).await.as_deref(),
        Some("Our brand is blue")
    );
    assert_eq!(other.profile().await.entries.len(), 1);
    storage.close().await;
}

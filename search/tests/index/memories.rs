//! Memories in the index: found by whom they are for, and off the disk when they are forgotten.

use domain::ids::{MemoryId, MessageId};
use domain::memory::{
    Forget, ForgetTarget, MemoryKind, MemoryScope, Remember, RescopeMemory, ScopeKind,
};
use domain::people::Caller;
use domain::search::SearchIndex as _;
use domain::store::StoreExt as _;
use domain::time::{Clock as _, SystemClock};

use crate::house::{House, eventually, ids, on_both_databases};

on_both_databases!(
    words_of_what_was_forgotten_leave_the_disk_by_themselves,
    what_is_a_persons_own_is_found_by_that_person_alone,
);

impl House {
    async fn remember(&self, caller: Caller, content: &str, scope: MemoryScope) -> MemoryId {
        let command = Remember {
            caller,
            workspace: self.workspace,
            content: content.to_owned(),
            kind: MemoryKind::Fact,
            scope,
            memory: MemoryId::new(),
            message: MessageId::new(),
            at: SystemClock.now(),
        };
        self.store.run(command).await.expect("remembers")
    }

    async fn forget(&self, memory: MemoryId) {
        let command = Forget {
            caller: self.owner,
            workspace: self.workspace,
            target: ForgetTarget::Memory(memory),
            receipt: uuid::Uuid::now_v7(),
            at: SystemClock.now(),
        };
        self.store.run(command).await.expect("forgets");
    }
}

async fn words_of_what_was_forgotten_leave_the_disk_by_themselves(house: House) {
    let search = house.search();
    let scope = MemoryScope::Workspace;
    let memory = house
        .remember(house.owner, "Our brand is xenolith", scope)
        .await;
    house.remember(house.owner, "We like basalt", scope).await;
    // The memory, and the message that it rests on.
    let found = house.find(&search, "xenolith").await;
    assert!(
        found.contains(&memory.uuid()) && found.len() == 2,
        "{found:?}"
    );
    house.forget(memory).await;
    assert!(house.find(&search, "xenolith").await.is_empty());
    eventually("its words leave the disk", async || {
        house.words_on_disk("xenolith") == 0 && house.has_only_used_files()
    })
    .await;
    assert!(house.words_on_disk("basalt") > 0);
    // Nor does an index that is made anew hold them.
    search.stop().await;
    std::fs::remove_dir_all(house.index()).expect("the index goes");
    let search = house.search();
    eventually("it is made anew", async || house.is_whole(2).await).await;
    assert_eq!(house.words_on_disk("xenolith"), 0);
    house.leave(search).await;
}

async fn what_is_a_persons_own_is_found_by_that_person_alone(house: House) {
    let search = house.search();
    let other = house.editor("bob").await;
    let own = house
        .remember(other, "I prefer gneiss", MemoryScope::Person(other.user))
        .await;
    let as_owner = house.request("gneiss").await;
    assert!(ids(&house.ask(&search, as_owner.clone()).await).is_empty());
    let as_other = domain::search::SearchRequest {
        user: other.user,
        ..as_owner
    };
    assert!(ids(&search.find(&as_other).await).contains(&own.uuid()));
    let command = RescopeMemory {
        caller: other,
        workspace: house.workspace,
        memory: own,
        scope: ScopeKind::Workspace,
        at: SystemClock.now(),
    };
    house.store.run(command).await.expect("widens");
    assert_eq!(house.find(&search, "gneiss").await, [own.uuid()]);
    house.leave(search).await;
}

//! What is judged from what was read, and what a holder of rights is told of it. Reading itself is seen from outside (`tests/`).

use domain::people::TokenKind;

use super::*;

const NOW: Timestamp = Timestamp::from_micros(1_000_000_000);

fn watched() -> Watched {
    let caller = Caller::new(UserId::new(), TokenId::new(), TokenKind::Personal);
    Watched {
        caller,
        workspace: Some(WorkspaceId::new()),
        work: Some(WorkId::new()),
    }
}

/// Everything is as it should be.
fn seen(watched: &Watched) -> Seen {
    let workspace = watched.workspace.expect("watched");
    Seen {
        tokens: HashMap::from([(watched.caller.token, None)]),
        roles: HashMap::from([((workspace, watched.caller.user), Role::Editor)]),
        works: HashSet::from([watched.work.expect("watched")]),
    }
}

fn handle(watched: Watched) -> AccessHandle {
    let state = EntryState {
        standing: Standing::Good(Some(Role::Editor)),
        expires_at: None,
        is_taken: true,
    };
    let entry = Entry {
        watched,
        state: Mutex::new(state),
        changed: Arc::default(),
    };
    AccessHandle {
        number: 0,
        entry: Arc::new(entry),
        shared: Weak::new(),
    }
}

#[test]
fn each_lost_right_is_told_apart() {
    let watched = watched();
    let good = Standing::Good(Some(Role::Editor));
    assert_eq!(seen(&watched).standing(&watched, NOW), good);

    let mut revoked = seen(&watched);
    revoked.tokens.clear();
    assert_eq!(revoked.standing(&watched, NOW), Standing::TokenRevoked);

    let mut removed = seen(&watched);
    removed.roles.clear();
    assert_eq!(removed.standing(&watched, NOW), Standing::NoMember);

    let mut deleted = seen(&watched);
    deleted.works.clear();
    assert_eq!(deleted.standing(&watched, NOW), Standing::WorkDeleted);
}

#[test]
fn a_token_expires_at_its_hour_and_not_before() {
    let watched = watched();
    let mut seen = seen(&watched);
    seen.tokens.insert(watched.caller.token, Some(NOW));
    let before = Timestamp::from_micros(NOW.micros() - 1);
    let good = Standing::Good(Some(Role::Editor));
    assert_eq!(seen.standing(&watched, before), good);
    assert_eq!(seen.standing(&watched, NOW), Standing::TokenExpired);
}

#[test]
fn a_membership_elsewhere_does_not_count() {
    let watched = watched();
    let mut seen = seen(&watched);
    seen.roles = HashMap::from([((WorkspaceId::new(), watched.caller.user), Role::Owner)]);
    assert_eq!(seen.standing(&watched, NOW), Standing::NoMember);
}

#[tokio::test]
async fn a_change_is_told_once_even_when_it_came_before_anybody_waited() {
    let handle = handle(watched());
    let viewer = Standing::Good(Some(Role::Viewer));
    handle.entry.update(viewer, None);
    assert_eq!(handle.changed().await, viewer);
    assert_eq!(handle.take_change(), None);
}

#[test]
fn the_same_reading_again_is_no_change_and_an_expiry_alone_is_known_without_one() {
    let handle = handle(watched());
    let same = handle.standing();
    handle.entry.update(same, None);
    assert_eq!(handle.take_change(), None);
    handle.entry.update(same, Some(NOW));
    assert_eq!(handle.take_change(), None);
    assert_eq!(handle.expires_at(), Some(NOW));
}

#[test]
fn a_change_that_nobody_has_taken_is_not_lost_by_the_next_reading() {
    let handle = handle(watched());
    handle.entry.update(Standing::NoMember, None);
    handle.entry.update(Standing::NoMember, Some(NOW));
    assert_eq!(handle.take_change(), Some(Standing::NoMember));
}

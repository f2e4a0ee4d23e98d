//! A worker stands still at every write point of an order, another takes over and brings it to its end, and the first one wakes up:
//! it sends nothing, books nothing, places nothing and wakes nobody a second time.

use super::house::{becomes, booked, money, settings, stands, turns};
use super::kills::{SOON, assert_brought, assert_lost, borrowed, illustrator, points, wanted};
use super::upstream::{Manner, PRICE, Upstream};
use crate::harness::{Installation, Person, Planner, Task, Work, Worker, eventually, on_postgres};

on_postgres![an_order_is_taken_over_at_every_write_point_and_its_first_worker_does_nothing_twice];

async fn an_order_is_taken_over_at_every_write_point_and_its_first_worker_does_nothing_twice(
    installation: &Installation,
) {
    let (planner, upstream) = (illustrator().await, Upstream::start().await);
    upstream.answer(Manner::Made);
    let (server, owner) = installation.open_without_agent().await;
    for (point, runs) in points() {
        for run in 1..=runs {
            let fault = format!("{point} {run} freeze");
            let own = Person::with_workspace(owner.client.clone(), &fault).await;
            taken_over(installation, (&planner, &upstream), (&own, &fault)).await;
        }
    }
    server.stop().await;
}

async fn taken_over(
    installation: &Installation,
    (planner, upstream): (&Planner, &Upstream),
    (owner, fault): (&Person, &str),
) {
    let before = upstream.submissions();
    let living = settings(planner, Some(upstream), &[SOON]);
    let mut freezing = borrowed(&living);
    freezing.push(("ATELIER_TEST_FAULT_AT", fault));
    let name = fault.replace(' ', "-");
    let first = Worker::start(installation, &format!("{name}-a"), &freezing).await;
    let (board, task) = wanted(owner).await;
    eventually(
        &format!("{fault}: the first worker stands still"),
        async || first.is_frozen(),
    )
    .await;
    let second = Worker::start(installation, &format!("{name}-b"), &borrowed(&living)).await;
    stands(&task, "DELIVERED").await;
    first.thaw();
    drop(second);
    // The first one is alone and at work again: whatever it still had in hand comes before what it is asked for now.
    let elsewhere = Person::with_workspace(owner.client.clone(), "Elsewhere").await;
    let (_, other) = wanted(&elsewhere).await;
    stands(&other, "DELIVERED").await;
    becomes(&other, "SUCCEEDED").await;
    // The other order is one of these.
    let sent = upstream.submissions() - before - 1;
    assert!(sent <= 1, "{fault}: sent {sent} times");
    assert_follows_the_rules(owner, (&task, &board), fault).await;
    assert!(turns(&task).await <= 2, "{fault}: woken once at most");
}

/// It was brought, or it was given up as unknown, or it was given up and then proved by whoever had sent it before it stood still: a process
/// goes on for some milliseconds until it does.
async fn assert_follows_the_rules(owner: &Person, (task, board): (&Task, &Work), fault: &str) {
    match booked(owner).await.len() {
        2 => assert_brought(owner, (task, board), fault).await,
        3 => assert_lost(owner, (task, board), fault).await,
        _ => {
            becomes(task, "SUCCEEDED").await;
            let all = ["RESERVE", "CHARGE", "REFUND", "RESERVE", "CHARGE"];
            assert_eq!(booked(owner).await, all, "{fault}");
            assert_eq!(money(owner).await, (PRICE, 0), "{fault}");
        }
    }
}

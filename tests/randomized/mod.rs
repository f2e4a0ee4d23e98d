//! Convergence: whatever people, programs and processes do in whatever order, at rest everybody has the same.
//!
//! The plan comes from a seed that is printed (`ATELIER_TEST_SEED` repeats it) and is saved as JSON lines in the test's
//! folder; `ATELIER_TEST_PLAN` replays such a file, perhaps a shortened one. `ATELIER_TEST_OPERATIONS` makes it longer.

mod plan;
mod run;

use crate::harness::{Installation, on_both_databases};

on_both_databases![at_rest_all_replicas_agree_with_the_log];

async fn at_rest_all_replicas_agree_with_the_log(installation: &Installation) {
    let servers = if installation.takes_several_servers() {
        2
    } else {
        1
    };
    let plan = plan::read_or_make(servers, installation.folder());
    let mut run = run::Run::start(installation, servers).await;
    for (number, operation) in plan.iter().enumerate() {
        run.carry_out(number, operation).await;
    }
    run.come_to_rest().await;
    run.assert_agreement().await;
}

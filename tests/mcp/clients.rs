//! The real client library, unmodified, against a real server.

use crate::sync::clients::run;

#[test]
fn a_program_edits_beside_a_person_and_resolves_a_conflict() {
    run("mcp.mjs");
}

//! The plan: what is done, in order, without what depends on the moment.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::harness::{Random, number};

/// Operations of a plan unless told otherwise.
const OPERATIONS: u64 = 250;
/// Editors: those with an even number are on the flow, the others on the text.
pub(super) const EDITORS: usize = 8;
/// Ids of nodes; few, so that everybody touches the same.
const NODES: usize = 6;

/// One thing that somebody does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Operation {
    /// An editor types a text at a place (of the length at that moment).
    Type {
        editor: usize,
        at: usize,
        text: String,
    },
    /// An editor takes letters away.
    Erase {
        editor: usize,
        at: usize,
        count: usize,
    },
    /// An editor puts a node where it is not there, and sets a field of it where it is.
    Set {
        editor: usize,
        node: String,
        value: i64,
    },
    /// An editor types into the description of a node.
    Describe {
        editor: usize,
        node: String,
        text: String,
    },
    /// An editor removes a node, and knows nothing of edges.
    Remove { editor: usize, node: String },
    /// An editor draws an edge.
    Connect {
        editor: usize,
        edge: String,
        source: String,
        target: String,
    },
    /// A program changes a node on a base that is some versions old.
    ProgramSet {
        server: usize,
        node: String,
        value: i64,
        behind: i64,
    },
    /// A program removes a node.
    ProgramRemove { server: usize, node: String },
    /// A program moves a node.
    ProgramMove {
        server: usize,
        node: String,
        after: String,
    },
    /// A program replaces the whole text.
    ProgramText { server: usize, text: String },
    /// A person brings back what was some versions ago.
    Restore {
        server: usize,
        is_text: bool,
        back: i64,
    },
    /// An editor loses the network, and goes on without.
    Leave { editor: usize },
    /// An editor comes back, to whichever server.
    Return { editor: usize, server: usize },
    /// A server is killed, and started again.
    Kill { server: usize },
    /// A server is stopped in order, and started again.
    Stop { server: usize },
}

/// The plan of the environment, or a new one; it is saved in the folder.
pub(super) fn read_or_make(servers: usize, folder: &Path) -> Vec<Operation> {
    if let Ok(path) = std::env::var("ATELIER_TEST_PLAN") {
        let text = fs::read_to_string(path).expect("the plan can be read");
        let lines = text.lines().map(serde_json::from_str);
        return lines.collect::<Result<_, _>>().expect("operations");
    }
    let mut random = Random::new();
    let count = number("ATELIER_TEST_OPERATIONS").unwrap_or(OPERATIONS);
    let plan: Vec<Operation> = (0..count)
        .map(|number| make(&mut random, servers, number))
        .collect();
    let mut text = String::new();
    for operation in &plan {
        let line = serde_json::to_string(operation).expect("JSON");
        writeln!(text, "{line}").expect("writes to a text");
    }
    fs::write(folder.join("plan.jsonl"), text).expect("the plan is saved");
    plan
}

fn make(random: &mut Random, servers: usize, number: u64) -> Operation {
    let server = random.below(servers);
    let node = format!("n{}", random.below(NODES));
    let value = random.below(1_000) as i64;
    let flow_editor = random.below(EDITORS / 2) * 2;
    let text_editor = flow_editor + 1;
    match random.below(100) {
        0..20 => Operation::Type {
            editor: text_editor,
            at: random.below(10_000),
            text: random
                .choose(&["a", "слово ", "😀", "line\n", "Z"])
                .to_string(),
        },
        20..26 => Operation::Erase {
            editor: text_editor,
            at: random.below(10_000),
            count: 1 + random.below(6),
        },
        26..42 => Operation::Set {
            editor: flow_editor,
            node,
            value,
        },
        42..52 => Operation::Describe {
            editor: flow_editor,
            node,
            text: format!("<{number}>"),
        },
        52..57 => Operation::Remove {
            editor: flow_editor,
            node,
        },
        57..63 => Operation::Connect {
            editor: flow_editor,
            edge: format!("e{}", random.below(NODES)),
            source: node,
            target: format!("n{}", random.below(NODES)),
        },
        63..72 => Operation::ProgramSet {
            server,
            node,
            value,
            behind: random.below(4) as i64,
        },
        72..74 => Operation::ProgramRemove { server, node },
        74..78 => Operation::ProgramMove {
            server,
            node,
            after: format!("n{}", random.below(NODES)),
        },
        78..80 => Operation::ProgramText {
            server,
            text: format!("whole {number}\n"),
        },
        80..83 => Operation::Restore {
            server,
            is_text: random.below(2) == 0,
            back: random.below(8) as i64,
        },
        83..89 => Operation::Leave {
            editor: random.below(EDITORS),
        },
        89..96 => Operation::Return {
            editor: random.below(EDITORS),
            server,
        },
        96..98 => Operation::Kill { server },
        _ => Operation::Stop { server },
    }
}

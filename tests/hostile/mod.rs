//! Hostile bytes against a live server: it stays up, its memory stays bounded, other editors go on, nothing stored changes.
//!
//! `ATELIER_TEST_MUTATIONS` says how many damaged updates are sent (3,000 by default).

mod costly;
mod damaged;
mod deliberate;
mod frames;

use crate::harness::editor::replica;
use crate::harness::works::Work;
use crate::harness::{Editor, Protocol, Server};

/// The most resident memory that a server may ever have had.
const MEMORY: u64 = 300 << 20;

/// A bystander: an editor who works on while somebody else attacks.
struct Bystander {
    editor: Editor,
    typed: usize,
}

impl Bystander {
    async fn at(work: &Work) -> Self {
        Self {
            editor: Editor::open(work, Protocol::YWebsocket).await,
            typed: 0,
        }
    }

    /// Types something, which has to be stored on the same connection as ever.
    async fn goes_on(&mut self, after: &str) {
        self.typed += 1;
        let note = format!("<{}>", self.typed);
        self.editor
            .edit(|txn, roots| replica::append(txn, roots, &note))
            .await;
        assert!(
            self.editor.acknowledged().await,
            "after {after} the other editor was cut off"
        );
    }
}

#[track_caller]
fn assert_memory(server: &Server, after: &str) {
    let bytes = server.peak_resident_bytes();
    assert!(
        bytes < MEMORY,
        "after {after} the server had had {bytes} bytes"
    );
}

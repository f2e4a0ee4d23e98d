//! Updates of one connection that came before what they build on, and what waits for them.
//!
//! Invariants
//! - Such an update is here once the editor has answered a question that was asked after it came; an answer to an earlier
//!   question may lack it. Until then it is not acknowledged, and no question of the editor is answered: some editors take
//!   the answer as proof that all they sent before is stored.
//! - Questions are answered in the order in which they were asked; both protocols say so.

use bytes::Bytes;

/// Questions of an editor that wait.
const QUESTIONS: usize = 64;
/// Answers in a row that may lack what they build on: an editor that lacks it itself never brings it.
const LACKING: u32 = 2;

/// What waits.
#[derive(Debug, Default)]
pub(super) struct Unplaced {
    /// Questions that were put to the editor, and answers that came.
    asked: u64,
    answered: u64,
    /// Updates that wait, and the number of the question whose answer brings what they build on.
    updates: usize,
    placed_by: u64,
    /// State vectors that the editor wants to be answered.
    questions: Vec<Bytes>,
    lacking: u32,
}

impl Unplaced {
    /// A question is put to the editor.
    pub(super) fn ask(&mut self) {
        self.asked += 1;
    }

    /// An update came that could not be placed; the editor is asked for the rest next. False where that is of no use.
    pub(super) fn add(&mut self, is_reply: bool) -> bool {
        self.lacking += u32::from(is_reply);
        self.updates += 1;
        self.placed_by = self.asked + 1;
        self.lacking < LACKING
    }

    /// An answer came.
    pub(super) fn answer(&mut self) {
        self.answered += 1;
    }

    /// The answer that came last is in the document: how many updates that waited are so too.
    pub(super) fn place(&mut self) -> usize {
        self.lacking = 0;
        if self.answered < self.placed_by {
            return 0;
        }
        std::mem::take(&mut self.updates)
    }

    /// Keeps a question of the editor where it has to wait.
    pub(super) fn hold(&mut self, question: &Bytes) -> Held {
        match self.updates {
            0 => Held::No,
            _ if self.questions.len() >= QUESTIONS => Held::TooMany,
            _ => {
                self.questions.push(question.clone());
                Held::Yes
            }
        }
    }

    /// The editor may not write any more: how many updates waited, and the questions that need not wait now.
    pub(super) fn give_up(&mut self) -> (usize, Vec<Bytes>) {
        let updates = std::mem::take(&mut self.updates);
        (updates, std::mem::take(&mut self.questions))
    }

    /// The questions that can be answered now.
    pub(super) fn take_questions(&mut self) -> Vec<Bytes> {
        match self.updates {
            0 => std::mem::take(&mut self.questions),
            _ => Vec::new(),
        }
    }
}

/// What becomes of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// It is answered at once.
    No,
    /// It is answered later.
    Yes,
    /// The editor asks and asks, and does not answer.
    TooMany,
}

//! What happens to an order, as a function of the order alone: the state machine that only moves forward.
//!
//! Invariants
//! - [`Job::take`] is total: news that do not fit the order's state change nothing.
//! - What is reserved or spent for an order is in its own numbers; the entries that [`Job::take`] gives are exactly their changes.
//! - An order is charged at most once at a time: what was charged is refunded before it is charged again.

use super::{Job, JobState, JobTiming, UpstreamFile};
use crate::money::LedgerKind;
use crate::time::Timestamp;

/// How often an order that did not reach the upstream is sent.
const SENDINGS: u32 = 8;
/// Polls get rarer up to so many times the first interval.
const RAREST_POLL: u32 = 20;

/// What happens to an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// A person lets it be paid, or nobody has to be asked.
    Approved,
    /// A person does not want it, or its task ended before it was approved.
    Declined(Option<String>),
    /// It is about to be sent.
    Begun,
    /// It has certainly not reached the upstream.
    NotSent(String),
    /// The upstream does not take it.
    Refused(String),
    /// Nobody knows whether the upstream has it.
    Lost(String),
    /// The upstream has it.
    Accepted(String),
    /// The upstream is at it; its id where it told it, thousandths that are done.
    Progress(Option<String>, u32),
    /// The upstream has made it.
    Made(Option<String>, Vec<UpstreamFile>),
    /// The upstream gave up.
    Failed(Option<String>, String),
    /// The upstream was told to give up, and did.
    Cancelled(Option<String>),
    /// What was made is stored as assets.
    Stored,
    /// What was made can not be had.
    Unfetchable(String),
    /// What was made could not be had just now.
    NotFetched(String),
    /// It stayed unknown for too long.
    Settled,
    /// A person wants it to be given up.
    CancelAsked,
    /// The upstream was asked, and knew nothing new.
    Looked,
}

/// How long orders are waited for, and the present time.
type Now = (JobTiming, Timestamp);

/// What taking news brought about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Moved {
    /// Whether the order changed at all.
    pub is_changed: bool,
    /// Whether its state did.
    pub has_new_state: bool,
    /// Whether it has just become certain that it brings something, or nothing.
    pub is_decided: bool,
    /// What to book.
    pub entries: Vec<(LedgerKind, u64)>,
}

impl Job {
    /// Takes news in.
    pub fn take(&mut self, news: &News, timing: JobTiming, at: Timestamp) -> Moved {
        let before = self.clone();
        let mut entries = Vec::new();
        self.move_on(news, (timing, at), &mut entries);
        let is_changed = *self != before;
        if is_changed {
            self.updated_at = at;
        }
        let is_settled = before.settled_at.is_none() && self.settled_at.is_some();
        Moved {
            is_changed,
            has_new_state: self.state != before.state,
            is_decided: is_settled || (self.state.is_over() && !before.state.is_over()),
            entries,
        }
    }

    fn move_on(&mut self, news: &News, now: Now, entries: &mut Vec<(LedgerKind, u64)>) {
        match news {
            News::Approved | News::Declined(_) | News::CancelAsked => {
                self.people_say(news, now, entries);
            }
            News::Begun | News::NotSent(_) | News::Refused(_) | News::Lost(_) | News::Settled => {
                self.sending(news, now, entries);
            }
            News::Accepted(_)
            | News::Progress(..)
            | News::Made(..)
            | News::Failed(..)
            | News::Cancelled(_) => self.upstream_says(news, now, entries),
            News::Stored | News::Unfetchable(_) | News::NotFetched(_) | News::Looked => {
                self.keeping(news, now, entries);
            }
        }
    }

    /// A person lets it be paid, does not, or wants it to be given up.
    fn people_say(&mut self, news: &News, (_, at): Now, entries: &mut Vec<(LedgerKind, u64)>) {
        use JobState::{AwaitingApproval, Running, Submitting};
        match (news, self.state) {
            (News::Approved, AwaitingApproval) => {
                self.state = Submitting;
                self.reserve(entries);
                self.due_at = Some(at);
            }
            (News::Declined(why), AwaitingApproval) => {
                self.error.clone_from(why);
                self.end(JobState::Declined, entries);
            }
            (News::CancelAsked, AwaitingApproval) => self.end(JobState::Declined, entries),
            (News::CancelAsked, Submitting) if self.submitted_at.is_none() => {
                self.end(JobState::Cancelled, entries);
            }
            (News::CancelAsked, Submitting | Running) if self.made.is_none() => {
                self.is_cancel_asked = true;
                if self.state == Running {
                    self.due_at = Some(at);
                }
            }
            _ => {}
        }
    }

    /// It is sent, and nobody has heard of the upstream yet.
    fn sending(&mut self, news: &News, (timing, at): Now, entries: &mut Vec<(LedgerKind, u64)>) {
        use JobState::{SubmissionUnknown, Submitting};
        match (news, self.state) {
            (News::Begun, Submitting) if self.submitted_at.is_none() => {
                self.submitted_at = Some(at);
                self.due_at = Some(at.plus(timing.sending));
            }
            (News::NotSent(why), Submitting) => self.not_sent(why, (timing, at), entries),
            (News::Refused(why), Submitting | SubmissionUnknown) => self.fail(why, entries),
            (News::Lost(why), Submitting) if self.submitted_at.is_some() => {
                self.state = SubmissionUnknown;
                self.error = Some(why.clone());
                // The money may be gone: it is booked as spent until it is known better.
                self.charge(entries);
                let since = self.submitted_at.unwrap_or(at);
                self.due_at = Some(since.plus(timing.submission).max(at));
            }
            (News::Settled, SubmissionUnknown) if self.settled_at.is_none() => {
                self.settled_at = Some(at);
                self.due_at = None;
                self.refund(entries);
            }
            _ => {}
        }
    }

    /// The upstream proves something about it.
    fn upstream_says(&mut self, news: &News, now: Now, entries: &mut Vec<(LedgerKind, u64)>) {
        use JobState::{Running, SubmissionUnknown, Submitting};
        if !matches!(self.state, Submitting | SubmissionUnknown | Running) {
            return;
        }
        match news {
            News::Accepted(upstream) => self.prove(Some(upstream), now, entries),
            News::Progress(upstream, progress) => {
                self.prove(upstream.as_ref(), now, entries);
                self.progress = self.progress.max((*progress).min(1_000));
            }
            News::Made(upstream, files) => {
                self.prove(upstream.as_ref(), now, entries);
                if self.made.is_none() {
                    self.made = Some(files.clone());
                    self.attempts = 0;
                    self.due_at = Some(now.1);
                }
            }
            News::Failed(upstream, why) if self.made.is_none() => {
                self.know(upstream.as_ref());
                self.fail(why, entries);
            }
            News::Cancelled(upstream) if self.made.is_none() => {
                self.know(upstream.as_ref());
                self.end(JobState::Cancelled, entries);
            }
            _ => {}
        }
    }

    /// It runs, and what it brings is fetched.
    fn keeping(&mut self, news: &News, (timing, at): Now, entries: &mut Vec<(LedgerKind, u64)>) {
        if self.state != JobState::Running {
            return;
        }
        match (news, self.made.is_some()) {
            (News::Stored, true) => {
                self.charge(entries);
                self.progress = 1_000;
                self.error = None;
                self.end(JobState::Succeeded, entries);
            }
            (News::Unfetchable(why), true) => self.fail(why, entries),
            (News::NotFetched(why), true) => {
                self.attempts += 1;
                if self.attempts >= SENDINGS {
                    self.fail(why, entries);
                } else {
                    self.due_at = Some(at.plus(timing.poll / 4 * (1 << self.attempts)));
                }
            }
            (News::Looked, false) => {
                self.attempts = self.attempts.saturating_add(1);
                self.due_at = Some(at.plus(self.next_poll(timing)));
            }
            _ => {}
        }
    }

    fn not_sent(&mut self, why: &str, (timing, at): Now, entries: &mut Vec<(LedgerKind, u64)>) {
        self.submitted_at = None;
        self.attempts += 1;
        if self.is_cancel_asked {
            return self.end(JobState::Cancelled, entries);
        }
        if self.attempts >= SENDINGS {
            return self.fail(why, entries);
        }
        self.error = Some(why.to_owned());
        self.due_at = Some(at.plus(timing.poll / 16 * (1 << self.attempts)));
    }

    /// The upstream has shown that it has the order.
    fn prove(
        &mut self,
        upstream: Option<&String>,
        (timing, at): Now,
        entries: &mut Vec<(LedgerKind, u64)>,
    ) {
        self.know(upstream);
        if self.state == JobState::Running {
            return;
        }
        self.state = JobState::Running;
        self.error = None;
        if self.settled_at.take().is_some() {
            // Its money came back when it was given up; now it will be owed after all.
            self.reserve(entries);
        }
        self.attempts = 0;
        let is_urgent = self.is_cancel_asked;
        self.due_at = Some(if is_urgent { at } else { at.plus(timing.poll) });
    }

    /// An id at the upstream is stored the moment it is known, and stays.
    fn know(&mut self, upstream: Option<&String>) {
        if self.upstream.is_none() {
            self.upstream = upstream.cloned();
        }
    }

    fn fail(&mut self, why: &str, entries: &mut Vec<(LedgerKind, u64)>) {
        self.error = Some(why.to_owned());
        self.end(JobState::Failed, entries);
    }

    /// Ends it; what it has not used of its money comes back.
    fn end(&mut self, state: JobState, entries: &mut Vec<(LedgerKind, u64)>) {
        self.state = state;
        self.due_at = None;
        if state != JobState::Succeeded {
            self.release(entries);
            self.refund(entries);
        }
    }

    /// Sets its price aside, where no part of it was.
    fn reserve(&mut self, entries: &mut Vec<(LedgerKind, u64)>) {
        if self.price > 0 {
            self.reserved = self.price;
            entries.push((LedgerKind::Reserve, self.price));
        }
    }

    fn charge(&mut self, entries: &mut Vec<(LedgerKind, u64)>) {
        if self.price > 0 && self.spent == 0 {
            self.spent = self.price;
            self.reserved = 0;
            entries.push((LedgerKind::Charge, self.price));
        }
    }

    fn release(&mut self, entries: &mut Vec<(LedgerKind, u64)>) {
        let left = std::mem::take(&mut self.reserved);
        if left > 0 {
            entries.push((LedgerKind::Release, left));
        }
    }

    fn refund(&mut self, entries: &mut Vec<(LedgerKind, u64)>) {
        let spent = std::mem::take(&mut self.spent);
        if spent > 0 {
            entries.push((LedgerKind::Refund, spent));
        }
    }

    /// Rarer and rarer: what takes long is not asked about all the time.
    fn next_poll(&self, timing: JobTiming) -> std::time::Duration {
        let times = 1_u32 << self.attempts.saturating_sub(1).min(5);
        timing.poll * times.min(RAREST_POLL)
    }
}

//! Works as several people change them at once: who wins, who is told, what is kept.

mod conflicts;
mod flows;
mod history;
mod idempotency;
mod live;
mod texts;

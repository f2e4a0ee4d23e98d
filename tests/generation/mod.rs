//! Slow and paid: generation, cards, budgets, autonomy, through the public contract.

mod attacks;
mod bad_callbacks;
mod budgets;
mod film;
mod house;
mod injected;
mod jobs;
mod kills;
mod openai;
mod plans;
mod schedules;
mod takeover;
mod upstream;
mod waiting;

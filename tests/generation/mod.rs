//! Slow and paid: generation, cards, budgets, autonomy, through the public contract.

mod bad_callbacks;
mod budgets;
mod film;
mod house;
mod injected;
mod jobs;
mod kills;
mod schedules;
mod upstream;
mod waiting;

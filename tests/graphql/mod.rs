//! GraphQL as clients meet it: codes, limits, lists, subscriptions.

mod codes;
mod limits;
mod lists;
mod subscriptions;

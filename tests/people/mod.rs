//! People: what one may see and do, and for how long.

mod isolation;
mod roles;
mod tokens;

//! Filters of lists: which values of an enumeration are let through.
//!
//! Invariants
//! - The same choice in another order, or with doubles, is the same list to its cursors.
//! - To the store no values are all values; to a client an empty list is nothing ([`Choice::is_nothing`]).

/// Values that a client has chosen; none given is everything.
#[derive(Debug, Clone)]
pub(crate) struct Choice<T>(Option<Vec<T>>);

impl<T: Copy + Ord> Choice<T> {
    /// The choice that a client's argument makes.
    pub(crate) fn new<G: Into<T>>(given: Option<Vec<G>>) -> Self {
        Self(given.map(|given| {
            let mut values: Vec<T> = given.into_iter().map(Into::into).collect();
            values.sort_unstable();
            values.dedup();
            values
        }))
    }

    /// The same, or these values where nothing was chosen.
    pub(crate) fn or(self, values: &[T]) -> Self {
        Self(self.0.or_else(|| Some(values.to_vec())))
    }

    /// Whether nothing is let through.
    pub(crate) fn is_nothing(&self) -> bool {
        self.0.as_ref().is_some_and(Vec::is_empty)
    }

    /// The values, as the store takes them.
    pub(crate) fn values(&self) -> &[T] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The choice as cursors name it; empty for everything.
    pub(crate) fn text(&self, argument: &str, name: fn(T) -> &'static str) -> String {
        let Some(values) = &self.0 else {
            return String::new();
        };
        let names: Vec<_> = values.iter().map(|value| name(*value)).collect();
        format!("{argument}:{}", names.join(","))
    }
}

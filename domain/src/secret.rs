//! A text that must not be seen: a password, a token, the key of a provider.
//!
//! Invariants
//! - No `Display`, and a `Debug` that says nothing: what holds a secret can be logged as a whole.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// A text that must not be seen.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A text of somebody else with every mention of the secret taken out.
    pub fn strike_from(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        text.replace(&self.0, "…")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

impl FromStr for Secret {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::new(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_says_nothing_of_itself() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_eq!(secret.expose(), "hunter2");
    }

    #[test]
    fn a_secret_is_struck_from_what_others_say() {
        let secret = Secret::new("hunter2");
        assert_eq!(
            secret.strike_from("key hunter2 is not hunter2"),
            "key … is not …"
        );
        assert_eq!(Secret::new("").strike_from("as it was"), "as it was");
    }
}

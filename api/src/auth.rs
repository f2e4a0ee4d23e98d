//! Who is calling: what every transport asks before it does anything.
//!
//! Invariants
//! - A [`Caller`] exists only for a token that was good when it was looked up; long-lived transports wait for
//!   [`Authenticate::revoked`] beside their work.
//!
//! Not here: tokens in storage, roles in workspaces (commands and queries ask for those themselves).

use async_trait::async_trait;
pub use domain::people::Caller;

/// Finds the caller behind a bearer token.
#[async_trait]
pub trait Authenticate: Send + Sync + 'static {
    /// The caller that this secret belongs to; `bearer` is what follows `Bearer ` in the header.
    ///
    /// Answers `Unauthenticated` for none, an unknown, an expired or a revoked one.
    async fn authenticate(&self, bearer: Option<&str>) -> Result<Caller, domain::Error>;

    /// Returns once the caller may no longer be served: the token was revoked or has expired, or the person was removed.
    async fn revoked(&self, caller: Caller);
}

/// The secret in an `Authorization: Bearer …` value, whatever the case of the scheme.
pub fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, secret) = authorization.trim().split_once(' ')?;
    let secret = secret.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !secret.is_empty()).then_some(secret)
}

#[cfg(test)]
mod tests {
    use super::bearer;

    #[test]
    fn a_bearer_secret_is_found_whatever_the_case_of_the_scheme() {
        assert_eq!(bearer("bEARER  abc "), Some("abc"));
        assert_eq!(bearer("Basic abc"), None);
        assert_eq!(bearer("Bearer "), None);
        assert_eq!(bearer("Bearer"), None);
    }
}

//! Which web pages may open sockets: a browser sends a socket's `Origin`, and no other protection exists there.
//!
//! Invariants
//! - No `Origin` is no browser, and is let in; the server's own address and the configured ones are let in; others not.
//! - The names of the loopback interface are one, where the server's own address is on it.

use axum::http::HeaderMap;
use axum::http::header::ORIGIN;
use url::Url;

/// The origins that are let in.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    allowed: Vec<Url>,
}

impl Origins {
    /// The server's public address, and others that were configured.
    pub fn new(public: &Url, others: impl IntoIterator<Item = Url>) -> Self {
        Self {
            allowed: std::iter::once(public.clone()).chain(others).collect(),
        }
    }

    /// Whether a request with these headers may open a socket.
    pub fn admit(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(ORIGIN) else {
            return true;
        };
        let Some(origin) = origin.to_str().ok().and_then(|text| Url::parse(text).ok()) else {
            return false;
        };
        self.allowed.iter().any(|allowed| is_same(allowed, &origin))
    }
}

fn is_same(allowed: &Url, origin: &Url) -> bool {
    let is_same_host =
        allowed.host() == origin.host() || (is_loopback(allowed) && is_loopback(origin));
    allowed.scheme() == origin.scheme()
        && is_same_host
        && allowed.port_or_known_default() == origin.port_or_known_default()
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(origin: &str) -> bool {
        let url = |text| Url::parse(text).expect("a URL");
        let origins = Origins::new(
            &url("http://127.0.0.1:8787/"),
            [url("https://studio.example")],
        );
        let mut headers = HeaderMap::new();
        headers.insert(ORIGIN, origin.parse().expect("a header value"));
        origins.admit(&headers)
    }

    #[test]
    fn own_and_configured_pages_are_let_in_and_foreign_ones_not() {
        for good in [
            "http://127.0.0.1:8787",
            "http://localhost:8787",
            "https://studio.example",
            "https://studio.example:443",
        ] {
            assert!(admitted(good), "{good}");
        }
        for bad in [
            "https://evil.example",
            "http://studio.example",
            "http://localhost:8788",
            "null",
            "https://studio.example.evil.example",
        ] {
            assert!(!admitted(bad), "{bad}");
        }
        assert!(Origins::default().admit(&HeaderMap::new()));
    }
}

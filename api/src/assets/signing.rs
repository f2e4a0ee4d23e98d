//! Signatures of addresses: who holds the address may do the one thing it names, for a while.
//!
//! Invariants
//! - A signature is over purpose, path and end, so none serves for another file, another purpose or a later hour.
//! - Signatures are compared in constant time, and made with a key that every process of an installation has.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::installation::InstallationSecret;
use domain::time::Timestamp;
use serde::Deserialize;

/// What an address is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Reading bytes.
    Read,
    /// Writing the bytes of an upload.
    Write,
}

/// The signed part of an address, as it stands in the query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Signed {
    /// Seconds since 1970 from which on it is refused.
    pub(super) expires: Option<i64>,
    /// The signature, base64url.
    pub(super) signature: Option<String>,
}

/// The key of an installation's addresses.
#[derive(Debug, Clone)]
pub(super) struct SigningKey(hmac::Key);

/// What the key is for, so that no other key of the installation equals it.
const LABEL: &[u8] = b"atelier addresses of assets, form 1";

impl SigningKey {
    pub(super) fn new(secret: &InstallationSecret) -> Self {
        let root = hmac::Key::new(hmac::HMAC_SHA256, &secret.0);
        let derived = hmac::sign(&root, LABEL);
        Self(hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref()))
    }

    /// A path with its signature.
    pub(super) fn sign(&self, purpose: Purpose, path: &str, expires: i64) -> String {
        let tag = hmac::sign(&self.0, &message(purpose, path, expires));
        let signature = URL_SAFE_NO_PAD.encode(tag);
        format!("{path}?expires={expires}&signature={signature}")
    }

    /// Whether a path was signed for this purpose, and its time is not over.
    pub(super) fn admits(
        &self,
        purpose: Purpose,
        path: &str,
        signed: &Signed,
        now: Timestamp,
    ) -> bool {
        let (Some(expires), Some(signature)) = (signed.expires, &signed.signature) else {
            return false;
        };
        let Ok(tag) = URL_SAFE_NO_PAD.decode(signature) else {
            return false;
        };
        let is_signed = hmac::verify(&self.0, &message(purpose, path, expires), &tag).is_ok();
        is_signed && now.micros() / 1_000_000 < expires
    }
}

fn message(purpose: Purpose, path: &str, expires: i64) -> Vec<u8> {
    let purpose = match purpose {
        Purpose::Read => "read",
        Purpose::Write => "write",
    };
    format!("{purpose}\n{path}\n{expires}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_000_000_000_000);

    fn key(byte: u8) -> SigningKey {
        SigningKey::new(&InstallationSecret([byte; 32]))
    }

    fn signed(address: &str) -> Signed {
        let url = url::Url::parse(&format!("http://host{address}")).expect("a URL");
        let value = |name: &str| {
            let found = url.query_pairs().find(|(key, _)| key == name);
            found.expect("in the query").1.into_owned()
        };
        Signed {
            expires: Some(value("expires").parse().expect("a number")),
            signature: Some(value("signature")),
        }
    }

    #[test]
    fn a_signature_holds_for_its_path_purpose_and_time_alone() {
        let signed = signed(&key(1).sign(Purpose::Read, "/files/a", 1_000_100));
        let admits = |purpose, path, now| key(1).admits(purpose, path, &signed, now);
        assert!(admits(Purpose::Read, "/files/a", NOW));
        assert!(!admits(Purpose::Read, "/files/b", NOW));
        assert!(!admits(Purpose::Write, "/files/a", NOW));
        let late = Timestamp::from_micros(1_000_100_000_000);
        assert!(!admits(Purpose::Read, "/files/a", late));
    }

    #[test]
    fn a_forged_or_stretched_signature_is_refused() {
        let mut signed = signed(&key(1).sign(Purpose::Read, "/files/a", 1_000_100));
        assert!(!key(2).admits(Purpose::Read, "/files/a", &signed, NOW));
        signed.expires = Some(2_000_000);
        assert!(!key(1).admits(Purpose::Read, "/files/a", &signed, NOW));
        assert!(!key(1).admits(Purpose::Read, "/files/a", &Signed::default(), NOW));
    }
}

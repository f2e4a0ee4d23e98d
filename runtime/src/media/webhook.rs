//! Standard Webhooks: whether a call back was signed by whom it should be, lately.
//!
//! Invariants
//! - The signature covers id, time and body; it is compared in constant time.
//! - A time more than five minutes off is refused, whatever is signed.

use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::media::Callback;
use domain::secret::Secret;
use domain::time::Timestamp;

use super::CallbackError;

/// How far the sender's clock may be off.
const WINDOW: Duration = Duration::from_mins(5);

/// The secret with which an upstream signs.
#[derive(Debug, Clone)]
pub struct WebhookSecret(hmac::Key);

impl WebhookSecret {
    /// The secret as providers show it: `whsec_` and base64, or base64, or plain text.
    #[must_use]
    pub fn new(secret: &Secret) -> Self {
        let text = secret.expose().trim();
        let text = text.strip_prefix("whsec_").unwrap_or(text);
        let bytes = STANDARD
            .decode(text)
            .unwrap_or_else(|_| text.as_bytes().to_vec());
        Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
    }

    /// The id of a call back that is signed and fresh.
    pub(super) fn check(
        &self,
        callback: &Callback,
        now: Timestamp,
    ) -> Result<String, CallbackError> {
        let (Some(id), Some(timestamp), Some(signatures)) =
            (&callback.id, &callback.timestamp, &callback.signature)
        else {
            return Err(CallbackError::Unsigned);
        };
        let seconds: i64 = timestamp.parse().map_err(|_| CallbackError::Unsigned)?;
        let sent = Timestamp::from_micros(seconds.saturating_mul(1_000_000));
        if id.is_empty() || id.len() > 255 || now.since(sent) > WINDOW || sent.since(now) > WINDOW {
            return Err(CallbackError::Unsigned);
        }
        let mut signed = format!("{id}.{timestamp}.").into_bytes();
        signed.extend_from_slice(&callback.body);
        let is_ours = |signature: &str| {
            let given = signature
                .strip_prefix("v1,")
                .and_then(|text| STANDARD.decode(text).ok());
            given.is_some_and(|given| hmac::verify(&self.0, &signed, &given).is_ok())
        };
        if signatures.split(' ').any(is_ours) {
            Ok(id.clone())
        } else {
            Err(CallbackError::Unsigned)
        }
    }

    /// What a sender with this secret puts into `webhook-signature`.
    #[cfg(test)]
    pub(super) fn sign(&self, id: &str, timestamp: &str, body: &[u8]) -> String {
        let mut signed = format!("{id}.{timestamp}.").into_bytes();
        signed.extend_from_slice(body);
        format!("v1,{}", STANDARD.encode(hmac::sign(&self.0, &signed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

    fn callback(secret: &WebhookSecret, seconds: i64) -> Callback {
        let (time, body) = (seconds.to_string(), b"{}".to_vec());
        Callback {
            signature: Some(secret.sign("msg_1", &time, &body)),
            id: Some("msg_1".to_owned()),
            timestamp: Some(time),
            body,
        }
    }

    #[test]
    fn the_published_example_of_the_standard_is_accepted() {
        let secret = WebhookSecret::new(&Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
        let callback = Callback {
            id: Some("msg_p5jXN8AQM9LWM0D4loKWxJek".to_owned()),
            timestamp: Some("1614265330".to_owned()),
            signature: Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=".to_owned()),
            body: br#"{"test": 2432232314}"#.to_vec(),
        };
        let then = Timestamp::from_micros(1_614_265_330_000_000);
        assert!(secret.check(&callback, then).is_ok());
        assert!(secret.check(&callback, NOW).is_err(), "long ago");
    }

    #[test]
    fn what_is_forged_changed_or_out_of_its_time_is_refused() {
        let secret = WebhookSecret::new(&Secret::new("whsec_c2VjcmV0"));
        let good = callback(&secret, 1_700_000_000);
        assert_eq!(secret.check(&good, NOW), Ok("msg_1".to_owned()));
        let other = WebhookSecret::new(&Secret::new("whsec_b3RoZXI="));
        let mut changed = good.clone();
        changed.body = b"{\"a\":1}".to_vec();
        let mut renamed = good.clone();
        renamed.id = Some("msg_2".to_owned());
        let mut unsigned = good.clone();
        unsigned.signature = None;
        for bad in [
            callback(&other, 1_700_000_000),
            changed,
            renamed,
            unsigned,
            callback(&secret, 1_700_000_301),
            callback(&secret, 1_699_999_699),
        ] {
            assert_eq!(secret.check(&bad, NOW), Err(CallbackError::Unsigned));
        }
        let mut several = good;
        several.signature = several.signature.map(|one| format!("v1,AAAA v2,x {one}"));
        assert!(secret.check(&several, NOW).is_ok());
    }
}

//! Tokens: their secrets, and who is behind one.
//!
//! Invariants
//! - Only the SHA-256 of a secret is stored; hashes are compared in constant time.
//! - A token that was revoked in this process is refused at once, one that was revoked in another process with its
//!   notification, and at the latest `CACHE_TTL` later.
//! - Writing down when a token was used delays no request, and happens at most once a minute for each token.
//!
//! Not here: roles in workspaces (commands and queries ask for those).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use aws_lc_rs::{constant_time, digest, rand};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::ids::TokenId;
use domain::people::{ApiToken, Caller, TouchToken};
use domain::store::{SharedStore, StoreExt as _};
use domain::time::{SharedClock, Timestamp};
use domain::{Error, Result};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::auth::Authenticate;
use crate::sync::access::AccessWatch;

/// How long a token that was looked up is believed without looking again.
const CACHE_TTL: Duration = Duration::from_secs(2);
/// Tokens in the cache at most.
const CACHE_SIZE: usize = 4_096;
/// How far `last used` may lag behind.
const TOUCH_INTERVAL: Duration = Duration::from_mins(1);
/// Touches that may wait; more are left out, and come with the next use of their tokens.
const WAITING_TOUCHES: usize = 256;
/// Beginning of every secret that is made here, so that people and scanners see what it is.
const PREFIX: &str = "atelier_";

/// A new secret of a token: 32 random bytes in letters.
pub fn new_secret() -> String {
    let mut bytes = [0; 32];
    rand::fill(&mut bytes).expect("the system gives random bytes");
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// What is stored of a secret.
pub fn hash(secret: &str) -> [u8; 32] {
    let digest = digest::digest(&digest::SHA256, secret.as_bytes());
    digest.as_ref().try_into().expect("a SHA-256 has 32 bytes")
}

/// Finds the caller behind a secret.
pub struct Tokens {
    store: SharedStore,
    clock: SharedClock,
    watch: AccessWatch,
    changes: watch::Receiver<u64>,
    cache: Mutex<HashMap<[u8; 32], Cached>>,
    touches: mpsc::Sender<TouchToken>,
}

/// A token as it was when the rights of people had changed `generation` times.
struct Cached {
    token: ApiToken,
    generation: u64,
    read_at: Instant,
    touched_at: Option<Timestamp>,
}

impl Tokens {
    /// Ready to be asked; a task that ends with `stop` writes down when tokens were used.
    pub fn start(
        store: SharedStore,
        clock: SharedClock,
        watch: AccessWatch,
        stop: CancellationToken,
    ) -> Arc<Self> {
        let (touches, waiting) = mpsc::channel(WAITING_TOUCHES);
        let work = write_touches(store.clone(), waiting);
        tokio::spawn(async move { stop.run_until_cancelled(work).await });
        Arc::new(Self {
            changes: store.follow_access(),
            store,
            clock,
            watch,
            cache: Mutex::default(),
            touches,
        })
    }

    async fn find(&self, secret: &str) -> Result<Option<ApiToken>> {
        let hash = hash(secret);
        // Read before the token is: what changes in between makes the entry old, never wrong.
        let generation = *self.changes.borrow();
        if let Some(token) = self.cached(&hash, generation) {
            return Ok(Some(token));
        }
        let prefix = hash[..8].try_into().expect("eight bytes");
        let candidates = self
            .store
            .reads()
            .list_tokens_by_hash_prefix(prefix)
            .await?;
        let is_same = |token: &ApiToken| {
            constant_time::verify_slices_are_equal(&token.secret_hash, &hash).is_ok()
        };
        let Some(token) = candidates.into_iter().find(is_same) else {
            return Ok(None);
        };
        self.remember(hash, token.clone(), generation);
        Ok(Some(token))
    }

    fn cached(&self, hash: &[u8; 32], generation: u64) -> Option<ApiToken> {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = cache.get(hash)?;
        let is_fresh = entry.generation == generation && entry.read_at.elapsed() < CACHE_TTL;
        is_fresh.then(|| entry.token.clone())
    }

    fn remember(&self, hash: [u8; 32], token: ApiToken, generation: u64) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= CACHE_SIZE {
            cache.retain(|_, entry| entry.read_at.elapsed() < CACHE_TTL);
        }
        if cache.len() >= CACHE_SIZE {
            cache.clear();
        }
        let former = cache.get(&hash).and_then(|entry| entry.touched_at);
        let entry = Cached {
            touched_at: former.max(token.last_used_at),
            token,
            generation,
            read_at: Instant::now(),
        };
        cache.insert(hash, entry);
    }

    /// Notes the use of a token, where the last note is old enough.
    fn touch(&self, token: TokenId, hash: &[u8; 32], at: Timestamp) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = cache.get_mut(hash) else {
            return;
        };
        let is_due = entry
            .touched_at
            .is_none_or(|touched| at.since(touched) >= TOUCH_INTERVAL);
        // A full queue loses the note alone: the next use tries again.
        if is_due && self.touches.try_send(TouchToken { token, at }).is_ok() {
            entry.touched_at = Some(at);
        }
    }
}

#[async_trait]
impl Authenticate for Tokens {
    async fn authenticate(&self, bearer: Option<&str>) -> Result<Caller> {
        let secret = bearer.ok_or_else(|| {
            Error::Unauthenticated(
                "a token is needed: send `Authorization: Bearer <token>`".to_owned(),
            )
        })?;
        let token = self.find(secret).await?.ok_or_else(|| {
            Error::Unauthenticated("the token is unknown or was revoked".to_owned())
        })?;
        let now = self.clock.now();
        if token.expires_at.is_some_and(|expiry| expiry <= now) {
            return Err(Error::Unauthenticated("the token has expired".to_owned()));
        }
        self.touch(token.id, &token.secret_hash, now);
        Ok(Caller::new(token.user, token.id, token.kind))
    }

    async fn revoked(&self, caller: Caller) {
        self.watch.until_token_is_gone(caller).await;
    }
}

async fn write_touches(store: SharedStore, mut waiting: mpsc::Receiver<TouchToken>) {
    while let Some(touch) = waiting.recv().await {
        if let Err(error) = store.run(touch).await {
            warn!(%error, "the use of a token could not be written down");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use domain::ids::UserId;
    use domain::people::TokenKind;
    use tokio_util::sync::DropGuard;

    use super::*;
    use crate::testing::{HandClock, MemoryStore};

    struct Scene {
        tokens: Arc<Tokens>,
        store: Arc<MemoryStore>,
        clock: Arc<HandClock>,
        commands: mpsc::UnboundedReceiver<&'static str>,
        _stop: DropGuard,
    }

    /// One token, `good`, that expires after an hour.
    fn scene() -> Scene {
        let (store, commands) = MemoryStore::new();
        let clock = Arc::new(HandClock::default());
        let token = ApiToken {
            id: TokenId::new(),
            user: UserId::new(),
            label: "a token".into(),
            kind: TokenKind::Personal,
            secret_hash: hash("good"),
            created_at: Timestamp::from_micros(0),
            last_used_at: None,
            expires_at: Some(Timestamp::from_micros(3_600_000_000)),
        };
        store.tokens.lock().expect("not poisoned").push(token);
        let stop = CancellationToken::new();
        let watch = AccessWatch::start(store.clone(), clock.clone(), stop.clone());
        let tokens = Tokens::start(store.clone(), clock.clone(), watch, stop.clone());
        Scene {
            tokens,
            store,
            clock,
            commands,
            _stop: stop.drop_guard(),
        }
    }

    impl Scene {
        async fn is_admitted(&self, secret: Option<&str>) -> bool {
            match self.tokens.authenticate(secret).await {
                Ok(_) => true,
                Err(Error::Unauthenticated(_)) => false,
                Err(error) => panic!("{error}"),
            }
        }

        fn move_clock(&self, seconds: i64) {
            self.clock
                .0
                .fetch_add(seconds * 1_000_000, Ordering::SeqCst);
        }
    }

    #[tokio::test]
    async fn a_good_token_is_admitted_and_others_are_not() {
        let scene = scene();
        assert!(scene.is_admitted(Some("good")).await);
        assert!(!scene.is_admitted(Some("bad")).await);
        assert!(!scene.is_admitted(None).await);
    }

    #[tokio::test]
    async fn a_token_is_refused_from_the_hour_of_its_expiry_though_it_was_just_looked_up() {
        let scene = scene();
        assert!(scene.is_admitted(Some("good")).await);
        scene.move_clock(3_600);
        assert!(!scene.is_admitted(Some("good")).await);
    }

    #[tokio::test]
    async fn a_revoked_token_is_refused_at_once() {
        let scene = scene();
        assert!(scene.is_admitted(Some("good")).await);
        scene.store.tokens.lock().expect("not poisoned").clear();
        scene.store.access.send_modify(|changes| *changes += 1);
        assert!(!scene.is_admitted(Some("good")).await);
    }

    #[tokio::test]
    async fn a_token_that_is_used_often_is_looked_up_once_and_noted_once_a_minute() {
        let mut scene = scene();
        for _ in 0..10 {
            assert!(scene.is_admitted(Some("good")).await);
        }
        assert_eq!(scene.store.looked_up.load(Ordering::SeqCst), 1);
        assert_eq!(scene.commands.recv().await, Some("token.touch"));
        scene.move_clock(59);
        assert!(scene.is_admitted(Some("good")).await);
        assert!(scene.commands.try_recv().is_err());
        scene.move_clock(1);
        assert!(scene.is_admitted(Some("good")).await);
        assert_eq!(scene.commands.recv().await, Some("token.touch"));
    }

    #[test]
    fn secrets_are_long_marked_and_never_alike() {
        let (one, other) = (new_secret(), new_secret());
        assert_ne!(one, other);
        assert!(one.starts_with("atelier_") && one.len() == 8 + 43, "{one}");
    }

    #[test]
    fn the_stored_hash_is_the_plain_sha_256_of_the_secret() {
        let beginning = [0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea];
        assert_eq!(hash("abc")[..8], beginning);
    }
}

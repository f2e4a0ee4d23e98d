//! A search that a test can send away.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use domain::search::{SearchAnswer, SearchIndex, SearchLeg, SearchRequest};

/// A search that finds nothing, and can be away.
#[derive(Default)]
pub(crate) struct Switched(AtomicBool);

impl Switched {
    pub(crate) fn set_away(&self, is_away: bool) {
        self.0.store(is_away, Ordering::SeqCst);
    }
}

#[async_trait]
impl SearchIndex for Switched {
    async fn find(&self, _: &SearchRequest) -> SearchAnswer {
        let missing = if self.0.load(Ordering::SeqCst) {
            vec![SearchLeg::Keyword, SearchLeg::Vector]
        } else {
            Vec::new()
        };
        SearchAnswer {
            missing,
            is_current: true,
            ..SearchAnswer::default()
        }
    }

    fn excerpt(&self, text: &str, _: &str, _: usize) -> String {
        text.to_owned()
    }
}

//! Who is at a work, now and after each change.
//!
//! Presence is not stored: whoever follows sees the present state, and may miss states that were over before it was sent.

use async_graphql::Result;
use domain::document;
use domain::ids::WorkId;
use futures_util::{Stream, stream};
use tokio::sync::watch;

use super::watch::Watch;
use crate::graphql::model::presence::Presence;

struct Reader {
    watch: Watch,
    work: WorkId,
    people: watch::Receiver<Vec<document::Presence>>,
    last: Option<Vec<document::Presence>>,
}

/// Who is at a work.
pub(super) async fn follow(
    watch: Watch,
    work: WorkId,
) -> domain::Result<impl Stream<Item = Result<Vec<Presence>>> + use<>> {
    let people = watch.services.documents.follow_presence(work).await?;
    let reader = Reader {
        watch,
        work,
        people,
        last: None,
    };
    Ok(stream::try_unfold(reader, |mut reader| async move {
        let people = reader.next().await?;
        let shown = people.into_iter().map(Presence).collect();
        Ok(Some((shown, reader)))
    }))
}

impl Reader {
    async fn next(&mut self) -> domain::Result<Vec<document::Presence>> {
        loop {
            self.watch.permit().await?;
            let present = self.people.borrow_and_update().clone();
            if self.last.as_ref() != Some(&present) {
                self.last = Some(present.clone());
                return Ok(present);
            }
            self.watch.wait_for(&mut self.people).await;
            self.reopen().await?;
        }
    }

    /// A document that was closed in between sends nothing any more; its successor does.
    async fn reopen(&mut self) -> domain::Result<()> {
        if self.people.has_changed().is_err() {
            let documents = &self.watch.services.documents;
            self.people = documents.follow_presence(self.work).await?;
        }
        Ok(())
    }
}

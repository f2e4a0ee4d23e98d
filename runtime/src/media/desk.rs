//! The providers as those see them who do not order: what can be made, guides, call backs.

use async_trait::async_trait;
use domain::error::{Error, Result};
use domain::ids::JobId;
use domain::job::{JobTiming, Price, TakeNews, Taken};
use domain::media::{Callback, Capability, Guide, MediaDesk};
use domain::store::{SharedStore, StoreExt as _};
use domain::time::SharedClock;
use domain::turn::Spare;

use super::{CallbackError, Guides, MediaProvider, Providers};

/// The desk of an installation.
pub struct Desk {
    /// Commands and reads.
    pub store: SharedStore,
    /// The hour.
    pub clock: SharedClock,
    /// Who makes what.
    pub providers: Providers,
    /// How things are done well.
    pub guides: Guides,
    /// How long orders are waited for.
    pub timing: JobTiming,
}

fn capabilities_of(provider: &dyn MediaProvider) -> impl Iterator<Item = Capability> {
    let name = provider.name();
    provider.offers().into_iter().map(move |offer| Capability {
        name: offer.name,
        provider: name.to_owned(),
        media: Some(offer.kind),
        description: offer.description,
        inputs: offer.inputs,
        price: match offer.price {
            Price::Known(price) => Some(price),
            Price::Unknown => None,
        },
        available: true,
    })
}

#[async_trait]
impl MediaDesk for Desk {
    fn capabilities(&self) -> Vec<Capability> {
        self.providers
            .list()
            .flat_map(|provider| capabilities_of(&**provider))
            .collect()
    }

    fn guides(&self) -> Vec<Guide> {
        self.guides.list(&self.providers)
    }

    fn can_cancel(&self, provider: &str) -> bool {
        let provider = self.providers.get(provider);
        provider.is_some_and(|provider| provider.abilities().cancels)
    }

    async fn receive(&self, provider: &str, job: JobId, callback: Callback) -> Result<()> {
        let provider = self
            .providers
            .get(provider)
            .ok_or_else(|| Error::not_found("provider", provider))?;
        let now = self.clock.now();
        let (notice, news) = match provider.read_callback(&callback, now) {
            Ok(read) => read,
            Err(error @ CallbackError::Unsigned) => {
                return Err(Error::Unauthenticated(error.to_string()));
            }
            Err(error @ CallbackError::Unreadable(_)) => {
                return Err(Error::Invalid(error.to_string()));
            }
        };
        let found = self.store.reads().list_jobs_by_id(&[job]).await?.pop();
        let found = found
            .filter(|found| found.provider == provider.name())
            .ok_or_else(|| Error::not_found("job", job))?;
        let command = TakeNews {
            workspace: found.workspace,
            job,
            news: vec![news],
            notice: Some(notice),
            timing: self.timing,
            spare: Spare::new(),
            at: now,
        };
        match self.store.run(command).await? {
            Taken::Done(_) | Taken::Repeated => Ok(()),
            Taken::Foreign => Err(Error::not_found("job", job)),
        }
    }
}

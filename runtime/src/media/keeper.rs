//! Looking after orders: sends what is approved, asks about what runs, fetches what is made, settles what is lost (G1 to G5).
//!
//! Invariants
//! - An order is claimed before anything is done for it, and what came of it is stored before anything follows: a process that dies
//!   in between leaves an order that another one judges.
//! - Nothing is held for an order that waits: no task, no connection, no memory.
//! - What is due is read from the store at intervals as well: a lost wake-up costs a delay.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::error::{Error, Result};
use domain::ids::{JobId, WorkspaceId};
use domain::job::{Act, ClaimJob, Job, JobTiming, News, TakeNews, Taken};
use domain::store::StoreExt as _;
use domain::turn::Spare;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{error, warn};

use super::download::Failure;
use super::{Material, MediaOptions, MediaProvider, MediaServices, Providers, Sent, fetch};

/// Orders that are looked up at once.
const DUE: u32 = 64;
/// How often the store is asked without being told.
const INTERVAL: Duration = Duration::from_secs(10);
/// The shortest time between two questions to upstreams: many orders that run at once are not asked about at once.
const PACE: Duration = Duration::from_millis(100);
/// How often what came of an order is written, where the store does not answer.
const WRITINGS: u32 = 8;
/// How long what is under way may take at a stop.
const FAREWELL: Duration = Duration::from_secs(5);

/// Looks after the orders of an installation.
pub struct JobKeeper {
    shared: Arc<Shared>,
    watching: JoinHandle<()>,
}

struct Shared {
    services: MediaServices,
    providers: Providers,
    options: MediaOptions,
    places: Arc<Semaphore>,
    tended: Mutex<HashSet<JobId>>,
    /// Told when an order is let go of.
    freed: Notify,
    next_question: tokio::sync::Mutex<Instant>,
    running: TaskTracker,
    stop: CancellationToken,
}

impl JobKeeper {
    /// Starts; must be called inside a runtime.
    pub fn start(services: MediaServices, providers: Providers, options: MediaOptions) -> Self {
        let shared = Arc::new(Shared {
            services,
            providers,
            options,
            places: Arc::new(Semaphore::new(options.at_once)),
            tended: Mutex::default(),
            freed: Notify::new(),
            next_question: tokio::sync::Mutex::new(Instant::now()),
            running: TaskTracker::new(),
            stop: CancellationToken::new(),
        });
        let watching = tokio::spawn(shared.clone().watch());
        Self { shared, watching }
    }

    /// Ends in order: begins nothing more, and lets what is under way come to its end for a while.
    pub async fn stop(self) {
        self.shared.stop.cancel();
        if let Err(error) = self.watching.await {
            error!(%error, "looking after jobs ended badly");
        }
        self.shared.running.close();
        if tokio::time::timeout(FAREWELL, self.shared.running.wait())
            .await
            .is_err()
        {
            warn!("orders that were being sent or fetched are left to whoever comes next");
        }
    }
}

impl Shared {
    async fn watch(self: Arc<Self>) {
        let mut woken = self.services.store.follow_jobs();
        loop {
            let pause = match self.tend_due().await {
                Ok(pause) => pause,
                Err(error) => {
                    warn!(%error, "due jobs can not be read; trying again");
                    Duration::from_secs(1)
                }
            };
            tokio::select! {
                () = self.stop.cancelled() => return,
                changed = woken.changed() => if changed.is_err() { return },
                () = self.freed.notified() => {}
                () = sleep(pause) => {}
            }
        }
    }

    /// Begins to tend what is due; how long nothing more will be.
    async fn tend_due(self: &Arc<Self>) -> Result<Duration> {
        let reads = self.services.store.reads();
        let now = self.services.clock.now();
        let mut are_busy = false;
        for (workspace, job) in reads.list_due_jobs(now, DUE).await? {
            let Ok(place) = self.places.clone().try_acquire_owned() else {
                // Whoever lets go of an order wakes this.
                return Ok(INTERVAL);
            };
            if !self.tended().insert(job) {
                are_busy = true;
                continue;
            }
            let shared = self.clone();
            self.running.spawn(async move {
                if let Err(error) = shared.tend(workspace, job).await {
                    warn!(job.id = %job, %error, "a job could not be tended; trying again");
                }
                shared.tended().remove(&job);
                drop(place);
                shared.freed.notify_one();
            });
        }
        if are_busy {
            return Ok(INTERVAL);
        }
        let next = reads.next_due_job().await?;
        Ok(next
            .map_or(INTERVAL, |next| next.since(now))
            .clamp(Duration::from_millis(5), INTERVAL))
    }

    fn tended(&self) -> std::sync::MutexGuard<'_, HashSet<JobId>> {
        self.tended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does for an order what is due, and what is due at once after it.
    async fn tend(&self, workspace: WorkspaceId, id: JobId) -> Result<()> {
        loop {
            let command = ClaimJob {
                workspace,
                job: id,
                timing: self.options.timing,
                at: self.services.clock.now(),
            };
            let Some((job, act)) = self.services.store.run(command).await? else {
                return Ok(());
            };
            let Some(provider) = self.providers.get(&job.provider) else {
                return self.without_provider(&job, act).await;
            };
            let news = self.act(&job, act, &**provider).await?;
            let timing = JobTiming {
                poll: provider.first_look().unwrap_or(self.options.timing.poll),
                ..self.options.timing
            };
            self.take(&job, news, timing).await?;
            if self.stop.is_cancelled() {
                return Ok(());
            }
        }
    }

    /// Nobody knows this provider here any more: what was not sent fails, the rest is looked for again later.
    async fn without_provider(&self, job: &Job, act: Act) -> Result<()> {
        let why = format!("the provider {} is not configured here", job.provider);
        let news = match act {
            Act::Send => News::Refused(why),
            Act::Recover => News::Lost(why),
            Act::Settle => News::Settled,
            Act::Look | Act::Cancel | Act::Fetch => {
                warn!(job.id = %job.id, "{why}");
                News::Looked
            }
        };
        self.take(job, news, self.options.timing).await
    }

    async fn act(&self, job: &Job, act: Act, provider: &dyn MediaProvider) -> Result<News> {
        match act {
            Act::Send => self.send(job, provider).await,
            // The same key makes nothing twice, where the upstream says so.
            Act::Recover if provider.abilities().is_idempotent => self.send(job, provider).await,
            Act::Recover => Ok(News::Lost(
                "whoever sent it was lost, and nobody knows whether it arrived".to_owned(),
            )),
            Act::Look => {
                self.wait_for_turn().await;
                Ok(provider.look(job).await)
            }
            Act::Cancel if provider.abilities().cancels => Ok(provider.cancel(job).await),
            Act::Cancel => Ok(provider.look(job).await),
            Act::Settle => Ok(News::Settled),
            Act::Fetch => self.fetch(job, provider).await,
        }
    }

    async fn send(&self, job: &Job, provider: &dyn MediaProvider) -> Result<News> {
        let material = self.material(job, provider).await?;
        if job
            .due_at
            .is_none_or(|due| self.services.clock.now() >= due)
        {
            // Whoever found the order meanwhile has judged it: it may be given up, and its money be back.
            warn!(job.id = %job.id, "an order was claimed too long ago to be sent; fenced");
            return Ok(News::NotSent(
                "whoever claimed it stood still for too long and did not send it".to_owned(),
            ));
        }
        match provider.send(job, &material).await {
            Sent::News(news) => Ok(news),
            Sent::Files(files) => {
                let mut kept = Vec::with_capacity(files.len());
                for bytes in files {
                    let blobs = &*self.services.blobs;
                    kept.push(fetch::keep(blobs, job.workspace, bytes).await?);
                }
                Ok(News::Made(None, kept))
            }
        }
    }

    async fn material(&self, job: &Job, provider: &dyn MediaProvider) -> Result<Material> {
        let works = self
            .services
            .store
            .reads()
            .list_works_by_id(&job.references)
            .await?;
        let references = job
            .references
            .iter()
            .filter_map(|id| works.iter().find(|work| work.id == *id))
            .filter_map(|work| self.services.references.url(work));
        let path = format!("callbacks/{}/{}", provider.name(), job.id);
        let public = self.services.public.as_ref();
        let callback = public
            .filter(|_| provider.abilities().calls_back)
            .and_then(|public| public.join(&path).ok());
        Ok(Material {
            references: references.collect(),
            callback,
        })
    }

    async fn fetch(&self, job: &Job, provider: &dyn MediaProvider) -> Result<News> {
        let services = &self.services;
        let mut stored = job.clone();
        if stored.outputs.is_empty() {
            let mut files = Vec::new();
            for file in job.made.iter().flatten() {
                let wanted = (job, file, self.options.limits);
                match fetch::file(services, provider, wanted).await {
                    Ok(file) => files.push(file),
                    Err(Failure::Final(why)) => return Ok(News::Unfetchable(why)),
                    Err(Failure::Passing(why)) => return Ok(News::NotFetched(why)),
                }
            }
            stored = fetch::store(services, job, files).await?;
        }
        if let Some(why) = fetch::place(services, &stored).await? {
            warn!(job.id = %job.id, why, "a result could not be placed");
        }
        Ok(News::Stored)
    }

    /// Stores what happened, and does not give up as long as the store may come back.
    async fn take(&self, job: &Job, news: News, timing: JobTiming) -> Result<()> {
        let command = TakeNews {
            workspace: job.workspace,
            job: job.id,
            news: vec![news],
            notice: None,
            timing,
            spare: Spare::new(),
            at: self.services.clock.now(),
        };
        for attempt in 1.. {
            match self.services.store.run(command.clone()).await {
                Ok(Taken::Foreign) => {
                    error!(job.id = %job.id, "an upstream answered with the id of another order");
                    return Ok(());
                }
                Ok(_) => return Ok(()),
                Err(Error::Unavailable(source)) if attempt < WRITINGS => {
                    warn!(job.id = %job.id, error = %source, "news of a job can not be stored; trying again");
                    sleep(Duration::from_millis(50 << attempt)).await;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn wait_for_turn(&self) {
        let mut next = self.next_question.lock().await;
        tokio::time::sleep_until(*next).await;
        *next = Instant::now() + PACE;
    }
}

//! Tests of the providers over real sockets, of asking again with a time of its own, and of what may never be seen.
//!
//! What holds for both providers is tested for both: [`vendor::Vendor`] says the same things in the words of each.

mod fake_server;
mod faults;
mod local;
mod replies;
mod requests;
mod retry;
mod secrets;
mod vendor;

use std::sync::Arc;
use std::time::Duration;

use domain::secret::Secret;

use super::*;
use fake_server::FakeServer;
use vendor::Vendor;

const KEY: &str = "sk-hunter2-hunter2";

/// Settings of a provider at this server: no second attempt, little patience.
fn settings(vendor: Vendor, server: &FakeServer) -> ModelSettings {
    ModelSettings {
        base_url: Some(server.url()),
        model: Some("large".to_owned()),
        api_key: Some(Secret::new(KEY)),
        limits: ModelLimits {
            request_time: Duration::from_secs(20),
            ..ModelLimits::default()
        },
        retry: RetryPolicy {
            attempts: 1,
            ..RetryPolicy::default()
        },
        ..ModelSettings::new(vendor.provider())
    }
}

fn client_of(vendor: Vendor, server: &FakeServer) -> Arc<dyn ModelClient> {
    client(&settings(vendor, server)).expect("the settings are good")
}

fn message(speaker: Speaker, text: &str) -> ModelMessage {
    let text = text.to_owned();
    ModelMessage { speaker, text }
}

/// A small request to an executor.
fn request() -> ModelRequest {
    ModelRequest {
        function: Function::Answer,
        model: None,
        messages: vec![
            message(Speaker::System, "You write."),
            message(Speaker::User, "Write a line about rain."),
        ],
        summaries: 0,
        situation: None,
        router: None,
    }
}

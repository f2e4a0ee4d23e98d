//! The studio and GraphiQL in a real browser, against the server that the tests were built with.
//!
//! Invariants
//! - Checks that kill a server start one of their own, at a place of its own; the one that is started here lives on.

use anyhow::{Context, Result};

use crate::process::{command, listen, root};
use crate::server::{Place, Server, TOKEN};
use crate::setup::chromium;
use crate::totals::Totals;

/// Runs the checks of `web/browser`.
pub(crate) fn run() -> Result<Totals> {
    let browser = chromium().context("Chromium is not installed")?;
    let server = Server::start(Place::make("browser-checks")?)?;
    let mortal = Place::make("browser-restarts")?;
    let mut checks = command("node", ["browser/studio.mjs", &server.place.url(), TOKEN]);
    checks.arg(browser).args(mortal.line());
    let heard = listen(checks.current_dir(root().join("web")))?;
    Totals::of_closing_line(&heard.text).context("the checks broke off")
}

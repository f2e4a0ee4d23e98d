//! The studio and GraphiQL in a real browser, against the server that the tests were built with.

use anyhow::{Context, Result};

use crate::process::{command, listen, root};
use crate::server::{Place, Server, TOKEN};
use crate::setup::chromium;
use crate::totals::Totals;

/// Runs the checks of `web/browser`.
pub(crate) fn run() -> Result<Totals> {
    let browser = chromium().context("Chromium is not installed")?;
    let server = Server::start(Place::make("browser-checks")?)?;
    let mut checks = command("node", ["browser/studio.mjs", &server.place.url(), TOKEN]);
    let heard = listen(checks.arg(browser).current_dir(root().join("web")))?;
    Totals::of_closing_line(&heard.text).context("the checks broke off")
}

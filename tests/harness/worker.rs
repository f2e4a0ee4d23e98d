//! A worker: `atelier worker` as a child process, which can be frozen and let go on.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::{Installation, eventually};

/// A running worker; it is killed when the value is dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    log: PathBuf,
}

impl Worker {
    /// Starts one with these settings, and waits until it works.
    pub(crate) async fn start(
        installation: &Installation,
        name: &str,
        settings: &[(&str, &str)],
    ) -> Self {
        let log = installation.folder().join(format!("{name}.log"));
        let said = log.with_extension("out");
        let mut command = installation.command(&["worker"]);
        let child = command
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(File::create(&said).expect("a file for its words"))
            .stderr(File::create(&log).expect("a file for its log"))
            .spawn()
            .expect("the program starts");
        eventually("the worker runs", async || {
            std::fs::read_to_string(&said).is_ok_and(|words| words.contains("running"))
        })
        .await;
        Self { child, log }
    }

    /// Whether it stands still.
    pub(crate) fn is_frozen(&self) -> bool {
        let path = format!("/proc/{}/stat", self.child.id());
        let stat = std::fs::read_to_string(path).expect("the process is there");
        let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
        state == Some(Some('T'))
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) {
        let process = self.child.id().to_string();
        let sent = Command::new("kill").args(["-CONT", &process]).status();
        assert!(sent.expect("`kill` runs").success(), "it can go on");
    }

    /// What it has logged so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).expect("its log can be read")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let ended = self.child.kill().and_then(|()| self.child.wait());
        if let Err(error) = ended {
            eprintln!("a worker stays behind: {error}");
        }
    }
}

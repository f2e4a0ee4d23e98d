//! Running other programs: said before they run, and their failure told with the command that failed.
//!
//! Invariants
//! - Every program runs in the root of the repository unless a folder is named.
//! - A program that is missing is an error that names it, never a silent skip.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in a folder of the repository")
        .to_owned()
}

/// The folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A command in the root of the repository.
pub(crate) fn command<S: AsRef<OsStr>>(
    program: &str,
    arguments: impl IntoIterator<Item = S>,
) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// A call of cargo, written as one would type it; no argument holds a space.
pub(crate) fn cargo(arguments: &str) -> Command {
    command("cargo", arguments.split_whitespace())
}

/// Runs a command to its end and fails where it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = status(command)?;
    if !status.success() {
        bail!("`{}` ended with {status}", line(command));
    }
    Ok(())
}

/// Runs a command to its end and tells how it ended.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    announce(command);
    command
        .status()
        .with_context(|| format!("could not start `{}`", line(command)))
}

/// Runs a command quietly and returns what it printed; fails where it fails, with what it said.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("could not start `{}`", line(command)))?;
    if !output.status.success() {
        bail!(
            "`{}` ended with {}\n{}",
            line(command),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// How a command ended and everything it said, in the order of each stream.
pub(crate) struct Heard {
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// Its output and its messages.
    pub(crate) text: String,
}

/// Runs a command, showing what it says while keeping it to be read.
pub(crate) fn listen(command: &mut Command) -> Result<Heard> {
    announce(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start `{}`", line(command)))?;
    let output = child.stdout.take().expect("it was asked for");
    let messages = child.stderr.take().expect("it was asked for");
    let text = thread::scope(|scope| {
        let messages = scope.spawn(move || relay(messages));
        let mut text = relay(output);
        text.push_str(&messages.join().expect("a relay does not panic"));
        text
    });
    Ok(Heard {
        status: child.wait()?,
        text,
    })
}

/// Shows lines as they come; a stream that breaks off ends what is kept.
fn relay(stream: impl Read) -> String {
    let mut reader = BufReader::new(stream);
    let mut kept = String::new();
    let mut bytes = Vec::new();
    while reader
        .read_until(b'\n', &mut bytes)
        .is_ok_and(|read| read > 0)
    {
        let text = String::from_utf8_lossy(&bytes);
        print!("{text}");
        kept.push_str(&text);
        bytes.clear();
    }
    kept
}

/// Whether a program of this name is found on the path.
pub(crate) fn is_installed(program: &str) -> bool {
    find_program(program).is_some()
}

/// Where a program of this name lies, if it is on the path.
pub(crate) fn find_program(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// Whether this process may do everything on this machine.
pub(crate) fn is_root() -> bool {
    capture(&mut command("id", ["-u"])).is_ok_and(|text| text.trim() == "0")
}

fn announce(command: &Command) {
    println!("+ {}", line(command));
    // The next line may come from another program: what was said before must stand before it.
    let _ = std::io::stdout().flush();
}

/// The command as one would type it.
fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

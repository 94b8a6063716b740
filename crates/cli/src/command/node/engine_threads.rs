//! The threads of the network engine.

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context;

/// The variable from which Zenoh reads how many threads it has for what, before anything else.
const VARIABLE: &str = "ZENOH_RUNTIME";

/// One thread reads, writes and closes all links.
///
/// Zenoh lets one thread read a TLS connection while another one writes to it, and both change its
/// state. Where bytes were changed on the way, that corrupted the memory of a node and ended it.
const ONE_FOR_ALL_LINKS: &str =
    "(rx: (worker_threads: 1), tx: (handover: rx), net: (handover: rx), acc: (handover: rx))";

/// Lets this process begin once more with one thread for all links, unless it was told otherwise:
/// a variable of a process cannot be changed safely once there may be threads.
pub(super) fn begin_with_one() -> anyhow::Result<()> {
    if std::env::var_os(VARIABLE).is_some() {
        return Ok(());
    }
    let program = std::env::current_exe().context("this program cannot be found")?;
    let mut arguments = std::env::args_os();
    let mut again = Command::new(&program);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    let error = again.args(arguments).env(VARIABLE, ONE_FOR_ALL_LINKS).exec();
    Err(error).with_context(|| format!("{} cannot be started once more", program.display()))
}

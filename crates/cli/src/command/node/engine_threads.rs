//! The threads of the network engine.

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context;
use fabnet_net::ONE_THREAD_FOR_LINKS;

/// Lets this process begin once more with one thread for all links, unless it was told otherwise:
/// a variable of a process cannot be changed safely once there may be threads.
pub(super) fn begin_with_one() -> anyhow::Result<()> {
    let (variable, one) = ONE_THREAD_FOR_LINKS;
    if std::env::var_os(variable).is_some() {
        return Ok(());
    }
    let program = std::env::current_exe().context("this program cannot be found")?;
    let mut arguments = std::env::args_os();
    let mut again = Command::new(&program);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    let error = again.args(arguments).env(variable, one).exec();
    Err(error).with_context(|| format!("{} cannot be started once more", program.display()))
}

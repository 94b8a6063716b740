//! Ctrl-C and SIGTERM: the first one ends the work in good order, the second one ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit_code::FAILURE;

/// Installs the signal handler and returns a flag that becomes true with the first signal.
pub(crate) fn interrupt_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let seen = interrupted.clone();
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            // The second signal: the user does not want to wait.
            std::process::exit(i32::from(FAILURE));
        }
    })?;
    Ok(interrupted)
}

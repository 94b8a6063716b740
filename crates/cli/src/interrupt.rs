//! Ctrl-C and SIGTERM: the first time work is ended in good order, the second time at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::IMPOSSIBLE;

/// Becomes true when the command is told to stop.
pub(crate) fn interruption() -> anyhow::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let seen = interrupted.clone();
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(IMPOSSIBLE)); // the second time it is meant
        }
    })?;
    Ok(interrupted)
}

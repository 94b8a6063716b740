//! Telling where the page is, and opening it.

use std::io::IsTerminal;

/// Prints the address of a page, and opens it in a browser if somebody sits at this machine: the
/// standard error is a terminal, and there is a display.
pub(super) fn announce(address: &str) {
    eprintln!("watch it at {address}");
    if std::io::stderr().is_terminal() && has_display() {
        // The address was printed: without a browser, nothing is lost.
        let _ = open::that_detached(address);
    }
}

/// Whether windows can be opened. On Linux and the BSDs a variable says so, also through ssh.
fn has_display() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos")) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

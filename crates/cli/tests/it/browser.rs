//! The page of `fabnet watch` is opened where somebody sits at the machine.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Runs `fabnet watch` on a terminal until it has said where the page is; returns the address that
/// it has opened, if any.
fn watch_on_a_terminal(folder: &Path, display: &str) -> Option<String> {
    let opened = folder.join("opened");
    let browser = folder.join("xdg-open");
    std::fs::write(&browser, format!("#!/bin/sh\necho \"$1\" >{0}.new && mv {0}.new {0}\n", opened.display())).unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    // `script` has a terminal, and gives it to the command.
    let mut terminal = Command::new("script")
        .args(["-qec", &format!("{} watch --seed 1", env!("CARGO_BIN_EXE_fabnet")), "/dev/null"])
        .envs([("PATH", path.as_str()), ("DISPLAY", display), ("WAYLAND_DISPLAY", "")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(terminal.stdout.take().unwrap()).lines();
    let said = lines.map_while(Result::ok).find_map(|line| Some(line.split_once("watch it at ")?.1.trim().to_owned()));
    let mut address = None;
    for _ in 0..if display.is_empty() { 5 } else { 100 } {
        address = address.or_else(|| std::fs::read_to_string(&opened).ok());
        if address.is_none() {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    let address = address.map(|address| address.trim().to_owned());
    assert!(address.is_none() || address == said, "{address:?} was opened, and {said:?} was said");
    address
}

#[test]
fn a_browser_is_opened_where_there_is_a_display() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(watch_on_a_terminal(folder.path(), ""), None);
    let address = watch_on_a_terminal(folder.path(), ":7").expect("an address was opened");
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");
}

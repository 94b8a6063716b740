//! Nodes that leave a run announce it and are forgotten by the others.
#![cfg(feature = "net")]
#![allow(clippy::disallowed_methods, reason = "nodes live in time")]

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::stage::{RUN, Stage};

#[test]
fn who_is_told_to_leave_writes_down_where_it_is_says_so_and_is_gone_within_ten_seconds() {
    let stage = Stage::new();
    let mut third = stage.start(&stage.config(2, RUN));
    stage.wait(|status| status.agents[0].members == 3);
    // The third node takes part in some rounds.
    let round = stage.wait(|_| true)[0].agents[0].round;
    stage.wait(|status| status.agents[0].round > round + 40);

    kill_process(Pid::from_raw(third.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    let told = Instant::now();
    let code = third.wait().unwrap();
    assert!(code.success() && told.elapsed() < Duration::from_secs(10), "{code} after {:?}", told.elapsed());
    // The others know at once, because it announced it; its silence alone would take them longer.
    let statuses = stage.wait(|status| status.agents[0].members == 2);
    assert!(told.elapsed() < Duration::from_secs(12), "{:?}", told.elapsed());
    stage.unharmed();
    let checkpoints = std::fs::read_dir(stage.path("gamma/2")).unwrap();
    let names: Vec<String> = checkpoints.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().any(|name| name.ends_with(".safetensors")), "{names:?}");

    // It comes back and continues in a later round.
    let left_at = statuses[0].agents[0].round;
    let mut again = stage.start(&stage.config(2, RUN));
    stage.wait(|status| status.agents[0].members == 3 && status.agents[0].round > left_at);
    again.kill().unwrap();
    again.wait().unwrap();
}

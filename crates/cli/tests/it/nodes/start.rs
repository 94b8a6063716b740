//! When a run begins: with everybody, or not at all.

use std::time::{Duration, Instant};

use super::run::{Nodes, kill, send};
use fabnet_core::rng::{Purpose, Stream};
use rustix::process::Signal;

/// Seconds within which nodes start; `FABNET_APART=60` tries what takes longer.
fn apart() -> f64 {
    std::env::var("FABNET_APART").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(6.0)
}

#[test]
fn nodes_that_start_apart_in_any_order_find_the_answer_together() {
    for seed in 0..2 {
        let nodes = Nodes::new(3, 1200, "");
        let mut delays: Vec<(Duration, usize)> = (0..3)
            .map(|node| (Stream::new(seed, node, 0, Purpose::Faults).open01() * apart(), node))
            .map(|(seconds, node)| (Duration::from_secs_f64(seconds), node))
            .collect();
        delays.sort();
        let start = Instant::now();
        let mut running: Vec<_> = (0..3).map(|_| None).collect();
        for (delay, node) in delays {
            std::thread::sleep(delay.saturating_sub(start.elapsed()));
            running[node] = Some(nodes.start(node));
        }
        let mut running: Vec<_> = running.into_iter().flatten().collect();
        nodes.all_end_well(&mut running);
        nodes.assert_right();
        println!("seed {seed}: errors {:?}", nodes.errors_in("together"));
    }
}

#[test]
fn a_run_without_some_member_does_not_begin_and_names_it() {
    let nodes = Nodes::new(3, 400, "start_within = 8");
    let mut running = [nodes.start(0), nodes.start(2)];
    for node in &mut running {
        assert_eq!(nodes.end(node), 1);
    }
    // The first to give up says farewell, and is not named by the other.
    for name in ["n0", "n2"] {
        let log = nodes.log(name);
        assert!(log.contains("2 of 3 members were heard, `n1` not"), "{log}");
        assert!(!log.contains("the first round begins"), "{log}");
    }
    let output = nodes.collect("together", &[]);
    assert_eq!(output.status.code(), Some(1), "nobody has recorded anything");
}

/// Fewer members are enough if the plan says so, a node joins a run that is under way however many
/// are down, and whoever is missing at the end is named.
#[test]
fn a_run_begins_with_as_many_members_as_are_wanted_and_others_join_at_once() {
    let nodes = Nodes::new(4, 1500, "start = 2\nstart_within = 20");
    let mut running = vec![nodes.start(0), nodes.start(1)];
    nodes.wait(0, |status| status.agents[0].round > 100);
    let told = Instant::now();
    running.push(nodes.start(2));
    nodes.wait(2, |status| status.begun);
    assert!(told.elapsed() < Duration::from_secs(8), "{:?}", told.elapsed());
    // Killed and started again, it does not wait for the one that is missing either.
    kill(&mut running[2]);
    running[2] = nodes.start(2);
    for (number, node) in running.iter_mut().enumerate() {
        assert_eq!(nodes.end(node), 1);
        let log = nodes.log(&format!("n{number}"));
        assert!(log.contains("`n3` were not heard in the last tenth"), "{log}");
    }
    let output = nodes.collect("together", &[]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && message.contains("agent 3 has recorded nothing"), "{message}");
}

#[test]
fn who_has_left_or_died_is_not_waited_for() {
    let nodes = Nodes::new(4, 3000, "");
    let mut running = nodes.start_all();
    nodes.wait(0, |status| status.agents[0].round > 100);
    send(&running[2], Signal::TERM);
    assert_eq!(nodes.end(&mut running[2]), 0, "{}", nodes.logs());
    kill(&mut running[3]);
    for node in &mut running[..2] {
        assert_eq!(nodes.end(node), 0, "{}", nodes.logs());
    }
    // Their records end early, which is said.
    let output = nodes.collect("together", &[]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("agent 2 end with round") && message.contains("agent 3 end with round"), "{message}");
}

/// A second process with the same name, in a folder of its own: reported, and no wrong answer.
#[test]
fn two_processes_that_act_as_one_member_are_reported() {
    let nodes = Nodes::new(3, 3000, "");
    let mut running = nodes.start_all();
    nodes.wait(0, |status| status.agents[0].round > 50);
    let mut twin = nodes.configs[2].clone();
    twin.state = "twin".into();
    twin.http = None;
    // It calls the others from another address, as from another machine.
    let port = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    twin.members[2].address = format!("127.0.0.1:{port}");
    let mut second = nodes.start_as(&twin, "twin");
    nodes.wait(0, |status| status.doubles == ["n2"]);
    let codes: Vec<i32> = running.iter_mut().map(|node| nodes.end(node)).collect();
    assert_eq!(codes, [1, 1, 1], "{}", nodes.logs());
    assert_eq!(nodes.end(&mut second), 1, "{}", nodes.log("twin"));
    for name in ["n0", "n1", "n2", "twin"] {
        assert!(nodes.log(name).contains("two processes acted as `n2`"), "{name}: {}", nodes.log(name));
    }
}

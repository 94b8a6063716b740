//! `fabnet faults`.

use std::ops::Range;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clap::Args;
use fabnet_sim::{Failure, Fault, NAMED, Scenario, Swarm, run};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::Threads;
use crate::failure::{IMPOSSIBLE, Usage};
use crate::interrupt::interruption;
use crate::say::say;
use crate::table::aligned;

#[derive(Args)]
#[command(
    after_help = "Every seed draws a network, a method and some of the faults, at random rates; every invariant is checked at every event. \
docs/protocol.md says what is checked.

Examples:
  fabnet faults --seeds 0..1000
  fabnet faults --scenario rolling-restart
  fabnet faults --replay 4711

Ctrl-C prints the results of the seeds that were run, and exits with code 1."
)]
pub(crate) struct Faults {
    /// Which seeds: how many, or a range without its end
    #[arg(long, default_value = "0..1000", value_parser = seeds)]
    seeds: Range<u64>,
    /// Repeat one seed and say what happens in it
    #[arg(long, value_name = "SEED", conflicts_with = "seeds")]
    replay: Option<u64>,
    /// Always these faults instead of random ones: a name, or `list` for all names
    #[arg(long, value_name = "NAME")]
    scenario: Option<String>,
    /// Print results as JSON, with how often each fault happened
    #[arg(long)]
    json: bool,
    /// Print nothing but results
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    threads: Threads,
}

/// `100` or `0..100`.
fn seeds(text: &str) -> Result<Range<u64>, String> {
    let number = |text: &str| text.trim().parse::<u64>().map_err(|error| error.to_string());
    match text.split_once("..") {
        Some((from, to)) => Ok(number(from)?..number(to)?),
        None => Ok(0..number(text)?),
    }
    .and_then(|seeds| if seeds.is_empty() { Err("there is no seed in it".to_owned()) } else { Ok(seeds) })
}

impl Faults {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        if self.scenario.as_deref() == Some("list") {
            say(aligned(
                &NAMED.iter().map(|(name, about, _)| vec![(*name).into(), (*about).into()]).collect::<Vec<_>>(),
            ));
            return Ok(ExitCode::SUCCESS);
        }
        let name = self.scenario.as_deref();
        let scenario = |seed: u64| name.map_or(Some(Scenario::from_seed(seed)), |name| Scenario::named(name, seed));
        if scenario(0).is_none() {
            let known: Vec<&str> = NAMED.iter().map(|(name, _, _)| *name).collect();
            return Err(Usage(format!("--scenario: there is no such one; known are {}", known.join(", "))).into());
        }
        let scenario = |seed: u64| scenario(seed).expect("the name is known");
        if let Some(seed) = self.replay {
            let scenario = scenario(seed);
            let outcome = run(&scenario, true);
            let failed = outcome.violation.is_some();
            tell(&Failure { scenario, outcome }, name);
            return Ok(if failed { ExitCode::from(IMPOSSIBLE) } else { ExitCode::SUCCESS });
        }
        let bar = if self.quiet { ProgressBar::hidden() } else { ProgressBar::new(self.count()) };
        bar.set_style(ProgressStyle::with_template("{bar:32} {pos}/{len} seeds  {per_sec}  {eta} left")?);
        let interrupted = interruption()?;
        let goes_on = || !interrupted.load(Ordering::Relaxed);
        let swarm = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads.count())
            .build()?
            .install(|| Swarm::run(self.seeds.clone(), scenario, goes_on, || bar.inc(1)));
        bar.finish_and_clear();
        self.report(&swarm, bar.elapsed().as_secs_f64());
        let unfinished = swarm.seeds < self.count();
        if unfinished {
            eprintln!("stopped after {} of {} seeds", swarm.seeds, self.count());
        }
        let failed = unfinished || !swarm.failures.is_empty();
        Ok(if failed { ExitCode::from(IMPOSSIBLE) } else { ExitCode::SUCCESS })
    }

    /// How many seeds were asked for.
    fn count(&self) -> u64 {
        self.seeds.end.saturating_sub(self.seeds.start)
    }

    fn report(&self, swarm: &Swarm, seconds: f64) {
        if self.json {
            let faults: serde_json::Map<String, _> =
                Fault::ALL.iter().map(|&fault| (fault.to_string(), json!(swarm.faults[fault]))).collect();
            let failures: Vec<_> = swarm
                .failures
                .iter()
                .map(|failure| json!({ "seed": failure.scenario.seed, "violation": failure.outcome.violation }))
                .collect();
            say(json!({
                "seeds": swarm.seeds, "asked": self.count(), "violations": failures, "peer_rounds": swarm.peer_rounds, "seconds": seconds, "faults": faults,
                "longest": { "events": swarm.longest.0, "seed": swarm.longest.1 },
                "converged": { "seeds": swarm.converged.0, "ticks_at_most": swarm.converged.1 },
                "trace": format!("{:016x}", swarm.trace),
            }));
            return;
        }
        swarm.failures.iter().for_each(|failure| tell(failure, self.scenario.as_deref()));
        let row = |fault: &Fault| vec![fault.to_string(), swarm.faults[*fault].to_string()];
        say(aligned(&Fault::ALL.iter().filter(|fault| swarm.faults[**fault] > 0).map(row).collect::<Vec<_>>()));
        let (converged, ticks) = swarm.converged;
        say(format!(
            "{converged} seeds were run until the solution, the last was there {ticks} ticks after its faults; the longest simulation has {} events (seed {})",
            swarm.longest.0, swarm.longest.1
        ));
        let speed = swarm.peer_rounds as f64 / seconds / self.threads.count() as f64;
        say(format!("{speed:.0} peer-rounds per second and thread"));
        say(format!(
            "{} seeds, {} violations, {} peer-rounds, {seconds:.1} s",
            swarm.seeds,
            swarm.failures.len(),
            swarm.peer_rounds
        ));
    }
}

/// What happened with a seed.
fn tell(failure: &Failure, name: Option<&str>) {
    let Failure { scenario, outcome } = failure;
    outcome.log.iter().for_each(say);
    let faults: Vec<String> = scenario.faults().map(|fault| format!("{fault} {:.2}", scenario.rates[fault])).collect();
    say(format!(
        "seed {}: {} nodes, {:?}, {:?}, {:?}, {} ticks of faults: {}",
        scenario.seed,
        scenario.nodes,
        scenario.network,
        scenario.method,
        scenario.pace,
        scenario.chaos,
        if faults.is_empty() { "none".to_owned() } else { faults.join(", ") }
    ));
    match &outcome.violation {
        Some(violation) => {
            let name = name.map_or_else(String::new, |name| format!(" --scenario {name}"));
            say(format!("violation: {violation}\nrepeat it with: fabnet faults --replay {}{name}", scenario.seed));
        }
        None => say(format!(
            "no violation; settled {} ticks after the last fault{}; trace {:016x}",
            outcome.settled_after.unwrap_or_default(),
            outcome.converged_after.map_or_else(String::new, |ticks| format!(", at the solution after {ticks}")),
            outcome.trace
        )),
    }
}

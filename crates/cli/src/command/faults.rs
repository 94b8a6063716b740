//! `fabnet faults`: simulates peers under random faults, and checks every invariant.

use std::ops::Range;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clap::Args;
use fabnet_sim::{Failure, Fault, NAMED, Scenario, SeedSweep, run};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::options::Threads;
use crate::exit_code::{FAILURE, UsageError};
use crate::interrupt::interrupt_flag;
use crate::output::print_line;
use crate::table::aligned;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet faults --seeds 0..1000
  fabnet faults --scenario rolling-restart
  fabnet faults --replay 4711

Every seed draws a network, a method and some of the faults, at random rates. Every invariant is \
checked after every event; docs/protocol.md lists them.

Ctrl-C prints the results of the seeds that were run, and the exit code is 1.")]
pub(crate) struct Faults {
    /// The seeds: how many, or a range without its end
    #[arg(long, default_value = "0..1000", value_parser = parse_seeds)]
    seeds: Range<u64>,
    /// Repeat one seed and print its events
    #[arg(long, value_name = "SEED", conflicts_with = "seeds")]
    replay: Option<u64>,
    /// Use the faults of a named scenario instead of random ones; `list` prints all names
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

/// Reads seeds as they are typed: `100` or `0..100`.
fn parse_seeds(text: &str) -> Result<Range<u64>, String> {
    let number = |text: &str| text.trim().parse::<u64>().map_err(|error| error.to_string());
    let seeds = match text.split_once("..") {
        Some((from, to)) => number(from)?..number(to)?,
        None => 0..number(text)?,
    };
    if seeds.is_empty() { Err("there is no seed in it".to_owned()) } else { Ok(seeds) }
}

/// The name of a scenario is not known.
pub(crate) fn unknown_scenario() -> UsageError {
    let known: Vec<&str> = NAMED.iter().map(|(name, _, _)| *name).collect();
    UsageError(format!("--scenario: there is no such one; known are {}", known.join(", ")))
}

impl Faults {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        if self.scenario.as_deref() == Some("list") {
            print_line(scenario_table());
            return Ok(ExitCode::SUCCESS);
        }
        if self.find_scenario(0).is_none() {
            return Err(unknown_scenario().into());
        }
        let failed = match self.replay {
            Some(seed) => self.replay_seed(seed),
            None => self.run_seeds()?,
        };
        Ok(if failed { ExitCode::from(FAILURE) } else { ExitCode::SUCCESS })
    }

    /// The named scenario, or the random one of a seed; none if no scenario has the name.
    fn find_scenario(&self, seed: u64) -> Option<Scenario> {
        self.scenario.as_deref().map_or(Some(Scenario::from_seed(seed)), |name| Scenario::named(name, seed))
    }

    fn scenario_of(&self, seed: u64) -> Scenario {
        self.find_scenario(seed).expect("the name is known")
    }

    /// Repeats one seed with its events; returns whether an invariant was violated.
    fn replay_seed(&self, seed: u64) -> bool {
        let scenario = self.scenario_of(seed);
        let outcome = run(&scenario, true);
        let failed = outcome.violation.is_some();
        print_outcome(&Failure { scenario, outcome }, self.scenario.as_deref());
        failed
    }

    /// Runs all seeds; returns whether an invariant was violated or some seeds were not run.
    fn run_seeds(&self) -> anyhow::Result<bool> {
        let bar = self.progress_bar()?;
        let interrupted = interrupt_flag()?;
        let goes_on = || !interrupted.load(Ordering::Relaxed);
        let swarm = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads.count())
            .build()?
            .install(|| SeedSweep::run(self.seeds.clone(), |seed| self.scenario_of(seed), goes_on, || bar.inc(1)));
        bar.finish_and_clear();
        self.print(&swarm, bar.elapsed().as_secs_f64());
        let unfinished = swarm.seeds < self.count();
        if unfinished {
            eprintln!("stopped after {} of {} seeds", swarm.seeds, self.count());
        }
        Ok(unfinished || !swarm.failures.is_empty())
    }

    fn progress_bar(&self) -> anyhow::Result<ProgressBar> {
        let bar = if self.quiet { ProgressBar::hidden() } else { ProgressBar::new(self.count()) };
        bar.set_style(ProgressStyle::with_template("{bar:32} {pos}/{len} seeds  {per_sec}  {eta} left")?);
        Ok(bar)
    }

    /// The number of seeds that were asked for.
    fn count(&self) -> u64 {
        self.seeds.end.saturating_sub(self.seeds.start)
    }

    fn print(&self, swarm: &SeedSweep, seconds: f64) {
        if self.json {
            print_line(self.json_report(swarm, seconds));
        } else {
            self.print_report(swarm, seconds);
        }
    }

    fn json_report(&self, swarm: &SeedSweep, seconds: f64) -> serde_json::Value {
        let faults: serde_json::Map<String, _> =
            Fault::ALL.iter().map(|&fault| (fault.to_string(), json!(swarm.faults[fault]))).collect();
        let violation =
            |failure: &Failure| json!({ "seed": failure.scenario.seed, "violation": failure.outcome.violation });
        let violations: Vec<_> = swarm.failures.iter().map(violation).collect();
        json!({
            "seeds": swarm.seeds,
            "asked": self.count(),
            "violations": violations,
            "peer_rounds": swarm.peer_rounds,
            "seconds": seconds,
            "faults": faults,
            "longest": { "events": swarm.longest.0, "seed": swarm.longest.1 },
            "converged": { "seeds": swarm.converged.0, "ticks_at_most": swarm.converged.1 },
            "trace": format!("{:016x}", swarm.trace),
        })
    }

    fn print_report(&self, swarm: &SeedSweep, seconds: f64) {
        swarm.failures.iter().for_each(|failure| print_outcome(failure, self.scenario.as_deref()));
        let row = |fault: &Fault| vec![fault.to_string(), swarm.faults[*fault].to_string()];
        print_line(aligned(&Fault::ALL.iter().filter(|fault| swarm.faults[**fault] > 0).map(row).collect::<Vec<_>>()));
        let (converged, ticks) = swarm.converged;
        let (events, seed) = swarm.longest;
        print_line(format!(
            "{converged} seeds were run until they converged, the slowest {ticks} ticks after its last fault; \
             the longest simulation has {events} events (seed {seed})"
        ));
        let speed = swarm.peer_rounds as f64 / seconds / self.threads.count() as f64;
        print_line(format!("{speed:.0} peer-rounds per second and thread"));
        let (seeds, violations, rounds) = (swarm.seeds, swarm.failures.len(), swarm.peer_rounds);
        print_line(format!("{seeds} seeds, {violations} violations, {rounds} peer-rounds, {seconds:.1} s"));
    }
}

/// The named scenarios, each with a line that describes it.
fn scenario_table() -> String {
    aligned(&NAMED.iter().map(|(name, about, _)| vec![(*name).into(), (*about).into()]).collect::<Vec<_>>())
}

/// Prints the events of a seed, its scenario, and the violation with the command that repeats it.
fn print_outcome(failure: &Failure, name: Option<&str>) {
    let Failure { scenario, outcome } = failure;
    outcome.log.iter().for_each(print_line);
    print_line(describe(scenario));
    match &outcome.violation {
        Some(violation) => {
            let name = name.map_or_else(String::new, |name| format!(" --scenario {name}"));
            print_line(format!(
                "violation: {violation}\nrepeat it with: fabnet faults --replay {}{name}",
                scenario.seed
            ));
        }
        None => print_line(format!(
            "no violation; settled {} ticks after the last fault{}; trace {:016x}",
            outcome.settled_after.unwrap_or_default(),
            outcome.converged_after.map_or_else(String::new, |ticks| format!(", converged after {ticks}")),
            outcome.trace
        )),
    }
}

fn describe(scenario: &Scenario) -> String {
    let Scenario { seed, nodes, network, method, pace, chaos, .. } = scenario;
    let faults: Vec<String> = scenario.faults().map(|fault| format!("{fault} {:.2}", scenario.rates[fault])).collect();
    let faults = if faults.is_empty() { "none".to_owned() } else { faults.join(", ") };
    format!("seed {seed}: {nodes} nodes, {network:?}, {method:?}, {pace:?}, {chaos} ticks of faults: {faults}")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct TestFaults {
        #[command(flatten)]
        faults: Faults,
    }

    fn parse(line: &str) -> Faults {
        TestFaults::try_parse_from(line.split(' ')).map(|line| line.faults).unwrap()
    }

    #[test]
    fn seeds_are_a_number_or_a_range_that_is_not_empty() {
        assert_eq!(parse_seeds("100"), Ok(0..100));
        assert_eq!(parse_seeds("5..9"), Ok(5..9));
        assert_eq!(parse_seeds("5 .. 9"), Ok(5..9));
        for wrong in ["0", "5..5", "9..5", "", "..", "5..", "-1", "1e3", "five"] {
            assert!(parse_seeds(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse("faults").count(), 1000);
        assert_eq!(parse("faults --seeds 7..17").count(), 10);
    }

    #[test]
    fn every_named_scenario_is_found_and_no_other() {
        for (name, _, _) in NAMED {
            let scenario = parse(&format!("faults --scenario {name}")).find_scenario(3).unwrap();
            assert_eq!(scenario.seed, 3, "{name}");
            assert!(scenario_table().contains(name));
        }
        let error = parse("faults --scenario rolling-restrat").execute().unwrap_err();
        assert!(error.is::<UsageError>() && error.to_string().contains("rolling-restart"), "{error}");
    }
}

//! The report of a check as a text.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result};

use super::criteria::StepSizes;
use super::extrapolation::Forecast;
use super::network::NetworkReport;
use super::report::{Check, GroupReport, Total, Verdict};
use super::trial::Trial;
use crate::number::{bytes, count};

impl Display for Check {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.networks.iter().try_for_each(|network| write!(f, "{network}"))?;
        self.groups.iter().try_for_each(|group| write!(f, "{group}"))?;
        if !self.groups.is_empty() {
            write!(f, "{}", self.total)?;
        }
        writeln!(f, "not checked: {} (this check took {})", self.not_checked.join("; "), duration(self.seconds))?;
        for warning in &self.warnings {
            let group = warning.group.as_ref().map_or(String::new(), |group| format!("{group}: "));
            writeln!(f, "warning: {group}{}", warning.message)?;
        }
        self.obstacles.iter().try_for_each(|obstacle| writeln!(f, "impossible: {obstacle}"))?;
        f.write_str(match self.verdict {
            Verdict::Ok => "verdict: no problem found",
            Verdict::Warnings => "verdict: this can run, with the warnings above",
            Verdict::Impossible => "verdict: this cannot work",
        })
    }
}

impl Display for Total {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let available = |available| format!(" of {} available", bytes(available));
        writeln!(
            f,
            "all {} runs on {} threads: about {}, if none stops early; {} of memory{}",
            count(self.runs as f64),
            self.threads,
            duration(self.seconds),
            bytes(self.memory_bytes),
            self.available_bytes.map_or(String::new(), available)
        )
    }
}

impl Display for NetworkReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let agents = count(self.agents as f64);
        writeln!(f, "network: {agents} agents, {}, {} mixing weights", self.topology, self.weights)?;
        if let Some(place) = &self.place {
            fact(f, "as the method has it", place)?;
        }
        if let Some(chosen) = &self.chosen {
            fact(f, "chosen", chosen)?;
        }
        let repeats = if self.period.is_some() { "the graphs repeat every" } else { "judged by the first" };
        fact(f, "rounds", &format!("{repeats} {}", self.rounds))?;
        fact(f, "connected", &self.connected_text())?;
        fact(f, "information", &self.spread_text())?;
        let converged = if self.inexact.contains(&"kappa") { " (power iteration has not converged)" } else { "" };
        fact(f, "κ = n·Σᵢ αᵢβᵢ", &format!("{:.3}{converged}: the effective step size is κ·η", self.kappa))?;
        let links = if self.positive { "both positive on links and diagonal" } else { "not positive on every link" };
        let sums = format!("rows of A and columns of B sum to 1 (to {:.0e}), {links}", self.deviation);
        fact(f, "A and B", &sums)?;
        let [a, b] = self.smallest;
        fact(f, "smallest weights", &format!("a = {a:.4}, b = {b:.4}"))?;
        fact(f, "messages", &format!("{:.2} per agent and round", self.messages))
    }
}

impl NetworkReport {
    /// How the agents are connected.
    fn connected_text(&self) -> String {
        let equal = if self.inexact.contains(&"window") { '≤' } else { '=' };
        match self.window {
            Some(1) => "strongly, in every round (C = 1)".to_owned(),
            Some(window) => format!("jointly strongly, over every {window} successive rounds (C {equal} {window})"),
            None => "never, not even jointly".to_owned(),
        }
    }

    /// How soon information reaches all agents.
    fn spread_text(&self) -> String {
        let bound = if self.inexact.contains(&"spread") { " (an upper bound)" } else { "" };
        match self.spread {
            Some(spread) => format!("from any agent reaches all within {spread} rounds{bound}"),
            None => "from some agents never reaches all".to_owned(),
        }
    }
}

impl Display for GroupReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "{}: {} on {}", self.label, self.algorithm, self.problem)?;
        let noise = if self.noisy { ", noisy gradients" } else { "" };
        fact(f, "problem", &format!("{} outer and {} inner variables{noise}", self.outer, self.inner))?;
        write!(f, "{}", self.step_sizes)?;
        if let Some(rounds) = self.step_sizes.plan.as_ref().and_then(|plan| plan.rounds(self.rounds)) {
            fact(f, "rounds", &rounds)?;
        }
        self.trials.iter().try_for_each(|trial| fact(f, "trial run", &trial.text(self.rounds)))?;
        let needs = &self.needs;
        let memory = format!(
            "{} (graphs {}, states {}, data {})",
            bytes(needs.bytes()),
            bytes(needs.graph_bytes),
            bytes(needs.state_bytes),
            bytes(needs.data_bytes)
        );
        fact(f, "memory of a run", &memory)?;
        let sent =
            format!("{} per agent, {}-byte payload per message", bytes(self.bytes_per_agent), self.message_bytes);
        fact(f, "sent in a run", &sent)?;
        if !self.word_bytes.is_empty() {
            let each: Vec<_> =
                self.word_bytes.iter().map(|(bits, payload)| format!("{payload} bytes in {bits} bits")).collect();
            fact(f, "payload in words", &format!("{} (docs/wire.md)", each.join(", ")))?;
        }
        fact(f, "time of a run", &format!("{}, if it does not stop early", duration(self.seconds)))
    }
}

impl Display for StepSizes {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(plan) = &self.plan {
            fact(f, "automatic step sizes", &named(&plan.sizes))?;
            fact(f, "because", &plan.reason())?;
            fact(f, "mixing", &plan.mixing())?;
        }
        if let Some(given) = &self.given {
            fact(f, "given step sizes", &named(given))?;
        }
        if let (Some(tolerated), Some(fraction)) = (self.tolerated_lower, self.tolerated_fraction) {
            let limit =
                format!("up to {tolerated:.2e} ({fraction} of the inverse of the largest curvature at the start)");
            fact(f, "consensus needs η", &limit)?;
        }
        if let (Some(mass), Some(sigma)) = (self.coupling, self.jacobian) {
            let text = format!("η_x (1/η_z − 1/η_y) σ_max(J)² = {mass:.2} with σ_max(J) = {sigma:.2}: stable below 1");
            fact(f, "y and z", &text)?;
        }
        Ok(())
    }
}

impl Trial {
    /// What the trial showed of a run of this many rounds.
    fn text(&self, of: u64) -> String {
        let forecast = match self.forecast {
            Forecast::Diverged => "it diverged",
            Forecast::Diverges => "it grows so fast that the run will diverge",
            Forecast::Stable => "nothing grows so fast that the run would diverge",
            Forecast::Unclear => "too short to tell whether the run diverges",
        };
        let growth = self.growth.map_or(String::new(), |growth| format!(" (factor {growth:.5} a round)"));
        format!("seed {}: {} of {of} rounds in {}: {forecast}{growth}", self.seed, self.rounds, duration(self.seconds))
    }
}

/// Lists step sizes by name.
fn named(sizes: &BTreeMap<String, f64>) -> String {
    sizes.iter().map(|(name, size)| format!("{name} = {size:.3}")).collect::<Vec<_>>().join(", ")
}

/// Writes a line with a name and a value.
fn fact(f: &mut Formatter<'_>, name: &str, value: &str) -> Result {
    writeln!(f, "  {name:<22} {value}")
}

/// Writes a duration in seconds, minutes or hours.
fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 120.0 => format!("{seconds:.1} s"),
        seconds if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

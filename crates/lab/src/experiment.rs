//! Experiments: a file as typed becomes a resolved plan, or a list of everything that is wrong with it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fabnet_core::peer;
use fabnet_core::settings::{Keys, Value};

use fabnet_sim::Lossy;

use crate::engine::{Delivery, Faults};
use crate::mistake::{Mistakes, Origin};
use crate::plan::{Plan, Precision, Target};
use crate::resolver::resolve;
use crate::solution::Solutions;
use crate::tree::{Entry, Node, Table};

/// A file as typed.
#[derive(Clone, Debug)]
pub struct Experiment {
    file: PathBuf,
    root: Table,
}

impl Experiment {
    /// Reads a file.
    pub fn read(file: &Path) -> Result<Self, Mistakes> {
        let text = std::fs::read_to_string(file).map_err(|error| {
            let hint = if file.is_dir() { "it is a folder, give the file in it" } else { "check the path" };
            Mistakes::one(file, Origin::Missing, "", format!("cannot be read ({error}): {hint}"))
        })?;
        Self::parse(&text, file)
    }

    /// Reads a text; paths in it are relative to the file.
    pub fn parse(text: &str, file: &Path) -> Result<Self, Mistakes> {
        Ok(Self { file: file.to_owned(), root: Table::parse(text, file)? })
    }

    /// Takes `key=value` into account, with a dotted path into the file.
    pub fn set(&mut self, assignment: &str) -> Result<(), Mistakes> {
        self.root.set(assignment, &self.file)
    }

    /// Takes other seeds instead: a number of them, or a range.
    pub fn set_seeds(&mut self, seeds: &str) {
        let origin = Origin::Flag(format!("--seeds {seeds}"));
        let value = seeds.parse().map_or_else(|_| Value::from(seeds), Value::Whole);
        self.root.put("seeds", Entry { node: Node::Value(value), origin });
    }

    /// Resolves every value.
    pub fn plan(&self) -> Result<Plan, Mistakes> {
        resolve(&self.root, &self.file)
    }
}

/// What is set for a run outside of sections: agents, rounds, precision.
pub(crate) fn run_settings(keys: &mut Keys<'_>) -> (usize, u64, Precision) {
    let agents = keys.whole("agents", 10, 1..=10_000_000, "how many agents hold a part of the problem");
    let rounds = keys.whole("rounds", 10_000, 1.., "how many rounds at most; a round is one exchange");
    let precisions = [("f64", Precision::F64), ("f32", Precision::F32)];
    (
        agents as usize,
        rounds,
        keys.choice("precision", &precisions, "the scalars of the run, in memory and as bytes are counted"),
    )
}

/// `[faults]`.
pub(crate) fn fault_settings(keys: &mut Keys<'_>) -> Faults {
    let lossy = Lossy {
        loss: keys.number("loss", 0.0, 0.0..1.0, "the part of all messages that is lost"),
        delay: keys.whole("delay", 0, ..=10_000, "messages take up to so many rounds longer"),
        duplicate: keys.number("duplicate", 0.0, 0.0..=1.0, "the part of all messages that arrives twice"),
        activity: keys.number("activity", 1.0, 1e-6..=1.0, "the part of all rounds in which an agent acts"),
    };
    let deliveries = [("ledger", Delivery::Ledger), ("plain", Delivery::Plain)];
    let about = "by peers that lose nothing, or as methods are published: what is lost is lost";
    Faults { lossy, delivery: keys.choice("delivery", &deliveries, about) }
}

/// How the nodes of a real network make rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// Whether rounds wait for messages.
    pub pace: peer::Pace,
    /// The time between two ticks.
    pub tick: Duration,
    /// Whether a node goes on in the same life after a crash.
    pub exact: bool,
    /// Members that must have been heard before the first round; all of them if none is given.
    pub start: Option<usize>,
    /// How long they are waited for.
    pub start_within: Duration,
}

/// `[network]`.
pub(crate) fn network_settings(keys: &mut Keys<'_>) -> Wire {
    let about = "whether rounds take what has arrived, one each tick, or wait for their neighbours";
    let lockstep = keys.choice("pace", &[("free", false), ("lockstep", true)], about);
    let about = "ticks that a round in lockstep waits; 0 is for ever";
    let deadline = keys.whole("deadline", 0, ..=1_000_000, about);
    let tick = keys.number("tick", 0.05, 1e-4..=3600.0, "seconds between two ticks");
    let about = "whether a node goes on in the same life after a crash: everything is on disk before it is said";
    let exact = keys.flag("exact", false, about);
    let about = "members that must have been heard before the first round, the node itself included; a node that finds \
                 the run under way joins at once";
    let start = keys.whole_or_word("start", "all", 1.., about).map(|members| members as usize);
    let about = "seconds that a node waits for them before it gives up with exit code 1";
    let start_within = Duration::from_secs_f64(keys.number("start_within", 300.0, 0.0..=1e9, about));
    let deadline = if deadline == 0 { u64::MAX } else { deadline };
    let pace = if lockstep { peer::Pace::Lockstep { deadline } } else { peer::Pace::Free };
    Wire { pace, tick: Duration::from_secs_f64(tick), exact, start, start_within }
}

/// `[record]`, its metrics apart.
pub(crate) fn record_settings(keys: &mut Keys<'_>) -> (u64, Solutions) {
    let about = "rounds between two records; targets and divergence are looked for then";
    let every = keys.whole("every", 20, 1.., about);
    let about = "what runs leave in `solutions/`: the mean over agents, nothing, or the mean and each agent's x, y and private coordinates";
    (every, keys.choice("solutions", &Solutions::NAMES, about))
}

/// `[stop]`.
pub(crate) fn stop_settings(keys: &mut Keys<'_>) -> Option<Target> {
    let metric = keys.text("metric", "a metric", ["consensus", "upper"], "what ends a run");
    let below = keys.optional_number("below", .., "once it is below this");
    match (metric, below) {
        (Some(metric), Some(below)) => Some(Target { metric, below }),
        (None, None) => None,
        (Some(_), None) => {
            keys.mistake("metric", "`below` is missing: say below which value the run may stop");
            None
        }
        (None, Some(_)) => {
            keys.mistake("below", "`metric` is missing: say what is to fall below it");
            None
        }
    }
}

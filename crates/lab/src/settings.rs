//! The settings of an experiment file that no registry reads: the top level, `[faults]`,
//! `[network]`, `[wire]`, `[record]` and `[stop]`.

use std::time::Duration;

use fabnet_core::peer::{self, WordLength};
use fabnet_core::settings::SettingsReader;
use fabnet_sim::LinkFaults;

use crate::plan::{Precision, SavedSolutions, Target};

/// What is set for a run outside of sections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RunSettings {
    /// The number of agents.
    pub(crate) agents: usize,
    /// The largest number of rounds.
    pub(crate) rounds: u64,
    /// The rounds at the end in which agents mix only; none if the problem decides.
    pub(crate) settle: Option<u64>,
    /// The type of the scalars.
    pub(crate) precision: Precision,
}

/// Reads what is set for a run outside of sections.
pub(crate) fn run_settings(keys: &mut SettingsReader<'_>) -> RunSettings {
    let agents = keys.whole("agents", 10, 1..=10_000_000, "how many agents hold a part of the problem");
    let rounds = keys.whole("rounds", 10_000, 1.., "how many rounds at most; a round is one exchange");
    let about = "the last rounds of a run, in which agents mix without moving, so that they agree, after their step \
                 sizes have fallen to zero; \"auto\" is as many as that takes for learning problems, a fifth of the \
                 rounds at most, and none for others";
    let settle = keys.whole_or_word("settle", "auto", .., about);
    let precisions = [("f64", Precision::F64), ("f32", Precision::F32)];
    let about = "the scalars of the run, in memory and as bytes are counted";
    let precision = keys.choice("precision", &precisions, about);
    RunSettings { agents: agents as usize, rounds, settle, precision }
}

/// The faults of simulated links, and how agents deal with them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Faults {
    /// How often messages are lost, delayed or duplicated.
    pub(crate) lossy: LinkFaults,
    /// What becomes of messages that are lost.
    pub(crate) delivery: Delivery,
}

/// What becomes of messages that links lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Ledgers make up for every loss.
    Ledger,
    /// A message counts once if it arrives, and is gone otherwise.
    Plain,
}

/// Reads the table `[faults]`.
pub(crate) fn fault_settings(keys: &mut SettingsReader<'_>) -> Faults {
    let lossy = LinkFaults {
        loss: keys.number("loss", 0.0, 0.0..1.0, "the part of all messages that is lost"),
        delay: keys.whole("delay", 0, ..=10_000, "messages take up to this many rounds longer"),
        duplicate: keys.number("duplicate", 0.0, 0.0..=1.0, "the part of all messages that arrives twice"),
        activity: keys.number("activity", 1.0, 1e-6..=1.0, "the part of all rounds in which an agent acts"),
        stragglers: keys.whole("stragglers", 0, ..=1_000_000, "how many agents are slow: the first ones") as usize,
        slowness: keys.whole("slowness", 10, 1..=1_000_000, "a slow agent acts in one of this many rounds"),
        lockstep: keys.choice("pace", &[("free", false), ("lockstep", true)], "whether others wait for slow agents"),
    };
    let deliveries = [("ledger", Delivery::Ledger), ("plain", Delivery::Plain)];
    let about = "by peers that lose nothing, or as methods are published: what is lost is lost";
    Faults { lossy, delivery: keys.choice("delivery", &deliveries, about) }
}

/// How the nodes of a real network make rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkSettings {
    /// Whether rounds wait for the messages of neighbours.
    pub pace: peer::SyncMode,
    /// The time between two ticks.
    pub tick: Duration,
    /// Whether a node continues in the same incarnation after a crash.
    pub exact: bool,
    /// The members that must have been heard before the first round; `None` means all of them.
    pub start: Option<usize>,
    /// How long a node waits for these members before it gives up.
    pub start_within: Duration,
}

/// Reads the table `[network]`.
pub(crate) fn network_settings(keys: &mut SettingsReader<'_>) -> NetworkSettings {
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
    let pace = if lockstep { peer::SyncMode::Lockstep { deadline } } else { peer::SyncMode::Free };
    NetworkSettings { pace, tick: Duration::from_secs_f64(tick), exact, start, start_within }
}

/// Reads the table `[wire]`: the length of the words in which scalars and mass travel.
pub(crate) fn wire_settings(keys: &mut SettingsReader<'_>) -> WordLength {
    let about = "bits in which each scalar travels between peers with ledgers and between real nodes; fewer bits need \
                 about the same rounds, and no mass is lost. Methods by push-sum always use 64";
    let default = WordLength::default();
    let others = WordLength::ALL.into_iter().rev().filter(|&length| length != default);
    let lengths: Vec<u64> = std::iter::once(default).chain(others).map(|length| length.bits().into()).collect();
    WordLength::of_bits(keys.whole_among("words", &lengths, about) as u32).unwrap_or_default()
}

/// Reads the table `[record]`, except for its list of metrics.
pub(crate) fn record_settings(keys: &mut SettingsReader<'_>) -> (u64, SavedSolutions) {
    let about = "rounds between two records; targets and divergence are looked for then";
    let every = keys.whole("every", 20, 1.., about);
    let about = "what runs leave in `solutions/`: the mean over agents, nothing, or the mean and each agent's x, y \
                 and private coordinates";
    (every, keys.choice("solutions", &SavedSolutions::NAMES, about))
}

/// Reads the table `[stop]`.
pub(crate) fn stop_settings(keys: &mut SettingsReader<'_>) -> Option<Target> {
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

/// Reads the key of `[topology]` that lets a run start although its network is not connected.
pub(crate) fn allows_disconnected(keys: &mut SettingsReader<'_>) -> bool {
    keys.flag("allow_disconnected", false, "go ahead although the agents never all hear of each other")
}

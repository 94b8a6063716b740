//! Scenarios that are known by a name, each with a few faults of the same kind.

use fabnet_core::peer::{SyncMode, WordLength};

use super::fault::{ByFault, Fault};
use super::scenario::{MethodKind, NetworkKind, Scenario};

/// A scenario's name, what happens in it, and the rates of its faults.
type NamedScenario = (&'static str, &'static str, &'static [(Fault, f64)]);

/// The scenarios with names.
pub const NAMED: &[NamedScenario] = &[
    ("calm", "nothing goes wrong", &[]),
    ("loss", "a third of all messages is lost", &[(Fault::Loss, 0.55)]),
    ("burst-loss", "links lose everything for a while", &[(Fault::Burst, 0.9), (Fault::Loss, 0.1)]),
    ("one-way-partition", "half of the nodes cannot hear the other half for a while", &[(Fault::OneWayPartition, 0.9)]),
    ("partition", "two halves cannot hear each other for a while", &[(Fault::Partition, 0.9)]),
    ("rolling-restart", "node after node stops and comes back", &[(Fault::Crash, 1.0)]),
    ("mass-exodus", "all but two stop", &[(Fault::Exodus, 0.9)]),
    (
        "flaky-disk",
        "nodes stop, and their disks tear, lose and rot what was written",
        &[
            (Fault::Crash, 1.0),
            (Fault::TornWrite, 0.3),
            (Fault::LostWrite, 0.3),
            (Fault::BitRot, 0.3),
            (Fault::FullDisk, 0.9),
        ],
    ),
    (
        "false-alarm",
        "nodes think of each other that they are gone",
        &[(Fault::FalseSuspicion, 1.0), (Fault::MutualSuspicion, 0.9)],
    ),
    ("dead-link", "a link is dead, one way, and nobody says so", &[(Fault::DeadLink, 0.9)]),
    (
        "churn",
        "nodes come and go",
        &[(Fault::Join, 0.9), (Fault::Leave, 0.5), (Fault::Replace, 0.9), (Fault::Crash, 0.9)],
    ),
    ("liar", "a member lies of itself, of others and of what was sent, until it is expelled", &[(Fault::Liar, 1.0)]),
    (
        "everything",
        "all of it",
        &[
            (Fault::Loss, 0.4),
            (Fault::Burst, 0.5),
            (Fault::Duplicate, 0.5),
            (Fault::Reorder, 0.5),
            (Fault::Delay, 0.5),
            (Fault::Partition, 0.5),
            (Fault::Crash, 0.9),
            (Fault::LostDisk, 0.5),
            (Fault::Pause, 0.5),
            (Fault::MutualSuspicion, 0.5),
            (Fault::EpochRace, 0.5),
            (Fault::Replay, 0.5),
            (Fault::BadGradient, 0.5),
        ],
    ),
];

impl Scenario {
    /// The scenario of a name, with everything random from a seed; `None` if the name is unknown.
    pub fn named(name: &str, seed: u64) -> Option<Self> {
        let (_, _, faults) = NAMED.iter().find(|(known, _, _)| *known == name)?;
        let mut rates = ByFault::default();
        faults.iter().for_each(|&(fault, rate)| rates[fault] = rate);
        Some(Self {
            seed,
            nodes: 8,
            width: 16,
            words: WordLength::default(),
            pace: SyncMode::Free,
            network: NetworkKind::Exponential,
            method: MethodKind::PushPull,
            rates,
            chaos: 300,
            sealed: rates[Fault::Liar] > 0.0,
            exact: false,
            converge: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_own_faults_and_no_others() {
        for (name, _, faults) in NAMED {
            let scenario = Scenario::named(name, 7).unwrap();
            assert_eq!(scenario.seed, 7);
            assert_eq!(scenario.faults().count(), faults.len(), "{name}");
            assert!(faults.iter().all(|&(fault, rate)| scenario.rates[fault] == rate), "{name}");
        }
        assert_eq!(Scenario::named("no-such-name", 0), None);
    }
}

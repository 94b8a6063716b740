//! What happens in a simulation, for those who follow it.

use std::fmt;

use fabnet_core::Peer;

use super::queue::TICK;

/// Something that happened in a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Happening {
    /// When it happened, in ticks.
    pub tick: f64,
    /// What it is: `fault`, `start`, `stop` or `distance`, or the kind of a notice of a
    /// peer.
    pub kind: &'static str,
    /// The node to which it happened.
    pub node: Option<u32>,
    /// Another node that was part of it.
    pub other: Option<u32>,
    /// When it ends, in ticks, if it lasts.
    pub until: Option<f64>,
    /// The same in words.
    pub text: String,
}

/// All nodes of a simulation at a time.
pub struct Scene<'a> {
    /// The time in ticks.
    pub tick: f64,
    /// The peers by node; those that are down have none.
    pub peers: Vec<Option<&'a mut Peer<f64>>>,
    /// How far each is from the solution of those that run.
    pub distances: Vec<Option<f64>>,
}

/// Follows a simulation.
pub trait Spectator {
    /// Hears of something that happened.
    fn happened(&mut self, happening: Happening);

    /// This is how all nodes are now.
    fn sees(&mut self, scene: Scene<'_>);
}

impl Happening {
    /// Something of a kind, in words. When it happened is added where it is noted.
    pub(super) fn new(kind: &'static str, text: String) -> Self {
        Self { tick: 0.0, kind, node: None, other: None, until: None, text }
    }

    /// The same, of a node.
    pub(super) fn of(self, node: u32) -> Self {
        Self { node: Some(node), ..self }
    }

    /// The same, with another node.
    pub(super) fn with(self, other: u32) -> Self {
        Self { other: Some(other), ..self }
    }

    /// The same, until a moment, if it lasts.
    pub(super) fn until(self, moment: Option<u64>) -> Self {
        Self { until: moment.map(|moment| moment as f64 / TICK as f64), ..self }
    }
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tick, kind, node, other, text, .. } = self;
        match (*kind, node, other) {
            ("fault", Some(node), Some(other)) => write!(f, "{tick:>8.2} fault: {text} (nodes {node}, {other})"),
            ("fault", Some(node), None) => write!(f, "{tick:>8.2} fault: {text} (node {node})"),
            ("fault", None, _) => write!(f, "{tick:>8.2} fault: {text}"),
            _ => write!(f, "{tick:>8.2} {text}"),
        }
    }
}

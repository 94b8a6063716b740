//! Nodes that lie: since when, what they send, and their end.

use fabnet_core::Peer;
use fabnet_core::peer::{Command, Effect, Event};

use super::World;
use crate::attack::liar::Liar;
use crate::attack::queue::{Scheduled, TICK};
use crate::attack::violation::Check;
use crate::attack::wire::WireMessage;

impl World {
    /// Lets a running node lie from now on, and returns whether it does: only if no other one lies.
    pub(in crate::attack) fn begin_to_lie(&mut self, node: u32) -> bool {
        let lies = self.node(node).peer.is_some() && !self.nodes.iter().any(|node| node.lies);
        if lies {
            self.node(node).lies = true;
            self.checker.node_lies(node);
        }
        lies
    }

    /// Sends the lies that follow a true message of a node that lies.
    pub(super) fn lie_after(&mut self, peer: &Peer<f64>, effect: &Effect) {
        let Effect::Send { bytes, .. } = effect else { return };
        if !self.nodes[peer.node() as usize].lies {
            return;
        }
        let (seed, lengths, sampler) = (self.scenario.seed, &self.lengths, &mut self.sampler);
        let lies = Liar { peer, seed, lengths, sampler }.lies(WireMessage(bytes));
        for (to, bytes) in lies {
            self.network.transmit((peer.node(), to), bytes, &mut self.sampler, &mut self.queue);
        }
    }

    /// Ticks within which all nodes hear that a liar is expelled, one sooner than the other.
    pub(in crate::attack) const EXPELLED_WITHIN: u64 = 20;

    /// Expels nodes that lie, and returns whether there are any. They go on lying, and soon nobody
    /// hears them.
    pub(in crate::attack) fn expel_liars(&mut self) -> bool {
        let liars: Vec<u32> = (0..).zip(&self.nodes).filter(|(_, node)| node.lies).map(|(number, _)| number).collect();
        for &liar in &liars {
            self.node(liar).absent = true;
            for node in 0..self.nodes.len() as u32 {
                let delay = self.sampler.moments(Self::EXPELLED_WITHIN * TICK);
                self.queue.schedule(delay, Scheduled::Expel { node, liar });
            }
        }
        !liars.is_empty()
    }

    /// Tells a node that a liar is expelled.
    pub(in crate::attack) fn tell_of(&mut self, node: u32, liar: u32) -> Check {
        self.tell(node, Event::Command(Command::Expel(liar)))
    }

    /// Tells a node that has started whom the others have expelled.
    pub(super) fn tell_of_expelled(&mut self, node: u32) -> Check {
        let expelled = (0..).zip(&self.nodes).filter(|(_, node)| node.lies && node.absent);
        let expelled: Vec<u32> = expelled.map(|(number, _)| number).collect();
        expelled.into_iter().try_for_each(|liar| self.tell_of(node, liar))
    }
}

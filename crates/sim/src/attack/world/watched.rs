//! What those who follow a simulation hear and see of it.

use fabnet_core::Peer;
use fabnet_core::peer::{Counters, Incarnation};

use super::World;
use crate::attack::happening::{Happening, Scene};
use crate::attack::queue::TICK;

impl World {
    /// Notes something that happens, if anybody wants to know.
    pub(in crate::attack) fn note(&mut self, happening: impl FnOnce() -> Happening) {
        self.log.note(self.queue.now(), happening);
    }

    /// All nodes as they are now.
    pub(in crate::attack) fn scene(&mut self) -> Scene<'_> {
        let mut distances = vec![None; self.nodes.len()];
        let running = self.running();
        for (peer, distance) in running.iter().zip(self.factory.distances(&running)) {
            distances[peer.node() as usize] = Some(distance);
        }
        let tick = self.queue.now() as f64 / TICK as f64;
        Scene { tick, peers: self.nodes.iter_mut().map(|node| node.peer.as_mut()).collect(), distances }
    }

    /// Notes what has changed in a peer since it had this epoch, incarnation and counters.
    pub(super) fn note_changes(
        &mut self,
        (epoch, incarnation, counters): (u64, Incarnation, Counters),
        peer: &Peer<f64>,
    ) {
        let node = peer.node();
        if epoch != peer.epoch() {
            let text = format!("node {node} enters epoch {}", peer.epoch());
            self.note(|| Happening::new("epoch", text).of(node));
        }
        if incarnation != peer.incarnation() {
            let text = format!("node {node} was thought dead and comes back as {}", peer.incarnation().counter);
            self.note(|| Happening::new("refute", text).of(node));
        }
        if counters.evictions != peer.counters().evictions {
            self.note(|| Happening::new("suspect", format!("node {node} gives somebody up")).of(node));
        }
        if counters.closes != peer.counters().closes {
            self.note(|| Happening::new("close", format!("node {node} closes an edge")).of(node));
        }
    }
}

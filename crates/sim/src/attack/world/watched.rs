//! What those who follow a simulation hear and see of it.

use fabnet_core::Peer;

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

    /// Notes what a peer has noticed since it was last asked.
    pub(super) fn note_notices(&mut self, peer: &mut Peer<f64>) {
        let node = peer.node();
        for (_, notice) in peer.take_notices() {
            let happening = Happening::new(notice.kind(), format!("node {node} {notice}")).of(node);
            self.note(|| Happening { other: notice.other(), ..happening });
        }
    }
}

//! What a node knows of each other member at present.

use super::attendance::{Attendance, PeerView};
use crate::config::Member;

/// What a node knows of another member at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It was never heard.
    #[default]
    Unheard,
    /// All its agents are heard.
    Heard,
    /// It was heard, and is not at present.
    Silent,
    /// It counts as dead.
    Dead,
    /// It has said farewell.
    Left,
}

impl Attendance {
    /// What is known of each other member, by name.
    pub(crate) fn states(&self, peers: &[&dyn PeerView]) -> Vec<(&str, Presence)> {
        let (absent, never) = (self.absent(peers), self.never_heard());
        let any = |member: &Member, is: &dyn Fn(&dyn PeerView, u32) -> bool| {
            peers.iter().any(|peer| member.agents.iter().any(|&agent| is(*peer, agent)))
        };
        let state = |member: &Member| match () {
            () if any(member, &|peer, agent| peer.counts_as_dead(agent) && peer.has_left(agent)) => Presence::Left,
            () if any(member, &|peer, agent| peer.counts_as_dead(agent)) => Presence::Dead,
            () if never.contains(&member.name) => Presence::Unheard,
            () if absent.contains(&member.name) => Presence::Silent,
            () => Presence::Heard,
        };
        self.others.iter().map(|member| (member.name.as_str(), state(member))).collect()
    }
}

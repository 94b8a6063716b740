//! What a peer believes of what others pass on about a member.

use super::Membership;
use crate::peer::membership::gossip::EdgeClosure;
use crate::peer::membership::table::MemberState;
use crate::peer::membership::{Claim, SealOrigin};

/// What is to become of news that somebody passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belief<T> {
    /// It is known, or it is not to be believed, or not yet.
    Nothing,
    /// It is believed.
    News(T),
    /// It is believed, and its owner has said it itself: that it leaves.
    Farewell(T),
    /// Its seal is not of its owner: whoever passes it on lies.
    Forged,
}

impl Membership {
    /// Judges the state of a node that `from` passes on, with its seal. The life of a node that was
    /// expelled is taken for one that is over, so that all tables agree whichever of its lives they
    /// have.
    pub(crate) fn judge(
        &mut self,
        from: u32,
        (node, news): (u32, MemberState),
        seal: &[u8],
        tick: u64,
    ) -> Belief<MemberState> {
        match self.judge_by_seal(from, (node, news), seal, tick) {
            Belief::News(state) if self.is_expelled(node) => Belief::News(MemberState::dead(state.incarnation)),
            belief => belief,
        }
    }

    /// Judges a state whoever it is of.
    ///
    /// Without seals everything is believed. With them a life needs the seal of its owner; that a
    /// known life is over may be said by anybody, since its owner can refute it.
    fn judge_by_seal(
        &mut self,
        from: u32,
        (node, news): (u32, MemberState),
        seal: &[u8],
        tick: u64,
    ) -> Belief<MemberState> {
        if !self.seals.is_used() {
            return if node == from { Belief::Farewell(news) } else { Belief::News(news) };
        }
        let known = self.table.get(node);
        if node as usize >= self.table.nodes() || Some(news) < known {
            return Belief::Nothing;
        }
        if Some(news) == known && !self.is_better_seal(node, news, seal) {
            return Belief::Nothing;
        }
        if news.dead && self.seals.origin(node, news.incarnation, Claim::Left, seal) == SealOrigin::Owner {
            self.seals.keep_life(node, seal);
            return Belief::Farewell(news);
        }
        if known.is_some_and(|known| known.incarnation == news.incarnation && !known.dead && news.dead) {
            return if self.detector.spares(node, tick) { Belief::Nothing } else { Belief::News(news) };
        }
        self.judge_life(node, news, seal)
    }

    /// Judges a life that is not known: its owner must have sealed it. A member that came back is
    /// first believed to be alive.
    fn judge_life(&mut self, node: u32, news: MemberState, seal: &[u8]) -> Belief<MemberState> {
        match self.seals.origin(node, news.incarnation, Claim::Lives, seal) {
            SealOrigin::Unknown => Belief::Nothing,
            SealOrigin::Forged => Belief::Forged,
            SealOrigin::Owner => {
                self.seals.keep_life(node, seal);
                let spared = self.detector.get(node).returns() > 0 && self.table.get(node) != Some(news);
                Belief::News(if spared { MemberState::alive(news.incarnation) } else { news })
            }
        }
    }

    /// Whether a seal of a state that is known says more than the one that is kept: there is none,
    /// or it may be that of a departure.
    fn is_better_seal(&self, node: u32, state: MemberState, seal: &[u8]) -> bool {
        let kept = self.seals.of_life(node);
        let departed = state.dead && !self.detector.get(node).has_left() && kept != Some(seal);
        kept.is_none() || departed
    }

    /// Judges that an edge was closed, which only the node at its beginning can say.
    pub(crate) fn judge_closure(&mut self, closure: EdgeClosure, seal: &[u8]) -> Belief<EdgeClosure> {
        if !self.seals.is_used() {
            return Belief::News(closure);
        }
        let EdgeClosure { from, to, life, generation } = closure;
        let living = self.table.living(from).filter(|incarnation| incarnation.tag() == life);
        let exists = (to as usize) < self.table.nodes();
        let Some(incarnation) = living.filter(|_| exists && !self.news.knows(closure)) else { return Belief::Nothing };
        match self.seals.origin(from, incarnation, Claim::Closed { to, generation }, seal) {
            SealOrigin::Unknown => Belief::Nothing,
            SealOrigin::Forged => Belief::Forged,
            SealOrigin::Owner => {
                self.seals.keep_closure(from, to, seal);
                Belief::News(closure)
            }
        }
    }

    /// Takes a node for dead from now on, whatever is said of it.
    pub(crate) fn expel(&mut self, node: u32) {
        self.expelled.insert(node);
    }

    /// Believes what a node says again.
    pub(crate) fn readmit(&mut self, node: u32) {
        self.expelled.remove(&node);
    }

    /// Whether a node was expelled.
    pub(crate) fn is_expelled(&self, node: u32) -> bool {
        self.expelled.contains(&node)
    }

    /// Whether the declarations of this run are sealed.
    pub(crate) fn is_sealed(&self) -> bool {
        self.seals.is_used()
    }
}

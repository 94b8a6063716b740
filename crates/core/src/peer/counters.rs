//! What has happened to a peer, in numbers.

use super::notice::Notice;

/// How often things have happened in the life of a peer object, over all its incarnations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages that did not belong to this run.
    pub malformed: u64,
    /// Messages with a declaration that its owner has not sealed: their senders lie.
    pub forged: u64,
    /// Messages of nodes that the run has expelled.
    pub expelled: u64,
    /// Parts of messages that came too late: of an earlier life, epoch or generation.
    pub stale: u64,
    /// Messages of which a newer one had been used already.
    pub outdated: u64,
    /// Messages of which scalars or mass were used.
    pub applied: u64,
    /// Messages whose words could not be completed, and which were asked for in full.
    pub refused: u64,
    /// Those of them that were completed to something else than their sender says. That happens
    /// only to peers whose disks lose what they report as safe.
    pub wrong_words: u64,
    /// Nodes whose edges were undone.
    pub reversals: u64,
    /// Times that this peer was thought dead and came back.
    pub refutations: u64,
    /// Times that this peer had forgotten what others know of it, and began a new life: its disk
    /// loses what it reports as safe.
    pub forgotten: u64,
    /// Members that were declared dead because they were silent.
    pub evictions: u64,
    /// Edges that were closed because nothing came through.
    pub closes: u64,
    /// Epochs that were begun.
    pub epochs: u64,
    /// Steps that were not taken because their result was not finite or too large.
    pub bad_steps: u64,
    /// Rounds that are done.
    pub rounds: u64,
    /// Bytes that were sent.
    pub bytes: u64,
    /// Those of them that were scalars and mass, with their guards.
    pub scalar_bytes: u64,
    /// Messages that were sent.
    pub messages: u64,
}

impl Counters {
    /// Counts something rare.
    pub(super) fn count(&mut self, notice: &Notice) {
        let counter = match notice {
            Notice::Eviction { .. } => &mut self.evictions,
            Notice::Closure { .. } => &mut self.closes,
            Notice::Reversal { .. } => &mut self.reversals,
            Notice::Refutation { .. } => &mut self.refutations,
            Notice::Epoch { .. } => &mut self.epochs,
            Notice::BadStep => &mut self.bad_steps,
        };
        *counter += 1;
    }
}

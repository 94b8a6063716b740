//! The ledger of one peer: what it contributes, what it holds, and what went over each edge.

use std::collections::BTreeMap;
use std::ops::Range;

use super::units::{Fraction, Unit};

/// What one peer holds of every pushed scalar, in whole units, and where it comes from.
///
/// `mass = input + Σ received − Σ sent` holds always: the mass is a cache that follows from the
/// rest ([`Ledger::audit`]). Edges hold cumulative sums, so the last message over an edge says all
/// that the earlier ones said, and an edge can be undone as if it had never existed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// The level D that the algorithm contributes.
    input: Vec<i64>,
    /// The mass t that the peer holds.
    mass: Vec<i64>,
    /// The cumulative sums σ of what was sent, by receiver.
    sent: BTreeMap<u32, Vec<i64>>,
    /// The cumulative sums ρ of what was received, by sender.
    received: BTreeMap<u32, Vec<i64>>,
}

/// There is more mass than whole numbers can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pushed scalars have grown beyond what can be booked: reduce the step sizes, or choose a coarser unit")]
pub struct Overflow;

impl Ledger {
    /// Begins an epoch: there are no edges, and the mass is what the peer contributes.
    pub fn begin(&mut self, input: &[i64]) {
        self.sent.clear();
        self.received.clear();
        self.input = input.to_vec();
        self.mass = input.to_vec();
    }

    /// The mass t that the peer holds.
    pub fn mass(&self) -> &[i64] {
        &self.mass
    }

    /// The level D that the algorithm contributes.
    pub fn input(&self) -> &[i64] {
        &self.input
    }

    /// All that was ever sent to a peer, or `None` if there is no edge to it.
    pub fn sent(&self, to: u32) -> Option<&[i64]> {
        self.sent.get(&to).map(Vec::as_slice)
    }

    /// All that was ever received from a peer, or `None` if there is no edge from it.
    pub fn received(&self, from: u32) -> Option<&[i64]> {
        self.received.get(&from).map(Vec::as_slice)
    }

    /// The peers to which there is an edge, ascending.
    pub fn targets(&self) -> impl Iterator<Item = u32> {
        self.sent.keys().copied()
    }

    /// The peers from which there is an edge, ascending.
    pub fn sources(&self) -> impl Iterator<Item = u32> {
        self.received.keys().copied()
    }

    /// Books a new level of what the peer contributes; the mass changes by the difference to the
    /// old one.
    pub fn book(&mut self, input: &[i64]) -> Result<(), Overflow> {
        let next = self.mass.iter().zip(&self.input).zip(input).map(|((mass, old), new)| mass.wrapping_add(new - old));
        if !next.fold(true, |all, mass| all & is_within(mass)) {
            return Err(Overflow);
        }
        for ((mass, old), new) in self.mass.iter_mut().zip(&mut self.input).zip(input) {
            *mass += new - *old;
            *old = *new;
        }
        Ok(())
    }

    /// Opens an edge to a peer, unless there is one.
    pub fn open(&mut self, to: u32) {
        self.sent.entry(to).or_insert_with(|| vec![0; self.mass.len()]);
    }

    /// Sends a part of the mass in some places over an open edge, and returns the largest change of
    /// its sums; the message must then carry what [`Ledger::sent`] says.
    ///
    /// The share is that part of `before`, the mass before anybody got a share in this round: it
    /// must not depend on the order in which receivers are served. Sums are rounded down to
    /// multiples of 2ˢ, where `shift` is told the largest share; the rest stays in the mass, so
    /// that nothing is lost.
    pub fn send(
        &mut self,
        to: u32,
        places: Range<usize>,
        part: Fraction,
        before: &[i64],
        shift: impl FnOnce(u64) -> u32,
    ) -> u64 {
        let Some(sent) = self.sent.get_mut(&to).filter(|_| part != Fraction::ZERO) else { return 0 };
        let before = &before[places.clone()];
        let shares = before.iter().map(|&before| part.of_units(before));
        let shift = shift(shares.clone().fold(0, |largest, share| share.unsigned_abs().max(largest)));
        let mut largest = 0;
        let edge = self.mass[places.clone()].iter_mut().zip(&mut sent[places]);
        for (share, (mass, sent)) in shares.zip(edge) {
            let sum = sent.wrapping_add(share) >> shift << shift;
            let change = sum.wrapping_sub(*sent);
            *mass -= change;
            *sent = sum;
            largest = change.unsigned_abs().max(largest);
        }
        largest
    }

    /// Opens an edge from a peer, unless there is one, and returns all that was received over it.
    pub fn receives(&mut self, from: u32) -> &[i64] {
        self.received.entry(from).or_insert_with(|| vec![0; self.mass.len()])
    }

    /// Receives all that a peer says it ever sent, in these places, and returns whether that
    /// differs from what was known.
    pub fn receive(&mut self, from: u32, places: Range<usize>, cumulative: &[i64]) -> Result<bool, Overflow> {
        let received = self.received.entry(from).or_insert_with(|| vec![0; self.mass.len()]);
        let (mut more, mut fits) = (false, true);
        let edge = self.mass[places.clone()].iter_mut().zip(&mut received[places]);
        for ((mass, received), &sum) in edge.zip(cumulative) {
            // Sums wrap around, so only their differences have a meaning.
            let news = sum.wrapping_sub(*received);
            let next = mass.wrapping_add(news);
            let taken = is_within(next);
            (*mass, *received) = if taken { (next, sum) } else { (*mass, *received) };
            fits &= taken;
            more |= news != 0;
        }
        if fits { Ok(more) } else { Err(Overflow) }
    }

    /// Takes back all that was sent to a peer. The receiver must then call [`Ledger::give_up`].
    pub fn take_back(&mut self, to: u32) -> Reversal {
        let sent = self.sent.remove(&to);
        self.undo(sent, None)
    }

    /// Gives up all that was received from a peer, which has called [`Ledger::take_back`].
    pub fn give_up(&mut self, from: u32) -> Reversal {
        let received = self.received.remove(&from);
        self.undo(None, received)
    }

    /// Undoes both edges to a peer that is gone. The sum of the remaining peers is then right,
    /// whatever was on its way to it or from it.
    pub fn reverse(&mut self, peer: u32) -> Reversal {
        let (sent, received) = (self.sent.remove(&peer), self.received.remove(&peer));
        self.undo(sent, received)
    }

    fn undo(&mut self, sent: Option<Vec<i64>>, received: Option<Vec<i64>>) -> Reversal {
        if sent.is_none() && received.is_none() {
            return Reversal::Nothing;
        }
        let norm = |units: &[i64]| units.iter().map(|&units| (units as f64).powi(2)).sum::<f64>().sqrt();
        let usual = norm(&self.input).max(norm(&self.mass));
        let mut change = sent.unwrap_or_else(|| vec![0; self.mass.len()]);
        if let Some(received) = received {
            change.iter_mut().zip(received).for_each(|(change, received)| *change = change.wrapping_sub(received));
        }
        self.mass.iter_mut().zip(&change).for_each(|(mass, change)| *mass = mass.wrapping_add(*change));
        Reversal::Relative(norm(&change) / usual)
    }

    /// Whether the mass is what input and edges imply.
    pub fn audit(&self) -> bool {
        self.residual() == 0
    }

    /// The largest number of units by which the mass differs from what input and edges imply.
    pub fn residual(&self) -> u64 {
        let mut implied = self.input.clone();
        for received in self.received.values() {
            implied.iter_mut().zip(received).for_each(|(implied, received)| *implied = implied.wrapping_add(*received));
        }
        for sent in self.sent.values() {
            implied.iter_mut().zip(sent).for_each(|(implied, sent)| *implied = implied.wrapping_sub(*sent));
        }
        implied
            .iter()
            .zip(&self.mass)
            .map(|(implied, mass)| mass.wrapping_sub(*implied).unsigned_abs())
            .max()
            .unwrap_or(0)
    }

    /// Writes the whole ledger for a snapshot, word by word.
    pub(crate) fn save(&self, put: &mut impl FnMut(u64)) {
        let mut all = |units: &[i64]| units.iter().for_each(|units| put(units.cast_unsigned()));
        all(&self.input);
        all(&self.mass);
        for edges in [&self.sent, &self.received] {
            all(&[edges.len().cast_signed() as i64]);
            for (&peer, sums) in edges {
                all(&[i64::from(peer)]);
                all(sums);
            }
        }
    }

    /// Restores what [`Ledger::save`] wrote, for as many scalars as this ledger has.
    pub(crate) fn restore<E>(&mut self, take: &mut impl FnMut() -> Result<u64, E>) -> Result<(), E> {
        let width = self.mass.len();
        let mut all = || (0..width).map(|_| Ok(take()?.cast_signed())).collect::<Result<Vec<i64>, E>>();
        (self.input, self.mass) = (all()?, all()?);
        for edges in [&mut self.sent, &mut self.received] {
            edges.clear();
            for _ in 0..take()? {
                let peer = take()? as u32;
                let sums = (0..width).map(|_| Ok(take()?.cast_signed())).collect::<Result<_, E>>()?;
                edges.insert(peer, sums);
            }
        }
        Ok(())
    }

    /// The bytes that this ledger occupies.
    pub fn bytes(&self) -> usize {
        (2 + self.sent.len() + self.received.len()) * self.mass.len() * size_of::<i64>()
    }

    /// Whether a cumulative sum or the mass comes near its limit, so that it is time for a new
    /// epoch.
    pub fn is_full(&self) -> bool {
        let edges = self.sent.values().chain(self.received.values());
        // All of each: a loop that may end anywhere is slower, because it is not vectorised.
        edges.chain([&self.mass]).any(|sums| !sums.iter().fold(true, |all, &units| all & is_within(units)))
    }
}

/// How much the mass has changed when edges were undone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reversal {
    /// There was no edge.
    Nothing,
    /// The change, divided by the larger of input and mass, in the Euclidean norm.
    Relative(f64),
}

/// Whether this number of units can be booked.
///
/// A sum that has wrapped around is refused, too: the limit is far below the largest number of 64
/// bits.
#[inline]
fn is_within(units: i64) -> bool {
    units.unsigned_abs() < Unit::LIMIT as u64
}

#[cfg(test)]
mod tests;

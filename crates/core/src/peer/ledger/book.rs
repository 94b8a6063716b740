//! The ledger of one peer: what it contributes, what it holds, and what went over each edge.

use std::collections::BTreeMap;
use std::ops::Range;

use super::units::{Fraction, Unit, round_down};
use crate::Scalar;

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
    /// Whether a cumulative sum has come near its limit.
    full: bool,
}

/// The number of scalars that are looked at together, so that they stay in the cache.
const BLOCK: usize = 1024;

/// The mass in some places, before anybody got a share of it in a round: shares must not depend on
/// the order in which receivers are served.
#[derive(Clone, Debug)]
pub struct MassBefore {
    places: Range<usize>,
    units: Vec<i64>,
    /// The largest number of units, without sign.
    largest: u64,
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
        self.full = false;
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

    /// Books a new level of what the peer contributes in the place of the old one; the mass changes
    /// by their difference. Nothing has changed if the new one is refused.
    pub fn book<T: Scalar>(&mut self, unit: Unit, old: &[T], new: &[T]) -> Result<(), Overflow> {
        if self.replace_input(unit, new) {
            return Ok(());
        }
        // Differences wrap around, so that the way back is exact.
        self.replace_input(unit, old);
        Err(Overflow)
    }

    /// Replaces the level that the peer contributes, and returns whether it can be booked.
    fn replace_input<T: Scalar>(&mut self, unit: Unit, input: &[T]) -> bool {
        let mut fits = true;
        let mut levels = [0; BLOCK];
        let blocks = self.mass.chunks_mut(BLOCK).zip(self.input.chunks_mut(BLOCK)).zip(input.chunks(BLOCK));
        for ((mass, old), input) in blocks {
            let levels = &mut levels[..input.len()];
            fits &= unit.all_units(input, levels);
            for ((mass, old), &level) in mass.iter_mut().zip(old).zip(&*levels) {
                *mass = mass.wrapping_add(level.wrapping_sub(*old));
                *old = level;
                fits &= is_within(*mass);
            }
        }
        fits
    }

    /// Opens an edge to a peer, unless there is one.
    pub fn open(&mut self, to: u32) {
        self.sent.entry(to).or_insert_with(|| vec![0; self.mass.len()]);
    }

    /// The mass in some places, before anybody gets a share of it.
    pub fn before(&self, places: Range<usize>) -> MassBefore {
        let units = self.mass[places.clone()].to_vec();
        let largest = units.iter().fold(0, |largest, units| units.unsigned_abs().max(largest));
        MassBefore { places, units, largest }
    }

    /// Sends a part of the mass in some places over an open edge, and returns a bound of the change
    /// of its sums; the message must then carry what [`Ledger::sent`] says.
    ///
    /// Sums are rounded down to multiples of 2ˢ, where `shift` is told the largest share; the rest
    /// stays in the mass, so that nothing is lost.
    pub fn send(&mut self, to: u32, part: Fraction, before: &MassBefore, shift: impl FnOnce(u64) -> u32) -> u64 {
        let Some(sent) = self.sent.get_mut(&to).filter(|_| part != Fraction::ZERO) else { return 0 };
        let places = before.places.clone();
        // The share of the largest number is the largest share.
        let largest = part.of_size(before.largest);
        let shift = shift(largest);
        self.full |= !give(part, shift, &before.units, &mut self.mass[places.clone()], &mut sent[places]);
        largest + ((1 << shift) - 1)
    }

    /// Receives all that a peer says it ever sent, in these places, and returns whether that
    /// differs from what was known.
    pub fn receive(&mut self, from: u32, places: Range<usize>, cumulative: &[i64]) -> Result<bool, Overflow> {
        let received = self.received.entry(from).or_insert_with(|| vec![0; self.mass.len()]);
        let taken = take(&mut self.mass[places.clone()], &mut received[places], cumulative);
        self.full |= taken.near_limit;
        if taken.fits { Ok(taken.more) } else { Err(Overflow) }
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
        let mut largest = 0;
        for start in (0..self.mass.len()).step_by(BLOCK) {
            let block = start..self.mass.len().min(start + BLOCK);
            let mut differences = [0i64; BLOCK];
            let mut add = |units: &[i64], sign: i64| {
                let differences = differences.iter_mut().zip(&units[block.clone()]);
                differences
                    .for_each(|(difference, units)| *difference = difference.wrapping_add(sign.wrapping_mul(*units)));
            };
            add(&self.mass, 1);
            add(&self.input, -1);
            self.received.values().for_each(|received| add(received, -1));
            self.sent.values().for_each(|sent| add(sent, 1));
            largest = differences.iter().fold(largest, |largest, difference| difference.unsigned_abs().max(largest));
        }
        largest
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
        let edges = self.sent.values().chain(self.received.values());
        self.full = edges.flatten().any(|&sum| !is_within(sum));
        Ok(())
    }

    /// The bytes that this ledger occupies.
    pub fn bytes(&self) -> usize {
        (2 + self.sent.len() + self.received.len()) * self.mass.len() * size_of::<i64>()
    }

    /// Whether a cumulative sum has come near its limit, so that it is time for a new epoch.
    pub fn is_full(&self) -> bool {
        self.full
    }
}

/// Moves a part of what was held before from the mass to the sums of an edge, rounded down to
/// multiples of 2ˢ, and returns whether all sums are far from their limit.
fn give(part: Fraction, shift: u32, before: &[i64], mass: &mut [i64], sent: &mut [i64]) -> bool {
    let mut far = true;
    for ((&before, mass), sent) in before.iter().zip(mass).zip(sent) {
        let sum = round_down(sent.wrapping_add(part.of_units(before)), shift);
        *mass = mass.wrapping_sub(sum.wrapping_sub(*sent));
        *sent = sum;
        far &= is_within(sum);
    }
    far
}

/// What came of cumulative sums.
struct Taken {
    /// Whether they differ from what was known.
    more: bool,
    /// Whether all of it could be booked.
    fits: bool,
    /// Whether a sum has come near its limit.
    near_limit: bool,
}

/// Adds to the mass what cumulative sums have gained over the known ones.
fn take(mass: &mut [i64], received: &mut [i64], cumulative: &[i64]) -> Taken {
    let (mut changes, mut fits, mut far) = (0, true, true);
    for ((mass, received), &sum) in mass.iter_mut().zip(received).zip(cumulative) {
        // Sums wrap around, so only their differences have a meaning.
        let news = sum.wrapping_sub(*received);
        let next = mass.wrapping_add(news);
        let taken = is_within(next);
        (*mass, *received) = if taken { (next, sum) } else { (*mass, *received) };
        fits &= taken;
        far &= is_within(sum);
        changes |= news;
    }
    Taken { more: changes != 0, fits, near_limit: !far }
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
    units.wrapping_add(Unit::LIMIT) >= 0
}

#[cfg(test)]
mod tests;

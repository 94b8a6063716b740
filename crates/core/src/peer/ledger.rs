//! The books of one peer: what it put in, what it has, and what went over each edge.

use std::collections::BTreeMap;
use std::ops::Range;

use super::mass::{Fraction, Unit};

/// What one peer holds of every pushed scalar, in whole units, and why.
///
/// `mass = input + Σ received − Σ sent`, always: the mass is a cache that can be computed from the rest ([`Ledger::audit`]). Edges hold cumulative sums, so the last message over an edge
/// says all that the earlier ones said, and an edge can be undone as if it had never been.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// D, the level that the algorithm hands over.
    input: Vec<i64>,
    /// t.
    mass: Vec<i64>,
    /// σ, by target.
    sent: BTreeMap<u32, Vec<i64>>,
    /// ρ, by source.
    received: BTreeMap<u32, Vec<i64>>,
}

/// More mass than whole numbers can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pushed scalars have grown beyond what can be booked: shorten the steps, or choose a coarser unit")]
pub struct Overflow;

impl Ledger {
    /// A new epoch: no edges, and as much mass as is put in.
    pub fn begin(&mut self, input: &[i64]) {
        self.sent.clear();
        self.received.clear();
        self.input = input.to_vec();
        self.mass = input.to_vec();
    }

    /// t.
    pub fn mass(&self) -> &[i64] {
        &self.mass
    }

    /// D.
    pub fn input(&self) -> &[i64] {
        &self.input
    }

    /// All that was ever sent to this peer, if something was.
    pub fn sent(&self, to: u32) -> Option<&[i64]> {
        self.sent.get(&to).map(Vec::as_slice)
    }

    /// All that was ever received from this peer, if something was.
    pub fn received(&self, from: u32) -> Option<&[i64]> {
        self.received.get(&from).map(Vec::as_slice)
    }

    /// To whom there is an edge.
    pub fn targets(&self) -> impl Iterator<Item = u32> {
        self.sent.keys().copied()
    }

    /// From whom.
    pub fn sources(&self) -> impl Iterator<Item = u32> {
        self.received.keys().copied()
    }

    /// Books a new level.
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

    /// Sends this part of `before`, what there was in these places before anybody got a share; what the ledger then holds as sent is what the message is to carry.
    pub fn send(&mut self, to: u32, places: impl Iterator<Item = Range<usize>>, part: Fraction, before: &[i64]) {
        let sent = self.sent.entry(to).or_insert_with(|| vec![0; before.len()]);
        if part == Fraction::ZERO {
            return;
        }
        for range in places {
            let edge = self.mass[range.clone()].iter_mut().zip(&mut sent[range.clone()]);
            for (before, (mass, sent)) in before[range].iter().zip(edge) {
                let share = part.of_units(*before);
                *mass -= share;
                *sent = sent.wrapping_add(share);
            }
        }
    }

    /// Receives what a peer says that it ever sent, in these places; says whether that is more than was known.
    pub fn receive(
        &mut self,
        from: u32,
        places: impl Iterator<Item = Range<usize>>,
        mut cumulative: impl Iterator<Item = i64>,
    ) -> Result<bool, Overflow> {
        let received = self.received.entry(from).or_insert_with(|| vec![0; self.mass.len()]);
        let (mut more, mut fits) = (false, true);
        for range in places {
            let edge = self.mass[range.clone()].iter_mut().zip(&mut received[range]);
            for ((mass, received), sum) in edge.zip(&mut cumulative) {
                // Sums wrap, so only their difference means something.
                let news = sum.wrapping_sub(*received);
                let next = mass.wrapping_add(news);
                let taken = is_within(next);
                (*mass, *received) = if taken { (next, sum) } else { (*mass, *received) };
                fits &= taken;
                more |= news != 0;
            }
        }
        if fits { Ok(more) } else { Err(Overflow) }
    }

    /// Takes back all that was sent to a peer: the edge is as if it had never been, and the other side is to forget it too.
    pub fn take_back(&mut self, to: u32) -> Reversal {
        let sent = self.sent.remove(&to);
        self.undo(sent, None)
    }

    /// Gives up all that was received from a peer, which has taken it back.
    pub fn give_up(&mut self, from: u32) -> Reversal {
        let received = self.received.remove(&from);
        self.undo(None, received)
    }

    /// Undoes both edges to a peer that is gone: what remains is right for those who are left, whatever was on its way.
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
        Reversal::Of(norm(&change) / usual)
    }

    /// Whether the mass is what inputs and edges say.
    pub fn audit(&self) -> bool {
        self.residual() == 0
    }

    /// By how many units it is not, at most.
    pub fn residual(&self) -> u64 {
        let mut says = self.input.clone();
        for received in self.received.values() {
            says.iter_mut().zip(received).for_each(|(says, received)| *says = says.wrapping_add(*received));
        }
        for sent in self.sent.values() {
            says.iter_mut().zip(sent).for_each(|(says, sent)| *says = says.wrapping_sub(*sent));
        }
        says.iter().zip(&self.mass).map(|(says, mass)| mass.wrapping_sub(*says).unsigned_abs()).max().unwrap_or(0)
    }

    /// Writes everything down, word by word.
    pub(super) fn save(&self, put: &mut impl FnMut(u64)) {
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

    /// Reads what was written, for as many scalars as there are.
    pub(super) fn restore<E>(&mut self, take: &mut impl FnMut() -> Result<u64, E>) -> Result<(), E> {
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

    /// Bytes of these books.
    pub fn bytes(&self) -> usize {
        (2 + self.sent.len() + self.received.len()) * self.mass.len() * size_of::<i64>()
    }

    /// Whether a cumulative sum or the mass comes near its end: time for a new epoch.
    pub fn is_full(&self) -> bool {
        let edges = self.sent.values().chain(self.received.values());
        // All of each: a loop that may end anywhere is slower.
        edges.chain([&self.mass]).any(|sums| !sums.iter().fold(true, |all, &units| all & is_within(units)))
    }
}

/// What undoing edges has changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reversal {
    /// There were none.
    Nothing,
    /// So many times the larger of what is put in and what there was, in the Euclidean norm.
    Of(f64),
}

/// Whether so many units can be booked. A sum of units within and a difference of sums that wrapped around is not: it is too far from where it should be.
#[inline]
fn is_within(units: i64) -> bool {
    units.unsigned_abs() < Unit::LIMIT as u64
}

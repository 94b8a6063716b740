//! The local state of a peer: its agent's row, memory and contribution, and what changes them.
//!
//! Nothing here knows of messages, members or edges. The ledger hands mass in, and takes what the
//! agent contributes, in whole units.

use std::ops::Range;
use std::sync::Arc;

use twox_hash::XxHash3_64;

use super::config::PeerConfig;
use super::ledger::Unit;
use super::movements::Movements;
use super::pull::Pull;
use super::wire::Chunk;
use crate::RowLayout;
use crate::algorithm::{Agent, Fresh, Request};
use crate::{Algorithm, Oracle, Problem, ProblemExt, Scalar, SegmentKind, Timer, Work, agent};

/// The row of one agent, and what it keeps between rounds.
pub(crate) struct LocalState<T: Scalar> {
    agent: AgentIdentity<T>,
    unit: Unit,
    layout: RowLayout,
    /// The row as it is sent.
    row: Vec<T>,
    /// The row of the next round, which is mixed and then corrected.
    next: Vec<T>,
    /// What the algorithm keeps between rounds outside the row, such as momentum.
    memory: Vec<T>,
    /// What the agent contributes to each pushed segment, as a level.
    contribution: Vec<T>,
    undo: Undo<T>,
    work: Work<T>,
    movements: Movements,
    /// The distance by which mixing last moved the pulled segments, as far as it was measured.
    disagreement: f64,
}

/// What defines the computation of an agent: problem, method, and the names of its random numbers.
struct AgentIdentity<T: Scalar> {
    algorithm: Arc<dyn Algorithm<T>>,
    problem: Arc<dyn Problem<T>>,
    seed: u64,
    agent: usize,
}

/// What a step changes, as it was before: a step whose result cannot be used is undone.
#[derive(Default)]
struct Undo<T> {
    memory: Vec<T>,
    contribution: Vec<T>,
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepOutcome {
    /// What the algorithm asks for.
    pub(crate) request: Request,
    /// Whether the step was taken; otherwise the agent only mixes in this round.
    pub(crate) taken: bool,
}

impl<T: Scalar> AgentIdentity<T> {
    fn oracle<'a>(&'a self, round: u64, work: &'a mut Work<T>) -> Oracle<'a, T> {
        Oracle::new(&*self.problem, self.seed, self.agent, round, work)
    }
}

impl<T: Scalar> LocalState<T> {
    /// The state of a peer's agent before [`LocalState::begin`], all zeros.
    pub(crate) fn new(config: &PeerConfig<T>, layout: RowLayout) -> Self {
        let agent = config.node as usize;
        let private = config.problem.private(agent);
        let width = config.algorithm.segments(private).width();
        Self {
            row: vec![T::zero(); width],
            next: vec![T::zero(); width],
            memory: vec![T::zero(); config.algorithm.keep(private)],
            contribution: vec![T::zero(); layout.pushed],
            undo: Undo::default(),
            work: Work::default(),
            movements: Movements::default(),
            disagreement: 0.0,
            unit: config.unit,
            layout,
            agent: AgentIdentity {
                algorithm: config.algorithm.clone(),
                problem: config.problem.clone(),
                seed: config.seed,
                agent,
            },
        }
    }

    /// The row as it is sent next.
    pub(crate) fn row(&self) -> &[T] {
        &self.row
    }

    /// What the algorithm keeps between rounds outside the row.
    pub(crate) fn memory(&self) -> &[T] {
        &self.memory
    }

    /// What the agent contributes to each pushed segment.
    pub(crate) fn contribution(&self) -> &[T] {
        &self.contribution
    }

    /// The counters of evaluations.
    pub(crate) fn work(&self) -> &Work<T> {
        &self.work
    }

    /// Measures from now on how long evaluations take.
    pub(crate) fn time_evaluations(&mut self, now: Timer) {
        self.work.measure_time(now);
    }

    /// The step size of the first block in a round.
    pub(crate) fn step_size(&self, round: u64) -> Option<f64> {
        let agreed = self.layout.spans.iter().filter(|part| part.kind == SegmentKind::Max);
        let agreed: Vec<T> = agreed.flat_map(|part| self.row[part.row.clone()].iter().copied()).collect();
        self.agent.algorithm.step_size(round, &agreed, &self.memory)
    }

    /// The distance by which mixing moved the pulled segments when it was last measured.
    pub(crate) fn disagreement(&self) -> f64 {
        self.disagreement
    }

    /// The bytes of rows, memory and contribution.
    pub(crate) fn bytes(&self) -> usize {
        (2 * self.row.len() + self.memory.len() + self.contribution.len()) * T::BYTES
    }

    /// A hash of a round, the row and the memory, which differs if a single bit does.
    pub(crate) fn fingerprint(&self, round: u64) -> u64 {
        let mut bytes = round.to_le_bytes().to_vec();
        self.row.iter().chain(&self.memory).for_each(|scalar| scalar.write(&mut bytes));
        XxHash3_64::oneshot(&bytes)
    }

    /// The point at which the agent is, private coordinates last.
    pub(crate) fn point(&self) -> Vec<T> {
        let mut point = vec![T::zero(); self.point_width()];
        self.agent.algorithm.point(&self.row, &self.memory, &mut point);
        point
    }

    /// The number of scalars of a point.
    pub(crate) fn point_width(&self) -> usize {
        self.agent.algorithm.blocks().width() + self.agent.problem.private(self.agent.agent)
    }

    /// The point at which the problem lets the agent start.
    pub(crate) fn starting_point(&self) -> Vec<T> {
        self.agent.algorithm.starting_point(&*self.agent.problem, self.agent.agent)
    }

    /// Starts an epoch at a point, and returns what the agent then contributes, in units.
    ///
    /// Where the result is not finite or cannot be booked, the samples of later rounds are tried,
    /// and then the starting point of the problem, in case the point has diverged. If all that
    /// fails, the agent contributes nothing, and `None` is returned: it only mixes until the next
    /// epoch.
    pub(crate) fn begin(&mut self, point: &[T], round: u64) -> Option<Vec<i64>> {
        const TRIES: u64 = 8;
        let start = self.starting_point();
        let before = (self.row.clone(), self.memory.clone());
        for point in [point, &start] {
            for later in 0..TRIES {
                (self.row, self.memory) = before.clone();
                self.begin_at(point, round + later);
                if let Some(levels) = self.levels().filter(|_| self.is_usable(&self.row)) {
                    return Some(levels);
                }
            }
        }
        (self.row, self.memory) = before;
        self.contribution.fill(T::zero());
        None
    }

    /// Fills the pushed segments of the row with the mass that the ledger says.
    pub(crate) fn load_mass(&mut self, mass: &[i64]) {
        for part in self.layout.pushed() {
            for (scalar, &units) in self.row[part.row.clone()].iter_mut().zip(&mass[part.input.clone()]) {
                *scalar = self.unit.scalar(units);
            }
        }
    }

    /// Mixes the pulled and largest segments of those that have arrived into the next row.
    pub(crate) fn mix(&mut self, pull: &mut Pull<'_>) {
        pull.mix(self.unit, &self.row, &mut self.next);
    }

    /// Adds the largest movement of a scalar of each of these chunks in this round: no scalar has
    /// moved by more, as it is rounded to units.
    pub(crate) fn add_movements(&mut self, chunks: &[Chunk]) {
        let Self { movements, row, next, unit, .. } = self;
        movements.add(chunks.iter().map(|chunk| {
            let moved = next[chunk.place.clone()].iter().zip(&row[chunk.place.clone()]);
            let largest = moved.fold(0.0, |largest: f64, (next, now)| largest.max((next.f64() - now.f64()).abs()));
            // Both ends are rounded to units, and so is the difference itself.
            unit.at_most(largest).saturating_add(2)
        }));
    }

    /// The movements of all pulled chunks.
    pub(crate) fn movements(&self) -> &Movements {
        &self.movements
    }

    /// Measures how far mixing has moved the pulled segments, in the Euclidean norm.
    pub(crate) fn measure_disagreement(&mut self) {
        let pulled = self.layout.spans.iter().filter(|part| part.kind == SegmentKind::Pull);
        let moved = pulled.flat_map(|part| self.next[part.row.clone()].iter().zip(&self.row[part.row.clone()]));
        self.disagreement = moved.map(|(next, now)| (next.f64() - now.f64()).powi(2)).sum::<f64>().sqrt();
    }

    /// Completes the mixed row before a step: pushed segments hold the mass without the old level,
    /// since an algorithm writes a new one, and private segments are as they were.
    pub(crate) fn prepare_step(&mut self, mass: &[i64], level: &[i64]) {
        for part in self.layout.pushed() {
            let units = mass[part.input.clone()].iter().zip(&level[part.input.clone()]);
            for (scalar, (mass, level)) in self.next[part.row.clone()].iter_mut().zip(units) {
                *scalar = self.unit.scalar(mass - level);
            }
        }
        let shared = self.layout.shared;
        self.next[shared..].copy_from_slice(&self.row[shared..]);
    }

    /// Corrects the mixed row by a step of the algorithm; `book` is told the old level and the new
    /// one. A step whose result is not finite, or cannot be booked, is not taken: memory and
    /// contribution are then as before, and the next row must be mixed and prepared again.
    pub(crate) fn step(&mut self, round: u64, book: impl FnOnce(&[T], &[T]) -> bool) -> StepOutcome {
        self.undo.memory.clone_from(&self.memory);
        self.undo.contribution.clone_from(&self.contribution);
        let request = self.correct(round);
        let usable = self.is_usable(&self.next);
        if usable && book(&self.undo.contribution, &self.contribution) {
            return StepOutcome { request, taken: true };
        }
        let finite = usable && self.contribution.iter().all(|scalar| scalar.is_finite());
        std::mem::swap(&mut self.memory, &mut self.undo.memory);
        std::mem::swap(&mut self.contribution, &mut self.undo.contribution);
        // Levels that have grown too large to be booked are smaller in a new epoch.
        StepOutcome { request: if finite { Request::Restart } else { Request::Go }, taken: false }
    }

    /// Makes the next row the present one; its pushed segments are the mass that the ledger says.
    pub(crate) fn end_round(&mut self, mass: &[i64]) {
        std::mem::swap(&mut self.row, &mut self.next);
        self.load_mass(mass);
    }

    /// Appends row, memory and contribution to a snapshot.
    pub(crate) fn save(&self, bytes: &mut Vec<u8>) {
        for scalar in self.row.iter().chain(&self.memory).chain(&self.contribution) {
            scalar.write(bytes);
        }
    }

    /// Restores row, memory and contribution, and returns whether the bytes are exactly these.
    pub(crate) fn restore(&mut self, bytes: &[u8]) -> bool {
        let mut saved = bytes.chunks_exact(T::BYTES);
        for scalar in self.row.iter_mut().chain(&mut self.memory).chain(&mut self.contribution) {
            let Some(bytes) = saved.next() else { return false };
            *scalar = T::read(bytes);
        }
        saved.next().is_none()
    }

    fn begin_at(&mut self, point: &[T], round: u64) {
        let fresh = Fresh { row: &mut self.row, keep: &mut self.memory, input: &mut self.contribution };
        let mut oracle = self.agent.oracle(round, &mut self.work);
        agent::begin(&*self.agent.algorithm, &self.layout, point, fresh, &mut oracle);
    }

    /// The step itself. The ledger adds the new contribution in whole units, so that
    /// [`crate::agent::step`], which adds scalars, is of no use here.
    fn correct(&mut self, round: u64) -> Request {
        let Self { row, next, memory, contribution, .. } = self;
        let agent = Agent { now: row, next, keep: memory, input: contribution };
        self.agent.algorithm.step(agent, &mut self.agent.oracle(round, &mut self.work))
    }

    /// What the agent contributes, in units, or `None` if it cannot be booked.
    fn levels(&self) -> Option<Vec<i64>> {
        let mut levels = vec![0; self.contribution.len()];
        self.unit.all_units(&self.contribution, &mut levels).then_some(levels)
    }

    /// Whether a row is finite and the memory has no NaN. An algorithm may keep infinity in its
    /// memory, as "none yet". Pushed segments are not looked at: they become what the ledger says.
    fn is_usable(&self, row: &[T]) -> bool {
        let others =
            self.layout.spans.iter().filter(|part| part.kind != SegmentKind::Push).map(|part| part.row.clone());
        let finite = |part: Range<usize>| row[part].iter().fold(true, |all, scalar| all & scalar.is_finite());
        others.chain([self.layout.shared..row.len()]).all(finite)
            && self.memory.iter().fold(true, |all, scalar| all & !scalar.is_nan())
    }
}

#[cfg(test)]
mod tests;

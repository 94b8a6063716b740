//! One trial: push-pull of the model on the network with one plan.

use super::model::{TrialModel, WIDTH};
use crate::Mixing;
use crate::algorithm::Tracker;
use crate::algorithm::step_plan::{Acceleration, StepPlan};
use crate::network::MixingSequence;

/// The values of all agents.
type Values = Vec<[f64; WIDTH]>;

/// The buffers of trials, kept from one to the next, and the work done so far.
pub(super) struct PlanTrial<'a> {
    model: &'a TrialModel,
    mixings: &'a MixingSequence<'a>,
    point: Mixed,
    tracker: Mixed,
    velocity: Values,
    directions: Values,
    /// The entries of mixing matrices that were multiplied.
    pub(super) work: u64,
}

/// Values that are mixed, and what acceleration needs of the mixings before.
struct Mixed {
    now: Values,
    next: Values,
    /// The values before the last mixing (Chebyshev), or the sum of all so far (window).
    memory: Values,
}

impl<'a> PlanTrial<'a> {
    /// What counts as solved, relative to the start, and ln of its inverse: a trial tells how many
    /// gradient steps a factor of e takes.
    const SOLVED: f64 = 1e-4;
    const FACTORS: f64 = 9.2;
    /// What counts as diverged.
    const DIVERGED: f64 = 1e4;

    pub(super) fn new(model: &'a TrialModel, mixings: &'a MixingSequence<'a>) -> Self {
        let zeros = vec![[0.0; WIDTH]; model.agents()];
        let mixed = || Mixed { now: zeros.clone(), next: zeros.clone(), memory: zeros.clone() };
        let (point, tracker) = (mixed(), mixed());
        Self { model, mixings, point, tracker, velocity: zeros.clone(), directions: zeros, work: 0 }
    }

    /// The gradient steps that a plan needs for a factor of e, over the way to the solution;
    /// infinite if it diverges, or needs more than `limit`.
    pub(super) fn steps(&mut self, plan: &StepPlan, limit: f64) -> f64 {
        self.begin(|_| 1.0);
        let (mut step, mut solved_at) = (0u64, None);
        while step as f64 <= limit * Self::FACTORS {
            self.step(step, plan);
            step += 1;
            let worst = self.worst();
            if worst >= Self::DIVERGED {
                return f64::INFINITY;
            }
            solved_at = if worst < Self::SOLVED { solved_at.or(Some(step)) } else { None };
            // It must stay there for a while: momentum may pass through.
            if let Some(solved) = solved_at.filter(|solved| step >= solved + 5 + solved / 8) {
                return solved as f64 / Self::FACTORS;
            }
        }
        f64::INFINITY
    }

    /// Whether agents that begin apart, and moving, come together with a plan that needs this many
    /// gradient steps for a factor of e.
    ///
    /// The first mixings of some networks wipe out a disagreement of agents that begin together,
    /// whether it would grow with this plan or not. Rounding errors bring it back, much later.
    pub(super) fn brings_together(&mut self, plan: &StepPlan, steps: f64) -> bool {
        let model = self.model;
        self.begin(|agent| model.own_part(agent));
        self.velocity.copy_from_slice(&self.directions);
        // What agents have in common is solved after half of that time.
        let quarter = (0.5 * Self::FACTORS * steps).ceil() as u64 + 10;
        let mut worst = [0.0f64; 4];
        for step in 0..4 * quarter {
            self.step(step, plan);
            let now = self.worst();
            if now >= Self::DIVERGED {
                return false;
            }
            let largest = &mut worst[(step / quarter) as usize];
            *largest = largest.max(now);
        }
        worst[3] < Self::SOLVED || worst[3] < worst[2]
    }

    /// The largest value of any agent.
    fn worst(&self) -> f64 {
        self.point.now.iter().flatten().fold(0.0f64, |worst, v| worst.max(v.abs()))
    }

    /// Begins with each agent at this part of the way from the solution to the start.
    fn begin(&mut self, part: impl Fn(usize) -> f64) {
        let start = self.model.start();
        for (agent, point) in self.point.now.iter_mut().enumerate() {
            *point = start.map(|place| part(agent) * place);
        }
        for (agent, d) in self.directions.iter_mut().enumerate() {
            *d = self.model.direction(agent, &self.point.now[agent]);
        }
        self.tracker.now.copy_from_slice(&self.directions);
        self.velocity.fill([0.0; WIDTH]);
    }

    /// All mixings of a block, and the step at its end.
    fn step(&mut self, step: u64, plan: &StepPlan) {
        let mixing = plan.mixing;
        let mut factor = 1.0;
        for place in 0..mixing.mixings {
            let last = place + 1 == mixing.mixings;
            if last && mixing.order == Tracker::MixThenAdd {
                self.accelerate(plan.momentum);
            }
            factor = mixing.acceleration.factor(place, factor);
            let graph = self.mixings.order().graph_of(step * mixing.mixings + place);
            self.mixings.visit(graph, |matrices| {
                self.point.mix(matrices, |row| row.pull, mixing.acceleration, (place, factor));
                self.tracker.mix(matrices, |row| row.push, mixing.acceleration, (place, factor));
                self.work += 2 * matrices.entries() as u64;
            });
        }
        self.point.finish(mixing.acceleration, mixing.mixings);
        self.tracker.finish(mixing.acceleration, mixing.mixings);
        if mixing.order == Tracker::AddThenMix {
            self.accelerate(plan.momentum);
        }
        self.advance(&plan.sizes);
    }

    /// `m = β m + t`.
    fn accelerate(&mut self, momentum: f64) {
        for (m, t) in self.velocity.iter_mut().zip(&self.tracker.now) {
            m.iter_mut().zip(t).for_each(|(m, t)| *m = momentum * *m + t);
        }
    }

    /// `v −= η m`, and `t += d⁺ − d`.
    fn advance(&mut self, sizes: &[f64; 3]) {
        for agent in 0..self.velocity.len() {
            let v = &mut self.point.now[agent];
            v.iter_mut().zip(&self.velocity[agent]).enumerate().for_each(|(place, (v, m))| *v -= sizes[place % 3] * m);
            let d = self.model.direction(agent, v);
            let before = std::mem::replace(&mut self.directions[agent], d);
            for (t, (d, before)) in self.tracker.now[agent].iter_mut().zip(d.iter().zip(before)) {
                *t += d - before;
            }
        }
    }
}

impl Mixed {
    /// Mixes values once.
    fn mix(
        &mut self,
        matrices: &Mixing,
        weights: impl for<'r> Fn(&crate::Row<'r>) -> &'r [f64],
        acceleration: Acceleration,
        (place, factor): (u64, f64),
    ) {
        for (agent, out) in self.next.iter_mut().enumerate() {
            let row = matrices.row(agent);
            let mut sum = [0.0; WIDTH];
            for (&source, weight) in row.sources.iter().zip(weights(&row)) {
                let value = &self.now[source as usize];
                sum.iter_mut().zip(value).for_each(|(sum, value)| *sum += weight * value);
            }
            *out = sum;
        }
        std::mem::swap(&mut self.now, &mut self.next); // next holds the values before
        match acceleration {
            Acceleration::Plain => {}
            Acceleration::Window if place == 0 => self.memory.copy_from_slice(&self.now),
            Acceleration::Window => zip(&mut self.memory, &self.now, |sum, now| *sum += now),
            Acceleration::Chebyshev { .. } => {
                if place > 0 {
                    zip(&mut self.now, &self.memory, |now, before| *now = factor * (*now - before) + before);
                }
                std::mem::swap(&mut self.memory, &mut self.next);
            }
        }
    }

    /// Ends a block of mixings.
    fn finish(&mut self, acceleration: Acceleration, mixings: u64) {
        if acceleration == Acceleration::Window {
            zip(&mut self.now, &self.memory, |now, sum| *now = sum / mixings as f64);
        }
    }
}

/// Changes each value by another one.
fn zip(values: &mut Values, others: &Values, change: impl Fn(&mut f64, f64)) {
    for (value, other) in values.as_flattened_mut().iter_mut().zip(others.as_flattened()) {
        change(value, *other);
    }
}

//! Algorithms: a pure function on one agent's row.
//!
//! Every method of this family mixes linearly with its neighbours, then corrects locally. Mixing is
//! the engine's; the correction is here, and knows of no graph, no neighbour and no message. The
//! symbols are the paper's:
//!
//! | symbol | meaning |
//! |---|---|
//! | `v` | the shared point: (x, y, z) in FAB |
//! | `t` | the tracker of the direction's average, `Σt = Σd` |
//! | `d` | the direction, this agent's own |
//! | `u`, `w` | push-sum's mass and weight; `u/w` is the point |
//! | `A`, `B` | pull and push weights |

mod adaptive;
mod auto;
mod compressed;
mod compression;
mod compressor;
mod estimator;
mod exchanges;
mod gossip;
mod guard;
mod hyper_gradient_push;
mod k_gt;
mod mover;
mod progress;
mod push_pull;
mod push_sum;
mod recovery;
mod registry;
mod rest;
mod schedule;
mod segment;
mod step_plan;
mod step_rule;
mod steps;
mod tracker;
mod trial;
mod two_step;

pub use adaptive::Adaptive;
pub use auto::Auto;
pub use compressed::Compressed;
pub use compression::Compression;
pub use compressor::Compressor;
pub use estimator::Estimator;
pub use exchanges::Exchanges;
pub use gossip::Gossip;
pub use hyper_gradient_push::{HyperGradientPush, Turns};
pub use k_gt::KGt;
pub use mover::Mover;
pub use push_pull::PushPull;
pub use push_sum::{PushSum, Tracking};
pub use registry::{Built, Method, Read, Recipe, methods};
pub use segment::{Mask, Segment, SegmentKind, Segments, larger};
pub use step_plan::{Acceleration, MixingPlan, StepPlan};
pub use steps::{StepDecay, Steps, StepsError};
pub use tracker::Tracker;
pub use two_step::{Correction, TwoStep};

use crate::{Blocks, Direction, Oracle, Problem, ProblemExt, Scalar, Smoothness};

/// A method, as what one agent does in one round between receiving and sending.
///
/// The engine fills `next` with the mixed neighbourhood (`A v` in pulled segments, `B t` in pushed
/// ones), calls [`Algorithm::step`], and sends what the step leaves there.
pub trait Algorithm<T: Scalar>: Send + Sync {
    /// The direction that it follows.
    fn direction(&self) -> &dyn Direction<T>;

    /// The direction with its step rule, for methods that move by one: what follows about step
    /// sizes is then answered by it.
    fn mover(&self) -> Option<&Mover<T>> {
        None
    }

    /// The named parts of a point, those of its direction: what metrics, checkpoints and joiners
    /// read. Private coordinates follow after them.
    fn blocks(&self) -> &Blocks;

    /// The row of an agent with this many private coordinates. Its shared part is the same for
    /// every agent.
    fn segments(&self, own: usize) -> Segments;

    /// Scalars that stay with the agent between rounds and are no part of the row, such as
    /// momentum.
    fn keep(&self, own: usize) -> usize;

    /// What is exchanged in the round that leads to the next step: inner loops and local steps
    /// exchange only some segments.
    fn sends(&self, _round: u64) -> Mask {
        Mask::ALL
    }

    /// The bytes in which this many scalars of a row travel over a link; methods that compress need
    /// fewer.
    fn message_bytes(&self, scalars: usize) -> usize {
        scalars * T::BYTES
    }

    /// The point at which a problem lets an agent start, private coordinates last.
    fn starting_point(&self, problem: &dyn Problem<T>, agent: usize) -> Vec<T> {
        let (own, x, y) = problem.starting_point(agent);
        let mut point = vec![T::zero(); self.blocks().width()];
        self.direction().start(&x, &y, &mut point);
        point.extend(own);
        point
    }

    /// Starts at a point, at the beginning and at every epoch: writes the pulled, largest and
    /// private segments of the row, and the input. The engine fills the pushed segments from the
    /// input (t = d, w = 1). Row and keep arrive as zeros at the first start and as they were at a
    /// restart.
    fn begin(&self, point: &[T], agent: Fresh<'_, T>, oracle: &mut Oracle<'_, T>);

    /// Carries out one round of one agent.
    fn step(&self, agent: Agent<'_, T>, oracle: &mut Oracle<'_, T>) -> Request;

    /// Writes the point that a row stands for.
    fn point(&self, row: &[T], keep: &[T], out: &mut [T]);

    /// Whether it can go on when what went over some edges is undone. Push-sum cannot: its weights
    /// may end up below zero.
    fn bears_reversals(&self) -> bool {
        true
    }

    /// Whether shares of mass may be rounded to what words of few bits can tell apart. Trackers
    /// vanish at the solution, and the rounding with them. Push-sum shares its points, which do
    /// not: it would stay as far from the solution as one rounding.
    fn bears_rounding(&self) -> bool {
        self.bears_reversals()
    }

    /// What agents with automatic step sizes decide if these are the largest norms that they
    /// measure; none if step sizes are given.
    fn step_plan(&self, smoothness: &Smoothness) -> Option<StepPlan> {
        self.mover()?.step_plan(smoothness)
    }

    /// The step size of the first block in a round, from what agents have agreed on (the largest
    /// segments of a row) and what this one keeps; none where it is not decided yet.
    fn step_size(&self, round: u64, agreed: &[T], keep: &[T]) -> Option<f64> {
        self.mover()?.step_size(round, agreed, keep)
    }

    /// Rounds within which the algorithm itself undoes a runaway: who watches for divergence waits
    /// this long.
    fn recovers_within(&self) -> u64 {
        self.mover().map_or(0, Mover::recovers_within)
    }
}

/// One agent in one round, as an algorithm sees it.
#[derive(Debug)]
pub struct Agent<'a, T> {
    /// The row as it was sent.
    pub now: &'a [T],
    /// Arrives mixed, leaves as what is sent next.
    pub next: &'a mut [T],
    /// What stays with the agent between rounds.
    pub keep: &'a mut [T],
    /// What this agent contributes to each pushed segment, as a level. The old level has been taken
    /// from `next`; the algorithm overwrites it and the engine adds the new one. So `Σ pushed = Σ
    /// input` holds by construction, whatever the algorithm writes.
    pub input: &'a mut [T],
}

/// One agent at the start of an epoch.
#[derive(Debug)]
pub struct Fresh<'a, T> {
    /// The row, to be written.
    pub row: &'a mut [T],
    /// What stays with the agent between rounds.
    pub keep: &'a mut [T],
    /// The first contributions to the pushed segments.
    pub input: &'a mut [T],
}

/// What an algorithm asks of the engine after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Request {
    /// Go on with the next round.
    #[default]
    Go,
    /// Start a new epoch at everyone's current point: an algorithm never resets trackers itself,
    /// because shares may be in flight.
    Restart,
}

impl Request {
    /// The stronger of two requests: one agent suffices to restart all.
    pub fn or(self, other: Self) -> Self {
        if self == Self::Restart { self } else { other }
    }
}

/// Writes a point: its shared part, then the private coordinates, which are the tail of the row.
fn write_point<T: Copy>(shared: &[T], row: &[T], out: &mut [T]) {
    let (out_shared, out_own) = out.split_at_mut(shared.len());
    out_shared.copy_from_slice(shared);
    out_own.copy_from_slice(&row[row.len() - out_own.len()..]);
}

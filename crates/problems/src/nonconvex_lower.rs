//! A bilevel problem whose lower level is nonconvex in y.

use std::f64::consts::{FRAC_PI_2, TAU};

use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::{
    Capabilities, Curvature, Dim, GradientMut, KnownOptimum, Level, Optimum, Point, Problem, Scalar, Scratch, linalg,
};

use crate::dense::narrow;

/// The example with a nonconvex lower level of Liu, Liu, Zeng, Zhang: *Value-function-based
/// sequential minimization for bi-level optimization*, TPAMI 2023, divided between agents:
///
/// ```text
/// fᵢ = (x − aᵢ)² + Σₛ (yₛ − aᵢ − dᵢₛ)²        gᵢ = Σₛ sin(x + yₛ − cᵢₛ)
/// ```
/// Here x is a scalar. The lower level has infinitely many minima. It is smooth and weakly convex
/// with constant 1, which is what methods with a Moreau envelope need (Liu, Liu, Yao, Zeng, Zhang:
/// *Moreau envelope for nonconvex bi-level optimization*, ICML 2024).
///
/// The mean of the gᵢ is `Σₛ Rₛ sin(x + yₛ − ψₛ)`, and dᵢₛ has the mean ψₛ. With m coordinates of
/// y and the mean a of the aᵢ, the solution is `x = ((1 − m)a + mC)/(1 + m)` and `yₛ = C + ψₛ − x`,
/// where C is the number `2πk − π/2` that is nearest to 2a. Methods find it from starts close by;
/// the other k are stationary, too.
#[derive(Clone, Debug)]
pub struct NonconvexLower<T> {
    parts: Vec<AgentWaves<T>>,
    solution: Optimum<f64>,
}

/// One agent's a, c and a + d.
#[derive(Clone, Debug)]
struct AgentWaves<T> {
    centre: T,
    phases: Vec<T>,
    wanted: Vec<T>,
}

impl<T: Scalar> NonconvexLower<T> {
    /// A problem with this many coordinates of y, drawn from a seed; what an agent has of its own
    /// differs by `heterogeneity`.
    pub fn new(agents: usize, inner: usize, heterogeneity: f64, seed: u64) -> Self {
        let common: Vec<f64> = Stream::new(seed, EVERYONE, 0, Purpose::Data).normals(inner, 0.3);
        let mut parts: Vec<AgentWaves<f64>> =
            (0..agents).map(|agent| AgentWaves::draw(&common, heterogeneity, seed, agent)).collect();
        let mean = |of: &dyn Fn(&AgentWaves<f64>) -> f64| parts.iter().map(of).sum::<f64>() / agents as f64;
        let centre = mean(&|part| part.centre);
        let phase = |s: usize| mean(&|part| part.phases[s].sin()).atan2(mean(&|part| part.phases[s].cos()));
        let phases: Vec<f64> = (0..inner).map(phase).collect();
        let shift: Vec<f64> = (0..inner).map(|s| centre + phases[s] - mean(&|part| part.wanted[s])).collect();
        for part in &mut parts {
            linalg::add(&mut part.wanted, &shift);
        }
        Self { parts: parts.iter().map(AgentWaves::narrowed).collect(), solution: solution(agents, centre, &phases) }
    }

    /// Each `x + yₛ − cᵢₛ`.
    fn angles<'a>(&'a self, at: Point<'a, T>) -> impl Iterator<Item = T> + 'a {
        at.y.iter().zip(&self.parts[at.agent].phases).map(move |(&y, &c)| at.x[0] + y - c)
    }
}

/// The solution for this mean of the centres, and these phases ψ.
fn solution(agents: usize, centre: f64, phases: &[f64]) -> Optimum<f64> {
    let lowest = ((2.0 * centre + FRAC_PI_2) / TAU).round() * TAU - FRAC_PI_2;
    let m = phases.len() as f64;
    let x = ((1.0 - m) * centre + m * lowest) / (1.0 + m);
    let y = phases.iter().map(|phase| lowest + phase - x).collect();
    Optimum { x: vec![x], y, own: vec![Vec::new(); agents] }
}

impl<T: Scalar> Problem<T> for NonconvexLower<T> {
    fn agents(&self) -> usize {
        self.parts.len()
    }

    fn dim(&self) -> Dim {
        Dim { outer: 1, inner: self.solution.y.len() }
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>, _scratch: &mut Scratch<T>) {
        let part = &self.parts[at.agent];
        let ((sx, sy), two) = (to.scale, T::of(2.0));
        match level {
            Level::Upper => {
                to.x.iter_mut().for_each(|out| *out += sx * two * (at.x[0] - part.centre));
                for ((out, &y), &wanted) in to.y.iter_mut().zip(at.y).zip(&part.wanted) {
                    *out += sy * two * (y - wanted);
                }
            }
            Level::Lower => {
                to.x.iter_mut().for_each(|out| *out += sx * self.angles(at).map(T::cos).sum::<T>());
                to.y.iter_mut().zip(self.angles(at)).for_each(|(out, angle)| *out += sy * angle.cos());
            }
        }
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        let part = &self.parts[at.agent];
        let square = |gap: T| gap * gap;
        match level {
            Level::Upper => {
                let fit: T = at.y.iter().zip(&part.wanted).map(|(&y, &wanted)| square(y - wanted)).sum();
                square(at.x[0] - part.centre) + fit
            }
            Level::Lower => self.angles(at).map(T::sin).sum(),
        }
    }

    fn capabilities(&self) -> Capabilities<'_, T> {
        Capabilities { curvature: Some(self), optimum: Some(self), ..Capabilities::default() }
    }
}

impl<T: Scalar> Curvature<T> for NonconvexLower<T> {
    fn add_product(&self, at: Point<'_, T>, v: &[T], to: GradientMut<'_, T>, _scratch: &mut Scratch<T>) {
        let (sx, sy) = to.scale;
        let product = || self.angles(at).zip(v).map(|(angle, &v)| -angle.sin() * v);
        to.x.iter_mut().for_each(|out| *out += sx * product().sum::<T>());
        to.y.iter_mut().zip(product()).for_each(|(out, product)| *out += sy * product);
    }
}

impl<T: Scalar> KnownOptimum<T> for NonconvexLower<T> {
    fn optimum(&self) -> Optimum<T> {
        let Optimum { x, y, .. } = &self.solution;
        Optimum { x: narrow(x), y: narrow(y), own: vec![Vec::new(); self.parts.len()] }
    }
}

impl AgentWaves<f64> {
    /// The start, where x and y are 0, lies in the valley of the solution if agents differ little.
    fn draw(common: &[f64], heterogeneity: f64, seed: u64, agent: usize) -> Self {
        let mut stream = Stream::new(seed, agent, 0, Purpose::Data);
        let phases = common.iter().zip(stream.normals::<f64>(common.len(), heterogeneity)).map(|(c, e)| c + e);
        let phases = phases.collect();
        let wanted = stream.normals(common.len(), heterogeneity);
        Self { centre: -0.5 + stream.normals::<f64>(1, heterogeneity)[0], phases, wanted }
    }

    fn narrowed<T: Scalar>(&self) -> AgentWaves<T> {
        AgentWaves { centre: T::of(self.centre), phases: narrow(&self.phases), wanted: narrow(&self.wanted) }
    }
}

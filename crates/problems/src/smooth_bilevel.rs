//! A smooth bilevel problem that is not quadratic.

use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::{Capabilities, Curvature, Dim, GradientMut, Level, Point, Problem, Scalar, Scratch, linalg};

use crate::dense::Matrix;

/// The problem on which FAB's rate is measured: strongly convex in y, nonconvex in x, all
/// derivatives bounded.
///
/// ```text
/// gᵢ = Σₛ [μ/2 yₛ² + wᵢₛ log cosh(yₛ − (Cᵢ sin x)ₛ − bᵢₛ)]
/// fᵢ = Σₛ (√(1 + (yₛ − qᵢₛ)²) − 1) + 0.01 ‖x‖² + 0.1 Σ cos x
/// ```
#[derive(Clone, Debug)]
pub struct SmoothBilevel<T> {
    parts: Vec<AgentFunctions<T>>,
}

/// One agent's data: C, w, b and q.
#[derive(Clone, Debug)]
struct AgentFunctions<T> {
    mix: Matrix<T>,
    weight: Vec<T>,
    offset: Vec<T>,
    wanted: Vec<T>,
}

impl<T: Scalar> SmoothBilevel<T> {
    const OUTER: usize = 3;
    const INNER: usize = 6;
    const MU: f64 = 0.3;

    /// A problem that is drawn from a seed.
    pub fn new(agents: usize, seed: u64) -> Self {
        let spread = 0.8 / 3f64.sqrt();
        let common: Vec<f64> = Stream::new(seed, EVERYONE, 0, Purpose::Data).normals(Self::INNER * Self::OUTER, 1.0);
        let part = |agent| {
            let mut stream = Stream::new(seed, agent, 0, Purpose::Data);
            let apart: Vec<f64> = stream.normals(Self::INNER * Self::OUTER, spread);
            AgentFunctions {
                mix: Matrix::from_fn(Self::INNER, Self::OUTER, |s, j| {
                    T::of(0.6 * (common[s * Self::OUTER + j] + apart[s * Self::OUTER + j]))
                }),
                weight: stream.uniforms(Self::INNER, 0.5, 1.5),
                offset: stream.normals(Self::INNER, 1.0),
                wanted: stream.normals(Self::INNER, 1.0),
            }
        };
        Self { parts: (0..agents).map(part).collect() }
    }

    /// `y − C sin x − b`.
    fn gap(&self, at: Point<'_, T>, e: &mut [T]) {
        let part = &self.parts[at.agent];
        linalg::sum_scaled(e, at.y, -T::one(), &part.offset);
        for (column, &x) in part.mix.columns().zip(at.x) {
            linalg::add_scaled(e, -x.sin(), column);
        }
    }

    /// `out −= s·cos x ∘ Cᵀe`: what a slope e of the gap is in x.
    fn add_outer(&self, at: Point<'_, T>, s: T, e: &[T], out: &mut [T]) {
        for ((column, &x), out) in self.parts[at.agent].mix.columns().zip(at.x).zip(out) {
            *out -= s * x.cos() * linalg::dot(column, e);
        }
    }
}

impl<T: Scalar> Problem<T> for SmoothBilevel<T> {
    fn agents(&self) -> usize {
        self.parts.len()
    }

    fn dim(&self) -> Dim {
        Dim { outer: Self::OUTER, inner: Self::INNER }
    }

    fn start(&self, _agent: usize, _own: &mut [T], x: &mut [T], _y: &mut [T]) {
        x.iter_mut().zip([0.5, 0.6, 0.7]).for_each(|(x, start)| *x = T::of(start));
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>, scratch: &mut Scratch<T>) {
        let part = &self.parts[at.agent];
        let (sx, sy) = to.scale;
        match level {
            Level::Upper => {
                for ((out, &y), &q) in to.y.iter_mut().zip(at.y).zip(&part.wanted) {
                    *out += sy * (y - q) / (T::one() + (y - q) * (y - q)).sqrt();
                }
                for (out, &x) in to.x.iter_mut().zip(at.x) {
                    *out += sx * (T::of(0.02) * x - T::of(0.1) * x.sin());
                }
            }
            Level::Lower => {
                let [e] = scratch.buffers([Self::INNER]);
                self.gap(at, e);
                e.iter_mut().zip(&part.weight).for_each(|(e, &w)| *e = w * e.tanh());
                linalg::add_scaled(to.y, sy, e);
                linalg::add_scaled(to.y, sy * T::of(Self::MU), at.y);
                self.add_outer(at, sx, e, to.x);
            }
        }
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        let part = &self.parts[at.agent];
        match level {
            Level::Upper => {
                let fit: T =
                    at.y.iter()
                        .zip(&part.wanted)
                        .map(|(&y, &q)| (T::one() + (y - q) * (y - q)).sqrt() - T::one())
                        .sum();
                fit + T::of(0.01) * linalg::norm_squared(at.x) + T::of(0.1) * at.x.iter().map(|x| x.cos()).sum::<T>()
            }
            Level::Lower => {
                let mut e = vec![T::zero(); Self::INNER];
                self.gap(at, &mut e);
                let fit: T = e.iter().zip(&part.weight).map(|(e, &w)| w * e.cosh().ln()).sum();
                fit + T::of(0.5 * Self::MU) * linalg::norm_squared(at.y)
            }
        }
    }

    fn capabilities(&self) -> Capabilities<'_, T> {
        Capabilities { curvature: Some(self), ..Capabilities::default() }
    }
}

impl<T: Scalar> Curvature<T> for SmoothBilevel<T> {
    /// With `s = w sech²(gap)`: `∇²ᵧᵧg v = μv + s∘v` and `∇²ₓᵧg v = −cos x ∘ Cᵀ(s∘v)`.
    fn add_product(&self, at: Point<'_, T>, v: &[T], to: GradientMut<'_, T>, scratch: &mut Scratch<T>) {
        let [e] = scratch.buffers([Self::INNER]);
        self.gap(at, e);
        for ((e, &w), &v) in e.iter_mut().zip(&self.parts[at.agent].weight).zip(v) {
            *e = w * v / (e.cosh() * e.cosh());
        }
        linalg::add_scaled(to.y, to.scale.1, e);
        linalg::add_scaled(to.y, to.scale.1 * T::of(Self::MU), v);
        self.add_outer(at, to.scale.0, e, to.x);
    }
}

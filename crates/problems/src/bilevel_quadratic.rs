//! A bilevel quadratic.

use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::{
    Capabilities, Curvature, Dim, GradientMut, KnownOptimum, Level, LocalData, Optimum, Point, PrivatePart, Problem,
    Scalar, Scratch, linalg,
};

use crate::dense::{Matrix, narrow, solve_positive};

/// A quadratic at both levels, with known solution, adjustable conditioning and heterogeneity, and
/// private outer coordinates pᵢ if wanted.
///
/// ```text
/// fᵢ = ½‖y − qᵢ‖² + ρ/2 ‖x − aᵢ‖² + ρ/2 ‖pᵢ − sᵢ‖²        gᵢ = ½ Σₛ hᵢₛ (y − Hᵢx − Eᵢpᵢ − bᵢ)ₛ²
/// ```
#[derive(Clone, Debug)]
pub struct BilevelQuadratic<T> {
    dim: Dim,
    parts: Vec<AgentQuadratic<T>>,
}

/// The functions of one agent.
#[derive(Clone, Debug)]
struct AgentQuadratic<T> {
    /// The curvature h of g.
    curvature: Vec<T>,
    /// H and E: how x and p enter the target of y.
    shared: Matrix<T>,
    private: Matrix<T>,
    /// The offset b of the lower level.
    offset: Vec<T>,
    /// q, a and s: where f would like y, x and p.
    inner: Vec<T>,
    outer: Vec<T>,
    own: Vec<T>,
}

/// What a bilevel quadratic is drawn from.
#[derive(Clone, Copy, Debug)]
struct Shape {
    dim: Dim,
    condition: f64,
    heterogeneity: f64,
}

impl<T: Scalar> BilevelQuadratic<T> {
    const RIDGE: f64 = 0.5;

    /// Curvatures of g lie between 1/`condition` and 1; everything an agent has of its own differs
    /// by `heterogeneity`.
    pub fn new(agents: usize, dim: Dim, condition: f64, heterogeneity: f64, seed: u64) -> Self {
        Self::with_private(agents, dim, condition, heterogeneity, seed, |_| 0)
    }

    /// The same, with this many private outer coordinates for each agent.
    pub fn with_private(
        agents: usize,
        dim: Dim,
        condition: f64,
        heterogeneity: f64,
        seed: u64,
        private: impl Fn(usize) -> usize,
    ) -> Self {
        let shape = Shape { dim, condition, heterogeneity };
        Self { dim, parts: (0..agents).map(|agent| AgentQuadratic::draw(shape, seed, agent, private(agent))).collect() }
    }

    /// `h ∘ (y − Hx − Ep − b)`: the slope of g in y.
    fn lower_slope(&self, at: Point<'_, T>, e: &mut [T]) {
        let part = &self.parts[at.agent];
        linalg::sum_scaled(e, at.y, -T::one(), &part.offset);
        part.shared.add_product(-T::one(), at.x, e);
        part.private.add_product(-T::one(), at.own, e);
        multiply(e, &part.curvature);
    }
}

impl<T: Scalar> Problem<T> for BilevelQuadratic<T> {
    fn agents(&self) -> usize {
        self.parts.len()
    }

    fn dim(&self) -> Dim {
        self.dim
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>, scratch: &mut Scratch<T>) {
        let part = &self.parts[at.agent];
        let (sx, sy) = to.scale;
        match level {
            Level::Upper => {
                let ridge = T::of(Self::RIDGE);
                add_gap(to.y, sy, at.y, &part.inner);
                add_gap(to.x, sx * ridge, at.x, &part.outer);
                add_gap(to.own, sx * ridge, at.own, &part.own);
            }
            Level::Lower => {
                let [e] = scratch.buffers([self.dim.inner]);
                self.lower_slope(at, e);
                linalg::add_scaled(to.y, sy, e);
                part.shared.add_transposed(-sx, e, to.x);
                part.private.add_transposed(-sx, e, to.own);
            }
        }
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        let part = &self.parts[at.agent];
        let half = T::of(0.5);
        match level {
            Level::Upper => {
                let outer = linalg::distance_squared(at.x, &part.outer) + linalg::distance_squared(at.own, &part.own);
                half * (linalg::distance_squared(at.y, &part.inner) + T::of(Self::RIDGE) * outer)
            }
            Level::Lower => {
                let mut e = vec![T::zero(); self.dim.inner];
                self.lower_slope(at, &mut e);
                half * e.iter().zip(&part.curvature).map(|(&e, &h)| e * e / h).sum::<T>()
            }
        }
    }

    fn capabilities(&self) -> Capabilities<'_, T> {
        let has_private = self.parts.iter().any(|part| !part.own.is_empty());
        Capabilities {
            private: has_private.then_some(self as _),
            data: Some(self),
            curvature: Some(self),
            optimum: Some(self),
            ..Capabilities::default()
        }
    }
}

impl<T: Scalar> PrivatePart for BilevelQuadratic<T> {
    fn private(&self, agent: usize) -> usize {
        self.parts[agent].own.len()
    }
}

impl<T: Scalar> LocalData for BilevelQuadratic<T> {
    fn data_bytes(&self) -> usize {
        let scalars = |part: &AgentQuadratic<T>| {
            let vectors = [&part.curvature, &part.offset, &part.inner, &part.outer, &part.own];
            let matrices = [&part.shared, &part.private];
            vectors.iter().map(|vector| vector.len()).sum::<usize>()
                + matrices.iter().map(|matrix| matrix.len()).sum::<usize>()
        };
        self.parts.iter().map(scalars).sum::<usize>() * T::BYTES
    }
}

impl<T: Scalar> KnownOptimum<T> for BilevelQuadratic<T> {
    fn optimum(&self) -> Optimum<T> {
        optimum(self.dim, &self.parts, Self::RIDGE)
    }
}

impl<T: Scalar> Curvature<T> for BilevelQuadratic<T> {
    fn add_product(&self, at: Point<'_, T>, v: &[T], to: GradientMut<'_, T>, scratch: &mut Scratch<T>) {
        let part = &self.parts[at.agent];
        let [e] = scratch.buffers([self.dim.inner]);
        e.copy_from_slice(v);
        multiply(e, &part.curvature);
        linalg::add_scaled(to.y, to.scale.1, e);
        part.shared.add_transposed(-to.scale.0, e, to.x);
        part.private.add_transposed(-to.scale.0, e, to.own);
    }
}

impl<T: Scalar> AgentQuadratic<T> {
    fn draw(Shape { dim, condition, heterogeneity }: Shape, seed: u64, agent: usize, own: usize) -> Self {
        let mut shared = Stream::new(seed, EVERYONE, 0, Purpose::Data);
        let mut stream = Stream::new(seed, agent, 0, Purpose::Data);
        // What all have in common, plus what this agent adds to it.
        let mut normals = |len: usize| -> Vec<T> {
            let (mut sum, apart): (Vec<T>, Vec<T>) = (shared.normals(len, 1.0), stream.normals(len, heterogeneity));
            linalg::add(&mut sum, &apart);
            sum
        };
        let (offset, inner, outer) = (normals(dim.inner), normals(dim.inner), normals(dim.outer));
        let scale = T::of((dim.outer as f64).sqrt().recip());
        let entries = normals(dim.inner * dim.outer);
        let private: Vec<T> = stream.normals(dim.inner * own, 1.0);
        Self {
            curvature: stream.uniforms(dim.inner, 1.0 / condition, 1.0),
            shared: Matrix::from_fn(dim.inner, dim.outer, |i, j| scale * entries[i * dim.outer + j]),
            private: Matrix::from_fn(dim.inner, own, |i, j| private[i * own + j]),
            offset,
            inner,
            outer,
            own: stream.normals(own, 1.0),
        }
    }
}

/// The solution: with `y* = k + J w` linear in `w = (x, p₁, …, pₙ)`, a ridge regression of the mean
/// q on J.
fn optimum<T: Scalar>(dim: Dim, parts: &[AgentQuadratic<T>], ridge: f64) -> Optimum<T> {
    let n = parts.len() as f64;
    let total: Vec<f64> = (0..dim.inner).map(|s| parts.iter().map(|part| part.curvature[s].f64()).sum()).collect();
    let share = |part: &AgentQuadratic<T>, s: usize| part.curvature[s].f64() / total[s];
    // The private coordinates of all agents, one after the other, behind x.
    let places: Vec<(usize, usize)> =
        parts.iter().enumerate().flat_map(|(agent, part)| (0..part.own.len()).map(move |j| (agent, j))).collect();
    let width = dim.outer + places.len();
    let jacobian = Matrix::from_fn(dim.inner, width, |s, column| {
        if column < dim.outer {
            parts.iter().map(|part| share(part, s) * part.shared.at(s, column).f64()).sum()
        } else {
            let (agent, j) = places[column - dim.outer];
            share(&parts[agent], s) * parts[agent].private.at(s, j).f64()
        }
    });
    let constant: Vec<f64> =
        (0..dim.inner).map(|s| parts.iter().map(|part| share(part, s) * part.offset[s].f64()).sum()).collect();
    let wanted: Vec<f64> =
        (0..dim.inner).map(|s| parts.iter().map(|part| part.inner[s].f64() / n).sum::<f64>() - constant[s]).collect();
    let weight = |column: usize| if column < dim.outer { ridge } else { ridge / n };
    let columns: Vec<&[f64]> = jacobian.columns().collect();
    let normal = Matrix::from_fn(width, width, |i, j| {
        linalg::dot(columns[i], columns[j]) + if i == j { weight(i) } else { 0.0 }
    });
    let centre = |column: usize| {
        if column < dim.outer {
            parts.iter().map(|part| part.outer[column].f64() / n).sum()
        } else {
            let (agent, j) = places[column - dim.outer];
            parts[agent].own[j].f64()
        }
    };
    let right =
        (0..width).map(|column| linalg::dot(columns[column], &wanted) + weight(column) * centre(column)).collect();
    let w = solve_positive(normal, right);
    let mut y = constant;
    jacobian.add_product(1.0, &w, &mut y);
    let mut own = vec![Vec::new(); parts.len()];
    places.iter().zip(&w[dim.outer..]).for_each(|(&(agent, _), &value)| own[agent].push(T::of(value)));
    Optimum { x: narrow(&w[..dim.outer]), y: narrow(&y), own }
}

/// `out += s (at − wanted)`; nothing where the part is not asked for.
fn add_gap<T: Scalar>(out: &mut [T], s: T, at: &[T], wanted: &[T]) {
    for ((out, &at), &wanted) in out.iter_mut().zip(at).zip(wanted) {
        *out += s * (at - wanted);
    }
}

fn multiply<T: Scalar>(e: &mut [T], by: &[T]) {
    e.iter_mut().zip(by).for_each(|(e, &by)| *e *= by);
}

//! A quadratic saddle: minimax as the special case g = −f of a bilevel problem.

use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::{
    Capabilities, ClosedForm, Curvature, Dim, GradientMut, KnownOptimum, Level, Optimum, Point, Problem, Scalar,
    Scratch, linalg,
};

use crate::dense::{Matrix, narrow, solve_positive};

/// `min over x, max over y` of `Σ φᵢ(x, y)/n`, strongly convex in x and strongly concave in y:
///
/// ```text
/// φᵢ = ρ/2 ‖x − aᵢ‖² + yᵀ(Bᵢx − cᵢ) − ½ Σₛ hᵢₛ yₛ²        fᵢ = φᵢ        gᵢ = −φᵢ
/// ```
/// Its solution follows from `(ρI + BᵀH⁻¹B) x = ρa + BᵀH⁻¹c` and `y = H⁻¹(Bx − c)` with the means
/// of all agents. The hypergradient is that of `max over y`, which is smooth (Lin, Jin, Jordan: *On
/// gradient descent ascent for nonconvex-concave minimax problems*, ICML 2020).
#[derive(Clone, Debug)]
pub struct Minimax<T> {
    dim: Dim,
    parts: Vec<AgentSaddle<T>>,
    mean: AgentSaddle<f64>,
}

/// One agent's a, B, c and h, or their means.
#[derive(Clone, Debug)]
struct AgentSaddle<T> {
    centre: Vec<T>,
    coupling: Matrix<T>,
    offset: Vec<T>,
    curvature: Vec<T>,
}

impl<T: Scalar> Minimax<T> {
    const RIDGE: f64 = 0.5;

    /// Curvatures in y lie between 1/`condition` and 1; everything an agent has of its own differs
    /// by `heterogeneity`.
    pub fn new(agents: usize, dim: Dim, condition: f64, heterogeneity: f64, seed: u64) -> Self {
        let parts: Vec<AgentSaddle<f64>> =
            (0..agents).map(|agent| AgentSaddle::draw(dim, condition, heterogeneity, seed, agent)).collect();
        let mean = AgentSaddle::mean(dim, &parts);
        Self { dim, parts: parts.iter().map(|part| part.narrowed(dim)).collect(), mean }
    }

    /// `Bx − c − h∘y`: the slope of φ in y.
    fn ascent(&self, at: Point<'_, T>, e: &mut [T]) {
        let part = &self.parts[at.agent];
        for (((e, &c), &h), &y) in e.iter_mut().zip(&part.offset).zip(&part.curvature).zip(at.y) {
            *e = -c - h * y;
        }
        part.coupling.add_product(T::one(), at.x, e);
    }

    /// The y that maximises the mean of φ at x.
    fn maximiser(&self, x: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = self.mean.offset.iter().map(|c| -c).collect();
        self.mean.coupling.add_product(1.0, x, &mut y);
        y.iter_mut().zip(&self.mean.curvature).for_each(|(y, h)| *y /= h);
        y
    }
}

impl<T: Scalar> Problem<T> for Minimax<T> {
    fn agents(&self) -> usize {
        self.parts.len()
    }

    fn dim(&self) -> Dim {
        self.dim
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>, scratch: &mut Scratch<T>) {
        let part = &self.parts[at.agent];
        let (sx, sy) = match level {
            Level::Upper => to.scale,
            Level::Lower => (-to.scale.0, -to.scale.1),
        };
        let [e] = scratch.buffers([self.dim.inner]);
        self.ascent(at, e);
        linalg::add_scaled(to.y, sy, e);
        part.coupling.add_transposed(sx, at.y, to.x);
        for ((out, &x), &a) in to.x.iter_mut().zip(at.x).zip(&part.centre) {
            *out += sx * T::of(Self::RIDGE) * (x - a);
        }
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        let part = &self.parts[at.agent];
        let mut e = vec![T::zero(); self.dim.inner];
        self.ascent(at, &mut e);
        let (half, square) = (T::of(0.5), at.y.iter().zip(&part.curvature).map(|(&y, &h)| h * y * y).sum::<T>());
        let ridge = half * T::of(Self::RIDGE) * linalg::distance_squared(at.x, &part.centre);
        let value = ridge + linalg::dot(at.y, &e) + half * square;
        if level == Level::Upper { value } else { -value }
    }

    fn capabilities(&self) -> Capabilities<'_, T> {
        Capabilities { curvature: Some(self), optimum: Some(self), closed_form: Some(self), ..Capabilities::default() }
    }
}

impl<T: Scalar> Curvature<T> for Minimax<T> {
    fn add_product(&self, at: Point<'_, T>, v: &[T], to: GradientMut<'_, T>, _scratch: &mut Scratch<T>) {
        let part = &self.parts[at.agent];
        for ((out, &h), &v) in to.y.iter_mut().zip(&part.curvature).zip(v) {
            *out += to.scale.1 * h * v;
        }
        part.coupling.add_transposed(-to.scale.0, v, to.x);
    }
}

impl<T: Scalar> ClosedForm<T> for Minimax<T> {
    fn response(&self, x: &[T], y: &mut [T]) {
        let x: Vec<f64> = x.iter().map(|x| x.f64()).collect();
        y.copy_from_slice(&narrow(&self.maximiser(&x)));
    }

    fn hypergradient(&self, x: &[T], out: &mut [T]) {
        let x: Vec<f64> = x.iter().map(|x| x.f64()).collect();
        let mut slope: Vec<f64> = x.iter().zip(&self.mean.centre).map(|(x, a)| Self::RIDGE * (x - a)).collect();
        self.mean.coupling.add_transposed(1.0, &self.maximiser(&x), &mut slope);
        out.copy_from_slice(&narrow(&slope));
    }
}

impl<T: Scalar> KnownOptimum<T> for Minimax<T> {
    fn optimum(&self) -> Optimum<T> {
        let AgentSaddle { centre, coupling, offset, curvature } = &self.mean;
        let columns: Vec<&[f64]> = coupling.columns().collect();
        let over = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).zip(curvature).map(|((a, b), h)| a * b / h).sum() };
        let matrix = Matrix::from_fn(self.dim.outer, self.dim.outer, |i, j| {
            over(columns[i], columns[j]) + if i == j { Self::RIDGE } else { 0.0 }
        });
        let right = columns.iter().zip(centre).map(|(column, a)| Self::RIDGE * a + over(column, offset)).collect();
        let x = solve_positive(matrix, right);
        Optimum { y: narrow(&self.maximiser(&x)), x: narrow(&x), own: vec![Vec::new(); self.parts.len()] }
    }
}

impl AgentSaddle<f64> {
    fn draw(dim: Dim, condition: f64, heterogeneity: f64, seed: u64, agent: usize) -> Self {
        let mut shared = Stream::new(seed, EVERYONE, 0, Purpose::Data);
        let mut stream = Stream::new(seed, agent, 0, Purpose::Data);
        // What all have in common, plus what this agent adds to it.
        let mut normals = |len: usize| -> Vec<f64> {
            let (mut sum, apart): (Vec<f64>, Vec<f64>) = (shared.normals(len, 1.0), stream.normals(len, heterogeneity));
            linalg::add(&mut sum, &apart);
            sum
        };
        let (centre, offset, entries) = (normals(dim.outer), normals(dim.inner), normals(dim.outer * dim.inner));
        let scale = (dim.outer as f64).sqrt().recip();
        Self {
            centre,
            coupling: Matrix::from_fn(dim.inner, dim.outer, |i, j| scale * entries[i * dim.outer + j]),
            offset,
            curvature: stream.uniforms(dim.inner, 1.0 / condition, 1.0),
        }
    }

    fn mean(dim: Dim, parts: &[Self]) -> Self {
        let over = |entry: &dyn Fn(&Self) -> f64| parts.iter().map(entry).sum::<f64>() / parts.len() as f64;
        Self {
            centre: (0..dim.outer).map(|j| over(&|part| part.centre[j])).collect(),
            coupling: Matrix::from_fn(dim.inner, dim.outer, |i, j| over(&|part| part.coupling.at(i, j))),
            offset: (0..dim.inner).map(|s| over(&|part| part.offset[s])).collect(),
            curvature: (0..dim.inner).map(|s| over(&|part| part.curvature[s])).collect(),
        }
    }

    fn narrowed<T: Scalar>(&self, dim: Dim) -> AgentSaddle<T> {
        AgentSaddle {
            centre: narrow(&self.centre),
            coupling: Matrix::from_fn(dim.inner, dim.outer, |i, j| T::of(self.coupling.at(i, j))),
            offset: narrow(&self.offset),
            curvature: narrow(&self.curvature),
        }
    }
}

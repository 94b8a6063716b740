//! Policy evaluation for multi-agent reinforcement learning: the reference task.

use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::{
    Capabilities, ClosedForm, Curvature, Dim, Finding, Findings, GradientMut, KnownOptimum, Level, LocalData, Optimum,
    Point, Problem, Scalar, Scratch, Solutions, Whose, linalg,
};

use crate::dense::{Matrix, narrow, solve_positive};

const STATES: usize = 20;
const FEATURES: usize = 5;
const PADDED: usize = 8;
const DISCOUNT: f64 = 0.9;
const RIDGE: f64 = 0.1;

/// Fits a linear value function to the Bellman targets of a random Markov chain, each agent with
/// rewards of its own (the paper's App. C.3).
///
/// ```text
/// fᵢ(x,y) = ½ Σₛ (φₛᵀx − yₛ)² + τ/2 ‖x‖²        gᵢ(x,y) = ½ Σₛ (yₛ − r̄ᵢ(s) − γ(PΦx)ₛ)²
/// ```
/// 20 states, 5 features, γ = 0.9, τ = 0.1. Sums, not means: the only reading of the paper that
/// matches its published table. Noise ω is Gaussian noise on the observed rewards, one sample for
/// all gradients of a round.
#[derive(Clone, Debug)]
pub struct PolicyEvaluation<T> {
    noise: f64,
    seed: u64,
    /// The features Φ of the states.
    features: Map<T>,
    /// The expected features M = γPΦ after a transition.
    expected: Map<T>,
    /// The mean rewards r̄ᵢ of each agent.
    rewards: Vec<[T; STATES]>,
    mean_reward: [T; STATES],
    optimum: Optimum<T>,
}

impl<T: Scalar> PolicyEvaluation<T> {
    /// The paper's environment, drawn from a seed.
    pub fn new(agents: usize, seed: u64) -> Self {
        Self::tiled(agents, agents, seed)
    }

    /// Rewards that repeat every `different` agents: the paper's data for rings of growing size.
    pub fn tiled(agents: usize, different: usize, seed: u64) -> Self {
        let mut shared = Stream::new(seed, EVERYONE, 0, Purpose::Data);
        let phi: Vec<f64> = shared.uniforms(STATES * FEATURES, 0.0, 1.0);
        let mut transition: Vec<f64> = shared.uniforms(STATES * STATES, 0.0, 1.0);
        for row in transition.chunks_mut(STATES) {
            let sum: f64 = row.iter().sum();
            linalg::scale(row, 1.0 / sum);
        }
        let phi = Matrix::from_fn(STATES, FEATURES, |s, k| phi[s * FEATURES + k]);
        let ahead =
            |s: usize, k: usize| (0..STATES).map(|next| transition[s * STATES + next] * phi.at(next, k)).sum::<f64>();
        let m = Matrix::from_fn(STATES, FEATURES, |s, k| DISCOUNT * ahead(s, k));

        let mut mean = [0.0; STATES];
        let reward = |agent: usize| -> [f64; STATES] {
            let mut stream = Stream::new(seed, agent % different, 0, Purpose::Data);
            std::array::from_fn(|_| stream.uniform(0.0, 1.0))
        };
        let mut rewards = Vec::with_capacity(agents);
        for agent in 0..agents {
            let own = reward(agent);
            linalg::add_scaled(&mut mean, 1.0 / agents as f64, &own);
            rewards.push(own.map(T::of));
        }

        // x* = (DᵀD + τI)⁻¹Dᵀr̄ with D = Φ − γPΦ.
        let d = Matrix::from_fn(STATES, FEATURES, |s, k| phi.at(s, k) - m.at(s, k));
        let columns: Vec<&[f64]> = d.columns().collect();
        let normal = Matrix::from_fn(FEATURES, FEATURES, |i, j| {
            linalg::dot(columns[i], columns[j]) + if i == j { RIDGE } else { 0.0 }
        });
        let mut right = vec![0.0; FEATURES];
        d.add_transposed(1.0, &mean, &mut right);
        let x = solve_positive(normal, right);
        let mut y = mean;
        m.add_product(1.0, &x, &mut y);

        Self {
            noise: 0.0,
            seed,
            features: Map::new(&phi),
            expected: Map::new(&m),
            rewards,
            mean_reward: mean.map(T::of),
            optimum: Optimum { x: narrow(&x), y: narrow(&y), own: Vec::new() },
        }
    }

    /// Gaussian noise of this standard deviation on the observed rewards.
    pub fn with_noise(self, noise: f64) -> Self {
        Self { noise, ..self }
    }

    /// The residual `Φx − y` of the upper level.
    fn fit(&self, at: Point<'_, T>) -> [T; STATES] {
        let y: &[T; STATES] = sized(at.y);
        let mut e = y.map(|y| -y);
        self.features.add_product(T::one(), at.x, &mut e);
        e
    }

    /// `Φx − y*(x) = Dx − r̄`: how far the values are from satisfying Bellman's equation.
    fn residual(&self, x: &[T]) -> [T; STATES] {
        let mut e = self.mean_reward.map(|reward| -reward);
        self.expected.add_product(-T::one(), x, &mut e);
        self.features.add_product(T::one(), x, &mut e);
        e
    }

    /// The residual `y − r̄ᵢ − Mx` of the lower level.
    #[inline(always)]
    fn bellman(&self, at: Point<'_, T>) -> [T; STATES] {
        let (y, reward): (&[T; STATES], _) = (sized(at.y), &self.rewards[at.agent]);
        let mut e = std::array::from_fn(|s| y[s] - reward[s]);
        self.expected.add_product(-T::one(), at.x, &mut e);
        e
    }

    fn add_noise(&self, at: Point<'_, T>, e: &mut [T; STATES], scratch: &mut Scratch<T>) {
        let draw = |sample: &mut [T]| {
            Stream::new(self.seed, at.agent, at.round, Purpose::Noise).fill_normal(self.noise, sample);
        };
        linalg::add_scaled(e, -T::one(), scratch.drawn(at.agent, at.round, STATES, draw));
    }
}

impl<T: Scalar> Problem<T> for PolicyEvaluation<T> {
    fn agents(&self) -> usize {
        self.rewards.len()
    }

    fn dim(&self) -> Dim {
        Dim { outer: FEATURES, inner: STATES }
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>, scratch: &mut Scratch<T>) {
        let (sx, sy) = to.scale;
        match level {
            Level::Upper => {
                let e = self.fit(at);
                self.features.add_transposed(sx, &e, to.x);
                linalg::add_scaled(to.x, sx * T::of(RIDGE), at.x);
                add_scaled(to.y, -sy, &e);
            }
            Level::Lower => {
                let mut e = self.bellman(at);
                if self.noise > 0.0 {
                    self.add_noise(at, &mut e, scratch);
                }
                self.expected.add_transposed(-sx, &e, to.x);
                add_scaled(to.y, sy, &e);
            }
        }
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        let doubled = match level {
            Level::Upper => linalg::norm_squared(&self.fit(at)) + T::of(RIDGE) * linalg::norm_squared(at.x),
            Level::Lower => linalg::norm_squared(&self.bellman(at)),
        };
        T::of(0.5) * doubled
    }

    fn capabilities(&self) -> Capabilities<'_, T> {
        Capabilities {
            data: Some(self),
            noisy: self.noise > 0.0,
            curvature: Some(self),
            optimum: Some(self),
            closed_form: Some(self),
            findings: Some(self),
            ..Capabilities::default()
        }
    }
}

impl<T: Scalar> LocalData for PolicyEvaluation<T> {
    fn data_bytes(&self) -> usize {
        self.rewards.len() * STATES * T::BYTES
    }
}

impl<T: Scalar> KnownOptimum<T> for PolicyEvaluation<T> {
    fn optimum(&self) -> Optimum<T> {
        self.optimum.clone()
    }
}

impl<T: Scalar> Findings<T> for PolicyEvaluation<T> {
    fn measure(&self, metric: &str, of: &dyn Solutions<T>) -> Option<f64> {
        (metric == "bellman").then(|| {
            let (x, _) = of.variables(Whose::Mean);
            (linalg::norm_squared(&self.residual(&x)).f64() / STATES as f64).sqrt()
        })
    }

    fn findings(&self, _of: &dyn Solutions<T>) -> Vec<Finding> {
        Vec::new()
    }
}

impl<T: Scalar> Curvature<T> for PolicyEvaluation<T> {
    /// `∇²ₓᵧg v = −Mᵀv` and `∇²ᵧᵧg v = v`.
    fn add_product(&self, _at: Point<'_, T>, v: &[T], to: GradientMut<'_, T>, _scratch: &mut Scratch<T>) {
        self.expected.add_transposed(-to.scale.0, sized(v), to.x);
        linalg::add_scaled(to.y, to.scale.1, v);
    }
}

impl<T: Scalar> ClosedForm<T> for PolicyEvaluation<T> {
    fn response(&self, x: &[T], y: &mut [T]) {
        let mut response = self.mean_reward;
        self.expected.add_product(T::one(), x, &mut response);
        y.copy_from_slice(&response);
    }

    /// Writes `Dᵀ(Dx − r̄) + τx`.
    fn hypergradient(&self, x: &[T], out: &mut [T]) {
        let e = self.residual(x);
        out.fill(T::zero());
        self.features.add_transposed(T::one(), &e, out);
        self.expected.add_transposed(-T::one(), &e, out);
        linalg::add_scaled(out, T::of(RIDGE), x);
    }
}

/// A linear map from features to states, kept by columns for products and by rows for transposed
/// ones. Its sizes are known to the compiler, which makes straight-line code of both.
#[derive(Clone, Debug)]
struct Map<T> {
    columns: [[T; STATES]; FEATURES],
    /// Filled up with zeros to the width of vectors.
    rows: [[T; PADDED]; STATES],
}

impl<T: Scalar> Map<T> {
    fn new(matrix: &Matrix<f64>) -> Self {
        let entry = |s: usize, k: usize| if k < FEATURES { T::of(matrix.at(s, k)) } else { T::zero() };
        Self {
            columns: std::array::from_fn(|k| std::array::from_fn(|s| entry(s, k))),
            rows: std::array::from_fn(|s| std::array::from_fn(|k| entry(s, k))),
        }
    }

    /// Adds a product: `out += s·M x`.
    #[inline(always)]
    fn add_product(&self, s: T, x: &[T], out: &mut [T; STATES]) {
        let x: &[T; FEATURES] = sized(x);
        let mut sum = *out;
        for (column, &x) in self.columns.iter().zip(x) {
            for i in 0..STATES {
                sum[i] = sum[i].plus(s * x, column[i]);
            }
        }
        *out = sum;
    }

    /// `out += s·Mᵀ y`; nothing where that is not wanted.
    #[inline(always)]
    fn add_transposed(&self, s: T, y: &[T; STATES], out: &mut [T]) {
        if let Ok(out) = <&mut [T; FEATURES]>::try_from(out) {
            // Two sums that do not wait for each other.
            let (mut even, mut odd) = ([T::zero(); PADDED], [T::zero(); PADDED]);
            for i in (0..STATES).step_by(2) {
                for k in 0..PADDED {
                    even[k] = even[k].plus(y[i], self.rows[i][k]);
                    odd[k] = odd[k].plus(y[i + 1], self.rows[i + 1][k]);
                }
            }
            for k in 0..FEATURES {
                out[k] = out[k].plus(s, even[k] + odd[k]);
            }
        }
    }
}

/// `out += s·e`; nothing where that is not wanted.
#[inline]
fn add_scaled<T: Scalar>(out: &mut [T], s: T, e: &[T; STATES]) {
    if let Ok(out) = <&mut [T; STATES]>::try_from(out) {
        for i in 0..STATES {
            out[i] = out[i].plus(s, e[i]);
        }
    }
}

#[inline]
fn sized<T, const N: usize>(slice: &[T]) -> &[T; N] {
    slice.try_into().expect("points have the problem's dimensions")
}

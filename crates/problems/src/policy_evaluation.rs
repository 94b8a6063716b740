//! Policy evaluation for multi-agent reinforcement learning: the reference task.

use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::{ClosedForm, Curvature, Dim, Level, Optimum, Point, Problem, Scalar, Scratch, Slopes, linalg};

use crate::dense::{Matrix, narrow, solve_positive};

/// Fits a linear value function to the Bellman targets of a random Markov chain, each agent with rewards of its own (the paper's App. C.3).
///
/// ```text
/// fᵢ(x,y) = ½ Σₛ (φₛᵀx − yₛ)² + τ/2 ‖x‖²        gᵢ(x,y) = ½ Σₛ (yₛ − r̄ᵢ(s) − γ(PΦx)ₛ)²
/// ```
/// Sums, not means: the only reading of the paper that matches its published table. Noise ω is Gaussian noise on the observed rewards, one sample for all gradients of a round.
#[derive(Clone, Debug)]
pub struct PolicyEvaluation<T> {
    agents: usize,
    states: usize,
    noise: f64,
    seed: u64,
    ridge: T,
    /// Φ.
    features: Matrix<T>,
    /// M = γPΦ.
    expected: Matrix<T>,
    /// r̄ᵢ, agent by agent.
    rewards: Vec<T>,
    mean_reward: Vec<T>,
    optimum: Optimum<T>,
}

impl<T: Scalar> PolicyEvaluation<T> {
    const STATES: usize = 20;
    const FEATURES: usize = 5;
    const DISCOUNT: f64 = 0.9;
    const RIDGE: f64 = 0.1;

    /// The paper's environment, drawn from a seed.
    pub fn new(agents: usize, seed: u64) -> Self {
        Self::tiled(agents, agents, seed)
    }

    /// Rewards that repeat every `different` agents: the paper's data for rings of growing size.
    pub fn tiled(agents: usize, different: usize, seed: u64) -> Self {
        let (states, features) = (Self::STATES, Self::FEATURES);
        let mut shared = Stream::new(seed, EVERYONE, 0, Purpose::Data);
        let phi: Vec<f64> = shared.uniforms(states * features, 0.0, 1.0);
        let mut transition: Vec<f64> = shared.uniforms(states * states, 0.0, 1.0);
        for row in transition.chunks_mut(states) {
            let sum: f64 = row.iter().sum();
            linalg::scale(row, 1.0 / sum);
        }
        let phi = Matrix::from_fn(states, features, |s, k| phi[s * features + k]);
        let ahead =
            |s: usize, k: usize| (0..states).map(|next| transition[s * states + next] * phi.at(next, k)).sum::<f64>();
        let m = Matrix::from_fn(states, features, |s, k| Self::DISCOUNT * ahead(s, k));

        let mut rewards = Vec::with_capacity(agents * states);
        let mut mean = vec![0.0; states];
        for agent in 0..agents {
            let own: Vec<f64> = Stream::new(seed, agent % different, 0, Purpose::Data).uniforms(states, 0.0, 1.0);
            linalg::add_scaled(&mut mean, 1.0 / agents as f64, &own);
            rewards.extend(own.iter().map(|&reward| T::of(reward)));
        }

        // x* = (DᵀD + τI)⁻¹Dᵀr̄ with D = Φ − γPΦ.
        let d = Matrix::from_fn(states, features, |s, k| phi.at(s, k) - m.at(s, k));
        let column = |k: usize| d.columns().nth(k).expect("one column a feature");
        let normal = Matrix::from_fn(features, features, |i, j| {
            linalg::dot(column(i), column(j)) + if i == j { Self::RIDGE } else { 0.0 }
        });
        let mut right = vec![0.0; features];
        d.add_transposed(1.0, &mean, &mut right);
        let x = solve_positive(normal, right);
        let mut y = mean.clone();
        m.add_product(1.0, &x, &mut y);

        Self {
            agents,
            states,
            noise: 0.0,
            seed,
            ridge: T::of(Self::RIDGE),
            features: Matrix::from_fn(states, features, |s, k| T::of(phi.at(s, k))),
            expected: Matrix::from_fn(states, features, |s, k| T::of(m.at(s, k))),
            rewards,
            mean_reward: narrow(&mean),
            optimum: Optimum { x: narrow(&x), y: narrow(&y), own: Vec::new() },
        }
    }

    /// Gaussian noise of this standard deviation on the observed rewards.
    pub fn with_noise(self, noise: f64) -> Self {
        Self { noise, ..self }
    }

    fn reward(&self, agent: usize) -> &[T] {
        &self.rewards[agent * self.states..][..self.states]
    }

    /// `Φx − y`.
    fn fit(&self, at: Point<'_, T>, e: &mut [T]) {
        e.fill(T::zero());
        self.features.add_product(T::one(), at.x, e);
        linalg::add_scaled(e, -T::one(), at.y);
    }

    /// `y − r̄ᵢ − Mx`.
    fn bellman(&self, at: Point<'_, T>, e: &mut [T]) {
        linalg::sum_scaled(e, at.y, -T::one(), self.reward(at.agent));
        self.expected.add_product(-T::one(), at.x, e);
    }

    fn add_noise(&self, at: Point<'_, T>, e: &mut [T], sample: &mut [T]) {
        Stream::new(self.seed, at.agent, at.round, Purpose::Noise).fill_normal(self.noise, sample);
        linalg::add_scaled(e, -T::one(), sample);
    }
}

impl<T: Scalar> Problem<T> for PolicyEvaluation<T> {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> Dim {
        Dim { outer: self.features.columns().len(), inner: self.states }
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: Slopes<'_, T>, scratch: &mut Scratch<T>) {
        let [e, sample] = scratch.buffers([self.states, self.states]);
        let (sx, sy) = to.scale;
        match level {
            Level::Upper => {
                self.fit(at, e);
                if !to.x.is_empty() {
                    self.features.add_transposed(sx, e, to.x);
                    linalg::add_scaled(to.x, sx * self.ridge, at.x);
                }
                linalg::add_scaled(to.y, -sy, e);
            }
            Level::Lower => {
                self.bellman(at, e);
                if self.noise > 0.0 {
                    self.add_noise(at, e, sample);
                }
                self.expected.add_transposed(-sx, e, to.x);
                linalg::add_scaled(to.y, sy, e);
            }
        }
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        let mut e = vec![T::zero(); self.states];
        let half = T::of(0.5);
        match level {
            Level::Upper => {
                self.fit(at, &mut e);
                half * (linalg::norm_squared(&e) + self.ridge * linalg::norm_squared(at.x))
            }
            Level::Lower => {
                self.bellman(at, &mut e);
                half * linalg::norm_squared(&e)
            }
        }
    }

    fn noisy(&self) -> bool {
        self.noise > 0.0
    }

    fn curvature(&self) -> Option<&dyn Curvature<T>> {
        Some(self)
    }

    fn optimum(&self) -> Option<Optimum<T>> {
        Some(self.optimum.clone())
    }

    fn closed_form(&self) -> Option<&dyn ClosedForm<T>> {
        Some(self)
    }
}

impl<T: Scalar> Curvature<T> for PolicyEvaluation<T> {
    /// `∇²ₓᵧg v = −Mᵀv` and `∇²ᵧᵧg v = v`.
    fn add_product(&self, _at: Point<'_, T>, v: &[T], to: Slopes<'_, T>, _scratch: &mut Scratch<T>) {
        self.expected.add_transposed(-to.scale.0, v, to.x);
        linalg::add_scaled(to.y, to.scale.1, v);
    }
}

impl<T: Scalar> ClosedForm<T> for PolicyEvaluation<T> {
    fn response(&self, x: &[T], y: &mut [T]) {
        y.copy_from_slice(&self.mean_reward);
        self.expected.add_product(T::one(), x, y);
    }

    /// `Dᵀ(Dx − r̄) + τx`, with `Dx − r̄ = Φx − y*(x)`.
    fn hypergradient(&self, x: &[T], out: &mut [T]) {
        let mut e = vec![T::zero(); self.states];
        self.response(x, &mut e);
        linalg::scale(&mut e, -T::one());
        self.features.add_product(T::one(), x, &mut e);
        out.fill(T::zero());
        self.features.add_transposed(T::one(), &e, out);
        self.expected.add_transposed(-T::one(), &e, out);
        linalg::add_scaled(out, self.ridge, x);
    }
}

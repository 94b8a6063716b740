//! Hyper-representation: a backbone that suits the tasks of all agents.

use std::ops::Range;

use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::{
    Capabilities, Curvature, Dim, GradientMut, Level, LocalData, Point, Problem, Scalar, Scratch, linalg,
};

/// A linear representation that is shared by all tasks (Franceschi, Frasconi, Salzo, Grazzi,
/// Pontil: *Bilevel programming for hyperparameter optimization and meta-learning*, ICML 2018;
/// linear in Sow, Ji, Liang: *On the convergence theory for Hessian-free bilevel algorithms*,
/// NeurIPS 2022).
///
/// ```text
/// gᵢ(x,y) = Σ_{t of i} mean ½ (wₜᵀ X z − b)² over training samples + μ/2n ‖y‖²
/// fᵢ(x,y) = Σ_{t of i} mean ½ (wₜᵀ X z − b)² over validation samples + ρ/2 ‖x‖²
/// ```
/// The outer variable x is the backbone X, the inner variable y the heads wₜ of all tasks. Every
/// task belongs to one agent, which alone has its samples (z, b).
#[derive(Clone, Debug)]
pub struct HyperRepresentation<T> {
    shape: RepresentationShape,
    /// The samples of each agent, task by task: those of training, then those of validation.
    samples: Vec<Vec<RegressionSample<T>>>,
    seed: u64,
}

/// The sizes of a hyper-representation problem.
#[derive(Clone, Copy, Debug)]
pub struct RepresentationShape {
    /// Scalars of an input z.
    pub inputs: usize,
    /// Scalars of its representation X z.
    pub width: usize,
    /// Tasks of each agent.
    pub tasks: usize,
    /// Samples of each task for training, and as many for validation.
    pub samples: usize,
}

/// An input and its target.
#[derive(Clone, Debug)]
struct RegressionSample<T> {
    input: Vec<T>,
    target: T,
}

/// A sample as the model sees it: its input, its representation, the head and the residual.
struct Prediction<'a, T> {
    input: &'a [T],
    code: &'a [T],
    /// The place of the head in y.
    head: Range<usize>,
    residual: T,
}

impl<T: Scalar> HyperRepresentation<T> {
    /// The ridge of the heads.
    const MU: f64 = 0.1;
    /// The ridge of the backbone.
    const RHO: f64 = 0.01;
    const NOISE: f64 = 0.1;

    /// Tasks with one true backbone, drawn from a seed.
    pub fn new(agents: usize, shape: RepresentationShape, seed: u64) -> Self {
        let backbone: Vec<f64> =
            Stream::new(seed, EVERYONE, 0, Purpose::Data).normals(shape.inputs * shape.width, deviation(shape.inputs));
        let samples = |agent| {
            let mut stream = Stream::new(seed, agent, 0, Purpose::Data);
            (0..shape.tasks).flat_map(|_| draw_task(shape, &backbone, Self::NOISE, &mut stream)).collect()
        };
        Self { shape, samples: (0..agents).map(samples).collect(), seed }
    }

    /// Calls with each sample of an agent and a level, as the model sees it.
    fn each(&self, level: Level, at: Point<'_, T>, code: &mut [T], mut see: impl FnMut(Prediction<'_, T>)) {
        let RepresentationShape { width, tasks, samples, .. } = self.shape;
        let skipped = if level == Level::Lower { 0 } else { samples };
        for (task, of_task) in self.samples[at.agent].chunks_exact(2 * samples).enumerate() {
            let first = (at.agent * tasks + task) * width;
            let head = first..first + width;
            for RegressionSample { input, target } in of_task.iter().skip(skipped).take(samples) {
                encode(at.x, input, code);
                let residual = linalg::dot(code, &at.y[head.clone()]) - *target;
                see(Prediction { input, code, head: head.clone(), residual });
            }
        }
    }

    /// What the mean over the samples of a task multiplies each of them with.
    fn share(&self) -> T {
        T::of(1.0 / self.shape.samples as f64)
    }

    fn head_ridge(&self) -> T {
        T::of(Self::MU / self.samples.len() as f64)
    }
}

/// Writes `X z`; the backbone holds a column for each input.
fn encode<T: Scalar>(backbone: &[T], input: &[T], code: &mut [T]) {
    code.fill(T::zero());
    for (column, &z) in backbone.chunks_exact(code.len()).zip(input) {
        linalg::add_scaled(code, z, column);
    }
}

/// Adds `s·w zᵀ` to a backbone; nothing where it is not asked for.
fn add_outer<T: Scalar>(to: &mut [T], s: T, head: &[T], input: &[T]) {
    for (column, &z) in to.chunks_exact_mut(head.len()).zip(input) {
        linalg::add_scaled(column, s * z, head);
    }
}

/// The deviation of entries of which this many are summed up.
fn deviation(count: usize) -> f64 {
    (count as f64).sqrt().recip()
}

fn draw_task<T: Scalar>(
    shape: RepresentationShape,
    backbone: &[f64],
    noise: f64,
    stream: &mut Stream,
) -> Vec<RegressionSample<T>> {
    let head: Vec<f64> = stream.normals(shape.width, 1.0);
    let mut code = vec![0.0; shape.width];
    let mut sample = || {
        let (input, error): (Vec<f64>, Vec<f64>) = (stream.normals(shape.inputs, 1.0), stream.normals(1, noise));
        encode(backbone, &input, &mut code);
        let target = T::of(linalg::dot(&code, &head) + error[0]);
        RegressionSample { input: input.into_iter().map(T::of).collect(), target }
    };
    (0..2 * shape.samples).map(|_| sample()).collect()
}

impl<T: Scalar> Problem<T> for HyperRepresentation<T> {
    fn agents(&self) -> usize {
        self.samples.len()
    }

    fn dim(&self) -> Dim {
        let RepresentationShape { inputs, width, tasks, .. } = self.shape;
        Dim { outer: inputs * width, inner: self.samples.len() * tasks * width }
    }

    /// A random backbone: at 0 it would have no gradient.
    fn start(&self, _agent: usize, _own: &mut [T], x: &mut [T], _y: &mut [T]) {
        Stream::new(self.seed, EVERYONE, 0, Purpose::Start).fill_normal(deviation(self.shape.inputs), x);
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>, scratch: &mut Scratch<T>) {
        let ((sx, sy), share) = (to.scale, self.share());
        let [code] = scratch.buffers([self.shape.width]);
        self.each(level, at, code, |Prediction { input, code, head, residual }| {
            if !to.y.is_empty() {
                linalg::add_scaled(&mut to.y[head.clone()], sy * share * residual, code);
            }
            add_outer(to.x, sx * share * residual, &at.y[head], input);
        });
        match level {
            Level::Upper => linalg::add_scaled(to.x, sx * T::of(Self::RHO), at.x),
            Level::Lower => linalg::add_scaled(to.y, sy * self.head_ridge(), at.y),
        }
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        let (half, mut squares) = (T::of(0.5), T::zero());
        let mut code = vec![T::zero(); self.shape.width];
        self.each(level, at, &mut code, |seen| squares += seen.residual * seen.residual);
        let ridge = match level {
            Level::Upper => T::of(Self::RHO) * linalg::norm_squared(at.x),
            Level::Lower => self.head_ridge() * linalg::norm_squared(at.y),
        };
        half * (self.share() * squares + ridge)
    }

    fn capabilities(&self) -> Capabilities<'_, T> {
        Capabilities { data: Some(self), curvature: Some(self), ..Capabilities::default() }
    }
}

impl<T: Scalar> Curvature<T> for HyperRepresentation<T> {
    /// With the change `e = vₜᵀ X z` of a residual: `e·Xz` for the head, `(e wₜ + r vₜ) zᵀ` for the
    /// backbone.
    fn add_product(&self, at: Point<'_, T>, v: &[T], to: GradientMut<'_, T>, scratch: &mut Scratch<T>) {
        let ((sx, sy), share) = (to.scale, self.share());
        let [code] = scratch.buffers([self.shape.width]);
        self.each(Level::Lower, at, code, |Prediction { input, code, head, residual }| {
            let change = linalg::dot(code, &v[head.clone()]);
            if !to.y.is_empty() {
                linalg::add_scaled(&mut to.y[head.clone()], sy * share * change, code);
            }
            add_outer(to.x, sx * share * change, &at.y[head.clone()], input);
            add_outer(to.x, sx * share * residual, &v[head], input);
        });
        linalg::add_scaled(to.y, sy * self.head_ridge(), v);
    }
}

impl<T: Scalar> LocalData for HyperRepresentation<T> {
    fn data_bytes(&self) -> usize {
        self.samples.iter().map(Vec::len).sum::<usize>() * (self.shape.inputs + 1) * T::BYTES
    }
}

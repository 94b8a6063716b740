//! Coefficient tuning: a regularisation coefficient for each input of a softmax regression.

use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::{
    Capabilities, Curvature, Dim, GradientMut, Level, LocalData, Point, Problem, Scalar, Scratch, linalg,
};

use crate::libsvm::{SparseRow, SparseRows};

/// Softmax regression on sparse samples with a ridge for each input, as on 20 Newsgroups in Grazzi,
/// Franceschi, Pontil, Salzo: *On the iteration complexity of hypergradient computation*, ICML
/// 2020, and similarly in Dagréou, Ablin, Vaiter, Moreau: *A framework for bilevel optimization
/// that enables stochastic and global variance reduction algorithms*, NeurIPS 2022.
///
/// ```text
/// fᵢ(x,y) = mean loss of y on validation samples
/// gᵢ(x,y) = mean loss of y on training samples + ½ Σⱼ exp(xⱼ) ‖yⱼ‖²
/// ```
/// where yⱼ has a coefficient of input j for each class. Half of an agent's samples are for
/// training.
#[derive(Clone, Debug)]
pub struct CoefficientTuning<T> {
    inputs: usize,
    classes: usize,
    /// The samples of each agent: those of training, and those of validation.
    samples: Vec<[Vec<SparseSample<T>>; 2]>,
}

/// A sample: its class, and places and values of the scalars that are not 0.
#[derive(Clone, Debug)]
struct SparseSample<T> {
    class: usize,
    scalars: Vec<(usize, T)>,
}

/// Sizes of samples that are drawn.
#[derive(Clone, Copy, Debug)]
pub struct SparseShape {
    /// Scalars of a sample. A quarter of them say something about its class.
    pub inputs: usize,
    /// How likely a scalar is not 0.
    pub density: f64,
    /// Samples of each agent.
    pub samples: usize,
}

impl<T: Scalar> CoefficientTuning<T> {
    /// Where x starts.
    const START: f64 = -2.0;

    /// Samples of two classes that are drawn from a seed.
    pub fn synthetic(agents: usize, shape: SparseShape, seed: u64) -> Self {
        let informative = shape.inputs.div_ceil(4);
        let truth: Vec<f64> = Stream::new(seed, EVERYONE, 0, Purpose::Data).normals(informative, 2.0);
        let hand = |agent| {
            let mut stream = Stream::new(seed, agent, 0, Purpose::Data);
            (0..shape.samples).map(|_| draw_row(shape, &truth, &mut stream)).collect()
        };
        Self::dealt(shape.inputs, 2, (0..agents).map(hand).collect())
    }

    /// Samples in the text format of LIBSVM, which are shuffled by a seed and dealt to agents. Says
    /// what is wrong with them if they cannot be used.
    pub fn from_libsvm(text: &str, agents: usize, seed: u64) -> Result<Self, String> {
        let SparseRows { mut rows, inputs, classes } = SparseRows::parse(text)?;
        if rows.len() < 2 * agents {
            let (samples, needed) = (rows.len(), 2 * agents);
            return Err(format!("{samples} samples are too few for {agents} agents: give {needed}, at least"));
        }
        let mut hands = vec![Vec::new(); agents];
        let order = Stream::new(seed, EVERYONE, 0, Purpose::Partition).permutation(rows.len());
        for (turn, row) in order.into_iter().enumerate() {
            hands[turn % agents].push(std::mem::take(&mut rows[row]));
        }
        Ok(Self::dealt(inputs, classes, hands))
    }

    /// With these samples of each agent, of which every second one is for validation.
    fn dealt(inputs: usize, classes: usize, hands: Vec<Vec<SparseRow>>) -> Self {
        let halves = |hand: Vec<SparseRow>| {
            let mut halves = [Vec::new(), Vec::new()];
            for (place, SparseRow { class, scalars }) in hand.into_iter().enumerate() {
                let scalars = scalars.into_iter().map(|(place, scalar)| (place, T::of(scalar))).collect();
                halves[place % 2].push(SparseSample { class, scalars });
            }
            halves
        };
        Self { inputs, classes, samples: hands.into_iter().map(halves).collect() }
    }

    /// The samples that a level of an agent has.
    fn of(&self, level: Level, agent: usize) -> &[SparseSample<T>] {
        &self.samples[agent][usize::from(level == Level::Upper)]
    }

    /// The coefficients of an input, in x and y.
    fn rows<'a>(&self, x: &'a [T], y: &'a [T]) -> impl Iterator<Item = (T, &'a [T])> {
        x.iter().map(|x| x.exp()).zip(y.chunks_exact(self.classes))
    }
}

/// A sample whose class is 1 with the probability that a logistic model with these coefficients
/// gives.
fn draw_row(shape: SparseShape, truth: &[f64], stream: &mut Stream) -> SparseRow {
    let there: Vec<usize> = (0..shape.inputs).filter(|_| stream.open01() < shape.density).collect();
    let values: Vec<f64> = stream.normals(there.len(), 1.0);
    let scalars: Vec<(usize, f64)> = there.into_iter().zip(values).collect();
    let logit: f64 = scalars.iter().map(|&(place, value)| truth.get(place).unwrap_or(&0.0) * value).sum();
    SparseRow { class: usize::from(stream.open01() < 1.0 / (1.0 + (-logit).exp())), scalars }
}

impl<T: Scalar> SparseSample<T> {
    /// Writes the product of the sample with coefficients, one for each class.
    fn product(&self, y: &[T], out: &mut [T]) {
        out.fill(T::zero());
        for &(place, value) in &self.scalars {
            linalg::add_scaled(out, value, &y[place * out.len()..][..out.len()]);
        }
    }

    /// Adds what a slope of the product is in the coefficients; nothing where it is not asked for.
    fn add_slope(&self, s: T, slope: &[T], to: &mut [T]) {
        if to.is_empty() {
            return;
        }
        for &(place, value) in &self.scalars {
            linalg::add_scaled(&mut to[place * slope.len()..][..slope.len()], s * value, slope);
        }
    }
}

/// Turns logits into probabilities, and returns the logarithm of the sum of their exponentials.
fn softmax<T: Scalar>(logits: &mut [T]) -> T {
    let largest = logits.iter().copied().fold(T::neg_infinity(), T::max);
    let sum: T = logits.iter().map(|&logit| (logit - largest).exp()).sum();
    for logit in logits {
        *logit = (*logit - largest).exp() / sum;
    }
    largest + sum.ln()
}

impl<T: Scalar> Problem<T> for CoefficientTuning<T> {
    fn agents(&self) -> usize {
        self.samples.len()
    }

    fn dim(&self) -> Dim {
        Dim { outer: self.inputs, inner: self.inputs * self.classes }
    }

    fn start(&self, _agent: usize, _own: &mut [T], x: &mut [T], _y: &mut [T]) {
        x.fill(T::of(Self::START));
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>, scratch: &mut Scratch<T>) {
        let ((sx, sy), samples) = (to.scale, self.of(level, at.agent));
        let share = sy * T::of(1.0 / samples.len() as f64);
        let [slope] = scratch.buffers([self.classes]);
        for sample in samples {
            sample.product(at.y, slope);
            softmax(slope);
            slope[sample.class] -= T::one();
            sample.add_slope(share, slope, to.y);
        }
        if level == Level::Lower {
            for (out, (ridge, y)) in to.y.chunks_exact_mut(self.classes).zip(self.rows(at.x, at.y)) {
                linalg::add_scaled(out, sy * ridge, y);
            }
            for (out, (ridge, y)) in to.x.iter_mut().zip(self.rows(at.x, at.y)) {
                *out += sx * T::of(0.5) * ridge * linalg::norm_squared(y);
            }
        }
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        let samples = self.of(level, at.agent);
        let mut logits = vec![T::zero(); self.classes];
        let mut loss = |sample: &SparseSample<T>| {
            sample.product(at.y, &mut logits);
            let own = logits[sample.class];
            softmax(&mut logits) - own
        };
        let mean = samples.iter().map(&mut loss).sum::<T>() / T::of(samples.len() as f64);
        if level == Level::Upper {
            return mean;
        }
        let ridge: T = self.rows(at.x, at.y).map(|(ridge, y)| ridge * linalg::norm_squared(y)).sum();
        mean + T::of(0.5) * ridge
    }

    fn capabilities(&self) -> Capabilities<'_, T> {
        Capabilities { data: Some(self), curvature: Some(self), ..Capabilities::default() }
    }
}

impl<T: Scalar> Curvature<T> for CoefficientTuning<T> {
    /// With the probabilities p of a sample and the change u of its logits: `p∘u − p (pᵀu)`.
    fn add_product(&self, at: Point<'_, T>, v: &[T], to: GradientMut<'_, T>, scratch: &mut Scratch<T>) {
        let ((sx, sy), samples) = (to.scale, self.of(Level::Lower, at.agent));
        let share = sy * T::of(1.0 / samples.len() as f64);
        let [p, u] = scratch.buffers([self.classes, self.classes]);
        for sample in samples {
            sample.product(at.y, p);
            softmax(p);
            sample.product(v, u);
            let mean = linalg::dot(p, u);
            u.iter_mut().zip(&*p).for_each(|(u, &p)| *u = p * (*u - mean));
            sample.add_slope(share, u, to.y);
        }
        for (out, (ridge, v)) in to.y.chunks_exact_mut(self.classes).zip(self.rows(at.x, v)) {
            linalg::add_scaled(out, sy * ridge, v);
        }
        for ((out, (ridge, y)), v) in to.x.iter_mut().zip(self.rows(at.x, at.y)).zip(v.chunks_exact(self.classes)) {
            *out += sx * ridge * linalg::dot(y, v);
        }
    }
}

impl<T: Scalar> LocalData for CoefficientTuning<T> {
    fn data_bytes(&self) -> usize {
        let scalars: usize = self.samples.iter().flatten().flatten().map(|sample| sample.scalars.len()).sum();
        scalars * size_of::<(usize, T)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples that are told apart by their only scalar, which is its line.
    fn lines(count: usize) -> String {
        (1..=count).map(|line| format!("{} 1:{line}", line % 3)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_sample_is_dealt_to_one_agent() {
        let problem = CoefficientTuning::<f64>::from_libsvm(&lines(23), 4, 7).unwrap();
        let sizes: Vec<[usize; 2]> = problem.samples.iter().map(|halves| halves.each_ref().map(Vec::len)).collect();
        assert_eq!(sizes, [[3, 3], [3, 3], [3, 3], [3, 2]]);
        let mut found: Vec<(usize, f64)> =
            problem.samples.iter().flatten().flatten().map(|sample| (sample.class, sample.scalars[0].1)).collect();
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        let expected: Vec<(usize, f64)> = (1..=23).map(|line| (line % 3, line as f64)).collect();
        assert_eq!(found, expected);
        assert_eq!((problem.dim().outer, problem.dim().inner), (1, 3));
    }

    #[test]
    fn an_agent_needs_a_sample_for_each_level() {
        let error = CoefficientTuning::<f64>::from_libsvm(&lines(7), 4, 7).unwrap_err();
        assert_eq!(error, "7 samples are too few for 4 agents: give 8, at least");
        assert!(CoefficientTuning::<f64>::from_libsvm(&lines(8), 4, 7).is_ok());
    }
}

//! A single-level quadratic.

use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::{
    Capabilities, Dim, GradientMut, KnownOptimum, Level, LocalData, MiniBatches, Optimum, Point, Problem, Scalar,
    Scratch,
};

/// `gᵢ(y) = ½ Σₛ hᵢₛ (yₛ − cᵢₛ)²`: diagonal, with known minimum, adjustable conditioning and
/// heterogeneity. It has no upper level.
///
/// Its gradient costs next to nothing, which makes it the problem on which mixing is measured. Data
/// may be divided into mini-batches with centres of their own, of which each round shows one, at
/// random.
#[derive(Clone, Debug)]
pub struct Quadratic<T> {
    agents: usize,
    inner: usize,
    /// h and c, agent by agent.
    curvature: Vec<T>,
    centre: Vec<T>,
    batches: usize,
    /// How far the centre of each batch is off, agent by agent and batch by batch; zero on average.
    /// Empty with one batch.
    offsets: Vec<T>,
    seed: u64,
}

impl<T: Scalar> Quadratic<T> {
    /// Curvatures lie between 1/`condition` and 1, and centres spread by `heterogeneity` around a
    /// common one.
    pub fn new(agents: usize, inner: usize, condition: f64, heterogeneity: f64, seed: u64) -> Self {
        let common: Vec<f64> = Stream::new(seed, EVERYONE, 0, Purpose::Data).normals(inner, 1.0);
        let (mut curvature, mut centre) = (Vec::with_capacity(agents * inner), Vec::with_capacity(agents * inner));
        for agent in 0..agents {
            let mut stream = Stream::new(seed, agent, 0, Purpose::Data);
            curvature.extend((0..inner).map(|_| stream.uniform::<T>(1.0 / condition, 1.0)));
            let spread: Vec<f64> = stream.normals(inner, heterogeneity);
            centre.extend(common.iter().zip(spread).map(|(common, spread)| T::of(common + spread)));
        }
        Self { agents, inner, curvature, centre, batches: 1, offsets: Vec::new(), seed }
    }

    /// The same problem with this many mini-batches for each agent, whose centres spread by
    /// `spread`.
    pub fn with_batches(self, batches: usize, spread: f64) -> Self {
        if batches < 2 {
            return self;
        }
        let mut offsets = Vec::with_capacity(self.agents * batches * self.inner);
        for agent in 0..self.agents {
            let drawn: Vec<f64> = Stream::new(self.seed, agent, 1, Purpose::Data).normals(batches * self.inner, spread);
            let mean = |s: usize| drawn.iter().skip(s).step_by(self.inner).sum::<f64>() / batches as f64;
            offsets.extend(drawn.iter().enumerate().map(|(place, offset)| T::of(offset - mean(place % self.inner))));
        }
        Self { batches, offsets, ..self }
    }

    /// The offsets of the batch that a round shows.
    fn offset(&self, agent: usize, round: u64) -> &[T] {
        if self.batches == 1 {
            &[]
        } else {
            &self.offsets[(agent * self.batches + self.batch(agent, round)) * self.inner..][..self.inner]
        }
    }

    fn of(&self, agent: usize) -> (&[T], &[T]) {
        let range = agent * self.inner..(agent + 1) * self.inner;
        (&self.curvature[range.clone()], &self.centre[range])
    }
}

impl<T: Scalar> Problem<T> for Quadratic<T> {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> Dim {
        Dim { outer: 0, inner: self.inner }
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>, _scratch: &mut Scratch<T>) {
        if level == Level::Lower {
            let (h, c) = self.of(at.agent);
            for (((out, &h), &c), &y) in to.y.iter_mut().zip(h).zip(c).zip(at.y) {
                *out += to.scale.1 * h * (y - c);
            }
            for ((out, &h), &offset) in to.y.iter_mut().zip(h).zip(self.offset(at.agent, at.round)) {
                *out -= to.scale.1 * h * offset;
            }
        }
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        let (h, c) = self.of(at.agent);
        match level {
            Level::Upper => T::zero(),
            Level::Lower => {
                T::of(0.5) * h.iter().zip(c).zip(at.y).map(|((&h, &c), &y)| h * (y - c) * (y - c)).sum::<T>()
            }
        }
    }

    fn capabilities(&self) -> Capabilities<'_, T> {
        Capabilities {
            batches: Some(self),
            data: Some(self),
            noisy: self.batches > 1,
            optimum: Some(self),
            ..Capabilities::default()
        }
    }
}

impl<T: Scalar> MiniBatches for Quadratic<T> {
    fn batches(&self, _agent: usize) -> usize {
        self.batches
    }

    fn batch(&self, agent: usize, round: u64) -> usize {
        let uniform: f64 = Stream::new(self.seed, agent, round, Purpose::Noise).uniform(0.0, self.batches as f64);
        (uniform as usize).min(self.batches - 1)
    }
}

impl<T: Scalar> KnownOptimum<T> for Quadratic<T> {
    fn optimum(&self) -> Optimum<T> {
        let sum = |of: &dyn Fn(&T, &T) -> f64, s: usize| {
            (0..self.agents).map(|agent| of(&self.of(agent).0[s], &self.of(agent).1[s])).sum::<f64>()
        };
        let y = (0..self.inner).map(|s| T::of(sum(&|h, c| h.f64() * c.f64(), s) / sum(&|h, _| h.f64(), s))).collect();
        Optimum { x: Vec::new(), y, own: Vec::new() }
    }
}

impl<T: Scalar> LocalData for Quadratic<T> {
    fn data_bytes(&self) -> usize {
        (self.curvature.len() + self.centre.len() + self.offsets.len()) * T::BYTES
    }
}

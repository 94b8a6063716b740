//! A single-level quadratic.

use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::{Dim, Level, Optimum, Point, Problem, Scalar, Scratch, Slopes};

/// `gᵢ(y) = ½ Σₛ hᵢₛ (yₛ − cᵢₛ)²`: diagonal, with known minimum, adjustable conditioning and heterogeneity. It has no upper level.
///
/// Its gradient costs next to nothing, which makes it the problem on which mixing is measured.
#[derive(Clone, Debug)]
pub struct Quadratic<T> {
    agents: usize,
    inner: usize,
    /// h and c, agent by agent.
    curvature: Vec<T>,
    centre: Vec<T>,
}

impl<T: Scalar> Quadratic<T> {
    /// Curvatures lie between 1/`condition` and 1, and centres spread by `heterogeneity` around a common one.
    pub fn new(agents: usize, inner: usize, condition: f64, heterogeneity: f64, seed: u64) -> Self {
        let common: Vec<f64> = Stream::new(seed, EVERYONE, 0, Purpose::Data).normals(inner, 1.0);
        let (mut curvature, mut centre) = (Vec::with_capacity(agents * inner), Vec::with_capacity(agents * inner));
        for agent in 0..agents {
            let mut stream = Stream::new(seed, agent, 0, Purpose::Data);
            curvature.extend((0..inner).map(|_| stream.uniform::<T>(1.0 / condition, 1.0)));
            let spread: Vec<f64> = stream.normals(inner, heterogeneity);
            centre.extend(common.iter().zip(spread).map(|(common, spread)| T::of(common + spread)));
        }
        Self { agents, inner, curvature, centre }
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

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: Slopes<'_, T>, _scratch: &mut Scratch<T>) {
        if level == Level::Lower {
            let (h, c) = self.of(at.agent);
            for (((out, &h), &c), &y) in to.y.iter_mut().zip(h).zip(c).zip(at.y) {
                *out += to.scale.1 * h * (y - c);
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

    fn optimum(&self) -> Option<Optimum<T>> {
        let sum = |of: &dyn Fn(&T, &T) -> f64, s: usize| {
            (0..self.agents).map(|agent| of(&self.of(agent).0[s], &self.of(agent).1[s])).sum::<f64>()
        };
        let y = (0..self.inner).map(|s| T::of(sum(&|h, c| h.f64() * c.f64(), s) / sum(&|h, _| h.f64(), s))).collect();
        Some(Optimum { x: Vec::new(), y, own: Vec::new() })
    }
}

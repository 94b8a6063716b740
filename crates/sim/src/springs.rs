//! The problem that simulated peers solve: small, and with a solution in closed form for any set of survivors.

use fabnet_core::rng::{Purpose, Stream};
use fabnet_core::{Dim, Level, Point, Problem, Scratch, Slopes};

/// `gᵢ = ½ hᵢ (y − aᵢ x − bᵢ)²` below and `fᵢ = ½ (y − cᵢ)² + ½ r x²` above, coordinate by coordinate.
#[derive(Clone, Debug)]
pub(crate) struct Springs {
    agents: usize,
    width: usize,
    all: Vec<Spring>,
    /// Rounds in which a gradient is not a number, one in so many, before the given round.
    bad: Option<(usize, u64)>,
    seed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Spring {
    h: f64,
    a: f64,
    b: f64,
    c: f64,
}

const RIDGE: f64 = 0.5;

impl Springs {
    pub(crate) fn new(agents: usize, width: usize, bad: Option<(usize, u64)>, seed: u64) -> Self {
        let spring = |agent: usize| {
            let mut stream = Stream::new(seed, agent, 0, Purpose::Data);
            let mut one = move || Spring {
                h: stream.uniform(0.6, 1.0),
                a: stream.uniform(0.5, 1.0),
                b: stream.uniform(-2.0, 2.0),
                c: stream.uniform(-2.0, 2.0),
            };
            (0..width).map(move |_| one()).collect::<Vec<_>>()
        };
        Self { agents, width, all: (0..agents).flat_map(spring).collect(), bad, seed }
    }

    fn of(&self, agent: usize) -> &[Spring] {
        &self.all[agent * self.width..][..self.width]
    }

    /// The solution (x, y) for these agents: of both levels, or of the lower one alone at x = 0.
    pub(crate) fn solution(&self, agents: &[u32], bilevel: bool) -> Vec<(f64, f64)> {
        let mean = |place: usize, part: fn(&Spring) -> f64| {
            agents.iter().map(|&agent| part(&self.of(agent as usize)[place])).sum::<f64>() / agents.len() as f64
        };
        let at = |place: usize| {
            let h = mean(place, |spring| spring.h);
            let (a, b) = (mean(place, |spring| spring.h * spring.a) / h, mean(place, |spring| spring.h * spring.b) / h);
            let x = if bilevel { a * (mean(place, |spring| spring.c) - b) / (a * a + RIDGE) } else { 0.0 };
            (x, a * x + b)
        };
        (0..self.width).map(at).collect()
    }
}

impl Problem<f64> for Springs {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> Dim {
        Dim { outer: self.width, inner: self.width }
    }

    fn add_gradient(&self, level: Level, at: Point<'_, f64>, to: Slopes<'_, f64>, _scratch: &mut Scratch<f64>) {
        let bad = self.bad.is_some_and(|(one_in, until)| {
            at.round < until && Stream::new(self.seed, at.agent, at.round, Purpose::Noise).below(one_in) == 0
        });
        let factor = if bad { f64::NAN } else { 1.0 };
        for (place, spring) in self.of(at.agent).iter().enumerate() {
            let (x, y) = (at.x[place], at.y[place]);
            let off = y - spring.a * x - spring.b;
            let (gx, gy) = match level {
                Level::Lower => (-spring.h * spring.a * off, spring.h * off),
                Level::Upper => (RIDGE * x, y - spring.c),
            };
            if let Some(slope) = to.x.get_mut(place) {
                *slope += to.scale.0 * gx * factor;
            }
            if let Some(slope) = to.y.get_mut(place) {
                *slope += to.scale.1 * gy * factor;
            }
        }
    }

    fn value(&self, level: Level, at: Point<'_, f64>) -> f64 {
        let of = |(place, spring): (usize, &Spring)| {
            let (x, y) = (at.x[place], at.y[place]);
            let off = y - spring.a * x - spring.b;
            match level {
                Level::Lower => 0.5 * spring.h * off * off,
                Level::Upper => 0.5 * (y - spring.c) * (y - spring.c) + 0.5 * RIDGE * x * x,
            }
        };
        self.of(at.agent).iter().enumerate().map(of).sum()
    }
}

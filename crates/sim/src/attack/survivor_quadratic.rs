//! The problem that simulated peers solve: its solution is known for every set of survivors.

use fabnet_core::rng::{Purpose, Stream};
use fabnet_core::{Dim, GradientMut, Level, Point, Problem, Scratch};

use super::fault::Fault;
use super::scenario::Scenario;

/// A bilevel quadratic, coordinate by coordinate:
/// `gᵢ = ½ hᵢ (y − aᵢ x − bᵢ)²` below and `fᵢ = ½ (y − cᵢ)² + ½ r x²` above.
///
/// Means over any set of agents have a solution in closed form, so that the peers that survive the
/// faults of a simulation can be compared with the solution of exactly those peers.
#[derive(Clone, Debug)]
pub(super) struct SurvivorQuadratic {
    agents: usize,
    width: usize,
    /// Agent by agent, for each coordinate.
    coefficients: Vec<Coefficients>,
    bad_gradients: Option<BadGradients>,
    seed: u64,
}

/// The constants of one coordinate of one agent.
#[derive(Clone, Copy, Debug)]
struct Coefficients {
    h: f64,
    a: f64,
    b: f64,
    c: f64,
}

/// Gradients that are not a number, as a fault.
#[derive(Clone, Copy, Debug)]
struct BadGradients {
    /// One gradient in this many is bad.
    one_in: usize,
    /// There are none from this round on.
    before_round: u64,
}

/// The constant `r` of the upper level, which keeps the outer problem strongly convex.
const RIDGE: f64 = 0.5;

impl SurvivorQuadratic {
    /// The problem of a scenario, with bad gradients during its chaos if it has that fault.
    pub(super) fn new(scenario: &Scenario) -> Self {
        let &Scenario { nodes: agents, width, seed, chaos, .. } = scenario;
        let rate = scenario.rates[Fault::BadGradient];
        let one_in = 2 + (40.0 * rate) as usize;
        let of_agent = |agent: usize| {
            let mut stream = Stream::new(seed, agent, 0, Purpose::Data);
            let one = move |_| Coefficients {
                h: stream.uniform(0.6, 1.0),
                a: stream.uniform(0.5, 1.0),
                b: stream.uniform(-2.0, 2.0),
                c: stream.uniform(-2.0, 2.0),
            };
            (0..width).map(one)
        };
        Self {
            agents,
            width,
            coefficients: (0..agents).flat_map(of_agent).collect(),
            bad_gradients: (rate > 0.0).then_some(BadGradients { one_in, before_round: chaos }),
            seed,
        }
    }

    fn of(&self, agent: usize) -> &[Coefficients] {
        &self.coefficients[agent * self.width..][..self.width]
    }

    /// The solution (x, y) for these agents, coordinate by coordinate: of both levels, or of the
    /// lower one alone at x = 0.
    pub(super) fn solution(&self, agents: &[u32], bilevel: bool) -> Vec<(f64, f64)> {
        let mean = |place: usize, of: fn(&Coefficients) -> f64| {
            agents.iter().map(|&agent| of(&self.of(agent as usize)[place])).sum::<f64>() / agents.len() as f64
        };
        let at = |place: usize| {
            // The mean lower level is a quadratic around y = a x + b with these means of a and b.
            let h = mean(place, |one| one.h);
            let (a, b) = (mean(place, |one| one.h * one.a) / h, mean(place, |one| one.h * one.b) / h);
            let x = if bilevel { a * (mean(place, |one| one.c) - b) / (a * a + RIDGE) } else { 0.0 };
            (x, a * x + b)
        };
        (0..self.width).map(at).collect()
    }

    /// The factor of an agent's gradient in a round: one, or NaN if it is bad.
    fn gradient_factor(&self, agent: usize, round: u64) -> f64 {
        let bad = self.bad_gradients.is_some_and(|bad| {
            round < bad.before_round && Stream::new(self.seed, agent, round, Purpose::Noise).below(bad.one_in) == 0
        });
        if bad { f64::NAN } else { 1.0 }
    }
}

impl Problem<f64> for SurvivorQuadratic {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> Dim {
        Dim { outer: self.width, inner: self.width }
    }

    fn add_gradient(&self, level: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, _scratch: &mut Scratch<f64>) {
        let factor = self.gradient_factor(at.agent, at.round);
        for (place, one) in self.of(at.agent).iter().enumerate() {
            let (x, y) = (at.x[place], at.y[place]);
            let off = y - one.a * x - one.b;
            let (gx, gy) = match level {
                Level::Lower => (-one.h * one.a * off, one.h * off),
                Level::Upper => (RIDGE * x, y - one.c),
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
        let of = |(place, one): (usize, &Coefficients)| {
            let (x, y) = (at.x[place], at.y[place]);
            let off = y - one.a * x - one.b;
            match level {
                Level::Lower => 0.5 * one.h * off * off,
                Level::Upper => 0.5 * (y - one.c) * (y - one.c) + 0.5 * RIDGE * x * x,
            }
        };
        self.of(at.agent).iter().enumerate().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The problem of a seed with five agents, with or without bad gradients.
    fn problem(bad_gradients: f64) -> SurvivorQuadratic {
        let mut scenario = Scenario { nodes: 5, width: 3, ..Scenario::from_seed(4) };
        scenario.rates[Fault::BadGradient] = bad_gradients;
        SurvivorQuadratic::new(&scenario)
    }

    /// The sum over agents of both partial gradients of a level, in each coordinate.
    fn gradient(problem: &SurvivorQuadratic, agents: &[u32], level: Level, x: &[f64], y: &[f64]) -> [[f64; 3]; 2] {
        let [mut gx, mut gy] = [[0.0; 3]; 2];
        for &agent in agents {
            let at = Point { agent: agent as usize, round: 0, own: &[], x, y };
            let to = GradientMut { scale: (1.0, 1.0), own: &mut [], x: &mut gx, y: &mut gy };
            problem.add_gradient(level, at, to, &mut Scratch::default());
        }
        [gx, gy]
    }

    #[test]
    fn the_solution_of_survivors_is_stationary_for_exactly_them() {
        let problem = problem(0.0);
        for survivors in [&[0, 1, 2, 3, 4][..], &[1, 3], &[2]] {
            let (x, y): (Vec<f64>, Vec<f64>) = problem.solution(survivors, true).into_iter().unzip();
            let [_, lower] = gradient(&problem, survivors, Level::Lower, &x, &y);
            assert!(lower.iter().all(|slope| slope.abs() < 1e-12), "{lower:?}");
            // dF/dx = f_x + (dy*/dx) f_y, with dy*/dx by the difference of two lower solutions.
            let [upper_x, upper_y] = gradient(&problem, survivors, Level::Upper, &x, &y);
            let at_zero = problem.solution(survivors, false);
            for place in 0..3 {
                let slope = (y[place] - at_zero[place].1) / x[place];
                assert!((upper_x[place] + slope * upper_y[place]).abs() < 1e-9);
            }
        }
        assert_ne!(problem.solution(&[1, 3], true), problem.solution(&[1, 2], true));
    }

    #[test]
    fn gradients_are_bad_now_and_then_and_only_during_chaos() {
        let problem = problem(0.1);
        let chaos = problem.bad_gradients.unwrap().before_round;
        let bad =
            |rounds: std::ops::Range<u64>| rounds.filter(|&round| problem.gradient_factor(1, round).is_nan()).count();
        assert!((1..chaos as usize / 2).contains(&bad(0..chaos)));
        assert_eq!(bad(chaos..2 * chaos), 0);
    }
}

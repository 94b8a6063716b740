//! A small bilevel problem with given curvatures, on which step sizes are tried.

use crate::Smoothness;
use crate::rng::{EVERYONE, Purpose, Stream};

/// The number of lanes: in the first all agents have the same curvatures, in the second each has
/// its own fraction of them.
const LANES: usize = 2;
/// Scalars of one agent: x, u and z in each lane.
pub(super) const WIDTH: usize = 3 * LANES;

/// One scalar each for x, u and z of dFAB, with the largest curvatures that the agents have
/// measured, and an offset for each agent that is zero on average. The solution is zero.
pub(super) struct TrialModel {
    f_xx: f64,
    f_xy: f64,
    f_yy: f64,
    g_xy: f64,
    g_yy: f64,
    offsets: Vec<[f64; WIDTH]>,
    /// The fractions of the curvatures of f and of g that an agent has in the second lane.
    fractions: Vec<[f64; 2]>,
}

impl TrialModel {
    /// A bilevel model for this many agents. Along y's answer it has half to all of the measured
    /// curvature: the norms alone do not say how far its terms add up or cancel.
    pub(super) fn bilevel(smoothness: &Smoothness, agents: usize) -> Self {
        let &Smoothness { mut f_xx, f_xy, mut f_yy, g_xy, g_yy, hyper, .. } = smoothness;
        let sensitivity = g_xy / g_yy;
        let along = |sign: f64| f_xx + 2.0 * sign * f_xy * sensitivity + f_yy * sensitivity * sensitivity;
        let sign = if (along(-1.0) - hyper).abs() < (along(1.0) - hyper).abs() { -1.0 } else { 1.0 };
        let curvature = along(sign);
        if curvature > hyper && sensitivity > 0.0 {
            let rest = hyper - f_xx - 2.0 * sign * f_xy * sensitivity;
            f_yy = (rest / (sensitivity * sensitivity)).clamp(0.0, f_yy);
        }
        f_xx += (0.5 * hyper - curvature).max(0.0);
        Self::new([f_xx, sign * f_xy, f_yy, -g_xy, g_yy], agents)
    }

    /// A model of one level with this curvature: only z moves.
    pub(super) fn single(curvature: f64, agents: usize) -> Self {
        Self::new([0.0, 0.0, 0.0, 0.0, curvature], agents)
    }

    fn new([f_xx, f_xy, f_yy, g_xy, g_yy]: [f64; 5], agents: usize) -> Self {
        let mut stream = Stream::new(0, EVERYONE, 0, Purpose::Probe);
        let normals = stream.normals::<f64>(agents * WIDTH, 1.0);
        let mut offsets: Vec<[f64; WIDTH]> = normals.as_chunks().0.to_vec();
        for place in 0..WIDTH {
            let mean = offsets.iter().map(|offset| offset[place]).sum::<f64>() / agents as f64;
            let scale = if place % 3 == 0 { f_xx } else { g_yy };
            for offset in &mut offsets {
                offset[place] = (offset[place] - mean) * scale;
            }
        }
        let fractions = stream.uniforms::<f64>(agents * 2, 0.3, 1.0).as_chunks().0.to_vec();
        let mut model = Self { f_xx, f_xy, f_yy, g_xy, g_yy, offsets, fractions };
        if model.is_single() {
            model.offsets.iter_mut().flat_map(|offset| offset.chunks_mut(3)).for_each(|lane| lane[..2].fill(0.0));
        }
        model
    }

    fn is_single(&self) -> bool {
        self.f_xx == 0.0 && self.g_xy == 0.0
    }

    /// The number of agents.
    pub(super) fn agents(&self) -> usize {
        self.offsets.len()
    }

    /// The start of every agent: one, in all that moves.
    pub(super) fn start(&self) -> [f64; WIDTH] {
        std::array::from_fn(|place| if self.is_single() && place % 3 < 2 { 0.0 } else { 1.0 })
    }

    /// A number between 0 and 1 that differs from agent to agent.
    pub(super) fn own_part(&self, agent: usize) -> f64 {
        self.fractions[agent][0]
    }

    /// The direction of an agent at a point.
    pub(super) fn direction(&self, agent: usize, v: &[f64; WIDTH]) -> [f64; WIDTH] {
        let mut d = self.offsets[agent];
        let [own_f, own_g] = self.fractions[agent];
        for (lane, (f, g)) in [(1.0, 1.0), (own_f, own_g)].into_iter().enumerate() {
            let [x, u, z] = [v[3 * lane], v[3 * lane + 1], v[3 * lane + 2]];
            d[3 * lane] += f * (self.f_xx * x + self.f_xy * z) + g * self.g_xy * u;
            d[3 * lane + 1] += f * (self.f_xy * x + self.f_yy * z) + g * self.g_yy * u;
            d[3 * lane + 2] += g * (self.g_xy * x + self.g_yy * z);
        }
        d
    }
}

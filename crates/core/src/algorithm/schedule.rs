//! The known schedule of a network, on which agents try their plans.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::step_plan::StepPlan;
use super::trial::{CurvatureBounds, choose};
use crate::Network;

/// A network on which plans are tried. Agents of one process share what was chosen.
#[derive(Clone)]
pub(super) struct Schedule {
    network: Network,
    spread: u64,
    accelerates: bool,
    chosen: Arc<Mutex<Option<(CurvatureBounds, StepPlan)>>>,
}

impl Schedule {
    pub(super) fn new(network: Network, spread: u64) -> Self {
        Self { network, spread, accelerates: true, chosen: Arc::default() }
    }

    /// The same schedule for plain mixing.
    pub(super) fn plainly(self) -> Self {
        Self { accelerates: false, ..self }
    }

    /// Whether mixing may be accelerated.
    pub(super) fn may_accelerate(&self) -> bool {
        self.accelerates
    }

    /// The plan for these curvatures: every agent that has the same ones gets the same.
    pub(super) fn choose(&self, curvature: &CurvatureBounds) -> StepPlan {
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        match &*chosen {
            Some((known, plan)) if known == curvature => *plan,
            _ => chosen.insert((*curvature, self.search(curvature))).1,
        }
    }

    /// Searches on threads of its own: an agent moves on a thread of a pool, and if it waited here
    /// for work of that pool, it might be given an agent that waits for this search.
    fn search(&self, curvature: &CurvatureBounds) -> StepPlan {
        let search = || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started");
            pool.install(|| choose(curvature, &self.network, self.spread, self.accelerates))
        };
        std::thread::scope(|scope| scope.spawn(search).join()).expect("the search does not panic")
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Schedule").field("agents", &self.network.agents()).finish_non_exhaustive()
    }
}

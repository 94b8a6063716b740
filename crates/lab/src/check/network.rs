//! What is known of a network before a run.

use fabnet_core::network::{Connectivity, Reach, Rounds, connectivity};
use fabnet_core::topology::automatic;
use fabnet_core::{Digraph, Mixing, Topology, Weights};
use serde::Serialize;

use super::warning::{Warning, WarningKind};
use crate::plan::{Group, PlanEntry};
use crate::registry::{GroupNetwork, RegistryError, find_method};
use crate::run::{Disconnected, SetupError, WINDOW};

/// A network, as one or several groups have it.
#[derive(Clone, Debug, Serialize)]
pub struct NetworkReport {
    /// What tells it from other networks of the plan.
    #[serde(skip)]
    pub(super) key: NetworkKey,
    /// The number of agents.
    pub agents: usize,
    /// The kind of its topology.
    pub topology: String,
    /// The kind of its mixing weights.
    pub weights: String,
    /// How the method changes the network, if it does.
    pub place: Option<String>,
    /// Which topology `auto` has chosen, and why.
    pub chosen: Option<String>,
    /// The number of rounds after which the graphs repeat, if they do.
    pub period: Option<u64>,
    /// The number of rounds that were looked at.
    pub rounds: u64,
    /// The smallest C for which every C successive graphs together are strongly connected.
    pub window: Option<u64>,
    /// Why there is no such C, if there is none.
    #[serde(skip)]
    pub(super) disconnected: Option<Disconnected>,
    /// The rounds within which information from any agent reaches all, if it does.
    pub spread: Option<u64>,
    /// The constant κ = n·Σ αᵢβᵢ of the Perron vectors of A and B.
    pub kappa: f64,
    /// Which of these numbers are not exact, because that would take too long: `window` and
    /// `spread` are upper bounds then, and power iteration for `kappa` has not converged.
    pub inexact: Vec<&'static str>,
    /// The smallest entries of A and B.
    pub smallest: [f64; 2],
    /// The largest deviation from 1 of a row sum of A or a column sum of B.
    pub deviation: f64,
    /// Whether A and B are positive on every link and on the diagonal.
    pub positive: bool,
    /// The number of messages that an agent sends in a round, on average.
    pub messages: f64,
}

/// The agents, the topology, the weights and the method's change of a network.
type NetworkKey = (usize, PlanEntry, PlanEntry, String);

impl NetworkReport {
    /// What distinguishes the network of a group from other networks.
    pub(super) fn key(group: &Group) -> Result<NetworkKey, RegistryError> {
        let place = format!("{:?}", find_method::<f64>(group)?.venue);
        Ok((group.agents, group.topology.clone(), group.weights.clone(), place))
    }

    /// The report on the network of a group.
    pub(super) fn new(group: &Group, GroupNetwork { topology, weights, .. }: &GroupNetwork, key: NetworkKey) -> Self {
        let window = window(&**topology);
        let report = connectivity(&**topology, &**weights, window);
        let (deviation, positive) = stochastic(&**topology, &**weights, window);
        let place = find_method::<f64>(group).ok().and_then(|method| method.venue.about());
        Self {
            key,
            agents: group.agents,
            topology: group.topology.kind.clone(),
            weights: group.weights.kind.clone(),
            place: place.map(str::to_owned),
            chosen: (group.topology.kind == "auto").then(|| automatic(group.agents).1),
            period: topology.period(),
            rounds: report.rounds,
            window: report.window.map(Rounds::bound),
            disconnected: report.window.is_none().then(|| Disconnected::new(group, &Reach::new(&**topology, window))),
            spread: report.spread.map(Rounds::bound),
            kappa: report.kappa,
            inexact: inexact(&report),
            smallest: [report.smallest.0, report.smallest.1],
            deviation,
            positive,
            messages: report.messages,
        }
    }

    /// What may go wrong on the network, or why runs on it cannot work.
    pub(super) fn judge(&self, may_be_disconnected: bool) -> Result<Vec<Warning>, SetupError> {
        let mut warnings = Vec::new();
        let mut warn = |kind, message| warnings.push(Warning { group: None, kind, message });
        let kind = &self.topology;
        if let Some(disconnected) = &self.disconnected {
            if !may_be_disconnected {
                return Err(SetupError::Disconnected(disconnected.clone()));
            }
            warn(WarningKind::Disconnected, disconnected.to_string());
        }
        if self.kappa < 0.2 {
            let message = format!(
                "κ = {:.3} on `{kind}`: the effective step size is κ·η, so expect 1/κ times as many rounds",
                self.kappa
            );
            warn(WarningKind::Kappa, message);
        }
        Ok(warnings)
    }
}

/// Which numbers of a report are not exact.
fn inexact(report: &Connectivity) -> Vec<&'static str> {
    let bound = |rounds: Option<Rounds>| rounds.is_some_and(|rounds| !rounds.is_exact());
    let numbers = [("window", bound(report.window)), ("spread", bound(report.spread)), ("kappa", !report.converged)];
    numbers.into_iter().filter(|(_, inexact)| *inexact).map(|(name, _)| name).collect()
}

/// The number of rounds by which a network without a period is judged: fewer where graphs are
/// large, unless these do not connect the agents.
fn window(topology: &dyn Topology) -> u64 {
    /// The largest number of entries of all graphs together.
    const ENTRIES: f64 = 1e7;
    let entries = topology.links() + topology.agents() as f64;
    let fewer = WINDOW.min((ENTRIES / entries) as u64).max(1);
    let enough = topology.period().is_some() || fewer == WINDOW || Reach::new(topology, fewer).connected();
    if enough { fewer } else { WINDOW }
}

/// The largest deviation from 1 of a row sum of A or a column sum of B, over the graphs of a
/// period, and whether all weights are positive.
fn stochastic(topology: &dyn Topology, weights: &dyn Weights, window: u64) -> (f64, bool) {
    let agents = topology.agents();
    let (mut graph, mut mixing) = (Digraph::new(agents), Mixing::default());
    let (mut worst, mut positive) = (0.0f64, true);
    let rounds = topology.period().unwrap_or(window);
    let mut names: Vec<u64> = (0..rounds).map(|round| topology.graph_of(round)).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        mixing.draw(topology, name, weights, &mut graph);
        let mut columns = vec![0.0; agents];
        for agent in 0..agents {
            let row = mixing.row(agent);
            worst = worst.max((row.pull.iter().sum::<f64>() - 1.0).abs());
            row.sources.iter().zip(row.push).for_each(|(&source, weight)| columns[source as usize] += weight);
            positive &= row.pull.iter().chain(row.push).all(|&weight| weight > 0.0);
        }
        worst = columns.iter().map(|sum| (sum - 1.0).abs()).fold(worst, f64::max);
    }
    (worst, positive)
}

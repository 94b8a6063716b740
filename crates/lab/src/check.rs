//! Everything that can be known before a run.

use std::fmt::Write;

use fabnet_core::algorithm::Auto;
use fabnet_core::hypergradient::Solver;
use fabnet_core::settings::{Given, Value};
use fabnet_core::topology::{Connectivity, Reach, automatic, connectivity, tolerated_step};
use fabnet_core::{Digraph, Mask, Mixing, Oracle, Scalar, Smoothness, Topology, Weights, Work};

use crate::engine::Engine;
use crate::job::JobError;
use crate::plan::{Group, Plan, Precision};
use crate::scales::warnings;
use crate::setup::{Setup, SetupError, WINDOW, Wiring, read_method, read_network};
use crate::stopwatch::Stopwatch;

/// What is known of a plan.
#[derive(Debug, Default)]
pub struct Check {
    /// For reading.
    pub text: String,
    /// What may go wrong.
    warnings: Vec<String>,
    /// What cannot work.
    pub obstacles: Vec<String>,
}

/// Looks at the first seed of every group.
pub fn check(plan: &Plan, threads: usize) -> Result<Check, JobError> {
    let mut check = Check { warnings: warnings(plan), ..Check::default() };
    let seed = plan.seeds[0];
    let mut seen: Vec<&Group> = Vec::new();
    for group in &plan.groups {
        let place = |group: &Group| read_method::<f64>(group).map(|method| method.place);
        let alike = |other: &&Group| {
            (other.agents, &other.topology, &other.weights, place(other))
                == (group.agents, &group.topology, &group.weights, place(group))
        };
        if !seen.iter().any(alike) {
            check.network(group, seed)?;
            seen.push(group);
        }
    }
    let mut seconds = 0.0;
    for group in &plan.groups {
        let one = match group.precision {
            Precision::F64 => check.group::<f64>(group, seed),
            Precision::F32 => check.group::<f32>(group, seed),
        };
        match one {
            Ok(run) => seconds += run * plan.seeds.len() as f64 / threads as f64,
            Err(SetupError::Impossible(message)) => check.obstacle(message),
            Err(invalid) => return Err(invalid.into()),
        }
    }
    let runs = plan.groups.len() * plan.seeds.len();
    check.line(&format!("all {runs} runs on {threads} threads: about {}, if none stops early", duration(seconds)));
    check.verdict();
    Ok(check)
}

impl Check {
    fn network(&mut self, group: &Group, seed: u64) -> Result<(), JobError> {
        let Wiring { topology, weights, may_be_disconnected } = read_network(group, seed)?;
        let report = connectivity(&*topology, &*weights, WINDOW);
        self.line(&format!(
            "network: {} agents, {}, {} weights",
            group.agents, group.topology.kind, group.weights.kind
        ));
        if let Some(about) = read_method::<f64>(group)?.place.about() {
            self.fact("as the method has it", about);
        }
        if group.topology.kind == "auto" {
            self.fact("chosen", &automatic(group.agents).1);
        }
        let repeats = if topology.period().is_some() { "the graphs repeat every" } else { "judged by the first" };
        self.fact("rounds", &format!("{repeats} {}", report.rounds));
        self.fact(
            "connected",
            &match report.window {
                Some(1) => "strongly, in every round (C = 1)".to_owned(),
                Some(window) => format!("jointly strongly, over every {window} successive rounds (C = {window})"),
                None => "never, not even jointly".to_owned(),
            },
        );
        self.fact(
            "news",
            &report.spread.map_or("not known when it has reached everyone".to_owned(), |spread| {
                format!("reaches everyone within {spread} rounds")
            }),
        );
        self.fact("κ", &format!("{:.3}: push-pull advances as if its steps were this much longer", report.kappa));
        self.fact("A and B", &stochastic(&*topology, &*weights));
        self.fact("smallest weights", &format!("a = {:.4}, b = {:.4}", report.smallest.0, report.smallest.1));
        self.fact("messages", &format!("{:.2} per agent and round", report.messages));
        self.judge_network(group, &report, may_be_disconnected);
        Ok(())
    }

    fn judge_network(&mut self, group: &Group, report: &Connectivity, allowed: bool) {
        let kind = &group.topology.kind;
        if report.window.is_none() {
            let message =
                format!("the agents on `{kind}` are never jointly strongly connected: some never hear of others");
            if allowed {
                self.warning(message);
            } else {
                self.obstacle(format!("{message}. Add links, or a ring underneath"));
            }
        }
        if report.kappa < 0.2 {
            self.warning(format!(
                "κ = {:.3} on `{kind}`: weight and mass gather with different agents, expect 1/κ times as many rounds",
                report.kappa
            ));
        }
    }

    /// Reports on one group; returns the seconds that one of its runs takes at most.
    fn group<T: Scalar>(&mut self, group: &Group, seed: u64) -> Result<f64, SetupError> {
        self.line(&format!("{}: {} on {}", group.label, group.algorithm.kind, group.problem.kind));
        let setup = Setup::<T>::new(group, seed)?;
        let dim = setup.problem.dim();
        let noise = if setup.problem.noisy() { ", noisy gradients" } else { "" };
        self.fact("problem", &format!("{} outer and {} inner variables{noise}", dim.outer, dim.inner));
        self.steps(group, &setup);
        let mut engine = setup.engine()?;
        let message = setup.algorithm.segments(0).sent(Mask::ALL) * T::BYTES;
        let seconds = measure(&mut engine) * group.rounds as f64;
        let per_round = engine.view().bytes_per_agent / (engine.view().round.max(1) as f64);
        self.fact(
            "a run costs at most",
            &format!(
                "{} sent per agent (numbers of {message} bytes a message), {} of memory, {}",
                bytes(per_round * group.rounds as f64),
                bytes(engine.state_bytes() * group.agents as f64),
                duration(seconds)
            ),
        );
        Ok(seconds)
    }

    fn steps<T: Scalar>(&mut self, group: &Group, setup: &Setup<T>) {
        let names: Vec<&str> = setup.algorithm.blocks().names().collect();
        let own = setup.algorithm.direction().automatic(&smoothness(setup), 0);
        let shown = |sizes: &[f64]| {
            names.iter().zip(sizes).map(|(name, size)| format!("{name} = {size:.3}")).collect::<Vec<_>>().join(", ")
        };
        let setting = |key: &str| match group.algorithm.get(&format!("steps.{key}")) {
            Some(Value::Number(size)) => Some(size),
            _ => None,
        };
        let given = names.iter().map(|name| setting(name)).collect::<Option<Vec<f64>>>();
        let unless_given = if given.is_some() || setup.problem.noisy() { 0.0 } else { Auto::MOMENTUM };
        let momentum = setting("momentum").unwrap_or(unless_given);
        self.fact("steps agents find", &shown(&own.map(|size| size * (1.0 - momentum))));
        if let Some(given) = &given {
            self.fact("steps given", &shown(given));
        }
        self.tolerance(group, setup, momentum, own[names.len() - 1], given.as_deref().and_then(<[f64]>::last));
        if let (Some([x, y, z]), true) = (given.as_deref(), names == ["x", "y", "z"]) {
            self.coupling(group, setup, (*x, *y, *z));
        }
    }

    /// Whether the lower step, given or not, is one with which agents come together on their network.
    fn tolerance<T: Scalar>(&mut self, group: &Group, setup: &Setup<T>, momentum: f64, own: f64, given: Option<&f64>) {
        let Some(spread) = Reach::new(&*setup.topology, WINDOW).spread() else { return };
        let relative = tolerated_step(setup.topology.clone(), setup.weights.clone(), momentum, spread);
        // Agents start from this part of the inverse curvature.
        let tolerated = relative * own / Smoothness::INNER * (1.0 - momentum);
        self.fact(
            "lower steps up to",
            &format!("{tolerated:.2e} bring agents together on this network ({relative} of the inverse curvature)"),
        );
        match given {
            Some(given) if *given > tolerated => self.warning(format!(
                "{}: a lower step of {given} is more than this network tolerates (about {tolerated:.1e}): {}",
                group.label,
                // Quadratics curve everywhere alike. Others may curve less where they are trained to, or at agents who have the average data.
                if setup.problem.optimum().is_some() {
                    "expect divergence"
                } else {
                    "it may diverge (this is for the largest curvature that an agent meets at the start, so longer steps can work)"
                }
            )),
            None if relative < Smoothness::INNER => self.warning(format!(
                "{}: this network mixes slowly, automatic steps may become so short that the run stands still: look at worst_error, tune, or choose a network on which news spreads faster",
                group.label
            )),
            _ => {}
        }
    }

    /// Whether different steps of y and z throw x off: `η_x (1/η_z − 1/η_y) σ_max(J)² < 1`.
    ///
    /// y and z lag the moving lower-level answer differently, which gives x the effective mass `I + η_x (1/η_y − 1/η_z) JᵀJ`.
    fn coupling<T: Scalar>(&mut self, group: &Group, setup: &Setup<T>, (x, y, z): (f64, f64, f64)) {
        let problem = &*setup.problem;
        if problem.has_private() || y == 0.0 || z == 0.0 {
            return;
        }
        let (_, start, _) = problem.starting_point(0);
        let sigma = Solver::new(problem).sensitivity(problem, &start).f64();
        let mass = x * (1.0 / z - 1.0 / y) * sigma * sigma;
        self.fact(
            "y and z",
            &format!("η_x (1/η_z − 1/η_y) σ_max(J)² = {mass:.2} with σ_max(J) = {sigma:.2}: stable below 1"),
        );
        if mass > 1.0 {
            self.warning(format!(
                "{}: y moves faster than z ({y} and {z}), which makes x unstable here: give both the same step",
                group.label
            ));
        }
    }

    fn verdict(&mut self) {
        for warning in self.warnings.clone() {
            self.line(&format!("warning: {warning}"));
        }
        for obstacle in self.obstacles.clone() {
            self.line(&format!("impossible: {obstacle}"));
        }
        self.line(match (self.obstacles.is_empty(), self.warnings.is_empty()) {
            (false, _) => "verdict: this cannot work",
            (true, false) => "verdict: this can run, with the warnings above",
            (true, true) => "verdict: nothing speaks against it",
        });
    }

    fn warning(&mut self, message: String) {
        self.warnings.push(message);
    }

    fn obstacle(&mut self, message: String) {
        if !self.obstacles.contains(&message) {
            self.obstacles.push(message);
        }
    }

    fn line(&mut self, text: &str) {
        _ = writeln!(self.text, "{text}");
    }

    fn fact(&mut self, name: &str, value: &str) {
        _ = writeln!(self.text, "  {name:<20} {value}");
    }
}

/// The largest smoothness over agents, those of a sample if there are many.
pub(crate) fn smoothness<T: Scalar>(setup: &Setup<T>) -> Smoothness {
    const SAMPLE: usize = 64;
    let problem = &*setup.problem;
    let agents = problem.agents();
    let mut work = Work::default();
    let measured = (0..agents).step_by(agents.div_ceil(SAMPLE)).map(|agent| {
        let (own, x, y) = problem.starting_point(agent);
        Smoothness::measure(&mut Oracle { problem, seed: 0, agent, round: 0, work: &mut work }, &own, &x, &y).to_array()
    });
    Smoothness::from_array(measured.fold([0.0; Smoothness::LEN], |largest, norms| {
        std::array::from_fn(|place| f64::max(largest[place], norms[place]))
    }))
}

/// How far rows of A and columns of B are from 1, over the graphs of a period.
fn stochastic(topology: &dyn Topology, weights: &dyn Weights) -> String {
    let agents = topology.agents();
    let (mut graph, mut mixing, mut worst) = (Digraph::new(agents), Mixing::default(), 0.0f64);
    let rounds = topology.period().unwrap_or(WINDOW);
    let mut names: Vec<u64> = (0..rounds).map(|round| topology.graph_of(round)).collect();
    names.sort_unstable();
    names.dedup();
    let mut compatible = true;
    for name in names {
        mixing.draw(topology, name, weights, &mut graph);
        let mut columns = vec![0.0; agents];
        for agent in 0..agents {
            let row = mixing.row(agent);
            worst = worst.max((row.pull.iter().sum::<f64>() - 1.0).abs());
            row.sources.iter().zip(row.push).for_each(|(&source, weight)| columns[source as usize] += weight);
            compatible &= row.pull.iter().chain(row.push).all(|&weight| weight > 0.0);
        }
        worst = columns.iter().map(|sum| (sum - 1.0).abs()).fold(worst, f64::max);
    }
    let links = if compatible { "both positive on every link and for oneself" } else { "not positive on every link" };
    format!("rows of A and columns of B sum to 1 (to {worst:.0e}), {links}")
}

/// Seconds for one round, tried for a moment.
fn measure<T: Scalar>(engine: &mut Engine<T>) -> f64 {
    let watch = Stopwatch::start();
    let mut rounds = 0;
    while watch.seconds() < 0.1 && rounds < 1000 && engine.run_until(rounds + 1).is_ok() {
        rounds += 1;
    }
    watch.seconds() / rounds.max(1) as f64
}

fn bytes(count: f64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB"];
    let power = ((count.max(1.0).log10() / 3.0) as u8).min(units.len() as u8 - 1);
    format!("{:.1} {}", count / 1000f64.powi(power.into()), units[usize::from(power)])
}

fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 120.0 => format!("{seconds:.1} s"),
        seconds if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

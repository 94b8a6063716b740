//! Every problem that wraps another one passes on every method, or says why not.

use std::sync::Arc;

use super::finding::Content;
use crate::engine::{DryRun, RoundQueries};
use crate::{
    Averaged, BatchOracle, Capabilities, ClosedForm, Curvature, DataRange, Dim, Finding, Findings, GradientMut,
    KnownOptimum, Level, LocalData, MiniBatches, ModelParameters, Objective, Optimum, Point, Problem, ProblemExt,
    QueryBatch, Scratch, SingleLevel, Solutions, Tensor, Whose,
};

/// Two agents, and an answer of its own to every question.
struct Probe;

impl Problem<f64> for Probe {
    fn agents(&self) -> usize {
        2
    }

    fn dim(&self) -> Dim {
        Dim { outer: 1, inner: 1 }
    }

    fn start(&self, agent: usize, _own: &mut [f64], x: &mut [f64], y: &mut [f64]) {
        (x[0], y[0]) = (agent as f64 + 3.0, 4.0);
    }

    fn add_gradient(&self, level: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, _scratch: &mut Scratch<f64>) {
        to.x.iter_mut().for_each(|slope| *slope += to.scale.0 * self.value(level, at));
        to.y.iter_mut().for_each(|slope| *slope += to.scale.1 * 2.0 * self.value(level, at));
    }

    fn value(&self, level: Level, at: Point<'_, f64>) -> f64 {
        10.0 * (level as usize as f64 + 1.0) + at.agent as f64
    }

    fn capabilities(&self) -> Capabilities<'_, f64> {
        Capabilities {
            private: None,
            batches: Some(self),
            data: Some(self),
            noisy: true,
            objective: Some(self),
            curvature: Some(self),
            optimum: Some(self),
            closed_form: Some(self),
            findings: Some(self),
            model: Some(self),
            batched: Some(self),
        }
    }
}

impl SingleLevel<f64> for Probe {
    fn add_objective(&self, _: Objective, at: Point<'_, f64>, scale: f64, y: &mut [f64], _: &mut Scratch<f64>) {
        y[0] += scale * (50.0 + at.agent as f64);
    }
}

impl LocalData for Probe {
    fn missing(&self, agent: usize) -> Option<String> {
        (agent == 1).then(|| "the data of agent 1".to_owned())
    }

    fn data_range(&self, agent: usize) -> Option<DataRange> {
        Some(DataRange { low: -(agent as f64), high: 1.0 + agent as f64, rms: 1.0 + 6.0 * agent as f64 })
    }

    fn data_bytes(&self) -> usize {
        90
    }
}

impl MiniBatches for Probe {
    fn batches(&self, _agent: usize) -> usize {
        7
    }

    fn batch(&self, _agent: usize, round: u64) -> usize {
        round as usize % 7
    }
}

impl Findings<f64> for Probe {
    fn measure(&self, metric: &str, of: &dyn Solutions<f64>) -> Option<f64> {
        (metric == "probe").then_some(of.agents().start as f64)
    }

    fn findings(&self, _of: &dyn Solutions<f64>) -> Vec<Finding> {
        vec![Finding { name: "found".to_owned(), title: String::new(), content: Content::Pictures(Vec::new()) }]
    }
}

impl ModelParameters for Probe {
    fn tensors(&self) -> Vec<Tensor> {
        vec![Tensor { name: "weight".to_owned(), shape: vec![1], transposed: false }]
    }
}

impl KnownOptimum<f64> for Probe {
    fn optimum(&self) -> Optimum<f64> {
        Optimum { x: vec![8.0], y: vec![9.0], own: Vec::new() }
    }
}

impl Curvature<f64> for Probe {
    fn add_product(&self, at: Point<'_, f64>, v: &[f64], to: GradientMut<'_, f64>, _scratch: &mut Scratch<f64>) {
        to.x[0] += to.scale.0 * v[0] * (60.0 + at.agent as f64);
    }
}

impl ClosedForm<f64> for Probe {
    fn response(&self, _x: &[f64], y: &mut [f64]) {
        y[0] = 70.0;
    }

    fn hypergradient(&self, _x: &[f64], out: &mut [f64]) {
        out[0] = 80.0;
    }
}

impl BatchOracle<f64> for Probe {
    fn answer(&self, level: Level, round: u64, sheets: &mut [&mut QueryBatch<f64>]) {
        for sheet in sheets {
            for agent in sheet.agents() {
                let value = self.value(level, sheet.point(agent, round));
                let (slot, [_, x, y]) = sheet.answer(agent);
                (*slot, x[0], y[0]) = (value, value, 2.0 * value);
            }
        }
    }
}

/// What a method of agent 0's problem answers.
type Question = fn(&dyn Problem<f64>, &dyn Solutions<f64>) -> String;

/// Every method of [`Problem`]: what the probe answers, its average in one hand, and its batched
/// form.
const TABLE: [(&str, Question, &str, &str, &str); 24] = [
    ("agents", |p, _| p.agents().to_string(), "2", "1", "2"),
    ("dim", |p, _| format!("{} {}", p.dim().outer, p.dim().inner), "1 1", "1 1", "1 1"),
    // A problem with private coordinates cannot be averaged.
    ("private", |p, _| p.private(0).to_string(), "0", "0", "0"),
    ("has_private", |p, _| p.has_private().to_string(), "false", "false", "false"),
    ("start", |p, _| start(p), "3 4", "3 4", "3 4"),
    (
        "starting_point",
        |p, _| format!("{:?}", p.starting_point(0)),
        "([], [3.0], [4.0])",
        "([], [3.0], [4.0])",
        "([], [3.0], [4.0])",
    ),
    ("add_gradient", |p, _| gradient(p), "20 40", "20.5 41", "20 40"),
    ("value", |p, _| p.value(Level::Upper, AT).to_string(), "10", "10.5", "10"),
    // Batched, it is the sum of the levels.
    ("add_objective", |p, _| objective(p), "50", "50.5", "60"),
    ("missing", |p, _| format!("{:?}", p.missing(0)), "None", "Some(\"the data of agent 1\")", "None"),
    ("data_range", |p, _| range(p), "-0 1 1", "-1 2 5", "-0 1 1"),
    ("is_bilevel", |p, _| p.is_bilevel().to_string(), "true", "true", "true"),
    ("most_batches", |p, _| p.most_batches().to_string(), "7", "7", "7"),
    ("batches", |p, _| p.batches(0).to_string(), "7", "7", "7"),
    ("batch", |p, _| p.batch(0, 12).to_string(), "5", "5", "5"),
    ("measure", |p, found| format!("{:?}", p.measure("probe", found)), "Some(33.0)", "Some(33.0)", "Some(33.0)"),
    ("findings", |p, found| p.findings(found).len().to_string(), "1", "1", "1"),
    ("tensors", |p, _| p.tensors().len().to_string(), "1", "1", "1"),
    ("data_bytes", |p, _| p.data_bytes().to_string(), "90", "90", "90"),
    ("noisy", |p, _| p.noisy().to_string(), "true", "true", "true"),
    // One agent asks for all in turn, and a batch is not batched again.
    ("batched", |p, _| p.capabilities().batched.is_some().to_string(), "true", "false", "false"),
    ("curvature", |p, _| product(p), "60", "60.5", "60"),
    (
        "optimum",
        |p, _| format!("{:?}", p.optimum().map(|optimum| optimum.x)),
        "Some([8.0])",
        "Some([8.0])",
        "Some([8.0])",
    ),
    ("closed_form", |p, _| closed_form(p), "70 80", "70 80", "70 80"),
];

const AT: Point<'_, f64> = Point { agent: 0, round: 0, own: &[], x: &[0.0], y: &[0.0] };

fn start(problem: &dyn Problem<f64>) -> String {
    let (mut x, mut y) = ([0.0], [0.0]);
    problem.start(0, &mut [], &mut x, &mut y);
    format!("{} {}", x[0], y[0])
}

fn gradient(problem: &dyn Problem<f64>) -> String {
    let (mut x, mut y) = ([0.0], [0.0]);
    let to = GradientMut { scale: (1.0, 1.0), own: &mut [], x: &mut x, y: &mut y };
    problem.add_gradient(Level::Lower, AT, to, &mut Scratch::default());
    format!("{} {}", x[0], y[0])
}

fn objective(problem: &dyn Problem<f64>) -> String {
    let mut y = [0.0];
    problem.add_objective(Objective::Merged, AT, 1.0, &mut y, &mut Scratch::default());
    y[0].to_string()
}

fn range(problem: &dyn Problem<f64>) -> String {
    problem.data_range(0).map_or(String::new(), |range| format!("{} {} {}", range.low, range.high, range.rms))
}

fn product(problem: &dyn Problem<f64>) -> String {
    let (mut x, mut y) = ([0.0], [0.0]);
    let to = GradientMut { scale: (1.0, 1.0), own: &mut [], x: &mut x, y: &mut y };
    if let Some(curvature) = problem.capabilities().curvature {
        curvature.add_product(AT, &[1.0], to, &mut Scratch::default());
    }
    x[0].to_string()
}

fn closed_form(problem: &dyn Problem<f64>) -> String {
    let (mut y, mut x) = ([0.0], [0.0]);
    if let Some(closed) = problem.capabilities().closed_form {
        closed.response(&[0.0], &mut y);
        closed.hypergradient(&[0.0], &mut x);
    }
    format!("{} {}", y[0], x[0])
}

/// Solutions of which nothing is to be seen but the first agent's number.
struct Nothing;

impl Solutions<f64> for Nothing {
    fn agents(&self) -> std::ops::Range<usize> {
        33..33
    }

    fn variables(&self, _of: Whose) -> (Vec<f64>, Vec<f64>) {
        (Vec::new(), Vec::new())
    }

    fn block(&self, _of: Whose, _name: &str) -> Option<Vec<f64>> {
        None
    }

    fn private(&self, _agent: usize) -> Vec<f64> {
        Vec::new()
    }
}

#[test]
fn every_wrapper_passes_on_every_method() {
    let averaged = Averaged::new(Arc::new(Probe)).expect("there is nothing private");
    for (name, ask, alone, average, batched) in TABLE {
        assert_eq!(ask(&Probe, &Nothing), alone, "{name} of the probe");
        assert_eq!(ask(&averaged, &Nothing), average, "{name} of Averaged");
        let mut queries = RoundQueries::new(std::iter::once(0..2));
        let answer = loop {
            queries.begin();
            let answer = ask(&DryRun { problem: &Probe, queries: &queries }, &Nothing);
            if queries.is_complete(&Probe, 0) {
                break answer;
            }
        };
        assert_eq!(answer, batched, "{name} of DryRun");
    }
}

/// The names of the methods of a trait, from its source.
fn methods(source: &'static str, header: &str) -> Vec<&'static str> {
    let body = source.split(header).nth(1).and_then(|rest| rest.split("\n}\n").next()).unwrap_or("");
    body.lines().filter_map(|line| line.strip_prefix("    fn ")?.split('(').next()).collect()
}

/// The names of the fields of [`Capabilities`], from the source.
fn capabilities() -> Vec<&'static str> {
    let source = include_str!("capabilities.rs");
    let body = source.split("pub struct Capabilities").nth(1).and_then(|rest| rest.split("\n}\n").next()).unwrap_or("");
    body.lines().filter_map(|line| line.strip_prefix("    pub ")?.split(':').next()).collect()
}

#[test]
fn the_table_has_every_method_and_every_capability() {
    let mut names = methods(include_str!("mod.rs"), "pub trait Problem<");
    names.retain(|name| *name != "capabilities");
    names.extend(methods(include_str!("derived.rs"), "pub trait ProblemExt<"));
    let capabilities = capabilities();
    assert!(names.len() > 18 && capabilities.len() > 9, "{names:?} {capabilities:?}");
    // These are seen through a method of another name.
    let seen = [("data", "data_bytes"), ("objective", "add_objective"), ("model", "tensors")];
    for name in names.into_iter().chain(capabilities) {
        let row = seen.iter().find(|(field, _)| *field == name).map_or(name, |(_, method)| method);
        assert!(TABLE.iter().any(|(known, ..)| *known == row), "`{name}` is in no row of the table");
    }
}

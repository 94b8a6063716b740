//! Every problem that wraps another one passes on every method, or says why not.

use std::sync::Arc;

use crate::algorithm::{PushPull, Steps};
use crate::direction::Penalty;
use crate::finding::Content;
use crate::observe::Agents;
use crate::together::{Rehearsed, Script};
use crate::{
    Averaged, ClosedForm, Curvature, DataRange, Dim, Evaluations, Finding, Level, Objective, Optimum, Point, Problem,
    Scratch, Sheet, Slopes, Tensor, Together, View,
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

    fn add_gradient(&self, level: Level, at: Point<'_, f64>, to: Slopes<'_, f64>, _scratch: &mut Scratch<f64>) {
        to.x.iter_mut().for_each(|slope| *slope += to.scale.0 * self.value(level, at));
        to.y.iter_mut().for_each(|slope| *slope += to.scale.1 * 2.0 * self.value(level, at));
    }

    fn value(&self, level: Level, at: Point<'_, f64>) -> f64 {
        10.0 * (level as usize as f64 + 1.0) + at.agent as f64
    }

    fn add_objective(&self, _: Objective, at: Point<'_, f64>, scale: f64, y: &mut [f64], _: &mut Scratch<f64>) {
        y[0] += scale * (50.0 + at.agent as f64);
    }

    fn missing(&self, agent: usize) -> Option<String> {
        (agent == 1).then(|| "the data of agent 1".to_owned())
    }

    fn data_range(&self, agent: usize) -> Option<DataRange> {
        Some(DataRange { low: -(agent as f64), high: 1.0 + agent as f64, rms: 1.0 + 6.0 * agent as f64 })
    }

    fn batches(&self, _agent: usize) -> usize {
        7
    }

    fn batch(&self, _agent: usize, round: u64) -> usize {
        round as usize % 7
    }

    fn measure(&self, metric: &str, view: &View<'_, f64>) -> Option<f64> {
        (metric == "probe").then_some(view.round as f64)
    }

    fn findings(&self, _view: &View<'_, f64>) -> Vec<Finding> {
        vec![Finding { name: "found".to_owned(), title: String::new(), content: Content::Pictures(Vec::new()) }]
    }

    fn tensors(&self) -> Vec<Tensor> {
        vec![Tensor { name: "weight".to_owned(), shape: vec![1], transposed: false }]
    }

    fn data_bytes(&self) -> usize {
        90
    }

    fn noisy(&self) -> bool {
        true
    }

    fn together(&self) -> Option<&dyn Together<f64>> {
        Some(self)
    }

    fn curvature(&self) -> Option<&dyn Curvature<f64>> {
        Some(self)
    }

    fn optimum(&self) -> Option<Optimum<f64>> {
        Some(Optimum { x: vec![8.0], y: vec![9.0], own: Vec::new() })
    }

    fn closed_form(&self) -> Option<&dyn ClosedForm<f64>> {
        Some(self)
    }
}

impl Curvature<f64> for Probe {
    fn add_product(&self, at: Point<'_, f64>, v: &[f64], to: Slopes<'_, f64>, _scratch: &mut Scratch<f64>) {
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

impl Together<f64> for Probe {
    fn answer(&self, level: Level, round: u64, sheets: &mut [&mut Sheet<f64>]) {
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
type Question = fn(&dyn Problem<f64>, &View<'_, f64>) -> String;

/// Every method of [`Problem`]: what the probe answers, its average in one hand, and its batched form.
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
    // Batched, it is the sum of the levels: see `Together`.
    ("add_objective", |p, _| objective(p), "50", "50.5", "60"),
    ("missing", |p, _| format!("{:?}", p.missing(0)), "None", "Some(\"the data of agent 1\")", "None"),
    ("data_range", |p, _| range(p), "-0 1 1", "-1 2 5", "-0 1 1"),
    ("is_bilevel", |p, _| p.is_bilevel().to_string(), "true", "true", "true"),
    ("most_batches", |p, _| p.most_batches().to_string(), "7", "7", "7"),
    ("batches", |p, _| p.batches(0).to_string(), "7", "7", "7"),
    ("batch", |p, _| p.batch(0, 12).to_string(), "5", "5", "5"),
    ("measure", |p, view| format!("{:?}", p.measure("probe", view)), "Some(33.0)", "Some(33.0)", "Some(33.0)"),
    ("findings", |p, view| p.findings(view).len().to_string(), "1", "1", "1"),
    ("tensors", |p, _| p.tensors().len().to_string(), "1", "1", "1"),
    ("data_bytes", |p, _| p.data_bytes().to_string(), "90", "90", "90"),
    ("noisy", |p, _| p.noisy().to_string(), "true", "true", "true"),
    // One agent asks for all in turn, and a batch is not batched again.
    ("together", |p, _| p.together().is_some().to_string(), "true", "false", "false"),
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
    let to = Slopes { scale: (1.0, 1.0), own: &mut [], x: &mut x, y: &mut y };
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
    let to = Slopes { scale: (1.0, 1.0), own: &mut [], x: &mut x, y: &mut y };
    if let Some(curvature) = problem.curvature() {
        curvature.add_product(AT, &[1.0], to, &mut Scratch::default());
    }
    x[0].to_string()
}

fn closed_form(problem: &dyn Problem<f64>) -> String {
    let (mut y, mut x) = ([0.0], [0.0]);
    if let Some(closed) = problem.closed_form() {
        closed.response(&[0.0], &mut y);
        closed.hypergradient(&[0.0], &mut x);
    }
    format!("{} {}", y[0], x[0])
}

/// A run of which nothing is to be seen but its round.
struct Nobody;

impl Agents<f64> for Nobody {
    fn range(&self) -> std::ops::Range<usize> {
        0..0
    }

    fn row(&self, _agent: usize) -> &[f64] {
        &[]
    }

    fn keep(&self, _agent: usize) -> &[f64] {
        &[]
    }

    fn input(&self, _agent: usize) -> &[f64] {
        &[]
    }
}

#[test]
fn every_wrapper_passes_on_every_method() {
    let algorithm = PushPull::new(&Probe, Penalty::new(1.0), Steps::same(0.1)).expect("valid steps");
    let (problem, agents) = (&Probe as &dyn Problem<f64>, &Nobody as &dyn Agents<f64>);
    let evaluations = Evaluations::default();
    let view = View { round: 33, problem, algorithm: &algorithm, bytes_per_agent: 0.0, evaluations, agents };
    let averaged = Averaged::new(Arc::new(Probe)).expect("there is nothing private");
    for (name, ask, alone, average, batched) in TABLE {
        assert_eq!(ask(&Probe, &view), alone, "{name} of the probe");
        assert_eq!(ask(&averaged, &view), average, "{name} of Averaged");
        let mut script = Script::new(std::iter::once(0..2));
        let answer = loop {
            script.begin();
            let answer = ask(&Rehearsed { problem: &Probe, script: &script }, &view);
            if script.is_complete(&Probe, 0) {
                break answer;
            }
        };
        assert_eq!(answer, batched, "{name} of Rehearsed");
    }
}

#[test]
fn the_table_has_every_method() {
    let source = include_str!("problem.rs");
    let source = source.split("pub trait Problem<").nth(1).and_then(|rest| rest.split("\n}\n").next()).unwrap_or("");
    let methods: Vec<&str> =
        source.lines().filter_map(|line| line.strip_prefix("    fn ")?.split('(').next()).collect();
    assert!(methods.len() > 20, "{methods:?}");
    for method in &methods {
        assert!(TABLE.iter().any(|(name, ..)| name == method), "`{method}` is in no row of the table");
    }
    assert_eq!(methods.len(), TABLE.len());
}

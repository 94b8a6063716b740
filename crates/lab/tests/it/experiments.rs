//! From files to plans: every value resolved, every list a grid, and a plan that resolves to
//! itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fabnet_core::algorithm::methods;
use fabnet_core::peer::NeighbourSource;
use fabnet_core::settings::Value;
use fabnet_lab::{Experiment, Group, Plan, Setup};

fn plan(text: &str) -> Plan {
    Experiment::parse(text, Path::new("test.toml"))
        .unwrap()
        .plan()
        .unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn labels(plan: &Plan) -> Vec<&str> {
    plan.groups.iter().map(|group| group.label.as_str()).collect()
}

/// Every experiment of the repository; the design of the benchmark is none.
fn files() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.extend((!path.ends_with("benchmark")).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "toml") {
                files.push(path);
            }
        }
    }
    files
}

const GRID: &str = r#"
agents = [4, 6]
seeds = [7, 3]

[problem]
kind = "policy-evaluation"
noise = [0.0, 1.0]

[topology]
kind = "contact-plan"
contacts = "0 1\n1 0 \"\\ # é"

[[algorithm]]
kind = ["fab", "push-sum-fab"]
penalty = [60, 80]
steps = 0.1
weights = { kind = "lazy", stay = 0.25 }

[[algorithm]]
label = "mine"
kind = "dfab"
agents = 5
topology = { kind = "ring" }
steps = [{ x = 0.1, u = 0.2, z = 0.3 }, { x = 0.1, u = 0.4, z = 0.3 }]

[stop]
metric = "bellman"
below = 1
"#;

#[test]
fn lists_are_grids() {
    let plan = plan(GRID);
    // 2 sizes, 2 noises, 2 methods and 2 penalties; and for the other, 2 noises and 2 pairs of
    // step sizes.
    assert_eq!(plan.groups.len(), 2 * 2 * 2 * 2 + 2 * 2);
    assert_eq!(
        labels(&plan)[..3],
        [
            "fab agents=4 noise=0 penalty=60",
            "fab agents=4 noise=0 penalty=80",
            "push-sum-fab agents=4 noise=0 penalty=60"
        ]
    );
    assert_eq!(
        labels(&plan)[16..],
        ["mine noise=0 u=0.2", "mine noise=0 u=0.4", "mine noise=1 u=0.2", "mine noise=1 u=0.4"]
    );
    assert_eq!(plan.seeds, [7, 3]);
    let Group { agents, grid, topology, weights, .. } = &plan.groups[19];
    assert_eq!((*agents, topology.kind.as_str(), weights.kind.as_str()), (5, "ring", "uniform"));
    assert_eq!(grid, &["problem.noise"]);
    assert_eq!(plan.groups[0].value("algorithm.steps.y"), Some(Value::Number(0.1)));
    // What is to be reached is recorded.
    assert_eq!(plan.metrics.last().unwrap(), "bellman");
}

#[test]
fn a_written_plan_resolves_to_itself() {
    let mut plans: Vec<Plan> = files().iter().map(|file| Experiment::read(file).unwrap().plan().unwrap()).collect();
    assert!(plans.len() >= 8);
    plans.push(plan(GRID));
    for plan in plans {
        let written = plan.to_toml();
        let again = Experiment::parse(&written, Path::new("plan.toml")).unwrap().plan().unwrap();
        assert_eq!(plan, again, "{written}");
    }
}

/// Files and messages of nodes carry digests of this text. A setting that comes later must be left
/// out of it where it has its default; otherwise no run goes on when its nodes are upgraded.
#[test]
fn the_text_of_digests_is_that_of_earlier_versions() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/versions");
    for version in ["wire-2", "wire-3"] {
        let folder = samples.join(version).join("run");
        let plan = Experiment::read(&folder.join("experiment.toml")).unwrap().plan().unwrap();
        let written = std::fs::read_to_string(folder.join("plan.toml")).unwrap();
        assert_eq!(plan.text_of_digest(), written, "{version}");
    }
}

#[test]
fn every_experiment_says_in_two_lines_what_to_expect() {
    for file in files() {
        let text = std::fs::read_to_string(&file).unwrap();
        let said: Vec<&str> = text.lines().take_while(|line| line.starts_with("# ")).collect();
        assert!(said.len() >= 2 && said.iter().any(|line| line.contains("Expect")), "{}", file.display());
    }
}

#[test]
fn values_can_be_set_by_their_path() {
    let mut experiment = Experiment::parse(GRID, Path::new("test.toml")).unwrap();
    for assignment in
        ["agents=9", "algorithm.0.kind=fab", "algorithm.1.steps=auto", "problem.noise=[0.5]", "record.every=7"]
    {
        experiment.set(assignment).unwrap();
    }
    experiment.set_seeds("2..4");
    let plan = experiment.plan().unwrap();
    assert_eq!(labels(&plan), ["fab noise=0.5 penalty=60", "fab noise=0.5 penalty=80", "mine noise=0.5"]);
    assert_eq!((plan.groups[0].agents, plan.groups[2].agents, plan.every), (9, 5, 7));
    assert_eq!(plan.seeds, [2, 3]);
    assert_eq!(plan.groups[2].value("algorithm.steps"), Some(Value::from("auto")));
}

#[test]
fn groups_with_one_name_are_told_apart() {
    let plan = plan(
        "[problem]\nkind = \"quadratic\"\n[[algorithm]]\nkind = \"push-pull\"\n[[algorithm]]\n\
         kind = \"push-pull\"\nsteps = 0.1\n",
    );
    assert_eq!(labels(&plan), ["push-pull", "push-pull (2)"]);
}

#[test]
fn all_mistakes_are_found_at_once_each_with_its_line() {
    let text = "agents = 0\nrouns = 5\n[problem]\nkind = \"policy-evaluation\"\nnoise = \"loud\"\n\
     [[algorithm]]\nkind = \"fab\"\npenalty = -1\n";
    let diagnostics = Experiment::parse(text, Path::new("test.toml")).unwrap().plan().unwrap_err();
    let lines: Vec<&str> = diagnostics.to_string().leak().lines().collect();
    assert_eq!(
        lines,
        [
            "test.toml:2: `rouns`: unknown key; did you mean `rounds`?",
            "test.toml:1: `agents`: 0 is not usable: it is a whole number, at least 1 and at most 10000000",
            "test.toml:5: `problem.noise`: \"loud\" is not usable: it is a number, at least 0",
            "test.toml:8: `algorithm.penalty`: -1 is not usable: it is a number, above 0",
        ]
    );
}

#[test]
fn a_contact_plan_that_cannot_be_used_is_named_with_its_key_and_its_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("orbit.txt"), "0 1\n1 9\n").unwrap();
    let error = |topology: &str| {
        let text = format!(
            "agents = 6\n[problem]\nkind = \"quadratic\"\n[topology]\nkind = \"contact-plan\"\n{topology}\n\
             [[algorithm]]\nkind = \"push-pull\"\n"
        );
        let file = folder.path().join("test.toml");
        let plan = Experiment::parse(&text, &file).unwrap().plan().unwrap();
        let error = Setup::<f64>::new(&plan.groups[0], 0).err().expect("agent 9 does not exist");
        assert!(error.is_invalid());
        error.to_string().replace(&format!("{}/", folder.path().display()), "")
    };
    let reason = "the contact plan cannot be used: line 2: agent 9 does not exist: agents are numbered from 0 to 5";
    let in_place = error("contacts = \"0 1\\n1 9\"");
    assert_eq!(in_place, format!("test.toml:6: `topology.contacts`: {reason}"));
    let in_a_file = error("file = \"orbit.txt\"");
    assert_eq!(in_a_file, format!("test.toml:6: `topology.file`: orbit.txt: {reason}"));
}

#[test]
fn real_nodes_are_where_their_method_runs() {
    let graphs = |method: &str| {
        let text = format!(
            "agents = 5\nseeds = 1\nproblem = {{ kind = \"bilevel-quadratic\" }}\n\
             topology = {{ kind = \"phases\" }}\nalgorithm = [{{ kind = \"{method}\", steps = 0.1 }}]"
        );
        let plan = plan(&text);
        let (group, seed) = plan.real_run().unwrap();
        let setup = Setup::<f64>::new(&group, seed).unwrap();
        let NeighbourSource::Living(living) = setup.task(0, 1, 10).schedule else {
            panic!("{method} follows contacts")
        };
        let topology = living(5);
        [0, 10, 20].map(|round| {
            let mut graph = fabnet_core::Digraph::new(5);
            topology.draw(topology.graph_of(round), &mut graph);
            graph.links().collect::<BTreeSet<_>>()
        })
    };
    let [first, ring, reversed] = graphs("fab");
    assert!(first != ring && ring != reversed);
    let [first, later, last] = graphs("static-fab");
    assert!(first == later && later == last);
    for links in graphs("d-psgd") {
        assert!(links.iter().all(|&(from, to)| links.contains(&(to, from))));
    }
}

/// A method that a lost message would break for good is refused where messages may be lost, on
/// simulated links and on real ones, with what to do; all others are not.
#[test]
fn methods_that_need_every_message_are_refused_where_some_may_be_lost() {
    let mut refused = 0;
    for method in methods::<f64>() {
        let is_refused = |group: &Group| {
            let reason = Setup::<f64>::new(group, 0).err().map(|error| error.to_string());
            reason.is_some_and(|reason| reason.contains("needs every message"))
        };
        let problem = if method.direction.bilevel { "bilevel-quadratic" } else { "quadratic" };
        let steps = if method.direction.name == "itd" { "{ outer = 0.1, inner = 0.1 }" } else { "0.1" };
        let text = format!(
            "agents = 4\nseeds = 1\n[problem]\nkind = \"{problem}\"\n[topology]\nkind = \"ring\"\n\
             [[algorithm]]\nkind = \"{}\"\nsteps = {steps}\n",
            method.name
        );
        let simulated = plan(&format!("{text}[faults]\nloss = 0.1\n"));
        let wanted = method.needs_every_message.is_some();
        assert!(!is_refused(&plan(&text).groups[0]), "{} without losses", method.name);
        assert_eq!(is_refused(&simulated.groups[0]), wanted, "{} on simulated links", method.name);
        assert_eq!(is_refused(&plan(&text).real_run().unwrap().0), wanted, "{} on real links", method.name);
        refused += usize::from(wanted);
    }
    assert!(refused >= 7, "{refused} methods are refused");
}

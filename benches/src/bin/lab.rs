//! The cost of the lab: rounds per second of the command `fabnet run` with records every 20 rounds,
//! against the bare loop of the engine in the same run.
//!
//! `lab FABNET TURNS [BAR]` takes the best of TURNS alternating turns. The exit code is 1 if the
//! ratio is below BAR.
#![allow(clippy::print_stdout, reason = "this program prints its measurement")]

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use fabnet_benches::{best, elapsed, fab, seconds, with_threads};
use fabnet_core::topology::Phases;
use fabnet_problems::PolicyEvaluation;

/// A setting that is measured with the engine and with the lab.
struct Setting {
    agents: usize,
    edge_probability: f64,
    step: f64,
    rounds: u64,
}

const SETTINGS: [Setting; 2] = [
    Setting { agents: 10, edge_probability: 0.3, step: 0.1, rounds: 3_000_000 },
    Setting { agents: 1000, edge_probability: 0.05, step: 0.05, rounds: 8_000 },
];

impl Setting {
    /// The rounds per second of the bare loop of the engine.
    fn bare(&self) -> f64 {
        with_threads(1, || {
            let topology = Phases::new(self.agents, self.edge_probability, 0);
            let mut shard = fab(Arc::new(PolicyEvaluation::<f64>::new(self.agents, 0)), self.step, topology);
            self.rounds as f64 / seconds(&mut shard, self.rounds)
        })
    }

    /// The rounds per second of the command, including the file, records, summary and figures.
    fn lab(&self, fabnet: &str, folder: &Path) -> f64 {
        let Self { agents, edge_probability, step, rounds } = self;
        let file = folder.join("lab.toml");
        let text = format!(
            "agents = {agents}\nrounds = {rounds}\n[problem]\nkind = \"policy-evaluation\"\n\
             [topology]\nkind = \"phases\"\nedge_probability = {edge_probability}\n\
             [[algorithm]]\nkind = \"fab\"\nsteps = {step}\n\
             [record]\nevery = 20\nmetrics = [\"relative_error\"]\n"
        );
        std::fs::write(&file, text).expect("the folder can be written to");
        let out = folder.join("out");
        let taken = elapsed(|| {
            let mut command = Command::new(fabnet);
            command.arg("run").arg(&file).arg("--out").arg(&out).args(["--threads", "1", "--quiet"]);
            assert!(command.status().is_ok_and(|status| status.success()), "`{fabnet} run` works");
        });
        std::fs::remove_dir_all(&out).expect("results can be removed");
        *rounds as f64 / taken
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(fabnet), Some(turns)) = (arguments.first(), arguments.get(1).and_then(|turns| turns.parse().ok())) else {
        println!("usage: lab FABNET TURNS [BAR]");
        return ExitCode::from(2);
    };
    let bar: f64 = arguments.get(2).and_then(|bar| bar.parse().ok()).unwrap_or_default();
    let folder = std::env::temp_dir().join(format!("fabnet-bench-lab-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is a folder for temporary files");
    let mut worst = f64::INFINITY;
    for setting in SETTINGS {
        let turn = |_: usize| (setting.bare(), setting.lab(fabnet, &folder));
        let (bare, lab): (Vec<f64>, Vec<f64>) = (0..turns).map(turn).unzip();
        let (bare, lab) = (best(bare), best(lab));
        println!("{:5} agents: bare {bare:9.0}, fabnet run {lab:9.0} rounds/s: {:.3}", setting.agents, lab / bare);
        worst = worst.min(lab / bare);
    }
    std::fs::remove_dir_all(&folder).expect("temporary files can be removed");
    ExitCode::from(u8::from(worst < bar))
}

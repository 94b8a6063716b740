//! A real run of a few nodes that comes to an end, with an answer that can be checked.
#![allow(dead_code, reason = "not every test takes all of this")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use fabnet_net::{Config, Member, NodeStatus, ask};
use rustix::process::{Pid, Signal, kill_process};

use crate::common::{fabnet, folder_in_memory, free_ports, summary};

/// The nodes of one run: each has one agent, and a folder of its own.
pub(crate) struct Nodes {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) configs: Vec<Config>,
}

/// A process that does not outlive its test.
pub(crate) struct Process(Child);

impl std::ops::Deref for Process {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl std::ops::DerefMut for Process {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Nodes {
    /// A run of `nodes` nodes and `rounds` rounds, five milliseconds each if not said otherwise; a
    /// thousand undisturbed rounds are enough.
    pub(crate) fn new(count: usize, rounds: u64, network: &str) -> Self {
        let folder = folder_in_memory();
        fs::write(folder.path().join("experiment.toml"), experiment(count, rounds, network)).unwrap();
        let ports = free_ports(2 * count);
        let members: Vec<Member> = (0..count)
            .map(|node| Member {
                name: format!("n{node}"),
                agents: vec![node as u32],
                address: format!("127.0.0.1:{}", ports[node]),
                http: None,
            })
            .collect();
        let config = |node: usize| Config {
            plan: "experiment.toml".into(),
            state: format!("state-{node}").into(),
            http: Some(([127, 0, 0, 1], ports[count + node]).into()),
            checkpoint: Duration::from_millis(200),
            linger: Duration::from_secs(4),
            insecure: true,
            ..Config::new("first", &format!("n{node}"), members.clone())
        };
        Self { configs: (0..count).map(config).collect(), folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn state(&self, node: usize) -> PathBuf {
        self.path(&format!("state-{node}"))
    }

    /// Starts a node, whose log goes on.
    pub(crate) fn start(&self, node: usize) -> Process {
        self.start_as(&self.configs[node], &format!("n{node}"))
    }

    pub(crate) fn start_as(&self, config: &Config, name: &str) -> Process {
        let file = self.path(&format!("{name}.toml"));
        fs::write(&file, config.to_toml()).unwrap();
        let log = File::options().create(true).append(true).open(self.path(&format!("{name}.log"))).unwrap();
        fabnet(self.folder.path()).arg("node").arg(&file).stdin(Stdio::null()).stderr(log).spawn().map(Process).unwrap()
    }

    pub(crate) fn start_all(&self) -> Vec<Process> {
        (0..self.configs.len()).map(|node| self.start(node)).collect()
    }

    pub(crate) fn log(&self, name: &str) -> String {
        fs::read_to_string(self.path(&format!("{name}.log"))).unwrap_or_default()
    }

    pub(crate) fn logs(&self) -> String {
        (0..self.configs.len()).map(|node| self.log(&format!("n{node}"))).collect()
    }

    /// Asks a node until it says so.
    pub(crate) fn wait(&self, node: usize, until: impl Fn(&NodeStatus) -> bool) -> NodeStatus {
        let start = Instant::now();
        let http = self.configs[node].http.unwrap().to_string();
        loop {
            // A node that has just started says nothing of its agents yet.
            if let Ok(status) = ask(&http)
                && !status.agents.is_empty()
                && until(&status)
            {
                return status;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "node {node}\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until a process has ended.
    pub(crate) fn end(&self, process: &mut Child) -> i32 {
        let start = Instant::now();
        loop {
            if let Some(code) = process.try_wait().unwrap() {
                return code.code().unwrap_or(-1);
            }
            if start.elapsed() > Duration::from_secs(120) {
                process.kill().unwrap();
                panic!("it did not end\n{}", self.logs());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until all have ended well.
    pub(crate) fn all_end_well(&self, nodes: &mut [Process]) {
        for (number, node) in nodes.iter_mut().enumerate() {
            assert_eq!(self.end(node), 0, "node {number}\n{}", self.logs());
        }
    }

    pub(crate) fn collect(&self, out: &str, arguments: &[&str]) -> Output {
        let states = (0..self.configs.len()).map(|node| self.state(node)).filter(|state| state.exists());
        let mut command = fabnet(self.folder.path());
        command.args(["collect", "experiment.toml", "--out", out, "--quiet"]).args(states).args(arguments);
        command.output().unwrap()
    }

    /// The error of the collected answer, of the mean and of the worst agent.
    pub(crate) fn errors(&self) -> [f64; 2] {
        let output = self.collect("together", &[]);
        assert!(output.status.success(), "{}\n{}", String::from_utf8_lossy(&output.stderr), self.logs());
        self.errors_in("together")
    }

    /// The errors at the end of a run that was collected.
    pub(crate) fn errors_in(&self, results: &str) -> [f64; 2] {
        let last = &summary(&self.path(results))["runs"][0]["final"];
        ["relative_error", "worst_error"].map(|metric| last[metric].as_f64().unwrap())
    }

    /// All have ended well, and the answer is right.
    pub(crate) fn assert_right(&self) {
        let errors = self.errors();
        assert!(errors.iter().all(|error| *error < 1e-3), "{errors:?}\n{}", self.logs());
    }
}

/// Policy evaluation with dFAB, which has no floor: the answer is right to as many digits as
/// wanted.
pub(crate) fn experiment(agents: usize, rounds: u64, network: &str) -> String {
    let tick = if network.contains("tick") { "" } else { "tick = 0.005" };
    format!(
        "agents = {agents}\nrounds = {rounds}\nseeds = 1\n[problem]\nkind = \"policy-evaluation\"\n\
         [topology]\nkind = \"complete\"\n[network]\n{tick}\n{network}\n\
         [record]\nevery = 10\nmetrics = [\"relative_error\", \"worst_error\"]\n\
         [[algorithm]]\nkind = \"dfab\"\nsteps = {{ x = 0.01, u = 0.05, z = 0.05 }}\n"
    )
}

pub(crate) fn send(process: &Child, signal: Signal) {
    kill_process(Pid::from_raw(process.id().cast_signed()).unwrap(), signal).unwrap();
}

pub(crate) fn kill(process: &mut Child) {
    process.kill().unwrap();
    process.wait().unwrap();
}

/// Copies a folder, whose files are all small.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &target) } else { _ = fs::copy(entry.path(), target).unwrap() }
    }
}

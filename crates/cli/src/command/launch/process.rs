//! One node as a child process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use fabnet_net::{MemberAddress, NodeAnswer, NodeStatus, ask};
use rustix::process::{Pid, Signal, kill_process};

use super::node_folders::NodeFolder;

/// A node process, with the last status that it reported. It is killed when this is dropped, so
/// that no process stays behind.
pub(super) struct NodeProcess {
    pub(super) folder: PathBuf,
    /// The member of the run that it is.
    pub(super) member: MemberAddress,
    /// The address at which the node serves its status.
    pub(super) http: String,
    child: Child,
    /// The last status of the process that runs now; of a killed one it keeps the counters.
    pub(super) status: NodeStatus,
    /// What became of asking for the status when that was last done.
    pub(super) answer: NodeAnswer,
    /// When a node that was killed is started again; none while it runs.
    dead_until: Option<Instant>,
}

impl NodeProcess {
    /// How long a killed node stays away.
    const RESTART_AFTER: Duration = Duration::from_secs(1);

    pub(super) fn start(folder: &NodeFolder) -> anyhow::Result<Self> {
        let http = folder.config.http.map(|address| address.to_string()).unwrap_or_default();
        Ok(Self {
            folder: folder.path.clone(),
            http,
            child: spawn(&folder.path)?,
            member: MemberAddress {
                name: folder.config.node.clone(),
                agents: folder.config.me().map(|me| me.agents.clone()).unwrap_or_default(),
                http: None,
            },
            status: NodeStatus::default(),
            answer: NodeAnswer::Unreachable,
            dead_until: None,
        })
    }

    pub(super) fn is_killed(&self) -> bool {
        self.dead_until.is_some()
    }

    /// The round of its slowest agent.
    pub(super) fn round(&self) -> u64 {
        self.status.agents.iter().map(|agent| agent.round).min().unwrap_or(0)
    }

    /// Starts a killed node again once it was away for long enough.
    pub(super) fn restart_if_due(&mut self) -> anyhow::Result<()> {
        if self.dead_until.is_some_and(|until| Instant::now() >= until) {
            self.child = spawn(&self.folder)?;
            self.dead_until = None;
        }
        Ok(())
    }

    /// The exit status, if the process has ended by itself.
    pub(super) fn ended(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Asks for the status; returns whether the node answered.
    pub(super) fn refresh_status(&mut self) -> bool {
        let answer = ask(&self.http);
        self.answer = answer.map_or(NodeAnswer::Unreachable, NodeAnswer::Status);
        let NodeAnswer::Status(status) = &self.answer else { return false };
        self.status.clone_from(status);
        true
    }

    /// Kills the process with SIGKILL, to be started again later.
    pub(super) fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill().context("a node cannot be killed")?;
        self.child.wait()?;
        self.dead_until = Some(Instant::now() + Self::RESTART_AFTER);
        self.answer = NodeAnswer::Down;
        Ok(())
    }

    /// Tells a running process to leave.
    pub(super) fn terminate(&mut self) -> anyhow::Result<()> {
        if !self.is_killed() && self.child.try_wait()?.is_none() {
            kill_process(pid(&self.child)?, Signal::TERM).context("a node cannot be told to leave")?;
        }
        Ok(())
    }

    /// Waits until the process has ended, at most until this moment; returns what was wrong.
    pub(super) fn wait_until(&mut self, until: Instant) -> anyhow::Result<Option<String>> {
        let code = loop {
            match self.child.try_wait()? {
                Some(code) => break code.to_string(),
                None if Instant::now() > until => {
                    self.child.kill()?;
                    break "did not end when it was told to, and was killed".to_owned();
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let success = self.child.wait()?.success();
        Ok((!success).then(|| format!("{}: {code}: {}", self.folder.display(), self.last_log_line())))
    }

    /// The last line of the log, which says why the process has ended.
    pub(super) fn last_log_line(&self) -> String {
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        log.lines().last().unwrap_or("its log is empty").to_owned()
    }
}

impl Drop for NodeProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(folder: &Path) -> anyhow::Result<Child> {
    let log = fs::OpenOptions::new().create(true).append(true).open(folder.join("log"))?;
    let program = std::env::current_exe().context("where is this program?")?;
    let mut command = Command::new(program);
    // However this process ends, the standard input of the node closes then, and the node ends too.
    command.arg("node").arg(folder.join("node.toml")).arg("--until-stdin-closes");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
    command.spawn().context("a node cannot be started")
}

fn pid(child: &Child) -> anyhow::Result<Pid> {
    Pid::from_raw(child.id().cast_signed()).context("a process without a number")
}

//! `fabnet status`.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use fabnet_net::{AgentStatus, NodeStatus, ask};

use crate::say::say;

#[derive(Args)]
#[command(after_help = "Example:
  fabnet status 127.0.0.1:9464")]
pub(crate) struct Status {
    /// Where a node serves its status: host:port
    address: String,
    /// Everything, as JSON
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        let status = ask(&self.address).with_context(|| {
            format!("{}: no node answers there; `http` in its file says where it does", self.address)
        })?;
        if self.json {
            say(serde_json::to_string_pretty(&status)?);
        } else {
            say(describe(&status));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn describe(status: &NodeStatus) -> String {
    let NodeStatus { run, node, manifest, seconds, begun, done, .. } = status;
    let state = match (done, begun) {
        (true, _) => "done",
        (false, true) => "running",
        (false, false) => "waiting for others",
    };
    let mut lines = vec![format!("{node} of {run}: {state} for {seconds:.0} s; manifest {manifest}")];
    for AgentStatus { agent, round, epoch, incarnation, members, max_mass_residual, disagreement, .. } in &status.agents
    {
        lines.push(format!(
            "agent {agent}: round {round}, epoch {epoch}, life {incarnation}, {members} members, disagreement {disagreement:.2e}, mass residual {max_mass_residual}"
        ));
    }
    if !status.absent.is_empty() {
        lines.push(format!("not heard at present: {}", status.absent.join(", ")));
    }
    if !status.doubles.is_empty() {
        lines.push(format!("two processes act as: {}", status.doubles.join(", ")));
    }
    let refused: Vec<_> = status.refused.iter().filter(|(_, count)| **count > 0).collect();
    if !refused.is_empty() {
        let each: Vec<_> = refused.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        lines.push(format!("refused: {}", each.join(", ")));
    }
    lines.join("\n")
}

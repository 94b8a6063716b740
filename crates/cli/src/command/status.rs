//! `fabnet status`: the state of a running node.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use fabnet_net::{AgentStatus, NodeStatus, ask};

use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Example:
  fabnet status 127.0.0.1:9464")]
pub(crate) struct Status {
    /// The address at which the node serves its status, host:port (`http` in its file)
    address: String,
    /// Print everything, as JSON
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let status = ask(&self.address).with_context(|| {
            format!("{}: no node answers there; `http` in its file says where it does", self.address)
        })?;
        if self.json {
            print_line(serde_json::to_string_pretty(&status)?);
        } else {
            print_line(describe(&status));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Describes a node, its agents and what is wrong with others, a line each.
fn describe(status: &NodeStatus) -> String {
    let NodeStatus { run, node, manifest, seconds, begun, done, .. } = status;
    let state = match (done, begun) {
        (true, _) => "done",
        (false, true) => "running",
        (false, false) => "waiting for others",
    };
    let mut lines = vec![format!("{node} of {run}: {state} for {seconds:.0} s; manifest {manifest}")];
    lines.extend(status.agents.iter().map(describe_agent));
    let refused = status.refused.iter().filter(|(_, count)| **count > 0);
    let refused: Vec<_> = refused.map(|(reason, count)| format!("{count} {reason}")).collect();
    let troubles =
        [("not heard at present", &status.absent), ("two processes act as", &status.doubles), ("refused", &refused)];
    let troubles = troubles.into_iter().filter(|(_, found)| !found.is_empty());
    lines.extend(troubles.map(|(trouble, found)| format!("{trouble}: {}", found.join(", "))));
    lines.join("\n")
}

fn describe_agent(status: &AgentStatus) -> String {
    let AgentStatus { agent, round, epoch, incarnation, members, max_mass_residual, disagreement, .. } = status;
    format!(
        "agent {agent}: round {round}, epoch {epoch}, incarnation {incarnation}, {members} members, \
         disagreement {disagreement:.2e}, mass residual {max_mass_residual}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(begun: bool, done: bool) -> NodeStatus {
        let (run, node, manifest) = ("today".to_owned(), "alpha".to_owned(), "ab12".to_owned());
        NodeStatus { run, node, manifest, seconds: 12.4, begun, done, ..NodeStatus::default() }
    }

    #[test]
    fn the_first_line_says_how_far_the_node_is() {
        for (begun, done, state) in [
            (false, false, "waiting for others"),
            (true, false, "running"),
            (true, true, "done"),
            (false, true, "done"),
        ] {
            let expected = format!("alpha of today: {state} for 12 s; manifest ab12");
            assert_eq!(describe(&status(begun, done)), expected);
        }
    }

    #[test]
    fn agents_and_what_is_wrong_have_a_line_each() {
        let agent = AgentStatus { agent: 4, round: 7, members: 3, disagreement: 0.012, ..AgentStatus::default() };
        let refused = [("oversized".to_owned(), 2), ("forged".to_owned(), 0), ("access".to_owned(), 1)];
        let status = NodeStatus {
            agents: vec![agent],
            absent: vec!["beta".to_owned(), "gamma".to_owned()],
            doubles: vec!["delta".to_owned()],
            refused: refused.into_iter().collect(),
            ..status(true, false)
        };
        let text = describe(&status);
        let expected = [
            "agent 4: round 7, epoch 0, incarnation 0, 3 members, disagreement 1.20e-2, mass residual 0",
            "not heard at present: beta, gamma",
            "two processes act as: delta",
            "refused: 1 access, 2 oversized",
        ];
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), expected);
    }
}

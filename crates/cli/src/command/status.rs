//! `fabnet status`: the state of a running node, or of all nodes of its run.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stdout};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use fabnet_net::{CertificateStatus, MemberAddress, NodeAnswer, NodeStatus, ask};
use fabnet_watch::AgentStatus;

use super::known_nodes::KnownNodes;
use crate::interrupt::interrupt_flag;
use crate::output::{note_error, print_line};
use crate::table;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet status 127.0.0.1:9464
  fabnet status 127.0.0.1:9464 --follow

--follow finds the other members from the one that answers, as far as its file names their addresses \
(`http` of each [[member]]), and renews the table every second until Ctrl-C.")]
pub(crate) struct Status {
    /// The address at which the node serves its status, host:port (`http` in its file)
    address: String,
    /// Print everything, as JSON
    #[arg(long)]
    json: bool,
    /// Show all nodes of the run in a table that renews itself
    #[arg(long, conflicts_with = "json")]
    follow: bool,
}

/// The time between two tables.
const RENEW_EVERY: Duration = Duration::from_secs(1);

impl Status {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        if self.follow {
            return self.follow();
        }
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

    /// Prints a table of all nodes, again and again. A terminal shows the newest one only.
    fn follow(&self) -> anyhow::Result<ExitCode> {
        let nodes = KnownNodes::find(std::slice::from_ref(&self.address))?;
        let interrupted = interrupt_flag()?;
        while !interrupted.load(Ordering::Relaxed) {
            if stdout().is_terminal() {
                // Clears the screen.
                note_error(write!(stdout(), "\x1b[2J\x1b[H"));
            }
            print_line(table_of(&nodes.members, &nodes.ask()));
            std::thread::sleep(RENEW_EVERY);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A table of all nodes, with a row for each agent.
fn table_of(members: &[MemberAddress], answers: &BTreeMap<String, NodeAnswer>) -> String {
    let head =
        ["node", "agent", "state", "round", "epoch", "life", "members", "metric", "disagreement", "age", "residual"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for member in members {
        match answers.get(&member.name) {
            Some(NodeAnswer::Status(status)) => rows.extend(status.agents.iter().map(|agent| row(status, agent))),
            _ => rows.push(vec![member.name.clone(), format!("{:?}", member.agents), "no answer".to_owned()]),
        }
    }
    table::aligned(&rows)
}

/// The row of an agent.
fn row(status: &NodeStatus, agent: &AgentStatus) -> Vec<String> {
    let metric = agent.metric.map_or("–".to_owned(), |metric| format!("{metric:.2e}"));
    let AgentStatus { agent, round, epoch, incarnation, members, disagreement, pull_age, max_mass_residual, .. } =
        agent;
    let numbers = [round, epoch, incarnation, members].map(ToString::to_string);
    let mut row = vec![status.node.clone(), agent.to_string(), state(status).to_owned()];
    row.extend(numbers);
    row.extend([metric, format!("{disagreement:.2e}"), pull_age.to_string(), max_mass_residual.to_string()]);
    row
}

/// How far a node is, in words.
fn state(status: &NodeStatus) -> &'static str {
    match (status.done, status.begun) {
        (true, _) => "done",
        (false, true) => "running",
        (false, false) => "waiting for others",
    }
}

/// Describes a node, its agents and what is wrong with others, a line each.
fn describe(status: &NodeStatus) -> String {
    let NodeStatus { run, node, manifest, seconds, .. } = status;
    let state = state(status);
    let mut lines = vec![format!("{node} of {run}: {state} for {seconds:.0} s; manifest {manifest}")];
    lines.extend(status.agents.iter().map(describe_agent));
    let refused = status.refused.iter().filter(|(_, count)| **count > 0);
    let refused: Vec<_> = refused.map(|(reason, count)| format!("{count} {reason}")).collect();
    lines.extend(status.certificate.as_ref().map(describe_certificate));
    let troubles =
        [("not heard at present", &status.absent), ("two processes act as", &status.doubles), ("refused", &refused)];
    let troubles = troubles.into_iter().filter(|(_, found)| !found.is_empty());
    lines.extend(troubles.map(|(trouble, found)| format!("{trouble}: {}", found.join(", "))));
    lines.join("\n")
}

fn describe_certificate(CertificateStatus { path, until, days_left, .. }: &CertificateStatus) -> String {
    format!("certificate: valid until {until}, {days_left} days left ({path})")
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
        let (path, until) = ("alpha.pem".to_owned(), "2026-04-01T00:00:00Z".to_owned());
        let status = NodeStatus {
            certificate: Some(CertificateStatus { path, until, expires: 0, days_left: 12 }),
            agents: vec![agent],
            absent: vec!["beta".to_owned(), "gamma".to_owned()],
            doubles: vec!["delta".to_owned()],
            refused: refused.into_iter().collect(),
            ..status(true, false)
        };
        let text = describe(&status);
        let expected = [
            "agent 4: round 7, epoch 0, incarnation 0, 3 members, disagreement 1.20e-2, mass residual 0",
            "certificate: valid until 2026-04-01T00:00:00Z, 12 days left (alpha.pem)",
            "not heard at present: beta, gamma",
            "two processes act as: delta",
            "refused: 1 access, 2 oversized",
        ];
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_table_has_a_row_for_each_agent_and_for_each_node_that_does_not_answer() {
        let member =
            |name: &str, agents: &[u32]| MemberAddress { name: name.into(), agents: agents.into(), http: None };
        let agent = |agent| AgentStatus { agent, round: 7, metric: Some(0.0123), ..AgentStatus::default() };
        let answer = NodeStatus { agents: vec![agent(0), agent(1)], ..status(true, false) };
        let answers = BTreeMap::from([("alpha".to_owned(), NodeAnswer::Status(answer))]);
        let table = table_of(&[member("alpha", &[0, 1]), member("beta", &[2])], &answers);
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let rows: Vec<_> = table.lines().skip(1).map(words).collect();
        assert_eq!(rows[1], ["alpha", "1", "running", "7", "0", "0", "0", "1.23e-2", "0.00e0", "0", "0"]);
        assert_eq!(rows[2], ["beta", "[2]", "no", "answer"]);
    }
}

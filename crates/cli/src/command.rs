//! The subcommands, one file each.

#[cfg(feature = "net")]
mod audit;
mod bench;
mod check;
#[cfg(feature = "net")]
mod collect;
mod completions;
#[cfg(feature = "learning")]
mod data;
mod existing;
mod faults;
#[cfg(feature = "net")]
mod known_nodes;
#[cfg(feature = "net")]
mod launch;
mod list;
mod man;
mod new;
#[cfg(feature = "net")]
mod node;
#[cfg(any(test, not(feature = "net")))]
mod not_built;
mod options;
#[cfg(feature = "net")]
mod pki;
mod plot;
mod report;
mod results_folder;
mod run;
#[cfg(feature = "net")]
mod status;
mod tune;
mod watch;

use std::process::ExitCode;

use clap::Subcommand;

// Every command is known in every build: one without its feature says how to get it.
#[cfg(feature = "learning")]
use self::data::Data;
#[cfg(not(feature = "learning"))]
use self::not_built::NeedsLearning as Data;
#[cfg(not(feature = "net"))]
use self::not_built::{
    NeedsNet as Audit, NeedsNet as Collect, NeedsNet as Launch, NeedsNet as Node, NeedsNet as Pki, NeedsNet as Status,
};
#[cfg(feature = "net")]
use self::{audit::Audit, collect::Collect, launch::Launch, node::Node, pki::Pki, status::Status};

/// A subcommand with its arguments.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Write an experiment file to begin with, in which every key is explained
    New(new::New),
    /// Run an experiment, its grids and seeds in parallel
    Run(run::Run),
    /// Draw or redraw the figures of finished runs
    Plot(plot::Plot),
    /// Report what can be known before a run: network, step sizes, trial runs, cost
    Check(check::Check),
    /// Search for step sizes, and write an experiment file with them
    Tune(tune::Tune),
    /// Compare methods on problems, networks and conditions, with step sizes tuned alike
    Bench(bench::Bench),
    /// Test the protocol: simulate peers under random faults, and check every invariant
    Faults(faults::Faults),
    /// Make the certificate authority of a run, and certificates of nodes
    Pki(Pki),
    /// Run one node of a real network
    Node(Node),
    /// Run a cluster of real nodes as processes of this machine
    Launch(Launch),
    /// Combine the records of real nodes into results
    Collect(Collect),
    /// Show the state of a running node
    Status(Status),
    /// Check the audit log of a node
    Audit(Audit),
    /// Show a run in a browser, while it goes on or afterwards, or write it to one file
    Watch(watch::Watch),
    /// List and verify data sets, or make own data of agents
    Data(Data),
    /// List algorithms, problems, topologies, mixing weights and metrics, with their settings
    List(list::List),
    /// Fill the numbers of summaries into a document
    Report(report::Report),
    /// Print what a shell needs to complete the arguments of fabnet
    Completions(completions::Completions),
    /// Write manual pages, one for each subcommand
    Man(man::Man),
}

impl Command {
    /// Carries the command out; `grammar` gives all arguments that fabnet takes.
    pub(crate) fn execute(self, grammar: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        match self {
            Self::New(new) => new.execute(),
            Self::Run(run) => run.execute(),
            Self::Plot(plot) => plot.execute(),
            Self::Check(check) => check.execute(),
            Self::Tune(tune) => tune.execute(),
            Self::Bench(bench) => bench.execute(),
            Self::Faults(faults) => faults.execute(),
            Self::Pki(pki) => pki.execute(),
            Self::Node(node) => node.execute(),
            Self::Launch(launch) => launch.execute(),
            Self::Collect(collect) => collect.execute(),
            Self::Status(status) => status.execute(),
            Self::Audit(audit) => audit.execute(),
            Self::Watch(watch) => watch.execute(),
            Self::Data(data) => data.execute(),
            Self::List(list) => Ok(list.execute()),
            Self::Report(report) => report.execute(),
            Self::Completions(completions) => completions.execute(grammar()),
            Self::Man(man) => man.execute(grammar()),
        }
    }
}

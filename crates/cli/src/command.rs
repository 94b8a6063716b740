//! The subcommands, one file each.

#[cfg(any(test, not(feature = "net")))]
mod absent;
mod check;
#[cfg(feature = "net")]
mod collect;
mod data;
mod faults;
#[cfg(feature = "net")]
mod launch;
mod list;
#[cfg(feature = "net")]
mod node;
#[cfg(feature = "net")]
mod pki;
mod plot;
mod report;
mod run;
#[cfg(feature = "net")]
mod status;
mod tune;

use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use fabnet_lab::{Experiment, Mistakes};

// Commands of real nodes are known in every build: one without the feature says how to get them.
#[cfg(not(feature = "net"))]
use self::absent::{Absent as Collect, Absent as Launch, Absent as Node, Absent as Pki, Absent as Status};
#[cfg(feature = "net")]
use self::{collect::Collect, launch::Launch, node::Node, pki::Pki, status::Status};

/// What can be done.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run an experiment, grids and seeds in parallel
    Run(run::Run),
    /// Draw or redraw the figures of finished runs
    Plot(plot::Plot),
    /// Say what can be known before a run: network, step sizes, trial runs, cost
    Check(check::Check),
    /// Find step sizes, and write an experiment file with them
    Tune(tune::Tune),
    /// Attack simulated peers with faults, and check that nothing is lost
    Faults(faults::Faults),
    /// Make a run's certificate authority and node certificates
    Pki(Pki),
    /// Run one node of a real network
    Node(Node),
    /// Run a local cluster of real node processes
    Launch(Launch),
    /// Put the records of real nodes together
    Collect(Collect),
    /// Say how a node is
    Status(Status),
    /// Say where data sets are looked for, and whether they are complete and intact
    Data(data::Data),
    /// List what there is to choose from, with its keys
    List(list::List),
    /// Fill the numbers of summaries into a document
    Report(report::Report),
}

impl Command {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Run(run) => run.carry_out(),
            Self::Plot(plot) => plot.carry_out(),
            Self::Check(check) => check.carry_out(),
            Self::Tune(tune) => tune.carry_out(),
            Self::Faults(faults) => faults.carry_out(),
            Self::Pki(pki) => pki.carry_out(),
            Self::Node(node) => node.carry_out(),
            Self::Launch(launch) => launch.carry_out(),
            Self::Collect(collect) => collect.carry_out(),
            Self::Status(status) => status.carry_out(),
            Self::Data(data) => data.carry_out(),
            Self::List(list) => Ok(list.carry_out()),
            Self::Report(report) => report.carry_out(),
        }
    }
}

/// An experiment and what is said differently on the command line.
#[derive(Args, Clone)]
pub(crate) struct Changes {
    /// Set a value by its path in the file: rounds=2000, algorithm.0.penalty=80
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Other seeds: how many, or a range without its end such as 0..10
    #[arg(long)]
    seeds: Option<String>,
}

impl Changes {
    pub(crate) fn read(&self, file: &Path) -> Result<Experiment, Mistakes> {
        let mut experiment = Experiment::read(file)?;
        self.set.iter().try_for_each(|assignment| experiment.set(assignment))?;
        if let Some(seeds) = &self.seeds {
            experiment.set_seeds(seeds);
        }
        Ok(experiment)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.seeds.is_none()
    }
}

/// The number of threads that a command uses.
#[derive(Args, Clone, Copy)]
pub(crate) struct Threads {
    /// How many threads; as many as there are cores if not given. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl Threads {
    pub(crate) fn count(self) -> usize {
        self.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
    }
}

//! `fabnet launch`: a cluster of real nodes as processes of this machine.
#![allow(clippy::disallowed_methods, reason = "real processes need a clock")]

mod cluster;
mod node_folders;
mod process;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail, ensure};
use clap::Args;
use fabnet_files::SystemFiles;
use fabnet_lab::{Collection, Folder, Launched, Plan, Summary, preflight};
use fabnet_node::track_path;

use self::cluster::{Cluster, Ending, WatchOptions};
use self::node_folders::{Links, NodeFolder, write_node_folders};
use super::collect::{print_missing, write_results};
use super::options::Overrides;
use super::results_folder::new_folder;
use super::watch::show_folder;
use crate::exit_code::UsageError;
use crate::output::print_line;
use crate::table;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet launch experiments/checks/network.toml
  fabnet launch experiments/checks/network.toml --nodes 24 --kill-every 10s --loss 0.3
  fabnet launch experiments/checks/network.toml --watch

Each node is a process of this machine with a certificate of its own. It keeps its state, its log and \
its records in nodes/NAME of the results. At the end the records are combined into records.csv, \
summary.json and figures/; summary.json also has `kills`, `dropped` and `max_mass_residual`.

After SIGINT or SIGTERM, the nodes end, their records so far are combined, and the exit code is 1. If \
this process dies, its nodes end too.")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Launch {
    /// The experiment file; it must describe one run
    file: PathBuf,
    /// The number of processes; if not given, one for each agent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// The folder for results; if not given, runs/NAME-TIME
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overrides: Overrides,
    /// Kill a random node at this interval, and start it again; not in the last quarter of the run
    #[arg(long, value_name = "TIME")]
    kill_every: Option<humantime::Duration>,
    /// The fraction of all messages that is dropped on purpose
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0)]
    loss: f64,
    /// Use plain TCP instead of TLS with certificates
    #[arg(long)]
    insecure: bool,
    /// Send messages through shared memory
    #[arg(long)]
    shared_memory: bool,
    /// Give up after this time
    #[arg(long, value_name = "TIME", default_value = "1h")]
    timeout: humantime::Duration,
    /// Show the nodes in a browser while they run, and record what is shown; the address of the
    /// page is printed
    #[arg(long)]
    watch: bool,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

impl Launch {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let plan = self.overrides.read(&self.file)?.plan()?.with_checksums()?;
        let (folder, nodes) = self.prepare(&plan)?;
        let mut cluster = Cluster::start(&nodes, self.quiet, stop_flag()?)?;
        if self.watch {
            show_folder(folder.path())?;
        }
        let ending = cluster.watch(&self.watch_options(&plan, &folder)?)?;
        let wrong = cluster.end()?;
        let partial = ending == Ending::Stopped;
        let summary = collect_from(&plan, &folder, &nodes, cluster.launched, partial);
        if partial {
            bail!("stopped before all nodes were done; {}", describe_partial(summary, &folder));
        }
        let summary = summary?;
        if !self.quiet {
            print_results(&plan, &folder, &summary, cluster.launched);
        }
        ensure!(wrong.is_empty(), "not every node has ended well:\n  {}", wrong.join("\n  "));
        Ok(ExitCode::SUCCESS)
    }

    /// Makes the folder of results, and in it a folder for each node.
    fn prepare(&self, plan: &Plan) -> anyhow::Result<(Folder, Vec<NodeFolder>)> {
        let agents = plan.real_run()?.0.agents;
        let nodes = self.node_count(agents)?;
        preflight(plan, 1)?;
        let folder = new_folder(plan, self.out.as_deref())?;
        folder.begin_for_nodes(plan)?;
        let nodes = write_node_folders(plan, &folder, (nodes, agents), &self.links())?;
        Ok((folder, nodes))
    }

    fn watch_options(&self, plan: &Plan, folder: &Folder) -> anyhow::Result<WatchOptions> {
        let (group, seed) = plan.real_run()?;
        let (kill_every, timeout) = (self.kill_every.map(Into::into), self.timeout.into());
        let recording = if self.watch { Some(new_recording(folder)?) } else { None };
        Ok(WatchOptions { rounds: group.rounds, kill_every, timeout, seed, recording })
    }

    /// The number of processes, which is at most the number of agents.
    fn node_count(&self, agents: usize) -> Result<usize, UsageError> {
        let nodes = self.nodes.map_or(agents, |nodes| nodes as usize);
        if nodes > agents {
            return Err(UsageError(format!("--nodes {nodes}: each has agents of its own, but there are {agents}")));
        }
        Ok(nodes)
    }

    fn links(&self) -> Links {
        Links {
            loss: self.loss,
            insecure: self.insecure,
            shared_memory: self.shared_memory,
            // Nodes wait for each other at the end at most as long as this process waits for them.
            linger: self.timeout.into(),
        }
    }
}

/// The place of a recording in a folder of results.
fn new_recording(folder: &Folder) -> anyhow::Result<PathBuf> {
    let recordings = folder.file("watch");
    folder.files().create_folder(&recordings).with_context(|| recordings.display().to_string())?;
    Ok(recordings.join("0"))
}

/// A flag that becomes true when this process is told to stop.
fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stopped = Arc::new(AtomicBool::new(false));
    let stop = stopped.clone();
    ctrlc::set_handler(move || stop.store(true, Ordering::Relaxed)).context("signals cannot be caught")?;
    Ok(stopped)
}

/// Combines the records of all nodes, in the order of agents.
fn collect_from(
    plan: &Plan,
    folder: &Folder,
    nodes: &[NodeFolder],
    launched: Launched,
    partial: bool,
) -> anyhow::Result<Summary> {
    let mut tracks = Vec::new();
    for NodeFolder { path, config } in nodes {
        let state = path.join(&config.state);
        let agents = config.me().into_iter().flat_map(|me| &me.agents);
        tracks.extend(agents.map(|&agent| (agent, Some(track_path(&state, agent)))));
    }
    tracks.sort();
    let tracks: Vec<Option<PathBuf>> = tracks.into_iter().map(|(_, track)| track).collect();
    let files = Arc::new(SystemFiles::PRIVATE);
    write_results(plan, folder, &Collection { files, tracks: &tracks, partial, launched: Some(launched) })
}

fn describe_partial(summary: anyhow::Result<Summary>, folder: &Folder) -> String {
    match summary {
        Ok(_) => format!("what there is was put together in {}", folder.path().display()),
        Err(error) => format!("nothing was put together: {error:#}"),
    }
}

fn print_results(plan: &Plan, folder: &Folder, summary: &Summary, launched: Launched) {
    print_line(table::summary(plan, summary));
    print_missing(summary);
    let Launched { kills, dropped, max_mass_residual } = launched;
    let path = folder.path().display();
    print_line(format!(
        "{kills} kills, {dropped} messages dropped, mass residual {max_mass_residual}; results in {path}"
    ));
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct TestLaunch {
        #[command(flatten)]
        launch: Launch,
    }

    fn parse(line: &str) -> Launch {
        TestLaunch::try_parse_from(line.split(' ')).map(|line| line.launch).unwrap()
    }

    #[test]
    fn there_are_as_many_nodes_as_agents_or_fewer() {
        assert_eq!(parse("launch a.toml").node_count(6).unwrap(), 6);
        assert_eq!(parse("launch a.toml --nodes 4").node_count(6).unwrap(), 4);
        let message = parse("launch a.toml --nodes 7").node_count(6).unwrap_err().to_string();
        assert_eq!(message, "--nodes 7: each has agents of its own, but there are 6");
    }

    #[test]
    fn links_are_as_the_arguments_say() {
        let links = parse("launch a.toml --loss 0.3 --insecure --timeout 90s").links();
        assert_eq!((links.loss, links.insecure, links.shared_memory), (0.3, true, false));
        assert_eq!(links.linger.as_secs(), 90);
        let links = parse("launch a.toml --shared-memory").links();
        assert_eq!((links.loss, links.insecure, links.shared_memory), (0.0, false, true));
    }
}

//! `fabnet launch`.
#![allow(clippy::disallowed_methods, reason = "nodes live in time")]

mod cluster;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use fabnet_files::SystemFiles;
use fabnet_host::track_path;
use fabnet_lab::data::Library;
use fabnet_lab::{Collection, Folder, Launched, Plan, Summary, preflight};
use fabnet_net::{Authority, Config, Limits, Member, Tls};

use self::cluster::{Cluster, Watched};
use super::Changes;
use super::collect::{put_together, say_missing};
use super::run::new_folder;
use crate::failure::Usage;
use crate::say::say;
use crate::table;

#[derive(Args)]
#[command(after_help = "Examples:
  fabnet launch experiments/checks/network.toml
  fabnet launch experiments/checks/network.toml --nodes 24 --kill-every 10s --loss 0.3

Nodes are processes of this host, with certificates of their own. Each keeps its state, its log and its records in nodes/NAME of the results; records.csv, summary.json and
figures are put together from them, and summary.json has kills, dropped and max_mass_residual.
SIGINT and SIGTERM end the nodes, put together what there is, and give exit code 1. The nodes end with this process, however it ends.")]
pub(crate) struct Launch {
    /// The experiment file, of one run
    file: PathBuf,
    /// How many processes; one for each agent if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// Where results go; runs/NAME-TIME if not given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    /// Kill a random node as often as this, and start it again; not in the last quarter of the run
    #[arg(long, value_name = "TIME")]
    kill_every: Option<humantime::Duration>,
    /// The part of all messages that is lost on purpose
    #[arg(long, value_name = "PART", default_value_t = 0.0)]
    loss: f64,
    /// Plain TCP instead of certificates
    #[arg(long)]
    insecure: bool,
    /// Messages through shared memory
    #[arg(long)]
    shared_memory: bool,
    /// Give up after this time
    #[arg(long, value_name = "TIME", default_value = "1h")]
    timeout: humantime::Duration,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

impl Launch {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        let plan = self.changes.read(&self.file)?.plan()?.with_checksums()?;
        let (group, seed) = plan.real_run()?;
        let (agents, rounds) = (group.agents, group.rounds);
        let nodes = self.nodes.map_or(agents, |nodes| nodes as usize);
        if nodes > agents {
            return Err(Usage(format!("--nodes {nodes}: each has agents of its own, but there are {agents}")).into());
        }
        preflight(&plan, 1)?;
        let folder = new_folder(&plan, self.out.as_deref())?;
        folder.begin_for_nodes(&plan)?;
        let configs = self.configs(&plan, &folder, (nodes, agents))?;
        let stopped = Arc::new(AtomicBool::new(false));
        let stop = stopped.clone();
        ctrlc::set_handler(move || stop.store(true, Ordering::Relaxed)).context("signals cannot be caught")?;
        let mut cluster = Cluster::start(&configs, self.quiet, stopped)?;
        let watched = cluster.watch(rounds, self.kill_every.map(Into::into), self.timeout.into(), seed)?;
        let wrong = cluster.end()?;
        let partial = watched == Watched::Stopped;
        let summary = collect_from(&plan, &folder, &configs, cluster.launched, partial);
        if partial {
            let found = summary.map_or_else(
                |error| format!("nothing was put together: {error:#}"),
                |_| format!("what there is was put together in {}", folder.path().display()),
            );
            bail!("stopped before all nodes were done; {found}");
        }
        let summary = summary?;
        if !self.quiet {
            say_results(&plan, &folder, &summary, cluster.launched);
        }
        if !wrong.is_empty() {
            bail!("not every node has ended well:\n  {}", wrong.join("\n  "));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Writes what each node is told, each into a folder of its own.
    fn configs(
        &self,
        plan: &Plan,
        folder: &Folder,
        (nodes, agents): (usize, usize),
    ) -> anyhow::Result<Vec<(PathBuf, Config)>> {
        let names: Vec<String> = (0..nodes).map(|node| format!("node-{node}")).collect();
        let ports = free_ports(2 * nodes)?;
        let authority = if self.insecure { None } else { Some(Authority::create(&folder.file("pki"))?) };
        let members: Vec<Member> = names
            .iter()
            .enumerate()
            .map(|(node, name)| Member {
                name: name.clone(),
                agents: (node * agents / nodes..(node + 1) * agents / nodes).map(|agent| agent as u32).collect(),
                address: format!("127.0.0.1:{}", ports[node]),
            })
            .collect();
        // One for all: a clock that goes on meanwhile would make runs that never meet.
        let run = format!("{}-{}", plan.name, fabnet_lab::timestamp());
        let data = std::path::absolute(Library::usual().folder()).ok();
        let files = folder.files();
        let mut configs = Vec::new();
        for (node, name) in names.iter().enumerate() {
            let place = folder.file("nodes").join(name);
            files.create_folder(&place).with_context(|| place.display().to_string())?;
            let tls = match &authority {
                None => None,
                Some(authority) => {
                    authority.issue(name, &["127.0.0.1".to_owned()])?;
                    let file = |name: &str| Path::new("../../pki").join(name);
                    let (certificate, key) = (file(&format!("{name}.pem")), file(&format!("{name}.key")));
                    Some(Tls { ca: file("ca.pem"), certificate, key })
                }
            };
            let config = Config {
                run: run.clone(),
                node: name.clone(),
                plan: "../../plan.toml".into(),
                state: "state".into(),
                data: data.clone(),
                http: Some(([127, 0, 0, 1], ports[nodes + node]).into()),
                checkpoint: Duration::from_secs(2),
                linger: self.timeout.into(),
                loss: self.loss,
                limits: Limits::default(),
                tls,
                insecure: self.insecure,
                shared_memory: self.shared_memory,
                members: members.clone(),
                routers: Vec::new(),
            };
            let file = place.join("node.toml");
            files.write_whole(&file, config.to_toml().as_bytes()).with_context(|| file.display().to_string())?;
            configs.push((place, config));
        }
        Ok(configs)
    }
}

fn say_results(plan: &Plan, folder: &Folder, summary: &Summary, launched: Launched) {
    say(table::summary(plan, summary));
    say_missing(summary);
    let Launched { kills, dropped, max_mass_residual } = launched;
    let place = folder.path().display();
    say(format!("{kills} kills, {dropped} messages dropped, mass residual {max_mass_residual}; results in {place}"));
}

/// Puts the records of all nodes together.
fn collect_from(
    plan: &Plan,
    folder: &Folder,
    configs: &[(PathBuf, Config)],
    launched: Launched,
    partial: bool,
) -> anyhow::Result<Summary> {
    let mut tracks = Vec::new();
    for (place, config) in configs {
        let state = place.join(&config.state);
        let agents = config.me().into_iter().flat_map(|me| &me.agents);
        tracks.extend(agents.map(|&agent| (agent, Some(track_path(&state, agent)))));
    }
    tracks.sort();
    let tracks: Vec<Option<PathBuf>> = tracks.into_iter().map(|(_, track)| track).collect();
    let files = Arc::new(SystemFiles::PRIVATE);
    put_together(plan, folder, &Collection { files, tracks: &tracks, partial, launched: Some(launched) })
}

/// Ports that nobody listens on at this moment.
fn free_ports(count: usize) -> anyhow::Result<Vec<u16>> {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind(("127.0.0.1", 0))).collect::<Result<_, _>>().context("no free port")?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

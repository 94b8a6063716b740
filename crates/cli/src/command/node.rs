//! `fabnet node`: one node of a real network, or a router.

mod descriptors;
mod engine_threads;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use fabnet_core::Scalar;
use fabnet_files::SystemFiles;
use fabnet_lab::data::Library;
use fabnet_lab::{Experiment, Plan, Precision, Setup};
use fabnet_net::{
    CertificateNews, CertificateWatch, Clock, Config, Refusals, RouterProcess, SharedStatus, SystemClock, log_to_stderr,
};
use fabnet_node::NodeRuntime;

use crate::exit_code::UsageError;

#[derive(Args)]
#[command(after_help = "\
Example:
  fabnet node alpha/node.toml

The file names the run, the plan (the same for all nodes), the members with their addresses and \
agents, the certificates, and the folder for the state of this node; docs/network.md shows one. If \
`node` is one of its routers, this process forwards messages between members and owns no agent.

The first round begins when all members have been heard, or as many as `start` in [network] of the \
plan says. A node that finds the run already started joins at once.

The exit code is 0 if this node has done its rounds and the others took part until the end, or if it \
was told to stop. It is 1 if they did not, or if something could not be written; the last line says \
what.

After SIGTERM or Ctrl-C the node announces that it leaves, writes a checkpoint and ends. A node that \
is started again continues where it was. FABNET_LOG=zenoh=warn,fabnet_net=debug logs more, including \
the messages of Zenoh.")]
pub(crate) struct Node {
    /// The configuration of this node, a TOML file
    file: PathBuf,
    /// Write log lines as JSON
    #[arg(long)]
    json: bool,
    /// Log nothing but warnings and errors
    #[arg(long)]
    quiet: bool,
    /// Leave when the standard input closes: then the process that started this one has ended
    #[arg(long, hide = true)]
    until_stdin_closes: bool,
}

/// The time between two looks of a router at its certificates.
const LOOK_EVERY: Duration = Duration::from_secs(10);

impl Node {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        engine_threads::begin_with_one()?;
        let config = Config::read(&self.file).map_err(|error| UsageError(error.to_string()))?;
        if config.me().is_none() {
            return self.route_messages(&config);
        }
        config.data.iter().for_each(|folder| Library::look_in(folder));
        let plan = Experiment::read(&config.plan)?.plan()?;
        let (group, seed) = plan.real_run()?;
        match group.precision {
            Precision::F64 => self.run(config, &plan, Setup::<f64>::new(&group, seed)?),
            Precision::F32 => self.run(config, &plan, Setup::<f32>::new(&group, seed)?),
        }
    }

    /// Forwards messages as a router until a signal comes.
    fn route_messages(self, config: &Config) -> anyhow::Result<ExitCode> {
        self.start_log(config);
        descriptors::raise_limit();
        let clock = SystemClock::default();
        let open = |tls| CertificateWatch::open(Arc::new(SystemFiles::SHARED), tls, clock.unix_time());
        let mut certificates = config.tls.as_ref().map(open).transpose()?;
        let router = RouterProcess::open(config)?;
        tracing::info!("carrying messages");
        let (stop, stopped) = channel();
        // A second signal finds the receiver gone; then there is nothing left to do.
        ctrlc::set_handler(move || _ = stop.send(())).context("signals cannot be caught")?;
        while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            let news = certificates.iter_mut().flat_map(|watch| watch.look(clock.now(), clock.unix_time()));
            news.for_each(|news| log_news_of_router(&news));
        }
        router.close()?;
        Ok(ExitCode::SUCCESS)
    }

    /// Runs the agents of this node until their rounds are done or a signal comes.
    fn run<T: Scalar>(self, config: Config, plan: &Plan, setup: Setup<T>) -> anyhow::Result<ExitCode> {
        let (status, refusals) = self.start_log(&config);
        descriptors::raise_limit();
        let runtime = NodeRuntime::open(config, plan, setup, (status, refusals));
        let mut runtime = runtime.with_context(|| self.file.display().to_string())?;
        ctrlc::set_handler(runtime.stopper()).context("signals cannot be caught")?;
        if self.until_stdin_closes {
            stop_with_stdin(runtime.stopper())?;
        }
        runtime.run(&mut || true)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Starts to log to the standard error, and returns what the log counts into.
    fn start_log(&self, config: &Config) -> (SharedStatus, Arc<Refusals>) {
        let (status, refusals) = (SharedStatus::of(config), Arc::default());
        let default = if self.quiet { "warn" } else { "warn,fabnet=info,fabnet_net=info,fabnet_node=info" };
        log_to_stderr(default, self.json, &status, &refusals);
        (status, refusals)
    }
}

/// Writes news of a router's certificates into the log. A router takes a new one at its next start.
fn log_news_of_router(news: &CertificateNews) {
    match news {
        CertificateNews::Renewed { .. } => tracing::warn!("a new certificate is there: start this router again"),
        CertificateNews::Expires(_) | CertificateNews::Unusable(_) => news.log(),
    }
}

/// Calls `stop` when the standard input closes.
fn stop_with_stdin(stop: impl Fn() + Send + 'static) -> anyhow::Result<()> {
    let wait = move || {
        // Nobody writes to it, so this read ends when the process at the other end does.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        stop();
    };
    std::thread::Builder::new().name("stdin".into()).spawn(wait).context("no thread")?;
    Ok(())
}

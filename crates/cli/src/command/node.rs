//! `fabnet node`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::channel;

use anyhow::Context;
use clap::Args;
use fabnet_core::Scalar;
use fabnet_host::Station;
use fabnet_lab::data::Library;
use fabnet_lab::{Experiment, Plan, Precision, Setup};
use fabnet_net::{Carrier, Config, Refusals, Shared, log_to_stderr};

use crate::failure::Usage;

#[derive(Args)]
#[command(after_help = "Example:
  fabnet node alpha/node.toml

The file names the run, the plan (the same for all), the members with their addresses and agents,
certificates, and where this node keeps its state; docs/network.md shows one. If `node` is one of its
routers, this process carries messages between members and owns no agent.

The first round begins when all members have been heard, or as many as [network] start of the plan
says; a node that finds the run under way joins at once. Exit code 0 means that this node has done
its rounds and that the others took part until the end, or that it was told to stop; 1 that they did
not, or that something could not be written: the last line says what.

SIGTERM and Ctrl-C say farewell, write a checkpoint and end; a node that starts again goes on where it
was. FABNET_LOG=zenoh=warn,fabnet_net=debug says more, of the engine too.")]
pub(crate) struct Node {
    /// What this node is told
    file: PathBuf,
    /// Log lines as JSON
    #[arg(long)]
    json: bool,
    /// Log nothing but warnings and errors
    #[arg(long)]
    quiet: bool,
    /// Leave when the standard input closes, as when the process that started this one has ended
    #[arg(long, hide = true)]
    until_stdin_closes: bool,
}

impl Node {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        let config = Config::read(&self.file).map_err(|error| Usage(error.to_string()))?;
        if config.me().is_none() {
            return self.carry_messages(&config);
        }
        config.data.iter().for_each(|folder| Library::look_in(folder));
        let plan = Experiment::read(&config.plan)?.plan()?;
        let (group, seed) = plan.real_run()?;
        match group.precision {
            Precision::F64 => self.run(config, &plan, Setup::<f64>::new(group, seed)?),
            Precision::F32 => self.run(config, &plan, Setup::<f32>::new(group, seed)?),
        }
    }

    /// As a router, until it is told to stop.
    fn carry_messages(self, config: &Config) -> anyhow::Result<ExitCode> {
        self.log(config);
        let carrier = Carrier::open(config)?;
        tracing::info!("carrying messages");
        let (stop, stopped) = channel();
        // Who has ended needs no second signal.
        ctrlc::set_handler(move || _ = stop.send(())).context("signals cannot be caught")?;
        stopped.recv()?;
        carrier.close()?;
        Ok(ExitCode::SUCCESS)
    }

    fn run<T: Scalar>(self, config: Config, plan: &Plan, setup: Setup<T>) -> anyhow::Result<ExitCode> {
        let noted = self.log(&config);
        let station = Station::open(config, plan, setup, noted);
        let mut station = station.with_context(|| self.file.display().to_string())?;
        ctrlc::set_handler(station.stopper()).context("signals cannot be caught")?;
        if self.until_stdin_closes {
            stop_with_stdin(station.stopper())?;
        }
        station.run(&mut || true)?;
        Ok(ExitCode::SUCCESS)
    }

    fn log(&self, config: &Config) -> (Shared, Arc<Refusals>) {
        let (status, refusals) = (Shared::of(config), Arc::default());
        let usual = if self.quiet { "warn" } else { "warn,fabnet=info,fabnet_host=info,fabnet_net=info" };
        log_to_stderr(usual, self.json, &status, &refusals);
        (status, refusals)
    }
}

/// Calls `stop` when the standard input closes.
fn stop_with_stdin(stop: impl Fn() + Send + 'static) -> anyhow::Result<()> {
    let wait = move || {
        // Nobody writes there: it ends when the process at its other end does.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        stop();
    };
    std::thread::Builder::new().name("stdin".into()).spawn(wait).context("no thread")?;
    Ok(())
}

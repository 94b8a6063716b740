//! `fabnet watch`: shows a run in a browser, while it goes on or afterwards, or as one file.

mod announce;
#[cfg(feature = "net")]
mod live_nodes;
mod page_address;
#[cfg(feature = "net")]
mod page_for_others;
mod seed_recorder;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use fabnet_files::{Files, MemoryFiles, SystemFiles};
use fabnet_sim::Scenario;
use fabnet_watch::{CurrentRecording, EXPORTED, WatchServer, export, read_recording};

use self::announce::announce;
use self::page_address::PageAddress;
use self::seed_recorder::record_seed;
use super::existing::require_results;
use super::faults::unknown_scenario;
use crate::exit_code::UsageError;
use crate::interrupt::interrupt_flag;
use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet run experiments/loss-ledger.toml --watch
  fabnet watch runs/loss-ledger-20250101-120000
  fabnet watch runs/loss-ledger-20250101-120000 --export run.html
  fabnet watch 127.0.0.1:9464
  fabnet watch --seed 4711

The page is served on this machine only, unless --listen says otherwise, and can change nothing. \
It is opened in a browser where there is a display. Of a folder it shows the run that was recorded \
last, while it goes on or when it is finished. From the status address of one running node it \
finds those of all members that the node's file names. With --seed the faults of a simulation are \
shown, tick by tick: `fabnet faults` says which seeds there are. \
Ctrl-C ends it.")]
pub(crate) struct Watch {
    /// A folder of results of `fabnet run --watch` or `fabnet launch --watch`, the state folder of
    /// a node with `watch = true`, or the addresses at which running nodes serve their status,
    /// host:port
    #[arg(value_name = "DIR|ADDRESS", required_unless_present = "seed", conflicts_with = "seed")]
    what: Vec<String>,
    /// The number of the run in that folder; if not given, the one that was recorded last
    #[arg(long, value_name = "NUMBER", requires = "what")]
    run: Option<usize>,
    /// Simulate the faults of this seed, and show them
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Use the faults of a named scenario instead of random ones; `fabnet faults --scenario list`
    /// prints all names
    #[arg(long, value_name = "NAME", requires = "seed")]
    scenario: Option<String>,
    /// Write one file that any browser shows without a server, and end
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    #[command(flatten)]
    page: PageAddress,
}

/// The files of recordings, and which of them is shown.
type Shown = (Arc<dyn Files>, CurrentRecording);

impl Watch {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let (files, current) = self.shown()?;
        if let Some(file) = &self.export {
            let found = current().ok_or_else(|| UsageError("nothing was recorded yet".to_owned()))?;
            let page = export(&read_recording(&*files, &found)?, EXPORTED)?;
            SystemFiles::SHARED.write(file, page.as_bytes())?;
            print_line(format!("{}: {} kB; open it in a browser", file.display(), page.len() / 1000));
            return Ok(ExitCode::SUCCESS);
        }
        let interrupted = interrupt_flag()?;
        announce(&self.page.serve(WatchServer::new(files, current))?);
        while !interrupted.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What is shown: a seed, a folder or running nodes.
    fn shown(&self) -> anyhow::Result<Shown> {
        match (self.seed, self.what.as_slice()) {
            (Some(seed), _) => self.simulated(seed),
            (None, [folder]) if !is_address(folder) => self.recorded(Path::new(folder)),
            (None, addresses) => self.live(addresses),
        }
    }

    /// A simulation of faults, recorded in memory.
    fn simulated(&self, seed: u64) -> anyhow::Result<Shown> {
        let named = |name: &String| Scenario::named(name, seed).ok_or_else(unknown_scenario);
        let scenario = self.scenario.as_ref().map_or_else(|| Ok(Scenario::from_seed(seed)), named)?;
        let files: Arc<dyn Files> = Arc::new(MemoryFiles::default());
        record_seed(&scenario, self.scenario.as_deref(), files.clone(), Path::new(IN_MEMORY))?;
        Ok((files, Arc::new(|| Some(IN_MEMORY.into()))))
    }

    /// The recordings of a folder of results.
    fn recorded(&self, folder: &Path) -> anyhow::Result<Shown> {
        require_results(folder)?;
        let current = recordings(folder, self.run);
        if current().is_none() {
            let (what, path) = (self.run.map_or(String::new(), |run| format!("run {run} of ")), folder.display());
            let message = format!("there is no recording of {what}{path}: `fabnet run --watch` makes one");
            return Err(UsageError(message).into());
        }
        Ok((Arc::new(SystemFiles::SHARED), current))
    }

    /// Running nodes, recorded in memory while they are followed.
    #[cfg(feature = "net")]
    fn live(&self, addresses: &[String]) -> anyhow::Result<Shown> {
        self.refuse_unfit(addresses)?;
        let files = live_nodes::follow(addresses, Path::new(IN_MEMORY))?;
        Ok((files, Arc::new(|| Some(IN_MEMORY.into()))))
    }

    /// Running nodes need a feature that this build does not have.
    #[cfg(not(feature = "net"))]
    fn live(&self, addresses: &[String]) -> anyhow::Result<Shown> {
        self.refuse_unfit(addresses)?;
        Err(super::not_built::needs::<super::not_built::Net>().into())
    }

    /// An error if what is asked for makes no sense for running nodes.
    fn refuse_unfit(&self, addresses: &[String]) -> Result<(), UsageError> {
        if let Some(wrong) = addresses.iter().find(|address| !is_address(address)) {
            return Err(UsageError(format!("{wrong}: give one folder, or addresses of nodes as host:port")));
        }
        if self.run.is_some() || self.export.is_some() {
            let message = "--run and --export are for folders of results; `fabnet launch --watch` writes one";
            return Err(UsageError(message.to_owned()));
        }
        Ok(())
    }
}

/// The name of a recording in memory.
const IN_MEMORY: &str = "watch";

/// Whether a text is a host and a port, and no folder that is there.
fn is_address(text: &str) -> bool {
    let port = text.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
    matches!(port, Some(Ok(_))) && !Path::new(text).is_dir()
}

/// Serves the page of a folder in which runs are recorded, says where, and opens it.
pub(crate) fn show_folder(folder: &Path) -> anyhow::Result<()> {
    let server = WatchServer::new(Arc::new(SystemFiles::SHARED), recordings(folder, None));
    announce(&PageAddress::default().serve(server)?);
    Ok(())
}

/// The recording of a run in a folder of results, or the one that was written last.
fn recordings(folder: &Path, run: Option<usize>) -> CurrentRecording {
    let folder = folder.join("watch");
    Arc::new(move || {
        if let Some(run) = run {
            return Some(folder.join(run.to_string())).filter(|path| path.is_file());
        }
        let found = std::fs::read_dir(&folder).ok()?.filter_map(Result::ok);
        let newest = found.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).max();
        newest.map(|(_, path)| path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_folders() {
        for (text, address) in
            [("127.0.0.1:9464", true), ("[::1]:80", true), ("host:1", true), ("runs/a", false), ("C:x", false)]
        {
            assert_eq!(is_address(text), address, "{text}");
        }
    }

    #[test]
    fn the_recording_that_was_written_last_is_shown_unless_another_one_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(recordings(folder.path(), None)(), None);
        let watch = folder.path().join("watch");
        std::fs::create_dir(&watch).unwrap();
        for (name, second) in [("1", 20), ("0", 30), ("2", 10)] {
            let file = std::fs::File::create(watch.join(name)).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(second)).unwrap();
        }
        assert_eq!(recordings(folder.path(), None)(), Some(watch.join("0")));
        assert_eq!(recordings(folder.path(), Some(2))(), Some(watch.join("2")));
        assert_eq!(recordings(folder.path(), Some(3))(), None);
    }
}

//! `fabnet watch`: shows a run in a browser, while it goes on or afterwards, or as one file.

mod seed_recorder;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use fabnet_files::{Files, MemoryFiles, SystemFiles};
use fabnet_sim::Scenario;
use fabnet_watch::{CurrentRecording, export, read_recording, serve};

use self::seed_recorder::record_seed;
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
  fabnet watch --seed 4711

The page is served on this machine only and can change nothing. It shows the run that was recorded \
last, while it goes on or when it is finished. With --seed the faults of a simulation are shown, tick \
by tick: `fabnet faults` says which seeds there are. Ctrl-C ends it.")]
pub(crate) struct Watch {
    /// A folder of results of `fabnet run --watch`
    #[arg(value_name = "DIR", required_unless_present = "seed", conflicts_with = "seed")]
    folder: Option<PathBuf>,
    /// The number of the run in that folder; if not given, the one that was recorded last
    #[arg(long, value_name = "NUMBER", requires = "folder")]
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
    /// The port of the page; if not given, a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
}

/// The largest number of bytes of data in an exported file.
const EXPORTED: usize = 5 << 19;

impl Watch {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let (files, current) = if let Some(seed) = self.seed { self.simulated(seed)? } else { self.recorded()? };
        if let Some(file) = &self.export {
            let found = current().ok_or_else(|| UsageError("nothing was recorded yet".to_owned()))?;
            let page = export(&read_recording(&*files, &found)?, EXPORTED)?;
            SystemFiles::SHARED.write(file, page.as_bytes())?;
            print_line(format!("{}: {} kB; open it in a browser", file.display(), page.len() / 1000));
            return Ok(ExitCode::SUCCESS);
        }
        let interrupted = interrupt_flag()?;
        show_page(self.port, files, current)?;
        while !interrupted.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// A simulation of faults, recorded in memory.
    fn simulated(&self, seed: u64) -> anyhow::Result<(Arc<dyn Files>, CurrentRecording)> {
        let named = |name: &String| Scenario::named(name, seed).ok_or_else(unknown_scenario);
        let scenario = self.scenario.as_ref().map_or_else(|| Ok(Scenario::from_seed(seed)), named)?;
        let files: Arc<dyn Files> = Arc::new(MemoryFiles::default());
        record_seed(&scenario, self.scenario.as_deref(), files.clone(), Path::new("watch"))?;
        Ok((files, Arc::new(|| Some("watch".into()))))
    }

    /// The recordings of a folder of results.
    fn recorded(&self) -> anyhow::Result<(Arc<dyn Files>, CurrentRecording)> {
        let folder = self.folder.clone().unwrap_or_default();
        let current = recordings(&folder, self.run);
        if current().is_none() {
            let (what, path) = (self.run.map_or(String::new(), |run| format!("run {run} of ")), folder.display());
            let message = format!("there is no recording of {what}{path}: `fabnet run --watch` makes one");
            return Err(UsageError(message).into());
        }
        Ok((Arc::new(SystemFiles::SHARED), current))
    }
}

/// Serves the page and says where.
fn show_page(port: u16, files: Arc<dyn Files>, current: CurrentRecording) -> anyhow::Result<()> {
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let served = serve(address, files, current).map_err(|error| UsageError(format!("--port {port}: {error}")))?;
    eprintln!("watch it at http://{served}/");
    Ok(())
}

/// Serves the page of a folder in which runs are recorded.
pub(crate) fn show_folder(folder: &Path) -> anyhow::Result<()> {
    show_page(0, Arc::new(SystemFiles::SHARED), recordings(folder, None))
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

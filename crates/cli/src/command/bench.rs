//! `fabnet bench`: methods on problems, networks and conditions, tuned alike.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use clap::{Args, Subcommand};
use fabnet_files::{Files, SystemFiles};
use fabnet_lab::{
    BenchError, BenchOptions, BenchProgress, BenchResults, BenchmarkPage, CellResult, Design, run_benchmark,
};

use super::options::Threads;
use crate::exit_code::{FAILURE, UsageError};
use crate::interrupt::interrupt_flag;
use crate::output::print_line;

#[derive(Args)]
pub(crate) struct Bench {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Carry out the cells that have no result yet
    Run(BenchRun),
    /// Add the results of others to a file
    Merge(BenchMerge),
    /// Make the page of tables, figures and verdicts
    Report(BenchReport),
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet bench run experiments/benchmark/design.toml --out results.json
  fabnet bench run experiments/benchmark/design.toml --out results.json --cells 40

Each cell is one method on one problem, network, number of agents and condition. Its step sizes are \
tuned on seeds of their own, and it is then run on the test seeds. Its result is added to the file as \
soon as it is done: the same command goes on after Ctrl-C or a kill. Results of another design are \
carried out again.")]
struct BenchRun {
    /// The design of the benchmark
    design: PathBuf,
    /// The file of results, which is made if it does not exist
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Carry out the full product instead of the standard size
    #[arg(long)]
    full: bool,
    /// Stop when this many cells have a result: those that statements are about come first
    #[arg(long, value_name = "N")]
    cells: Option<usize>,
    /// The name of this machine in the results
    #[arg(long, value_name = "NAME", default_value = "machine")]
    machine: String,
    /// What else matters of this machine, such as other programs that run at the same time
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    #[command(flatten)]
    threads: Threads,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  fabnet bench merge experiments/benchmark/design.toml results.json theirs.json

Files are checked before anything is written: one that is not of the form of docs/benchmark.schema.json, \
or with cells that were carried out with other settings than the design has, is refused. Cells that \
are in the first file stay as they are.")]
struct BenchMerge {
    /// The design of the benchmark
    design: PathBuf,
    /// The file that is added to
    into: PathBuf,
    /// The files whose cells are added
    #[arg(required = true)]
    from: Vec<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  fabnet bench report experiments/benchmark/design.toml experiments/benchmark/results.json \\
    experiments/benchmark/page.md --out docs/benchmark.md --figures docs/figures/benchmark

Results of another design count as not run.")]
struct BenchReport {
    /// The design of the benchmark
    design: PathBuf,
    /// The file of results
    results: PathBuf,
    /// The template of the page
    template: PathBuf,
    /// The file of the page
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The folder of the figures, in the folder of the page or below it
    #[arg(long, value_name = "DIR")]
    figures: PathBuf,
}

impl Bench {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.action {
            Action::Run(run) => run.execute(),
            Action::Merge(merge) => merge.execute(),
            Action::Report(report) => report.execute(),
        }
    }
}

impl BenchRun {
    fn execute(self) -> anyhow::Result<ExitCode> {
        let design = Design::read(&self.design)?;
        let progress = CellLines { quiet: self.quiet, interrupted: interrupt_flag()? };
        let options = BenchOptions {
            threads: self.threads.count(),
            full: self.full,
            cells: self.cells,
            machine: self.machine,
            note: self.note,
        };
        if run_benchmark(&design, &self.out, &options, &progress)? {
            return Ok(ExitCode::SUCCESS);
        }
        eprintln!("stopped; the cells that are done are in {}. The same command goes on", self.out.display());
        Ok(ExitCode::from(FAILURE))
    }
}

/// A line for each cell that is done.
struct CellLines {
    quiet: bool,
    interrupted: Arc<AtomicBool>,
}

impl BenchProgress for CellLines {
    fn done(&self, result: &CellResult, [done, of]: [usize; 2]) {
        if self.quiet {
            return;
        }
        let outcome = result.refused.as_ref().map_or_else(
            || {
                let solved = result.runs.iter().filter(|run| run.outcome == fabnet_lab::Outcome::Reached).count();
                format!("{solved} of {} runs reach the target", result.runs.len())
            },
            |reason| format!("cannot be run: {reason}"),
        );
        print_line(format!("{done}/{of} {}: {outcome}", result.cell));
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

impl BenchMerge {
    fn execute(self) -> anyhow::Result<ExitCode> {
        let files: &dyn Files = &SystemFiles::SHARED;
        let design = Design::read(&self.design)?;
        let mut into = BenchResults::read_if_there(files, &self.into)?.unwrap_or_else(BenchResults::empty);
        let mut added = Vec::new();
        for path in &self.from {
            let others = BenchResults::read(files, path)?;
            if let Some(result) = others.cells.iter().find(|result| result.digest != design.digest(&result.cell)) {
                return Err(BenchError::OtherDesign { path: path.clone(), cell: Box::new(result.cell.clone()) }.into());
            }
            added.push(format!("{}: {} cells added", path.display(), into.merge(others)));
        }
        into.write(files, &self.into)?;
        added.into_iter().for_each(print_line);
        Ok(ExitCode::SUCCESS)
    }
}

impl BenchReport {
    fn execute(self) -> anyhow::Result<ExitCode> {
        let files: &dyn Files = &SystemFiles::SHARED;
        let design = Design::read(&self.design)?;
        let results = BenchResults::read(files, &self.results)?;
        let template = files.read(&self.template).with_context(|| self.template.display().to_string())?;
        let template = String::from_utf8(template).with_context(|| self.template.display().to_string())?;
        let folder = self.figures_of_page()?;
        let page = BenchmarkPage::new(&design, &results, (&template, &self.template), &folder)?;
        let write = |path: &Path, text: &str| {
            files.write_whole(path, text.as_bytes()).with_context(|| path.display().to_string())
        };
        files.create_folder(&self.figures).with_context(|| self.figures.display().to_string())?;
        for (name, svg) in &page.figures {
            write(&self.figures.join(name), svg)?;
        }
        write(&self.out, &page.text)?;
        print_line(format!("{}: {} figures", self.out.display(), page.figures.len()));
        Ok(ExitCode::SUCCESS)
    }

    /// The folder of the figures, as seen from the folder of the page.
    fn figures_of_page(&self) -> Result<String, UsageError> {
        let page = self.out.parent().unwrap_or(Path::new(""));
        let below = self.figures.strip_prefix(page).map_err(|_| {
            let (figures, page) = (self.figures.display(), page.display());
            UsageError(format!("--figures {figures}: it is not below {page}, the folder of the page: choose one there"))
        })?;
        Ok(below.to_string_lossy().into_owned())
    }
}

//! Progress bars on a terminal, one for each running job.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fabnet_lab::{Job, WorstAgent};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::interrupt::interrupt_flag;
use crate::trend::Trend;

/// Shows the progress of runs, and tells them to stop after Ctrl-C.
pub(crate) struct Progress {
    bars: MultiProgress,
    shown: Mutex<BTreeMap<usize, (ProgressBar, Trend)>>,
    style: ProgressStyle,
    interrupted: Arc<AtomicBool>,
}

impl Progress {
    /// Installs the signal handler; `quiet` hides the bars.
    pub(crate) fn new(quiet: bool) -> anyhow::Result<Self> {
        let interrupted = interrupt_flag()?;
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let speed = |state: &ProgressState, out: &mut dyn Write| _ = write!(out, "{:.0} rounds/s", state.per_sec());
        let style = ProgressStyle::with_template("{prefix:32!} {bar:24} {pos}/{len}  {msg}  {speed}  {eta} left")?;
        let style = style.with_key("speed", speed);
        Ok(Self { bars: MultiProgress::with_draw_target(target), shown: Mutex::default(), style, interrupted })
    }

    fn shown(&self) -> MutexGuard<'_, BTreeMap<usize, (ProgressBar, Trend)>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fabnet_lab::Progress for Progress {
    fn begun(&self, job: &Job<'_>, round: u64) {
        let bar = ProgressBar::new(job.group.rounds).with_style(self.style.clone()).with_position(round);
        let bar = self.bars.add(bar.with_prefix(format!("{} seed {}", job.group.label, job.seed)));
        bar.reset_eta();
        self.shown().insert(job.run, (bar, Trend::default()));
    }

    fn advanced(&self, job: &Job<'_>, round: u64) {
        if let Some((bar, _)) = self.shown().get(&job.run) {
            bar.set_position(round);
        }
    }

    fn measured(&self, job: &Job<'_>, metric: &str, value: f64, worst: Option<WorstAgent>) {
        if let Some((bar, trend)) = self.shown().get_mut(&job.run).filter(|(bar, _)| !bar.is_hidden()) {
            let worst = worst.map(|WorstAgent { agent, distance }| format!("  worst agent {agent}: {distance:.1e}"));
            bar.set_message(format!("{metric} {}{}", trend.describe(value), worst.unwrap_or_default()));
        }
    }

    fn shows_worst(&self) -> bool {
        !self.bars.is_hidden()
    }

    fn ended(&self, job: &Job<'_>) {
        if let Some((bar, _)) = self.shown().remove(&job.run) {
            bar.finish_and_clear();
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

//! Carrying out a cell: its step sizes are tuned, and then it is run on the test seeds.

use std::path::Path;

use super::cell::BenchCell;
use super::design::Design;
use super::error::BenchError;
use super::results::{CellResult, CostAtTarget, TestRun};
use crate::figure::{Row, read_runs};
use crate::plan::Plan;
use crate::results::{Folder, Summary};
use crate::run::{JobError, Progress, RunOptions, carry_out_runs, preflight};
use crate::tune::{TuneError, best_setting};

/// What the cells of a benchmark have in common.
#[derive(Clone, Copy)]
pub(super) struct CellRunner<'a> {
    pub(super) design: &'a Design,
    /// The name of the machine.
    pub(super) machine: &'a str,
    /// The folder for the runs of cells.
    pub(super) scratch: &'a Path,
    pub(super) progress: &'a dyn Progress,
}

impl CellRunner<'_> {
    /// The result of a cell: costs, or why the method cannot be run there.
    pub(super) fn carry_out(&self, cell: &BenchCell) -> Result<CellResult, BenchError> {
        let plan = match self.design.plan(cell) {
            Ok(plan) => plan,
            Err(wrong) => return Ok(self.refused(cell, &wrong.list[0].message)),
        };
        match preflight(&plan, 1) {
            Ok(()) => {}
            Err(JobError::Setup(reason)) => return Ok(self.refused(cell, &reason.to_string())),
            Err(error) => return Err(BenchError::of_cell(cell, error)),
        }
        self.run(cell, &plan).map_err(|error| BenchError::of_cell(cell, error))
    }

    fn run(&self, cell: &BenchCell, plan: &Plan) -> Result<CellResult, TuneError> {
        let spec = &self.design.spec;
        // A cell has one thread, beside which other programs may run.
        let options = RunOptions { processor_time: true, ..RunOptions::new(1) };
        let name: String = cell.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
        let scratch = self.scratch.join(name);
        let tuned = self.design.method(&cell.method).is_some_and(|method| method.tuned);
        let (group, trials) = if tuned {
            let plan = Plan { seeds: spec.tuning.seeds.clone(), ..plan.clone() };
            best_setting(&plan, spec.tuning.trials, options, &scratch, self.progress)?
        } else {
            (plan.groups[0].clone(), 0)
        };
        let plan = Plan { groups: vec![group], ..plan.clone() };
        let folder = Folder::new(&scratch.join("test"));
        folder.begin(&plan)?;
        let report = carry_out_runs(&plan, &folder, options, self.progress)?;
        if report.interrupted {
            return Err(TuneError::Interrupted);
        }
        let runs = self.test_runs(&folder, &plan, &report.summary)?;
        folder.end()?;
        // The results do not depend on this folder any more.
        let _ = std::fs::remove_dir_all(&scratch);
        let settings = report.summary.runs.into_iter().next().map(|run| run.settings).unwrap_or_default();
        Ok(CellResult { refused: None, trials, settings, runs, ..self.refused(cell, "") })
    }

    /// What each run took to reach the targets.
    fn test_runs(&self, folder: &Folder, plan: &Plan, summary: &Summary) -> Result<Vec<TestRun>, JobError> {
        let records = read_runs(folder, &plan.metrics, None)?;
        let runs = summary.runs.iter().zip(&records);
        let runs = runs.map(|(run, record)| TestRun {
            seed: run.seed,
            outcome: run.outcome,
            rounds: run.rounds,
            last: run.last.get(&self.design.spec.metric).copied().flatten(),
            reached: self.design.spec.targets.iter().filter_map(|&target| cost_at(target, &record.rows)).collect(),
        });
        Ok(runs.collect())
    }

    /// The result of a cell that cannot be run.
    fn refused(&self, cell: &BenchCell, reason: &str) -> CellResult {
        CellResult {
            cell: cell.clone(),
            digest: self.design.digest(cell),
            machine: self.machine.to_owned(),
            refused: Some(reason.to_owned()),
            trials: 0,
            settings: serde_json::Map::new(),
            runs: Vec::new(),
        }
    }
}

/// What it took until the metric was below a target for the first time, by the records.
fn cost_at(target: f64, rows: &[Row]) -> Option<CostAtTarget> {
    let row = rows.iter().find(|row| row.values[0] < target)?;
    let [_, gradients, products, bytes] = row.values[..] else { return None };
    Some(CostAtTarget {
        target,
        rounds: row.round as f64,
        gradients: gradients + products,
        bytes,
        seconds: row.seconds,
    })
}

//! The results of one or more experiments as charts.

use rayon::prelude::*;

use super::band::Band;
use super::chart::Chart;
use super::curve::{Curve, MetricColumn};
use super::drawing::Drawing;
use super::effort::Effort;
use super::error::FigureError;
use super::limits::is_logarithmic;
use super::line_style::LineStyle;
use super::multiples::SmallMultiples;
use super::records::{PlannedGroup, Run, read_endings, read_runs};
use super::request::Request;
use super::single_frame;
use crate::metric::is_better_larger;
use crate::plan::{Group, Plan};
use crate::results::Folder;

/// The results that charts are drawn from.
pub(super) struct Results {
    /// The name of the experiment; empty for several.
    name: String,
    metrics: Vec<String>,
    groups: Vec<PlannedGroup>,
    runs: Vec<Run>,
}

impl Results {
    /// Reads the results of a folder, with all metrics of its plan.
    pub(super) fn read(folder: &Folder, plan: &Plan) -> Result<Self, FigureError> {
        Self::read_metrics(folder, plan, plan.metrics.clone())
    }

    /// Reads the results of several folders, with one metric. Groups that have the same label in
    /// two folders are distinguished by the folder's name.
    pub(super) fn read_together(folders: &[(&Folder, Plan)], metric: &str) -> Result<Self, FigureError> {
        let mut together = Self { name: String::new(), metrics: vec![metric.to_owned()], groups: vec![], runs: vec![] };
        let has = |plan: &Plan, label: &str| plan.groups.iter().any(|group| group.label == label);
        for (folder, plan) in folders {
            let mut results = Self::read_metrics(folder, plan, vec![metric.to_owned()])?;
            results.rename(|label| {
                let folder = folder.path().file_name().map_or_else(Default::default, |name| name.to_string_lossy());
                let several = folders.iter().filter(|(_, plan)| has(plan, label)).count() > 1;
                if several { format!("{label} ({folder})") } else { label.to_owned() }
            });
            together.groups.extend(results.groups);
            together.runs.extend(results.runs);
        }
        Ok(together)
    }

    fn read_metrics(folder: &Folder, plan: &Plan, metrics: Vec<String>) -> Result<Self, FigureError> {
        let endings = read_endings(folder)?;
        let summarised = endings.is_some();
        let group = |group: &Group| PlannedGroup { label: group.label.clone(), runs: plan.seeds.len(), summarised };
        let groups = plan.groups.iter().map(group).collect();
        Ok(Self { name: plan.name.clone(), groups, runs: read_runs(folder, &metrics, endings.as_ref())?, metrics })
    }

    /// Gives new labels to groups and runs.
    fn rename(&mut self, name: impl Fn(&str) -> String) {
        let groups = self.groups.iter_mut().map(|group| &mut group.label);
        groups.chain(self.runs.iter_mut().map(|run| &mut run.label)).for_each(|label| *label = name(label));
    }

    /// Draws the requested charts: each metric that has a number, by each effort.
    pub(super) fn charts(mut self, request: &Request) -> Result<Vec<Drawing>, FigureError> {
        let old: Vec<String> = self.groups.iter().map(|group| group.label.clone()).collect();
        let new = request.renamed(&old)?;
        let name = |label: &str| old.iter().position(|old| old == label).map_or(label.to_owned(), |at| new[at].clone());
        self.rename(name);
        let metrics = request.metrics(&self.metrics)?;
        let charts: Vec<Vec<Drawing>> = metrics.par_iter().map(|place| self.charts_of(*place, request)).collect();
        match (&request.metric, charts.concat()) {
            (Some(metric), charts) if charts.is_empty() => Err(FigureError::Empty { metric: metric.clone() }),
            (_, charts) => Ok(charts),
        }
    }

    /// Draws the charts of one metric.
    fn charts_of(&self, place: usize, request: &Request) -> Vec<Drawing> {
        let metric = &self.metrics[place];
        let curves = self.curves(place, request.band);
        if curves.iter().all(|curve| curve.points.is_empty()) {
            return Vec::new();
        }
        let title = Some(self.name.as_str()).filter(|name| request.width.is_none() && !name.is_empty());
        let efforts = Effort::ALL.into_iter().filter(|effort| request.by.is_none_or(|wanted| wanted == *effort));
        let chart = |effort| Chart { title, metric, effort, curves: &curves, width: request.points() };
        efforts
            .map(|effort| Drawing { name: format!("{metric}-by-{}", effort.name()), svg: svg(&chart(effort)) })
            .collect()
    }

    /// The curves of a metric with the requested band, or else with the one that suits the axis.
    fn curves(&self, place: usize, band: Option<Band>) -> Vec<Curve> {
        let column = MetricColumn { place, larger_is_better: is_better_larger(&self.metrics[place]) };
        let with = |band| -> Vec<Curve> {
            let groups = self.groups.iter().enumerate();
            groups.filter_map(|(place, group)| Curve::new(place, group, &self.runs, column, band)).collect()
        };
        let default = || {
            let curves = with(Band::Quartiles);
            if is_logarithmic(&self.metrics[place], &curves) { curves } else { with(Band::Std) }
        };
        band.map_or_else(default, with)
    }
}

/// Draws a chart in one frame, or in several panels if its curves could not be told apart in one.
fn svg(chart: &Chart<'_>) -> String {
    if chart.curves.len() > LineStyle::MOST { SmallMultiples::new(chart).svg() } else { single_frame::svg(chart) }
}

//! Drawing the figures of folders of results.

use std::path::{Path, PathBuf};

use fabnet_core::Finding;
use fabnet_core::finding::Content;
use fabnet_files::{Files, SystemFiles};
use rayon::prelude::*;

use super::drawing::Drawing;
use super::effort::Effort;
use super::error::FigureError;
use super::finding;
use super::format::Format;
use super::histogram;
use super::network_figure::NetworkFigure;
use super::request::Request;
use super::request_error::RequestError;
use super::results::Results;
use crate::plan::{Group, Plan};
use crate::results::Folder;

/// Draws all figures of a folder of results into `figures/` within it, each as SVG and PNG, and
/// returns the paths of the files.
pub fn draw(folder: &Folder) -> Result<Vec<PathBuf>, FigureError> {
    draw_as(folder, &Request::default())
}

/// Draws the requested figures of a folder into `figures/` within it, and returns the paths of the
/// files.
pub fn draw_as(folder: &Folder, request: &Request) -> Result<Vec<PathBuf>, FigureError> {
    let (plan, files) = (read_plan(folder)?, &**folder.files());
    let mut drawings = Results::read(folder, &plan)?.charts(request)?;
    if request.metric.is_none() && request.by.is_none() {
        drawings.extend(networks(&plan, request.points())?);
    }
    let target = folder.file("figures");
    files.create_folder(&target).map_err(|error| FigureError::Files { path: target.clone(), error })?;
    let write = |drawing: &Drawing| drawing.write(files, &target.join(&drawing.name), request.formats());
    let written: Result<Vec<_>, _> = drawings.par_iter().map(write).collect();
    Ok(written?.into_iter().flatten().collect())
}

/// Draws one chart of the groups of all folders into this file, in as many formats as are
/// requested, and returns the paths of the files.
///
/// The metric is the requested one, or the target of the first plan, or the first metric that it
/// records; the effort is the number of rounds unless another one is requested. Without a requested
/// format, the file's name says the format.
pub fn draw_together(folders: &[Folder], file: &Path, request: &Request) -> Result<Vec<PathBuf>, FigureError> {
    let plans: Vec<(&Folder, Plan)> =
        folders.iter().map(|folder| Ok((folder, read_plan(folder)?))).collect::<Result<_, FigureError>>()?;
    let default = plans
        .iter()
        .find_map(|(_, plan)| plan.target.as_ref().map(|target| &target.metric).or_else(|| plan.metrics.first()));
    let metric = request.metric.as_ref().or(default).cloned().unwrap_or_default();
    let mut request =
        Request { metric: Some(metric.clone()), by: request.by.or(Some(Effort::Rounds)), ..request.clone() };
    for (_, plan) in &plans {
        request.metrics(&plan.metrics)?;
    }
    if request.formats.is_empty() {
        request.formats = vec![Format::of_file(file).ok_or(RequestError::NoFormat)?];
    }
    let charts = Results::read_together(&plans, &metric)?.charts(&request)?;
    // The format replaces an extension that names one; other extensions belong to the name.
    let path = if Format::of_file(file).is_some() { file.with_extension("") } else { file.to_owned() };
    let written: Result<Vec<_>, _> =
        charts.iter().map(|chart| chart.write(&SystemFiles::SHARED, &path, request.formats())).collect();
    Ok(written?.concat())
}

fn read_plan(folder: &Folder) -> Result<Plan, FigureError> {
    folder.plan().map_err(FigureError::Plan)
}

/// Draws a finding of a run, unless it is a table.
pub(crate) fn draw_finding(files: &dyn Files, finding: &Finding, folder: &Path) -> Result<(), FigureError> {
    let svg = match &finding.content {
        Content::Table { .. } => return Ok(()),
        Content::Counts { axes, rows, counts } => finding::counts(&finding.title, axes, rows, counts),
        Content::Histogram(histogram) => histogram::histogram(&finding.title, histogram),
        Content::Pictures(pictures) => finding::pictures(&finding.title, pictures),
    };
    let drawing = Drawing { name: finding.name.clone(), svg };
    drawing.write(files, &folder.join(&finding.name), Format::DEFAULTS).map(|_| ())
}

/// Draws every network that is small enough, with the first seed. From the second network of a kind
/// on, their names have numbers.
fn networks(plan: &Plan, width: f64) -> Result<Vec<Drawing>, FigureError> {
    let seed = plan.seeds.first().copied().unwrap_or(0);
    let distinct = distinct_networks(plan);
    let drawing = |(place, group): (usize, &&Group)| {
        let kind = &group.topology.kind;
        let before = distinct[..place].iter().filter(|other| other.topology.kind == *kind).count();
        let number = if before == 0 { String::new() } else { format!("-{}", before + 1) };
        let network = NetworkFigure::new(group, seed);
        let network = network.map_err(|error| FigureError::Topology { label: group.label.clone(), error })?;
        Ok(Drawing { name: format!("topology-{kind}{number}"), svg: network.svg(width) })
    };
    distinct.iter().enumerate().map(drawing).collect()
}

/// The first group of each network that is small enough to be shown.
fn distinct_networks(plan: &Plan) -> Vec<&Group> {
    let mut distinct: Vec<&Group> = Vec::new();
    for group in plan.groups.iter().filter(|group| group.agents <= NetworkFigure::MOST_AGENTS) {
        if !distinct.iter().any(|known| (known.agents, &known.topology) == (group.agents, &group.topology)) {
            distinct.push(group);
        }
    }
    distinct
}

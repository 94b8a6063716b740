//! Figures: what came out of an experiment, to look at. Charts of every metric by rounds, seconds and bytes, and the networks it ran on.

mod area;
mod axis;
mod band;
mod canvas;
mod chart;
mod curve;
mod effort;
mod error;
mod finding;
mod font;
mod format;
mod frame;
mod legend;
mod length;
mod lettering;
mod limits;
mod marker;
mod multiples;
mod number;
mod palette;
mod panel;
mod path;
mod pdf;
mod pdf_font;
mod raster;
mod records;
mod request;
mod results;
mod topology;

use std::path::{Path, PathBuf};

use fabnet_core::Finding;
use fabnet_core::finding::Content;
use fabnet_files::{Files, SystemFiles};
use rayon::prelude::*;

pub use band::{Band, UnknownWord};
pub use effort::Effort;
pub use error::FigureError;
pub use format::Format;
pub use length::{Length, LengthError};
pub use request::Request;

use crate::folder::Folder;
use crate::plan::{Group, Plan};
use results::Results;
use topology::Network;

/// A figure that is drawn, but not yet written.
#[derive(Clone)]
struct Figure {
    name: String,
    svg: String,
}

/// Draws all figures of a folder of results into `figures/` within it, each as SVG and PNG, and names the files.
pub fn draw(folder: &Folder) -> Result<Vec<PathBuf>, FigureError> {
    draw_as(folder, &Request::default())
}

/// Draws the figures of a folder that are asked for into `figures/` within it, and names the files.
pub fn draw_as(folder: &Folder, request: &Request) -> Result<Vec<PathBuf>, FigureError> {
    let (plan, files) = (read_plan(folder)?, &**folder.files());
    let mut figures = Results::read(folder, &plan)?.charts(request)?;
    if request.metric.is_none() && request.by.is_none() {
        figures.extend(networks(&plan, request.points())?);
    }
    let target = folder.file("figures");
    files.create_folder(&target).map_err(|error| FigureError::Files { path: target.clone(), error })?;
    let write = |figure: &Figure| figure.write(files, &target.join(&figure.name), request.formats());
    let written: Result<Vec<_>, _> = figures.par_iter().map(write).collect();
    Ok(written?.into_iter().flatten().collect())
}

/// Draws one chart of the groups of all folders into this file, in as many formats as are asked for, and names the files.
///
/// The metric is the one asked for, or the target of the first plan, or what it records first; by rounds if nothing is said. Without
/// formats in the request, the file's name says the format.
pub fn draw_together(folders: &[Folder], file: &Path, request: &Request) -> Result<Vec<PathBuf>, FigureError> {
    let plans: Vec<(&Folder, Plan)> =
        folders.iter().map(|folder| Ok((folder, read_plan(folder)?))).collect::<Result<_, FigureError>>()?;
    let usual = plans
        .iter()
        .find_map(|(_, plan)| plan.target.as_ref().map(|target| &target.metric).or_else(|| plan.metrics.first()));
    let metric = request.metric.as_ref().or(usual).cloned().unwrap_or_default();
    let mut request =
        Request { metric: Some(metric.clone()), by: request.by.or(Some(Effort::Rounds)), ..request.clone() };
    for (_, plan) in &plans {
        request.metrics(&plan.metrics)?;
    }
    if request.formats.is_empty() {
        let unknown = || FigureError::Usage("--out: end the name with .pdf, .svg or .png, or give --format".to_owned());
        request.formats = vec![Format::of_file(file).ok_or_else(unknown)?];
    }
    let charts = Results::read_together(&plans, &metric)?.charts(&request)?;
    // The format takes the place of an extension that names one; others belong to the name.
    let path = if Format::of_file(file).is_some() { file.with_extension("") } else { file.to_owned() };
    let written: Result<Vec<_>, _> =
        charts.iter().map(|chart| chart.write(&SystemFiles::SHARED, &path, request.formats())).collect();
    Ok(written?.concat())
}

fn read_plan(folder: &Folder) -> Result<Plan, FigureError> {
    folder.plan().map_err(FigureError::Plan)
}

impl Figure {
    /// Writes it to this path, a file for each format.
    fn write(&self, files: &dyn Files, path: &Path, formats: &[Format]) -> Result<Vec<PathBuf>, FigureError> {
        let write_as = |format: &Format| {
            // Not `with_extension`: names may hold dots.
            let path = PathBuf::from(format!("{}.{}", path.display(), format.extension()));
            let contents = format.encode(&self.svg);
            let contents = contents.map_err(|reason| FigureError::Format { path: path.clone(), reason })?;
            write(files, &path, &contents).map(|()| path)
        };
        formats.iter().map(write_as).collect()
    }
}

/// Draws what a run has found, if it is something to look at.
pub(crate) fn draw_finding(files: &dyn Files, finding: &Finding, folder: &Path) -> Result<(), FigureError> {
    let svg = match &finding.content {
        Content::Table { .. } => return Ok(()),
        Content::Counts { axes, rows, counts } => finding::counts(&finding.title, axes, rows, counts),
        Content::Pictures(pictures) => finding::pictures(&finding.title, pictures),
    };
    Figure { name: finding.name.clone(), svg }.write(files, &folder.join(&finding.name), &Format::USUAL).map(|_| ())
}

pub(crate) fn write(files: &dyn Files, path: &Path, contents: &[u8]) -> Result<(), FigureError> {
    files.write_whole(path, contents).map_err(|error| FigureError::Files { path: path.to_owned(), error })
}

/// Every network that is small enough, with the first seed; from the second of a kind on, their names have numbers.
fn networks(plan: &Plan, width: f64) -> Result<Vec<Figure>, FigureError> {
    let seed = plan.seeds.first().copied().unwrap_or(0);
    let distinct = distinct_networks(plan);
    let figure = |(place, group): (usize, &&Group)| {
        let kind = &group.topology.kind;
        let before = distinct[..place].iter().filter(|other| other.topology.kind == *kind).count();
        let number = if before == 0 { String::new() } else { format!("-{}", before + 1) };
        let network =
            Network::new(group, seed).map_err(|error| FigureError::Topology { label: group.label.clone(), error })?;
        Ok(Figure { name: format!("topology-{kind}{number}"), svg: network.svg(width) })
    };
    distinct.iter().enumerate().map(figure).collect()
}

/// A group for each network that can be shown.
fn distinct_networks(plan: &Plan) -> Vec<&Group> {
    let mut distinct: Vec<&Group> = Vec::new();
    for group in plan.groups.iter().filter(|group| group.agents <= Network::MOST_AGENTS) {
        if !distinct.iter().any(|known| (known.agents, &known.topology) == (group.agents, &group.topology)) {
            distinct.push(group);
        }
    }
    distinct
}

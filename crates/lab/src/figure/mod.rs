//! Figures: what came out of an experiment, to look at. Charts of every metric by rounds, seconds and bytes, and the networks it ran on.

mod axis;
mod canvas;
mod chart;
mod curve;
mod error;
mod finding;
mod frame;
mod legend;
mod lettering;
mod number;
mod palette;
mod panel;
mod raster;
mod records;
mod topology;

use std::path::{Path, PathBuf};

use fabnet_core::Finding;
use fabnet_core::finding::Content;
use fabnet_files::Files;
use rayon::prelude::*;

pub use error::FigureError;

use crate::folder::Folder;
use crate::plan::{Group, Plan};
use chart::{Chart, Effort};
use curve::Curve;
use records::{Run, read_runs};
use topology::Network;

/// A figure that is drawn, but not yet written.
struct Figure {
    name: String,
    svg: String,
}

/// Draws the figures of a folder of results into `figures/` within it, each as SVG and PNG, and names the files.
pub fn draw(folder: &Folder) -> Result<Vec<PathBuf>, FigureError> {
    let (plan, files) = (folder.plan().map_err(FigureError::Plan)?, &**folder.files());
    let runs = read_runs(folder, &plan.metrics)?;
    let mut figures = charts(&plan, &runs);
    figures.extend(networks(&plan)?);
    let target = folder.file("figures");
    files.create_folder(&target).map_err(|error| FigureError::Files { path: target.clone(), error })?;
    let written: Result<Vec<_>, _> = figures.par_iter().map(|figure| figure.write(files, &target)).collect();
    Ok(written?.into_iter().flatten().collect())
}

impl Figure {
    fn write(&self, files: &dyn Files, folder: &Path) -> Result<[PathBuf; 2], FigureError> {
        let [svg, png] = ["svg", "png"].map(|kind| folder.join(format!("{}.{kind}", self.name)));
        write(files, &svg, self.svg.as_bytes())?;
        let pixels = raster::png(&self.svg).map_err(|reason| FigureError::Raster { path: png.clone(), reason })?;
        write(files, &png, &pixels)?;
        Ok([svg, png])
    }
}

/// Draws what a run has found, if it is something to look at.
pub(crate) fn draw_finding(files: &dyn Files, finding: &Finding, folder: &Path) -> Result<(), FigureError> {
    let svg = match &finding.content {
        Content::Table { .. } => return Ok(()),
        Content::Counts { axes, rows, counts } => finding::counts(&finding.title, axes, rows, counts),
        Content::Pictures(pictures) => finding::pictures(&finding.title, pictures),
    };
    Figure { name: finding.name.clone(), svg }.write(files, folder).map(|_| ())
}

pub(crate) fn write(files: &dyn Files, path: &Path, contents: &[u8]) -> Result<(), FigureError> {
    files.write_whole(path, contents).map_err(|error| FigureError::Files { path: path.to_owned(), error })
}

/// Every metric that has a number, by every effort.
fn charts(plan: &Plan, runs: &[Run]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (number, metric) in plan.metrics.iter().enumerate() {
        let curve = |(place, group): (usize, &Group)| Curve::new(place, &group.label, runs, number);
        let curves: Vec<Curve> = plan.groups.iter().enumerate().filter_map(curve).collect();
        if curves.is_empty() {
            continue;
        }
        figures.extend(Effort::ALL.map(|effort| Figure {
            name: format!("{metric}-by-{}", effort.name()),
            svg: Chart { title: &plan.name, metric, effort, curves: &curves }.svg(),
        }));
    }
    figures
}

/// Every network that is small enough, with the first seed; from the second of a kind on, their names have numbers.
fn networks(plan: &Plan) -> Result<Vec<Figure>, FigureError> {
    let seed = plan.seeds.first().copied().unwrap_or(0);
    let distinct = distinct_networks(plan);
    let figure = |(place, group): (usize, &&Group)| {
        let kind = &group.topology.kind;
        let before = distinct[..place].iter().filter(|other| other.topology.kind == *kind).count();
        let number = if before == 0 { String::new() } else { format!("-{}", before + 1) };
        let network =
            Network::new(group, seed).map_err(|error| FigureError::Topology { label: group.label.clone(), error })?;
        Ok(Figure { name: format!("topology-{kind}{number}"), svg: network.svg() })
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

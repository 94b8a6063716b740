//! The answer of a run, in files that other programs read.

use std::io;
use std::path::Path;

use fabnet_core::{Peer, Scalar, Tensor, View};
use fabnet_files::{Files, folder_of};

use crate::alone::Alone;
use crate::folder::Folder;
use crate::job::{Job, JobError};
use crate::plan::Plan;
use crate::setup::Setup;
use crate::summary::Outcome;
use crate::tensor_file::TensorFile;
use crate::verified::failure;

/// What a run leaves of its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solutions {
    /// Nothing.
    None,
    /// The mean over agents.
    #[default]
    Mean,
    /// The mean, and the answer of each agent with its private coordinates.
    All,
}

impl Solutions {
    /// All of them, as users write them; the first one is chosen where nothing is said.
    pub(crate) const NAMES: [(&'static str, Self); 3] =
        [("mean", Self::Mean), ("none", Self::None), ("all", Self::All)];

    /// As users write it.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }
}

/// The files of all runs' answers within their folder, run by run; none if they leave none. Those
/// of different runs have different names, whatever their labels are.
pub(crate) fn paths(plan: &Plan) -> impl Iterator<Item = String> {
    let names = if plan.solutions == Solutions::None { Vec::new() } else { plan.file_names() };
    names.into_iter().flat_map(|name| plan.seeds.iter().map(move |seed| path(&name, *seed)))
}

fn path(name: &str, seed: u64) -> String {
    format!("solutions/{name}-{seed}.safetensors")
}

/// Writes the answer of a run, as far as its plan asks for it. `private` says whether the view has
/// the private coordinates of agents.
pub(crate) fn write<T: Scalar>(
    folder: &Folder,
    job: Job<'_>,
    view: &View<'_, T>,
    outcome: Outcome,
    private: bool,
) -> Result<(), JobError> {
    let Job { run, group, seed, plan } = job;
    if plan.solutions == Solutions::None {
        return Ok(());
    }
    let mut file = TensorFile::new([
        ("format", "pt".to_owned()),
        ("experiment", plan.name.clone()),
        ("run", run.to_string()),
        ("label", group.label.clone()),
        ("seed", seed.to_string()),
        ("round", view.round.to_string()),
        ("algorithm", group.algorithm.kind.clone()),
        ("problem", group.problem.kind.clone()),
        ("outcome", outcome.name().to_owned()),
    ]);
    add_answer(&mut file, view);
    if plan.solutions == Solutions::All {
        add_agents(&mut file, view, private);
    }
    let path = folder.file(&path(&job.file_name(), seed));
    let files = &**folder.files();
    let write = || {
        files.create_folder(folder_of(&path))?;
        files.write_parts(&path, file.parts().map(Ok))
    };
    write().map_err(|error| failure(&path, error))
}

/// Writes the answer of one agent of a real run, its private coordinates included: this file stays
/// with its node.
pub fn write_solution_of<T: Scalar>(
    files: &dyn Files,
    setup: &Setup<T>,
    peer: &Peer<T>,
    path: &Path,
) -> io::Result<()> {
    let alone = Alone(peer);
    let (view, agent) = (alone.view(setup), peer.node() as usize);
    let mut file = TensorFile::new([
        ("format", "pt".to_owned()),
        ("agent", agent.to_string()),
        ("label", setup.group().label.clone()),
        ("seed", setup.seed().to_string()),
        ("round", view.round.to_string()),
        ("algorithm", setup.group().algorithm.kind.clone()),
        ("problem", setup.group().problem.kind.clone()),
    ]);
    add_answer(&mut file, &view);
    add_own(&mut file, &view, agent, "own");
    files.write_parts(path, file.parts().map(Ok))
}

/// Adds x, y and the parameters of a model, averaged over the agents of the view.
fn add_answer<T: Scalar>(file: &mut TensorFile, view: &View<'_, T>) {
    let mean = view.mean();
    let (x, y) = view.algorithm.direction().solution(view.problem.dim(), &mean);
    file.add("x", &[x.len()], x);
    file.add("y", &[y.len()], y);
    let mut rest = y;
    for tensor in view.problem.tensors() {
        let (held, after) = rest.split_at(tensor.scalars());
        file.add(&model_name(&tensor), &tensor.shape, &tensor.rows(held));
        rest = after;
    }
}

fn model_name(tensor: &Tensor) -> String {
    format!("model.{}", tensor.name)
}

/// Adds a row of x and y for each agent, and what is private to each.
fn add_agents<T: Scalar>(file: &mut TensorFile, view: &View<'_, T>, private: bool) {
    let (dim, width) = (view.problem.dim(), view.algorithm.blocks().width());
    let (mut all_x, mut all_y) = (Vec::new(), Vec::new());
    for agent in view.agents.range() {
        let point = view.point(agent);
        let (x, y) = view.algorithm.direction().solution(dim, &point[..width]);
        all_x.extend_from_slice(x);
        all_y.extend_from_slice(y);
    }
    let agents = view.agents.range().len();
    file.add("agents.x", &[agents, dim.outer], &all_x);
    file.add("agents.y", &[agents, dim.inner], &all_y);
    if private {
        view.agents.range().for_each(|agent| add_own(file, view, agent, &format!("agents.own.{agent}")));
    }
}

/// Adds the private coordinates of an agent, if it has any.
fn add_own<T: Scalar>(file: &mut TensorFile, view: &View<'_, T>, agent: usize, name: &str) {
    let point = view.point(agent);
    let own = &point[view.algorithm.blocks().width()..];
    if !own.is_empty() {
        file.add(name, &[own.len()], own);
    }
}

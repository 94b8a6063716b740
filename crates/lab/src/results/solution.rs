//! The solution of a run, in a file that other programs read.

use fabnet_core::{ProblemExt, Scalar, Tensor, View};
use fabnet_files::folder_of;

use super::ending::Outcome;
use super::error::FolderError;
use super::file_name::job_file_name;
use super::folder::Folder;
use super::solution_paths::solution_path;
use super::tensor_file::TensorFile;
use crate::plan::{Group, Job, SavedSolutions};

/// Writes the solution of a run, as far as its plan asks for it. `private` says whether the view
/// has the private coordinates of agents.
pub(crate) fn write_solution<T: Scalar>(
    folder: &Folder,
    job: Job<'_>,
    view: &View<'_, T>,
    outcome: Outcome,
    private: bool,
) -> Result<(), FolderError> {
    let Job { run, group, seed, plan } = job;
    if plan.solutions == SavedSolutions::None {
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
    add_mean(&mut file, view);
    if plan.solutions == SavedSolutions::All {
        add_agents(&mut file, view, private);
    }
    let path = folder.file(&solution_path(&job_file_name(job), seed));
    let files = &**folder.files();
    let write = || {
        files.create_folder(folder_of(&path))?;
        files.write_parts(&path, file.parts().map(Ok))
    };
    write().map_err(|error| FolderError::files(&path, error))
}

/// The solution of one agent of a real run, its private coordinates included.
pub(crate) fn agent_solution<T: Scalar>(view: &View<'_, T>, agent: usize, group: &Group, seed: u64) -> TensorFile {
    let mut file = TensorFile::new([
        ("format", "pt".to_owned()),
        ("agent", agent.to_string()),
        ("label", group.label.clone()),
        ("seed", seed.to_string()),
        ("round", view.round.to_string()),
        ("algorithm", group.algorithm.kind.clone()),
        ("problem", group.problem.kind.clone()),
    ]);
    add_mean(&mut file, view);
    add_private(&mut file, view, agent, "own");
    file
}

/// Adds x, y and the parameters of a model, averaged over the agents of the view.
fn add_mean<T: Scalar>(file: &mut TensorFile, view: &View<'_, T>) {
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

/// Adds a row of x and of y for each agent, and the private coordinates of each agent.
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
        view.agents.range().for_each(|agent| add_private(file, view, agent, &format!("agents.own.{agent}")));
    }
}

/// Adds the private coordinates of an agent, if it has any.
fn add_private<T: Scalar>(file: &mut TensorFile, view: &View<'_, T>, agent: usize, name: &str) {
    let point = view.point(agent);
    let private = &point[view.algorithm.blocks().width()..];
    if !private.is_empty() {
        file.add(name, &[private.len()], private);
    }
}

//! The folder that a command creates for its results.

use std::path::{Path, PathBuf};

use fabnet_lab::{Folder, Plan, timestamp};

use crate::exit_code::UsageError;

/// Chooses a folder for the results of a plan: the path `out`, or else one under `runs/` that is
/// named after the plan and the time. A folder that already holds results is refused.
pub(crate) fn new_folder(plan: &Plan, out: Option<&Path>) -> anyhow::Result<Folder> {
    let named = || first_free(&format!("runs/{}-{}", plan.name, timestamp()));
    let folder = Folder::new(&out.map_or_else(named, Path::to_owned));
    if folder.is_used() {
        let path = folder.path().display();
        let message = format!(
            "{path} holds results already: choose another --out \
             (`fabnet run --resume {path}` goes on with simulated runs)"
        );
        return Err(UsageError(message).into());
    }
    Ok(folder)
}

/// The path, or the first of `path-2`, `path-3`, … that does not exist.
fn first_free(path: &str) -> PathBuf {
    let numbered = (2..).map(|number| format!("{path}-{number}"));
    let mut candidates = std::iter::once(path.to_owned()).chain(numbered).map(PathBuf::from);
    candidates.find(|path| !path.exists()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use fabnet_lab::Experiment;

    use super::*;

    #[test]
    fn the_first_free_path_is_numbered_from_2() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("run");
        let path = path.to_str().unwrap();
        assert_eq!(first_free(path), PathBuf::from(path));
        let take = |name: &str| std::fs::create_dir(home.path().join(name)).unwrap();
        take("run");
        assert_eq!(first_free(path), home.path().join("run-2"));
        take("run-2");
        take("run-4");
        assert_eq!(first_free(path), home.path().join("run-3"));
    }

    #[test]
    fn a_folder_with_results_is_refused_and_an_empty_one_is_taken() {
        let text = "rounds = 10\n[problem]\nkind = \"policy-evaluation\"\n[[algorithm]]\nkind = \"dfab\"\n";
        let plan = Experiment::parse(text, Path::new("test.toml")).unwrap().plan().unwrap();
        let home = tempfile::tempdir().unwrap();
        assert_eq!(new_folder(&plan, Some(home.path())).unwrap().path(), home.path());
        std::fs::write(home.path().join("plan.toml"), "").unwrap();
        let error = new_folder(&plan, Some(home.path())).err().unwrap();
        assert!(error.is::<UsageError>() && error.to_string().contains("holds results already"), "{error}");
    }
}

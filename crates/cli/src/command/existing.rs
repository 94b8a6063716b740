//! Paths that a command reads from: what is said of one that does not exist.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::exit_code::UsageError;

/// The number of folders with results that a message names.
const NAMED: usize = 5;

/// Refuses a path at which there is nothing.
#[cfg(feature = "learning")]
pub(crate) fn require_path(path: &Path) -> Result<(), UsageError> {
    if path.exists() {
        return Ok(());
    }
    Err(UsageError(format!("{}: there is no such file or folder: check the path", path.display())))
}

/// Refuses a path at which there is no folder.
pub(crate) fn require_folder(path: &Path) -> Result<(), UsageError> {
    if path.is_dir() {
        return Ok(());
    }
    let problem = if path.exists() { "it is a file, and a folder is needed" } else { "there is no such folder" };
    Err(UsageError(format!("{}: {problem}", path.display())))
}

/// Refuses a path at which there is no folder, and names folders with results: those beside it, or
/// else those under `runs/`.
pub(crate) fn require_results(path: &Path) -> Result<(), UsageError> {
    require_folder(path).map_err(|UsageError(problem)| {
        let places = [path.parent().unwrap_or(Path::new("")), Path::new("runs")];
        let found = places.into_iter().map(folders_with_results).find(|found| !found.is_empty());
        UsageError(format!("{problem}; {}", found.map_or_else(no_results, |found| name_some(&found))))
    })
}

fn no_results() -> String {
    "`fabnet run` makes folders of results, under runs/ unless --out says otherwise".to_owned()
}

/// Names folders, at most as many as can be taken in at a glance.
fn name_some(folders: &[PathBuf]) -> String {
    let names: Vec<String> = folders.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    let more = folders.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("folders with results: {}{more}", names.join(", "))
}

/// The folders with results in a folder, the newest first. The empty path is the current folder.
fn folders_with_results(folder: &Path) -> Vec<PathBuf> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(here).into_iter().flatten().filter_map(Result::ok);
    let with_time = entries.filter_map(|entry| {
        let path = folder.join(entry.file_name());
        let time: SystemTime = path.join("plan.toml").metadata().ok()?.modified().ok()?;
        Some((time, path))
    });
    let mut found: Vec<(SystemTime, PathBuf)> = with_time.collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn message(path: &Path) -> String {
        require_results(path).unwrap_err().0
    }

    #[test]
    fn the_newest_folders_with_results_are_named() {
        let home = tempfile::tempdir().unwrap();
        let asked = home.path().join("x");
        assert!(message(&asked).contains("x: there is no such folder; `fabnet run` makes"), "{}", message(&asked));
        for name in ["a", "b", "c", "d", "e", "f", "g"] {
            std::fs::create_dir(home.path().join(name)).unwrap();
        }
        for (name, second) in [("a", 30), ("b", 10), ("c", 20)] {
            let plan = std::fs::File::create(home.path().join(name).join("plan.toml")).unwrap();
            plan.set_modified(UNIX_EPOCH + Duration::from_secs(second)).unwrap();
        }
        let path = |name: &str| home.path().join(name).display().to_string();
        let expected = format!("folders with results: {}, {}, {}", path("a"), path("c"), path("b"));
        assert!(message(&asked).ends_with(&expected), "{}", message(&asked));
        for name in ["d", "e", "f", "g"] {
            std::fs::write(home.path().join(name).join("plan.toml"), "").unwrap();
        }
        assert!(message(&asked).ends_with(&format!(", {} and 2 more", path("a"))), "{}", message(&asked));
        require_results(&home.path().join("a")).unwrap();
    }

    #[test]
    fn a_file_is_not_called_missing() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("records.csv");
        std::fs::write(&file, "").unwrap();
        assert!(require_folder(&file).unwrap_err().0.ends_with("it is a file, and a folder is needed"));
    }
}

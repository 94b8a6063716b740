//! The labels of groups as the names of files.

use std::collections::BTreeSet;

use crate::plan::{Job, Plan};

/// The longest name, in bytes: file systems allow 255, and a seed and an extension follow.
const LONGEST: usize = 120;

/// The labels of a plan's groups as names of files, all of them different.
pub(super) fn group_file_names(plan: &Plan) -> Vec<String> {
    file_names(plan.groups.iter().map(|group| group.label.as_str()))
}

/// The label of a run's group as the name of a file.
pub(crate) fn job_file_name(Job { run, plan, .. }: Job<'_>) -> String {
    group_file_names(plan).swap_remove(run / plan.seeds.len())
}

/// A name for each label, all of them different, also on file systems that ignore case.
fn file_names<'l>(labels: impl IntoIterator<Item = &'l str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let unused = |label: &'l str| {
        let name = plain(label);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        candidates.find(|name| taken.insert(name.to_lowercase())).unwrap_or(name)
    };
    labels.into_iter().map(unused).collect()
}

/// The label without characters that have a meaning in paths or to shells.
fn plain(label: &str) -> String {
    let allowed = |letter: char| letter.is_alphanumeric() || "._=-".contains(letter);
    let mut name: String = label.chars().map(|letter| if allowed(letter) { letter } else { '-' }).collect();
    while name.len() > LONGEST {
        name.pop();
    }
    match name.strip_prefix('.') {
        Some(rest) => format!("-{rest}"),
        None if name.is_empty() => "-".to_owned(),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_within_their_folder_and_differ() {
        let long = "é".repeat(300);
        let labels = ["fab", "a/b", "a:b", "A b", "a-b-2", "..", ".", "", "fab", "../../x", "tab\tnul\0", &long, &long];
        let names = file_names(labels);
        let known = ["fab", "a-b", "a-b-2", "A-b-3", "a-b-2-2", "-.", "-", "--2", "fab-2", "-.-..-x", "tab-nul-"];
        assert_eq!(names[..known.len()], known);
        let different: BTreeSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(different.len(), labels.len(), "{names:?}");
        assert!(names.iter().all(|name| name.len() < 130 && !name.starts_with('.')), "{names:?}");
    }
}

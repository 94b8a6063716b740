//! Labels as the names of files.

use std::collections::BTreeSet;

/// The longest name, in bytes: file systems allow 255, and seeds and endings follow.
const LONGEST: usize = 120;

/// A name for each label, all of them different, also where capitals count as small letters.
pub(crate) fn file_names<'l>(labels: impl IntoIterator<Item = &'l str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let unused = |label: &'l str| {
        let name = plain(label);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        candidates.find(|name| taken.insert(name.to_lowercase())).unwrap_or(name)
    };
    labels.into_iter().map(unused).collect()
}

/// The label without what means something in paths or to shells.
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

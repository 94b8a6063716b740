//! The files of an audit log: the newest one, and those before it.

use std::io;
use std::path::{Path, PathBuf};

use fabnet_files::Files;

/// The file that lines are added to.
pub(super) const NEWEST: &str = "audit.jsonl";

/// The files that are kept before the newest one.
pub(super) const KEPT: u32 = 4;

/// The name of the file that was the newest one this many rotations ago.
pub(super) fn name(rotations: u32) -> String {
    if rotations == 0 { NEWEST.to_owned() } else { format!("audit.{rotations}.jsonl") }
}

/// The files of a log in a folder, the oldest first.
pub(super) fn all(files: &dyn Files, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let names = files.list(folder)?;
    let mut found: Vec<u32> = names.iter().filter_map(|name| rotations(name.to_str()?)).collect();
    found.sort_unstable_by(|first, second| second.cmp(first));
    Ok(found.into_iter().map(|rotations| folder.join(name(rotations))).collect())
}

/// How many rotations ago a file of this name was the newest; none for other files.
fn rotations(found: &str) -> Option<u32> {
    if found == NEWEST {
        return Some(0);
    }
    let number = found.strip_prefix("audit.")?.strip_suffix(".jsonl")?.parse().ok()?;
    (name(number) == found).then_some(number)
}

/// The lines of a file without their ends, and the bytes after the last line end: a line that was
/// not written to its end.
pub(super) fn lines(bytes: &[u8]) -> (impl Iterator<Item = &[u8]>, &[u8]) {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let (whole, torn) = bytes.split_at(whole);
    (whole.split_inclusive(|byte| *byte == b'\n').map(|line| &line[..line.len() - 1]), torn)
}

#[cfg(test)]
mod tests {
    use fabnet_files::MemoryFiles;

    use super::*;

    #[test]
    fn files_are_listed_from_the_oldest_on_and_others_are_left_out() {
        let files = MemoryFiles::default();
        for name in [
            "audit.jsonl",
            "audit.2.jsonl",
            "audit.10.jsonl",
            "audit.1.jsonl",
            "audit.x.jsonl",
            "audit.01.jsonl",
            "life",
        ] {
            files.write(Path::new(name), b"").unwrap();
        }
        let names = ["audit.10.jsonl", "audit.2.jsonl", "audit.1.jsonl", "audit.jsonl"];
        assert_eq!(all(&files, Path::new("")).unwrap(), names.map(PathBuf::from));
    }

    #[test]
    fn a_line_without_an_end_is_torn() {
        let split = |bytes| {
            let (whole, torn) = lines(bytes);
            (whole.map(<[u8]>::to_vec).collect::<Vec<_>>(), torn.to_vec())
        };
        assert_eq!(split(b"one\n\ntwo\nthr"), (vec![b"one".to_vec(), vec![], b"two".to_vec()], b"thr".to_vec()));
        assert_eq!(split(b"one\n"), (vec![b"one".to_vec()], vec![]));
        assert_eq!(split(b""), (vec![], vec![]));
    }
}

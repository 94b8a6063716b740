//! Whether an audit log is as it was written.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use fabnet_files::Files;

use super::chain::{ChainEnd, ReadLine};
use super::files;

/// What was found out about an audit log.
#[derive(Clone, Debug, Default)]
pub struct AuditReport {
    /// The number of files.
    pub files: usize,
    /// The number of lines.
    pub lines: u64,
    /// The number of the first line: those before it were rotated away.
    pub first: u64,
    /// The number and the hash of the last line.
    pub last: Option<(u64, String)>,
    /// The places at which the log is not as it was written, with where they are.
    pub faults: Vec<(AuditPlace, AuditFault)>,
    hashes: Vec<String>,
}

/// A line of a file of an audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditPlace {
    /// The file that holds the line.
    pub path: PathBuf,
    /// The line, from 1 on.
    pub line: usize,
}

/// The way in which a line is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuditFault {
    /// The line holds something else than what its hash was made of.
    #[error("this line was altered: it does not have the hash that it gives")]
    Altered,
    /// The line has not the form of one.
    #[error("this is no line of an audit log: it was altered or inserted")]
    Form,
    /// Lines are missing before this one.
    #[error("{} missing before this line, which has the number {found}", numbers(*.first, *.found))]
    Missing {
        /// The number of the first line that is missing.
        first: u64,
        /// The number of this line.
        found: u64,
    },
    /// The line stands in another place than where it was written.
    #[error("this line is out of order: it has the number {found}, and number {expected} belongs here")]
    Order {
        /// The number that belongs here.
        expected: u64,
        /// The number of this line.
        found: u64,
    },
    /// The line does not carry the hash of the line before.
    #[error("this line does not carry the hash of the line before: one of the two was replaced")]
    Broken,
    /// Another chain begins in the middle.
    #[error("another chain begins here: the end of the one before was damaged or removed")]
    Restart,
    /// The last line was not written to its end.
    #[error("the last line is torn: {0} bytes were written before the node was killed, or its disk was full")]
    Torn(usize),
}

/// Numbers of lines, in words.
fn numbers(first: u64, found: u64) -> String {
    match found - first {
        1 => format!("line number {first} is"),
        many => format!("{many} lines from number {first} on are"),
    }
}

/// Reads the audit log of a folder, and finds out whether it is as it was written. A folder without
/// one is an error of the kind `NotFound`.
pub fn verify_audit_log(files: &dyn Files, folder: &Path) -> io::Result<AuditReport> {
    let paths = files::all(files, folder)?;
    if paths.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            "there is no audit log: a node keeps it in its state folder",
        ));
    }
    let mut report = AuditReport { files: paths.len(), ..AuditReport::default() };
    let (mut lines, mut torn) = (Vec::new(), Vec::new());
    for path in paths {
        let bytes = files.read(&path)?;
        let (whole, rest) = files::lines(&bytes);
        let before = lines.len();
        lines.extend(whole.enumerate().map(|(number, line)| {
            let place = AuditPlace { path: path.clone(), line: number + 1 };
            (place, ReadLine::parse(line))
        }));
        if !rest.is_empty() {
            torn.push((AuditPlace { path, line: lines.len() - before + 1 }, AuditFault::Torn(rest.len())));
        }
    }
    report.take(lines);
    report.faults.extend(torn);
    Ok(report)
}

impl AuditReport {
    /// Whether some line has this hash, which somebody has noted elsewhere: then nothing before
    /// that line was exchanged, and it was not cut off.
    pub fn holds(&self, hash: &str) -> bool {
        self.hashes.iter().any(|found| found == hash)
    }

    /// Follows the chain from line to line.
    fn take(&mut self, lines: Vec<(AuditPlace, Option<ReadLine>)>) {
        let numbers: BTreeSet<u64> = lines.iter().filter_map(|(_, line)| Some(line.as_ref()?.fields.number)).collect();
        self.lines = lines.len() as u64;
        // Nothing is rotated away before all files are there.
        let begins_at_0 = self.files <= files::KEPT as usize;
        // The end of the chain so far, and whether the next line must carry its hash.
        let mut end = begins_at_0.then(|| (ChainEnd::start(), true));
        for (place, line) in lines {
            let Some(line) = line else {
                self.faults.push((place, AuditFault::Form));
                end = end.map(|(end, _)| (ChainEnd { number: end.number + 1, ..end }, false));
                continue;
            };
            if self.last.is_none() {
                self.first = line.fields.number;
            }
            let fault = end.as_ref().map_or_else(
                || (!line.is_intact).then_some(AuditFault::Altered),
                |end| fault_of(&line, end, |number| numbers.contains(&number)),
            );
            let next = ChainEnd::after(&line);
            let number = match (&fault, &end) {
                // What stands in the wrong place does not change what belongs after it.
                (Some(AuditFault::Order { .. }), Some((end, _))) => next.number.max(end.number),
                _ => next.number,
            };
            let leads_on = matches!(fault, None | Some(AuditFault::Missing { .. } | AuditFault::Restart));
            end = Some((ChainEnd { number, ..next }, leads_on));
            self.last = Some((line.fields.number, line.hash.clone()));
            self.hashes.push(line.hash);
            self.faults.extend(fault.map(|fault| (place, fault)));
        }
    }
}

/// What is wrong with a line at this place of the chain, if anything is.
fn fault_of(line: &ReadLine, (end, leads_on): &(ChainEnd, bool), is_there: impl Fn(u64) -> bool) -> Option<AuditFault> {
    let (expected, found) = (end.number, line.fields.number);
    match found.cmp(&expected) {
        _ if !line.is_intact => Some(AuditFault::Altered),
        Ordering::Equal => (*leads_on && line.fields.before != end.hash).then_some(AuditFault::Broken),
        Ordering::Less if found == 0 && line.fields.before == ChainEnd::start().hash => Some(AuditFault::Restart),
        Ordering::Greater if !is_there(expected) => Some(AuditFault::Missing { first: expected, found }),
        _ => Some(AuditFault::Order { expected, found }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use fabnet_files::MemoryFiles;

    use super::super::chain::AuditEvent;
    use super::super::log::AuditLog;
    use super::*;

    const FOLDER: &str = "/state";
    const NOW: Duration = Duration::from_secs(1_700_000_000);

    /// The lines of a log of eight events.
    fn lines() -> Vec<String> {
        let files: Arc<dyn Files> = Arc::new(MemoryFiles::default());
        files.create_folder(Path::new(FOLDER)).unwrap();
        let mut log = AuditLog::new(files.clone(), Path::new(FOLDER));
        (0..8).for_each(|number| log.add(NOW, AuditEvent::new("epoch", format!("epoch {number} began"))));
        log.finish(NOW);
        let text = String::from_utf8(files.read(Path::new("/state/audit.jsonl")).unwrap()).unwrap();
        text.split_inclusive('\n').map(str::to_owned).collect()
    }

    /// The faults of a log with these lines: the line of each, and what is wrong there.
    fn faults(lines: &[String]) -> Vec<(usize, AuditFault)> {
        let files = MemoryFiles::default();
        files.create_folder(Path::new(FOLDER)).unwrap();
        files.write(Path::new("/state/audit.jsonl"), lines.concat().as_bytes()).unwrap();
        let report = verify_audit_log(&files, Path::new(FOLDER)).unwrap();
        report.faults.into_iter().map(|(place, fault)| (place.line, fault)).collect()
    }

    #[test]
    fn a_log_as_it_was_written_has_no_fault() {
        assert_eq!(faults(&lines()), []);
        assert_eq!(faults(&lines()[..5]), [], "that the end is missing shows only by a hash that was noted elsewhere");
    }

    #[test]
    fn an_altered_line_is_found_whichever_it_is() {
        for place in 0..8 {
            let mut lines = lines();
            lines[place] = lines[place].replace(&format!("epoch {place}"), "epoch 9");
            assert_eq!(faults(&lines), [(place + 1, AuditFault::Altered)]);
            lines[place] = "nonsense\n".to_owned();
            assert_eq!(faults(&lines), [(place + 1, AuditFault::Form)]);
        }
    }

    #[test]
    fn a_dropped_line_is_found_unless_it_is_the_last() {
        for place in 0..7 {
            let mut lines = lines();
            lines.remove(place);
            let missing = AuditFault::Missing { first: place as u64, found: place as u64 + 1 };
            assert_eq!(faults(&lines), [(place + 1, missing)]);
        }
        let text = AuditFault::Missing { first: 3, found: 7 }.to_string();
        assert!(text.starts_with("4 lines from number 3 on are missing"), "{text}");
    }

    #[test]
    fn swapped_and_repeated_lines_are_found() {
        for (first, second) in (0..8).flat_map(|first| (first + 1..8).map(move |second| (first, second))) {
            let mut lines = lines();
            lines.swap(first, second);
            let found = faults(&lines);
            let order = AuditFault::Order { expected: first as u64, found: second as u64 };
            assert_eq!(found[0], (first + 1, order), "{first} and {second}");
        }
        let mut lines = lines();
        lines.insert(4, lines[2].clone());
        assert_eq!(faults(&lines), [(5, AuditFault::Order { expected: 4, found: 2 })]);
    }

    #[test]
    fn a_line_that_was_replaced_with_a_hash_of_its_own_breaks_the_chain() {
        let mut lines = lines();
        let before = ReadLine::parse(lines[3].trim_end().as_bytes()).unwrap();
        let mut end = ChainEnd { number: before.fields.number, hash: before.fields.before };
        lines[3] = end.add(NOW, &AuditEvent::new("epoch", "something else"));
        assert_eq!(faults(&lines), [(5, AuditFault::Broken)]);
    }

    #[test]
    fn a_torn_last_line_is_named_as_such() {
        let mut lines = lines();
        lines[7].truncate(20);
        assert_eq!(faults(&lines), [(8, AuditFault::Torn(20))]);
    }

    #[test]
    fn a_hash_that_was_noted_elsewhere_shows_that_the_end_is_there() {
        let files = MemoryFiles::default();
        files.create_folder(Path::new(FOLDER)).unwrap();
        let report = |lines: &[String]| {
            files.write(Path::new("/state/audit.jsonl"), lines.concat().as_bytes()).unwrap();
            verify_audit_log(&files, Path::new(FOLDER)).unwrap()
        };
        let whole = report(&lines());
        let (number, hash) = whole.last.clone().unwrap();
        assert!(number == 7 && whole.holds(&hash) && whole.lines == 8);
        assert!(!report(&lines()[..7]).holds(&hash));
    }

    #[test]
    fn a_folder_without_a_log_is_refused() {
        let files = MemoryFiles::default();
        files.create_folder(Path::new(FOLDER)).unwrap();
        let error = verify_audit_log(&files, Path::new(FOLDER)).unwrap_err();
        assert!(error.kind() == io::ErrorKind::NotFound && error.to_string().contains("state folder"), "{error}");
    }
}

//! An audit log that is written.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fabnet_files::Files;

use super::chain::{AuditEvent, ChainEnd, ReadLine};
use super::files::{self, NEWEST};

/// The audit log of a node, in its state folder. Events wait in memory until they are written, and
/// go on waiting while that fails: a disk that is full or broken never ends a run.
#[derive(Debug)]
pub struct AuditLog {
    files: Arc<dyn Files>,
    folder: PathBuf,
    /// The file as this process knows it; none before it was opened, and after a failure.
    open: Option<OpenFile>,
    waiting: VecDeque<(Duration, AuditEvent)>,
    /// Events that found no room while writing failed.
    lost: u64,
    /// Whether the last attempt to write has failed, which is said once.
    is_failing: bool,
    /// The time of the last sync, by a clock that never goes back.
    synced: Duration,
    /// Whether something was written since.
    is_unsynced: bool,
}

/// The newest file: where its chain ends, and how long it is.
#[derive(Debug)]
struct OpenFile {
    end: ChainEnd,
    length: u64,
}

impl AuditLog {
    /// The length in bytes at which a file is full, and another one is begun.
    const FULL: u64 = 4 << 20;
    /// The events that wait at most.
    pub(super) const ROOM: usize = 10_000;
    /// The time between two syncs.
    const SYNC_EVERY: Duration = Duration::from_secs(5);

    /// The log of a folder. Nothing is read or written before `write`.
    pub fn new(files: Arc<dyn Files>, folder: &Path) -> Self {
        Self {
            files,
            folder: folder.to_owned(),
            open: None,
            waiting: VecDeque::new(),
            lost: 0,
            is_failing: false,
            synced: Duration::ZERO,
            is_unsynced: false,
        }
    }

    /// Adds an event that happens at this time since 1970.
    pub fn add(&mut self, unix_time: Duration, event: AuditEvent) {
        if self.waiting.len() < Self::ROOM {
            self.waiting.push_back((unix_time, event));
        } else {
            self.lost += 1;
        }
    }

    /// Writes what waits; syncs it now and then. `now` is the time of a clock that never goes back.
    pub fn write(&mut self, now: Duration) {
        let is_sync_due = now.saturating_sub(self.synced) >= Self::SYNC_EVERY;
        let written = self.try_write().and_then(|()| if is_sync_due { self.sync(now) } else { Ok(()) });
        self.note(written);
    }

    /// Writes and syncs what waits, at the end of a run.
    pub fn finish(&mut self, now: Duration) {
        let written = self.try_write().and_then(|()| self.sync(now));
        self.note(written);
    }

    /// Whether everything that was added is written.
    pub fn is_written(&self) -> bool {
        self.waiting.is_empty() && self.lost == 0
    }

    /// Says that writing has begun to fail, or works again.
    fn note(&mut self, written: io::Result<()>) {
        let folder = self.folder.display();
        match &written {
            Err(error) if !self.is_failing => tracing::warn!(%folder, %error, "the audit log is not written"),
            Ok(()) if self.is_failing => tracing::info!(%folder, "the audit log is written again"),
            _ => {}
        }
        self.is_failing = written.is_err();
    }

    fn try_write(&mut self) -> io::Result<()> {
        if self.is_written() {
            return Ok(());
        }
        // If anything fails from here on, what the file holds is found out before the next attempt.
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.open()?,
        };
        if open.length >= Self::FULL {
            self.rotate()?;
            open.length = 0;
        }
        let mut end = open.end.clone();
        let mut lines: String = self.waiting.iter().map(|(time, event)| end.add(*time, event)).collect();
        if let Some((time, _)) = self.waiting.back().filter(|_| self.lost > 0) {
            let text = format!("{} events were lost while nothing could be written", self.lost);
            lines += &end.add(*time, &AuditEvent::new("lost", text));
        }
        self.files.append_whole(&self.folder.join(NEWEST), open.length, lines.as_bytes())?;
        self.is_unsynced = true;
        self.open = Some(OpenFile { end, length: open.length + lines.len() as u64 });
        self.waiting.clear();
        self.lost = 0;
        Ok(())
    }

    /// Reads where the chain ends. A line that was not written to its end is cut off, which is
    /// noted; after a line that is damaged, another chain begins in another file.
    fn open(&mut self) -> io::Result<OpenFile> {
        let path = self.folder.join(NEWEST);
        let Some(bytes) = self.files.read_if_there(&path)? else {
            return Ok(OpenFile { end: self.end_of_older()?, length: 0 });
        };
        let (lines, torn) = files::lines(&bytes);
        let last = lines.last().map(ReadLine::parse);
        let length = (bytes.len() - torn.len()) as u64;
        if !torn.is_empty() {
            self.files.truncate(&path, length)?;
            let time = self.waiting.front().map_or(Duration::ZERO, |(time, _)| *time);
            let text = format!("a line that was not written to its end was cut off: {} bytes", torn.len());
            self.waiting.push_front((time, AuditEvent::new("cut", text)));
        }
        match last {
            Some(Some(line)) => Ok(OpenFile { end: ChainEnd::after(&line), length }),
            None => Ok(OpenFile { end: self.end_of_older()?, length }),
            Some(None) => {
                tracing::warn!(path = %path.display(), "the audit log is damaged: another chain begins");
                self.rotate()?;
                Ok(OpenFile { end: ChainEnd::start(), length: 0 })
            }
        }
    }

    /// The end of the chain in the files before the newest one.
    fn end_of_older(&self) -> io::Result<ChainEnd> {
        let older = files::all(&*self.files, &self.folder)?;
        let Some(path) = older.iter().rfind(|path| !path.ends_with(NEWEST)) else { return Ok(ChainEnd::start()) };
        let bytes = self.files.read(path)?;
        let last = files::lines(&bytes).0.last().and_then(ReadLine::parse);
        Ok(last.map_or_else(ChainEnd::start, |line| ChainEnd::after(&line)))
    }

    /// Gives each file the name of the one before it; the oldest is replaced.
    fn rotate(&self) -> io::Result<()> {
        for rotations in (0..files::KEPT).rev() {
            let [from, to] = [rotations, rotations + 1].map(|number| self.folder.join(files::name(number)));
            if self.files.exists(&from) {
                self.files.rename(&from, &to)?;
            }
        }
        self.files.sync(&self.folder)
    }

    fn sync(&mut self, now: Duration) -> io::Result<()> {
        if self.is_unsynced {
            self.files.sync(&self.folder.join(NEWEST))?;
            self.files.sync(&self.folder)?;
            self.is_unsynced = false;
        }
        self.synced = now;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use fabnet_files::{FailingFiles, Failure, MemoryFiles};

    use super::super::verify::{AuditFault, AuditReport, verify_audit_log};
    use super::*;

    const FOLDER: &str = "/state";
    const NOW: Duration = Duration::from_secs(1_700_000_000);

    fn folder() -> Arc<MemoryFiles> {
        let files = Arc::new(MemoryFiles::default());
        files.create_folder(Path::new(FOLDER)).unwrap();
        files
    }

    fn event(number: u64) -> AuditEvent {
        AuditEvent::new("refusal", format!("{number} messages"))
    }

    /// Writes this many events, one after the other, as a process that is then gone.
    fn write(files: &Arc<dyn Files>, events: u64) -> AuditLog {
        let mut log = AuditLog::new(files.clone(), Path::new(FOLDER));
        for number in 0..events {
            log.add(NOW, event(number));
            log.write(Duration::from_secs(number));
        }
        log
    }

    fn report(files: &dyn Files) -> AuditReport {
        verify_audit_log(files, Path::new(FOLDER)).unwrap()
    }

    #[test]
    fn the_chain_goes_on_after_a_restart() {
        let files: Arc<dyn Files> = folder();
        assert!(write(&files, 3).is_written());
        write(&files, 2);
        let report = report(&*files);
        assert_eq!((report.lines, report.faults.len(), report.last.unwrap().0), (5, 0, 4));
    }

    #[test]
    fn nothing_is_written_as_long_as_nothing_happens() {
        let counting = Arc::new(FailingFiles::counting(folder()));
        let files: Arc<dyn Files> = counting.clone();
        let mut log = AuditLog::new(files, Path::new(FOLDER));
        (0..100).for_each(|second| log.write(Duration::from_secs(second)));
        assert_eq!(counting.count(), 0);
    }

    #[test]
    fn a_torn_line_is_cut_off_and_that_is_noted() {
        let files: Arc<dyn Files> = folder();
        write(&files, 3);
        files.append(Path::new("/state/audit.jsonl"), b"{\"number\":3,\"bef").unwrap();
        assert_eq!(report(&*files).faults.len(), 1);
        write(&files, 1);
        let report = report(&*files);
        assert_eq!((report.lines, report.faults.len()), (5, 0), "three, the note, and one more");
        let text = String::from_utf8(files.read(Path::new("/state/audit.jsonl")).unwrap()).unwrap();
        assert!(text.contains("was cut off: 16 bytes"), "{text}");
    }

    #[test]
    fn after_a_damaged_end_another_chain_begins_which_shows() {
        let files: Arc<dyn Files> = folder();
        write(&files, 3);
        files.append(Path::new("/state/audit.jsonl"), b"nonsense\n").unwrap();
        write(&files, 2);
        let report = report(&*files);
        let faults: Vec<_> =
            report.faults.iter().map(|(place, fault)| (place.path.to_str().unwrap(), place.line, fault)).collect();
        assert_eq!(
            faults,
            [("/state/audit.1.jsonl", 4, &AuditFault::Form), ("/state/audit.jsonl", 1, &AuditFault::Restart)]
        );
    }

    #[test]
    fn full_files_are_rotated_and_the_chain_goes_on_through_all_of_them() {
        let files: Arc<dyn Files> = folder();
        let long = AuditEvent::new("refusal", "x".repeat(1 << 20));
        let mut log = AuditLog::new(files.clone(), Path::new(FOLDER));
        let mut add = |many: u64| {
            for _ in 0..many {
                log.add(NOW, long.clone());
                log.write(Duration::ZERO);
            }
        };
        add(18);
        let first = report(&*files);
        assert_eq!((first.files, first.first, first.lines, first.faults.len()), (5, 0, 18, 0));
        add(20);
        let later = report(&*files);
        assert_eq!((later.files, later.last.as_ref().unwrap().0, later.faults.len()), (5, 37, 0));
        assert!(later.first >= 16 && later.lines == 38 - later.first, "{} from {}", later.lines, later.first);
        // A file that is taken out of the middle is missed.
        files.remove(Path::new("/state/audit.2.jsonl")).unwrap();
        assert!(!report(&*files).faults.is_empty());
    }

    #[test]
    fn a_kill_between_two_files_leaves_one_chain() {
        let files: Arc<dyn Files> = folder();
        write(&files, 3);
        files.rename(Path::new("/state/audit.jsonl"), Path::new("/state/audit.1.jsonl")).unwrap();
        write(&files, 2);
        let report = report(&*files);
        assert_eq!((report.files, report.lines, report.faults.len()), (2, 5, 0));
    }

    #[test]
    fn a_full_disk_costs_no_line_and_half_of_one_is_never_left() {
        let inner = folder();
        let failing: Arc<dyn Files> = Arc::new(FailingFiles::new(inner.clone(), Failure::Full(20), 4));
        let log = write(&failing, 60);
        assert!(log.is_written());
        let report = report(&*inner);
        assert_eq!((report.lines, report.faults.len()), (60, 0));
    }

    #[test]
    fn events_without_room_are_counted() {
        let inner = folder();
        let failing: Arc<dyn Files> = Arc::new(FailingFiles::new(inner.clone(), Failure::Full(5), 0));
        let mut log = AuditLog::new(failing, Path::new(FOLDER));
        (0..AuditLog::ROOM as u64 + 7).for_each(|number| log.add(NOW, event(number)));
        for second in 0..6 {
            log.write(Duration::from_secs(second));
        }
        assert!(log.is_written());
        let text = String::from_utf8(inner.read(Path::new("/state/audit.jsonl")).unwrap()).unwrap();
        assert!(text.lines().last().unwrap().contains("7 events were lost"));
        assert_eq!(report(&*inner).faults.len(), 0);
    }

    /// A process is killed at each of its operations, with or without a power cut, and another one
    /// goes on: at most a torn line was there in between, and the chain is whole.
    #[test]
    fn a_kill_at_any_point_leaves_a_chain_that_goes_on() {
        let counting = Arc::new(FailingFiles::counting(folder()));
        let files: Arc<dyn Files> = counting.clone();
        write(&files, 12);
        let mut torn = 0;
        for (at, cut) in (0..counting.count()).flat_map(|at| [(at, false), (at, true)]) {
            let inner = folder();
            let killed: Arc<dyn Files> = Arc::new(FailingFiles::new(inner.clone(), Failure::Kill, at));
            write(&killed, 12);
            if cut {
                inner.cut_power();
                // The folder itself was synced when it was made.
                inner.create_folder(Path::new(FOLDER)).unwrap();
            }
            let faults = verify_audit_log(&*inner, Path::new(FOLDER)).map_or_else(|_| Vec::new(), |found| found.faults);
            assert!(faults.iter().all(|(_, fault)| matches!(fault, AuditFault::Torn(_))), "{at}: {faults:?}");
            torn += faults.len();
            let files: Arc<dyn Files> = inner;
            write(&files, 2);
            assert_eq!(report(&*files).faults.len(), 0, "{at}, power cut: {cut}");
        }
        assert!(torn > 0, "no line was torn");
    }
}

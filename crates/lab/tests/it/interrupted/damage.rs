//! Folders that something else has changed in the meantime.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fabnet_files::{Files, MemoryFiles};
use fabnet_lab::{Folder, FolderError, Job, JobError, Progress};

use super::experiment::{HOME, carry_out, carry_out_with, plan};

/// Interrupts the second run in its middle: one run is done, one has a checkpoint, two are left.
#[derive(Default)]
struct Interruption(AtomicUsize);

impl Progress for Interruption {
    fn advanced(&self, _: &Job<'_>, _: u64) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn interrupted(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 8
    }
}

/// A folder with runs that are not done.
fn unfinished() -> Arc<MemoryFiles> {
    let files = Arc::new(MemoryFiles::default());
    carry_out_with(files.clone(), Path::new(""), &Interruption::default()).unwrap();
    for name in ["00000.csv", "00000.json", "00001.csv", "00001.state"] {
        assert!(files.length(&job(name)).is_ok(), "{name}");
    }
    files
}

fn job(name: &str) -> PathBuf {
    Path::new(HOME).join("jobs").join(name)
}

/// Going on must fail, with a message that names the file.
fn assert_refused(files: &Arc<MemoryFiles>, name: &str, case: &str) {
    let error = carry_out(files.clone(), Path::new("")).expect_err(case);
    assert!(matches!(error, JobError::Folder(FolderError::Damaged { .. })), "{case}: {error}");
    let message = error.to_string();
    assert!(message.contains(name) && message.contains("anew"), "{case}: {message}");
}

#[test]
fn a_changed_byte_anywhere_is_an_error() {
    let files = unfinished();
    let mut bytes = 0;
    for name in ["00000.csv", "00000.json", "00001.csv", "00001.state"] {
        let whole = files.read(&job(name)).unwrap();
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1 << (place % 8);
            files.write(&job(name), &damaged).unwrap();
            assert_refused(&files, name, &format!("{name}, byte {place}"));
            bytes += 1;
        }
        files.write(&job(name), &whole).unwrap();
    }
    println!("{bytes} bytes changed");
    // What was refused has changed nothing.
    carry_out(files, Path::new("")).unwrap();
}

#[test]
fn a_file_that_is_cut_off_is_an_error() {
    let files = unfinished();
    for name in ["00000.csv", "00000.json", "00001.csv", "00001.state"] {
        let whole = files.read(&job(name)).unwrap();
        for length in 0..whole.len() {
            files.write(&job(name), &whole[..length]).unwrap();
            assert_refused(&files, name, &format!("{length} bytes of {name}"));
        }
        files.write(&job(name), &whole).unwrap();
    }
    carry_out(files, Path::new("")).unwrap();
}

#[test]
fn missing_rows_are_an_error() {
    for name in ["00000.csv", "00001.csv"] {
        let files = unfinished();
        files.remove(&job(name)).unwrap();
        assert_refused(&files, name, name);
    }
}

#[test]
fn a_finished_experiment_without_its_results_is_an_error() {
    for name in ["records.csv", "summary.json", "solutions/fab-1.safetensors"] {
        let files = Arc::new(MemoryFiles::default());
        carry_out(files.clone(), Path::new("")).unwrap();
        files.remove(&Path::new(HOME).join(name)).unwrap();
        assert_refused(&files, name, name);
    }
}

#[test]
fn another_plan_is_an_error() {
    let files = unfinished();
    let path = Path::new(HOME).join("plan.toml");
    let text = String::from_utf8(files.read(&path).unwrap()).unwrap();
    files.write(&path, text.replace("rounds = 8", "rounds = 6").as_bytes()).unwrap();
    assert_refused(&files, "plan.toml", "rounds changed");
}

#[test]
fn one_process_at_a_time() {
    let files = unfinished();
    let folder = Folder::with_files(Path::new(HOME), files.clone());
    folder.resume().unwrap();
    let error = carry_out(files.clone(), Path::new("")).unwrap_err();
    assert!(matches!(error, JobError::Folder(FolderError::Locked { .. })), "{error}");
    drop(folder);
    carry_out(files, Path::new("")).unwrap();

    let fresh = Arc::new(MemoryFiles::default());
    let first = Folder::with_files(Path::new(HOME), fresh.clone());
    first.begin(&plan()).unwrap();
    let second = Folder::with_files(Path::new(HOME), fresh);
    assert!(matches!(second.begin(&plan()).unwrap_err(), FolderError::Locked { .. }));
    assert!(first.is_used());
}

//! The files of an agent: damaged, of another run, and with failures at every operation.
#![allow(clippy::unwrap_used)]
#![allow(clippy::print_stdout, reason = "what was tried is counted and printed")]
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fabnet_core::peer::{Incarnation, Record};
use fabnet_files::{FailingFiles, Failure, Files, MemoryFiles, SystemFiles};

use super::checkpoint::CheckpointFile;
use super::disk::{Disk, DiskError};
use crate::nonces::SystemNonces;
use crate::run_digest::RunDigest;

/// Times of the wall clock at which processes start, in milliseconds.
const START: u64 = 1_790_000_000_000;

fn run(name: &str) -> RunDigest {
    RunDigest::of([name])
}

fn open(files: &Arc<dyn Files>, folder: &Path) -> Result<Disk, DiskError> {
    Disk::open(files.clone(), folder, &run("today"), 0, 8)
}

fn on_disk(folder: &Path) -> Disk {
    open(&(Arc::new(SystemFiles::PRIVATE) as Arc<dyn Files>), folder).unwrap()
}

fn point(round: u64) -> Vec<u8> {
    [round as f64, 0.5].iter().flat_map(|scalar| scalar.to_le_bytes()).collect()
}

fn checkpoint(round: u64) -> Record {
    Record::Checkpoint { round, point: point(round) }
}

#[test]
fn a_damaged_checkpoint_falls_back_to_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let disk = on_disk(folder.path());
    assert_eq!(disk.checkpoint().unwrap(), None);
    for round in [5, 50, 500] {
        disk.write(&checkpoint(round)).unwrap();
    }
    assert_eq!(disk.checkpoints().unwrap(), [50, 500], "two are kept");
    assert_eq!(disk.checkpoint().unwrap(), Some((500, point(500))));
    let path = folder.path().join(CheckpointFile::name(500));
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(disk.checkpoint().unwrap(), Some((50, point(50))), "cut off after {length} bytes");
    }
    for bit in 0..8 * whole.len() {
        let mut rotten = whole.clone();
        rotten[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &rotten).unwrap();
        let found = disk.checkpoint().unwrap();
        assert!(found == Some((50, point(50))) || found == Some((500, point(500))), "bit {bit}: {found:?}");
    }
}

#[test]
fn no_life_is_used_twice() {
    let folder = tempfile::tempdir().unwrap();
    let disk = on_disk(folder.path());
    let at = |milliseconds: u64| Duration::from_millis(START + milliseconds);
    let first = disk.next_life(at(0), &SystemNonces).unwrap();
    assert_eq!(first.counter, START);
    disk.write(&Record::Incarnation(first)).unwrap();
    let second = disk.next_life(at(0), &SystemNonces).unwrap();
    assert_eq!(second.counter, first.counter + 1);
    assert_ne!(second.nonce, first.nonce);
    let path = folder.path().join("life");
    let whole = fs::read(&path).unwrap();
    let fresh_life = |what: &str| {
        // No process starts twice in a millisecond.
        assert!(on_disk(folder.path()).next_life(at(1), &SystemNonces).unwrap().counter > first.counter, "{what}");
    };
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        fresh_life("one that is cut off counts as lost");
    }
    for byte in 0..whole.len() {
        let mut rotten = whole.clone();
        rotten[byte] ^= 4;
        fs::write(&path, &rotten).unwrap();
        fresh_life("one that is damaged counts as lost");
    }
    fs::remove_file(&path).unwrap();
    fresh_life("a lost disk starts from the clock");
}

#[test]
fn lives_end_without_beginning_again() {
    let folder = tempfile::tempdir().unwrap();
    for counter in [u64::MAX, u64::MAX - 1, Disk::LAST_LIFE] {
        let disk = on_disk(folder.path());
        disk.write(&Record::Incarnation(Incarnation { counter, nonce: 0 })).unwrap();
        assert!(matches!(disk.next_life(Duration::ZERO, &SystemNonces), Err(DiskError::Lives { .. })), "{counter}");
    }
}

#[test]
fn a_folder_of_another_run_is_refused_whichever_file_is_of_it() {
    let files: Arc<dyn Files> = Arc::new(MemoryFiles::default());
    let records = [
        ("life", Record::Incarnation(Incarnation { counter: 7, nonce: 1 })),
        ("state", Record::State(vec![1; 100])),
        ("checkpoint", checkpoint(5)),
    ];
    for (name, record) in &records {
        let folder = PathBuf::from("/").join(name);
        let yesterday = Disk::open(files.clone(), &folder, &run("yesterday"), 0, 8).unwrap();
        yesterday.write(record).unwrap();
        let refused = open(&files, &folder).unwrap_err().to_string();
        assert!(refused.contains("belongs to run") && refused.contains("of its own"), "{name}: {refused}");
        let other_agent = Disk::open(files.clone(), &folder, &run("yesterday"), 1, 8).unwrap_err();
        assert!(matches!(other_agent, DiskError::OtherRun { .. }), "{name}: {other_agent}");
    }
}

#[test]
fn a_folder_of_an_earlier_version_is_refused() {
    let files: Arc<dyn Files> = Arc::new(MemoryFiles::default());
    let folder = Path::new("/old");
    files.create_folder(folder).unwrap();
    files.write(&folder.join("life"), b"1790000000000 00c0ffee00c0ffee\n").unwrap();
    assert!(matches!(open(&files, folder), Err(DiskError::Unmarked(_))));
    files.remove(&folder.join("life")).unwrap();

    let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F64, vec![2], &[0; 16]).unwrap();
    let mut hash = <sha2::Sha256 as sha2::Digest>::new();
    sha2::Digest::update(&mut hash, [5_u64.to_le_bytes().as_slice(), &[0; 16]].concat());
    let checksum = crate::hex::Hex(&sha2::Digest::finalize(hash)).to_string();
    let notes = [("round".to_owned(), "5".to_owned()), ("sha256".to_owned(), checksum)];
    let bytes = safetensors::serialize([("point", view)], Some(notes.into())).unwrap();
    files.write(&folder.join("checkpoint-5.safetensors"), &bytes).unwrap();
    assert!(matches!(open(&files, folder), Err(DiskError::Unmarked(_))));
}

/// Lives, states and checkpoints, with a kill or a full disk at every operation: afterwards there
/// is what was last written, or what was before, and no life that was said to be safe comes again.
#[test]
fn whatever_fails_at_whatever_operation_the_old_or_the_new_is_there() {
    let folder = Path::new("/state/0");
    let work = |files: &Arc<dyn Files>| -> (u64, u64, u64) {
        let (mut life, mut round, mut state) = (0, 0, 0);
        let Ok(disk) = open(files, folder) else { return (0, 0, 0) };
        for number in 1..=4 {
            if disk.write(&Record::Incarnation(Incarnation { counter: number, nonce: 0 })).is_ok() {
                life = number;
            }
            if disk.write(&checkpoint(number)).is_ok() {
                round = number;
            }
            if disk.write(&Record::State(vec![number as u8; 50])).is_ok() {
                state = number;
            }
        }
        (life, round, state)
    };
    let counting = Arc::new(FailingFiles::counting(Arc::new(MemoryFiles::default())));
    work(&(counting.clone() as Arc<dyn Files>));
    let operations = counting.count();
    for failure in [Failure::Kill, Failure::Full(1), Failure::Full(7)] {
        for at in 0..operations {
            let inner: Arc<dyn Files> = Arc::new(MemoryFiles::default());
            let failing: Arc<dyn Files> = Arc::new(FailingFiles::new(inner.clone(), failure, at));
            let (life, round, state) = work(&failing);
            let disk = open(&inner, folder).unwrap();
            assert!(
                disk.next_life(Duration::from_millis(START), &SystemNonces).unwrap().counter > life,
                "{failure:?} at {at}"
            );
            let found = disk.checkpoint().unwrap();
            assert!(found.as_ref().map_or(0, |(round, _)| *round) >= round, "{failure:?} at {at}");
            assert!(found.is_none_or(|(round, found)| found == point(round)), "{failure:?} at {at}");
            let found = disk.state().unwrap().map_or(0, |state| u64::from(state[0]));
            assert!(found >= state, "{failure:?} at {at}");
        }
    }
    println!("{} points of failure", 3 * operations);
}

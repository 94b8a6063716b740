//! Files of frames, cut off and damaged at every place.
#![allow(clippy::unwrap_used)]
#![allow(clippy::print_stdout, reason = "what was tried is counted and printed")]

use std::path::Path;
use std::sync::Arc;

use fabnet_files::{FailingFiles, Failure, Files, Frames, FramesError, Interruption, Label, MemoryFiles, read_frames};

const PATH: &str = "/state/track";

fn memory() -> MemoryFiles {
    let files = MemoryFiles::default();
    files.create_folder(Path::new("/state")).unwrap();
    files
}

fn label() -> Label {
    Label::new("track 1", "0123", 4).with("width", 3)
}

fn record(number: u8) -> Vec<u8> {
    (0..20 + number).map(|byte| byte.wrapping_mul(number)).collect()
}

fn records(files: &Arc<dyn Files>) -> Vec<Vec<u8>> {
    let read = read_frames(&**files, Path::new(PATH)).unwrap();
    read.map(|read| read.records().map(<[u8]>::to_vec).collect()).unwrap_or_default()
}

/// A file with these records.
fn written(count: u8) -> Vec<u8> {
    let files: Arc<dyn Files> = Arc::new(memory());
    let (mut frames, _) = Frames::open(files.clone(), Path::new(PATH), label()).unwrap();
    (0..count).for_each(|number| frames.append(&record(number)).unwrap());
    files.read(Path::new(PATH)).unwrap()
}

fn holding(bytes: &[u8]) -> Arc<dyn Files> {
    let files = memory();
    files.write(Path::new(PATH), bytes).unwrap();
    Arc::new(files)
}

#[test]
fn a_file_that_is_cut_off_anywhere_keeps_its_whole_records_and_goes_on() {
    let whole = written(3);
    let kept: Vec<usize> = (0..=whole.len())
        .map(|length| {
            let files = holding(&whole[..length]);
            let before = records(&files);
            let (mut frames, _) = Frames::open(files.clone(), Path::new(PATH), label()).unwrap();
            frames.append(&record(9)).unwrap();
            let after = records(&files);
            assert_eq!(after[..after.len() - 1], before, "cut off after {length} bytes");
            assert_eq!(after.last(), Some(&record(9)));
            assert!(before.iter().enumerate().all(|(number, found)| *found == record(number as u8)));
            before.len()
        })
        .collect();
    assert!(kept.is_sorted() && kept[0] == 0 && kept[whole.len()] == 3);
}

#[test]
fn a_flipped_bit_is_never_read_as_a_record() {
    let whole = written(3);
    for bit in 0..8 * whole.len() {
        let mut rotten = whole.clone();
        rotten[bit / 8] ^= 1 << (bit % 8);
        let files = holding(&rotten);
        match read_frames(&*files, Path::new(PATH)) {
            Err(FramesError::Unlabelled(_)) => {}
            Ok(Some(read)) => {
                let intact = read.records().enumerate().all(|(number, found)| found == record(number as u8));
                assert!(intact && read.records().len() < 3, "bit {bit}");
                assert!(matches!(read.interruption, Some(Interruption::Damaged { .. })), "bit {bit}");
            }
            other => panic!("bit {bit}: {other:?}"),
        }
        assert!(Frames::open(files, Path::new(PATH), label()).is_err(), "bit {bit} is reported");
    }
}

#[test]
fn zeros_at_the_end_are_cut_off() {
    let mut bytes = written(2);
    bytes.extend([0; 100]);
    let files = holding(&bytes);
    let (_, cut) = Frames::open(files.clone(), Path::new(PATH), label()).unwrap();
    assert_eq!((cut, records(&files).len()), (100, 2));
}

#[test]
fn a_file_of_another_run_is_refused() {
    let files = holding(&written(2));
    let other = Label::new("track 1", "4567", 4).with("width", 3);
    let refused = Frames::open(files.clone(), Path::new(PATH), other);
    assert!(matches!(refused, Err(FramesError::Label { .. })), "{refused:?}");
    assert_eq!(files.read(Path::new(PATH)).unwrap(), written(2), "and left as it is");
}

/// A kill, or a full disk, at every operation: what was written before is there, and nothing else.
#[test]
fn whatever_fails_at_whatever_operation_no_record_is_torn_or_lost() {
    let failures = [Failure::Kill, Failure::Full(1), Failure::Full(2), Failure::Full(5)];
    let mut points = 0;
    for (failure, at) in failures.into_iter().flat_map(|failure| (0..12).map(move |at| (failure, at))) {
        let inner: Arc<dyn Files> = Arc::new(memory());
        let failing: Arc<dyn Files> = Arc::new(FailingFiles::new(inner.clone(), failure, at));
        let (mut frames, _) = Frames::open(failing, Path::new(PATH), label()).unwrap();
        let safe: Vec<Vec<u8>> = (0..12).map(record).filter(|record| frames.append(record).is_ok()).collect();
        let (mut again, _) = Frames::open(inner.clone(), Path::new(PATH), label()).unwrap();
        again.append(&record(100)).unwrap();
        let found = records(&inner);
        assert_eq!(found[..found.len() - 1], safe, "{failure:?} at {at}");
        let enough = if failure == Failure::Kill { safe.len() as u64 == at } else { safe.len() >= 12 - 5 };
        assert!(enough, "{failure:?} at {at}: {} were written", safe.len());
        points += 1;
    }
    println!("{points} points of failure");
}

//! The track of an agent is read as far as it is whole, whatever is in the file, and a node goes on
//! with it or says why not.
#![no_main]

use std::path::Path;

use fabnet_files::{Label, read_frames};
use fabnet_fuzz::{repair_frames, with_file};
use fabnet_lab::{ReadTrack, Track};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    look(bytes);
    look(&repair_frames(bytes));
});

fn look(bytes: &[u8]) {
    let path = Path::new("/state/0/track");
    let files = with_file(path, bytes);
    if let Ok(Some(track)) = ReadTrack::<f64>::read(&*files, path) {
        let scalars: usize = track.points.iter().map(|point| point.point.len()).sum();
        assert!(8 * scalars <= bytes.len(), "no more points than bytes");
    }
    let _ = ReadTrack::<f32>::read(&*files, path);
    let label = read_frames(&*files, path).ok().flatten().and_then(|read| read.label);
    let label = label.unwrap_or_else(|| Label::new("track 2", "run", 0));
    // What cannot be written whole is cut off, and then nothing is torn.
    if Track::open(files.clone(), path, label).is_ok() {
        let read = read_frames(&*files, path).expect("it was opened");
        assert!(read.is_none_or(|read| read.interruption.is_none()));
    }
}

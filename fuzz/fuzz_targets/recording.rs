//! A recording of a run is read, followed and exported, or refused.
#![no_main]

use std::path::Path;

use fabnet_fuzz::{repair_frames, with_file};
use fabnet_watch::{Follower, export, read_recording};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    look(bytes);
    look(&repair_frames(bytes));
});

fn look(bytes: &[u8]) {
    let path = Path::new("/run/watch");
    let files = with_file(path, bytes);
    if let Ok(run) = read_recording(&*files, path) {
        export(&run, 4096).expect("what was read has a form in JSON");
    }
    let mut follower = Follower::new(path);
    if follower.read(&*files).is_ok() {
        assert!(follower.read(&*files).is_ok_and(|more| more.is_empty()), "nothing is read twice");
    }
}

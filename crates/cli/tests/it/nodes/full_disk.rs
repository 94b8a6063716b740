//! A state disk that is full for a while. Needs the right to mount a small file system.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::run::{Nodes, send};
use fabnet_files::{SystemFiles, read_frames};
use rustix::process::Signal;

/// A file system of 256 KiB at a folder.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// None, with a reason on the standard output, where mounting is not allowed.
    fn mount(at: &Path) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs"]).arg(at).output();
        match mount {
            Ok(output) if output.status.success() => Some(Self(at.to_owned())),
            Ok(output) => {
                println!("skipped: mounting is not allowed here: {}", String::from_utf8_lossy(&output.stderr));
                None
            }
            Err(error) => {
                println!("skipped: there is no `mount` here: {error}");
                None
            }
        }
    }

    /// Writes until nothing more fits.
    fn fill(&self) {
        let mut file = File::create(self.0.join("filler")).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
    }

    fn empty(&self) {
        fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_disk_that_is_full_for_some_seconds_costs_nothing() {
    let nodes = Nodes::new(3, 2200, "");
    let Some(disk) = SmallDisk::mount(&nodes.state(2)) else { return };
    let mut running = nodes.start_all();
    nodes.wait(2, |status| status.agents[0].round > 200);
    disk.fill();
    let full = nodes.wait(2, |_| true).agents[0].round;
    std::thread::sleep(Duration::from_secs(3));
    let empty = nodes.wait(2, |_| true).agents[0].round;
    disk.empty();
    nodes.all_end_well(&mut running);
    assert!(nodes.log("n2").contains("kept until there is space"), "the disk was not full\n{}", nodes.log("n2"));
    nodes.assert_right();
    // The rounds of the time when nothing could be written are there, as far as it did them.
    let track = read_frames(&SystemFiles::PRIVATE, &nodes.state(2).join("2/track")).unwrap().unwrap();
    let rounds = track.records().map(|record| u64::from_le_bytes(*record.first_chunk().unwrap()));
    let recorded = rounds.filter(|round| (full..empty).contains(round)).count() as u64;
    println!("full from round {full} to {empty}: {recorded} records of that time");
    assert!(empty > full + 50 && recorded >= (empty - full) / 20, "{recorded} records from {full} to {empty}");
}

#[test]
fn a_node_that_is_told_to_stop_on_a_full_disk_says_farewell_and_what_is_missing() {
    let nodes = Nodes::new(3, 100_000, "");
    let Some(disk) = SmallDisk::mount(&nodes.state(2)) else { return };
    let mut running = nodes.start_all();
    nodes.wait(2, |status| status.agents[0].round > 100);
    nodes.wait(0, |status| status.agents[0].members == 3);
    disk.fill();
    std::thread::sleep(Duration::from_millis(500));
    send(&running[2], Signal::TERM);
    assert_eq!(nodes.end(&mut running[2]), 1);
    assert!(nodes.log("n2").contains("space"), "{}", nodes.log("n2"));
    // Silence alone would take the others six seconds to believe.
    let told = std::time::Instant::now();
    nodes.wait(0, |status| status.agents[0].members == 2);
    assert!(told.elapsed() < Duration::from_secs(2), "{:?}", told.elapsed());
}

//! Interruptions at every operation; a short check takes every fourth one only, beginning with
//! another one for each kind, and `FABNET_POINTS=all` takes all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fabnet_files::{FailingFiles, Failure, Files, MemoryFiles, SystemFiles};
use rayon::prelude::*;

use super::experiment::{HOME, carry_out, results};

/// The results of an undisturbed experiment, and how many operations it takes.
fn undisturbed() -> (BTreeMap<PathBuf, Vec<u8>>, u64) {
    let memory = Arc::new(MemoryFiles::default());
    let counting = Arc::new(FailingFiles::counting(memory.clone()));
    carry_out(counting.clone(), Path::new("")).unwrap();
    let results = results(&*memory, Path::new(""));
    let rows = String::from_utf8(results[Path::new("results/records.csv")].clone()).unwrap();
    assert_eq!(rows.lines().count(), 1 + 2 * 2 * 5, "two methods, two seeds, rounds 0 to 8 by 2");
    let figures = results.keys().filter(|path| path.starts_with("results/figures")).count();
    assert_eq!(figures, 8, "three charts and a network, as SVG and PNG");
    assert_eq!(results.keys().filter(|path| path.starts_with("results/solutions")).count(), 4);
    (results, counting.count())
}

/// Compares file by file, to name the first that differs.
fn assert_same(expected: &BTreeMap<PathBuf, Vec<u8>>, found: &BTreeMap<PathBuf, Vec<u8>>, case: &str) {
    assert!(expected.keys().eq(found.keys()), "{case}: {:?} instead of {:?}", found.keys(), expected.keys());
    for (path, contents) in expected {
        assert!(contents == &found[path], "{case}: {} differs", path.display());
    }
}

/// Tries the points in parallel, and says how many there were.
fn at_every_point(name: &str, operations: u64, attempt: impl Fn(u64) + Sync) {
    let all = std::env::var("FABNET_POINTS").is_ok_and(|points| points == "all");
    let (first, stride) = if all { (0, 1) } else { (name.len() as u64 % 4, 4) };
    let tried = AtomicUsize::new(0);
    (0..operations.saturating_sub(first).div_ceil(stride)).into_par_iter().for_each(|place| {
        attempt(first + place * stride);
        tried.fetch_add(1, Ordering::Relaxed);
    });
    println!("{name}: {} of {operations} points of interruption", tried.into_inner());
}

#[test]
fn a_kill_at_any_operation_changes_no_result() {
    let (expected, operations) = undisturbed();
    at_every_point("kills", operations, |at| {
        // In memory, where the system has it: syncs are counted, not waited for.
        let home = tempfile::tempdir_in(fabnet_files::test_support::memory_folder()).unwrap();
        let system: Arc<dyn Files> = Arc::new(SystemFiles::SHARED);
        let failing = Arc::new(FailingFiles::new(system.clone(), Failure::Kill, at));
        carry_out(failing, home.path()).expect_err("the kill is within the run");
        carry_out(system.clone(), home.path()).unwrap_or_else(|error| panic!("killed at {at}: {error}"));
        assert_same(&expected, &results(&*system, home.path()), &format!("killed at {at}"));
    });
}

#[test]
fn a_power_cut_at_any_operation_and_another_one_afterwards_change_no_result() {
    let (expected, operations) = undisturbed();
    at_every_point("power cuts", operations, |at| {
        let memory = Arc::new(MemoryFiles::default());
        // The second cut is anywhere in what is left to do, which is at most everything.
        for at in [at, at * 7919 % operations] {
            let failing = Arc::new(FailingFiles::new(memory.clone(), Failure::Kill, at));
            let _ = carry_out(failing, Path::new(""));
            memory.cut_power();
        }
        carry_out(memory.clone(), Path::new("")).unwrap_or_else(|error| panic!("cut at {at}: {error}"));
        memory.cut_power();
        // What was removed last may be there again; resuming removes it, and does nothing else.
        carry_out(memory.clone(), Path::new("")).unwrap_or_else(|error| panic!("done, cut at {at}: {error}"));
        assert_same(&expected, &results(&*memory, Path::new("")), &format!("cut at {at}"));
    });
}

#[test]
fn a_disk_that_is_full_at_any_operation_changes_no_result() {
    let (expected, operations) = undisturbed();
    at_every_point("full disks", operations, |at| {
        let memory = Arc::new(MemoryFiles::default());
        let failing = Arc::new(FailingFiles::new(memory.clone(), Failure::Full(1 + at % 3), at));
        if let Err(error) = carry_out(failing, Path::new("")) {
            let (resumable, message) = (memory.length(&Path::new(HOME).join("plan.toml")).is_ok(), error.to_string());
            assert_eq!(message.contains("--resume"), resumable, "full at {at}: {message}");
        }
        carry_out(memory.clone(), Path::new("")).unwrap_or_else(|error| panic!("full at {at}: {error}"));
        assert_same(&expected, &results(&*memory, Path::new("")), &format!("full at {at}"));
    });
}

//! Memory after many passes: burn keeps what a differentiating device has done until the backward
//! pass, so passes without one must run on a plain device.

#[path = "it/common/mod.rs"]
mod common;

use common::{Case, WIDTHS, in_burn};
use fabnet_problems::learning::Model;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

#[test]
fn passes_leave_nothing_behind() {
    let _profiler = dhat::Profiler::builder().testing().build();
    let (model, case) = (in_burn(&WIDTHS), Case::new(&WIDTHS, 4, 0));
    // Apart from each other, because a backward pass sweeps up what others left.
    assert_steady("losses", || drop(case.losses(&model)));
    assert_steady("classes", || model.classify(&case.y, &case.inputs, &mut [0; 4]));
    assert_steady("gradients", || drop(case.gradient(&model)));
}

/// What is in use does not grow from the first 200 passes to the next.
fn assert_steady(what: &str, pass: impl Fn()) {
    let used = || {
        (0..200).for_each(|_| pass());
        dhat::HeapStats::get().curr_bytes
    };
    let (before, after) = (used(), used());
    // A recorded pass is some kilobytes; a table that grows is less than that for 200 passes.
    assert!(after < before + 16_384, "{what}: {before} bytes, then {after}");
}

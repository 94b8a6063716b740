//! Memory after many passes: burn keeps what a differentiating device has done until the backward pass, so passes without one must run on a plain device.

mod common;

use common::{Case, WIDTHS, in_burn};
use fabnet_problems::learning::Model;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

#[test]
fn passes_leave_nothing_behind() {
    let _profiler = dhat::Profiler::builder().testing().build();
    let (model, case) = (in_burn(&WIDTHS), Case::new(&WIDTHS, 4, 0));
    let mut classes = vec![0; 4];
    let mut passes = || {
        for _ in 0..200 {
            case.losses(&model);
            model.classify(&case.y, &case.inputs, &mut classes);
            case.gradient(&model);
        }
        dhat::HeapStats::get().curr_bytes
    };
    let (before, after) = (passes(), passes());
    // A recorded pass is some kilobytes; tables that grow by doubling are less than that in 200 passes.
    assert!(after < before + 16_384, "{before} bytes, then {after}");
}

//! An experiment file becomes a plan that is written as a file of the same plan, or is refused.
#![no_main]

use std::path::Path;

use fabnet_lab::{Experiment, Plan};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some(plan) = plan(text) {
        let written = plan.to_toml();
        assert_eq!(self::plan(&written), Some(plan), "{written}");
    }
});

fn plan(text: &str) -> Option<Plan> {
    Experiment::parse(text, Path::new("experiment.toml")).ok()?.plan().ok()
}

//! The benchmark: methods on problems, networks and conditions, by one design, tuned alike, with
//! results as files that others can add to.

mod cell;
mod design;
mod design_file;
mod error;
mod machine;
mod measure;
mod page;
mod results;
mod runner;
mod shown;
mod statement;
mod tables;
mod verdict;

pub use cell::BenchCell;
pub use design::Design;
pub use error::BenchError;
pub use machine::Machine;
pub use page::BenchmarkPage;
pub use results::{BenchResults, CellResult, CostAtTarget, TestRun};
pub use runner::{BenchOptions, BenchProgress, run_benchmark};

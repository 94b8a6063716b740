//! The yardstick of automatic step sizes: what they need in comparison with the best fixed setting,
//! problem by problem and network by network.

mod cell;
mod judge;
mod reference;
mod setting;

pub use cell::{Cell, all_cells, sampled_cells};
pub use judge::{Outcome, run};
pub use reference::{Automatic, Reference};
pub use setting::Setting;

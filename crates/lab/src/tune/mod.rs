//! Tuning of step sizes and penalties: the two tiers of the paper's App. C.1, with early stopping
//! of losers and a budget, and a comparison on seeds that were not tuned on.

mod candidate;
mod comparison;
mod error;
mod objective;
mod search;

pub use error::TuneError;
pub use objective::{Objective, Score};
pub(crate) use search::best_setting;
pub use search::{Tuned, TunedGroup, tune};

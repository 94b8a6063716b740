//! The ledger: mass as whole numbers, booked edge by edge.

mod book;
mod starvation;
mod units;

pub use book::{Ledger, Overflow, Reversal};
pub(crate) use starvation::Starvation;
pub(crate) use units::round_down;
pub use units::{Fraction, Unit};

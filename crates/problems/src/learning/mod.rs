//! Learning from data that agents hold and do not share: a model and its regularisation, or a model
//! and which samples to trust.

pub mod data;
mod hyper_cleaning;
mod hyper_tuning;
mod mlp;
mod model;
mod product;
mod registry;
mod suspects;
mod threshold;
mod training;
mod training_spec;

pub use hyper_cleaning::HyperCleaning;
pub use hyper_tuning::{HyperTuning, Per, Ridge};
pub use mlp::Mlp;
pub use model::{Batch, Losses, Model, largest};
pub(crate) use registry::{kinds, small};
pub use training::Training;
pub use training_spec::TrainingSpec;

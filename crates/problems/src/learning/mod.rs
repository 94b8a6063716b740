//! Learning from data that agents hold and do not share: a model and its regularisation, or a model and which samples to trust.

mod mlp;
mod model;
mod product;

pub use mlp::Mlp;
pub use model::{Batch, Losses, Model};

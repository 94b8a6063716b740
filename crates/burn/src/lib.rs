//! Models for fabnet that are written with [burn](https://burn.dev): any module as a flat function,
//! BERT, tokens of texts.
//!
//! Bring a model by implementing [`Classifier`] for a burn module; [`Adapter`] makes it a
//! [`Model`](fabnet_problems::learning::Model).
//!
//! A pass runs on the thread that asks for it. burn's CPU back end would spread products and sums
//! over rayon's pool, but only with its feature `rayon`, which this crate leaves off: agents are
//! what runs in parallel. A program that turns it on (by depending on burn with default features)
//! gets slower and, because sums are then split, other bits. Products use the widest vector units
//! that the processor has, so bits are equal from run to run, not from one processor to another.
//!
//! There are no features for other devices: a program that depends on burn with `wgpu` or `cuda`
//! itself hands such a device to [`Adapter::on`].
#![warn(clippy::unwrap_used)]

mod adapter;
pub mod bert;
mod classifier;
mod feature_cache;
mod parameters;
mod text_cleaning;

pub use adapter::{Adapter, NotAModel};
pub use classifier::Classifier;
pub use parameters::Parameter;
pub use text_cleaning::kinds;

//! How much of a vector agents send, and how far they follow what they get.

use super::Compressor;
use crate::settings::SettingsReader;

/// What is compressed, and how far agents follow it.
#[derive(Clone, Copy, Debug)]
pub struct Compression {
    /// What is left of a vector.
    pub compressor: Compressor,
    /// The step γ of mixing, in (0, 1].
    pub mixing_step: f64,
}

impl Compression {
    /// Reads the compressor and the step.
    pub(super) fn read(keys: &mut SettingsReader<'_>) -> Self {
        let about = "γ: how far agents go towards the average of their neighbours' references";
        Self { mixing_step: keys.number("mixing_step", 0.2, 0.0..=1.0, about), compressor: Compressor::read(keys) }
    }
}

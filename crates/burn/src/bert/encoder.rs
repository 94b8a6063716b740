//! A loaded BERT, for features that stay as they are.

use std::path::Path;

use burn::tensor::{Device, Tensor, TensorData};
use rayon::prelude::*;

use super::config::{Config, LoadError};
use super::network::Bert;
use super::weights;
use crate::parameters::{filled, parameters, with_values};

/// Rows that go through the layers together; each such batch is as long as its longest row.
const ROWS: usize = 16;

/// A loaded BERT.
#[derive(Clone, Debug)]
pub struct Encoder {
    pub(super) config: Config,
    pub(super) weights: Vec<f32>,
}

impl Encoder {
    /// From a folder with `config.json` and `model.safetensors`.
    pub fn load(folder: &Path) -> Result<Self, LoadError> {
        let config = Config::load(folder)?;
        // Before anything of the announced size is allocated.
        weights::check_size(folder, &config)?;
        let weights = weights::load(folder, &parameters(&Bert::new(&config, &Device::flex())))?;
        Ok(Self { config, weights })
    }

    /// How many features a row gets.
    pub fn width(&self) -> usize {
        self.config.hidden_size
    }

    /// The features of rows of `length` [tokens](super::Tokens), row by row: the mean over a row's
    /// tokens of their last hidden states, without normalisation. Batches are spread over rayon's
    /// threads; the bits do not depend on how many there are.
    pub fn features(&self, rows: &[f32], length: usize) -> Vec<f32> {
        let network = self.network();
        let batches: Vec<Vec<f32>> = rows
            .par_chunks(ROWS * length)
            .map(|rows| with_values(network.pooled(tensor(rows, length)), <[f32]>::to_vec))
            .collect();
        batches.concat()
    }

    /// The last hidden states of the tokens of one row, one after the other.
    pub fn states(&self, row: &[f32]) -> Vec<f32> {
        with_values(self.network().states(tensor(row, row.len())), <[f32]>::to_vec)
    }

    fn network(&self) -> Bert {
        let device = Device::flex();
        filled(&Bert::new(&self.config, &device), &self.weights, &device)
    }
}

fn tensor(rows: &[f32], length: usize) -> Tensor<2> {
    Tensor::from_data(TensorData::new(rows.to_vec(), [rows.len() / length, length]), &Device::flex())
}

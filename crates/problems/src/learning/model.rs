//! What is trained: parameters in, losses and a gradient out, all of them flat.

use fabnet_core::{Scalar, Scratch, Tensor};

/// A model with its loss. Parameters are one flat vector, a sample is a row of scalars: pixels,
/// features, or the numbers of tokens.
///
/// All methods are pure functions, and several threads call them at once.
pub trait Model<T: Scalar>: Send + Sync {
    /// The number of its parameters.
    fn parameters(&self) -> usize;

    /// The tensors that the parameters consist of, in order, under the names that PyTorch gives
    /// them; none if they have no names.
    fn tensors(&self) -> Vec<Tensor> {
        Vec::new()
    }

    /// Writes where training starts, the same for every agent; it arrives as zeros.
    fn start(&self, seed: u64, y: &mut [T]);

    /// Writes the loss of each sample of a batch, and adds the gradient of `Σ weightₛ·lossₛ` to the
    /// slope. An empty slope is not wanted and need not be computed.
    fn losses(&self, y: &[T], batch: Batch<'_, T>, weights: &[T], to: Losses<'_, T>, scratch: &mut Scratch<T>);

    /// Writes the class that it would give to each sample.
    fn classify(&self, y: &[T], inputs: &[T], classes: &mut [u32]);
}

/// Samples that are evaluated together.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, T> {
    /// The inputs, row by row.
    pub inputs: &'a [T],
    /// The class of each row.
    pub labels: &'a [u32],
}

/// What a pass through a model leaves.
#[derive(Debug)]
pub struct Losses<'a, T> {
    /// To be overwritten, one for each sample.
    pub each: &'a mut [T],
    /// To be added to, one for each parameter; empty if not wanted.
    pub slope: &'a mut [T],
}

/// The class that a row of logits stands for: the place of the largest, the first of them.
pub fn largest<T: Scalar>(row: &[T]) -> u32 {
    (1..row.len()).fold(0, |best, place| if row[place] > row[best] { place } else { best }) as u32
}

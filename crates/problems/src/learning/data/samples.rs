//! Samples in memory.

use std::ops::Range;

use fabnet_core::Scalar;

use crate::learning::Batch;

/// Labelled rows of scalars, one after the other: a range of them is a batch without a copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples<T> {
    width: usize,
    inputs: Vec<T>,
    labels: Vec<u32>,
    picture: Option<usize>,
}

impl<T: Scalar> Samples<T> {
    /// Rows of this width with their labels.
    pub fn new(width: usize, inputs: Vec<T>, labels: Vec<u32>) -> Self {
        assert_eq!(inputs.len(), width * labels.len(), "every row has a label");
        Self { width, inputs, labels, picture: None }
    }

    /// Samples of this width, of which there are none.
    pub fn empty(width: usize) -> Self {
        Self::new(width, Vec::new(), Vec::new())
    }

    /// The first `count` of these samples.
    pub fn first(mut self, count: usize) -> Self {
        self.labels.truncate(count);
        self.inputs.truncate(self.labels.len() * self.width);
        self
    }

    /// The bytes that they take in memory.
    pub fn bytes(&self) -> usize {
        self.inputs.len() * T::BYTES + self.labels.len() * size_of::<u32>()
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The number of scalars of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The same as pictures of this width, if they are any.
    pub fn as_pictures(self, picture: Option<usize>) -> Self {
        Self { picture, ..self }
    }

    /// How wide they are as pictures, if they are any.
    pub fn picture(&self) -> Option<usize> {
        self.picture
    }

    /// The labels of all samples, in order.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The row of one sample.
    pub fn row(&self, sample: usize) -> &[T] {
        &self.inputs[sample * self.width..][..self.width]
    }

    /// Some successive samples.
    pub fn batch(&self, range: Range<usize>) -> Batch<'_, T> {
        Batch { inputs: &self.inputs[range.start * self.width..range.end * self.width], labels: &self.labels[range] }
    }

    /// All samples, as one batch.
    pub fn all(&self) -> Batch<'_, T> {
        Batch { inputs: &self.inputs, labels: &self.labels }
    }

    /// Gives samples other labels.
    pub(super) fn relabel(&mut self, labels: Vec<u32>) {
        assert_eq!(labels.len(), self.len(), "every row has a label");
        self.labels = labels;
    }
}

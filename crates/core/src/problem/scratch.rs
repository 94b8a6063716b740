//! Scratch memory of a problem.

use crate::Scalar;

/// Buffers that a problem may use while it evaluates; what they hold does not matter.
#[derive(Debug, Default)]
pub struct Scratch<T> {
    data: Vec<T>,
    drawn: Vec<T>,
    drawn_for: Option<(usize, u64)>,
    inner: Option<Box<Self>>,
}

impl<T: Scalar> Scratch<T> {
    /// What a problem draws for an agent and a round, such as noise: several gradients of one round
    /// draw it once.
    pub fn drawn(&mut self, agent: usize, round: u64, len: usize, draw: impl FnOnce(&mut [T])) -> &[T] {
        if self.drawn_for != Some((agent, round)) || self.drawn.len() != len {
            self.drawn.resize(len, T::zero());
            draw(&mut self.drawn);
            self.drawn_for = Some((agent, round));
        }
        &self.drawn
    }

    /// Buffers of these lengths.
    pub fn buffers<const K: usize>(&mut self, lengths: [usize; K]) -> [&mut [T]; K] {
        cut(&mut self.data, lengths)
    }

    /// Buffers of these lengths, and more scratch memory for a function that is called while they
    /// are in use.
    pub fn buffers_and_more<const K: usize>(&mut self, lengths: [usize; K]) -> ([&mut [T]; K], &mut Self) {
        (cut(&mut self.data, lengths), self.inner.get_or_insert_default())
    }
}

fn cut<T: Scalar, const K: usize>(data: &mut Vec<T>, lengths: [usize; K]) -> [&mut [T]; K] {
    let total = lengths.iter().sum();
    if data.len() < total {
        data.resize(total, T::zero());
    }
    let mut rest = data.as_mut_slice();
    lengths.map(|length| rest.split_off_mut(..length).expect("the buffer holds the sum of the lengths"))
}

//! Products of matrices, through `faer`: safe, without allocations, and on one thread, because
//! agents are what runs in parallel.

use fabnet_core::{Scalar, Typed};
use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};

/// A dense matrix, row by row, of this many columns; or what it is when rows and columns change
/// places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dense<'a, T> {
    data: &'a [T],
    columns: usize,
    turned: bool,
}

impl<'a, T: Scalar> Dense<'a, T> {
    pub(crate) fn new(data: &'a [T], columns: usize) -> Self {
        Self { data, columns, turned: false }
    }

    /// The transpose of this matrix.
    pub(crate) fn turned(self) -> Self {
        Self { turned: !self.turned, ..self }
    }

    fn view<S: ComplexField>(self, data: &'a [S]) -> MatRef<'a, S> {
        let stored = MatRef::from_row_major_slice(data, data.len() / self.columns, self.columns);
        if self.turned { stored.transpose() } else { stored }
    }
}

/// `out += a·b`, where out has this many columns.
pub(crate) fn add_product<T: Scalar>(out: &mut [T], columns: usize, a: Dense<'_, T>, b: Dense<'_, T>) {
    match (T::typed_mut(out), T::typed(a.data), T::typed(b.data)) {
        (Typed::Single(out), Typed::Single(left), Typed::Single(right)) => {
            add(out, columns, a.view(left), b.view(right));
        }
        (Typed::Double(out), Typed::Double(left), Typed::Double(right)) => {
            add(out, columns, a.view(left), b.view(right));
        }
        _ => unreachable!("the three have one type"),
    }
}

fn add<S: ComplexField + num_traits::One>(out: &mut [S], columns: usize, a: MatRef<'_, S>, b: MatRef<'_, S>) {
    let rows = out.len() / columns;
    matmul(MatMut::from_row_major_slice_mut(out, rows, columns), Accum::Add, a, b, S::one(), Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn products<T: Scalar>() {
        // (1 2 3; 4 5 6) times (7 8; 9 10; 11 12), from either side and turned.
        let a: Vec<T> = (1..=6).map(|v| T::of(f64::from(v))).collect();
        let b: Vec<T> = (7..=12).map(|v| T::of(f64::from(v))).collect();
        let known = |values: &[f64]| values.iter().map(|&value| T::of(value)).collect::<Vec<T>>();
        let mut out = vec![T::one(); 4];
        add_product(&mut out, 2, Dense::new(&a, 3), Dense::new(&b, 2));
        assert_eq!(out, known(&[59.0, 65.0, 140.0, 155.0]));
        let mut out = vec![T::zero(); 4];
        add_product(&mut out, 2, Dense::new(&b, 2).turned(), Dense::new(&a, 3).turned());
        assert_eq!(out, known(&[58.0, 139.0, 64.0, 154.0]));
    }

    #[test]
    fn products_are_those_of_the_textbook() {
        products::<f32>();
        products::<f64>();
    }
}

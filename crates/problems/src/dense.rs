//! Small dense linear algebra, for closed forms.

use fabnet_core::{Scalar, linalg};

/// A dense matrix, column by column: products with it run along the columns, which the compiler
/// vectorises.
#[derive(Clone, Debug)]
pub(crate) struct Matrix<T> {
    rows: usize,
    data: Vec<T>,
}

impl<T: Scalar> Matrix<T> {
    pub(crate) fn from_fn(rows: usize, columns: usize, mut entry: impl FnMut(usize, usize) -> T) -> Self {
        let data = (0..columns)
            .flat_map(|column| (0..rows).map(move |row| (row, column)))
            .map(|(row, column)| entry(row, column))
            .collect();
        Self { rows, data }
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    pub(crate) fn columns(&self) -> impl ExactSizeIterator<Item = &[T]> {
        self.data.chunks_exact(self.rows)
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> T {
        self.data[column * self.rows + row]
    }

    /// Adds a product: `out += s·M x`.
    pub(crate) fn add_product(&self, s: T, x: &[T], out: &mut [T]) {
        for (column, &x) in self.columns().zip(x) {
            linalg::add_scaled(out, s * x, column);
        }
    }

    /// Adds a product with the transpose: `out += s·Mᵀ y`.
    pub(crate) fn add_transposed(&self, s: T, y: &[T], out: &mut [T]) {
        for (column, out) in self.columns().zip(out) {
            *out += s * linalg::dot(column, y);
        }
    }
}

/// Solves `H w = b` for a symmetric positive definite H, in place, by Cholesky's factorisation.
pub(crate) fn solve_positive(mut h: Matrix<f64>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for j in 0..n {
        for k in 0..j {
            for i in j..n {
                h.data[j * n + i] -= h.at(i, k) * h.at(j, k);
            }
        }
        let pivot = h.at(j, j).sqrt();
        (j..n).for_each(|i| h.data[j * n + i] /= pivot);
    }
    for i in 0..n {
        b[i] = (b[i] - (0..i).map(|k| h.at(i, k) * b[k]).sum::<f64>()) / h.at(i, i);
    }
    for i in (0..n).rev() {
        b[i] = (b[i] - (i + 1..n).map(|k| h.at(k, i) * b[k]).sum::<f64>()) / h.at(i, i);
    }
    b
}

/// Settings and closed forms are in `f64`, states in any scalar.
pub(crate) fn narrow<T: Scalar>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::of(value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_positive_system_is_solved() {
        let h = Matrix::from_fn(3, 3, |i, j| [[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]][i][j]);
        let w = [1.0, -2.0, 3.0];
        let mut b = vec![0.0; 3];
        h.add_product(1.0, &w, &mut b);
        let found = solve_positive(h, b);
        assert!(found.iter().zip(w).all(|(a, b)| (a - b).abs() < 1e-14), "{found:?}");
    }
}

//! How fast a linear evolution grows, computed from a few snapshots of it.

use nalgebra::linalg::Schur;
use nalgebra::{Complex, DMatrix, DVector};

/// A mode of a linear map: an eigenvector with its eigenvalue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mode {
    /// The logarithm of the factor by which the mode grows from one snapshot to the next.
    pub(super) rate: f64,
    /// The norm of the mode in the last snapshot.
    pub(super) size: f64,
    /// The residual of the eigenvector, relative to its norm.
    pub(super) residual: f64,
}

/// The modes of the linear map that takes each snapshot to the next, restricted to the span of the
/// snapshots (dynamic mode decomposition: Schmid, *Dynamic mode decomposition of numerical and
/// experimental data*, J. Fluid Mech. 2010). `noise` is the relative accuracy of the snapshots.
/// `None` if there are fewer than three, or if one is not finite or vanishes.
pub(super) fn modes(snapshots: &[Vec<f64>], noise: f64) -> Option<Vec<Mode>> {
    let norms: Vec<f64> = snapshots.iter().map(|snapshot| norm(snapshot)).collect();
    if snapshots.len() < 3 || norms.iter().any(|norm| !norm.is_normal()) {
        return None;
    }
    let (len, count) = (snapshots[0].len(), snapshots.len() - 1);
    // Columns are normalised: those of a growing mode would hide all others.
    let before = DMatrix::from_fn(len, count, |row, column| snapshots[column][row] / norms[column]);
    let after = DMatrix::from_fn(len, count, |row, column| snapshots[column + 1][row] / norms[column]);
    let svd = before.try_svd(true, true, f64::EPSILON, ITERATIONS)?;
    let sizes = &svd.singular_values;
    let rank = sizes.iter().take_while(|&&size| size > noise * sizes[0]).count();
    let basis = svd.u?.columns(0, rank).into_owned();
    let mut inverse = svd.v_t?.rows(0, rank).transpose();
    inverse.column_iter_mut().zip(sizes).for_each(|(mut column, &size)| column /= size);
    let image = after * inverse;
    let Eigen { values, vectors } = Eigen::of(&(basis.transpose() * &image))?;
    let last = DVector::from_column_slice(&snapshots[count]);
    let sizes = amplitudes(&vectors, &(basis.transpose() * last))?;
    let (basis, image) = (basis.map(Complex::from), image.map(Complex::from));
    let mode = |index: usize| {
        let (value, vector) = (values[index], vectors.column(index));
        let residual = (&image * vector - &basis * vector * value).norm() / vector.norm();
        Mode { rate: value.norm().ln(), size: sizes[index], residual }
    };
    Some((0..rank).map(mode).collect())
}

/// Iterations after which a decomposition counts as failed; they need a few for each column.
const ITERATIONS: usize = 10_000;

/// The eigenvalues of a matrix, and its eigenvectors as columns.
struct Eigen {
    values: DVector<Complex<f64>>,
    vectors: DMatrix<Complex<f64>>,
}

impl Eigen {
    /// The eigenvectors are those of the Schur form, by back substitution, rotated back.
    fn of(matrix: &DMatrix<f64>) -> Option<Self> {
        let schur = Schur::try_new(matrix.map(Complex::from), f64::EPSILON, ITERATIONS)?;
        let (rotation, triangle) = schur.unpack();
        let (rank, values) = (triangle.nrows(), triangle.diagonal());
        // Eigenvalues that are as close as rounding are taken for this far apart.
        let smallest = Complex::from(f64::EPSILON * triangle.norm().max(f64::MIN_POSITIVE));
        let mut vectors = DMatrix::identity(rank, rank);
        for column in 0..rank {
            for row in (0..column).rev() {
                let sum: Complex<f64> = (row + 1..=column).map(|k| triangle[(row, k)] * vectors[(k, column)]).sum();
                let gap = values[column] - values[row];
                vectors[(row, column)] = sum / if gap.norm() > smallest.re { gap } else { smallest };
            }
        }
        Some(Self { values, vectors: rotation * vectors })
    }
}

/// The norms of the parts that a vector has in the directions of the eigenvectors.
fn amplitudes(vectors: &DMatrix<Complex<f64>>, vector: &DVector<f64>) -> Option<Vec<f64>> {
    let found = vectors.clone().full_piv_lu().solve(&vector.map(Complex::from))?;
    let sizes: Vec<f64> =
        found.iter().zip(vectors.column_iter()).map(|(part, vector)| part.norm() * vector.norm()).collect();
    sizes.iter().all(|size| size.is_finite()).then_some(sizes)
}

/// The Euclidean norm of a vector.
pub(super) fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// The slope of a line through values at equal distances, by least squares, with its standard
/// error.
pub(super) fn slope(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    if values.len() < 3 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let (middle, mean) = ((count - 1.0) / 2.0, values.iter().sum::<f64>() / count);
    let place = |index: usize| index as f64 - middle;
    let square: f64 = (0..values.len()).map(|index| place(index).powi(2)).sum();
    let slope = values.iter().enumerate().map(|(index, value)| place(index) * (value - mean)).sum::<f64>() / square;
    let error = |(index, value): (usize, &f64)| (value - mean - slope * place(index)).powi(2);
    let variance = values.iter().enumerate().map(error).sum::<f64>() / (count - 2.0);
    Some((slope, (variance / square).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Snapshots of decaying modes and one that oscillates and grows, mixed by a matrix that is far
    /// from normal.
    fn snapshots(factor: f64, count: i32) -> Vec<Vec<f64>> {
        let decaying = [0.99, 0.95, 0.9, 0.7, 0.4, -0.3];
        let at = |k: i32| {
            let mut state: Vec<f64> = decaying.iter().map(|value: &f64| value.powi(k)).collect();
            state.push(1e-3 * factor.powi(k) * (0.7 * f64::from(k)).cos());
            state.push(1e-3 * factor.powi(k) * (0.7 * f64::from(k)).sin());
            (0..30).map(|row| state.iter().enumerate().map(|(i, s)| s * ((row * (i + 2)) as f64).sin()).sum()).collect()
        };
        (0..count).map(at).collect()
    }

    #[test]
    fn a_slow_instability_that_is_still_hidden_is_found() {
        for factor in [0.9985, 1.0015, 1.01] {
            let modes = modes(&snapshots(factor, 12), 1e-12).expect("there are enough snapshots");
            let leading = modes.iter().filter(|mode| mode.residual < 1e-6).map(|mode| mode.rate).fold(-9.0, f64::max);
            assert!((leading - factor.ln()).abs() < 1e-6, "{leading} against {}", factor.ln());
        }
    }

    #[test]
    fn what_is_not_finite_has_no_modes() {
        let mut broken = snapshots(1.0, 6);
        broken[3][0] = f64::NAN;
        assert!(modes(&broken, 1e-12).is_none());
        assert!(modes(&snapshots(1.0, 2), 1e-12).is_none());
    }

    #[test]
    fn slopes_are_those_of_lines() {
        let (found, error) = slope(&[1.0, 3.0, 5.0, 7.0]).expect("four values");
        assert!((found - 2.0).abs() < 1e-12 && error < 1e-12);
    }
}

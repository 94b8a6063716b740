//! The parts of a run that a program brings, in place of what the plan names.

use std::sync::Arc;

use fabnet_core::{Algorithm, Problem, Scalar, Topology};

/// The parts of a run that a program brings itself; the plan provides the others.
pub struct CustomParts<T: Scalar> {
    /// The problem that is solved.
    pub problem: Option<Arc<dyn Problem<T>>>,
    /// The topology: which agents receive from which.
    pub topology: Option<Arc<dyn Topology>>,
    /// The method, which is made for a problem.
    pub algorithm: Option<CustomAlgorithm<T>>,
}

/// Makes a method for a problem, or says why it does not fit.
pub type CustomAlgorithm<T> = Box<dyn FnOnce(&dyn Problem<T>) -> Result<Arc<dyn Algorithm<T>>, AlgorithmMisfit> + Send>;

/// Why a program's method does not fit a problem, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AlgorithmMisfit(pub String);

impl From<&str> for AlgorithmMisfit {
    fn from(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

impl<T: Scalar> Default for CustomParts<T> {
    fn default() -> Self {
        Self { problem: None, topology: None, algorithm: None }
    }
}

//! Bilevel methods with a double loop.

use super::method::{Method, Recipe, method, push_pull, push_sum, recursive};
use crate::algorithm::{Estimator, HyperGradientPush, Steps, StepsError, Tracking, Turns};
use crate::direction::{Itd, Neumann};
use crate::settings::SettingsReader;
use crate::{Problem, ProblemExt, Scalar};

/// Those for any network.
pub(super) fn any_network<T: Scalar>() -> Vec<Method<T>> {
    vec![
        method("dl-push-pull", "a double loop with iterative differentiation over push-pull", "itd", |keys| {
            let inner = Itd::read(keys);
            Box::new(move |problem, steps| push_pull(problem, Itd, double_loop(problem, steps, inner)?))
        }),
        method("dl-push-sgd", "a double loop with iterative differentiation over Push-SGD", "itd", |keys| {
            double(keys, Tracking::None, Estimator::Sample)
        }),
        method("dl-push-saga", "a double loop with iterative differentiation over Push-SAGA", "itd", |keys| {
            double(keys, Tracking::MixThenStep, Estimator::Saga)
        }),
        method("dl-push-asgd", "a double loop with iterative differentiation over Push-ASGD", "itd", |keys| {
            let estimator = recursive(keys);
            double(keys, Tracking::StepThenMix, estimator)
        }),
        method("hgp", "a double loop with hypergradients by push-sum, term by term (HGP)", "neumann", |keys| {
            let (turns, direction) = (Turns::read(keys), Neumann::read(keys));
            Box::new(move |problem, steps| Ok(Box::new(HyperGradientPush::new(problem, direction, turns, steps)?)))
        }),
    ]
}

/// Builds a double loop over push-sum.
fn double<T: Scalar>(keys: &mut SettingsReader<'_>, tracking: Tracking, estimator: Estimator) -> Recipe<T> {
    let inner = Itd::read(keys);
    Box::new(move |problem, steps| push_sum(problem, Itd, double_loop(problem, steps, inner)?, tracking, estimator))
}

fn double_loop<T: Scalar>(problem: &dyn Problem<T>, steps: Steps, inner_rounds: u64) -> Result<Steps, StepsError> {
    let dim = problem.dim();
    if dim.outer.saturating_mul(dim.inner) > Itd::LARGEST {
        return Err(StepsError::Sensitivity { outer: dim.outer, inner: dim.inner });
    }
    if problem.has_private() {
        return Err(StepsError::Private);
    }
    Ok(steps.double_loop(inner_rounds))
}

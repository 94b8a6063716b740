//! Methods for problems with one level.

use super::method::{MEMORY, Method, Recipe, method, placed, push_pull, push_sum, recursive, two_step};
use crate::algorithm::{Compressed, Compression, Correction, Estimator, Gossip, KGt, Tracker, Tracking};
use crate::direction::Gradient;
use crate::settings::SettingsReader;
use crate::{Scalar, Venue};

/// What a lost message breaks in methods with references.
const COPIES: &str = "neighbours hold copies of an agent's references, which would differ from then on";

/// Those for any network.
pub(super) fn any_network<T: Scalar>() -> Vec<Method<T>> {
    vec![
        method("push-pull", "single-level AB/push-pull", "gradient", |keys| {
            let tracker = keys.choice("tracker", &Tracker::NAMES, "t⁺ = B t + d⁺ − d, or t⁺ = B (t + d⁺ − d)");
            let ordered = keys.given("steps.order").is_some();
            let direction = Gradient::read(keys);
            Box::new(move |problem, steps| {
                let steps = if ordered { steps } else { steps.order(tracker) };
                push_pull(problem, direction(problem), steps)
            })
        })
        .repeating(),
        method("subgradient-push", "single-level push-sum without tracking", "gradient", |keys| {
            single(keys, Tracking::None, Estimator::Sample)
        }),
        method("push-sgd", "the same recursion, by its other name: stochastic gradient push", "gradient", |keys| {
            single(keys, Tracking::None, Estimator::Sample)
        }),
        method("push-diging", "single-level push-sum with gradient tracking", "gradient", |keys| {
            let orders = [("push-diging", Tracking::StepThenMix), ("add-opt", Tracking::MixThenStep)];
            let order = keys.choice("order", &orders, "u⁺ = B (u − η t), or u⁺ = B u − η t");
            single(keys, order, Estimator::Sample)
        }),
        method("push-saga", "ADD-OPT with SAGA's table of gradients", "gradient", |keys| {
            let about = "with a tracker as in ADD-OPT, or with false as Push-SGD";
            let tracking = if keys.flag("tracking", true, about) { Tracking::MixThenStep } else { Tracking::None };
            single(keys, tracking, Estimator::Saga)
        }),
        method("push-asgd", "Push-DIGing with recursive momentum (reading unconfirmed)", "gradient", |keys| {
            let estimator = recursive(keys);
            single(keys, Tracking::StepThenMix, estimator)
        }),
        method("cpp", "push-pull that sends compressed differences to references", "gradient", |keys| {
            let (direction, compression) = (Gradient::read(keys), Compression::read(keys));
            Box::new(move |problem, steps| {
                Ok(Box::new(Compressed::new(problem, direction(problem), steps, compression)?))
            })
        })
        .needing_every_message(COPIES),
    ]
}

/// Those for undirected networks.
pub(super) fn undirected<T: Scalar>() -> Vec<Method<T>> {
    vec![
        placed(
            "d-psgd",
            "averaging with neighbours, no tracking: the undirected reference",
            "gradient",
            Venue::Undirected,
            |keys| {
                let direction = Gradient::read(keys);
                Box::new(move |problem, steps| Ok(Box::new(Gossip::new(problem, direction(problem), steps)?)))
            },
        )
        .with_steps_alone(),
        placed("extra", "gossip corrected by the step before", "gradient", Venue::StaticUndirected, |keys| {
            let direction = Gradient::read(keys);
            Box::new(move |problem, steps| two_step(problem, direction(problem), steps, Correction::Extra))
        })
        .with_given_steps()
        .needing_every_message(MEMORY),
        placed(
            "exact-diffusion",
            "gossip corrected by the step before, and the correction mixed",
            "gradient",
            Venue::StaticUndirected,
            |keys| {
                let direction = Gradient::read(keys);
                Box::new(move |problem, steps| two_step(problem, direction(problem), steps, Correction::ExactDiffusion))
            },
        )
        .with_given_steps()
        .needing_every_message(MEMORY),
        placed("k-gt", "gradient tracking with local steps", "gradient", Venue::Undirected, |keys| {
            let (direction, outer_step) = (Gradient::read(keys), KGt::<T>::read_outer_step(keys));
            Box::new(move |problem, steps| {
                Ok(Box::new(KGt::new(problem, direction(problem), steps)?.with_outer_step(outer_step)))
            })
        })
        .with_steps_alone()
        .needing_every_message("corrections cancel only if all of them arrive"),
        placed(
            "beer",
            "gradient tracking that sends compressed differences to references",
            "gradient",
            Venue::Undirected,
            |keys| {
                let (direction, compression) = (Gradient::read(keys), Compression::read(keys));
                Box::new(move |problem, steps| {
                    Ok(Box::new(Compressed::new(problem, direction(problem), steps, compression)?.from_zero()))
                })
            },
        )
        .needing_every_message(COPIES),
    ]
}

/// Builds a single-level method over push-sum.
fn single<T: Scalar>(keys: &mut SettingsReader<'_>, tracking: Tracking, estimator: Estimator) -> Recipe<T> {
    let direction = Gradient::read(keys);
    Box::new(move |problem, steps| push_sum(problem, direction(problem), steps, tracking, estimator))
}

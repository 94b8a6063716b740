//! Bilevel methods with one loop.

use super::method::{MEMORY, Method, Recipe, method, placed, push_pull, push_sum, two_step};
use crate::algorithm::{Adaptive, Correction, Estimator, Gossip, Tracking};
use crate::direction::{Difference, Moreau, Penalty, Soba};
use crate::settings::SettingsReader;
use crate::{Scalar, Venue};

/// Those for any network.
pub(super) fn any_network<T: Scalar>() -> Vec<Method<T>> {
    vec![
        method("fab", "penalty directions over push-pull, the paper's method (arXiv 2605.06328)", "penalty", fab)
            .repeating(),
        method(
            "dfab",
            "SOBA over push-pull with curvature by differences of gradients: first order, no penalty",
            "difference",
            |keys| {
                let direction = Difference::read(keys);
                Box::new(move |problem, steps| push_pull(problem, direction, steps))
            },
        )
        .repeating(),
        method("push-pull-soba", "SOBA's second-order directions over push-pull", "soba", |keys| {
            let direction = Soba::read(keys);
            Box::new(move |problem, steps| push_pull(problem, direction, steps))
        })
        .repeating(),
        method("push-pull-meha", "directions of a Moreau envelope over push-pull", "moreau", |keys| {
            let direction = Moreau::read(keys);
            Box::new(move |problem, steps| push_pull(problem, direction, steps))
        })
        .repeating(),
        method("push-sum-fab", "penalty directions over push-sum", "penalty", |keys| {
            let direction = Penalty::read(keys);
            Box::new(move |problem, steps| {
                push_sum(problem, direction, steps, Tracking::StepThenMix, Estimator::Sample)
            })
        }),
        placed("static-fab", "FAB on the graph of round 0, for ever", "penalty", Venue::Static, fab).repeating(),
        placed("centralized-fab", "FAB (F²SA) by one agent that holds everything", "penalty", Venue::Central, fab),
    ]
}

/// Those for undirected networks.
pub(super) fn undirected<T: Scalar>() -> Vec<Method<T>> {
    vec![
        placed(
            "d-soba",
            "SOBA's second-order directions over gossip, no tracking",
            "soba",
            Venue::Undirected,
            |keys| {
                let direction = Soba::read(keys);
                Box::new(move |problem, steps| Ok(Box::new(Gossip::new(problem, direction, steps)?)))
            },
        )
        .with_steps_alone(),
        placed("sparkle-extra", "SOBA's directions over EXTRA", "soba", Venue::StaticUndirected, |keys| {
            let direction = Soba::read(keys);
            Box::new(move |problem, steps| two_step(problem, direction, steps, Correction::Extra))
        })
        .with_given_steps()
        .needing_every_message(MEMORY),
        placed("sparkle-ed", "SOBA's directions over Exact Diffusion", "soba", Venue::StaticUndirected, |keys| {
            let direction = Soba::read(keys);
            Box::new(move |problem, steps| two_step(problem, direction, steps, Correction::ExactDiffusion))
        })
        .with_given_steps()
        .needing_every_message(MEMORY),
        placed(
            "sun-dsbo-se",
            "directions of a Moreau envelope over gossip, no tracking",
            "moreau",
            Venue::Undirected,
            |keys| {
                let direction = Moreau::read(keys);
                Box::new(move |problem, steps| Ok(Box::new(Gossip::new(problem, direction, steps)?)))
            },
        )
        .with_steps_alone(),
        placed(
            "sun-dsbo-gt",
            "directions of a Moreau envelope with gradient tracking",
            "moreau",
            Venue::Undirected,
            |keys| {
                let direction = Moreau::read(keys);
                Box::new(move |problem, steps| push_pull(problem, direction, steps))
            },
        )
        .repeating(),
        placed(
            "ada-sdbo",
            "SOBA's directions divided by accumulated norms: nothing to tune",
            "soba",
            Venue::Undirected,
            |keys| {
                let (direction, start) = (Soba::read(keys), Adaptive::<T>::read_start(keys));
                Box::new(move |problem, steps| Ok(Box::new(Adaptive::new(problem, direction, steps, start)?)))
            },
        ),
    ]
}

fn fab<T: Scalar>(keys: &mut SettingsReader<'_>) -> Recipe<T> {
    let direction = Penalty::read(keys);
    Box::new(move |problem, steps| push_pull(problem, direction, steps))
}

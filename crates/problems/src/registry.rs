//! The problems by name.

use std::sync::Arc;

use fabnet_core::settings::{SettingsReader, SettingsSource, Value};
use fabnet_core::{Dim, Problem, Scalar};

use crate::problem_kind::{ProblemKind, ProblemRecipe};
use crate::{BilevelQuadratic, Nonconvex, PolicyEvaluation, Quadratic, SmoothBilevel};

/// Every kind of problem there is. A new one is a file, and a line here.
pub fn problems<T: Scalar>() -> Vec<ProblemKind<T>> {
    let measured =
        |name, about, metrics, read| ProblemKind { name, about, metrics, checksum: None, divide: None, read };
    let kind = |name, about, read| measured(name, about, &[], read);
    let kinds = vec![
        measured("policy-evaluation", "a linear value function fitted to Bellman targets, bilevel", BELLMAN, |keys| {
            let noise = keys.number("noise", 0.0, 0.0.., "ω: the standard deviation of the noise on observed rewards");
            let tiled =
                keys.optional_whole("tiled", 1.., "rewards repeat with this period in agents; all differ if not given");
            recipe(move |n, seed| {
                PolicyEvaluation::tiled(n, tiled.map_or(n, |tiled| tiled as usize), seed).with_noise(noise)
            })
        }),
        kind("bilevel-quadratic", "quadratic at both levels, with private coordinates if wanted", |keys| {
            let outer = keys.whole("outer", 3, 1.., "coordinates of x") as usize;
            let inner = keys.whole("inner", 5, 1.., "coordinates of y") as usize;
            let (condition, heterogeneity) = (condition(keys, 4.0), heterogeneity(keys, 0.5));
            let private =
                keys.whole("private", 0, .., "agents hold 0, 1, … up to this many private coordinates") as usize;
            recipe(move |n, seed| {
                let own = |agent| agent % (private + 1);
                BilevelQuadratic::with_private(n, Dim { outer, inner }, condition, heterogeneity, seed, own)
            })
        }),
        kind("quadratic", "a diagonal quadratic, single level", |keys| {
            let inner = keys.whole("inner", 6, 1.., "coordinates") as usize;
            let (condition, heterogeneity) = (condition(keys, 5.0), heterogeneity(keys, 1.0));
            let batches =
                keys.whole("batches", 1, 1..=10_000, "mini-batches of each agent, of which a round shows one") as usize;
            let spread = keys.number("batch_spread", 1.0, 0.0.., "how much the centres of mini-batches differ");
            recipe(move |n, seed| {
                Quadratic::new(n, inner, condition, heterogeneity, seed).with_batches(batches, spread)
            })
        }),
        kind("smooth-bilevel", "smooth, nonconvex in x, bilevel", |_| recipe(SmoothBilevel::new)),
        kind("nonconvex", "smooth and nonconvex in the plane, single level", |_| recipe(Nonconvex::new)),
    ];
    #[cfg(feature = "learning")]
    let kinds = kinds.into_iter().chain(crate::learning::kinds()).collect();
    kinds
}

const BELLMAN: &[(&str, &str)] = &[("bellman", "root-mean-square Bellman residual of the mean x")];

/// Every kind with its defaults, and private coordinates where that is a choice: what every problem
/// is tested with.
pub fn examples<T: Scalar>(agents: usize, seed: u64) -> Vec<(&'static str, Arc<dyn Problem<T>>)> {
    let make = |kind: &ProblemKind<T>, given: &dyn SettingsSource| {
        (kind.read)(&mut SettingsReader::new(given))(agents, seed).expect("examples are valid settings")
    };
    let small = [("private", Value::Whole(2))].into_iter();
    #[cfg(feature = "learning")]
    let small = small.chain(crate::learning::small());
    let small: Vec<_> = small.collect();
    problems().iter().map(|kind| (kind.name, make(kind, &small.as_slice()))).collect()
}

fn recipe<T: Scalar, P: Problem<T> + 'static>(
    make: impl Fn(usize, u64) -> P + Send + Sync + 'static,
) -> ProblemRecipe<T> {
    Box::new(move |agents, seed| Ok(Arc::new(make(agents, seed))))
}

fn condition(keys: &mut SettingsReader<'_>, default: f64) -> f64 {
    keys.number("condition", default, 1.0.., "curvatures of g lie between 1/condition and 1")
}

fn heterogeneity(keys: &mut SettingsReader<'_>, default: f64) -> f64 {
    keys.number("heterogeneity", default, 0.0.., "how much agents differ")
}

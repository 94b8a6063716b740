//! The problems by name.

use std::sync::Arc;

use fabnet_core::settings::{SettingsReader, SettingsSource, Value};
use fabnet_core::{Dim, Problem, Scalar};

use crate::problem_kind::{ProblemKind, ProblemRecipe};
use crate::{
    BilevelQuadratic, CoefficientTuning, HyperRepresentation, Minimax, Nonconvex, NonconvexLower, PolicyEvaluation,
    Quadratic, RepresentationShape, SmoothBilevel, SparseShape,
};

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
            let dim = dim(keys);
            let (condition, heterogeneity) = (condition(keys, 4.0), heterogeneity(keys, 0.5));
            let private =
                keys.whole("private", 0, .., "agents hold 0, 1, … up to this many private coordinates") as usize;
            recipe(move |n, seed| {
                let own = |agent| agent % (private + 1);
                BilevelQuadratic::with_private(n, dim, condition, heterogeneity, seed, own)
            })
        }),
        kind("minimax", "a quadratic saddle, as the bilevel problem with g = −f", |keys| {
            let dim = dim(keys);
            let (condition, heterogeneity) = (condition(keys, 4.0), heterogeneity(keys, 0.5));
            recipe(move |n, seed| Minimax::new(n, dim, condition, heterogeneity, seed))
        }),
        kind("nonconvex-lower", "a lower level with many minima, bilevel", |keys| {
            let inner = keys.whole("inner", 2, 1.., "coordinates of y") as usize;
            let heterogeneity = heterogeneity(keys, 0.2);
            recipe(move |n, seed| NonconvexLower::new(n, inner, heterogeneity, seed))
        }),
        kind("coefficient-tuning", "softmax regression with a learned ridge for each input, bilevel", coefficients),
        kind("hyper-representation", "a linear backbone for the tasks of all agents, bilevel", representation),
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

fn coefficients<T: Scalar>(keys: &mut SettingsReader<'_>) -> ProblemRecipe<T> {
    let about = "samples in the format of LIBSVM, a line each: `label index:value …`; drawn if not given";
    let text = keys.optional_text_or_file("samples", "file", ["1 1:2\n-1 2:1", "1 1:2\n-1 3:1"], about);
    let read = |keys: &mut SettingsReader<'_>| SparseShape {
        inputs: keys.whole("inputs", 20, 1.., "scalars of a sample that is drawn") as usize,
        density: keys.number("density", 0.3, 0.0..=1.0, "how likely a scalar is not 0"),
        samples: keys.whole("samples_per_agent", 40, 2.., "samples that are drawn for each agent") as usize,
    };
    let Some(text) = text else {
        let shape = read(keys);
        return recipe(move |agents, seed| CoefficientTuning::synthetic(agents, shape, seed));
    };
    keys.idle("nothing is drawn where samples are given: leave it out", read);
    Box::new(move |agents, seed| match CoefficientTuning::from_libsvm(&text, agents, seed) {
        Ok(problem) => Ok(Arc::new(problem)),
        Err(error) => Err(format!("the samples cannot be used: {error}")),
    })
}

fn representation<T: Scalar>(keys: &mut SettingsReader<'_>) -> ProblemRecipe<T> {
    let mut size = |name, default, about| keys.whole(name, default, 1.., about) as usize;
    let shape = RepresentationShape {
        inputs: size("inputs", 6, "scalars of an input"),
        width: size("width", 2, "scalars of its representation"),
        tasks: size("tasks", 1, "tasks of each agent"),
        samples: size("samples_per_task", 10, "samples for training, and as many for validation"),
    };
    recipe(move |agents, seed| HyperRepresentation::new(agents, shape, seed))
}

fn dim(keys: &mut SettingsReader<'_>) -> Dim {
    let outer = keys.whole("outer", 3, 1.., "coordinates of x") as usize;
    Dim { outer, inner: keys.whole("inner", 5, 1.., "coordinates of y") as usize }
}

fn condition(keys: &mut SettingsReader<'_>, default: f64) -> f64 {
    keys.number("condition", default, 1.0.., "curvatures of g lie between 1/condition and 1")
}

fn heterogeneity(keys: &mut SettingsReader<'_>, default: f64) -> f64 {
    keys.number("heterogeneity", default, 0.0.., "how much agents differ")
}

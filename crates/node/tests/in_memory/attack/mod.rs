//! Whole nodes attacked by seeds: everything that a seed says happens to them, and what must hold
//! is checked at every moment and at the end.

mod course;
mod scenario;

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{available_parallelism, scope};

use self::course::Course;
use self::scenario::Scenario;

/// The seeds that are run: `NODE_SEEDS=0..20000` in the environment asks for others.
fn seeds() -> Range<u64> {
    let asked = std::env::var("NODE_SEEDS").ok();
    let ends = asked.as_deref().and_then(|seeds| seeds.split_once(".."));
    ends.and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?)).unwrap_or(0..300)
}

/// Everything that a range of seeds has found.
#[derive(Default)]
struct Sweep {
    /// How often what has happened.
    happened: BTreeMap<&'static str, u64>,
    /// What was violated, by seed.
    violations: BTreeMap<u64, String>,
}

impl Sweep {
    fn run(seeds: Range<u64>) -> Self {
        let threads = available_parallelism().map_or(1, usize::from);
        scope(|scope| {
            let part = |first: usize| seeds.clone().skip(first).step_by(threads);
            let workers: Vec<_> =
                (0..threads).map(|first| scope.spawn(move || part(first).map(Self::run_seed).collect())).collect();
            let parts = workers.into_iter().flat_map(|worker| -> Vec<Self> { worker.join().unwrap() });
            parts.fold(Self::default(), Self::with)
        })
    }

    fn run_seed(seed: u64) -> Self {
        let course = catch_unwind(AssertUnwindSafe(|| Course::new(Scenario::from_seed(seed)).run()));
        let (happened, violation) = course.unwrap_or_else(|panic| (BTreeMap::new(), Err(text_of(&*panic))));
        Self { happened, violations: violation.err().map(|what| (seed, what)).into_iter().collect() }
    }

    fn with(mut self, other: Self) -> Self {
        self.violations.extend(other.violations);
        for (what, often) in other.happened {
            *self.happened.entry(what).or_default() += often;
        }
        self
    }
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("without a text"))
}

#[test]
#[allow(clippy::print_stdout, reason = "a longer run says what has happened in it")]
fn no_seed_finds_anything_in_whole_nodes() {
    let sweep = Sweep::run(seeds());
    println!("{:?}", sweep.happened);
    assert!(sweep.violations.is_empty(), "{:#?}", sweep.violations);
    for what in scenario::EVERYTHING {
        assert!(sweep.happened.contains_key(what), "{what} never happened: {:?}", sweep.happened);
    }
}

#[test]
fn the_same_seed_is_the_same_course() {
    let ends = |seed| Course::new(Scenario::from_seed(seed)).ends();
    for seed in 0..4 {
        assert_eq!(ends(seed), ends(seed), "seed {seed}");
    }
}

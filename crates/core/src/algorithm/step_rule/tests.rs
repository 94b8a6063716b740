//! How step sizes move points, and which are refused.

use std::sync::Arc;

use super::*;
use crate::algorithm::PushPull;
use crate::topology::Complete;
use crate::weights::Uniform;
use crate::{Dim, GradientMut, Level, Network, Point, Scratch, Shard};

/// One agent that holds nothing.
struct Nothing;

impl Problem<f64> for Nothing {
    fn agents(&self) -> usize {
        1
    }

    fn dim(&self) -> Dim {
        Dim { outer: 1, inner: 1 }
    }

    fn add_gradient(&self, _: Level, _: Point<'_, f64>, _: GradientMut<'_, f64>, _: &mut Scratch<f64>) {}

    fn value(&self, _: Level, _: Point<'_, f64>) -> f64 {
        0.0
    }
}

/// A direction of this many blocks, 1 in each.
struct Ones(usize);

impl Direction<f64> for Ones {
    fn blocks(&self, _dim: Dim) -> Blocks {
        Blocks::new(["a", "b", "c", "d", "e"].into_iter().take(self.0).map(|name| (name, 1)))
    }

    fn start(&self, _x: &[f64], _y: &[f64], _v: &mut [f64]) {}

    fn solution<'a>(&'a self, _dim: Dim, v: &'a [f64]) -> (&'a [f64], &'a [f64]) {
        (&v[..1], &v[1..2])
    }

    fn eval(&self, _at: Parts<'_, f64>, _oracle: &mut Oracle<'_, f64>, mut d: PartsMut<'_, f64>) {
        d.fill(1.0);
    }

    fn step_sizes(&self, _smoothness: &Smoothness, sizes: StepSizes) -> StepSizes {
        sizes
    }
}

#[test]
fn every_block_moves_however_many_there_are() {
    for count in 2..=5 {
        let names = ["a", "b", "c", "d", "e"];
        let sizes = (1..).map(f64::from).map(|size| size / 8.0);
        for steps in [Steps::same(0.5), Steps::each(names.into_iter().zip(sizes).take(count))] {
            let network = Network::new(Arc::new(Complete::new(1)), Arc::new(Uniform));
            let algorithm = PushPull::new(&Nothing, Ones(count), steps.clone()).expect("valid step sizes");
            let mut shard = Shard::new(Arc::new(algorithm), Arc::new(Nothing), network, 0).expect("one agent");
            (0..2).for_each(|_| _ = shard.round().expect("nothing to wait for"));
            let moved = shard.view().mean();
            let expected: Vec<f64> = match steps.sizes {
                StepChoice::Same(size) => vec![-2.0 * size; count],
                StepChoice::Each(each) => each.iter().map(|(_, size)| -2.0 * size).collect(),
                StepChoice::Auto(_) => unreachable!("none is automatic"),
            };
            assert_eq!(moved, expected);
        }
    }
}

#[test]
fn nothing_moves_once_agents_rest() {
    let network = Network::new(Arc::new(Complete::new(1)), Arc::new(Uniform));
    let algorithm = PushPull::new(&Nothing, Ones(2), Steps::same(0.5).rest_from(3)).expect("valid step sizes");
    let mut shard = Shard::new(Arc::new(algorithm), Arc::new(Nothing), network, 0).expect("one agent");
    (0..7).for_each(|_| _ = shard.round().expect("nothing to wait for"));
    assert_eq!(shard.view().mean(), [-1.5, -1.5]);
}

#[test]
fn automatic_step_sizes_for_more_blocks_than_they_know_are_refused() {
    let new = |count| PushPull::new(&Nothing, Ones(count), Steps::auto(Auto::new(1))).map(|_| ());
    assert_eq!(new(3), Ok(()));
    assert_eq!(new(4), Err(StepsError::Blocks { count: 4, most: 3 }));
}

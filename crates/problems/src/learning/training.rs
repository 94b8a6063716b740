//! What all learning problems have in common: a model, agents with shares of data, and samples to
//! test with.

use std::ops::Range;
use std::path::Path;

use fabnet_core::finding::Content;
use fabnet_core::rng::{Purpose, Stream};
use fabnet_core::{
    DataRange, Finding, LocalData, MiniBatches, ModelParameters, Objective, Point, Scalar, Scratch, Solutions, Tensor,
    Whose,
};
use rayon::prelude::*;

use super::data::{OwnData, Samples, Share, write_own};
use super::model::{Batch, Losses, Model};

/// A model that agents train together, each with data of its own.
pub struct Training<T> {
    /// The model that is trained.
    pub model: Box<dyn Model<T>>,
    /// The data of each agent.
    pub shares: Vec<Share<T>>,
    /// The samples that are used for tests only.
    pub test: Samples<T>,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// Samples of a mini-batch, at most; a round shows one of each agent's.
    pub batch: usize,
    /// From which everything random is drawn.
    pub seed: u64,
    /// Whether agents brought their samples, each prepared in its own way.
    pub brought: bool,
}

/// The training or the validation samples of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataSplit {
    Train,
    Validation,
}

impl<T: Scalar> Training<T> {
    /// Metrics of all learning problems, each with a line on what it is.
    pub(crate) const METRICS: [(&'static str, &'static str); 3] = [
        ("accuracy", "the fraction of test samples that the mean y classifies correctly"),
        ("accuracy_z", "the same of the mean z: the model trained without the upper level"),
        ("accuracy_worst", "the same of y of the agent that does worst"),
    ];

    /// Whether any agent sees its samples in more than one mini-batch, so that gradients are
    /// random.
    pub(super) fn is_noisy(&self) -> bool {
        (0..self.shares.len()).any(|agent| self.batches(agent) > 1)
    }

    fn count(&self, samples: usize) -> usize {
        samples.div_ceil(self.batch)
    }

    /// The samples of one of an agent's parts that a round shows.
    pub(super) fn shown(&self, part: DataSplit, agent: usize, round: u64) -> Range<usize> {
        let samples = self.part(part, agent).len();
        // Of data that is elsewhere nothing is shown.
        let count = self.count(samples).max(1);
        let place = self.batch(agent, round) % count;
        place * samples / count..(place + 1) * samples / count
    }

    pub(super) fn part(&self, part: DataSplit, agent: usize) -> &Samples<T> {
        match part {
            DataSplit::Train => &self.shares[agent].train,
            DataSplit::Validation => &self.shares[agent].validation,
        }
    }

    /// Adds the gradient of `scale` times the mean loss of what a round shows.
    pub(super) fn add_mean_gradient(
        &self,
        part: DataSplit,
        (agent, round): (usize, u64),
        y: &[T],
        scale: T,
        slope: &mut [T],
        scratch: &mut Scratch<T>,
    ) {
        let range = self.shown(part, agent, round);
        if range.is_empty() || slope.is_empty() {
            return;
        }
        let ([weights, each], scratch) = scratch.buffers_and_more([range.len(); 2]);
        weights.fill(scale / T::of(range.len() as f64));
        self.model.losses(y, self.part(part, agent).batch(range), weights, Losses { each, slope }, scratch);
    }

    /// Adds the gradient of a single-level objective, without any weights or ridge: training
    /// samples, checked ones, or all of them together.
    pub(super) fn add_objective(
        &self,
        objective: Objective,
        at: Point<'_, T>,
        scale: T,
        slope: &mut [T],
        scratch: &mut Scratch<T>,
    ) {
        let share = &self.shares[at.agent];
        let [train, checked] = [&share.train, &share.validation].map(|samples| samples.len() as f64);
        let parts = match objective {
            Objective::Train => [(DataSplit::Train, 1.0), (DataSplit::Validation, 0.0)],
            Objective::Merged => {
                [(DataSplit::Train, train / (train + checked)), (DataSplit::Validation, checked / (train + checked))]
            }
            Objective::Clean => [(DataSplit::Train, 0.0), (DataSplit::Validation, 1.0)],
        };
        for (part, weight) in parts.into_iter().filter(|(_, weight)| *weight > 0.0) {
            self.add_mean_gradient(part, (at.agent, at.round), at.y, scale * T::of(weight), slope, scratch);
        }
    }

    /// The mean loss on all samples of one of an agent's parts.
    pub(super) fn mean_loss(&self, part: DataSplit, agent: usize, y: &[T]) -> T {
        let losses = self.losses(part, agent, y);
        losses.iter().copied().sum::<T>() / T::of(losses.len() as f64)
    }

    /// The loss of every sample of one of an agent's parts.
    pub(super) fn losses(&self, part: DataSplit, agent: usize, y: &[T]) -> Vec<T> {
        let pieces: Vec<Vec<T>> = pieces(self.part(part, agent))
            .map(|batch| {
                let mut each = vec![T::zero(); batch.labels.len()];
                let weights = vec![T::one(); each.len()];
                let to = Losses { each: &mut each, slope: &mut [] };
                self.model.losses(y, batch, &weights, to, &mut Scratch::default());
                each
            })
            .collect();
        pieces.concat()
    }

    /// The classes that parameters predict for the training samples of an agent.
    pub(super) fn predicted(&self, agent: usize, y: &[T]) -> Vec<u32> {
        let pieces: Vec<Vec<u32>> =
            pieces(self.part(DataSplit::Train, agent)).map(|batch| self.classify(y, batch)).collect();
        pieces.concat()
    }

    fn classify(&self, y: &[T], batch: Batch<'_, T>) -> Vec<u32> {
        let mut classes = vec![0; batch.labels.len()];
        self.model.classify(y, batch.inputs, &mut classes);
        classes
    }

    /// The part of test samples that parameters classify rightly.
    pub fn accuracy(&self, y: &[T]) -> f64 {
        let right: usize = pieces(&self.test)
            .map(|batch| {
                self.classify(y, batch).iter().zip(batch.labels).filter(|(found, known)| found == known).count()
            })
            .sum();
        right as f64 / self.test.len() as f64
    }

    /// A metric of all learning problems.
    pub(super) fn measure(&self, metric: &str, of: &dyn Solutions<T>) -> Option<f64> {
        if self.test.is_empty() {
            return None;
        }
        let accuracy = |whose| self.accuracy(&of.variables(whose).1);
        match metric {
            "accuracy" => Some(accuracy(Whose::Mean)),
            "accuracy_z" => Some(self.accuracy(&of.block(Whose::Mean, "z")?)),
            "accuracy_worst" => Some(of.agents().map(|agent| accuracy(Whose::Agent(agent))).fold(1.0, f64::min)),
            _ => None,
        }
    }

    /// Writes what each agent holds as a file that it could have brought itself, and what to test
    /// with.
    pub(super) fn divide(&self, folder: &Path) -> Result<(), String> {
        write_own(folder, &self.shares, &self.test)
    }

    /// How many samples of each class each agent trains with.
    pub(super) fn partition(&self) -> Finding {
        let counts = |class: u32| {
            let of = |share: &Share<T>| {
                let labels = share.truth.as_deref().unwrap_or(share.train.labels());
                labels.iter().filter(|&&label| label == class).count() as u64
            };
            self.shares.iter().map(of).collect()
        };
        Finding {
            name: "partition".to_owned(),
            title: "training samples by class and agent".to_owned(),
            content: Content::Counts {
                axes: ["class".to_owned(), "agent".to_owned()],
                rows: self.classes.clone(),
                counts: (0..self.classes.len() as u32).map(counts).collect(),
            },
        }
    }
}

impl<T: Scalar> MiniBatches for Training<T> {
    /// The mini-batches of an agent: as many as its larger part needs.
    fn batches(&self, agent: usize) -> usize {
        let share = &self.shares[agent];
        self.count(share.train.len()).max(self.count(share.validation.len()))
    }

    /// The mini-batch that a round shows an agent: all of them once in an epoch, in an order that
    /// every epoch draws anew.
    fn batch(&self, agent: usize, round: u64) -> usize {
        let count = self.batches(agent) as u64;
        if count <= 1 {
            return 0;
        }
        let mut stream = Stream::new(self.seed, agent, round / count, Purpose::Noise);
        let offset = stream.below(count as usize) as u64;
        // A stride that has no divisor in common with the count visits every mini-batch.
        let stride = loop {
            let stride = 1 + stream.below(count as usize) as u64;
            if coprime(stride, count) {
                break stride;
            }
        };
        ((offset + round % count * stride) % count) as usize
    }
}

impl<T: Scalar> LocalData for Training<T> {
    /// What an agent would need here to take part, if it is elsewhere.
    fn missing(&self, agent: usize) -> Option<String> {
        let path = || OwnData::path(agent).display().to_string();
        self.shares[agent]
            .is_elsewhere()
            .then(|| format!("the data of agent {agent} is not here: {} is missing", path()))
    }

    /// What an agent's inputs range over, if it brought them.
    fn data_range(&self, agent: usize) -> Option<DataRange> {
        let share = self.shares.get(agent).filter(|share| self.brought && !share.is_elsewhere())?;
        let (mut low, mut high, mut squares, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0.0);
        for samples in [&share.train, &share.validation] {
            for value in samples.all().inputs.iter().map(|value| value.f64()) {
                (low, high) = (low.min(value), high.max(value));
                squares += value * value;
            }
            count += samples.all().inputs.len() as f64;
        }
        Some(DataRange { low, high, rms: (squares / count).sqrt() })
    }

    /// Bytes of all samples, those to test with included.
    fn data_bytes(&self) -> usize {
        let share = |share: &Share<T>| share.train.bytes() + share.validation.bytes();
        self.test.bytes() + self.shares.iter().map(share).sum::<usize>()
    }
}

impl<T: Scalar> ModelParameters for Training<T> {
    fn tensors(&self) -> Vec<Tensor> {
        self.model.tensors()
    }
}

/// Samples in pieces that threads can share; results do not depend on how many there are.
fn pieces<T: Scalar>(samples: &Samples<T>) -> impl IndexedParallelIterator<Item = Batch<'_, T>> {
    const PIECE: usize = 500;
    let count = samples.len().div_ceil(PIECE);
    (0..count).into_par_iter().map(|piece| samples.batch(piece * PIECE..((piece + 1) * PIECE).min(samples.len())))
}

fn coprime(mut a: u64, mut b: u64) -> bool {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

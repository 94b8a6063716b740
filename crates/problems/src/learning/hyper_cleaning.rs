//! Data hyper-cleaning: which samples to trust is learned from a few that were checked.

use fabnet_core::finding::{Content, Picture};
use fabnet_core::settings::Keys;
use fabnet_core::{Dim, Finding, Level, Objective, Point, Problem, Scalar, Scratch, Slopes, View, linalg};

use super::model::Losses;
use super::training::{Part, Training};

/// A model, and a weight σ(ψ) for every training sample, which is its agent's own and never leaves it (the paper's App. C.4).
///
/// ```text
/// fᵢ(y) = mean loss of y on validation samples        gᵢ(ψ,y) = mean of σ(ψₛ)·lossₛ(y) on training samples + τ/2 ‖y‖²
/// ```
/// A round moves the weights of the samples that it shows.
pub struct HyperCleaning<T> {
    training: Training<T>,
    ridge: f64,
}

impl<T: Scalar> HyperCleaning<T> {
    /// Suspects of each agent that are listed, and those of all agents together that are drawn.
    const LISTED: usize = 100;
    const DRAWN: usize = 40;

    /// Its metrics, each with a line on what it is.
    pub const METRICS: &'static [(&'static str, &'static str)] = &[
        Training::<T>::METRICS[0],
        Training::<T>::METRICS[1],
        Training::<T>::METRICS[2],
        ("auc", "how likely a sample with a right label weighs more than one with a wrong label"),
        ("weight_clean", "the mean weight σ(ψ) of samples with right labels"),
        ("weight_flipped", "the same of samples with wrong labels"),
    ];

    /// What users can choose.
    pub fn read_ridge(keys: &mut Keys<'_>) -> f64 {
        keys.number("ridge", 0.002, 0.0.., "τ of τ/2 ‖y‖² in the lower level")
    }

    /// With this τ.
    pub fn new(training: Training<T>, ridge: f64) -> Self {
        Self { training, ridge }
    }

    /// Every training sample's weight, and whether its label is wrong.
    fn weights(&self, view: &View<'_, T>) -> Vec<Vec<(f64, bool)>> {
        let shared = view.algorithm.blocks().width();
        let of = |agent: usize| {
            let point = view.point(agent);
            let share = &self.training.shares[agent];
            let wrong = share.train.labels().iter().zip(&share.truth).map(|(given, truth)| given != truth);
            point[shared..].iter().map(|&psi| sigmoid(psi).f64()).zip(wrong).collect()
        };
        view.agents.range().map(of).collect()
    }

    /// The samples that are trusted least, as people who clean data want to see them.
    fn suspects(&self, view: &View<'_, T>) -> Vec<Finding> {
        let mut rows = Vec::new();
        let mut worst = Vec::new();
        for (agent, weights) in view.agents.range().zip(self.weights(view)) {
            let share = &self.training.shares[agent];
            let mut order: Vec<usize> = (0..weights.len()).collect();
            order.sort_by(|&a, &b| weights[a].0.total_cmp(&weights[b].0));
            for (rank, &sample) in order.iter().take(Self::LISTED).enumerate() {
                let (weight, wrong) = weights[sample];
                let label = |label: u32| self.training.classes[label as usize].clone();
                let (given, truth) = (label(share.train.labels()[sample]), label(share.truth[sample]));
                let numbers = [agent, rank + 1, share.origin[sample]].map(|number| number.to_string());
                let row = numbers.into_iter().chain([
                    format!("{weight:.6}"),
                    given.clone(),
                    truth.clone(),
                    wrong.to_string(),
                ]);
                rows.push(row.collect());
                worst.push((weight, agent, sample, given, truth));
            }
        }
        let header = ["agent", "rank", "sample", "weight", "label", "true_label", "flipped"];
        let table = Content::Table { header: header.map(str::to_owned).to_vec(), rows };
        let mut findings = vec![Finding {
            name: "suspects".to_owned(),
            title: "training samples that are trusted least, by agent".to_owned(),
            content: table,
        }];
        worst.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        if let Some(width) = self.training.picture {
            let picture = |(weight, agent, sample, given, truth): &(f64, usize, usize, String, String)| Picture {
                width,
                pixels: self.training.shares[*agent]
                    .train
                    .row(*sample)
                    .iter()
                    .map(|pixel| pixel.f64() as f32)
                    .collect(),
                caption: vec![format!("“{given}”"), format!("is {truth}"), format!("σ = {weight:.3}")],
            };
            findings.push(Finding {
                name: "suspects-sheet".to_owned(),
                title: "the samples that are trusted least: label as given, true label, weight".to_owned(),
                content: Content::Pictures(worst.iter().take(Self::DRAWN).map(picture).collect()),
            });
        }
        findings
    }
}

impl<T: Scalar> Problem<T> for HyperCleaning<T> {
    fn agents(&self) -> usize {
        self.training.shares.len()
    }

    fn dim(&self) -> Dim {
        Dim { outer: 0, inner: self.training.model.parameters() }
    }

    fn private(&self, agent: usize) -> usize {
        self.training.shares[agent].train.len()
    }

    fn start(&self, _agent: usize, _own: &mut [T], _x: &mut [T], y: &mut [T]) {
        self.training.model.start(self.training.seed, y);
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: Slopes<'_, T>, scratch: &mut Scratch<T>) {
        let (sx, sy) = to.scale;
        if level == Level::Upper {
            let when = (at.agent, at.round);
            return self.training.add_mean_gradient(Part::Validation, when, at.y, sy, to.y, scratch);
        }
        let range = self.training.shown(Part::Train, at.agent, at.round);
        let share = T::of(1.0 / range.len() as f64);
        let ([weights, losses], scratch) = scratch.buffers_and_more([range.len(); 2]);
        let own = &at.own[range.clone()];
        weights.iter_mut().zip(own).for_each(|(weight, &psi)| *weight = sy * share * sigmoid(psi));
        let batch = self.training.part(Part::Train, at.agent).batch(range.clone());
        let slope = &mut *to.y;
        self.training.model.losses(at.y, batch, weights, Losses { each: &mut *losses, slope }, scratch);
        linalg::add_scaled(to.y, sy * T::of(self.ridge), at.y);
        if !to.own.is_empty() {
            for ((to, &psi), &loss) in to.own[range].iter_mut().zip(own).zip(&*losses) {
                let sigma = sigmoid(psi);
                *to += sx * share * sigma * (T::one() - sigma) * loss;
            }
        }
    }

    fn add_objective(&self, objective: Objective, at: Point<'_, T>, scale: T, y: &mut [T], scratch: &mut Scratch<T>) {
        self.training.add_objective(objective, at, scale, y, scratch);
        linalg::add_scaled(y, scale * T::of(self.ridge), at.y);
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        match level {
            Level::Upper => self.training.mean_loss(Part::Validation, at.agent, at.y),
            Level::Lower => {
                let losses = self.training.losses(Part::Train, at.agent, at.y);
                let sum: T = losses.iter().zip(at.own).map(|(&loss, &psi)| sigmoid(psi) * loss).sum();
                sum / T::of(losses.len() as f64) + T::of(0.5 * self.ridge) * linalg::norm_squared(at.y)
            }
        }
    }

    fn batches(&self, agent: usize) -> usize {
        self.training.batches(agent)
    }

    fn batch(&self, agent: usize, round: u64) -> usize {
        self.training.turn(agent, round)
    }

    fn noisy(&self) -> bool {
        self.most_batches() > 1
    }

    fn measure(&self, metric: &str, view: &View<'_, T>) -> Option<f64> {
        let mean = |flipped: bool| {
            let weights = self.weights(view).into_iter().flatten().filter(|(_, wrong)| *wrong == flipped);
            let (sum, count) = weights.fold((0.0, 0.0), |(sum, count), (weight, _)| (sum + weight, count + 1.0));
            (count > 0.0).then_some(sum / count)
        };
        match metric {
            "auc" => area_under_curve(self.weights(view).concat()),
            "weight_clean" => mean(false),
            "weight_flipped" => mean(true),
            _ => self.training.measure(metric, view),
        }
    }

    fn findings(&self, view: &View<'_, T>) -> Vec<Finding> {
        let mut findings = vec![self.training.partition()];
        // Weights that nobody moved rank nothing.
        if self.weights(view).iter().flatten().any(|(weight, _)| *weight != 0.5) {
            findings.extend(self.suspects(view));
        }
        findings
    }
}

fn sigmoid<T: Scalar>(psi: T) -> T {
    T::one() / (T::one() + (-psi).exp())
}

/// How likely a sample with a right label weighs more than one with a wrong label; equal weights count half.
fn area_under_curve(mut weights: Vec<(f64, bool)>) -> Option<f64> {
    weights.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut pairs, mut clean) = (0.0, 0.0, 0.0);
    for tied in weights.chunk_by(|a, b| a.0 == b.0) {
        let wrong = tied.iter().filter(|(_, wrong)| *wrong).count() as f64;
        let right = tied.len() as f64 - wrong;
        pairs += right * (below + 0.5 * wrong);
        below += wrong;
        clean += right;
    }
    (below * clean > 0.0).then_some(pairs / (below * clean))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_counts_pairs_in_order() {
        let right = |weight| (weight, false);
        let wrong = |weight| (weight, true);
        assert_eq!(area_under_curve(vec![right(0.9), wrong(0.1)]), Some(1.0));
        assert_eq!(area_under_curve(vec![right(0.1), wrong(0.9)]), Some(0.0));
        assert_eq!(area_under_curve(vec![right(0.5), wrong(0.5)]), Some(0.5));
        assert_eq!(area_under_curve(vec![right(0.5), right(0.2), wrong(0.3), wrong(0.2)]), Some((2.0 + 0.5) / 4.0));
        assert_eq!(area_under_curve(vec![right(0.5)]), None);
    }
}

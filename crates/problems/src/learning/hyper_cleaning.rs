//! Data hyper-cleaning: which samples to trust is learned from a few that were checked.

use fabnet_core::settings::SettingsReader;
use fabnet_core::{
    Capabilities, Dim, Finding, Findings, GradientMut, Level, Objective, Point, PrivatePart, Problem, Scalar, Scratch,
    SingleLevel, Solutions, Whose, linalg,
};

use super::model::Losses;
use super::suspects::{JudgedSamples, Suspects};
use super::training::{DataSplit, Training};

/// A model, and a weight σ(ψ) for every training sample, which is its agent's own and never leaves
/// it (the paper's App. C.4).
///
/// ```text
/// fᵢ(y) = mean loss of y on validation samples
/// gᵢ(ψ,y) = mean of σ(ψₛ)·lossₛ(y) on training samples + τ/2 ‖y‖²
/// ```
/// A round moves the weights of the samples that it shows.
pub struct HyperCleaning<T> {
    training: Training<T>,
    ridge: f64,
}

impl<T: Scalar> HyperCleaning<T> {
    /// Its metrics, each with a line on what it is.
    pub const METRICS: &'static [(&'static str, &'static str)] = &[
        Training::<T>::METRICS[0],
        Training::<T>::METRICS[1],
        Training::<T>::METRICS[2],
        ("auc", "probability that a right label has a larger sample weight than a wrong one"),
        ("weight_clean", "the mean sample weight σ(ψ) of samples with right labels"),
        ("weight_flipped", "the same of samples with wrong labels"),
    ];

    /// Reads the ridge from settings.
    pub fn read_ridge(keys: &mut SettingsReader<'_>) -> f64 {
        keys.number("ridge", 0.002, 0.0.., "τ of τ/2 ‖y‖² in the lower level")
    }

    /// Cleans data with this ridge τ.
    pub fn new(training: Training<T>, ridge: f64) -> Self {
        Self { training, ridge }
    }

    /// Every training sample's weight, and whether its label is wrong, where that is known.
    fn weights(&self, of: &dyn Solutions<T>) -> Vec<Vec<(f64, Option<bool>)>> {
        let weights = |agent: usize| {
            let share = &self.training.shares[agent];
            let wrong = |sample: usize| Some(share.truth.as_ref()?[sample] != share.train.labels()[sample]);
            of.private(agent).iter().enumerate().map(|(sample, &psi)| (sigmoid(psi).f64(), wrong(sample))).collect()
        };
        of.agents().map(weights).collect()
    }

    /// The weights of all samples of which it is known whether their label is wrong.
    fn judged(&self, of: &dyn Solutions<T>) -> impl Iterator<Item = (f64, bool)> {
        self.weights(of).into_iter().flatten().filter_map(|(weight, wrong)| Some((weight, wrong?)))
    }

    /// The samples of each agent that is known here, with their weights and what the mean y takes
    /// them for.
    fn judged_samples(&self, of: &dyn Solutions<T>) -> Vec<JudgedSamples<'_, T>> {
        let y = of.variables(Whose::Mean).1;
        let weights = self.weights(of).into_iter().map(|weights| weights.into_iter().map(|(weight, _)| weight));
        let judged = |(agent, weights): (usize, _)| JudgedSamples {
            agent,
            share: &self.training.shares[agent],
            weights,
            predicted: self.training.predicted(agent, &y),
        };
        of.agents().zip(weights.map(Iterator::collect)).map(judged).collect()
    }
}

impl<T: Scalar> Problem<T> for HyperCleaning<T> {
    fn agents(&self) -> usize {
        self.training.shares.len()
    }

    fn dim(&self) -> Dim {
        Dim { outer: 0, inner: self.training.model.parameters() }
    }

    fn start(&self, _agent: usize, _own: &mut [T], _x: &mut [T], y: &mut [T]) {
        self.training.model.start(self.training.seed, y);
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>, scratch: &mut Scratch<T>) {
        let (sx, sy) = to.scale;
        if level == Level::Upper {
            let when = (at.agent, at.round);
            return self.training.add_mean_gradient(DataSplit::Validation, when, at.y, sy, to.y, scratch);
        }
        let range = self.training.shown(DataSplit::Train, at.agent, at.round);
        if range.is_empty() {
            return;
        }
        let share = T::of(1.0 / range.len() as f64);
        let ([weights, losses], scratch) = scratch.buffers_and_more([range.len(); 2]);
        let own = &at.own[range.clone()];
        weights.iter_mut().zip(own).for_each(|(weight, &psi)| *weight = sy * share * sigmoid(psi));
        let batch = self.training.part(DataSplit::Train, at.agent).batch(range.clone());
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

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        match level {
            Level::Upper => self.training.mean_loss(DataSplit::Validation, at.agent, at.y),
            Level::Lower => {
                let losses = self.training.losses(DataSplit::Train, at.agent, at.y);
                let sum: T = losses.iter().zip(at.own).map(|(&loss, &psi)| sigmoid(psi) * loss).sum();
                sum / T::of(losses.len() as f64) + T::of(0.5 * self.ridge) * linalg::norm_squared(at.y)
            }
        }
    }

    fn capabilities(&self) -> Capabilities<'_, T> {
        Capabilities {
            private: Some(self),
            batches: Some(&self.training),
            data: Some(&self.training),
            noisy: self.training.is_noisy(),
            objective: Some(self),
            findings: Some(self),
            model: Some(&self.training),
            ..Capabilities::default()
        }
    }
}

impl<T: Scalar> PrivatePart for HyperCleaning<T> {
    fn private(&self, agent: usize) -> usize {
        self.training.shares[agent].train.len()
    }
}

impl<T: Scalar> SingleLevel<T> for HyperCleaning<T> {
    fn add_objective(&self, objective: Objective, at: Point<'_, T>, scale: T, y: &mut [T], scratch: &mut Scratch<T>) {
        self.training.add_objective(objective, at, scale, y, scratch);
        linalg::add_scaled(y, scale * T::of(self.ridge), at.y);
    }
}

impl<T: Scalar> Findings<T> for HyperCleaning<T> {
    fn measure(&self, metric: &str, of: &dyn Solutions<T>) -> Option<f64> {
        let mean = |flipped: bool| {
            let weights = self.judged(of).filter(|(_, wrong)| *wrong == flipped);
            let (sum, count) = weights.fold((0.0, 0.0), |(sum, count), (weight, _)| (sum + weight, count + 1.0));
            (count > 0.0).then_some(sum / count)
        };
        match metric {
            "auc" => area_under_curve(self.judged(of).collect()),
            "weight_clean" => mean(false),
            "weight_flipped" => mean(true),
            _ => self.training.measure(metric, of),
        }
    }

    fn findings(&self, of: &dyn Solutions<T>) -> Vec<Finding> {
        let mut findings = vec![self.training.partition()];
        // Weights that nobody moved rank nothing.
        if self.weights(of).iter().flatten().any(|(weight, _)| *weight != 0.5) {
            findings.extend(Suspects::new(self.judged_samples(of), &self.training.classes).findings());
        }
        findings
    }
}

fn sigmoid<T: Scalar>(psi: T) -> T {
    T::one() / (T::one() + (-psi).exp())
}

/// How likely a sample with a right label weighs more than one with a wrong label; equal weights
/// count half.
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

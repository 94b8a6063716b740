//! Hyperparameter tuning: how strongly to regularise is learned from a few clean samples.

use fabnet_core::settings::SettingsReader;
use fabnet_core::{
    Capabilities, Dim, Finding, Findings, GradientMut, Level, Objective, Point, Problem, Scalar, Scratch, SingleLevel,
    Solutions, Whose, linalg,
};

use super::training::{DataSplit, Training};

/// Softmax regression whose ridge is the outer variable (the paper's Sec. 1.1 and App. C.2).
///
/// ```text
/// fᵢ(x,y) = mean loss of y on validation samples
/// gᵢ(x,y) = mean loss of y on training samples + Σⱼ τ_k(j) yⱼ²
/// ```
/// with τ = exp(x) or τ = x; one for all parameters, or for those of each class or each input.
pub struct HyperTuning<T> {
    training: Training<T>,
    ridge: Ridge,
}

/// The regularisation that is learned.
#[derive(Clone, Copy, Debug)]
pub struct Ridge {
    /// The value at which τ starts.
    pub start: f64,
    /// Whether x is its logarithm, which keeps it positive.
    pub logarithmic: bool,
    /// The parameters that share one τ.
    pub per: Per,
}

/// The parameters that share one ridge τ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// All parameters share one.
    Model,
    /// The parameters of a class share one.
    Class,
    /// Those of an input; the bias counts as one.
    Input,
}

impl Ridge {
    /// Reads its settings.
    pub fn read(keys: &mut SettingsReader<'_>) -> Self {
        let forms = [("log", true), ("plain", false)];
        let logarithmic =
            keys.choice("ridge_form", &forms, "the outer variable is log τ, which keeps τ positive, or τ itself");
        let start = keys.number("ridge_start", 0.15, 0.0.., "where τ starts");
        if logarithmic && start == 0.0 {
            keys.mistake("ridge_start", "0 has no logarithm: start above 0, or take ridge_form = \"plain\"");
        }
        let pers = [("model", Per::Model), ("class", Per::Class), ("input", Per::Input)];
        let per =
            keys.choice("ridge_per", &pers, "one τ for all parameters, for those of each class, or of each input");
        Self { start, logarithmic, per }
    }

    /// The ridge τ at a coordinate of x.
    fn of<T: Scalar>(self, x: T) -> T {
        if self.logarithmic { x.exp() } else { x }
    }

    /// The derivative dτ/dx.
    fn slope<T: Scalar>(self, x: T) -> T {
        if self.logarithmic { x.exp() } else { T::one() }
    }
}

impl<T: Scalar> HyperTuning<T> {
    /// A model of one layer, with this ridge.
    pub fn new(training: Training<T>, ridge: Ridge) -> Self {
        Self { training, ridge }
    }

    /// Calls with each parameter's x, y and place in x: parameters are rows of classes.
    fn each<'a>(&'a self, x: &'a [T], y: &'a [T]) -> impl Iterator<Item = (usize, T, T)> + 'a {
        let classes = self.training.classes.len();
        y.iter().enumerate().map(move |(place, &value)| {
            let group = match self.ridge.per {
                Per::Model => 0,
                Per::Class => place % classes,
                Per::Input => place / classes,
            };
            (group, x[group], value)
        })
    }

    fn add_ridge(&self, x: &[T], y: &[T], scale: T, to: &mut [T]) {
        let twice = scale + scale;
        match self.ridge.per {
            Per::Model => linalg::add_scaled(to, twice * self.ridge.of(x[0]), y),
            _ => to.iter_mut().zip(self.each(x, y)).for_each(|(to, (_, x, y))| *to += twice * self.ridge.of(x) * y),
        }
    }
}

impl<T: Scalar> Problem<T> for HyperTuning<T> {
    fn agents(&self) -> usize {
        self.training.shares.len()
    }

    fn dim(&self) -> Dim {
        let (inner, classes) = (self.training.model.parameters(), self.training.classes.len());
        let outer = match self.ridge.per {
            Per::Model => 1,
            Per::Class => classes,
            Per::Input => inner / classes,
        };
        Dim { outer, inner }
    }

    fn start(&self, _agent: usize, _own: &mut [T], x: &mut [T], y: &mut [T]) {
        x.fill(T::of(if self.ridge.logarithmic { self.ridge.start.ln() } else { self.ridge.start }));
        self.training.model.start(self.training.seed, y);
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>, scratch: &mut Scratch<T>) {
        let (sx, sy) = to.scale;
        let when = (at.agent, at.round);
        match level {
            Level::Upper => self.training.add_mean_gradient(DataSplit::Validation, when, at.y, sy, to.y, scratch),
            Level::Lower => {
                self.training.add_mean_gradient(DataSplit::Train, when, at.y, sy, to.y, scratch);
                self.add_ridge(at.x, at.y, sy, to.y);
                if let [only] = to.x {
                    *only += sx * self.ridge.slope(at.x[0]) * linalg::norm_squared(at.y);
                } else if !to.x.is_empty() {
                    self.each(at.x, at.y).for_each(|(group, x, y)| to.x[group] += sx * self.ridge.slope(x) * y * y);
                }
            }
        }
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        match level {
            Level::Upper => self.training.mean_loss(DataSplit::Validation, at.agent, at.y),
            Level::Lower => {
                let ridge: T = self.each(at.x, at.y).map(|(_, x, y)| self.ridge.of(x) * y * y).sum();
                self.training.mean_loss(DataSplit::Train, at.agent, at.y) + ridge
            }
        }
    }

    fn capabilities(&self) -> Capabilities<'_, T> {
        Capabilities {
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

impl<T: Scalar> SingleLevel<T> for HyperTuning<T> {
    fn add_objective(&self, objective: Objective, at: Point<'_, T>, scale: T, y: &mut [T], scratch: &mut Scratch<T>) {
        self.training.add_objective(objective, at, scale, y, scratch);
        self.add_ridge(at.x, at.y, scale, y);
    }
}

impl<T: Scalar> Findings<T> for HyperTuning<T> {
    fn measure(&self, metric: &str, of: &dyn Solutions<T>) -> Option<f64> {
        if metric != "ridge" {
            return self.training.measure(metric, of);
        }
        let (x, _) = of.variables(Whose::Mean);
        Some(x.iter().map(|&x| self.ridge.of(x).f64()).sum::<f64>() / x.len() as f64)
    }

    fn findings(&self, _of: &dyn Solutions<T>) -> Vec<Finding> {
        vec![self.training.partition()]
    }
}

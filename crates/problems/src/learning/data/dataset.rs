//! A data set in memory, as it was published.

use std::sync::OnceLock;

use fabnet_core::Scalar;
use fabnet_core::settings::SettingsReader;

use super::Samples;

/// Samples to train with and others to test with.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// How wide its pictures are, if it consists of pictures.
    pub picture: Option<usize>,
    /// The number of scalars of a sample.
    pub width: usize,
    /// The samples to train with.
    pub train: Raw,
    /// The samples to test with.
    pub test: Raw,
    /// Mean and one over the standard deviation of the training inputs, once somebody has asked.
    moments: OnceLock<(f64, f64)>,
}

/// Rows with their labels.
#[derive(Clone, Debug)]
pub struct Raw {
    /// The inputs, row by row.
    pub inputs: Inputs,
    /// The class of each row.
    pub labels: Vec<u32>,
}

/// Rows as they were stored.
#[derive(Clone, Debug)]
pub enum Inputs {
    /// Grey values from 0 to 255.
    Bytes(Vec<u8>),
    /// Numbers that are used as they are.
    Numbers(Vec<f32>),
}

/// What inputs are made of stored rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// Grey values from 0 to 1; numbers as they are.
    Unit,
    /// Mean 0 and standard deviation 1, over all scalars of the training samples.
    Standard,
}

impl Scaling {
    /// Reads its settings.
    pub fn read(keys: &mut SettingsReader<'_>, default: Self) -> Self {
        let kinds = [("unit", Self::Unit), ("standard", Self::Standard)];
        let kinds = if default == Self::Unit { kinds } else { [kinds[1], kinds[0]] };
        keys.choice("scaling", &kinds, "grey values from 0 to 1, or standardised to mean 0 and deviation 1")
    }
}

impl Dataset {
    /// A data set of these samples and classes.
    pub fn new(classes: Vec<String>, picture: Option<usize>, width: usize, train: Raw, test: Raw) -> Self {
        Self { classes, picture, width, train, test, moments: OnceLock::new() }
    }

    /// These samples of those to train with.
    pub fn training<T: Scalar>(&self, samples: &[usize], scaling: Scaling) -> Samples<T> {
        self.scaled(&self.train, samples.iter().copied(), scaling)
    }

    /// The first `count` of the samples to test with.
    pub fn testing<T: Scalar>(&self, count: usize, scaling: Scaling) -> Samples<T> {
        self.scaled(&self.test, 0..count.min(self.test.labels.len()), scaling)
    }

    fn scaled<T: Scalar>(
        &self,
        raw: &Raw,
        samples: impl Iterator<Item = usize> + Clone,
        scaling: Scaling,
    ) -> Samples<T> {
        let (shift, factor) = match scaling {
            Scaling::Unit => (0.0, self.train.inputs.unit()),
            Scaling::Standard => *self.moments.get_or_init(|| self.train.inputs.standard()),
        };
        let mut inputs = Vec::with_capacity(samples.clone().count() * self.width);
        for sample in samples.clone() {
            let row = sample * self.width..(sample + 1) * self.width;
            match &raw.inputs {
                Inputs::Bytes(bytes) => {
                    inputs.extend(bytes[row].iter().map(|&value| T::of((f64::from(value) - shift) * factor)));
                }
                Inputs::Numbers(numbers) => {
                    inputs.extend(numbers[row].iter().map(|&value| T::of((f64::from(value) - shift) * factor)));
                }
            }
        }
        let labels = samples.map(|sample| raw.labels[sample]).collect();
        Samples::new(self.width, inputs, labels).as_pictures(self.picture)
    }
}

impl Inputs {
    /// Numbers, standardised to mean 0 and deviation 1.
    pub fn standardised(mut numbers: Vec<f32>) -> Self {
        let (mean, factor) = moments(numbers.iter().map(|&value| (f64::from(value), 1.0)));
        for value in &mut numbers {
            *value = ((f64::from(*value) - mean) * factor) as f32;
        }
        Self::Numbers(numbers)
    }

    fn unit(&self) -> f64 {
        if let Self::Bytes(_) = self { 1.0 / 255.0 } else { 1.0 }
    }

    /// The mean, and one over the standard deviation.
    fn standard(&self) -> (f64, f64) {
        match self {
            // Sums over bytes are sums over 256 values.
            Self::Bytes(bytes) => {
                let mut counts = [0u32; 256];
                for &value in bytes {
                    counts[usize::from(value)] += 1;
                }
                moments(counts.iter().zip(0u8..).map(|(&count, value)| (f64::from(value), f64::from(count))))
            }
            Self::Numbers(numbers) => moments(numbers.iter().map(|&value| (f64::from(value), 1.0))),
        }
    }
}

/// The mean of values that occur so often each, and one over their standard deviation.
fn moments(values: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let total = values.clone().map(|(_, count)| count).sum::<f64>();
    let mean = values.clone().map(|(value, count)| value * count).sum::<f64>() / total;
    let variance = values.map(|(value, count)| (value - mean).powi(2) * count).sum::<f64>() / total;
    (mean, variance.max(f64::MIN_POSITIVE).sqrt().recip())
}

//! What each agent is given.

use fabnet_core::Scalar;
use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::settings::{POSITIVE, SettingsReader};

use super::{Dataset, LabelNoise, Partition, Samples, Scaling};

/// The data of one agent.
#[derive(Clone, Debug)]
pub struct Share<T> {
    /// To train with; some labels are wrong.
    pub train: Samples<T>,
    /// The true labels of these, for metrics only; where data is real, nobody knows them.
    pub truth: Option<Vec<u32>>,
    /// Where these stand in the data set.
    pub origin: Vec<usize>,
    /// A small part that was checked: its labels are right.
    pub validation: Samples<T>,
}

/// How data is partitioned between agents.
pub struct Deal {
    scaling: Scaling,
    per_agent: Option<usize>,
    concentration: Option<f64>,
    minimum: usize,
    validation: f64,
    corruption: f64,
    noise: Box<dyn Fn(u32) -> Result<LabelNoise, String> + Send + Sync>,
}

/// The partition of data if no settings are given.
pub struct DataDefaults {
    /// What inputs are made of stored rows, if that is a choice.
    pub scaling: Option<Scaling>,
    /// Samples of an agent, on average; all there are if not given.
    pub per_agent: Option<usize>,
    /// The part of an agent's samples that is for validation.
    pub validation: f64,
    /// The part of training labels that is wrong.
    pub corruption: f64,
    /// Whether wrong labels may be any.
    pub symmetric: bool,
}

impl<T: Scalar> Share<T> {
    /// What an agent has here whose data is elsewhere.
    pub fn elsewhere(width: usize) -> Self {
        let nothing = Samples::empty(width);
        Self { train: nothing.clone(), truth: None, origin: Vec::new(), validation: nothing }
    }

    /// Whether this agent's data is elsewhere.
    pub fn is_elsewhere(&self) -> bool {
        self.train.is_empty()
    }
}

impl Deal {
    /// Reads its settings.
    pub fn read(keys: &mut SettingsReader<'_>, defaults: DataDefaults) -> Self {
        let scaling = defaults.scaling.map_or(Scaling::Unit, |defaults| Scaling::read(keys, defaults));
        let about = "samples of an agent, on average";
        let per_agent = match defaults.per_agent {
            Some(defaults) => Some(keys.whole("samples_per_agent", defaults as u64, 2.., about)),
            None => keys.optional_whole("samples_per_agent", 2.., &format!("{about}; all there are if not given")),
        };
        let concentration = keys.optional_number(
            "concentration",
            POSITIVE,
            "ρ: classes are divided by Dirichlet's distribution, the smaller the more unevenly; evenly if not given",
        );
        let minimum =
            keys.whole("minimum", 2, 2.., "samples that every agent has, however classes are divided") as usize;
        let validation = keys.number(
            "validation",
            defaults.validation,
            fabnet_core::settings::PART,
            "the fraction with verified labels (validation set), kept for the upper level",
        );
        let corruption =
            keys.number("corruption", defaults.corruption, 0.0..=1.0, "the fraction of training labels that is wrong");
        let noise = Box::new(LabelNoise::read(keys, defaults.symmetric));
        Self {
            scaling,
            per_agent: per_agent.map(|count| count as usize),
            concentration,
            minimum,
            validation,
            corruption,
            noise,
        }
    }

    /// Partitions a data set between agents.
    pub fn shares<T: Scalar>(&self, data: &Dataset, agents: usize, seed: u64) -> Result<Vec<Share<T>>, String> {
        let there = data.train.labels.len();
        let wanted = self.per_agent.map_or(there, |count| count * agents);
        if wanted > there {
            return Err(format!(
                "{agents} agents with {} samples each need {wanted}, but the data set has {there}: lower samples_per_agent or agents",
                wanted / agents
            ));
        }
        if self.minimum * agents > wanted {
            return Err(format!(
                "{agents} agents with at least {} samples each need {}, but {wanted} are divided among them: lower minimum, or raise samples_per_agent",
                self.minimum,
                self.minimum * agents
            ));
        }
        let noise = (self.noise)(data.classes.len() as u32)?;
        let order = Stream::new(seed, EVERYONE, 0, Purpose::Partition).permutation(there);
        let samples = &order[..wanted];
        let partition = match self.concentration {
            Some(concentration) => {
                Partition::dirichlet(samples, &data.train.labels, agents, concentration, self.minimum, seed)
            }
            None => Partition::even(samples, agents, seed),
        };
        Ok(partition.0.iter().enumerate().map(|(agent, hand)| self.share(data, hand, &noise, seed, agent)).collect())
    }

    /// Divides an agent's samples: at least one on either side.
    fn share<T: Scalar>(
        &self,
        data: &Dataset,
        hand: &[usize],
        noise: &LabelNoise,
        seed: u64,
        agent: usize,
    ) -> Share<T> {
        let checked = ((self.validation * hand.len() as f64).round() as usize).clamp(1, hand.len() - 1);
        let (validation, train) = hand.split_at(checked);
        let mut samples = data.training(train, self.scaling);
        let truth = samples.labels().to_vec();
        samples.relabel(noise.corrupt(&truth, data.classes.len() as u32, self.corruption, seed, agent));
        Share {
            train: samples,
            truth: Some(truth),
            origin: train.to_vec(),
            validation: data.training(validation, self.scaling),
        }
    }

    /// A number of samples to test with, prepared in the same way.
    pub fn testing<T: Scalar>(&self, data: &Dataset, count: usize) -> Samples<T> {
        data.testing(count, self.scaling)
    }
}

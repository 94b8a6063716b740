//! The learning problems by name.

use std::sync::Arc;

use fabnet_core::Scalar;
use fabnet_core::settings::{Given, Keys, Value};

use super::data::{Deal, Library, Scaling, Usual};
use super::hyper_tuning::Ridge;
use super::{HyperCleaning, HyperTuning, Mlp, Training};
use crate::Kind;

/// The kinds of learning problems.
pub(crate) fn kinds<T: Scalar>() -> Vec<Kind<T>> {
    vec![
        Kind {
            name: "hyper-tuning",
            about: "softmax regression whose ridge is learned from clean samples, bilevel",
            metrics: TUNING,
            checksum: Some(checksum),
            read: |keys| {
                let usual = Usual {
                    scaling: Scaling::Standard,
                    per_agent: Some(25),
                    validation: 0.2,
                    corruption: 0.2,
                    symmetric: true,
                };
                let class = Class::read(keys, SETS, usual, None);
                let ridge = Ridge::read(keys);
                Box::new(move |agents, seed| Ok(Arc::new(HyperTuning::new(class.training(&[], agents, seed)?, ridge))))
            },
        },
        Kind {
            name: "hyper-cleaning",
            about: "a multilayer perceptron and a private weight for every sample, bilevel",
            metrics: CLEANING,
            checksum: Some(checksum),
            read: |keys| {
                let usual = Usual {
                    scaling: Scaling::Unit,
                    per_agent: None,
                    validation: 0.1,
                    corruption: 0.4,
                    symmetric: false,
                };
                let class = Class::read(keys, [SETS[1], SETS[0], SETS[2]], usual, Some(64));
                let width = keys.whole("hidden", 256, 1..=100_000, "units of a hidden layer") as usize;
                let layers = keys.whole("layers", 1, 0..=100, "hidden layers; 0 is softmax regression") as usize;
                let ridge = keys.number("ridge", 0.002, 0.0.., "τ of τ/2 ‖y‖² in the lower level");
                let hidden = vec![width; layers];
                Box::new(move |agents, seed| {
                    Ok(Arc::new(HyperCleaning::new(class.training(&hidden, agents, seed)?, ridge)))
                })
            },
        },
    ]
}

const TUNING: &[(&str, &str)] = &[
    Training::<f64>::METRICS[0],
    Training::<f64>::METRICS[1],
    Training::<f64>::METRICS[2],
    ("ridge", "τ at the mean x, averaged where there are several"),
];

const CLEANING: &[(&str, &str)] = &[
    Training::<f64>::METRICS[0],
    Training::<f64>::METRICS[1],
    Training::<f64>::METRICS[2],
    ("auc", "how likely a sample with a right label weighs more than one with a wrong label"),
    ("weight_clean", "the mean weight σ(ψ) of samples with right labels"),
    ("weight_flipped", "the same of samples with wrong labels"),
];

/// The data sets.
const SETS: [(&str, &str); 3] = [("mnist", "mnist"), ("fashion-mnist", "fashion-mnist"), ("synthetic", "synthetic")];

fn checksum(settled: &dyn Given) -> Result<String, String> {
    match settled.get("data") {
        Some(Value::Text(name)) => Ok(Library::usual().dataset(&name)?.1.clone()),
        _ => Err("no data set is named".to_owned()),
    }
}

/// What all learning problems ask for.
struct Class {
    data: &'static str,
    checksum: Option<String>,
    test: Option<usize>,
    batch: Option<usize>,
    deal: Deal,
}

impl Class {
    fn read(keys: &mut Keys<'_>, sets: [(&'static str, &'static str); 3], usual: Usual, batch: Option<u64>) -> Self {
        let data = keys.choice("data", &sets, "the data set; `fabnet data list` says where it is looked for");
        let checksum = keys.text("sha256", "a checksum", "what the data set must hold; noted in plans");
        let deal = Deal::read(keys, usual);
        let about = "samples of a mini-batch, of which a round shows each agent one";
        let batch = match batch {
            Some(usual) => Some(keys.whole("batch", usual, 1.., about)),
            None => keys.optional_whole("batch", 1.., &format!("{about}; all of its samples if not given")),
        };
        let test = keys.optional_whole("test_samples", 1.., "samples to test with; all there are if not given");
        let size = |number: u64| number as usize;
        Self { data, checksum, test: test.map(size), batch: batch.map(size), deal }
    }

    fn training<T: Scalar>(&self, hidden: &[usize], agents: usize, seed: u64) -> Result<Training<T>, String> {
        let found = Library::usual().dataset(self.data)?;
        let (data, checksum) = &*found;
        if let Some(known) = self.checksum.as_ref().filter(|known| *known != checksum) {
            return Err(format!(
                "the data set `{}` in {} has the checksum {checksum}, but this plan was made with {known}: results would differ. \
                 `fabnet data verify` says which file has changed",
                self.data,
                Library::usual().folder().display()
            ));
        }
        Ok(Training {
            model: Box::new(Mlp::new(data.width, hidden, data.classes.len())),
            shares: self.deal.shares(data, agents, seed)?,
            test: self.deal.testing(data, self.test.unwrap_or(usize::MAX)),
            classes: data.classes.clone(),
            picture: data.picture,
            batch: self.batch.unwrap_or(usize::MAX),
            seed,
        })
    }
}

/// Settings for tests: data that needs no files, and little of it.
pub(crate) fn small() -> [(&'static str, Value); 4] {
    [
        ("data", "synthetic".into()),
        ("samples_per_agent", Value::Whole(12)),
        ("hidden", Value::Whole(5)),
        ("batch", Value::Whole(1000)),
    ]
}

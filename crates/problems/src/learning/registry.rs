//! The learning problems by name.

use std::sync::Arc;

use fabnet_core::Scalar;
use fabnet_core::settings::{SettingsReader, SettingsSource, Value};

use super::data::{DataDefaults, Library, OWN, Scaling};
use super::hyper_tuning::Ridge;
use super::{HyperCleaning, HyperTuning, Mlp, Training, TrainingSpec};
use crate::ProblemKind;

/// The learning problems of the registry.
pub(crate) fn kinds<T: Scalar>() -> Vec<ProblemKind<T>> {
    vec![
        ProblemKind {
            name: "hyper-tuning",
            about: "softmax regression whose ridge is learned from clean samples, bilevel",
            metrics: TUNING,
            checksum: Some(checksum),
            divide: Some(|keys, agents, seed, folder| {
                train::<T>(&tuning_spec(keys), &[], agents, seed)?.divide(folder)
            }),
            read: |keys| {
                let (spec, ridge) = (tuning_spec(keys), Ridge::read(keys));
                Box::new(move |agents, seed| Ok(Arc::new(HyperTuning::new(train(&spec, &[], agents, seed)?, ridge))))
            },
        },
        ProblemKind {
            name: "hyper-cleaning",
            about: "a multilayer perceptron and a private sample weight for every sample, bilevel",
            metrics: HyperCleaning::<f64>::METRICS,
            checksum: Some(checksum),
            divide: Some(|keys, agents, seed, folder| {
                train::<T>(&cleaning_spec(keys), &[], agents, seed)?.divide(folder)
            }),
            read: |keys| {
                let spec = cleaning_spec(keys);
                let (hidden, ridge) = (Mlp::read_hidden(keys, 1), HyperCleaning::<T>::read_ridge(keys));
                Box::new(move |agents, seed| {
                    Ok(Arc::new(HyperCleaning::new(train(&spec, &hidden, agents, seed)?, ridge)))
                })
            },
        },
    ]
}

fn tuning_spec(keys: &mut SettingsReader<'_>) -> TrainingSpec {
    let defaults = DataDefaults {
        scaling: Some(Scaling::Standard),
        per_agent: Some(25),
        validation: 0.2,
        corruption: 0.2,
        symmetric: true,
    };
    TrainingSpec::read(keys, &SETS, defaults, None)
}

fn cleaning_spec(keys: &mut SettingsReader<'_>) -> TrainingSpec {
    let defaults = DataDefaults {
        scaling: Some(Scaling::Unit),
        per_agent: None,
        validation: 0.1,
        corruption: 0.4,
        symmetric: false,
    };
    TrainingSpec::read(keys, &[SETS[1], SETS[0], SETS[2], SETS[3]], defaults, Some(64))
}

const TUNING: &[(&str, &str)] = &[
    Training::<f64>::METRICS[0],
    Training::<f64>::METRICS[1],
    Training::<f64>::METRICS[2],
    ("ridge", "τ at the mean x, averaged where there are several"),
];

/// The data sets, each with what it is.
const SETS: [(&str, &str); 4] =
    [("mnist", "mnist"), ("fashion-mnist", "fashion-mnist"), ("synthetic", "synthetic"), (OWN, OWN)];

fn checksum(settled: &dyn SettingsSource) -> Result<Option<String>, String> {
    match settled.get("data") {
        // Everybody's differs, and a plan is the same for all.
        Some(Value::Text(name)) if name == OWN => Ok(None),
        Some(Value::Text(name)) => Ok(Some(Library::usual().dataset(&name)?.1.clone())),
        _ => Err("no data set is named".to_owned()),
    }
}

/// A perceptron, and the data that is asked for.
fn train<T: Scalar>(spec: &TrainingSpec, hidden: &[usize], agents: usize, seed: u64) -> Result<Training<T>, String> {
    if let Some(own) = spec.own() {
        return spec.own_training(Box::new(Mlp::new(own.features, hidden, own.classes)), agents, seed);
    }
    let found = Library::usual().dataset(spec.data)?;
    let (data, checksum) = &*found;
    spec.training(data, checksum, Box::new(Mlp::new(data.width, hidden, data.classes.len())), agents, seed)
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

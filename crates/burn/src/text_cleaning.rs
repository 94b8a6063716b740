//! Text cleaning: reviews of which some have wrong labels, through an encoder that stays as it is
//! or is trained, too.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use fabnet_core::Scalar;
use fabnet_core::settings::{SettingsReader, SettingsSource};
use fabnet_problems::ProblemKind;
use fabnet_problems::learning::data::{DataDefaults, Dataset, Entry, Inputs, Library, Raw, known, reviews};
use fabnet_problems::learning::{HyperCleaning, Mlp, Model, TrainingSpec};

use crate::bert::{BertClassifier, Encoder, Tokens};
use crate::feature_cache;

/// The problems that this crate adds to those that are built in.
pub fn kinds<T: Scalar>() -> Vec<ProblemKind<T>> {
    vec![ProblemKind {
        name: "text-cleaning",
        about: "texts through BERT, and a private sample weight for each of them, bilevel",
        metrics: HyperCleaning::<f64>::METRICS,
        checksum: Some(|_: &dyn SettingsSource| checksum().map(Some)),
        divide: None,
        read: |keys| {
            let defaults =
                DataDefaults { scaling: None, per_agent: None, validation: 0.1, corruption: 0.3, symmetric: false };
            let spec = TrainingSpec::read(keys, &[(IMDB, IMDB)], defaults, Some(64));
            let reading = Reading::read(keys);
            let (hidden, ridge) = (Mlp::read_hidden(keys, 0), HyperCleaning::<T>::read_ridge(keys));
            Box::new(move |agents, seed| {
                let data = reading.dataset(spec.test)?;
                let model: Box<dyn Model<T>> = if reading.trained {
                    let encoder = Encoder::load(&folder(BERT)).map_err(|error| error.to_string())?;
                    let model = BertClassifier::new(encoder, reading.length, data.classes.len());
                    of_scalar(Box::new(model.map_err(|error| error.to_string())?))?
                } else {
                    Box::new(Mlp::new(data.width, &hidden, data.classes.len()))
                };
                Ok(Arc::new(HyperCleaning::new(spec.training(&data, &checksum()?, model, agents, seed)?, ridge)))
            })
        },
    }]
}

/// Texts whose features are kept together.
const PIECE: usize = 1000;
const IMDB: &str = "imdb";
const BERT: &str = "bert";

/// How texts become samples.
#[derive(Clone, Copy)]
struct Reading {
    /// Whether samples are tokens, for an encoder that is trained, instead of features.
    trained: bool,
    length: usize,
    texts: Option<usize>,
}

impl Reading {
    fn read(keys: &mut SettingsReader<'_>) -> Self {
        let modes = [("frozen", false), ("trained", true)];
        let about = "BERT stays as it is, and a head learns from its features; or all of it is trained, with precision = \"f32\"";
        let trained = keys.choice("encoder", &modes, about);
        let length = keys.whole("length", Tokens::LENGTH as u64, 2..=512, "tokens of a text, at most") as usize;
        let about = "texts to train with that are read at all, evenly spread; all if not given. Encoding all takes minutes, once";
        let texts = keys.optional_whole("texts", 2.., about).map(|count| count as usize);
        Self { trained, length, texts }
    }

    /// Reviews as samples, prepared once for all runs of this process.
    fn dataset(self, test: Option<usize>) -> Result<Arc<Dataset>, String> {
        static PREPARED: OnceLock<Mutex<BTreeMap<String, Arc<Dataset>>>> = OnceLock::new();
        let name = format!("{:?}", (self.trained, self.length, self.texts, test));
        let mut prepared =
            PREPARED.get_or_init(Mutex::default).lock().map_err(|_| "a thread died while reading texts")?;
        if let Some(found) = prepared.get(&name) {
            return Ok(found.clone());
        }
        let tokens = Tokens::load(&folder(BERT), self.length).map_err(|error| error.to_string())?;
        let encoder =
            if self.trained { None } else { Some(Encoder::load(&folder(BERT)).map_err(|error| error.to_string())?) };
        let width = encoder.as_ref().map_or(self.length, Encoder::width);
        let [train, test] =
            [(0, self.texts), (1, test)].map(|(file, count)| self.samples(file, count, &tokens, encoder.as_ref()));
        let classes = ["negative", "positive"].map(str::to_owned).to_vec();
        let dataset = Arc::new(Dataset::new(classes, None, width, train?, test?));
        prepared.insert(name, dataset.clone());
        Ok(dataset)
    }

    /// A given number of reviews of one file, evenly spread over it.
    fn samples(
        self,
        file: usize,
        count: Option<usize>,
        tokens: &Tokens,
        encoder: Option<&Encoder>,
    ) -> Result<Raw, String> {
        let entry = entry(IMDB);
        let (name, digest) = entry.files[file];
        let text =
            String::from_utf8(Library::usual().file(entry, name)?).map_err(|error| format!("{name}: {error}"))?;
        let all = reviews(&text).map_err(|error| format!("{name}: {error}"))?;
        let count = count.unwrap_or(all.len()).min(all.len());
        let chosen: Vec<_> = (0..count).map(|place| all[place * all.len() / count]).collect();
        let texts: Vec<&str> = chosen.iter().map(|review| review.text).collect();
        let labels = chosen.iter().map(|review| review.label).collect();
        let rows = |texts: &[&str]| tokens.rows(texts).map_err(|error| format!("{name}: {error}"));
        let inputs = match encoder {
            None => Inputs::Numbers(rows(&texts)?),
            Some(encoder) => {
                let key = format!("{digest}-{}-{count}-{}", entry_digest(BERT), self.length);
                let mut features = Vec::with_capacity(count * encoder.width());
                // Kept piece by piece: whoever is interrupted goes on from there.
                for (piece, texts) in texts.chunks(PIECE).enumerate() {
                    let compute = || Ok(encoder.features(&rows(texts)?, self.length));
                    features.extend(feature_cache::get(
                        &format!("{key}-{piece}"),
                        texts.len() * encoder.width(),
                        compute,
                    )?);
                }
                // Scaled, so that step sizes mean the same as elsewhere.
                Inputs::standardised(features)
            }
        };
        Ok(Raw { inputs, labels })
    }
}

/// A model of `f32` as one of whatever scalar is asked for, which had better be the same.
fn of_scalar<T: Scalar>(model: Box<dyn Model<f32>>) -> Result<Box<dyn Model<T>>, String> {
    let model: Box<dyn Any> = Box::new(model);
    let same = model.downcast::<Box<dyn Model<T>>>();
    same.map(|model| *model).map_err(|_| "encoder = \"trained\" needs precision = \"f32\"".to_owned())
}

fn entry(name: &str) -> &'static Entry {
    known().iter().find(|entry| entry.name == name).expect("a data set that is known")
}

fn folder(name: &str) -> std::path::PathBuf {
    Library::usual().folder().join(name)
}

/// What a data set should hold, in a word.
fn entry_digest(name: &str) -> String {
    entry(name).files.iter().map(|(_, digest)| &digest[..8]).collect()
}

/// The checksum of the reviews and of the model, read once.
fn checksum() -> Result<String, String> {
    static FOUND: OnceLock<Result<String, String>> = OnceLock::new();
    FOUND.get_or_init(|| Library::usual().checksum(&[entry(IMDB), entry(BERT)])).clone()
}

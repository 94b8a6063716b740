//! Data that agents hold themselves: a file for each, which nobody needs to have but its agent's
//! node.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fabnet_core::Scalar;
use fabnet_core::settings::SettingsReader;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use super::{Library, Samples, Share};

/// What all agents agree on about data that they do not show each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnData {
    /// The number of scalars of a sample.
    pub features: usize,
    /// The number of classes.
    pub classes: usize,
}

/// As users write it, and the folder of its files.
pub(crate) const OWN: &str = "own";

impl OwnData {
    /// Reads its settings.
    pub(crate) fn read(keys: &mut SettingsReader<'_>) -> Self {
        let mut needed = |name: &str, least: u64, about: &str| {
            let given = keys.optional_whole(name, least.., &format!("{about}; needed by data = \"own\""));
            if given.is_none() {
                keys.mistake(name, format!("data = \"own\" needs it: {about}"));
            }
            given.unwrap_or(least) as usize
        };
        let features = needed("features", 1, "scalars of a sample");
        Self { features, classes: needed("classes", 2, "how many classes there are") }
    }

    /// Where the file of an agent, or of what is tested with, is looked for.
    pub(crate) fn path(name: impl std::fmt::Display) -> PathBuf {
        file(Library::usual().folder(), name)
    }

    /// What an agent holds; none if it is not here.
    pub(crate) fn share<T: Scalar>(self, agent: usize) -> Result<Option<Share<T>>, String> {
        open(&Self::path(agent), |tensors| self.share_in(tensors))
    }

    /// What the tensors of an agent's file hold.
    fn share_in<T: Scalar>(self, tensors: &SafeTensors<'_>) -> Result<Share<T>, String> {
        let (train, validation) = (self.samples(tensors, "train")?, self.samples(tensors, "checked")?);
        if train.is_empty() || validation.is_empty() {
            return Err("an agent needs at least one sample in `train` and one in `checked`".to_owned());
        }
        let truth = match tensors.tensor("true_labels") {
            Ok(_) => Some(self.labels(tensors, "true_labels")?),
            Err(_) => None,
        };
        if truth.as_ref().is_some_and(|truth| truth.len() != train.len()) {
            return Err("`true_labels` and `train_labels` differ in number".to_owned());
        }
        Ok(Share { origin: (0..train.len()).collect(), train, truth, validation })
    }

    /// The first `count` samples to test with, if there is a file of them.
    pub(crate) fn test<T: Scalar>(self, count: usize) -> Result<Samples<T>, String> {
        let found = open(&Self::path("test"), |tensors| self.samples(tensors, "test"))?;
        Ok(found.map_or_else(|| Samples::empty(self.features), |test| test.first(count)))
    }

    /// Rows `name` and their labels `name_labels`.
    fn samples<T: Scalar>(self, tensors: &SafeTensors<'_>, name: &str) -> Result<Samples<T>, String> {
        let rows = tensor(tensors, name)?;
        let labels = self.labels(tensors, &format!("{name}_labels"))?;
        let width: usize = rows.shape().iter().skip(1).product();
        if width != self.features || rows.shape().first() != Some(&labels.len()) {
            let (shape, count, features) = (rows.shape(), labels.len(), self.features);
            return Err(format!("`{name}` is {shape:?}, but there are {count} labels, and features = {features}"));
        }
        let data = rows.data();
        let inputs: Vec<T> = match rows.dtype() {
            Dtype::U8 => data.iter().map(|&value| T::of(f64::from(value) * (1.0 / 255.0))).collect(),
            Dtype::F32 => data.chunks_exact(4).map(|scalar| T::of(f64::from(f32::read(scalar)))).collect(),
            Dtype::F64 => data.chunks_exact(8).map(|scalar| T::of(f64::read(scalar))).collect(),
            other => return Err(format!("`{name}` holds {other:?}: use U8 (grey values), F32 or F64")),
        };
        if !inputs.iter().all(|value| value.is_finite()) {
            return Err(format!("`{name}` holds something that is no number"));
        }
        let picture = if let [_, _, width] = rows.shape() { Some(*width) } else { None };
        Ok(Samples::new(width, inputs, labels).as_pictures(picture))
    }

    fn labels(self, tensors: &SafeTensors<'_>, name: &str) -> Result<Vec<u32>, String> {
        let tensor = tensor(tensors, name)?;
        let whole = |bytes: &[u8]| -> u64 { bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)) };
        let size = match tensor.dtype() {
            Dtype::U8 => 1,
            Dtype::I32 | Dtype::U32 => 4,
            Dtype::I64 | Dtype::U64 => 8,
            other => return Err(format!("`{name}` holds {other:?}: labels are whole numbers")),
        };
        let label = |bytes: &[u8]| u32::try_from(whole(bytes)).ok().filter(|&label| (label as usize) < self.classes);
        let labels: Option<Vec<u32>> = tensor.data().chunks_exact(size).map(label).collect();
        labels.ok_or_else(|| format!("`{name}` has a label beyond 0 to {}", self.classes - 1))
    }
}

/// Reads a file; none if there is none.
fn open<R>(path: &Path, read: impl FnOnce(&SafeTensors<'_>) -> Result<R, String>) -> Result<Option<R>, String> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(|error| format!("{}: {error}", path.display()))?,
    };
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| error.to_string());
    tensors.and_then(|tensors| read(&tensors)).map(Some).map_err(|error| format!("{}: {error}", path.display()))
}

fn tensor<'a>(tensors: &SafeTensors<'a>, name: &str) -> Result<TensorView<'a>, String> {
    tensors.tensor(name).map_err(|_| {
        format!("`{name}` is missing: a file needs train, train_labels, checked and checked_labels (of a test: test and test_labels)")
    })
}

fn file(folder: &Path, name: impl std::fmt::Display) -> PathBuf {
    folder.join(OWN).join(format!("{name}.safetensors"))
}

/// Writes what agents were dealt, and what to test with, as files that each could have brought
/// itself.
pub(crate) fn write<T: Scalar>(folder: &Path, shares: &[Share<T>], test: &Samples<T>) -> Result<(), String> {
    let write = |name: &str, parts: &[(&str, Rows<'_, T>)]| {
        let path = file(folder, name);
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        fs::create_dir_all(folder.join(OWN)).map_err(|error| failed(&error))?;
        let tensors: Vec<(&str, Dtype, Vec<usize>, Vec<u8>)> =
            parts.iter().map(|(name, rows)| rows.tensor(name)).collect();
        let views = tensors
            .iter()
            .map(|(name, kind, shape, bytes)| TensorView::new(*kind, shape.clone(), bytes).map(|view| (*name, view)));
        let views: Vec<_> = views.collect::<Result<_, _>>().map_err(|error| failed(&error))?;
        safetensors::serialize_to_file(views, None, &path).map_err(|error| failed(&error))
    };
    for (agent, share) in shares.iter().enumerate() {
        let mut parts = vec![
            ("train", Rows::Inputs(&share.train)),
            ("train_labels", Rows::Labels(share.train.labels())),
            ("checked", Rows::Inputs(&share.validation)),
            ("checked_labels", Rows::Labels(share.validation.labels())),
        ];
        parts.extend(share.truth.as_ref().map(|truth| ("true_labels", Rows::Labels(truth))));
        write(&agent.to_string(), &parts)?;
    }
    write("test", &[("test", Rows::Inputs(test)), ("test_labels", Rows::Labels(test.labels()))])
}

/// What is written as a tensor.
enum Rows<'a, T> {
    Inputs(&'a Samples<T>),
    Labels(&'a [u32]),
}

impl<T: Scalar> Rows<'_, T> {
    fn tensor<'n>(&self, name: &'n str) -> (&'n str, Dtype, Vec<usize>, Vec<u8>) {
        let mut bytes = Vec::new();
        match self {
            Self::Inputs(samples) => {
                samples.all().inputs.iter().for_each(|scalar| scalar.write(&mut bytes));
                let kind = if T::BYTES == 4 { Dtype::F32 } else { Dtype::F64 };
                let row = samples.picture().map_or(vec![samples.width()], |width| vec![samples.width() / width, width]);
                (name, kind, [vec![samples.len()], row].concat(), bytes)
            }
            Self::Labels(labels) => {
                labels.iter().for_each(|label| bytes.extend(label.to_le_bytes()));
                (name, Dtype::U32, vec![labels.len()], bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DATA: OwnData = OwnData { features: 2, classes: 3 };

    /// The file of an agent with four samples, in grey values, single or double scalars.
    fn file_of(kind: Dtype) -> Vec<u8> {
        let scalar = match kind {
            Dtype::U8 => vec![51],
            Dtype::F32 => 0.25_f32.to_le_bytes().to_vec(),
            _ => 0.25_f64.to_le_bytes().to_vec(),
        };
        let rows = |count: usize| (kind, vec![count, 2], scalar.repeat(2 * count));
        let labels = |kinds: &[u8]| (Dtype::U8, vec![kinds.len()], kinds.to_vec());
        let tensors = [
            ("train", rows(3)),
            ("train_labels", labels(&[0, 1, 2])),
            ("true_labels", labels(&[0, 2, 2])),
            ("checked", rows(1)),
            ("checked_labels", labels(&[1])),
        ];
        let views = tensors.iter().map(|(name, (kind, shape, bytes))| {
            (*name, TensorView::new(*kind, shape.clone(), bytes).expect("shape and bytes fit"))
        });
        safetensors::serialize(views, None).expect("tensors can be written")
    }

    fn read(bytes: &[u8]) -> Option<Share<f32>> {
        DATA.share_in(&SafeTensors::deserialize(bytes).ok()?).ok()
    }

    #[test]
    fn a_file_is_read_whatever_its_scalars_are() {
        for kind in [Dtype::U8, Dtype::F32, Dtype::F64] {
            let share = read(&file_of(kind)).expect("it is right");
            assert_eq!(
                (share.train.len(), share.validation.len(), share.truth.map(|truth| truth.len())),
                (3, 1, Some(3))
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100_000))]

        /// Whatever was changed in a file, what is read is finite, of the right width and of known
        /// classes.
        #[test]
        fn damaged_files_are_refused_or_hold_usable_samples(
            kind in prop::sample::select(vec![Dtype::U8, Dtype::F32, Dtype::F64]),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
        ) {
            let mut bytes = file_of(kind);
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            if let Some(share) = read(&bytes) {
                for samples in [&share.train, &share.validation] {
                    prop_assert!(samples.width() == 2 && !samples.is_empty());
                    prop_assert!(samples.all().inputs.iter().all(|scalar| scalar.is_finite()));
                    prop_assert!(samples.labels().iter().all(|label| *label < 3));
                }
                prop_assert!(share.truth.is_none_or(|truth| truth.len() == share.train.len()));
            }
        }
    }
}

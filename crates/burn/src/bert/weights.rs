//! From the tensors of `model.safetensors` to the flat vector of a [`Bert`](super::network::Bert).

use std::path::Path;

use safetensors::{Dtype, SafeTensors};

use super::config::{Config, LoadError, read};
use crate::Parameter;

/// The prefix that a model has if it was saved as part of a larger one.
pub(super) const WITHIN: &str = "bert.";

/// Our names of modules and those of Hugging Face, outside the layers.
const OUTSIDE: [(&str, &str); 4] = [
    ("words", "embeddings.word_embeddings"),
    ("positions", "embeddings.position_embeddings"),
    ("kinds", "embeddings.token_type_embeddings"),
    ("norm", "embeddings.LayerNorm"),
];

/// The names of parameters within a layer.
const IN_LAYER: [(&str, &str); 8] = [
    ("mha.query", "attention.self.query"),
    ("mha.key", "attention.self.key"),
    ("mha.value", "attention.self.value"),
    ("mha.output", "attention.output.dense"),
    ("norm_1", "attention.output.LayerNorm"),
    ("pwff.linear_inner", "intermediate.dense"),
    ("pwff.linear_outer", "output.dense"),
    ("norm_2", "output.LayerNorm"),
];

/// Whether the file can hold what the configuration describes.
pub(super) fn check_size(folder: &Path, config: &Config) -> Result<(), LoadError> {
    let path = folder.join("model.safetensors");
    let found = match std::fs::metadata(&path) {
        Ok(file) => file.len(),
        Err(source) => return Err(LoadError::Unreadable { path, source }),
    };
    let needed = config.scalars().and_then(|scalars| scalars.checked_mul(4));
    // What is missing of a file that is nearly large enough is said tensor by tensor.
    if needed.is_some_and(|needed| needed / 2 <= found) { Ok(()) } else { Err(LoadError::Short { found }) }
}

/// The values of all parameters, one after the other.
pub(super) fn load(folder: &Path, parameters: &[Parameter]) -> Result<Vec<f32>, LoadError> {
    let (path, bytes) = read(folder, "model.safetensors")?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|problem| LoadError::malformed(path, problem))?;
    let mut values = Vec::with_capacity(parameters.iter().map(Parameter::scalars).sum());
    for parameter in parameters {
        append(&mut values, &tensors, parameter)?;
    }
    Ok(values)
}

fn append(values: &mut Vec<f32>, tensors: &SafeTensors<'_>, parameter: &Parameter) -> Result<(), LoadError> {
    let (name, turned) = published(parameter.name());
    let within = format!("{WITHIN}{name}");
    let Ok(tensor) = tensors.tensor(&name).or_else(|_| tensors.tensor(&within)) else {
        return Err(LoadError::Missing(name));
    };
    if tensor.dtype() != Dtype::F32 {
        return Err(LoadError::NotF32 { name, found: tensor.dtype().to_string() });
    }
    let mut wanted = parameter.shape().to_vec();
    if turned {
        wanted.reverse();
    }
    if tensor.shape() != wanted {
        return Err(LoadError::Misshapen { name, found: tensor.shape().to_vec(), wanted });
    }
    let (bytes, _) = tensor.data().as_chunks::<4>();
    if let (true, [outputs, inputs]) = (turned, &*wanted) {
        for input in 0..*inputs {
            values.extend((0..*outputs).map(|output| f32::from_le_bytes(bytes[output * inputs + input])));
        }
    } else {
        values.extend(bytes.iter().map(|&number| f32::from_le_bytes(number)));
    }
    Ok(())
}

/// The name of a parameter in `model.safetensors`, and whether it is transposed there: linear
/// layers are outputs × inputs there and inputs × outputs in burn.
pub(super) fn published(ours: &str) -> (String, bool) {
    let (module, field) = ours.rsplit_once('.').unwrap_or((ours, ""));
    let field_there = match field {
        "gamma" => "weight",
        "beta" => "bias",
        same => same,
    };
    if let Some((layer, part)) = module.strip_prefix("encoder.layers.").and_then(|rest| rest.split_once('.')) {
        let name = format!("encoder.layer.{layer}.{}.{field_there}", translated(&IN_LAYER, part));
        return (name, field == "weight");
    }
    (format!("{}.{field_there}", translated(&OUTSIDE, module)), false)
}

/// A name that is not in the table stays as it is, and is then reported as missing.
fn translated<'a>(table: &[(&str, &'a str)], module: &'a str) -> &'a str {
    table.iter().find(|(ours, _)| *ours == module).map_or(module, |(_, theirs)| theirs)
}

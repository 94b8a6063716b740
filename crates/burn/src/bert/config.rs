//! What `config.json` says, and what can be wrong with a folder.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The shape of a BERT, under the names of its `config.json`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Config {
    pub(super) vocab_size: usize,
    pub(super) type_vocab_size: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) num_attention_heads: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) layer_norm_eps: f64,
    pub(super) pad_token_id: u32,
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
}

impl Config {
    pub(super) fn load(folder: &Path) -> Result<Self, LoadError> {
        let (path, bytes) = read(folder, "config.json")?;
        let config: Self = serde_json::from_slice(&bytes).map_err(|problem| LoadError::malformed(path, problem))?;
        only("hidden_act", &config.hidden_act, "gelu")?;
        only("position_embedding_type", &config.position_embedding_type, "absolute")?;
        Ok(config)
    }

    /// How many scalars a model of this shape has at least; none if that is beyond counting.
    pub(super) fn scalars(&self) -> Option<u64> {
        let [tokens, kinds, positions, hidden, between, layers] = [
            self.vocab_size,
            self.type_vocab_size,
            self.max_position_embeddings,
            self.hidden_size,
            self.intermediate_size,
            self.num_hidden_layers,
        ]
        .map(|size| size as u64);
        let embeddings = tokens.checked_add(kinds)?.checked_add(positions)?.checked_mul(hidden)?;
        let layer = hidden.checked_mul(4)?.checked_add(between.checked_mul(2)?)?.checked_mul(hidden)?;
        layer.checked_mul(layers)?.checked_add(embeddings)
    }

    /// The number that stands for padding, as it is in a row.
    pub(super) fn pad(&self) -> f32 {
        self.pad_token_id as f32
    }
}

fn only(key: &'static str, found: &str, only: &'static str) -> Result<(), LoadError> {
    if found == only { Ok(()) } else { Err(LoadError::Unsupported { key, found: found.to_owned(), only }) }
}

fn absolute() -> String {
    "absolute".to_owned()
}

/// A file of the folder, and where it is.
pub(super) fn read(folder: &Path, file: &str) -> Result<(PathBuf, Vec<u8>), LoadError> {
    let path = folder.join(file);
    match std::fs::read(&path) {
        Ok(bytes) => Ok((path, bytes)),
        Err(source) => Err(LoadError::Unreadable { path, source }),
    }
}

/// Why a folder is not a BERT that can be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file cannot be read.
    #[error("cannot read {path}: a model is a folder with config.json, model.safetensors and tokenizer.json")]
    Unreadable {
        /// The file that cannot be read.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file is not what its name says.
    #[error("{path} is damaged, or not in the form of Hugging Face: download it again")]
    Malformed {
        /// The file that cannot be understood.
        path: PathBuf,
        /// The error of its reader.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A relative of BERT that is computed differently.
    #[error("config.json has {key} = {found:?}, but only {only:?} is supported")]
    Unsupported {
        /// The key in `config.json`.
        key: &'static str,
        /// The value that was found.
        found: String,
        /// The only value that is supported.
        only: &'static str,
    },
    /// A tensor is not in the file.
    #[error(
        "model.safetensors has no tensor `{0}`, with or without `bert.` in front: these are not the weights of the BERT that config.json describes"
    )]
    Missing(String),
    /// A tensor has other extents than `config.json` says.
    #[error("the tensor `{name}` is {found:?} in model.safetensors, but {wanted:?} by config.json")]
    Misshapen {
        /// The name of the tensor.
        name: String,
        /// The extents that were found.
        found: Vec<usize>,
        /// The extents that are needed.
        wanted: Vec<usize>,
    },
    /// The file is shorter than the tensors that `config.json` describes.
    #[error(
        "model.safetensors has {found} bytes, too few for the BERT that config.json describes: download both again"
    )]
    Short {
        /// The number of bytes that were found.
        found: u64,
    },
    /// A tensor is not in 32 bits.
    #[error("the tensor `{name}` holds numbers of kind {found}: convert the weights to F32")]
    NotF32 {
        /// The name of the tensor.
        name: String,
        /// The type of scalars that was found.
        found: String,
    },
    /// Rows are longer than the model has positions.
    #[error("rows of {length} tokens do not fit: use from 2 to the model's {positions}")]
    Length {
        /// The number of tokens that was asked for.
        length: usize,
        /// The number of positions that the model has.
        positions: usize,
    },
}

impl LoadError {
    pub(super) fn malformed(path: PathBuf, problem: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Malformed { path, source: problem.into() }
    }
}

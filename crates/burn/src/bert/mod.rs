//! BERT (Devlin, Chang, Lee, Toutanova: *BERT: pre-training of deep bidirectional transformers for
//! language understanding*, NAACL 2019), loaded from a folder in the form of Hugging Face:
//! `config.json`, `model.safetensors`, `tokenizer.json`.
//!
//! [`Tokens`] turns texts into rows of scalars, [`Encoder`] turns these into features, and
//! [`BertClassifier`] trains all of it.

mod classifier;
mod config;
mod encoder;
mod network;
mod tokens;
mod weights;

pub use classifier::BertClassifier;
pub use config::LoadError;
pub use encoder::Encoder;
pub use tokens::{NotTokens, Tokens};

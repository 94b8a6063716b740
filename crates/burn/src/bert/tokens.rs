//! Texts as rows of scalars.

use std::path::Path;

use rayon::prelude::*;
use thiserror::Error;
use tokenizers::{Tokenizer, TruncationParams};

use super::config::{Config, LoadError, read};

/// Turns texts into rows of one length: the numbers of their tokens, truncated, or padded
/// behind. All numbers are below 2²⁴, so `f32` holds them exactly.
#[derive(Clone, Debug)]
pub struct Tokens {
    tokenizer: Tokenizer,
    length: usize,
    pad: f32,
}

impl Tokens {
    /// A length that is common and fast.
    pub const LENGTH: usize = 128;

    /// From a folder with `config.json` and `tokenizer.json`.
    pub fn load(folder: &Path, length: usize) -> Result<Self, LoadError> {
        let config = Config::load(folder)?;
        let positions = config.max_position_embeddings;
        // Every text begins and ends with a token of its own.
        if !(2..=positions).contains(&length) {
            return Err(LoadError::Length { length, positions });
        }
        let (path, bytes) = read(folder, "tokenizer.json")?;
        let malformed = |problem| LoadError::malformed(path.clone(), problem);
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(malformed)?;
        let truncation = TruncationParams { max_length: length, ..TruncationParams::default() };
        tokenizer.with_padding(None).with_truncation(Some(truncation)).map_err(malformed)?;
        Ok(Self { tokenizer, length, pad: config.pad() })
    }

    /// How many tokens a row has, padding included.
    pub fn length(&self) -> usize {
        self.length
    }

    /// A row for each text, one after the other.
    pub fn rows<S: AsRef<str> + Sync>(&self, texts: &[S]) -> Result<Vec<f32>, NotTokens> {
        let mut rows = vec![self.pad; texts.len() * self.length];
        rows.par_chunks_mut(self.length).zip(texts).enumerate().try_for_each(|(text, (row, content))| {
            let tokens = self
                .tokenizer
                .encode(content.as_ref(), true)
                .map_err(|reason| NotTokens { text, reason: reason.to_string() })?;
            row.iter_mut().zip(tokens.get_ids()).for_each(|(scalar, &token)| *scalar = token as f32);
            Ok(())
        })?;
        Ok(rows)
    }
}

/// A text that the tokenizer refuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("text {text}, counted from 0, cannot be turned into tokens: {reason}")]
pub struct NotTokens {
    /// The place of the text in the list.
    pub text: usize,
    /// The reason that the tokenizer gives.
    pub reason: String,
}

//! A checkpoint as a file: a tensor in safetensors form, with the run, the round and a checksum.

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, SafeTensors, serialize};
use sha2::{Digest, Sha256};

use crate::hex::Hex;

/// What the file of a checkpoint has to say.
pub(crate) struct CheckpointFile<'a> {
    pub(crate) round: u64,
    pub(crate) agent: u32,
    pub(crate) run: &'a str,
    /// Bytes of a scalar.
    pub(crate) scalar: usize,
}

/// What was found in a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The point, scalar by scalar.
    Intact(Vec<u8>),
    /// Something else than was written.
    Damaged,
    /// Intact, but it does not say of which run.
    Unmarked,
    /// Intact, and of another run or agent.
    OtherRun(String),
}

impl CheckpointFile<'_> {
    pub(crate) fn name(round: u64) -> String {
        format!("checkpoint-{round}.safetensors")
    }

    /// The round that a file's name speaks of.
    pub(crate) fn round_in(name: &str) -> Option<u64> {
        name.strip_prefix("checkpoint-")?.strip_suffix(".safetensors")?.parse().ok()
    }

    /// The file with this point.
    pub(crate) fn write(&self, point: &[u8]) -> Result<Vec<u8>, SafeTensorError> {
        let scalar = if self.scalar == 4 { Dtype::F32 } else { Dtype::F64 };
        let notes = [
            ("round", self.round.to_string()),
            ("run", self.run.to_owned()),
            ("agent", self.agent.to_string()),
            ("sha256", checksum(&[self.run, &self.agent.to_string()], self.round, point)),
        ];
        let notes = notes.map(|(name, value)| (name.to_owned(), value));
        let view = TensorView::new(scalar, vec![point.len() / self.scalar], point)?;
        serialize([("point", view)], Some(notes.into()))
    }

    /// What a file holds.
    pub(crate) fn read(&self, bytes: &[u8]) -> Found {
        self.look(bytes).unwrap_or(Found::Damaged)
    }

    fn look(&self, bytes: &[u8]) -> Option<Found> {
        let (_, header) = SafeTensors::read_metadata(bytes).ok()?;
        let point = SafeTensors::deserialize(bytes).ok()?.tensor("point").ok()?.data().to_vec();
        let notes = header.metadata().as_ref()?;
        let note = |name: &str| notes.get(name).map(String::as_str);
        if note("round") != Some(&self.round.to_string()) {
            return None;
        }
        let (Some(run), Some(agent)) = (note("run"), note("agent")) else {
            return (note("sha256") == Some(&checksum(&[], self.round, &point))).then_some(Found::Unmarked);
        };
        if note("sha256") != Some(&checksum(&[run, agent], self.round, &point)) {
            return None;
        }
        let ours = run == self.run && agent == self.agent.to_string();
        Some(if ours { Found::Intact(point) } else { Found::OtherRun(format!("{run}, agent {agent}")) })
    }
}

fn checksum(owner: &[&str], round: u64, point: &[u8]) -> String {
    let mut hash = Sha256::new();
    for text in owner {
        hash.update(text);
    }
    hash.update(round.to_le_bytes());
    hash.update(point);
    Hex(&hash.finalize()).to_string()
}

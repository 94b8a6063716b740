//! A checkpoint as a file: a tensor in safetensors form, with the run, the round and a checksum.

use std::io;
use std::path::Path;

use fabnet_files::Files;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, SafeTensors, serialize};
use sha2::{Digest, Sha256};

use crate::hex::Hex;

/// The properties that the file of a checkpoint must have.
pub(super) struct CheckpointFile<'a> {
    pub(super) round: u64,
    pub(super) agent: u32,
    /// The digest of the run, as text.
    pub(super) run: &'a str,
    /// The bytes of a scalar: 4 or 8.
    pub(super) scalar: usize,
}

/// What was found in a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CheckpointContents {
    /// The point, scalar by scalar.
    Intact(Vec<u8>),
    /// Other bytes than were written.
    Damaged,
    /// An intact checkpoint that does not say to which run it belongs.
    Unmarked,
    /// An intact checkpoint of another run or agent, which are named.
    OtherRun(String),
}

impl CheckpointFile<'_> {
    pub(super) fn name(round: u64) -> String {
        format!("checkpoint-{round}.safetensors")
    }

    /// The round that a file's name speaks of, if it is the name of a checkpoint.
    pub(super) fn round_in(name: &str) -> Option<u64> {
        name.strip_prefix("checkpoint-")?.strip_suffix(".safetensors")?.parse().ok()
    }

    /// The rounds of all checkpoints in a folder, ascending.
    pub(super) fn rounds_in(files: &dyn Files, folder: &Path) -> io::Result<Vec<u64>> {
        let names = files.list(folder)?;
        let mut rounds: Vec<u64> = names.iter().filter_map(|name| Self::round_in(name.to_str()?)).collect();
        rounds.sort_unstable();
        Ok(rounds)
    }

    /// The bytes of the file with this point.
    pub(super) fn write(&self, point: &[u8]) -> Result<Vec<u8>, SafeTensorError> {
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

    /// Reads the bytes of a file, whatever they are.
    pub(super) fn read(&self, bytes: &[u8]) -> CheckpointContents {
        let Some(IntactCheckpoint { owner, point, .. }) = IntactCheckpoint::read(bytes, self.round) else {
            return CheckpointContents::Damaged;
        };
        match owner {
            None => CheckpointContents::Unmarked,
            Some((run, agent)) if run == self.run && agent == self.agent.to_string() => {
                CheckpointContents::Intact(point)
            }
            Some((run, agent)) => CheckpointContents::OtherRun(format!("{run}, agent {agent}")),
        }
    }
}

/// A file as it was written, of whichever run and agent.
#[derive(Debug)]
pub(super) struct IntactCheckpoint {
    /// The run and the agent; earlier versions noted neither.
    pub(super) owner: Option<(String, String)>,
    /// The bytes of a scalar, if these are floating-point numbers.
    pub(super) scalar: Option<usize>,
    /// The point, scalar by scalar.
    pub(super) point: Vec<u8>,
}

impl IntactCheckpoint {
    /// Reads the bytes of a file whose name says that it is of this round; none if they are not
    /// what was written.
    pub(super) fn read(bytes: &[u8], round: u64) -> Option<Self> {
        let (_, header) = SafeTensors::read_metadata(bytes).ok()?;
        let tensors = SafeTensors::deserialize(bytes).ok()?;
        let tensor = tensors.tensor("point").ok()?;
        let notes = header.metadata().as_ref()?;
        let note = |name: &str| notes.get(name).map(String::as_str);
        if note("round") != Some(&round.to_string()) {
            return None;
        }
        let owner = note("run").zip(note("agent"));
        // Without an owner, the checksum covers the round and the point only.
        let texts = owner.map_or(Vec::new(), |(run, agent)| vec![run, agent]);
        if note("sha256") != Some(&checksum(&texts, round, tensor.data())) {
            return None;
        }
        let scalar = match tensor.dtype() {
            Dtype::F32 => Some(4),
            Dtype::F64 => Some(8),
            _ => None,
        };
        let owner = owner.map(|(run, agent)| (run.to_owned(), agent.to_owned()));
        Some(Self { owner, scalar, point: tensor.data().to_vec() })
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

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: CheckpointFile<'static> = CheckpointFile { round: 7, agent: 2, run: "c0ffee", scalar: 8 };

    fn point() -> Vec<u8> {
        [1.5f64, -2.0, 0.25].iter().flat_map(|scalar| scalar.to_le_bytes()).collect()
    }

    #[test]
    fn a_checkpoint_reads_as_it_was_written_and_is_a_tensor_for_other_programs() {
        let bytes = FILE.write(&point()).unwrap();
        assert_eq!(FILE.read(&bytes), CheckpointContents::Intact(point()));
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let tensor = tensors.tensor("point").unwrap();
        assert_eq!((tensor.dtype(), tensor.shape()), (Dtype::F64, &[3][..]));
        let single = CheckpointFile { scalar: 4, ..FILE }.write(&point()).unwrap();
        let tensors = SafeTensors::deserialize(&single).unwrap();
        assert_eq!(tensors.tensor("point").unwrap().shape(), [6]);
    }

    #[test]
    fn a_checkpoint_of_another_round_run_or_agent_is_told_apart() {
        let bytes = FILE.write(&point()).unwrap();
        let read = |file: CheckpointFile<'_>| file.read(&bytes);
        assert_eq!(read(CheckpointFile { round: 8, ..FILE }), CheckpointContents::Damaged);
        let other = || CheckpointContents::OtherRun("c0ffee, agent 2".into());
        assert_eq!(read(CheckpointFile { run: "decade", ..FILE }), other());
        assert_eq!(read(CheckpointFile { agent: 3, ..FILE }), other());
    }

    #[test]
    fn only_names_of_checkpoints_have_a_round() {
        assert_eq!(CheckpointFile::round_in(&CheckpointFile::name(40)), Some(40));
        for name in ["checkpoint-40.safetensors.new", "checkpoint-x.safetensors", "life", "checkpoint-40"] {
            assert_eq!(CheckpointFile::round_in(name), None, "{name}");
        }
    }
}

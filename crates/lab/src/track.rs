//! What one agent of a real run was like after every so many rounds: written by its node, read when the run is put together.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::marker::PhantomData;
use std::path::Path;

use fabnet_core::Scalar;

/// Where an agent was. What is private to it is not in here.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark<T> {
    /// After this round.
    pub round: u64,
    /// Seconds since the epoch of the system's clock.
    pub time: f64,
    /// Bytes that it had sent in its present life.
    pub bytes: u64,
    /// The point, as far as it is shared.
    pub point: Vec<T>,
}

/// The file of one agent: marks of the same length, one after the other. What a crash cut off is not there.
pub struct Track<T> {
    file: File,
    width: usize,
    scalars: PhantomData<T>,
}

const HEAD: usize = 24;

impl<T: Scalar> Track<T> {
    /// Goes on with a file, or begins it; points have so many scalars.
    pub fn open(path: &Path, width: usize) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let mark = (HEAD + width * T::BYTES) as u64;
        file.set_len(file.metadata()?.len() / mark * mark)?;
        Ok(Self { file, width, scalars: PhantomData })
    }

    /// Adds a mark, from a point scalar by scalar of which the shared ones come first.
    pub fn add(&mut self, round: u64, time: f64, bytes: u64, point: &[u8]) -> io::Result<()> {
        let mut mark = Vec::with_capacity(HEAD + self.width * T::BYTES);
        mark.extend(round.to_le_bytes());
        mark.extend(time.to_le_bytes());
        mark.extend(bytes.to_le_bytes());
        mark.extend(point.iter().take(self.width * T::BYTES));
        self.file.write_all(&mark)
    }

    /// All marks of a file, none if it is not there.
    pub fn read(path: &Path, width: usize) -> io::Result<Vec<Mark<T>>> {
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read?,
        };
        let word = |mark: &[u8], place: usize| u64::from_le_bytes(std::array::from_fn(|byte| mark[8 * place + byte]));
        let mark = |mark: &[u8]| Mark {
            round: word(mark, 0),
            time: f64::from_bits(word(mark, 1)),
            bytes: word(mark, 2),
            point: mark[HEAD..].chunks_exact(T::BYTES).map(T::read).collect(),
        };
        Ok(bytes.chunks_exact(HEAD + width * T::BYTES).map(mark).collect())
    }
}

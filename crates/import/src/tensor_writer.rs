//! A file of tensors that is written row by row, all tensors side by side.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

/// A safetensors file whose tensors are filled one row after the other. The file is open only while
/// a buffer is written, so that there may be more files than a process may have open.
pub(crate) struct TensorWriter {
    path: PathBuf,
    tensors: Vec<Filling>,
}

/// A tensor that is being filled.
struct Filling {
    /// Where the next byte belongs in the file.
    next: u64,
    /// Where the tensor ends.
    end: u64,
    buffer: Vec<u8>,
}

/// The name, the type and the shape of a tensor.
pub(crate) struct TensorSpec {
    /// The name in the file.
    pub(crate) name: &'static str,
    /// The type of its scalars.
    pub(crate) dtype: Dtype,
    /// Its sizes, rows first.
    pub(crate) shape: Vec<usize>,
}

/// A buffer is written when it is this long.
const BUFFER: usize = 1 << 16;

impl TensorWriter {
    /// Makes a file with room for these tensors.
    pub(crate) fn create(path: &Path, tensors: Vec<TensorSpec>) -> io::Result<Self> {
        let mut end = 0;
        let spans: Vec<(usize, usize)> = tensors
            .iter()
            .map(|tensor| {
                let start = end;
                end += tensor.bytes();
                (start, end)
            })
            .collect();
        let header = header(tensors, &spans)?;
        let begin = 8 + header.len() as u64;
        let mut file = File::create(path)?;
        file.write_all(&(header.len() as u64).to_le_bytes())?;
        file.write_all(&header)?;
        file.set_len(begin + end as u64)?;
        let at = |place: usize| begin + place as u64;
        let filling = |&(start, end): &(usize, usize)| Filling { next: at(start), end: at(end), buffer: Vec::new() };
        Ok(Self { path: path.to_owned(), tensors: spans.iter().map(filling).collect() })
    }

    /// Where the next bytes of a tensor go: a buffer, which [`Self::flush_full`] empties.
    pub(crate) fn buffer(&mut self, tensor: usize) -> &mut Vec<u8> {
        &mut self.tensors[tensor].buffer
    }

    /// Writes the buffer of a tensor if it is full.
    pub(crate) fn flush_full(&mut self, tensor: usize) -> io::Result<()> {
        if self.tensors[tensor].buffer.len() < BUFFER {
            return Ok(());
        }
        let mut file = OpenOptions::new().write(true).open(&self.path)?;
        self.tensors[tensor].flush(&mut file)
    }

    /// Writes what is left. Every tensor must be full.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(&self.path)?;
        for tensor in &mut self.tensors {
            tensor.flush(&mut file)?;
            if tensor.next != tensor.end {
                return Err(io::Error::other("a tensor has fewer rows than were counted before"));
            }
        }
        file.sync_all()
    }
}

impl Filling {
    fn flush(&mut self, file: &mut File) -> io::Result<()> {
        if self.next + self.buffer.len() as u64 > self.end {
            return Err(io::Error::other("a tensor has more rows than were counted before"));
        }
        file.seek(SeekFrom::Start(self.next))?;
        file.write_all(&self.buffer)?;
        self.next += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

impl TensorSpec {
    /// The bytes of all scalars.
    fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.bitsize() / 8
    }
}

/// The header of a file with these tensors at these places. Tensors begin at a multiple of eight
/// bytes, so that readers can map them into memory.
fn header(tensors: Vec<TensorSpec>, spans: &[(usize, usize)]) -> io::Result<Vec<u8>> {
    let infos = tensors.into_iter().zip(spans).map(|(TensorSpec { name, dtype, shape }, &span)| {
        (name.to_owned(), TensorInfo { dtype, shape, data_offsets: span })
    });
    let metadata = Metadata::new(None, infos.collect()).map_err(io::Error::other)?;
    let mut header = serde_json::to_vec(&metadata)?;
    header.resize(header.len().next_multiple_of(8), b' ');
    Ok(header)
}

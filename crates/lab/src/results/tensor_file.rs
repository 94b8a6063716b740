//! Named tensors in one file, in the safetensors format.

use fabnet_core::{Scalar, Typed};
use serde_json::{Map, Value as Json, json};

/// The contents of a file: a header that names the tensors, then their scalars one after the other.
/// Equal tensors give equal bytes; the format's own library writes its metadata in random order.
pub(crate) struct TensorFile {
    header: Map<String, Json>,
    tensors: Vec<Vec<u8>>,
    /// The bytes of all tensors so far.
    length: usize,
}

impl TensorFile {
    /// A file without tensors, with metadata about it.
    pub(crate) fn new<'m>(metadata: impl IntoIterator<Item = (&'m str, String)>) -> Self {
        let metadata: Map<String, Json> =
            metadata.into_iter().map(|(key, text)| (key.to_owned(), text.into())).collect();
        let header = std::iter::once(("__metadata__".to_owned(), metadata.into())).collect();
        Self { header, tensors: Vec::new(), length: 0 }
    }

    /// Adds a tensor, whose scalars are given row by row.
    pub(crate) fn add<T: Scalar>(&mut self, name: &str, shape: &[usize], scalars: &[T]) {
        let kind = match T::typed(&[]) {
            Typed::Single(_) => "F32",
            Typed::Double(_) => "F64",
        };
        let mut bytes = Vec::with_capacity(scalars.len() * T::BYTES);
        T::write_all(scalars, &mut bytes);
        let end = self.length + bytes.len();
        let entry = json!({ "dtype": kind, "shape": shape, "data_offsets": [self.length, end] });
        self.header.insert(name.to_owned(), entry);
        self.tensors.push(bytes);
        self.length = end;
    }

    /// The bytes of the file, part by part.
    pub(crate) fn parts(self) -> impl Iterator<Item = Vec<u8>> {
        let mut header = Json::from(self.header).to_string().into_bytes();
        // Tensors begin at a multiple of eight bytes, so that readers can map them into memory.
        header.resize(header.len().next_multiple_of(8), b' ');
        let length = (header.len() as u64).to_le_bytes().to_vec();
        [length, header].into_iter().chain(self.tensors)
    }
}

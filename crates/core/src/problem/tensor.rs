//! Tensors: how other programs know the parameters of a model.

/// A tensor among the parameters of a model, as other programs know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The name that other programs use.
    pub name: String,
    /// The extents that other programs use.
    pub shape: Vec<usize>,
    /// Whether it is a matrix that y holds transposed: column by column.
    pub transposed: bool,
}

impl Tensor {
    /// The number of its scalars.
    pub fn scalars(&self) -> usize {
        self.shape.iter().product()
    }

    /// Its scalars row by row, from those that y holds.
    pub fn rows<T: Copy>(&self, held: &[T]) -> Vec<T> {
        match (self.transposed, &*self.shape) {
            (true, &[rows, columns]) => {
                (0..rows * columns).map(|place| held[place % columns * rows + place / columns]).collect()
            }
            _ => held.to_vec(),
        }
    }
}

//! A multilayer perceptron with hand-written gradients; without hidden layers it is softmax
//! regression.

use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::settings::SettingsReader;
use fabnet_core::{Scalar, Scratch, Tensor, linalg};

use super::model::{Batch, Losses, Model, largest};
use super::product::{Dense, add_product};

/// Layers of weights and biases with rectified linear units between them, and cross entropy at the
/// end.
///
/// The parameters of a layer are its weights, a row for each input, then its biases.
#[derive(Clone, Debug)]
pub struct Mlp {
    /// From the inputs to the classes.
    widths: Vec<usize>,
}

impl Mlp {
    /// A perceptron from `inputs` inputs over hidden layers to `classes` classes.
    pub fn new(inputs: usize, hidden: &[usize], classes: usize) -> Self {
        Self { widths: std::iter::once(inputs).chain(hidden.iter().copied()).chain([classes]).collect() }
    }

    /// What users can choose: the widths of its hidden layers.
    pub fn read_hidden(keys: &mut SettingsReader<'_>, layers: u64) -> Vec<usize> {
        let width = keys.whole("hidden", 256, 1..=100_000, "units of a hidden layer") as usize;
        let layers = keys.whole("layers", layers, 0..=100, "hidden layers; 0 is softmax regression") as usize;
        vec![width; layers]
    }

    fn classes(&self) -> usize {
        self.widths[self.widths.len() - 1]
    }

    /// The layers, each with its inputs and outputs.
    fn layers(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> + ExactSizeIterator {
        self.widths.windows(2).map(|pair| (pair[0], pair[1]))
    }

    /// Scalars that the outputs of all layers need, and the largest of those below the last.
    fn space(&self, rows: usize) -> [usize; 2] {
        let hidden = &self.widths[1..self.widths.len() - 1];
        [rows * self.widths[1..].iter().sum::<usize>(), rows * hidden.iter().max().unwrap_or(&0)]
    }

    /// Writes the outputs of all layers, one after the other: rectified ones, then the logits.
    fn forward<T: Scalar>(&self, y: &[T], inputs: &[T], outputs: &mut [T]) {
        let rows = inputs.len() / self.widths[0];
        let (mut before, mut rest, mut y) = (inputs, outputs, y);
        for (layer, (from, to)) in self.layers().enumerate() {
            let (out, after) = std::mem::take(&mut rest).split_at_mut(rows * to);
            let (of_layer, behind) = y.split_at((from + 1) * to);
            let (weights, biases) = of_layer.split_at(from * to);
            out.chunks_exact_mut(to).for_each(|row| row.copy_from_slice(biases));
            add_product(out, to, Dense::new(before, from), Dense::new(weights, to));
            if layer + 2 < self.widths.len() {
                for value in out.iter_mut() {
                    *value = value.max(T::zero());
                }
            }
            (before, rest, y) = (out, after, behind);
        }
    }

    /// Adds the gradient in the parameters, where the last of the outputs were replaced by the
    /// gradient in the logits. Each layer's outputs give way to the gradient in them.
    fn backward<T: Scalar>(&self, y: &[T], inputs: &[T], outputs: &mut [T], spare: &mut [T], slope: &mut [T]) {
        let rows = inputs.len() / self.widths[0];
        let (mut rest, mut y, mut slope) = (outputs, y, slope);
        for (layer, (from, to)) in self.layers().enumerate().rev() {
            let (below, delta) = split_last(rest, rows * to);
            let (y_below, of_layer) = y.split_at(y.len() - (from + 1) * to);
            let (slope_below, of_slope) = split_last(slope, (from + 1) * to);
            let (weights, biases) = of_slope.split_at_mut(from * to);
            let before = if layer == 0 { inputs } else { &below[below.len() - rows * from..] };
            add_product(weights, to, Dense::new(before, from).turned(), Dense::new(delta, to));
            delta.chunks_exact(to).for_each(|row| linalg::add(biases, row));
            if layer > 0 {
                let spare = &mut spare[..rows * from];
                spare.fill(T::zero());
                add_product(spare, from, Dense::new(delta, to), Dense::new(&of_layer[..from * to], to).turned());
                let (_, before) = split_last(below, rows * from);
                for (unit, &slope) in before.iter_mut().zip(&*spare) {
                    *unit = if *unit > T::zero() { slope } else { T::zero() };
                }
            }
            (rest, y, slope) = (below, y_below, slope_below);
        }
    }
}

impl<T: Scalar> Model<T> for Mlp {
    fn parameters(&self) -> usize {
        self.layers().map(|(from, to)| (from + 1) * to).sum()
    }

    /// As in a `torch.nn.Sequential` of `Linear` and `ReLU`, whose weights are outputs × inputs.
    fn tensors(&self) -> Vec<Tensor> {
        let of_layer = |(layer, (from, to)): (usize, (usize, usize))| {
            let name = |part: &str| format!("{}.{part}", 2 * layer);
            [
                Tensor { name: name("weight"), shape: vec![to, from], transposed: true },
                Tensor { name: name("bias"), shape: vec![to], transposed: false },
            ]
        };
        self.layers().enumerate().flat_map(of_layer).collect()
    }

    /// Softmax regression, which has one minimum, starts at 0; layers otherwise uniform within
    /// ±1/√inputs, as PyTorch's do.
    fn start(&self, seed: u64, y: &mut [T]) {
        if self.layers().len() == 1 {
            return;
        }
        let mut stream = Stream::new(seed, EVERYONE, 0, Purpose::Start);
        let mut rest = y;
        for (from, to) in self.layers() {
            let (of_layer, after) = rest.split_at_mut((from + 1) * to);
            let bound = (from as f64).sqrt().recip();
            for value in of_layer {
                *value = stream.uniform(-bound, bound);
            }
            rest = after;
        }
    }

    fn losses(&self, y: &[T], batch: Batch<'_, T>, weights: &[T], to: Losses<'_, T>, scratch: &mut Scratch<T>) {
        let [space, spare] = self.space(batch.labels.len());
        let [outputs, spare] = scratch.buffers([space, spare]);
        self.forward(y, batch.inputs, outputs);
        let (_, logits) = split_last(outputs, batch.labels.len() * self.classes());
        let rows = logits.chunks_exact_mut(self.classes()).zip(batch.labels).zip(weights).zip(to.each);
        for (((row, &label), &weight), loss) in rows {
            *loss = cross_entropy(row, label as usize, weight);
        }
        if !to.slope.is_empty() {
            self.backward(y, batch.inputs, outputs, spare, to.slope);
        }
    }

    fn classify(&self, y: &[T], inputs: &[T], classes: &mut [u32]) {
        /// Samples that are looked at together, to bound the memory.
        const ROWS: usize = 1000;
        let mut outputs = Vec::new();
        for (inputs, classes) in inputs.chunks(ROWS * self.widths[0]).zip(classes.chunks_mut(ROWS)) {
            outputs.resize(self.space(classes.len())[0], T::zero());
            self.forward(y, inputs, &mut outputs);
            let logits = &outputs[outputs.len() - classes.len() * self.classes()..];
            for (row, class) in logits.chunks_exact(self.classes()).zip(classes) {
                *class = largest(row);
            }
        }
    }
}

/// The cross entropy of a row of logits; they give way to its weighted gradient, `w (softmax −
/// one-hot)`.
fn cross_entropy<T: Scalar>(row: &mut [T], label: usize, weight: T) -> T {
    let top = row.iter().fold(T::neg_infinity(), |top, &logit| top.max(logit));
    let wanted = row[label] - top;
    for logit in row.iter_mut() {
        *logit = (*logit - top).exp();
    }
    let sum = row.iter().copied().sum::<T>();
    linalg::scale(row, weight / sum);
    row[label] -= weight;
    sum.ln() - wanted
}

/// Splits a slice before its last `len` entries.
fn split_last<T>(slice: &mut [T], len: usize) -> (&mut [T], &mut [T]) {
    slice.split_at_mut(slice.len() - len)
}

//! What users write: a burn module that gives logits.

use burn::module::Module;
use burn::tensor::activation::log_softmax;
use burn::tensor::{Int, Tensor};
use fabnet_core::rng::Stream;

use crate::Parameter;

/// A burn module that tells classes apart.
///
/// A sample's logits and loss depend on its own row alone, and on no random numbers: layers that
/// draw, such as dropout, are switched off by the [`Adapter`](crate::Adapter).
pub trait Classifier: Module + Sync {
    /// A row of logits for each row of inputs.
    fn logits(&self, inputs: Tensor<2>) -> Tensor<2>;

    /// The loss of each row of inputs: cross entropy, unless said otherwise.
    fn losses(&self, inputs: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
        let rows = labels.dims()[0];
        log_softmax(self.logits(inputs), 1).gather(1, labels.reshape([rows, 1])).reshape([rows]).neg()
    }

    /// Writes where one of the parameters starts; it arrives as zeros. All of them draw from one
    /// stream, in order.
    ///
    /// Unless said otherwise, matrices are uniform within ±1/√inputs, the scales of norms are 1,
    /// and all other vectors 0.
    fn start(&self, parameter: &Parameter, stream: &mut Stream, values: &mut [f32]) {
        match parameter.shape() {
            [_] if parameter.name().ends_with("gamma") => values.fill(1.0),
            [] | [_] => {}
            // Convolutions put their outputs first, linear layers their inputs.
            [inputs, _] => fill_uniform(*inputs, stream, values),
            [_, window @ ..] => fill_uniform(window.iter().product(), stream, values),
        }
    }
}

fn fill_uniform(inputs: usize, stream: &mut Stream, values: &mut [f32]) {
    let bound = (inputs as f64).sqrt().recip();
    for value in values {
        *value = stream.uniform(-bound, bound);
    }
}

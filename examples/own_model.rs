//! A model of your own, written with burn and trained as a function of a flat vector of parameters.
//! The class is the sign of the product of two features, which no linear model can represent.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use burn::module::Module;
use burn::nn::{LayerNorm, LayerNormConfig, Linear, LinearConfig};
use burn::tensor::activation::tanh;
use burn::tensor::{Device, Tensor};
use fabnet_burn::{Adapter, Classifier};
use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::{Scratch, linalg};
use fabnet_problems::learning::{Batch, Losses, Model};

const SAMPLES: usize = 200;

/// A perceptron with one hidden layer of hyperbolic tangents and layer normalisation. The order of
/// its fields is the order of its parameters in the flat vector.
#[derive(Module, Debug)]
struct Perceptron {
    hidden: Linear,
    norm: LayerNorm,
    output: Linear,
}

impl Perceptron {
    fn new(device: &Device) -> Self {
        Self {
            hidden: LinearConfig::new(2, 16).init(device),
            norm: LayerNormConfig::new(16).init(device),
            output: LinearConfig::new(16, 2).init(device),
        }
    }
}

/// The only method that fabnet requires. By default the loss is the cross entropy, and parameters
/// start small and random.
impl Classifier for Perceptron {
    fn logits(&self, inputs: Tensor<2>) -> Tensor<2> {
        self.output.forward(self.norm.forward(tanh(self.hidden.forward(inputs))))
    }
}

fn main() -> Result<(), fabnet_burn::NotAModel> {
    let inputs: Vec<f32> = Stream::new(1, EVERYONE, 0, Purpose::Data).normals(2 * SAMPLES, 1.0);
    let labels: Vec<u32> = inputs.chunks_exact(2).map(|row| u32::from(row[0] * row[1] > 0.0)).collect();
    let batch = Batch { inputs: &inputs, labels: &labels };
    let weights = [1.0 / SAMPLES as f32; SAMPLES];

    let model = Adapter::new(2, Perceptron::new)?;
    for parameter in model.layout() {
        println!("{:14} {:?}", parameter.name(), parameter.shape());
    }
    let mut y = vec![0.0; model.parameters()];
    model.start(1, &mut y);
    let (mut each, mut scratch) = ([0.0; SAMPLES], Scratch::default());
    for step in 0..=200 {
        let mut slope = vec![0.0; y.len()];
        model.losses(&y, batch, &weights, Losses { each: &mut each, slope: &mut slope }, &mut scratch);
        linalg::add_scaled(&mut y, -0.5, &slope);
        if step % 50 == 0 {
            println!("step {step:3}: loss {:.4}", each.iter().sum::<f32>() / SAMPLES as f32);
        }
    }
    let mut classes = vec![0; SAMPLES];
    model.classify(&y, &inputs, &mut classes);
    let right = classes.iter().zip(&labels).filter(|(class, label)| class == label).count();
    println!("{right} of {SAMPLES} right");
    assert!(right > SAMPLES * 9 / 10, "the model did not learn");
    Ok(())
}

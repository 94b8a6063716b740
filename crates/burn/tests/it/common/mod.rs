//! A multilayer perceptron in burn, twice the hand-written one, and data for both.
#![allow(dead_code, reason = "not every test needs all of it")]

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};
use fabnet_burn::{Adapter, Classifier};
use fabnet_core::Scratch;
use fabnet_core::rng::{Purpose, Stream};
use fabnet_problems::learning::{Batch, Losses, Mlp, Model};

pub(crate) const WIDTHS: [usize; 4] = [6, 9, 5, 3];

#[derive(Module, Debug)]
pub(crate) struct Layers {
    layers: Vec<Linear>,
}

impl Layers {
    pub(crate) fn new(widths: &[usize], device: &Device) -> Self {
        Self { layers: widths.windows(2).map(|pair| LinearConfig::new(pair[0], pair[1]).init(device)).collect() }
    }
}

impl Classifier for Layers {
    fn logits(&self, inputs: Tensor<2>) -> Tensor<2> {
        let (last, hidden) = self.layers.split_last().expect("there is a layer");
        last.forward(hidden.iter().fold(inputs, |rows, layer| relu(layer.forward(rows))))
    }
}

pub(crate) fn in_burn(widths: &[usize]) -> Adapter<Layers> {
    Adapter::new(widths[0], |device| Layers::new(widths, device)).expect("all parameters are used")
}

pub(crate) fn by_hand(widths: &[usize]) -> Mlp {
    let (inputs, classes) = (widths[0], widths[widths.len() - 1]);
    Mlp::new(inputs, &widths[1..widths.len() - 1], classes)
}

/// A point, and a batch with weights of both signs.
pub(crate) struct Case {
    pub(crate) y: Vec<f32>,
    pub(crate) inputs: Vec<f32>,
    pub(crate) labels: Vec<u32>,
    pub(crate) weights: Vec<f32>,
}

impl Case {
    pub(crate) fn new(widths: &[usize], rows: usize, number: u32) -> Self {
        let mut stream = Stream::new(7, 0, 0, Purpose::Other(number));
        let parameters = widths.windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum();
        Self {
            y: stream.normals(parameters, 0.5),
            inputs: stream.normals(rows * widths[0], 1.0),
            labels: (0..rows).map(|_| stream.below(widths[widths.len() - 1]) as u32).collect(),
            weights: stream.uniforms(rows, -0.5, 1.5),
        }
    }

    pub(crate) fn losses(&self, model: &impl Model<f32>) -> Vec<f32> {
        self.evaluate(model, &self.y, &mut [])
    }

    /// The losses and the gradient of their weighted sum.
    pub(crate) fn gradient(&self, model: &impl Model<f32>) -> (Vec<f32>, Vec<f32>) {
        let mut slope = vec![0.0; self.y.len()];
        (self.evaluate(model, &self.y, &mut slope), slope)
    }

    pub(crate) fn weighted(&self, model: &impl Model<f32>, y: &[f32]) -> f64 {
        let losses = self.evaluate(model, y, &mut []);
        losses.iter().zip(&self.weights).map(|(&loss, &weight)| f64::from(loss) * f64::from(weight)).sum()
    }

    fn evaluate(&self, model: &impl Model<f32>, y: &[f32], slope: &mut [f32]) -> Vec<f32> {
        let mut each = vec![f32::NAN; self.labels.len()];
        let batch = Batch { inputs: &self.inputs, labels: &self.labels };
        model.losses(y, batch, &self.weights, Losses { each: &mut each, slope }, &mut Scratch::default());
        each
    }
}

pub(crate) fn assert_close(ours: &[f32], theirs: &[f32], tolerance: f64) {
    assert_eq!(ours.len(), theirs.len());
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    let error = norm(&mut ours.iter().zip(theirs).map(|(&a, &b)| f64::from(a) - f64::from(b)));
    let size = norm(&mut theirs.iter().map(|&value| f64::from(value)));
    assert!(error <= tolerance * size, "differs by {:e} of its size", error / size);
}

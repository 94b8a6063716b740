//! A burn module as a flat function: against the hand-written perceptron, against differences,
//! twice.

use burn::module::{Module, Param};
use burn::nn::{Dropout, DropoutConfig, Linear, LinearConfig};
use burn::tensor::{Device, Tensor};
use fabnet_burn::{Adapter, Classifier, NotAModel};
use fabnet_problems::learning::{Mlp, Model};

use crate::common::{Case, Layers, WIDTHS, assert_close, by_hand, in_burn};

#[test]
fn losses_and_gradients_are_those_of_the_perceptron_by_hand() {
    let models = (in_burn(&WIDTHS), by_hand(&WIDTHS));
    assert_eq!(models.0.parameters(), Model::<f32>::parameters(&models.1));
    // More rows than are looked at together where no gradient is wanted.
    for (number, rows) in [1, 2, 17, 75].into_iter().enumerate() {
        let case = Case::new(&WIDTHS, rows, number as u32);
        let (burn, hand) = (case.gradient(&models.0), case.gradient(&models.1));
        assert_close(&burn.0, &hand.0, 1e-5);
        assert_close(&burn.1, &hand.1, 1e-5);
        assert_close(&case.losses(&models.0), &hand.0, 1e-5);
    }
}

#[test]
fn classes_are_those_of_the_perceptron_by_hand() {
    let case = Case::new(&WIDTHS, 75, 10);
    let classes = |model: &dyn Model<f32>| {
        let mut classes = vec![u32::MAX; case.labels.len()];
        model.classify(&case.y, &case.inputs, &mut classes);
        classes
    };
    assert_eq!(classes(&in_burn(&WIDTHS)), classes(&by_hand(&WIDTHS)));
}

#[test]
fn gradients_are_the_limits_of_differences() {
    // Softmax regression is smooth, so that a step of 1/64 crosses no kink.
    let widths = [6, 3];
    let (model, case) = (in_burn(&widths), Case::new(&widths, 17, 11));
    let (_, slope) = case.gradient(&model);
    let step = 1.0 / 64.0;
    for place in 0..case.y.len() {
        let at = |offset: f32| {
            let mut y = case.y.clone();
            y[place] += offset;
            case.weighted(&model, &y)
        };
        let difference = (at(step) - at(-step)) / f64::from(2.0 * step);
        assert!((difference - f64::from(slope[place])).abs() < 2e-3, "{place}: {difference} and {}", slope[place]);
    }
}

#[test]
fn the_gradient_is_added_to_the_slope() {
    let (model, case) = (in_burn(&WIDTHS), Case::new(&WIDTHS, 5, 12));
    let (_, once) = case.gradient(&model);
    let mut twice = once.clone();
    let batch = fabnet_problems::learning::Batch { inputs: &case.inputs, labels: &case.labels };
    let to = fabnet_problems::learning::Losses { each: &mut [0.0; 5], slope: &mut twice };
    model.losses(&case.y, batch, &case.weights, to, &mut fabnet_core::Scratch::default());
    assert!(once.iter().zip(&twice).all(|(once, twice)| once + once == *twice));
}

#[test]
fn two_models_start_and_step_with_equal_bits() {
    let case = Case::new(&WIDTHS, 20, 13);
    let run = || {
        let model = in_burn(&WIDTHS);
        let mut start = vec![0.0; model.parameters()];
        model.start(3, &mut start);
        (start, case.gradient(&model))
    };
    assert_eq!(run(), run());
    let other = || {
        let model = in_burn(&WIDTHS);
        let mut start = vec![0.0; model.parameters()];
        model.start(4, &mut start);
        start
    };
    assert_ne!(run().0, other());
}

#[test]
fn layers_are_named_and_ordered() {
    let model = in_burn(&[4, 2, 3]);
    let layout: Vec<_> = model.layout().iter().map(|one| (one.name(), one.shape())).collect();
    let wanted: [(&str, &[usize]); 4] =
        [("layers.0.weight", &[4, 2]), ("layers.0.bias", &[2]), ("layers.1.weight", &[2, 3]), ("layers.1.bias", &[3])];
    assert_eq!(layout, wanted);
}

#[derive(Module, Debug)]
struct Idle {
    used: Linear,
    idle: Linear,
}

impl Classifier for Idle {
    fn logits(&self, inputs: Tensor<2>) -> Tensor<2> {
        self.used.forward(inputs)
    }
}

#[test]
fn a_parameter_without_a_gradient_is_an_error() {
    let layer = |device: &Device| LinearConfig::new(2, 2).init(device);
    let made = Adapter::new(2, |device| Idle { used: layer(device), idle: layer(device) });
    assert_eq!(made.unwrap_err(), NotAModel::NoGradient("idle.weight".to_owned()));
}

#[derive(Module, Debug)]
struct Constant {
    weight: Param<Tensor<1>>,
}

impl Classifier for Constant {
    fn logits(&self, inputs: Tensor<2>) -> Tensor<2> {
        inputs
    }
}

#[test]
fn a_model_that_uses_no_parameter_is_an_error() {
    let made = Adapter::new(2, |device| Constant { weight: Param::from_tensor(Tensor::zeros([2], device)) });
    assert_eq!(made.unwrap_err(), NotAModel::NoGradient("weight".to_owned()));
}

#[derive(Module, Debug)]
struct Tied {
    one: Linear,
    two: Linear,
}

impl Classifier for Tied {
    fn logits(&self, inputs: Tensor<2>) -> Tensor<2> {
        self.two.forward(self.one.forward(inputs))
    }
}

#[test]
fn one_tensor_in_two_places_is_an_error() {
    let made = Adapter::new(2, |device| {
        let one = LinearConfig::new(2, 2).init(device);
        Tied { two: one.clone(), one }
    });
    assert_eq!(made.unwrap_err(), NotAModel::Shared("one.weight".to_owned(), "two.weight".to_owned()));
}

#[derive(Module, Debug)]
struct Forgetful {
    layers: Layers,
    dropout: Dropout,
}

impl Classifier for Forgetful {
    fn logits(&self, inputs: Tensor<2>) -> Tensor<2> {
        self.layers.logits(self.dropout.forward(inputs))
    }
}

#[test]
fn dropout_is_switched_off() {
    let make =
        |device: &Device| Forgetful { layers: Layers::new(&WIDTHS, device), dropout: DropoutConfig::new(0.5).init() };
    let case = Case::new(&WIDTHS, 8, 14);
    assert_eq!(case.gradient(&Adapter::new(WIDTHS[0], make).unwrap()), case.gradient(&in_burn(&WIDTHS)));
}

#[test]
fn a_model_can_be_used_where_the_perceptron_is() {
    let models: [Box<dyn Model<f32>>; 2] = [Box::new(in_burn(&WIDTHS)), Box::new(Mlp::new(6, &[9, 5], 3))];
    assert_eq!(models[0].parameters(), models[1].parameters());
}

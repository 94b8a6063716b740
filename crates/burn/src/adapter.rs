//! Any burn module as a flat function.

use burn::tensor::{Device, Int, Tensor, TensorData};
use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::{Scratch, Tensor as Named};
use fabnet_problems::learning::{Batch, Losses, Model, largest};
use thiserror::Error;

use crate::classifier::Classifier;
use crate::parameters::{Parameter, add_gradients, filled, parameters, with_values};

/// Rows that are looked at together where no gradient is wanted, to bound the memory.
const ROWS: usize = 32;

/// A burn module as a [`Model`]: every pass fills a fresh module from the flat vector, which is the
/// master copy.
///
/// Parameters are in the order in which burn visits the module: fields as they are declared,
/// tensors row by row. A linear layer is its weights, a row for each input, then its biases, as in
/// [`Mlp`](fabnet_problems::learning::Mlp). All of them are trained, also those that burn calls
/// frozen.
///
/// The module itself is a template: its shapes count, its values are never drawn. Where training
/// starts is [`Classifier::start`]'s, so two runs give equal bits.
#[derive(Clone, Debug)]
pub struct Adapter<C> {
    template: C,
    parameters: Vec<Parameter>,
    /// The number of scalars of a sample.
    columns: usize,
    /// Does not differentiate: a pass that is recorded and not followed by its backward pass is
    /// never freed.
    plain: Device,
    differentiating: Device,
}

/// Why a module cannot be trained as a flat function.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotAModel {
    /// The losses do not depend on a parameter, or not differentiably.
    #[error(
        "the losses have no gradient in the parameter `{0}`: use it in `losses`, or take it out of the module (statistics that a layer keeps for itself cannot be trained)"
    )]
    NoGradient(String),
    /// One tensor in two places would become two, which drift apart.
    #[error("the parameters `{0}` and `{1}` are one tensor: keep it in one field and use it twice")]
    Shared(String, String),
}

impl<C: Classifier> Adapter<C> {
    /// The module that `make` makes on this computer's processor, for samples of `columns` scalars.
    ///
    /// One gradient is taken at the start, for two rows of zeros, to see that every parameter has
    /// one.
    pub fn new(columns: usize, make: impl FnOnce(&Device) -> C) -> Result<Self, NotAModel> {
        Self::on(&Device::flex(), columns, make)
    }

    /// On any device that computes in 32 bits.
    pub fn on(device: &Device, columns: usize, make: impl FnOnce(&Device) -> C) -> Result<Self, NotAModel> {
        let plain = device.clone().inner();
        let template = make(&plain);
        let parameters = parameters(&template);
        for (place, one) in parameters.iter().enumerate() {
            if let Some(other) = parameters[..place].iter().find(|other| other.is_shared_with(one)) {
                return Err(NotAModel::Shared(other.name().to_owned(), one.name().to_owned()));
            }
        }
        let adapter = Self { template, parameters, columns, differentiating: plain.clone().autodiff(), plain };
        adapter.probe()?;
        Ok(adapter)
    }

    /// What the flat vector consists of.
    pub fn layout(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Takes a gradient to see that it is whole.
    fn probe(&self) -> Result<(), NotAModel> {
        let mut y = vec![0.0; self.parameters()];
        self.start(0, &mut y);
        let batch = Batch { inputs: &vec![0.0; 2 * self.columns], labels: &[0, 0] };
        let to = Losses { each: &mut [0.0; 2], slope: &mut vec![0.0; y.len()] };
        self.add_gradient(&y, batch, &[1.0; 2], to)
    }

    /// The losses, and the gradient of their weighted sum.
    fn add_gradient(
        &self,
        y: &[f32],
        batch: Batch<'_, f32>,
        weights: &[f32],
        to: Losses<'_, f32>,
    ) -> Result<(), NotAModel> {
        let no_gradient = |place: usize| NotAModel::NoGradient(self.parameters[place].name().to_owned());
        let device = &self.differentiating;
        let module = filled(&self.template, y, device);
        let losses = module.losses(self.inputs(batch.inputs, device), labels(batch.labels, device));
        with_values(losses.clone().inner(), |values| to.each.copy_from_slice(values));
        let weighted = (losses * Tensor::from_data(TensorData::from(weights), device)).sum();
        if !weighted.is_tracked() {
            return Err(no_gradient(0));
        }
        add_gradients(&module, weighted.backward(), to.slope).map_err(no_gradient)
    }

    fn inputs(&self, rows: &[f32], device: &Device) -> Tensor<2> {
        Tensor::from_data(TensorData::new(rows.to_vec(), [rows.len() / self.columns, self.columns]), device)
    }
}

impl<C: Classifier> Model<f32> for Adapter<C> {
    fn parameters(&self) -> usize {
        self.parameters.iter().map(Parameter::scalars).sum()
    }

    /// As burn names and shapes them: the weights of a linear layer are inputs × outputs.
    fn tensors(&self) -> Vec<Named> {
        let tensor = |parameter: &Parameter| Named {
            name: parameter.name().to_owned(),
            shape: parameter.shape().to_vec(),
            transposed: false,
        };
        self.parameters.iter().map(tensor).collect()
    }

    fn start(&self, seed: u64, y: &mut [f32]) {
        let mut stream = Stream::new(seed, EVERYONE, 0, Purpose::Start);
        let mut rest = y;
        for parameter in &self.parameters {
            let (values, behind) = rest.split_at_mut(parameter.scalars());
            self.template.start(parameter, &mut stream, values);
            rest = behind;
        }
    }

    /// # Panics
    ///
    /// If the losses have no gradient in a parameter although those of the probe had: a module
    /// whose use of parameters depends on the sample.
    fn losses(
        &self,
        y: &[f32],
        batch: Batch<'_, f32>,
        weights: &[f32],
        to: Losses<'_, f32>,
        _scratch: &mut Scratch<f32>,
    ) {
        if !to.slope.is_empty() {
            return self.add_gradient(y, batch, weights, to).unwrap_or_else(|problem| panic!("{problem}"));
        }
        let module = filled(&self.template, y, &self.plain);
        let rows =
            batch.inputs.chunks(ROWS * self.columns).zip(batch.labels.chunks(ROWS)).zip(to.each.chunks_mut(ROWS));
        for ((inputs, classes), each) in rows {
            let losses = module.losses(self.inputs(inputs, &self.plain), labels(classes, &self.plain));
            with_values(losses, |values| each.copy_from_slice(values));
        }
    }

    fn classify(&self, y: &[f32], inputs: &[f32], classes: &mut [u32]) {
        let module = filled(&self.template, y, &self.plain);
        for (inputs, classes) in inputs.chunks(ROWS * self.columns).zip(classes.chunks_mut(ROWS)) {
            let logits = module.logits(self.inputs(inputs, &self.plain));
            let width = logits.dims()[1];
            with_values(logits, |values| {
                for (row, class) in values.chunks_exact(width).zip(classes) {
                    *class = largest(row);
                }
            });
        }
    }
}

fn labels(classes: &[u32], device: &Device) -> Tensor<1, Int> {
    let classes: Vec<i32> = classes.iter().map(|&class| class.cast_signed()).collect();
    Tensor::from_data(TensorData::from(&*classes), device)
}

//! Between the parameters of a burn module and one flat vector, in the order in which burn visits
//! them: fields as they are declared, tensors row by row.

use burn::module::{Flag, Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::{Device, Gradients, Tensor, TensorData};

/// One tensor among the parameters of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    name: String,
    shape: Vec<usize>,
    id: ParamId,
}

impl Parameter {
    /// The fields that lead to it, `hidden.weight` say.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its extents. The weights of a linear layer are inputs × outputs.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of its scalars.
    pub fn scalars(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the module holds this very tensor in another place, too.
    pub(crate) fn is_shared_with(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// The parameters of a module. Their values are not asked for, so burn does not draw any.
pub(crate) fn parameters(module: &impl Module) -> Vec<Parameter> {
    let mut list = List::default();
    module.visit(&mut list);
    list.parameters
}

/// The module with values from a flat vector: fresh leaves, which remember what is done with them
/// if the device differentiates. Layers that draw are switched off.
pub(crate) fn filled<M: Module>(template: &M, values: &[f32], device: &Device) -> M {
    template.clone().map(&mut Fill { rest: values, device })
}

/// Adds the gradients of a filled module to a flat slope. The number of the parameter that has none
/// is an error.
pub(crate) fn add_gradients(module: &impl Module, gradients: Gradients, slope: &mut [f32]) -> Result<(), usize> {
    let mut add = AddGradients { gradients, rest: slope, visited: 0, missing: None };
    module.visit(&mut add);
    add.missing.map_or(Ok(()), Err)
}

#[derive(Default)]
struct List {
    path: Vec<String>,
    parameters: Vec<Parameter>,
}

impl ModuleVisitor for List {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.parameters.push(Parameter { name: self.path.join("."), shape: param.lazy_shape().to_vec(), id: param.id });
    }
}

struct Fill<'a> {
    rest: &'a [f32],
    device: &'a Device,
}

impl ModuleMapper for Fill<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let shape = param.lazy_shape();
        let (values, rest) = self.rest.split_at(shape.num_elements());
        self.rest = rest;
        let tensor = Tensor::from_data(TensorData::new(values.to_vec(), shape), self.device);
        Param::initialized(param.id, if self.device.is_autodiff() { tensor.require_grad() } else { tensor })
    }

    fn map_flag(&mut self, flag: Param<Flag>) -> Param<Flag> {
        flag.with_value(false)
    }
}

struct AddGradients<'a> {
    gradients: Gradients,
    rest: &'a mut [f32],
    visited: usize,
    missing: Option<usize>,
}

impl ModuleVisitor for AddGradients<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let (slope, rest) = std::mem::take(&mut self.rest).split_at_mut(tensor.shape().num_elements());
        match tensor.grad_remove(&mut self.gradients) {
            Some(gradient) => with_values(gradient, |values| fabnet_core::linalg::add(slope, values)),
            None => self.missing = self.missing.or(Some(self.visited)),
        }
        self.rest = rest;
        self.visited += 1;
    }
}

/// Shows the values of a tensor, row by row.
pub(crate) fn with_values<const D: usize, R>(tensor: Tensor<D>, look: impl FnOnce(&[f32]) -> R) -> R {
    let data = tensor.into_data();
    look(data.as_slice().expect("the device computes in 32 bits"))
}

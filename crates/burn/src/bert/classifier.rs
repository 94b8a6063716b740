//! Fine-tuning: all of BERT and a linear layer on top of it.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor};
use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::{Scratch, Tensor as Named};
use fabnet_problems::learning::{Batch, Losses, Model};

use super::encoder::Encoder;
use super::network::Bert;
use super::weights::{WITHIN, published};
use crate::{Adapter, Classifier, NotAModel, Parameter};

/// How the weights of the head are spread at the start, as BERT's own were.
const DEVIATION: f64 = 0.02;

/// BERT and a linear layer from its [features](Encoder::features) to classes, all of it trained. A
/// sample is a row of [tokens](super::Tokens).
///
/// The parameters are BERT's, without its pooler, then the head's weights and biases. Training
/// starts at the loaded weights, with a small random head. There is no dropout: a model is a pure
/// function.
#[derive(Clone, Debug)]
pub struct BertClassifier {
    model: Adapter<FineTuned>,
    loaded: Vec<f32>,
    classes: usize,
}

impl BertClassifier {
    /// A classifier for rows of `length` tokens.
    pub fn new(encoder: Encoder, length: usize, classes: usize) -> Result<Self, NotAModel> {
        let Encoder { config, weights } = encoder;
        let model = Adapter::new(length, |device: &Device| FineTuned {
            bert: Bert::new(&config, device),
            head: LinearConfig::new(config.hidden_size, classes).init(device),
        })?;
        Ok(Self { model, loaded: weights, classes })
    }
}

impl Model<f32> for BertClassifier {
    fn parameters(&self) -> usize {
        self.model.parameters()
    }

    /// Under the names of Hugging Face's `BertForSequenceClassification`; the head is `classifier`.
    fn tensors(&self) -> Vec<Named> {
        let tensor = |parameter: &Parameter| {
            let (name, transposed) = match parameter.name().split_once('.') {
                Some(("bert", ours)) => {
                    let (name, transposed) = published(ours);
                    (format!("{WITHIN}{name}"), transposed)
                }
                Some((_, field)) => (format!("classifier.{field}"), field == "weight"),
                None => (parameter.name().to_owned(), false),
            };
            let mut shape = parameter.shape().to_vec();
            if transposed {
                shape.reverse();
            }
            Named { name, shape, transposed }
        };
        self.model.layout().iter().map(tensor).collect()
    }

    fn start(&self, seed: u64, y: &mut [f32]) {
        let (bert, head) = y.split_at_mut(self.loaded.len());
        bert.copy_from_slice(&self.loaded);
        let biases = head.len() - self.classes;
        Stream::new(seed, EVERYONE, 0, Purpose::Start).fill_normal(DEVIATION, &mut head[..biases]);
    }

    fn losses(
        &self,
        y: &[f32],
        batch: Batch<'_, f32>,
        weights: &[f32],
        to: Losses<'_, f32>,
        scratch: &mut Scratch<f32>,
    ) {
        self.model.losses(y, batch, weights, to, scratch);
    }

    fn classify(&self, y: &[f32], inputs: &[f32], classes: &mut [u32]) {
        self.model.classify(y, inputs, classes);
    }
}

#[derive(Module, Debug)]
struct FineTuned {
    bert: Bert,
    head: Linear,
}

impl Classifier for FineTuned {
    fn logits(&self, inputs: Tensor<2>) -> Tensor<2> {
        self.head.forward(self.bert.pooled(inputs))
    }
}

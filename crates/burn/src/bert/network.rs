//! The layers of BERT, on burn's.

use burn::module::Module;
use burn::nn::activation::ActivationConfig;
use burn::nn::transformer::{TransformerEncoder, TransformerEncoderConfig, TransformerEncoderInput};
use burn::nn::{Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig};
use burn::tensor::{Device, Int, Tensor};

use super::config::Config;
use crate::parameters::with_values;

/// From rows of tokens to what BERT makes of each, without the pooler that its pre-training ends
/// in.
#[derive(Module, Debug)]
pub(super) struct Bert {
    words: Embedding,
    positions: Embedding,
    kinds: Embedding,
    norm: LayerNorm,
    encoder: TransformerEncoder,
    pad: f32,
}

impl Bert {
    pub(super) fn new(config: &Config, device: &Device) -> Self {
        let width = config.hidden_size;
        let table = |rows| EmbeddingConfig::new(rows, width).init(device);
        let (heads, layers) = (config.num_attention_heads, config.num_hidden_layers);
        Self {
            words: table(config.vocab_size),
            positions: table(config.max_position_embeddings),
            kinds: table(config.type_vocab_size),
            norm: LayerNormConfig::new(width).with_epsilon(config.layer_norm_eps).init(device),
            encoder: TransformerEncoderConfig::new(width, config.intermediate_size, heads, layers)
                .with_norm_first(false)
                .with_activation(ActivationConfig::Gelu)
                .with_layer_norm_eps(config.layer_norm_eps)
                .with_dropout(0.0)
                .init(device),
            pad: config.pad(),
        }
    }

    /// The mean over a row's tokens, padding left out, of their last hidden states.
    pub(super) fn pooled(&self, rows: Tensor<2>) -> Tensor<2> {
        let rows = self.cut(rows);
        let real = rows.clone().not_equal_elem(self.pad).float().unsqueeze_dim::<3>(2);
        // A row of nothing but padding is empty; its mean is 0.
        let counts = real.clone().sum_dim(1).clamp_min(1.0);
        ((self.states(rows) * real).sum_dim(1) / counts).squeeze_dim(1)
    }

    /// The last hidden states of all tokens.
    pub(super) fn states(&self, rows: Tensor<2>) -> Tensor<3> {
        let [_, length] = rows.dims();
        let device = rows.device();
        let padding = rows.clone().equal_elem(self.pad);
        let places = Tensor::<1, Int>::arange(0..length.cast_signed() as i64, &device).reshape([1, length]);
        // There is one text in a row, so all tokens are of the first kind.
        let kind = Tensor::<2, Int>::zeros([1, 1], &device);
        let sum = self.words.forward(rows.int()) + self.positions.forward(places) + self.kinds.forward(kind);
        self.encoder.forward(TransformerEncoderInput::new(self.norm.forward(sum)).mask_pad(padding))
    }

    /// The rows without the columns in which all of them are padded: what is masked need not be
    /// computed.
    fn cut(&self, rows: Tensor<2>) -> Tensor<2> {
        let [_, length] = rows.dims();
        let used = |row: &[f32]| row.iter().rposition(|&token| token != self.pad).map_or(1, |last| last + 1);
        let longest = with_values(rows.clone().inner(), |values| values.chunks_exact(length).map(used).max());
        rows.narrow(1, 0, longest.unwrap_or(1))
    }
}

//! BERT against what `transformers` computes, written by ../reference/make.py.

use std::path::{Path, PathBuf};

use fabnet_burn::bert::{BertClassifier, Encoder, LoadError, Tokens};
use fabnet_core::Scratch;
use fabnet_problems::learning::data::Library;
use fabnet_problems::learning::{Batch, Losses, Model};
use serde::Deserialize;

const CLASSES: usize = 2;

#[derive(Deserialize)]
struct Reference {
    sentences: Vec<String>,
    length: usize,
    labels: Vec<u32>,
    tokens: Vec<Vec<u32>>,
    features: Vec<Vec<f64>>,
    feature_norms: Vec<f64>,
    state_of_token_3: Vec<f64>,
    losses: Vec<f64>,
    gradient_norm: f64,
    gradient_norm_of_words: f64,
    gradient_norm_of_head: f64,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("../reference/bert.json")).unwrap()
}

/// The folder of the model, which has to be there: a test that is skipped cannot fail.
fn folder() -> PathBuf {
    let folder = Library::usual().folder().join("bert");
    assert!(
        folder.join("model.safetensors").exists(),
        "no model in {}: set FABNET_DATA to the folder of data",
        folder.display()
    );
    folder
}

fn rows(reference: &Reference) -> Vec<f32> {
    Tokens::load(&folder(), reference.length).unwrap().rows(&reference.sentences).unwrap()
}

fn norm(values: &[f32]) -> f64 {
    values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt()
}

fn assert_near(ours: f64, theirs: f64, tolerance: f64, what: &str) {
    assert!((ours - theirs).abs() <= tolerance, "{what}: {ours} instead of {theirs}");
}

#[test]
fn tokens_are_those_of_transformers() {
    let reference = reference();
    let wanted: Vec<f32> = reference.tokens.concat().iter().map(|&token| token as f32).collect();
    assert_eq!(rows(&reference), wanted);
}

#[test]
fn features_and_states_are_those_of_transformers() {
    let reference = reference();
    let (encoder, rows) = (Encoder::load(&folder()).unwrap(), rows(&reference));
    let (features, width) = (encoder.features(&rows, reference.length), encoder.width());
    assert_eq!(features.len(), reference.sentences.len() * width);
    for (sentence, ours) in features.chunks_exact(width).enumerate() {
        assert_near(norm(ours), reference.feature_norms[sentence], 1e-5, "norm of features");
        for (&ours, &theirs) in ours.iter().zip(&reference.features[sentence]) {
            assert_near(f64::from(ours), theirs, 2e-6, "feature");
        }
    }
    let states = encoder.states(&rows[..reference.length]);
    for (&ours, &theirs) in states[3 * width..].iter().zip(&reference.state_of_token_3) {
        assert_near(f64::from(ours), theirs, 1e-5, "hidden state");
    }
}

#[test]
fn features_do_not_depend_on_padding() {
    let reference = reference();
    let encoder = Encoder::load(&folder()).unwrap();
    let longer = Tokens::load(&folder(), reference.length + 9).unwrap();
    let first = &reference.sentences[..1];
    let short = encoder.features(&rows(&reference)[..reference.length], reference.length);
    assert_eq!(short, encoder.features(&longer.rows(first).unwrap(), longer.length()));
}

/// The head of reference/make.py: a row for each feature, then the biases.
fn head(width: usize) -> Vec<f32> {
    let weight = |feature: usize, class: usize| ((7 * feature + 13 * class) % 11) as f32 / 50.0 - 0.1;
    (0..width).flat_map(|feature| (0..CLASSES).map(move |class| weight(feature, class))).chain([0.0, 0.1]).collect()
}

#[test]
fn the_first_step_of_fine_tuning_is_that_of_transformers() {
    let reference = reference();
    let (rows, encoder) = (rows(&reference), Encoder::load(&folder()).unwrap());
    let (words, head) = (30_522 * encoder.width(), head(encoder.width()));
    let model = BertClassifier::new(encoder, reference.length, CLASSES).unwrap();
    let mut y = vec![0.0; model.parameters()];
    model.start(1, &mut y);
    let bert = y.len() - head.len();
    y[bert..].copy_from_slice(&head);

    let batch = Batch { inputs: &rows, labels: &reference.labels };
    let weights = vec![1.0 / reference.labels.len() as f32; reference.labels.len()];
    let evaluate = |slope: &mut [f32]| {
        let mut each = vec![f32::NAN; reference.labels.len()];
        model.losses(&y, batch, &weights, Losses { each: &mut each, slope }, &mut Scratch::default());
        each
    };
    let mut slope = vec![0.0; y.len()];
    let each = evaluate(&mut slope);
    for (&ours, &theirs) in each.iter().zip(&reference.losses) {
        assert_near(f64::from(ours), theirs, 1e-5 * theirs, "loss");
    }
    for (&plain, &recorded) in evaluate(&mut []).iter().zip(&each) {
        assert_near(f64::from(plain), f64::from(recorded), 1e-5, "loss without gradient");
    }
    for (ours, theirs) in [
        (&slope[..], reference.gradient_norm),
        (&slope[..words], reference.gradient_norm_of_words),
        (&slope[bert..], reference.gradient_norm_of_head),
    ] {
        assert_near(norm(ours), theirs, 1e-5 * theirs, "gradient");
    }

    let mut again = vec![0.0; y.len()];
    assert_eq!((evaluate(&mut again), again), (each, slope), "the same pass twice");
}

#[test]
fn a_start_is_the_loaded_weights_with_a_small_head_by_seed() {
    let encoder = Encoder::load(&folder()).unwrap();
    let head = CLASSES * (encoder.width() + 1);
    let model = BertClassifier::new(encoder, 8, CLASSES).unwrap();
    let start = |seed| {
        let mut y = vec![0.0; model.parameters()];
        model.start(seed, &mut y);
        let head = y.split_off(y.len() - head);
        (y, head)
    };
    let (one, two) = (start(1), start(2));
    assert_eq!(one.0, two.0);
    assert_ne!(one.1, two.1);
    assert_eq!(one, start(1));
    assert!(one.1.iter().all(|value| value.abs() < 0.2) && one.1[head - CLASSES..] == [0.0; CLASSES]);
    // All 101 tensors of BERT but the pooler's two: 22.7 million scalars.
    assert_eq!(one.0.len(), 22_565_376);
}

#[test]
fn tensors_have_the_names_shapes_and_numbers_that_they_were_loaded_with() {
    let model = BertClassifier::new(Encoder::load(&folder()).unwrap(), 8, CLASSES).unwrap();
    let mut y = vec![0.0; model.parameters()];
    model.start(1, &mut y);
    let bytes = std::fs::read(folder().join("model.safetensors")).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let (mut rest, mut loaded) = (y.as_slice(), 0);
    for tensor in model.tensors() {
        let (held, after) = rest.split_at(tensor.scalars());
        rest = after;
        let Some(name) = tensor.name.strip_prefix("bert.") else {
            assert!(["classifier.weight", "classifier.bias"].contains(&tensor.name.as_str()), "{}", tensor.name);
            continue;
        };
        let there = file.tensor(name).or_else(|_| file.tensor(&tensor.name)).unwrap();
        assert_eq!(there.shape(), tensor.shape, "{name}");
        let scalars = there.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        assert!(scalars.eq(tensor.rows(held)), "{name}");
        loaded += 1;
    }
    let used = |name: &&str| !name.contains("pooler") && !name.contains("position_ids");
    assert_eq!((rest.len(), loaded), (0, file.names().iter().copied().filter(|name| used(name)).count()));
}

#[test]
fn what_is_wrong_with_a_folder_is_said() {
    let nowhere = tempfile::tempdir().unwrap();
    let at = nowhere.path();
    assert!(matches!(Encoder::load(at), Err(LoadError::Unreadable { .. })));

    let copy = |file: &str| std::fs::read(folder().join(file)).unwrap();
    let config = String::from_utf8(copy("config.json")).unwrap();
    let with = |from: &str, to: &str| {
        assert!(config.contains(from));
        std::fs::write(at.join("config.json"), config.replace(from, to)).unwrap();
        Encoder::load(at).map(|_| ()).unwrap_err().to_string()
    };
    std::fs::write(at.join("model.safetensors"), copy("model.safetensors")).unwrap();
    assert!(with("\"gelu\"", "\"relu\"").contains("hidden_act"));
    assert!(
        with("\"num_hidden_layers\": 6", "\"num_hidden_layers\": 7")
            .contains("`encoder.layer.6.attention.self.query.weight`")
    );
    assert!(with("\"intermediate_size\": 1536", "\"intermediate_size\": 1537").contains("[1536, 384]"));
    assert!(with("{", "").contains("config.json is damaged"));
    for size in ["1000000000", "18446744073709551615"] {
        for (key, given) in [("vocab_size", "30522"), ("hidden_size", "384"), ("num_hidden_layers", "6")] {
            let said = with(&format!("\"{key}\": {given}"), &format!("\"{key}\": {size}"));
            assert!(said.contains("too few for the BERT that config.json describes"), "{key} = {size}: {said}");
        }
    }

    let too_long = Tokens::load(&folder(), 513).map(|_| ()).unwrap_err();
    assert!(matches!(too_long, LoadError::Length { length: 513, positions: 512 }));
}

#[test]
fn weights_that_were_part_of_a_larger_model_load() {
    let larger = tempfile::tempdir().unwrap();
    std::fs::copy(folder().join("config.json"), larger.path().join("config.json")).unwrap();
    // The length of the names and places, these, then the numbers.
    let file = std::fs::read(folder().join("model.safetensors")).unwrap();
    let (length, rest) = file.split_first_chunk::<8>().unwrap();
    let (header, numbers) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let header = str::from_utf8(header).unwrap().replace("\"en", "\"bert.en").replace("\"em", "\"bert.em");
    let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), numbers].concat();
    std::fs::write(larger.path().join("model.safetensors"), file).unwrap();

    let reference = reference();
    let features = |folder: &Path| Encoder::load(folder).unwrap().features(&rows(&reference), reference.length);
    assert_eq!(features(larger.path()), features(&folder()));
}

//! What learning problems promise beyond what every problem does.
#![cfg(feature = "learning")]

use std::sync::Arc;

use fabnet_core::rng::{Purpose, Stream};
use fabnet_core::settings::{SettingsReader, Value};
use fabnet_core::{GradientMut, Level, Objective, Point, Problem, ProblemExt, Scalar, Scratch, Tensor, linalg};
use fabnet_problems::learning::data::{Library, State, known};
use fabnet_problems::learning::{Batch, Losses, Mlp, Model, largest};
use fabnet_problems::problems;

fn make<T: Scalar>(kind: &str, agents: usize, settings: &[(&str, Value)]) -> Result<Arc<dyn Problem<T>>, String> {
    let synthetic = [("data", Value::from("synthetic"))];
    let settings: Vec<(&str, Value)> = settings.iter().cloned().chain(synthetic).collect();
    let kind = problems::<T>().into_iter().find(|known| known.name == kind).expect("a known kind");
    let given = settings.as_slice();
    let mut keys = SettingsReader::new(&given);
    let recipe = (kind.read)(&mut keys);
    assert_eq!(keys.mistakes, []);
    recipe(agents, 3)
}

/// A random batch, and random parameters and weights.
fn random<T: Scalar>(model: &Mlp, [rows, inputs, classes]: [usize; 3]) -> ([Vec<T>; 3], Vec<u32>) {
    let mut stream = Stream::new(5, 0, 0, Purpose::Other(7));
    let y = stream.normals(Model::<T>::parameters(model), 0.5);
    let (inputs, weights) = (stream.normals(rows * inputs, 1.0), stream.uniforms(rows, 0.1, 1.0));
    ([y, inputs, weights], (0..rows).map(|_| stream.below(classes) as u32).collect())
}

fn losses<T: Scalar>(
    model: &Mlp,
    y: &[T],
    batch: Batch<'_, T>,
    weights: &[T],
    slope: &mut [T],
    scratch: &mut Scratch<T>,
) -> Vec<T> {
    let mut each = vec![T::nan(); batch.labels.len()];
    model.losses(y, batch, weights, Losses { each: &mut each, slope }, scratch);
    each
}

/// The class that PyTorch's `Linear` and `ReLU` would give to an input, from tensors as they are
/// written for it: a row of weights for each output.
fn class_by_tensors(tensors: &[(Tensor, Vec<f64>)], input: &[f64]) -> u32 {
    let mut values = input.to_vec();
    for (layer, pair) in tensors.chunks(2).enumerate() {
        let [(weight, weights), (bias, biases)] = pair else { panic!("a layer is a matrix and a vector") };
        assert_eq!((weight.shape[1], &bias.shape[..]), (values.len(), &weight.shape[..1]));
        assert_eq!([&weight.name, &bias.name], [&format!("{}.weight", 2 * layer), &format!("{}.bias", 2 * layer)]);
        let rectified = 2 * layer + 2 < tensors.len();
        let output = |(row, bias): (&[f64], &f64)| linalg::dot(row, &values) + bias;
        let outputs = weights.chunks(values.len()).zip(biases).map(output);
        values = outputs.map(|value: f64| if rectified { value.max(0.0) } else { value }).collect();
    }
    largest(&values)
}

#[test]
fn tensors_under_their_names_are_the_same_model() {
    for hidden in [&[][..], &[7], &[6, 5]] {
        let (model, shape) = (Mlp::new(9, hidden, 4), [50, 9, 4]);
        let ([y, inputs, _], mut classes) = random::<f64>(&model, shape);
        model.classify(&y, &inputs, &mut classes);
        let mut rest = y.as_slice();
        let tensors: Vec<(Tensor, Vec<f64>)> = Model::<f64>::tensors(&model)
            .into_iter()
            .map(|tensor| {
                let (held, after) = rest.split_at(tensor.scalars());
                rest = after;
                let rows = tensor.rows(held);
                (tensor, rows)
            })
            .collect();
        assert!(rest.is_empty());
        let by_tensors: Vec<u32> = inputs.chunks(9).map(|input| class_by_tensors(&tensors, input)).collect();
        assert_eq!(by_tensors, classes);
        assert!(classes.iter().any(|class| *class != classes[0]));
    }
}

#[test]
fn gradients_of_models_are_derivatives() {
    for hidden in [&[][..], &[7], &[6, 5], &[4, 8, 3]] {
        let (model, shape) = (Mlp::new(9, hidden, 4), [13, 9, 4]);
        let ([y, inputs, weights], labels) = random::<f64>(&model, shape);
        let batch = Batch { inputs: &inputs, labels: &labels };
        let scratch = &mut Scratch::default();
        let mut slope = vec![0.0; y.len()];
        losses(&model, &y, batch, &weights, &mut slope, scratch);
        let mut value = |y: &[f64]| linalg::dot(&losses(&model, y, batch, &weights, &mut [], scratch), &weights);
        for place in 0..y.len() {
            // Short differences do not reach over the kinks of rectified units.
            let h = 1e-6;
            let mut moved = y.clone();
            moved[place] = y[place] + h;
            let above = value(&moved);
            moved[place] = y[place] - h;
            let measured = (above - value(&moved)) / (2.0 * h);
            assert!((measured - slope[place]).abs() < 1e-7, "{hidden:?} {place}: {} against {measured}", slope[place]);
        }
    }
}

#[test]
fn single_precision_agrees_with_double_and_classes_follow_logits() {
    let (model, shape) = (Mlp::new(20, &[16, 8], 5), [40, 20, 5]);
    let ([y, inputs, weights], labels) = random::<f64>(&model, shape);
    let narrow = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<_>>();
    let (mut wide, mut slim) = (vec![0.0; y.len()], vec![0.0f32; y.len()]);
    let double =
        losses(&model, &y, Batch { inputs: &inputs, labels: &labels }, &weights, &mut wide, &mut Scratch::default());
    let (y32, inputs32) = (narrow(&y), narrow(&inputs));
    let batch = Batch { inputs: &inputs32, labels: &labels };
    let single = losses(&model, &y32, batch, &narrow(&weights), &mut slim, &mut Scratch::default());
    let close = |a: &f64, b: &f32| (a - f64::from(*b)).abs() < 1e-4 * (1.0 + a.abs());
    assert!(double.iter().zip(&single).all(|(a, b)| close(a, b)));
    assert!(wide.iter().zip(&slim).all(|(a, b)| close(a, b)));
    // The class that is chosen is the one whose loss would be least.
    let mut classes = vec![9; labels.len()];
    model.classify(&y, &inputs, &mut classes);
    let of_class = |class: u32| {
        let labels = vec![class; labels.len()];
        losses(&model, &y, Batch { inputs: &inputs, labels: &labels }, &weights, &mut [], &mut Scratch::default())
    };
    let each: Vec<Vec<f64>> = (0..5).map(of_class).collect();
    for (sample, &class) in classes.iter().enumerate() {
        assert!(each.iter().all(|losses| losses[sample] >= each[class as usize][sample]));
    }
}

/// The gradient in y at a random point, of one level or of an objective.
fn slope(problem: &dyn Problem<f64>, agent: usize, round: u64, what: Result<Level, Objective>) -> Vec<f64> {
    let mut stream = Stream::new(2, agent, 0, Purpose::Other(3));
    let (own, _, mut y) = problem.starting_point(agent);
    let x = vec![-1.0; problem.dim().outer];
    stream.fill_normal(0.3, &mut y);
    let at = Point { agent, round, own: &own, x: &x, y: &y };
    let mut out = vec![0.0; y.len()];
    match what {
        Ok(level) => {
            let to = GradientMut { scale: (1.0, 1.0), own: &mut [], x: &mut [], y: &mut out };
            problem.add_gradient(level, at, to, &mut Scratch::default());
        }
        Err(objective) => problem.add_objective(objective, at, 1.0, &mut out, &mut Scratch::default()),
    }
    out
}

#[test]
fn an_epoch_shows_every_batch_once_and_their_gradients_average_to_the_whole() {
    // 40 samples of each agent, 8 of them for validation: 4 batches of 8 to train with, one to
    // validate with.
    let settings = |batch: i64| {
        [
            ("samples_per_agent", Value::Whole(40)),
            ("validation", 0.2.into()),
            ("batch", Value::Whole(batch)),
            ("hidden", Value::Whole(6)),
        ]
    };
    for kind in ["hyper-cleaning", "hyper-tuning"] {
        let [parts, whole] = [8, 1000].map(|batch| make::<f64>(kind, 3, &settings(batch)).unwrap());
        assert_eq!((parts.batches(1), whole.batches(1)), (4, 1));
        assert!(parts.noisy() && !whole.noisy());
        let orders: Vec<Vec<usize>> =
            (0..50).map(|epoch| (0..4).map(|step| parts.batch(1, 4 * epoch + step)).collect()).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
        }
        assert!(orders.iter().any(|order| *order != orders[0]), "every epoch has the same order");
        for what in [Ok(Level::Lower), Ok(Level::Upper), Err(Objective::Merged), Err(Objective::Train)] {
            let mut mean = vec![0.0; whole.dim().inner];
            (0..4).for_each(|round| linalg::add_scaled(&mut mean, 0.25, &slope(&*parts, 1, round, what)));
            let all = slope(&*whole, 1, 0, what);
            assert!(linalg::distance_squared(&mean, &all).sqrt() < 1e-12 * linalg::norm(&all), "{kind} {what:?}");
        }
    }
}

/// Objectives of single-level methods are unweighted means: merged is all samples together, not one
/// mean beside the other.
#[test]
fn objectives_are_means_over_samples() {
    let settings = [
        ("samples_per_agent", Value::Whole(40)),
        ("validation", 0.2.into()),
        ("batch", Value::Whole(1000)),
        ("layers", Value::Whole(0)),
    ];
    let problem = make::<f64>("hyper-cleaning", 3, &settings).unwrap();
    let [train, merged, clean] =
        [Objective::Train, Objective::Merged, Objective::Clean].map(|objective| slope(&*problem, 2, 0, Err(objective)));
    for ((train, merged), clean) in train.iter().zip(merged).zip(clean) {
        assert!((0.8 * train + 0.2 * clean - merged).abs() < 1e-12);
    }
    // Weights start at ½: the lower level is half of the objective, apart from the ridge.
    let lower = slope(&*problem, 2, 0, Ok(Level::Lower));
    assert!(lower.iter().zip(&train).any(|(lower, train)| (lower - train).abs() > 1e-3));
}

#[test]
fn a_ridge_may_be_one_for_all_or_for_each_class_or_input() {
    let make = |per: &str| make::<f64>("hyper-tuning", 4, &[("ridge_per", per.into())]).unwrap();
    for (per, outer) in [("model", 1), ("class", 4), ("input", 17)] {
        let problem = make(per);
        assert_eq!(problem.dim().outer, outer);
        let (_, x, _) = problem.starting_point(0);
        assert!(x.iter().all(|x| (x.exp() - 0.15).abs() < 1e-12));
        // All equal, they are one.
        let [several, one] = [&problem, &make("model")].map(|problem| slope(&**problem, 1, 0, Ok(Level::Lower)));
        assert!(linalg::distance_squared(&several, &one) < 1e-28, "{per}");
    }
}

#[test]
fn impossible_deals_are_refused_with_advice() {
    for (agents, settings, says) in [
        (10, ("samples_per_agent", Value::Whole(1000)), "lower samples_per_agent"),
        (10, ("minimum", Value::Whole(1000)), "lower minimum"),
        (3, ("flips", Value::from("0>9")), "from 0 to 3"),
        (3, ("sha256", Value::from("0123")), "has the checksum"),
    ] {
        let message = make::<f64>("hyper-cleaning", agents, &[settings]).err().expect("an error");
        assert!(message.contains(says), "{message}");
    }
}

/// The data of the paper's tasks, where every run looks for it; that it is missing is a failure.
#[test]
fn published_data_is_complete_and_intact() {
    let library = Library::usual();
    for entry in known() {
        assert_eq!(
            library.verify(entry),
            State::Intact,
            "{} in {}: set FABNET_DATA",
            entry.name,
            library.folder().display()
        );
    }
    let mnist = library.dataset("fashion-mnist").unwrap();
    let counts = |labels: &[u32]| {
        (0..10).map(|class| labels.iter().filter(|&&label| label == class).count()).collect::<Vec<_>>()
    };
    assert_eq!((counts(&mnist.0.train.labels), counts(&mnist.0.test.labels)), (vec![6000; 10], vec![1000; 10]));
    let nowhere = Library::new(&library.folder().join("nowhere"));
    assert!(matches!(nowhere.verify(&known()[0]), State::Missing(files) if files.len() == 4));
    assert!(nowhere.dataset("mnist").unwrap_err().contains("FABNET_DATA"));
}

//! The speed of training models.
//!
//! `learning gradient [HIDDEN] [BAR]` compares the gradient of a perceptron on a batch of 64 with
//! the bare matrix products that it consists of. The exit code is 1 if it has less than BAR of
//! their speed (0.7 if not given).
//!
//! `learning epoch THREADS EPOCHS [HIDDEN]` prints the seconds per epoch of FAB on Fashion-MNIST
//! with ten agents, to be compared with those of `fashion_epoch.py` in PyTorch.
#![allow(clippy::print_stdout, reason = "this program prints its measurement")]

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

use fabnet_benches::{elapsed, push_pull, with_threads};
use fabnet_core::direction::Penalty;
use fabnet_core::settings::{SettingsReader, Value};
use fabnet_core::topology::Phases;
use fabnet_core::{Problem, ProblemExt, Scratch};
use fabnet_problems::learning::{Batch, Losses, Mlp, Model};
use fabnet_problems::problems;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// The samples of a batch.
const ROWS: usize = 64;
const INPUTS: usize = 784;
const CLASSES: usize = 10;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |place: usize, default: usize| arguments.get(place).and_then(|text| text.parse().ok()).unwrap_or(default);
    if arguments.first().is_some_and(|mode| mode == "epoch") {
        with_threads(number(1, 1), || epoch(number(2, 1), number(3, 256)));
        return ExitCode::SUCCESS;
    }
    let bar = arguments.get(2).and_then(|text| text.parse().ok()).unwrap_or(0.7);
    if gradient(number(1, 256)) < bar { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The speed of the gradient as a fraction of that of its matrix products.
fn gradient(hidden: usize) -> f64 {
    const TURNS: usize = 40;
    const CALLS: usize = 20;
    let model = Mlp::new(INPUTS, &[hidden], CLASSES);
    let y: Vec<f32> = arbitrary(Model::<f32>::parameters(&model));
    let (inputs, labels, weights) = (arbitrary(ROWS * INPUTS), [3u32; ROWS], [0.01f32; ROWS]);
    let (mut each, mut slope, mut scratch) = ([0.0; ROWS], y.clone(), Scratch::default());
    let mut whole = || {
        let batch = Batch { inputs: &inputs, labels: &labels };
        model.losses(&y, batch, &weights, Losses { each: &mut each, slope: &mut slope }, &mut scratch);
        black_box(&mut slope);
    };
    let (first, second) = (&y[..INPUTS * hidden], &y[(INPUTS + 1) * hidden..][..hidden * CLASSES]);
    let (mut units, mut logits) = (vec![0.0; ROWS * hidden], vec![0.0; ROWS * CLASSES]);
    let (mut to_first, mut to_second) = (first.to_vec(), second.to_vec());
    let delta = arbitrary(ROWS * CLASSES);
    let mut products = || {
        product(&mut units, hidden, (&inputs, INPUTS, false), (first, hidden, false));
        product(&mut logits, CLASSES, (&units, hidden, false), (second, CLASSES, false));
        product(&mut to_second, CLASSES, (&units, hidden, true), (&delta, CLASSES, false));
        product(&mut units, hidden, (&delta, CLASSES, false), (second, CLASSES, true));
        product(&mut to_first, hidden, (&inputs, INPUTS, true), (&units, hidden, false));
        black_box((&mut logits, &mut to_first, &mut to_second));
    };
    let mut best = [f64::INFINITY; 2];
    for _ in 0..TURNS {
        best[0] = best[0].min(elapsed(|| (0..CALLS).for_each(|_| whole())));
        best[1] = best[1].min(elapsed(|| (0..CALLS).for_each(|_| products())));
    }
    let [whole, products] = best.map(|seconds| seconds / CALLS as f64 * 1e6);
    println!(
        "hidden {hidden}: gradient {whole:.0} µs, its products {products:.0} µs: {:.2} of their speed",
        products / whole
    );
    products / whole
}

/// A matrix: its scalars, its columns as stored, and whether it is transposed.
type Matrix<'a> = (&'a [f32], usize, bool);

/// Adds the product of two matrices to `out`.
fn product(out: &mut [f32], columns: usize, a: Matrix<'_>, b: Matrix<'_>) {
    let rows = out.len() / columns;
    matmul(MatMut::from_row_major_slice_mut(out, rows, columns), Accum::Add, view(a), view(b), 1.0, Par::Seq);
}

fn view((data, columns, transposed): Matrix<'_>) -> MatRef<'_, f32> {
    let stored = MatRef::from_row_major_slice(data, data.len() / columns, columns);
    if transposed { stored.transpose() } else { stored }
}

/// Arbitrary numbers of moderate size.
fn arbitrary(len: usize) -> Vec<f32> {
    (0..len).map(|place| ((place % 17) as f32 - 8.0) * 0.01).collect()
}

/// Trains with FAB on Fashion-MNIST, and prints the seconds per epoch.
fn epoch(epochs: usize, hidden: usize) {
    let settings = [("hidden", Value::Whole(hidden.cast_signed() as i64)), ("corruption", 0.5.into())];
    let kind = problems::<f32>().into_iter().find(|kind| kind.name == "hyper-cleaning").expect("it is built in");
    let problem: Arc<dyn Problem<f32>> = match (kind.read)(&mut SettingsReader::new(&settings))(10, 0) {
        Ok(problem) => problem,
        Err(error) => return println!("{error}"),
    };
    let steps = problem.most_batches();
    let mut shard = push_pull(problem, Penalty::literal(1.0), 0.001, Phases::new(10, 0.5, 0));
    let mut rounds = |count: usize| (0..count).for_each(|_| assert!(shard.round().is_ok()));
    rounds(5);
    let seconds = elapsed(|| rounds(epochs * steps)) / epochs as f64;
    println!("{seconds:.3} seconds per epoch of {steps} steps (fabnet {})", env!("CARGO_PKG_VERSION"));
}

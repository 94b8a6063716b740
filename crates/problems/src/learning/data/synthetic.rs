//! Data that needs no files.

use fabnet_core::rng::{EVERYONE, Purpose, Stream};

use super::dataset::{Dataset, Inputs, Raw};

const WIDTH: usize = 16;
const CLASSES: u32 = 4;
const TRAIN: usize = 4000;
const TEST: usize = 1000;

/// Clouds of points in 16 dimensions, one for each of four classes, that overlap a little: for
/// tests, and for a first look without any download.
pub(super) fn clouds() -> Dataset {
    // One data set for all runs, as if it came from a file: seeds differ in how it is partitioned.
    let centres: Vec<f32> = Stream::new(0, EVERYONE, 0, Purpose::Data).normals(CLASSES as usize * WIDTH, 0.7);
    let raw = |count: usize, part: u64| {
        let mut stream = Stream::new(0, EVERYONE, part, Purpose::Data);
        let labels: Vec<u32> = (0..count).map(|_| stream.below(CLASSES as usize) as u32).collect();
        let mut inputs: Vec<f32> = stream.normals(count * WIDTH, 1.0);
        for (row, &label) in inputs.chunks_exact_mut(WIDTH).zip(&labels) {
            fabnet_core::linalg::add(row, &centres[label as usize * WIDTH..][..WIDTH]);
        }
        Raw { inputs: Inputs::Numbers(inputs), labels }
    };
    let classes = (0..CLASSES).map(|class| format!("cloud {class}")).collect();
    Dataset::new(classes, None, WIDTH, raw(TRAIN, 1), raw(TEST, 2))
}

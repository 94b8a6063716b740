//! Gradients that many threads ask for at once: burn keeps the graphs of all threads in one place.

use crate::common::{Case, WIDTHS, in_burn};

const THREADS: u32 = 8;
const GRADIENTS: u32 = 1000;

#[test]
fn no_gradient_is_missing_or_wrong() {
    let model = in_burn(&WIDTHS);
    let cases: Vec<Case> = (0..10).map(|number| Case::new(&WIDTHS, 4, 100 + number)).collect();
    let serial: Vec<_> = cases.iter().map(|case| case.gradient(&model)).collect();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (model, cases, serial) = (&model, &cases, &serial);
            scope.spawn(move || {
                for turn in 0..GRADIENTS {
                    let which = ((thread + turn) % 10) as usize;
                    assert_eq!(cases[which].gradient(model), serial[which], "thread {thread}, gradient {turn}");
                }
            });
        }
    });
}

//! Automatic step sizes against the best fixed setting, cell by cell. Results are appended to a
//! file as they are found; cells that are there already are left out, so that an interrupted run
//! goes on where it was.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program prints its measurement")]

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::sync::Mutex;

use fabnet_benches::yardstick::{Cell, all_cells, compare, sampled_cells};
use rayon::prelude::*;

/// The seed by which cells are sampled.
const SEED: u64 = 20;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, which] = &arguments[..] else {
        eprintln!("usage: yardstick FILE full|COUNT (a full run, or a sample of this many cells)");
        std::process::exit(2);
    };
    let cells = match which.parse::<usize>() {
        Ok(count) => sampled_cells(&[5, 10, 30], count, SEED),
        Err(_) => [all_cells(&[5, 10, 30]), sampled_cells(&[100, 1000], 40, SEED)].concat(),
    };
    let done = done_cells(file);
    let left: Vec<Cell> = cells.into_iter().filter(|cell| !done.contains(&cell.to_string())).collect();
    let out = Mutex::new(OpenOptions::new().create(true).append(true).open(file)?);
    left.par_iter().for_each(|cell| {
        let line = describe(cell);
        print!("{line}");
        let mut out = out.lock().expect("nobody panics while writing");
        out.write_all(line.as_bytes()).and_then(|()| out.flush()).expect("the file can be written");
    });
    Ok(())
}

/// The cells that a file has results of.
fn done_cells(file: &str) -> BTreeSet<String> {
    let Ok(file) = File::open(file) else { return BTreeSet::new() };
    let lines = BufReader::new(file).lines().map_while(Result::ok);
    lines.map(|line| line.split('\t').take(5).collect::<Vec<_>>().join("\t")).collect()
}

fn describe(cell: &Cell) -> String {
    let found = compare(cell);
    let setting = found.setting.map_or_else(|| "none".to_owned(), |setting| setting.to_string());
    let (fixed, automatic, failures, peak) = (found.fixed, found.automatic, found.failures, found.peak);
    format!("{cell}\t{fixed:.4}\t{automatic:.4}\t{failures}\t{peak:.3}\t{setting}\n")
}

//! Automatic step sizes against the best fixed setting, cell by cell. Results are appended to a
//! file as they are found; cells that are there already are left out, so that an interrupted run
//! goes on where it was.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program prints its measurement")]

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Mutex;

use fabnet_benches::yardstick::{Automatic, Cell, Reference, all_cells, sampled_cells};
use rayon::prelude::*;

/// The seed by which cells are sampled.
const SEED: u64 = 20;
const USAGE: &str = "usage: yardstick FILE full|COUNT [KNOWN]
  full   all cells; or a sample of COUNT cells
  KNOWN  a file of earlier results: their best fixed settings are not looked for again, and cells
         that it does not have are left out";

/// The best fixed setting of a cell, in words, and its score.
#[derive(Clone)]
struct Known {
    setting: String,
    score: f64,
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, which, earlier) = match &arguments[..] {
        [file, which] => (file, which, None),
        [file, which, earlier] => (file, which, Some(read(earlier)?)),
        _ => {
            eprintln!("{USAGE}");
            std::process::exit(2);
        }
    };
    let cells = match which.parse::<usize>() {
        Ok(count) => sampled_cells(&[5, 10, 30], count, SEED),
        Err(_) => [all_cells(&[5, 10, 30]), sampled_cells(&[100, 1000], 40, SEED)].concat(),
    };
    let out = Mutex::new(OpenOptions::new().create(true).append(true).open(file)?);
    let done = read(file)?;
    let is_known = |cell: &Cell| earlier.as_ref().is_none_or(|known| known.contains_key(&cell.to_string()));
    let is_left = |cell: &Cell| !done.contains_key(&cell.to_string()) && is_known(cell);
    let left: Vec<Cell> = cells.into_iter().filter(is_left).collect();
    left.par_iter().for_each(|cell| {
        let known = earlier.as_ref().map_or_else(|| find(cell), |known| known[&cell.to_string()].clone());
        let line = describe(cell, &known);
        print!("{line}");
        let mut out = out.lock().expect("nobody panics while writing");
        out.write_all(line.as_bytes()).and_then(|()| out.flush()).expect("the file can be written");
    });
    Ok(())
}

/// The best fixed settings of the cells that a file has results of.
fn read(file: &str) -> std::io::Result<BTreeMap<String, Known>> {
    let text = std::fs::read_to_string(file)?;
    let known = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let score = fields.get(5)?.parse().ok()?;
        Some((fields[..5].join("\t"), Known { setting: fields.last()?.to_string(), score }))
    };
    Ok(text.lines().filter_map(known).collect())
}

fn find(cell: &Cell) -> Known {
    let found = Reference::find(cell);
    let setting = found.setting.map_or_else(|| "none".to_owned(), |setting| setting.to_string());
    Known { setting, score: found.score }
}

fn describe(cell: &Cell, Known { setting, score }: &Known) -> String {
    let Automatic { score: automatic, failures, peak } = Automatic::run(cell, *score);
    format!("{cell}\t{score:.4}\t{automatic:.4}\t{failures}\t{peak:.3}\t{setting}\n")
}

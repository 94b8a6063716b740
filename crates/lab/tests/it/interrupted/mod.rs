//! Experiments that are interrupted at any file operation, and then go on: their results are those
//! of an undisturbed one, bit for bit.
#![allow(clippy::print_stdout)]

mod damage;
mod experiment;
mod points;

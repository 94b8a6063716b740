//! Tests of every method and every problem. They are one binary, because each one links for long;
//! `allocations` is another one, because it counts with an allocator of its own.

mod automatic_steps;
mod batched;
mod common;
mod crashes;
mod dense_reference;
mod divergence;
mod double_loop_reference;
mod every_algorithm;
mod every_problem;
mod exchange_bytes;
mod field_reference;
mod learning;
mod peers;
mod private_coordinates;
mod rates;
mod recovering;
mod settling;
mod single_level_reference;
mod stops;

//! Tests of models that are written with burn. They are one binary, because each one links for
//! long; `memory` is another one, because it counts with an allocator of its own.

mod adapter;
mod bert;
mod common;
mod threads;

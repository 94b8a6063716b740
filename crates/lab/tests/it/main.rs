//! The tests of the lab from outside, in one binary: each binary takes long to link.

mod automatic_step_sizes;
mod benchmark;
mod charts;
mod documents;
mod experiments;
mod figures;
mod findings;
mod interrupted;
mod keys;
mod large_networks;
mod metrics;
mod solutions;
mod watching;

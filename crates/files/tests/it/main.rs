//! Tests of files: every implementation, and files of frames.

mod every_implementation;
mod frames;
mod implementations;

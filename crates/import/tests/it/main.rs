//! Imports from beginning to end, read back as nodes read them.

mod arrays;
mod common;
mod images;
mod tables;

//! Data: where it is found, how it is read, and how agents come by their shares of it. All of it is
//! a pure function of files and a seed.

mod dataset;
mod idx;
mod label_noise;
mod library;
mod own;
mod packed;
mod partition;
mod samples;
mod share;
mod synthetic;
mod tsv;

pub use dataset::{Dataset, Inputs, Raw, Scaling};
pub use label_noise::LabelNoise;
pub use library::{Entry, Library, State, cache_folder, known};
pub use own::OwnData;
pub(crate) use own::{OWN, write as write_own};
pub use partition::Partition;
pub use samples::Samples;
pub use share::{DataDefaults, Deal, Share};
pub use tsv::{Review, reviews};

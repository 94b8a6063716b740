//! The methods by name: each is a pattern times a direction, in its venue.

mod bilevel;
mod double_loop;
mod method;
mod single_level;

pub use method::{Built, Method, Read, Recipe};

use crate::Scalar;

/// Every method there is. A new one is a file, and a line in one of these groups.
pub fn methods<T: Scalar>() -> Vec<Method<T>> {
    let groups = [
        bilevel::any_network(),
        bilevel::undirected(),
        single_level::any_network(),
        single_level::undirected(),
        double_loop::any_network(),
    ];
    groups.into_iter().flatten().collect()
}

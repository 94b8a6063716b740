//! The directions by name.

use super::{Difference, Gradient, Itd, Moreau, Neumann, Penalty, Soba};
use crate::settings::SettingsReader;

/// A direction of the registry, by its name.
#[derive(Clone, Copy)]
pub struct DirectionKind {
    /// The name, as users see it.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Whether it solves bilevel problems; the others minimise one level.
    pub bilevel: bool,
    /// Whether it moves private coordinates.
    pub private: bool,
    /// Whether it has automatic step sizes.
    pub automatic: bool,
    /// The names of its step sizes, those of its blocks.
    pub steps: &'static [&'static str],
    /// Reads its settings, to describe them.
    pub describe: fn(&mut SettingsReader<'_>),
}

/// Every kind of direction there is. A new one is a file, and a line here.
pub fn directions() -> Vec<DirectionKind> {
    vec![
        kind("penalty", "gradients of f + λ(g(y) − g(z)): FAB", true, &["x", "y", "z"], |keys| {
            Penalty::read(keys);
        }),
        kind(
            "difference",
            "the limit of an infinite penalty, by differences of gradients: dFAB",
            true,
            &["x", "u", "z"],
            |keys| {
                Difference::read(keys);
            },
        ),
        kind(
            "soba",
            "lower gradient, linear system and hypergradient, all moved at once",
            true,
            &["x", "y", "v"],
            |keys| {
                Soba::read(keys);
            },
        ),
        kind(
            "moreau",
            "a growing penalty on the gap between g and its Moreau envelope: MEHA",
            true,
            &["x", "y", "theta"],
            |keys| {
                Moreau::read(keys);
            },
        ),
        iterative_differentiation(),
        neumann(),
        kind("gradient", "the gradient of one level", false, &["x"], |keys| {
            let _ = Gradient::<f64>::read(keys);
        }),
    ]
}

fn iterative_differentiation() -> DirectionKind {
    let about = "lower level, its sensitivity to x carried forward, and hypergradient";
    let kind = kind("itd", about, true, &["outer", "inner"], |keys| {
        Itd::read(keys);
    });
    DirectionKind { private: false, automatic: false, ..kind }
}

fn neumann() -> DirectionKind {
    let about = "lower level, and hypergradient as a Neumann series: HGP";
    let kind = kind("neumann", about, true, &["x", "y"], |keys| {
        Neumann::read(keys);
    });
    DirectionKind { automatic: false, ..kind }
}

/// A direction that has automatic step sizes and, with two levels, moves private coordinates.
fn kind(
    name: &'static str,
    about: &'static str,
    bilevel: bool,
    steps: &'static [&'static str],
    describe: fn(&mut SettingsReader<'_>),
) -> DirectionKind {
    DirectionKind { name, about, bilevel, private: bilevel, automatic: true, steps, describe }
}

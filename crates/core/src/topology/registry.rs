//! The topologies by name.

use super::{
    Complete, ContactPlan, ErdosRenyi, MixedRadix, OnePeerExponential, Phases, Redraw, Ring, Topology, Undirected,
};

/// A named kind of topology.
#[derive(Clone, Copy)]
pub struct Kind {
    /// As users write it.
    pub name: &'static str,
    /// In one line.
    pub about: &'static str,
    /// An example with this many agents and this seed: what every topology is tested with.
    pub example: fn(usize, u64) -> Box<dyn Topology>,
}

/// Every kind of topology there is. A new one is a file, and a line here.
pub fn topologies() -> Vec<Kind> {
    let kind = |name, about, example| Kind { name, about, example };
    vec![
        kind("ring", "a directed ring: i hears i − 1", |n, _| Box::new(Ring::new(n))),
        kind("reversed-ring", "a directed ring: i hears i + 1", |n, _| Box::new(Ring::reversed(n))),
        kind("complete", "everybody hears everybody", |n, _| Box::new(Complete::new(n))),
        kind("erdos-renyi", "random links, drawn once or every round, on a ring or not", |n, seed| {
            Box::new(ErdosRenyi::new(n, 0.3, seed, Redraw::EveryRound).with_ring())
        }),
        kind("undirected", "any of them with every link both ways", |n, seed| {
            Box::new(Undirected::new(ErdosRenyi::new(n, 0.2, seed, Redraw::EveryRound).with_ring()))
        }),
        kind("phases", "the paper's cycle: random links on a ring, ring, reversed ring", |n, seed| {
            Box::new(Phases::new(n, 0.3, seed))
        }),
        kind("one-peer-exponential", "one peer a round, at distances 1, 2, 4…", |n, _| {
            Box::new(OnePeerExponential::new(n))
        }),
        kind("mixed-radix", "exact averages in as many rounds as n has prime factors", |n, _| {
            Box::new(MixedRadix::new(n))
        }),
        kind("contact-plan", "links with times, from a file", |n, _| {
            let links =
                (0..n).map(|i| format!("{i} {} {} {}", (i + 1) % n, i % 5, i % 5 + 3)).collect::<Vec<_>>().join("\n");
            Box::new(ContactPlan::parse(&format!("period 8\n{links}"), n).expect("a ring with times is a valid plan"))
        }),
    ]
}

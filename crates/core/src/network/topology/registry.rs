//! The topologies by name.

use super::{
    Base, Complete, ContactPlan, ErdosRenyi, Hypercube, MixedRadix, OnePeerExponential, Phases, Redraw, Ring,
    ScaleFree, SmallWorld, Topology, Torus, Undirected, automatic,
};
use crate::settings::{POSITIVE, SettingsReader, SettingsSource, Value};

/// A topology of the registry, by its name.
#[derive(Clone, Copy)]
pub struct TopologyKind {
    /// The name, as users write it.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    own: fn(&mut SettingsReader<'_>) -> TopologyRecipe,
}

/// Makes a topology of this many agents from this seed, or says why it cannot.
pub type TopologyRecipe = Box<dyn Fn(usize, u64) -> Result<Box<dyn Topology>, String> + Send + Sync>;

impl TopologyKind {
    /// Reads its settings.
    pub fn read(&self, keys: &mut SettingsReader<'_>) -> TopologyRecipe {
        let directed = (self.own)(keys);
        if !keys.flag("undirected", false, "every link both ways") {
            return directed;
        }
        Box::new(move |agents, seed| Ok(Box::new(Undirected::new(directed(agents, seed)?))))
    }
}

/// Every kind of topology there is. A new one is a file, and a line here.
pub fn topologies() -> Vec<TopologyKind> {
    let kind = |name, about, own| TopologyKind { name, about, own };
    vec![
        kind("ring", "a directed ring: agent i receives from i − 1", |_| recipe(|n, _| Ring::new(n))),
        kind("reversed-ring", "a directed ring: agent i receives from i + 1", |_| recipe(|n, _| Ring::reversed(n))),
        kind("complete", "every agent receives from every other one", |_| recipe(|n, _| Complete::new(n))),
        kind("erdos-renyi", "random links, drawn once or every round, on a ring or not", |keys| {
            let probability = edge_probability(keys);
            let moments =
                [("once", Redraw::Once), ("every round", Redraw::EveryRound), ("every-round", Redraw::EveryRound)];
            let redraw = keys.choice("redraw", &moments, "when the links are drawn");
            let ring = keys.flag("ring", true, "on top of a directed ring, which makes every graph strongly connected");
            recipe(move |n, seed| {
                let random = ErdosRenyi::new(n, probability, seed, redraw);
                if ring { random.with_ring() } else { random }
            })
        }),
        kind("phases", "the paper's cycle: random links on a ring, ring, reversed ring", |keys| {
            let probability = edge_probability(keys);
            let rounds = keys.whole("phase_rounds", 10, 1.., "the rounds of each of the three phases");
            recipe(move |n, seed| Phases::new(n, probability, seed).with_rounds(rounds))
        }),
        kind("one-peer-exponential", "one neighbour per round, at distances 1, 2, 4…", |_| {
            recipe(|n, _| OnePeerExponential::new(n))
        }),
        kind("mixed-radix", "exact averages in as many rounds as n has prime factors", |_| {
            recipe(|n, _| MixedRadix::new(n))
        }),
        kind("base", "exact averages for any n, with [weights] kind = \"topology\"", |keys| {
            let degree = keys.whole("degree", 1, 1..=1000, "k: the neighbours of an agent in a round, at most");
            recipe(move |n, _| Base::new(n, degree as usize))
        }),
        kind("hypercube", "links between agents whose numbers differ in one binary digit", |_| {
            recipe(|n, _| Hypercube::new(n))
        }),
        kind("torus", "rows and columns that are closed to rings, four neighbours each", |_| {
            recipe(|n, _| Torus::new(n))
        }),
        kind("small-world", "a ring with its nearest neighbours, and random shortcuts", |keys| {
            let nearest = keys.whole("nearest", 2, 1..=1000, "the neighbours on each side of an agent");
            let probability =
                keys.number("shortcut_probability", 0.2, 0.0..=1.0, "how likely each of these links brings a shortcut");
            recipe(move |n, seed| SmallWorld::new(n, nearest as usize, probability, seed))
        }),
        kind("scale-free", "few agents with many neighbours, many with few", |keys| {
            let links = keys.whole("links_each", 2, 1..=1000, "the links that each agent makes to earlier ones");
            recipe(move |n, seed| ScaleFree::new(n, links as usize, seed))
        }),
        kind("auto", "mixed-radix or one-peer-exponential, by the number of agents", |_| {
            Box::new(|n, _| Ok(automatic(n).0))
        }),
        kind("contact-plan", "links with times, as satellites and duty-cycled radios have them", contact_plan),
    ]
}

/// Every kind with its defaults, and some variants: what every topology is tested with.
pub fn examples(agents: usize, seed: u64) -> Vec<(&'static str, Box<dyn Topology>)> {
    let contact = |i| format!("{i} {} {} {}\n", (i + 1) % agents, i % 5, i % 5 + 3);
    let plan = format!("period 8\n{}", (0..agents).map(contact).collect::<String>());
    let plan = [("contacts", Value::Text(plan))];
    let redrawn = [("redraw", "every round".into())];
    let undirected = [("redraw", "every round".into()), ("undirected", true.into())];
    let make = |kind: &TopologyKind, given: &dyn SettingsSource| {
        (kind.read(&mut SettingsReader::new(given)))(agents, seed).expect("examples are valid settings")
    };
    let kinds = topologies();
    let random = kinds.iter().find(|kind| kind.name == "erdos-renyi").expect("it is in the registry");
    let variants = [("redrawn", make(random, &redrawn)), ("undirected", make(random, &undirected))];
    kinds.iter().map(|kind| (kind.name, make(kind, &plan))).chain(variants).collect()
}

fn recipe<G: Topology + 'static>(make: impl Fn(usize, u64) -> G + Send + Sync + 'static) -> TopologyRecipe {
    Box::new(move |agents, seed| Ok(Box::new(make(agents, seed))))
}

fn contact_plan(keys: &mut SettingsReader<'_>) -> TopologyRecipe {
    let about = "a link a line: `source target [first last]`, and `period N`; with `slot`: `start end a b`";
    let contacts = keys.text_or_file("contacts", "file", ["0 1\n1 0", "0 1\n1 2\n2 0"], about);
    let slot = keys.optional_number("slot", POSITIVE, "seconds per round, for a trace of recorded contacts");
    Box::new(move |agents, _| {
        let plan = match slot {
            Some(slot) => ContactPlan::from_trace(&contacts, agents, slot),
            None => ContactPlan::parse(&contacts, agents),
        };
        match plan {
            Ok(plan) => Ok(Box::new(plan)),
            Err(error) => Err(format!("the contact plan cannot be used: {error}")),
        }
    })
}

fn edge_probability(keys: &mut SettingsReader<'_>) -> f64 {
    keys.number("edge_probability", 0.3, 0.0..=1.0, "ν: how likely each link is")
}

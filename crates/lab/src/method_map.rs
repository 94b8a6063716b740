//! The methods by what they need, as they say of themselves and as one round of each shows.

use std::fmt::Write;
use std::sync::Arc;

use fabnet_core::algorithm::{Exchanges, Mask, Method, Steps, methods};
use fabnet_core::settings::SettingsReader;
use fabnet_core::topology::Complete;
use fabnet_core::weights::Uniform;
use fabnet_core::{Algorithm, Dim, Evaluations, Network, Problem, SegmentKind, Shard, Venue};
use fabnet_problems::{BilevelQuadratic, Quadratic};

/// What a method needs, for each agent and round.
struct Needs {
    evaluations: Evaluations,
    /// Scalars that are sent over each link, and those that an agent holds, for each of its point.
    sent: f64,
    held: f64,
    /// Whether mass is pushed, of which nothing is lost.
    pushes: bool,
}

impl Needs {
    /// Lets two agents take one round with the method.
    fn new(method: &Method<f64>) -> Self {
        const AGENTS: usize = 2;
        let problem: Arc<dyn Problem<f64>> = if method.direction.bilevel {
            Arc::new(BilevelQuadratic::new(AGENTS, Dim { outer: 100, inner: 100 }, 3.0, 0.3, 0))
        } else {
            Arc::new(Quadratic::new(AGENTS, 100, 3.0, 1.0, 0))
        };
        let recipe = (method.read)(&mut SettingsReader::new(&[]));
        let algorithm: Arc<dyn Algorithm<f64>> =
            recipe(&*problem, Steps::same(0.01)).expect("defaults are valid").into();
        let network = Network::new(Arc::new(Complete::new(AGENTS)), Arc::new(Uniform));
        let mut shard = Shard::new(algorithm.clone(), problem, network, 0).expect("two agents on two nodes");
        let before = shard.view().costs.evaluations;
        shard.round().expect("all agents are here");
        let after = shard.view().costs.evaluations;
        let each = |count: fn(Evaluations) -> u64| (count(after) - count(before)) / AGENTS as u64;
        let (width, segments) = (algorithm.blocks().width() as f64, algorithm.segments(0));
        let bytes = algorithm.message_bytes(segments.sent(Mask::ALL));
        Self {
            evaluations: Evaluations {
                upper: each(|e| e.upper),
                lower: each(|e| e.lower),
                products: each(|e| e.products),
            },
            sent: bytes as f64 / size_of::<f64>() as f64 / width,
            pushes: segments.count(SegmentKind::Push) > 0,
            held: (segments.width() + algorithm.keep(0) + segments.count(SegmentKind::Push)) as f64 / width,
        }
    }
}

/// The table of all methods, as Markdown.
pub(crate) fn method_map() -> String {
    let mut out = String::from(INTRODUCTION);
    for method in methods::<f64>() {
        let needs = Needs::new(&method);
        let Needs { evaluations: Evaluations { upper, lower, products }, sent, held, .. } = needs;
        let levels = if method.direction.bilevel { "two" } else { "one" };
        let losses = match (method.needs_every_message, method.venue) {
            (Some(_), _) => "no",
            (None, Venue::Central) => "sends nothing",
            (None, _) if needs.pushes => "yes",
            (None, _) => "with a bias", // weights of what arrives are no longer symmetric
        };
        let (links, exchanges) = (links(method.venue), exchanges(method.exchanges));
        _ = writeln!(
            out,
            "| `{}` | {levels} | {links} | {losses} | {upper} | {lower} | {products} | {sent:.1} | {held:.1} | {exchanges} |",
            method.name
        );
    }
    out
}

const INTRODUCTION: &str = "## Methods by what they need\n\n\
    One round of each method, with its defaults and given step sizes: evaluations of each agent, scalars sent over each \
    link and scalars held by an agent, both for each scalar of its point. Compressed messages count by their bytes. \
    Double loops change with the round; this is their first one.\n\n\
    | `kind` | levels | links | bears losses | ∇f | ∇g | products | sent | held | exchanges |\n\
    |---|---|---|---|---|---|---|---|---|---|\n";

fn links(venue: Venue) -> &'static str {
    match venue {
        Venue::AsAsked => "directed, may change",
        Venue::Static => "directed, of round 0",
        Venue::Central => "none",
        Venue::Undirected => "both ways, may change",
        Venue::StaticUndirected => "both ways, of round 0",
    }
}

fn exchanges(exchanges: Exchanges) -> &'static str {
    match exchanges {
        Exchanges::EachStep => "each step",
        Exchanges::Rarer => "each step or rarer",
        Exchanges::Any => "any",
    }
}

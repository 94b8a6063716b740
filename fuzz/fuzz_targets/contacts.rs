//! Contact plans and contact traces are read or refused, and their graphs can be drawn.
#![no_main]

use fabnet_core::Digraph;
use fabnet_core::topology::{ContactPlan, Topology};
use libfuzzer_sys::fuzz_target;

// The first letter says how many agents there are, the second one whether this is a trace.
fuzz_target!(|text: &str| {
    let mut letters = text.chars();
    let (Some(first), Some(second)) = (letters.next(), letters.next()) else { return };
    let agents = 1 + first as usize % 12;
    let plan = match second {
        't' => ContactPlan::from_trace(letters.as_str(), agents, 0.5),
        _ => ContactPlan::parse(letters.as_str(), agents),
    };
    let Ok(plan) = plan else { return };
    assert_eq!(plan.agents(), agents);
    let mut graph = Digraph::new(agents);
    for round in [0, 1, 7, 1000, u64::MAX] {
        plan.draw(plan.graph_of(round), &mut graph);
        assert!(graph.links().all(|(source, target)| source < agents && target < agents));
    }
});

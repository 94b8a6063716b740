//! Whatever nodes say of themselves becomes frames of all agents, or is refused as JSON.
#![no_main]

use std::collections::BTreeMap;

use fabnet_net::{MemberAddress, NodeAnswer, NodeGatherer, NodeStatus};
use fabnet_watch::Hello;
use libfuzzer_sys::fuzz_target;

// Lines are answers of two nodes in turn.
fuzz_target!(|bytes: &[u8]| {
    let member = |place: u32| MemberAddress { name: format!("n{place}"), agents: vec![place], http: None };
    let mut gatherer = NodeGatherer::new((0..2).map(member).collect());
    for (place, line) in bytes.split(|byte| *byte == b'\n').enumerate().take(8) {
        let answer = match serde_json::from_slice::<NodeStatus>(line) {
            Ok(status) => {
                let written = serde_json::to_vec(&status).expect("a status has a form in JSON");
                serde_json::from_slice::<NodeStatus>(&written).expect("and is read again");
                NodeAnswer::Status(status)
            }
            Err(_) => NodeAnswer::Unreachable,
        };
        let _ = serde_json::from_slice::<Hello>(line);
        let items = gatherer.gather(place as f64, &BTreeMap::from([(format!("n{}", place % 2), answer)]));
        items.iter().for_each(|item| drop(serde_json::to_vec(item).expect("an item has a form in JSON")));
    }
});

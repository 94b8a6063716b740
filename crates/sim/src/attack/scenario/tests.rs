//! Tests of what seeds draw.

use super::*;

#[test]
fn every_kind_and_every_fault_is_drawn_by_some_seed() {
    let drawn: Vec<Scenario> = (0..300).map(Scenario::from_seed).collect();
    for network in NetworkKind::ALL {
        assert!(drawn.iter().any(|scenario| scenario.network == network), "{network:?}");
    }
    for method in MethodKind::DRAWN {
        assert!(drawn.iter().any(|scenario| scenario.method == method), "{method:?}");
    }
    for fault in Fault::ALL {
        assert!(drawn.iter().any(|scenario| scenario.rates[fault] > 0.0), "{fault}");
    }
    for words in WordLength::ALL {
        assert!(drawn.iter().any(|scenario| scenario.words == words && scenario.width > 1), "{words:?}");
    }
    assert!(drawn.iter().any(|scenario| scenario.exact) && drawn.iter().any(|scenario| !scenario.exact));
}

#[test]
fn faults_that_would_disconnect_a_cluster_are_left_out() {
    for scenario in (0..1000).map(Scenario::from_seed) {
        let given_links = scenario.network == NetworkKind::Contacts;
        let rates = [Fault::DeadLink, Fault::Exodus].map(|fault| scenario.rates[fault]);
        assert!(!(given_links || scenario.nodes < 4) || rates == [0.0; 2], "seed {}", scenario.seed);
        assert!(!given_links || scenario.rates[Fault::Leave] == 0.0, "seed {}", scenario.seed);
    }
}

#[test]
fn members_lie_in_some_seeds_and_only_where_lives_are_sealed() {
    let drawn: Vec<Scenario> = (0..1000).map(Scenario::from_seed).collect();
    let lies = |scenario: &&Scenario| scenario.rates[Fault::Liar] > 0.0;
    let liars: Vec<&Scenario> = drawn.iter().filter(lies).collect();
    assert!((50..150).contains(&liars.len()), "{} of 1,000 seeds", liars.len());
    assert!(liars.iter().all(|scenario| scenario.sealed && scenario.nodes >= 4));
    let sealed = drawn.iter().filter(|scenario| scenario.sealed).count();
    assert!((200..300).contains(&sealed), "{sealed} of 1,000 seeds");
}

#[test]
fn a_fault_can_be_left_out() {
    let scenario = Scenario::from_seed(1);
    let fault = scenario.faults().next().unwrap();
    assert!(scenario.without(fault).faults().eq(scenario.faults().skip(1)));
}

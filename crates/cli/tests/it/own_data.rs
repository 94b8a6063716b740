//! Data that agents own, instead of data that the experiment partitions.

use std::path::Path;

#[cfg(feature = "net")]
use crate::common;
use crate::common::{fabnet, records, succeed};

/// Writes an experiment on data that is partitioned, or owned by the agents.
fn experiment(folder: &Path, name: &str, data: &str) {
    let text = format!(
        "agents = 4\nrounds = 600\nseeds = 1\n\
         [problem]\nkind = \"hyper-cleaning\"\n{data}\nhidden = 64\nbatch = 64\n\
         [topology]\nkind = \"phases\"\nedge_probability = 0.5\n[network]\npace = \"lockstep\"\ntick = 0.2\n\
         [[algorithm]]\nkind = \"fab\"\npenalty = 5\nnormalised = false\nsteps = {{ x = 100, y = 0.03, z = 0.03 }}\n\
         [record]\nevery = 100\nmetrics = [\"accuracy\", \"accuracy_z\", \"accuracy_worst\", \"auc\"]\n"
    );
    std::fs::write(folder.join(name), text).unwrap();
}

/// Writes the partition of the experiment `dealt.toml` into files.
fn divide(folder: &Path) {
    succeed(folder, &["data", "divide", "dealt.toml", "--out", "shares"]);
}

#[test]
fn brought_or_dealt_the_same_data_gives_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for kind in ["hyper-cleaning", "hyper-tuning"] {
        let part = folder.join(kind);
        std::fs::create_dir(&part).unwrap();
        let write = |name: &str, data: &str| {
            let text = format!(
                "agents = 4\nrounds = 40\nseeds = 1\n[problem]\nkind = \"{kind}\"\n{data}\n\
                 [[algorithm]]\nkind = \"fab\"\nsteps = {{ x = 0.1, y = 0.03, z = 0.03 }}\n\
                 [record]\nmetrics = [\"accuracy\"]\n"
            );
            std::fs::write(part.join(name), text).unwrap();
        };
        write("dealt.toml", "data = \"synthetic\"\nsamples_per_agent = 50\nconcentration = 0.5\nbatch = 8");
        write("own.toml", "data = \"own\"\nfeatures = 16\nclasses = 4\nbatch = 8");
        divide(&part);
        succeed(&part, &["run", "dealt.toml", "--quiet", "--out", "dealt"]);
        succeed(&part, &["run", "own.toml", "--quiet", "--out", "own", "--data", "shares"]);
        assert_eq!(records(&part.join("dealt")), records(&part.join("own")));
        // The written plan is complete: running it gives the same results.
        succeed(&part, &["run", "own/plan.toml", "--quiet", "--out", "again", "--data", "shares"]);
        assert_eq!(records(&part.join("again")), records(&part.join("own")));
    }
}

#[test]
fn who_simulates_everybody_is_told_whose_data_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    experiment(folder, "dealt.toml", "data = \"synthetic\"\nsamples_per_agent = 50");
    experiment(folder, "own.toml", "data = \"own\"\nfeatures = 16\nclasses = 4");
    divide(folder);
    let run = |says: &str| {
        let output = fabnet(folder).args(["run", "own.toml", "--quiet", "--data", "shares"]).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(says), "{message}");
    };
    let file = |agent: usize| folder.join(format!("shares/own/{agent}.safetensors"));
    let bytes = std::fs::read(file(2)).unwrap();
    std::fs::write(file(2), &bytes[..bytes.len() / 2]).unwrap();
    run("2.safetensors");
    std::fs::remove_file(file(2)).unwrap();
    run("the data of agent 2 is not here");
    std::fs::copy(folder.join("shares/own/test.safetensors"), file(2)).unwrap();
    run("`train` is missing");
    experiment(folder, "own.toml", "data = \"own\"\nfeatures = 17\nclasses = 4");
    run("features = 17");
    experiment(folder, "own.toml", "data = \"own\"\nfeatures = 16\nclasses = 3");
    run("beyond 0 to 2");
    experiment(folder, "own.toml", "data = \"own\"\nfeatures = 16");
    run("problem.classes");
    experiment(folder, "own.toml", "data = \"own\"\nfeatures = 16\nclasses = 4\ncorruption = 0.2");
    run("own data is not partitioned");
}

/// Fashion-MNIST with four processes, each with a folder that holds its own share only.
#[cfg(feature = "net")]
#[test]
fn nodes_that_hold_their_own_data_only_learn_as_in_the_simulator_and_keep_their_weights() {
    use fabnet_net::{Config, Member};
    use std::time::Duration;

    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    partition_and_simulate(folder);

    let ports = common::free_ports(4);
    let members: Vec<Member> = (0..4)
        .map(|agent: usize| Member {
            name: format!("node-{agent}"),
            agents: vec![agent as u32],
            address: format!("127.0.0.1:{}", ports[agent]),
            http: None,
        })
        .collect();
    let mut nodes = Vec::new();
    for (agent, member) in members.iter().enumerate() {
        let place = folder.join(&member.name);
        std::fs::create_dir_all(place.join("data/own")).unwrap();
        let share = format!("own/{agent}.safetensors");
        std::fs::rename(folder.join("shares").join(&share), place.join("data").join(&share)).unwrap();
        let config = Config {
            plan: "../own.toml".into(),
            state: "state".into(),
            data: Some("data".into()),
            linger: Duration::from_secs(5),
            insecure: true,
            ..Config::new("cleaning", &member.name, members.clone())
        };
        std::fs::write(place.join("node.toml"), config.to_toml()).unwrap();
        let log = std::fs::File::create(place.join("log")).unwrap();
        nodes.push(fabnet(&place).args(["node", "node.toml"]).env_remove("FABNET_DATA").stderr(log).spawn().unwrap());
    }
    for (agent, node) in nodes.iter_mut().enumerate() {
        let log = || std::fs::read_to_string(folder.join(format!("node-{agent}/log"))).unwrap();
        assert!(node.wait().unwrap().success(), "{}", log());
    }

    // The machine that collects the records has the test data, and no data of agents.
    let states = ["node-0/state", "node-1/state", "node-2/state", "node-3/state"];
    let collect =
        [&["collect", "own.toml"], &states[..], &["--out", "together", "--quiet", "--data", "shares"]].concat();
    succeed(folder, &collect);
    assert_as_accurate_as_simulated(folder);
    assert!(!folder.join("together/findings/fab/weights.csv").exists());
    (0..4).for_each(|agent| assert_findings_on_the_node(folder, agent));
}

/// Partitions Fashion-MNIST into the folder `shares`, and simulates the run that the nodes repeat
/// with the experiment `own.toml`.
#[cfg(feature = "net")]
fn partition_and_simulate(folder: &Path) {
    let dealt =
        "data = \"fashion-mnist\"\nsamples_per_agent = 1200\ncorruption = 0.5\nconcentration = 0.5\nminimum = 100";
    experiment(folder, "dealt.toml", dealt);
    experiment(folder, "own.toml", "data = \"own\"\nfeatures = 784\nclasses = 10");
    for arguments in [
        &["data", "divide", "dealt.toml", "--out", "shares", "--set", "precision=f32"][..],
        &["run", "dealt.toml", "--out", "simulated", "--quiet", "--set", "precision=f32"],
    ] {
        succeed(folder, arguments);
    }
    let own = std::fs::read_to_string(folder.join("own.toml")).unwrap();
    std::fs::write(folder.join("own.toml"), format!("precision = \"f32\"\n{own}")).unwrap();
}

#[cfg(feature = "net")]
fn assert_as_accurate_as_simulated(folder: &Path) {
    let last = |results: &str| common::summary(&folder.join(results))["runs"][0]["final"].clone();
    let (simulated, real) = (last("simulated"), last("together"));
    for metric in ["accuracy", "accuracy_z", "accuracy_worst"] {
        let (simulated, real) = (simulated[metric].as_f64().unwrap(), real[metric].as_f64().unwrap());
        assert!((simulated - real).abs() < 0.005, "{metric}: {simulated} simulated, {real} by real nodes");
    }
    assert!(simulated["accuracy"].as_f64() > Some(0.6), "{simulated}");
    // The metric needs the sample weights, which are on their nodes only.
    assert!(simulated["auc"].as_f64() > Some(0.7) && real["auc"].is_null(), "{simulated} {real}");
}

/// The node of an agent has the weights of its own samples. It suspects the same samples as the
/// simulator, and most of their labels are wrong.
#[cfg(feature = "net")]
fn assert_findings_on_the_node(folder: &Path, agent: usize) {
    let findings = folder.join(format!("node-{agent}/state/{agent}/findings"));
    let weights = std::fs::read_to_string(findings.join("weights.csv")).unwrap();
    assert!(weights.lines().skip(1).all(|line| line.starts_with(&format!("{agent},"))) && weights.lines().count() > 90);
    let flipped = |file: &Path| {
        let rows = std::fs::read_to_string(file).unwrap();
        let is_flipped = |row: &&str| row.starts_with(&format!("{agent},")) && row.split(',').nth(6) == Some("true");
        rows.lines().filter(is_flipped).count()
    };
    let (found, simulated) =
        (flipped(&findings.join("suspects.csv")), flipped(&folder.join("simulated/findings/fab/suspects.csv")));
    assert!(found.abs_diff(simulated) <= 5 && found > 60, "{found} of a hundred, {simulated} simulated");
    assert!(findings.join("suspects-sheet.svg").exists());
}

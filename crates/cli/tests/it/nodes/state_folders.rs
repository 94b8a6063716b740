//! State folders that are not what a node expects: of another run, damaged, or in use.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::run::{Nodes, experiment, kill};

/// Something that happens to the bytes of a file.
type Damage<'a> = &'a dyn Fn(&[u8]) -> Vec<u8>;

/// The files of an agent's folder whose names begin with this.
fn files(folder: &Path, beginning: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(beginning)).collect()
}

#[test]
fn a_folder_of_another_run_is_refused_before_anything_is_sent() {
    let nodes = Nodes::new(2, 60, "");
    nodes.all_end_well(&mut nodes.start_all());
    let wrong = |what: &str, plan: &str, run: &str| {
        fs::write(nodes.path("other.toml"), plan).unwrap();
        let mut config = nodes.configs[0].clone();
        (config.plan, config.run) = ("other.toml".into(), run.into());
        let name = format!("{run}-{}", what.replace(' ', "-"));
        assert_eq!(nodes.end(&mut nodes.start_as(&config, &name)), 1, "{what}");
        let log = nodes.log(&name);
        assert!(log.contains("belongs to run") && log.contains("of its own"), "{what}: {log}");
        assert!(!log.contains("started"), "{what}: nothing is sent before: {log}");
    };
    wrong("a longer one", &experiment(2, 90, ""), "first");
    wrong("a shorter one", &experiment(2, 30, ""), "first");
    wrong("another method", &experiment(2, 60, "").replace("dfab", "fab").replace("u = 0.05", "y = 0.05"), "first");
    wrong("another name", &experiment(2, 60, ""), "second");

    // Each file by itself gives the folder away.
    for file in ["life", "checkpoint", "track"] {
        let mut config = nodes.configs[0].clone();
        (config.state, config.run) = (format!("only-{file}").into(), "second".into());
        let folder = nodes.path(&format!("only-{file}/0"));
        fs::create_dir_all(&folder).unwrap();
        for found in files(&nodes.state(0).join("0"), file) {
            fs::copy(&found, folder.join(found.file_name().unwrap())).unwrap();
        }
        assert_eq!(nodes.end(&mut nodes.start_as(&config, file)), 1, "{file}");
        let log = nodes.log(file);
        assert!(log.contains("run") && log.contains(file) && !log.contains("started"), "{file}: {log}");
    }

    // And whoever puts records together is told.
    fs::write(nodes.path("experiment.toml"), experiment(2, 50, "")).unwrap();
    let output = nodes.collect("wrong", &[]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && message.contains("is of run"), "{message}");
    assert!(!nodes.path("wrong").exists(), "and nothing is left");
}

#[test]
fn one_folder_is_for_one_process_and_for_nobody_else_to_read() {
    let nodes = Nodes::new(2, 400, "");
    let mut first = nodes.start(0);
    nodes.wait(0, |_| true);
    let mut twin = nodes.configs[0].clone();
    twin.http = None;
    assert_eq!(nodes.end(&mut nodes.start_as(&twin, "twin")), 1);
    assert!(nodes.log("twin").contains("another process uses this state folder"), "{}", nodes.log("twin"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&nodes.state(0)), mode(&nodes.state(0).join("0"))), (0o700, 0o700));
    assert_eq!(mode(&nodes.state(0).join("0/life")), 0o600);
    kill(&mut first);

    // Links are not followed, wherever they lead.
    let elsewhere = nodes.path("elsewhere");
    for name in ["0/life", "lock", "0/track", "0"] {
        let state = nodes.path(&format!("linked-{}", name.replace('/', "-")));
        fs::create_dir_all(state.join(name).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, state.join(name)).unwrap();
        let mut config = twin.clone();
        config.state = state;
        assert_eq!(nodes.end(&mut nodes.start_as(&config, "linked")), 1, "{name}");
        assert!(nodes.log("linked").contains("symbolic link"), "{name}: {}", nodes.log("linked"));
        assert!(!elsewhere.exists(), "{name}");
        fs::remove_file(nodes.path("linked.log")).unwrap();
    }
}

/// A node is killed, its files are damaged, and it starts again: the answer is right, or it says
/// why there is none.
#[test]
fn damaged_files_are_refused_or_done_without() {
    let nodes = Nodes::new(3, 4500, "");
    let mut running = nodes.start_all();
    let folder = nodes.state(2).join("2");
    let halve = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    let garble = |bytes: &[u8]| {
        let mut rotten = bytes.to_vec();
        let middle = bytes.len() / 2;
        rotten[middle] ^= 0x55;
        rotten
    };
    let empty = |_: &[u8]| Vec::new();
    let damages: [(&str, Damage<'_>); 3] = [("halved", &halve), ("garbled", &garble), ("emptied", &empty)];
    let begun = |nodes: &Nodes| nodes.wait(2, |status| status.begun && status.agents[0].round > 0).agents[0].round;
    for (name, (how, damage)) in
        ["life", "checkpoint", "track"].into_iter().flat_map(|name| damages.iter().map(move |damage| (name, damage)))
    {
        let round = begun(&nodes);
        nodes.wait(2, |status| status.agents[0].round > round + 25);
        kill(&mut running[2]);
        let found = files(&folder, name);
        assert!(!found.is_empty(), "{name}");
        let before: Vec<_> = found.iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        for (path, bytes) in &before {
            fs::write(path, damage(bytes)).unwrap();
        }
        running[2] = nodes.start(2);
        if (name, *how) == ("track", "garbled") {
            assert_eq!(nodes.end(&mut running[2]), 1);
            assert!(nodes.log("n2").contains("is damaged"), "{}", nodes.log("n2"));
            for (path, bytes) in &before {
                fs::write(path, bytes).unwrap();
            }
            running[2] = nodes.start(2);
        }
    }
    assert!(begun(&nodes) < 3400, "this machine is too slow: too few rounds are left\n{}", nodes.logs());
    nodes.all_end_well(&mut running);
    nodes.assert_right();

    // A record in the middle that is damaged later is found when records are put together.
    let track = folder.join("track");
    let whole = fs::read(&track).unwrap();
    for (damage, says) in
        [(garble(&whole), "is damaged"), (halve(&whole), "end with round"), (empty(&whole), "recorded nothing")]
    {
        fs::write(&track, damage).unwrap();
        let output = nodes.collect("refused", &[]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && message.contains(says), "{says}: {message}");
        let output = nodes.collect("accepted", &["--partial"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let missing = crate::common::summary(&nodes.path("accepted"))["runs"][0]["missing"].to_string();
        assert!(missing.contains(says), "{missing}");
        fs::remove_dir_all(nodes.path("accepted")).unwrap();
    }
}

//! Mistakes that once went unnoticed: each is refused, warned of or reported.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "what is measured is time, and it is printed")]

use std::fmt::Write;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{fabnet, succeed};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A full device is a failure for every command that prints; a closed pipe is not.
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let here = Path::new(".");
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    for arguments in [&["list"][..], &["--help"], &["--version"], &["list", "--markdown"], &["data", "path"]] {
        let output = fabnet(here).args(arguments).stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(said(&output).contains("error: the output could not be written: No space left"), "{}", said(&output));
        let mut child = fabnet(here).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && said(&output).is_empty(), "{arguments:?}: {}", said(&output));
    }
}

#[test]
fn faults_that_are_interrupted_say_what_they_found() {
    for json in [false, true] {
        let arguments = if json {
            &["faults", "--seeds", "0..100000000", "--json"][..]
        } else {
            &["faults", "--seeds", "0..100000000"]
        };
        let mut child = fabnet(Path::new("."))
            .args(arguments)
            .args(["--threads", "1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_secs(2));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let lines: Vec<String> = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains("of 100000000 seeds"), "{}", said(&output));
        let last = lines.last().unwrap();
        let seeds: u64 = if json {
            serde_json::from_str::<serde_json::Value>(last).unwrap()["seeds"].as_u64().unwrap()
        } else {
            assert!(last.contains("0 violations"), "{last}");
            last.split(' ').next().unwrap().parse().unwrap()
        };
        assert!((1..100_000_000).contains(&seeds), "{last}");
    }
}

const VALID: &str = "rounds = 20\n[problem]\nkind = \"policy-evaluation\"\n[[algorithm]]\nkind = \"dfab\"\n";

fn run(folder: &Path, text: &str) -> Output {
    fs::write(folder.join("experiment.toml"), text).unwrap();
    fabnet(folder).args(["run", "experiment.toml", "--quiet"]).output().unwrap()
}

/// Many mistakes in a file are found quickly, and only the first of them are printed.
#[test]
fn many_mistakes_are_counted_not_printed() {
    let folder = tempfile::tempdir().unwrap();
    let many = |key: &str| {
        (0..40_000).fold(String::new(), |mut text, number| {
            _ = writeln!(text, "{key}{number} = {number}");
            text
        })
    };
    let (top, inner, table) = (many("unknown"), many("steps.unknown"), many("unknown"));
    for text in [
        format!("{top}{VALID}"),
        format!("{VALID}{inner}"),
        format!("{VALID}{table}"),
        format!("{VALID}[faults]\n{table}"),
    ] {
        let start = Instant::now();
        let output = run(folder.path(), &text);
        let seconds = start.elapsed().as_secs_f64();
        let message = said(&output);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert_eq!(message.lines().count(), 21, "{message}");
        assert!(message.ends_with("… and 39,980 more\n"), "{message}");
        println!("40,000 unknown keys: {seconds:.2} s");
        assert!(seconds < 0.5 * slack(), "{seconds} s");
    }
}

/// Many groups are resolved quickly, with or without labels of their own, and too many are refused.
#[test]
fn many_groups_are_resolved_quickly() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let grid = format!("{VALID}steps = [{}]\nunknown = 1\n", numbers(40_000));
    let tables = format!("{}{}", VALID.replace("dfab", "fabb"), "[[algorithm]]\nkind = \"dfab\"\n".repeat(40_000));
    let coupled: Vec<String> = (0..40_000).map(|number| format!("{{ x = {number}, u = 1, z = 1 }}")).collect();
    let coupled = format!("{VALID}steps = [{}]\nunknown = 1\n", coupled.join(", "));
    for (name, text) in [("a grid", grid), ("tables", tables), ("coupled values", coupled)] {
        let start = Instant::now();
        let output = run(folder.path(), &text);
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(output.status.code(), Some(2), "{name}: {}", said(&output));
        println!("40,000 groups by {name}: {seconds:.2} s");
        assert!(seconds < 4.0 * slack(), "{name}: {seconds} s");
    }
    let product = format!(
        "agents = [{0}]\n{VALID}steps.momentum = [{0}]\nsteps.decay = [{0}]\nsteps.power = [{0}]\n",
        numbers(50)
    );
    let start = Instant::now();
    let message = said(&run(folder.path(), &product));
    assert!(message.contains("the grid has more than 100,000 cells"), "{message}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// Allows more time, because tests share cores: they only show that times are not quadratic.
fn slack() -> f64 {
    if cfg!(debug_assertions) { 20.0 } else { 4.0 }
}

#[test]
fn names_and_labels_with_control_characters_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (text, says) in [
        (format!("{VALID}label = \"a\\u0007b\"\n"), "experiment.toml:6: `algorithm.label`: it has a control character"),
        (
            format!("{VALID}label = \"two\\nlines\"\n"),
            "experiment.toml:6: `algorithm.label`: it has a control character",
        ),
        (format!("name = \"a\\u001b[31m\"\n{VALID}"), "experiment.toml:1: `name`: it has a control character"),
    ] {
        let output = run(folder.path(), &text);
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains(says), "{}", said(&output));
    }
}

#[test]
fn agents_that_are_not_connected_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let plan = "agents = 6\n[topology]\nkind = \"contact-plan\"\ncontacts = \"0 1\\n1 2\\n2 0\\n3 4\\n4 3\\n2 3\"\n";
    let output = run(folder.path(), &format!("{plan}{VALID}").replacen("rounds = 20\n", "", 1));
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("3 components: agents 0 to 2; agents 3, 4; agent 5."), "{}", said(&output));
}

/// One agent has its inputs multiplied by 255.
#[test]
fn data_on_another_scale_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let experiment = |name: &str, data: &str| {
        let text = format!(
            "agents = 4\nrounds = 20\n[problem]\nkind = \"hyper-tuning\"\n{data}\n[[algorithm]]\nkind = \"fab\"\nsteps = 1e-6\n\
             [[algorithm]]\nkind = \"centralized-fab\"\nsteps = 1e-6\n[record]\nmetrics = [\"accuracy\"]\n"
        );
        fs::write(folder.join(name), text).unwrap();
    };
    experiment("dealt.toml", "data = \"synthetic\"\nsamples_per_agent = 50\nconcentration = 0.5");
    experiment("own.toml", "data = \"own\"\nfeatures = 16\nclasses = 4");
    succeed(
        folder,
        &["data", "divide", "dealt.toml", "--out", "shares", "--set", "algorithm=[{ kind = \"fab\", steps = 0.1 }]"],
    );
    let run = |command: &str, out: &str| {
        let out = if command == "run" { vec!["--out", out] } else { vec![] };
        succeed(folder, &[&[command, "own.toml", "--data", "shares"], &out[..]].concat())
    };
    assert!(!said(&run("run", "alike")).contains("scale"));
    rescale(&folder.join("shares/own/2.safetensors"), &["train", "checked"], 255.0);
    let output = run("run", "apart");
    assert!(said(&output).contains("warning: the data of some agents is on another scale"), "{}", said(&output));
    assert!(said(&output).contains(": agent 2 from -") && !said(&output).contains("agent 1 "), "{}", said(&output));
    let check = String::from_utf8(run("check", "").stdout).unwrap();
    assert!(check.contains("warning: the data of some agents is on another scale"), "{check}");
}

/// Multiplies the scalars of some tensors of a safetensors file. Such a file is a length, a header
/// as JSON, and then the scalars.
fn rescale(path: &Path, tensors: &[&str], by: f64) {
    let mut bytes = fs::read(path).unwrap();
    let (length, rest) = bytes.split_first_chunk_mut::<8>().unwrap();
    let (header, scalars) = rest.split_at_mut(u64::from_le_bytes(*length) as usize);
    let header: serde_json::Value = serde_json::from_slice(header).unwrap();
    for tensor in tensors {
        assert_eq!(header[tensor]["dtype"], "F64");
        let [start, end] = [0, 1].map(|place| header[tensor]["data_offsets"][place].as_u64().unwrap() as usize);
        for scalar in scalars[start..end].as_chunks_mut::<8>().0 {
            *scalar = (f64::from_le_bytes(*scalar) * by).to_le_bytes();
        }
    }
    fs::write(path, bytes).unwrap();
}

/// A packed data set that would unpack to far more than its header announces is refused.
#[test]
fn packed_data_unpacks_within_its_limits() {
    let folder = tempfile::tempdir().unwrap();
    let mnist = folder.path().join("mnist");
    fs::create_dir(&mnist).unwrap();
    // gzip compresses zeros by a factor of a thousand; the header of these 300 MB announces ten
    // pictures.
    let script = "{ printf '\\000\\000\\010\\003\\000\\000\\000\\012\\000\\000\\000\\034\\000\\000\\000\\034'; head -c 300000000 /dev/zero; } | gzip -1";
    let first = mnist.join("train-images-idx3-ubyte.gz");
    let packed = Command::new("sh").args(["-c", script]).stdout(File::create(&first).unwrap()).status().unwrap();
    assert!(packed.success());
    for file in ["train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"] {
        fs::copy(&first, mnist.join(file)).unwrap();
    }
    fs::write(folder.path().join("experiment.toml"), VALID.replace("policy-evaluation", "hyper-tuning")).unwrap();
    let output = fabnet(folder.path()).args(["run", "experiment.toml", "--data", "."]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("it unpacks to more than the 7856 bytes that its header announces"),
        "{}",
        said(&output)
    );
}

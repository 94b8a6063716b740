//! Documents say what the code says.
#![allow(clippy::print_stdout, reason = "what was tried is counted and printed")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[cfg(feature = "text")] // the reference has everything that can be built
#[test]
fn the_reference_is_generated_from_the_code() {
    let expected = fabnet_lab::reference();
    assert!(
        read("docs/reference.md") == expected,
        "run: cargo run --release -p fabnet -- list --markdown > docs/reference.md"
    );
}

/// A code block that follows `<!-- FILE -->` is that file, or a part of it.
#[test]
fn quoted_files_are_quoted_as_they_are() {
    let mut quoted = Vec::new();
    for document in ["README.md", "docs/deploy.md", "docs/guide.md", "docs/own.md"] {
        let text = read(document);
        for after in text.split("<!-- quote ").skip(1) {
            let (path, rest) =
                after.split_once(" -->\n```").unwrap_or_else(|| panic!("{document}: a block follows each quote"));
            let block = rest.split_once('\n').and_then(|(_, rest)| rest.split_once("\n```")).unwrap().0;
            assert!(read(path).contains(block), "{document} quotes {path} as it is not:\n{block}");
            quoted.push(path.to_owned());
        }
    }
    for example in ["first_run", "own_problem", "own_algorithm", "own_topology"] {
        assert!(quoted.contains(&format!("examples/{example}.rs")), "no document quotes {example}");
    }
}

#[test]
fn links_lead_somewhere() {
    for document in [
        "README.md",
        "REPRODUCTION.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "docs/deploy.md",
        "docs/guide.md",
        "docs/install.md",
        "docs/own.md",
        "docs/reference.md",
        "experiments/README.md",
    ] {
        let folder = repository(document).parent().unwrap().to_owned();
        let text = read(document);
        for target in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target) {
            let path = target.split('#').next().unwrap();
            assert!(
                target.starts_with("http") || path.is_empty() || folder.join(path).exists(),
                "{document}: {target}"
            );
        }
    }
}

/// The page is what its template and the reduced summaries beside it make. `summaries/MISSING`
/// lists experiments whose summaries are not there yet: lines with their numbers cannot be
/// compared.
#[test]
fn the_reproduction_page_is_made_from_the_committed_summaries() {
    let template = read("experiments/paper/REPRODUCTION.template.md");
    let summaries = repository("experiments/paper/summaries");
    let missing = std::fs::read_to_string(summaries.join("MISSING")).unwrap_or_default();
    let missing: BTreeSet<String> = missing.lines().map(str::to_owned).collect();
    let fabnet_lab::Reduced { summaries: found, missing: not_found } =
        fabnet_lab::reduce(&template, &summaries).unwrap();
    assert_eq!(not_found, missing, "experiments/paper/summaries/MISSING lists what is not there, and nothing else");
    for (run, reduced) in found {
        let path = format!("experiments/paper/summaries/{run}.json");
        assert!(read(&path) == reduced, "{path} holds more or less than the template needs");
    }
    let page = read("REPRODUCTION.md");
    let (mut compared, mut left_out) = (0, 0);
    for (made, there) in fabnet_lab::report_lines(&template, &summaries).into_iter().zip(page.lines()) {
        match made {
            Ok(made) => {
                assert_eq!(made, there, "run: experiments/reproduce.sh, or fabnet report as it does");
                compared += 1;
            }
            Err(fabnet_lab::ReportError::Run { path, .. }) if missing.iter().any(|run| path.ends_with(run)) => {
                left_out += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    println!("{compared} lines compared, {left_out} left out for want of a summary");
    assert_eq!(template.lines().count(), page.lines().count());
}

/// One row for each claim, each with one of four verdicts.
#[test]
fn every_claim_has_a_verdict() {
    let text = read("REPRODUCTION.md");
    let rows =
        text.lines().skip_while(|line| !line.starts_with("| claim |")).skip(2).take_while(|line| line.starts_with('|'));
    let verdicts: Vec<&str> = rows.map(|row| row.split('|').nth(5).unwrap_or_default().trim()).collect();
    let known = ["holds", "holds under conditions", "does not hold", "reading unconfirmed"];
    assert!(verdicts.len() >= 12 && verdicts.iter().all(|verdict| known.contains(verdict)), "{verdicts:?}");
    assert!(!text.contains("{{"), "a number is missing");
}

//! What runs leave beside their numbers.

use std::path::Path;

use fabnet_lab::{Experiment, Folder, RunOptions, carry_out_plan};

const CLEANING: &str = r#"
agents = 5
rounds = 40
seeds = 2

[problem]
kind = "hyper-cleaning"
data = "synthetic"
samples_per_agent = 40
concentration = 0.3
batch = 8
hidden = 6

[[algorithm]]
label = "learned: a/b"
kind = "fab"
penalty = 5
normalised = false
steps = { x = 50, y = 0.05, z = 0.05 }

[[algorithm]]
label = "frozen"
kind = "fab"
steps = { x = 0, y = 0.05, z = 0.05 }

[record]
metrics = ["auc"]
"#;

fn rows(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

#[test]
fn a_run_leaves_ranked_suspects_and_the_partition() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cleaning.toml");
    std::fs::write(&file, CLEANING).unwrap();
    let plan = Experiment::read(&file).unwrap().plan().unwrap().with_checksums().unwrap();
    let out = Folder::new(&folder.path().join("out"));
    out.begin(&plan).unwrap();
    carry_out_plan(&plan, &out, RunOptions::new(2), &()).unwrap();
    let findings = out.file("findings");

    // A label is a folder, whatever it consists of.
    let learned = findings.join("learned--a-b");
    let suspects = rows(&learned.join("suspects.csv"));
    assert_eq!(suspects[0], ["agent", "rank", "sample", "weight", "label", "true_label", "flipped"]);
    for pair in suspects[1..].windows(2).filter(|pair| pair[0][0] == pair[1][0]) {
        let weight = |row: &[String]| row[3].parse::<f64>().unwrap();
        assert!(weight(&pair[0]) <= weight(&pair[1]), "{pair:?}");
    }
    assert!(suspects[1..].iter().all(|row| (row[4] != row[5]) == (row[6] == "true")));

    // 200 samples, of which each agent keeps a tenth for validation.
    let partition = rows(&learned.join("partition.csv"));
    let counts = partition[1..].iter().flat_map(|row| &row[1..]).map(|count| count.parse::<usize>().unwrap());
    assert!((178..=182).contains(&counts.sum::<usize>()), "{partition:?}");
    assert!(learned.join("partition.svg").exists() && learned.join("partition.png").exists());

    // Weights that nobody moved rank nothing.
    assert!(findings.join("frozen/partition.csv").exists() && !findings.join("frozen/suspects.csv").exists());
}

/// One agent that holds everything shows what all would show.
#[test]
fn a_centralized_run_leaves_the_same_kind_of_findings() {
    let folder = tempfile::tempdir().unwrap();
    let method = |kind: &str| format!("[[algorithm]]\nkind = \"{kind}\"\nsteps = 0.01\n");
    let text = format!(
        "agents = 4\nrounds = 10\n[problem]\nkind = \"hyper-tuning\"\ndata = \"synthetic\"\n\
         samples_per_agent = 40\n{}{}[record]\nmetrics = [\"accuracy\"]\n",
        method("fab"),
        method("centralized-fab")
    );
    let plan = Experiment::parse(&text, &folder.path().join("tuning.toml")).unwrap().plan().unwrap();
    let out = Folder::new(&folder.path().join("out"));
    out.begin(&plan).unwrap();
    carry_out_plan(&plan, &out, RunOptions::new(2), &()).unwrap();
    let files = |label: &str| {
        let files = std::fs::read_dir(out.file("findings").join(label)).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(files("centralized-fab"), files("fab"));
    assert!(!files("fab").is_empty());
    let partition = |label: &str| rows(&out.file("findings").join(label).join("partition.csv"));
    assert_eq!(partition("centralized-fab"), partition("fab"));
}

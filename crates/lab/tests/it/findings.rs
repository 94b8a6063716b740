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
    let first = ["agent", "rank", "sample", "weight", "label", "true_label", "flipped"];
    assert_eq!(suspects[0][..7], first);
    assert_eq!(suspects[0][7..], ["proposed_label", "below_threshold"]);
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

/// The threshold lies between the two groups of weights, and most of what is below it is wrong.
/// What the model proposes instead is right more often than the label.
#[test]
fn samples_below_the_threshold_are_mostly_wrong_and_get_a_better_label() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        CLEANING.replace("rounds = 40", "rounds = 600").replace("samples_per_agent = 40", "samples_per_agent = 80");
    let plan = Experiment::parse(&text, &folder.path().join("cleaning.toml")).unwrap().plan().unwrap();
    let out = Folder::new(&folder.path().join("out"));
    out.begin(&plan).unwrap();
    carry_out_plan(&plan, &out, RunOptions::new(2), &()).unwrap();
    let learned = out.file("findings").join("learned--a-b");
    let thresholds = rows(&learned.join("thresholds.csv"));
    assert_eq!(thresholds[0], ["agent", "samples", "threshold", "below", "separation", "mean_below", "mean_above"]);
    let number = |text: &String| text.parse::<f64>().unwrap();
    let separated: Vec<&Vec<String>> = thresholds[1..].iter().filter(|row| !row[2].is_empty()).collect();
    assert!(separated.len() >= 3, "{thresholds:?}");
    for row in &thresholds[1..] {
        assert_eq!(row[2].is_empty(), number(&row[4]) <= 0.75, "{row:?}");
        assert!(number(&row[5]) < number(&row[6]), "{row:?}");
    }

    let weights = rows(&learned.join("weights.csv"));
    assert_eq!(weights[0], ["agent", "sample", "weight", "label", "proposed_label", "below_threshold"]);
    for row in &separated {
        let below = weights[1..].iter().filter(|sample| sample[0] == row[0] && sample[5] == "true");
        let (weights, count): (Vec<f64>, usize) =
            (below.clone().map(|sample| number(&sample[2])).collect(), below.count());
        assert_eq!(count.to_string(), row[3]);
        assert!(weights.iter().all(|weight| *weight < number(&row[2])), "{row:?}");
    }

    let suspects = rows(&learned.join("suspects.csv"));
    let below: Vec<&Vec<String>> = suspects[1..].iter().filter(|row| row[8] == "true").collect();
    let share =
        |of: &dyn Fn(&Vec<String>) -> bool| below.iter().filter(|row| of(row)).count() as f64 / below.len() as f64;
    let (wrong, proposed, given) =
        (share(&|row| row[6] == "true"), share(&|row| row[7] == row[5]), share(&|row| row[4] == row[5]));
    assert!(wrong > 0.6 && proposed > given + 0.2, "{wrong} wrong, {proposed} proposed right, {given} given right");

    // Every sample is in one bar of the histogram.
    let histogram = rows(&learned.join("weights-histogram.csv"));
    assert_eq!(histogram[0], ["from", "to", "right labels", "wrong labels"]);
    let count: f64 = histogram[1..].iter().flat_map(|row| &row[2..]).map(number).sum();
    assert_eq!(count as usize, weights.len() - 1);
    assert!(learned.join("weights-histogram.svg").exists() && learned.join("weights-histogram.png").exists());
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

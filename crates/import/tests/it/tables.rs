//! Tables in text files.

use std::fmt::Write;
use std::path::Path;

use fabnet_import::{FilePrecision, ImportError, ScalingKind, SiteSource, Verified};
use proptest::prelude::*;

use crate::common::{all_rows, files, read, request};

/// Writes a table of this many rows: an identifier, two features, a label and a site.
fn table(folder: &Path, rows: usize) {
    let mut text = "id,a,b,class,site\n".to_owned();
    for row in 0..rows {
        let class = ["cat", "dog", "ape"][row % 3];
        writeln!(text, "r{row},{row},{}.5,{class},{}", row * row, [10, 9][row % 2]).unwrap();
    }
    std::fs::write(folder.join("table.csv"), text).unwrap();
}

/// The request for such a table.
fn table_request(folder: &Path) -> fabnet_import::ImportRequest {
    let mut request = request(folder, &["table.csv"]);
    request.label = Some("class".to_owned());
    request.drop = vec!["id".to_owned()];
    request.sites = SiteSource::Column("site".to_owned());
    request
}

fn refused(request: &fabnet_import::ImportRequest, says: &str) {
    let error = request.carry_out().unwrap_err();
    assert!(error.is_usage() && error.to_string().contains(says), "{error}");
}

#[test]
fn rows_go_to_the_site_of_their_column_with_their_class_and_origin() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    table(folder, 100);
    let report = table_request(folder).carry_out().unwrap();
    // Sites and classes are sorted: sites as numbers, classes by their letters.
    assert_eq!(report.classes, ["ape", "cat", "dog"]);
    assert_eq!(report.sites.iter().map(|site| site.name.as_str()).collect::<Vec<_>>(), ["9", "10"]);
    assert_eq!(report.sites.iter().map(|site| site.rows).collect::<Vec<_>>(), [[36, 9, 5]; 2]);
    assert_eq!(report.sites[0].classes, [16, 17, 17]);
    assert!(read(folder, "0").values().flatten().all(|(row, _)| row[0] as u32 % 2 == 1));
    for (row, (features, class)) in all_rows(folder, &report).into_iter().enumerate() {
        assert_eq!(features, [row as f64, (row * row) as f64 + 0.5]);
        assert_eq!(report.classes[class as usize], ["cat", "dog", "ape"][row % 3]);
    }
    // Each sample is in the line that the list of origins names.
    let origins = std::fs::read_to_string(folder.join("out/own/0.csv")).unwrap();
    let parts = read(folder, "0");
    for origin in origins.lines().skip(1) {
        let cells: Vec<&str> = origin.split(',').collect();
        let (features, class) = &parts[cells[0]][cells[1].parse::<usize>().unwrap()];
        assert_eq!(cells[2], report.classes[*class as usize]);
        assert_eq!(cells[3], format!("{}:{}", folder.join("table.csv").display(), features[0] as usize + 2));
    }
    assert_eq!(origins.lines().count(), 46);
    assert_eq!(
        files(folder),
        ["0.csv", "0.safetensors", "1.csv", "1.safetensors", "import.json", "test.csv", "test.safetensors"]
    );
}

#[test]
fn broken_rows_are_refused_by_name_or_left_out_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    table(folder, 50);
    let path = folder.join("table.csv");
    let mut text = std::fs::read_to_string(&path).unwrap();
    text += "x,n/a,1,cat,9\nx,1,cat,9\nx,1,inf,cat,9\nx,1,,cat,9\nx,1,1,,9\n";
    (0..8).for_each(|_| text += "x,-,1,cat,9\n");
    std::fs::write(&path, text).unwrap();
    let mut request = table_request(folder);
    let message = request.carry_out().unwrap_err().to_string();
    for says in [
        "13 of 63 rows are broken:",
        "table.csv:52: column `a`: \"n/a\", expected a finite number",
        "table.csv:53: 4 columns, expected 5",
        "table.csv:54: column `b`: \"inf\", expected a finite number",
        "table.csv:55: column `b`: empty, expected a value",
        "table.csv:56: column `class`: empty, expected a value",
        "and 3 more",
        "--skip-broken",
    ] {
        assert!(message.contains(says), "{says}: {message}");
    }
    assert!(files(folder).is_empty());
    request.skip_broken = true;
    let report = request.carry_out().unwrap();
    assert_eq!((report.broken, report.flaws.len()), (13, 10));
    assert_eq!(all_rows(folder, &report).len(), 50);
    assert!(report.to_string().contains("13 broken rows were left out:"));
}

/// Leaving such a row out would lose the rows that it has swallowed.
#[test]
fn a_quotation_mark_that_is_left_open_is_refused_even_if_broken_rows_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("table.csv"), "a,class\n1,x\n2,\"y\n3,x\n4,y\n5,x\n").unwrap();
    let mut request = request(folder, &["table.csv"]);
    request.label = Some("class".to_owned());
    request.skip_broken = true;
    // The row has the right number of columns; its label is what it has swallowed.
    refused(&request, "the row that begins in line 3 reaches to line 6: a quotation mark is left open");
    std::fs::write(folder.join("table.csv"), "a,class\n1,x\n\"2,y\n3,x\n4,y\n5,x\n").unwrap();
    refused(&request, "line 3");
    // Texts of several lines that nobody uses are no flaw.
    std::fs::write(folder.join("table.csv"), "a,class,note\n1,x,\"two\nlines\"\n2,y,\n3,x,\n").unwrap();
    request.drop = vec!["note".to_owned()];
    assert_eq!(request.carry_out().unwrap().sites[0].rows, [2, 1, 0]);
}

#[test]
fn equal_rows_are_counted_within_and_across_sites() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = ["1,x,a", "1,x,a", "1.0,y,a", "2,x,a", "2,x,b", "3,y,b", "4,x,b", "-0,y,a", "0,y,b"];
    std::fs::write(folder.join("table.csv"), format!("f,class,site\n{}\n", rows.join("\n"))).unwrap();
    let mut request = table_request(folder);
    request.drop.clear();
    request.test = 0.0;
    let report = request.carry_out().unwrap();
    let counts = |site: usize| {
        let site = &report.sites[site];
        [site.repeated, site.elsewhere, site.contradicted]
    };
    assert_eq!([counts(0), counts(1)], [[2, 2, 3], [0, 2, 0]]);
    let name = |line: usize| format!("{}:{line}", folder.join("table.csv").display());
    assert_eq!(report.equal, [(name(2), name(3)), (name(5), name(6)), (name(9), name(10))]);
}

#[test]
fn another_site_takes_over_classes_and_scaling() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("one.csv"), "f,class\n0,x\n10,y\n5,z\n5,z\n").unwrap();
    std::fs::write(folder.join("two.csv"), "f,class\n20,z\n5,y\n5,y\n0,z\n").unwrap();
    let mut first = request(folder, &["one.csv"]);
    first.label = Some("class".to_owned());
    (first.scaling, first.test, first.precision) = (ScalingKind::Range, 0.0, FilePrecision::Single);
    first.carry_out().unwrap();
    let mut second = first.clone();
    second.inputs = vec![folder.join("two.csv")];
    (second.first_agent, second.like) = (1, Some(folder.join("out/own/import.json")));
    let report = second.carry_out().unwrap();
    assert_eq!(report.classes, ["x", "y", "z"]);
    let mut rows: Vec<_> = read(folder, "1").into_values().flatten().collect();
    rows.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]));
    assert_eq!(rows, [(vec![0.0], 2), (vec![0.5], 1), (vec![0.5], 1), (vec![2.0], 2)]);
    assert_eq!(report.sites[0].range, (0.0, 2.0));
    std::fs::write(folder.join("two.csv"), "f,class\n20,z\n5,new\n").unwrap();
    (second.first_agent, second.skip_broken) = (2, false);
    refused(&second, "the label \"new\", expected one of the classes x, y, z");
    std::fs::write(folder.join("two.csv"), "g,class\n20,z\n5,y\n").unwrap();
    refused(&second, "the column `g` where the first has `f`");
    let recipe = std::fs::read_to_string(folder.join("out/own/import.json")).unwrap();
    std::fs::write(folder.join("next.json"), recipe.replace("\"format\": 1", "\"format\": 2")).unwrap();
    second.like = Some(folder.join("next.json"));
    refused(&second, "it has format 2, this program reads 1");
}

#[test]
fn verified_labels_are_those_of_a_column() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: Vec<String> = (0..40).map(|row| format!("{row},{},{}", row % 2, u8::from(row < 10))).collect();
    std::fs::write(folder.join("table.csv"), format!("f,class,sure\n{}\n", rows.join("\n"))).unwrap();
    let mut request = request(folder, &["table.csv"]);
    request.label = Some("class".to_owned());
    request.verified = Verified::Column("sure".to_owned());
    let report = request.carry_out().unwrap();
    assert_eq!(report.sites[0].rows, [30, 9, 1]);
    assert!(read(folder, "0")["checked"].iter().all(|(row, _)| row[0] < 10.0));
    assert!(read(folder, "test")["test"].iter().all(|(row, _)| row[0] < 10.0));
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    table(folder, 30);
    let with = |change: &dyn Fn(&mut fabnet_import::ImportRequest), says: &str| {
        let mut request = table_request(folder);
        change(&mut request);
        refused(&request, says);
        assert!(files(folder).is_empty(), "{says}: {:?}", files(folder));
    };
    with(&|request| request.label = None, "give the column of the labels with --label; it has id, a, b, class, site");
    with(&|request| request.label = Some("clas".to_owned()), "--label clas: there is no such column");
    with(&|request| request.drop = vec!["a".to_owned()], "column `id`: \"r0\", expected a finite number");
    with(&|request| request.delimiter = b';', "there is no such column");
    with(&|request| request.sites = SiteSource::Column("a".to_owned()), "at least one to train with");
    with(&|request| request.classes = Some(vec!["cat".to_owned(), "dog".to_owned()]), "the label \"ape\"");
    with(&|request| request.test = 1.0, "--test");
    with(&|request| request.sites = SiteSource::Divide(0), "--sites");
    let many = |request: &mut fabnet_import::ImportRequest| {
        request.sites = SiteSource::Divide(29);
        request.drop.push("site".to_owned());
    };
    with(&many, "at least one to train with and one that is verified");
    let absent = table_request(Path::new("nowhere")).carry_out().unwrap_err();
    assert!(matches!(absent, ImportError::Files { .. }), "{absent}");
    table_request(folder).carry_out().unwrap();
    refused(&table_request(folder), "0.safetensors: it is there already");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// However rows are divided, each is written once, unchanged, and the seed decides where.
    #[test]
    fn every_row_is_written_once(rows in 30..120_usize, sites in 1..6_usize, seed in 0..1000_u64, test in 0.0..0.3) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        table(folder, rows);
        let mut request = table_request(folder);
        request.drop.push("site".to_owned());
        (request.sites, request.seed, request.test) = (SiteSource::Divide(sites), seed, test);
        let report = request.carry_out().unwrap();
        let found: Vec<f64> = all_rows(folder, &report).iter().map(|(row, _)| row[0]).collect();
        prop_assert_eq!(found, (0..rows).map(|row| row as f64).collect::<Vec<_>>());
        let sizes: Vec<u64> = report.sites.iter().map(|site| site.rows.iter().sum()).collect();
        prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
        let before: Vec<_> = (0..sites).map(|site| read(folder, &site.to_string())).collect();
        std::fs::remove_dir_all(folder.join("out")).unwrap();
        request.carry_out().unwrap();
        prop_assert_eq!(before, (0..sites).map(|site| read(folder, &site.to_string())).collect::<Vec<_>>());
    }
}

//! Arrays, as `NumPy` has written them.

use std::path::Path;

use fabnet_import::{ScalingKind, SiteSource};

use crate::common::{all_rows, files, read, request};

/// Copies a file of `NumPy` into a folder.
fn copy(folder: &Path, name: &str) {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(name);
    std::fs::copy(sample, folder.join(name)).unwrap();
}

#[test]
fn rows_and_labels_are_those_of_numpy() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    copy(folder, "arrays.npz");
    let mut request = request(folder, &["arrays.npz"]);
    request.sites = SiteSource::Column("site".to_owned());
    let report = request.carry_out().unwrap();
    let expected: Vec<_> =
        (0..12).map(|row| (vec![2.0 * f64::from(row), 2.0 * f64::from(row) + 1.0], row as u32 % 3)).collect();
    assert_eq!(all_rows(folder, &report), expected);
    assert!(read(folder, "1").values().flatten().all(|(row, _)| row[0] >= 12.0));
}

#[test]
fn bytes_in_rows_and_columns_are_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    copy(folder, "pictures.npz");
    let mut request = request(folder, &["pictures.npz"]);
    request.scaling = ScalingKind::Range;
    assert!(request.carry_out().unwrap_err().to_string().contains("--scale"));
    request.scaling = ScalingKind::None;
    let report = request.carry_out().unwrap();
    assert_eq!((report.features, report.rows.as_str()), (6, "2×3 grey or colour values"));
    assert_eq!(all_rows(folder, &report)[1].0, [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
    assert!(report.sites[0].range.1 < 0.2);
}

#[test]
fn arrays_that_are_not_there_or_not_whole_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    copy(folder, "arrays.npz");
    let refused = |change: &dyn Fn(&mut fabnet_import::ImportRequest), says: &str| {
        let mut request = request(folder, &["arrays.npz"]);
        change(&mut request);
        let message = request.carry_out().unwrap_err().to_string();
        assert!(message.contains(says) && files(folder).is_empty(), "{message}");
    };
    refused(&|request| request.features = "images".to_owned(), "no array `images`; it has x, y, site");
    refused(&|request| request.label = Some("x".to_owned()), "`x` has 24 rows, the features have 12");
    refused(&|request| request.features = "y".to_owned(), "`y` is [12]: expected rows of features");
    let bytes = std::fs::read(folder.join("arrays.npz")).unwrap();
    std::fs::write(folder.join("arrays.npz"), &bytes[..bytes.len() - 40]).unwrap();
    refused(&|_| {}, "not an NPZ file");
}

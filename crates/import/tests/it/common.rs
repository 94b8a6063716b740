//! What the tests share: a request with usual values, and files read back.

use std::collections::BTreeMap;
use std::path::Path;

use fabnet_import::{Colours, FilePrecision, ImportReport, ImportRequest, ScalingKind, SiteSource, Verified};
use safetensors::{Dtype, SafeTensors};

/// A request that imports these inputs into a folder `out` beside them.
pub(crate) fn request(folder: &Path, inputs: &[&str]) -> ImportRequest {
    ImportRequest {
        inputs: inputs.iter().map(|input| folder.join(input)).collect(),
        format: None,
        label: None,
        features: "x".to_owned(),
        drop: Vec::new(),
        header: true,
        delimiter: b',',
        colours: Colours::Grey,
        sites: SiteSource::Inputs,
        first_agent: 0,
        classes: None,
        verified: Verified::Fraction(0.2),
        test: 0.1,
        scaling: ScalingKind::None,
        precision: FilePrecision::Double,
        like: None,
        skip_broken: false,
        seed: 0,
        out: folder.join("out"),
    }
}

/// What a file of own data holds: by part, rows with their labels.
pub(crate) fn read(folder: &Path, name: &str) -> BTreeMap<String, Vec<(Vec<f64>, u32)>> {
    let bytes = std::fs::read(folder.join(format!("out/own/{name}.safetensors"))).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let parts = tensors.names().into_iter().filter(|name| !name.ends_with("_labels")).map(str::to_owned);
    parts.map(|part| (part.clone(), rows(&tensors, &part))).collect()
}

fn rows(tensors: &SafeTensors<'_>, part: &str) -> Vec<(Vec<f64>, u32)> {
    let rows = tensors.tensor(part).unwrap();
    let width: usize = rows.shape()[1..].iter().product();
    let values: Vec<f64> = match rows.dtype() {
        Dtype::U8 => rows.data().iter().map(|&byte| f64::from(byte)).collect(),
        Dtype::F32 => rows.data().chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()).into()).collect(),
        _ => rows.data().chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect(),
    };
    let labels = tensors.tensor(&format!("{part}_labels")).unwrap();
    let labels = labels.data().chunks(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()));
    let rows: Vec<_> = values.chunks(width).map(<[f64]>::to_vec).zip(labels).collect();
    assert_eq!(rows.len() * width, values.len());
    rows
}

/// All rows of all files, by their first feature.
pub(crate) fn all_rows(folder: &Path, report: &ImportReport) -> Vec<(Vec<f64>, u32)> {
    let mut names: Vec<String> = report.sites.iter().map(|site| site.agent.to_string()).collect();
    names.extend(folder.join("out/own/test.safetensors").exists().then(|| "test".to_owned()));
    let mut rows: Vec<_> = names.iter().flat_map(|name| read(folder, name).into_values().flatten()).collect();
    rows.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]));
    rows
}

/// The names of the files in `out/own`.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let Ok(files) = std::fs::read_dir(folder.join("out/own")) else {
        return Vec::new();
    };
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

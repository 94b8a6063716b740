//! Features on disk: an encoder that stays as it is need not see a text twice.

use std::fs;
use std::io::Write;
use std::path::Path;

use fabnet_problems::learning::data::cache_folder;

/// Features by the name of what they were computed from; computed, and kept, if they are not there.
///
/// What cannot be kept is computed again the next time.
pub(crate) fn get(
    name: &str,
    len: usize,
    compute: impl FnOnce() -> Result<Vec<f32>, String>,
) -> Result<Vec<f32>, String> {
    let folder = cache_folder().join("features");
    let path = folder.join(format!("{name}.f32"));
    if let Some(found) = read(&path, len) {
        return Ok(found);
    }
    let features = compute()?;
    let bytes: Vec<u8> = features.iter().flat_map(|value| value.to_le_bytes()).collect();
    // Written under another name first: nobody finds half of it.
    let _ = fs::create_dir_all(&folder).and_then(|()| {
        let fresh = folder.join(format!("{name}.{}", std::process::id()));
        fs::File::create(&fresh)?.write_all(&bytes)?;
        fs::rename(&fresh, &path)
    });
    Ok(features)
}

fn read(path: &Path, len: usize) -> Option<Vec<f32>> {
    let expected = (len * size_of::<f32>()) as u64;
    fs::metadata(path).ok().filter(|file| file.len() == expected)?;
    let bytes = fs::read(path).ok().filter(|bytes| bytes.len() as u64 == expected)?;
    Some(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

//! A checkpoint is read or refused by the run that it is of, and by one that continues that run.
#![no_main]

use std::path::Path;

use fabnet_fuzz::{sha256, with_file};
use fabnet_net::{WantedPoint, read_stopped_agent};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const ROUND: u64 = 40;

fuzz_target!(|bytes: &[u8]| {
    look(bytes);
    if let Some(repaired) = repair(bytes) {
        look(&repaired);
    }
});

fn look(bytes: &[u8]) {
    let files = with_file(&Path::new("/state/0").join(format!("checkpoint-{ROUND}.safetensors")), bytes);
    for (width, scalar) in [(2, 8), (2, 4), (0, 8)] {
        let wanted = WantedPoint { agent: 0, width, scalar, rounds: ROUND + 1 };
        if let Ok(found) = read_stopped_agent(&*files, Path::new("/state"), wanted) {
            assert_eq!((found.round, found.point.len()), (ROUND, width * scalar));
        }
    }
}

/// The same file with the right length of its header, round and checksum, if its header is JSON
/// with the bytes of a point.
fn repair(bytes: &[u8]) -> Option<Vec<u8>> {
    let end = 9 + bytes.get(8..)?.iter().rposition(|byte| *byte == b'}')?;
    let mut header: Value = serde_json::from_slice(&bytes[8..end]).ok()?;
    let data = &bytes[end..];
    let offset = |place: usize| header["point"]["data_offsets"][place].as_u64();
    let point = data.get(offset(0)? as usize..offset(1)? as usize)?;
    let notes = header["__metadata__"].as_object()?;
    let note = |name: &str| notes.get(name).and_then(Value::as_str).map(str::as_bytes);
    let owner: Vec<&[u8]> = note("run").zip(note("agent")).map_or(Vec::new(), |(run, agent)| vec![run, agent]);
    let round = ROUND.to_le_bytes();
    let checksum = sha256(owner.into_iter().chain([&round[..], point]));
    header["__metadata__"]["sha256"] = checksum.into();
    header["__metadata__"]["round"] = ROUND.to_string().into();
    let header = serde_json::to_vec(&header).ok()?;
    Some([&(header.len() as u64).to_le_bytes()[..], &header, data].concat())
}

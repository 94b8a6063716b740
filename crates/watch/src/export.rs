//! A stream as one file that a browser shows without a server.

use serde_json::json;

use crate::page::page;
use crate::stream_file::RecordedRun;
use crate::thinning::thin;
use crate::{Item, WatchFrame};

/// The largest number of bytes of data in an exported page, if nothing else is said.
pub const EXPORTED: usize = 5 << 19;

/// The page with a stream inside, of which at most this many bytes are kept: older frames become
/// fewer.
pub fn export(stream: &RecordedRun, limit: usize) -> serde_json::Result<String> {
    let frames = within(stream, limit)?;
    let data = json!({ "hello": stream.hello, "frames": frames, "events": stream.events });
    Ok(page(Some(&serde_json::to_string(&data)?)))
}

/// The frames of a stream, thinned to this many bytes.
fn within(stream: &RecordedRun, limit: usize) -> serde_json::Result<Vec<WatchFrame>> {
    let sized = |item: Item| {
        let bytes = serde_json::to_vec(&item)?.len();
        Ok((item, bytes))
    };
    let (frames, events) = (stream.frames.iter().cloned(), stream.events.iter().cloned());
    let mut items =
        frames.map(Item::Frame).chain(events.map(Item::Event)).map(sized).collect::<serde_json::Result<Vec<_>>>()?;
    items.sort_by(|one, other| one.0.time().partial_cmp(&other.0.time()).unwrap_or(std::cmp::Ordering::Equal));
    let left = thin(items, limit);
    Ok(left
        .into_iter()
        .filter_map(|(item, _)| if let Item::Frame(frame) = item { Some(frame) } else { None })
        .collect())
}

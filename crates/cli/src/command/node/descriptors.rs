//! How many files and connections a node may have open.

use rustix::process::{Resource, getrlimit, setrlimit};

/// As many as strangers can hold open who connect a thousand times a second and say nothing, twice:
/// each is cut off after two seconds.
const ENOUGH: u64 = 4096;

/// Lets this process open as many files and connections as the system allows it. The usual limit of
/// 1,024 is soft: strangers could otherwise take all of them, and disk and status would have none.
pub(super) fn raise_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "the limit of open files was not raised");
    }
    if let Some(limit) = getrlimit(Resource::Nofile).current.filter(|limit| *limit < ENOUGH) {
        tracing::warn!(
            limit,
            "few files can be open at a time: strangers who connect can take all (ulimit -n {ENOUGH})"
        );
    }
}

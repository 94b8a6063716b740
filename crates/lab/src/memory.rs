//! The memory of this machine, as far as this process may use it.

use std::fs;
use std::path::{Path, PathBuf};

/// The memory of this machine, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Memory {
    /// The memory that this process may ever use: the machine's, or the limit of its control group.
    pub(crate) total: f64,
    /// The memory that is available now.
    pub(crate) available: f64,
}

impl Memory {
    /// The memory of this machine; `None` where the system does not say.
    pub(crate) fn here() -> Option<Self> {
        let machine = machine(&fs::read_to_string("/proc/meminfo").ok()?)?;
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Some(folders(&groups).iter().filter_map(|folder| limit(folder)).fold(machine, Self::smaller))
    }

    /// The smaller of two limits.
    fn smaller(self, other: Self) -> Self {
        Self { total: self.total.min(other.total), available: self.available.min(other.available) }
    }
}

/// Reads the contents of `/proc/meminfo`.
fn machine(text: &str) -> Option<Memory> {
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok().map(|kilobytes| kilobytes * 1024.0)
    };
    Some(Memory { total: value("MemTotal")?, available: value("MemAvailable")? })
}

/// The folders of the control groups, of both versions, that `/proc/self/cgroup` names.
fn folders(groups: &str) -> Vec<PathBuf> {
    let folder = |line: &str| {
        let [_, controllers, path] = line.splitn(3, ':').collect::<Vec<_>>()[..] else { return Vec::new() };
        let root = match controllers {
            "" => "/sys/fs/cgroup",
            controllers if controllers.split(',').any(|name| name == "memory") => "/sys/fs/cgroup/memory",
            _ => return Vec::new(),
        };
        // In a container the path may be the host's; then the root folder is the container's own.
        vec![PathBuf::from(root), Path::new(root).join(path.trim_start_matches('/'))]
    };
    groups.lines().flat_map(folder).collect()
}

/// Reads the limit of a control group, if it has one.
fn limit(folder: &Path) -> Option<Memory> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<f64>().ok();
    let total = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes")).unwrap_or(0.0);
    Some(Memory { total, available: (total - used).max(0.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_limit_counts() {
        let text = "MemTotal:       2000 kB\nMemFree:         10 kB\nMemAvailable:   1500 kB\n";
        let machine = machine(text).expect("both values are there");
        assert_eq!(machine, Memory { total: 2_048_000.0, available: 1_536_000.0 });
        let folder = tempfile::tempdir().expect("a folder for tests");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it can be written");
        write("memory.max", "1000000\n");
        write("memory.current", "400000\n");
        let group = limit(folder.path()).expect("a limit is set");
        assert_eq!(machine.smaller(group), Memory { total: 1_000_000.0, available: 600_000.0 });
        write("memory.max", "max\n");
        assert_eq!(limit(folder.path()), None);
    }

    #[test]
    fn control_groups_of_both_versions_are_found() {
        let found = folders("5:cpu,memory:/a\n3:cpu:/b\n0::/c\n");
        let expected = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory/a", "/sys/fs/cgroup", "/sys/fs/cgroup/c"];
        assert_eq!(found, expected.map(PathBuf::from));
    }
}

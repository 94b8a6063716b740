//! The checksums of the data that a plan's runs read.

use fabnet_core::settings::{SettingsSource, Value};

use super::setup_error::SetupError;
use crate::plan::{Group, Plan};
use crate::problems::problems;

impl Plan {
    /// Adds the checksums of all data that runs will read, so that nobody repeats the runs with
    /// other data unawares.
    pub fn with_checksums(mut self) -> Result<Self, SetupError> {
        for Group { problem, .. } in &mut self.groups {
            let kind = problems::<f64>().into_iter().find(|kind| kind.name == problem.kind);
            let checksum = kind.and_then(|kind| kind.checksum).filter(|_| problem.get("sha256").is_none());
            let found = checksum.map(|checksum| checksum(problem)).transpose();
            if let Some(found) = found.map_err(|reason| SetupError::Checksum { reason })?.flatten() {
                // The place at which the key is read again from `plan.toml`, so that both plans are
                // equal.
                let place = problem.settings.iter().position(|(key, _)| key == "data").map_or(0, |place| place + 1);
                problem.settings.insert(place, ("sha256".to_owned(), Value::Text(found)));
            }
        }
        Ok(self)
    }
}

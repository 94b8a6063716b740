//! The columns of a table, and what each is for.

use crate::request::{ImportRequest, SiteSource, Verified};

/// The columns of a table.
pub(super) struct Columns {
    /// The names of all columns.
    pub(super) names: Vec<String>,
    /// Those of features.
    pub(super) features: Vec<usize>,
    /// The one of labels.
    pub(super) label: usize,
    /// The one that names sites, if there is one.
    pub(super) site: Option<usize>,
    /// The one that says which labels are verified, if there is one.
    pub(super) verified: Option<usize>,
}

impl Columns {
    /// Finds the columns that were asked for; all others are features.
    pub(super) fn find(names: Vec<String>, request: &ImportRequest) -> Result<Self, String> {
        let find = |name: &String, option: &str| {
            let place = names.iter().position(|other| other == name);
            place.ok_or_else(|| format!("{option} {name}: there is no such column; it has {}", names.join(", ")))
        };
        let label = request.label.as_ref();
        let label =
            label.ok_or_else(|| format!("give the column of the labels with --label; it has {}", names.join(", ")))?;
        let label = find(label, "--label")?;
        let site = match &request.sites {
            SiteSource::Column(name) => Some(find(name, "--site")?),
            _ => None,
        };
        let verified = match &request.verified {
            Verified::Column(name) => Some(find(name, "--checked-column")?),
            Verified::Fraction(_) => None,
        };
        let mut others = request.drop.iter().map(|name| find(name, "--drop")).collect::<Result<Vec<_>, _>>()?;
        others.extend([Some(label), site, verified].into_iter().flatten());
        let features: Vec<usize> = (0..names.len()).filter(|column| !others.contains(column)).collect();
        if features.is_empty() {
            return Err("no column is left for features: check --label and --delimiter".to_owned());
        }
        Ok(Self { names, features, label, site, verified })
    }

    /// The names of the columns of features.
    pub(super) fn feature_names(&self) -> Vec<String> {
        self.features.iter().map(|&column| self.names[column].clone()).collect()
    }

    /// All columns that are read.
    pub(super) fn used(&self) -> impl Iterator<Item = usize> {
        let special = [Some(self.label), self.site, self.verified];
        special.into_iter().flatten().chain(self.features.iter().copied())
    }
}

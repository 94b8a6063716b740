//! What an import tells its user.

use std::fmt;
use std::path::PathBuf;

use crate::flaw::Flaw;

/// What was imported.
#[derive(Clone, Debug)]
pub struct ImportReport {
    /// The folder that holds `own/`.
    pub folder: PathBuf,
    /// What a row consists of, in words.
    pub rows: String,
    /// The number of features of a row.
    pub features: usize,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The sites, by agent.
    pub sites: Vec<SiteReport>,
    /// The first pairs of rows with equal features.
    pub equal: Vec<(String, String)>,
    /// Broken rows that were left out.
    pub broken: u64,
    /// The first of them.
    pub flaws: Vec<Flaw>,
    /// What else was left out.
    pub left_out: Vec<String>,
}

/// The data of one site.
#[derive(Clone, Debug)]
pub struct SiteReport {
    /// The input, the value of the column, or the number of the part.
    pub name: String,
    /// The agent that holds the data.
    pub agent: usize,
    /// Rows to train with, with verified labels, and to test with.
    pub rows: [u64; 3],
    /// Rows of each class.
    pub classes: Vec<u64>,
    /// The smallest and the largest feature as it was written.
    pub range: (f64, f64),
    /// Rows that repeat an earlier row of the site.
    pub repeated: u64,
    /// Rows that another site has as well.
    pub elsewhere: u64,
    /// Rows whose features are those of a row with another label.
    pub contradicted: u64,
}

impl fmt::Display for ImportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { folder, features, classes, sites, .. } = self;
        let folder = folder.display();
        writeln!(f, "rows of {} in {} classes", self.rows, classes.len())?;
        sites.iter().try_for_each(|site| site.write(f, classes))?;
        for (one, other) in &self.equal {
            writeln!(f, "equal features: {one} and {other}")?;
        }
        self.write_broken(f)?;
        self.left_out.iter().try_for_each(|sentence| writeln!(f, "{sentence}"))?;
        writeln!(f, "{folder}/own: AGENT.safetensors, and AGENT.csv with the origin of each row")?;
        write!(
            f,
            "An experiment reads them with --data {folder} and\n  agents = {}\n  [problem]\n  data = \"own\"\n  \
             features = {features}\n  classes = {}",
            sites.last().map_or(0, |site| site.agent + 1),
            classes.len()
        )
    }
}

impl ImportReport {
    fn write_broken(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.broken == 0 {
            return Ok(());
        }
        writeln!(f, "{} broken rows were left out:", self.broken)?;
        self.flaws.iter().try_for_each(|flaw| writeln!(f, "  {flaw}"))?;
        match self.broken - self.flaws.len() as u64 {
            0 => Ok(()),
            more => writeln!(f, "  and {more} more"),
        }
    }
}

impl SiteReport {
    fn write(&self, f: &mut fmt::Formatter<'_>, classes: &[String]) -> fmt::Result {
        let [train, checked, test] = self.rows;
        writeln!(
            f,
            "agent {} ({}): {train} to train with, {checked} verified, {test} to test with",
            self.agent, self.name
        )?;
        writeln!(f, "  classes     {}", self.class_counts(classes))?;
        writeln!(f, "  range       {} to {}", number(self.range.0), number(self.range.1))?;
        let Self { repeated, elsewhere, contradicted, .. } = self;
        writeln!(
            f,
            "  duplicates  {repeated} repeat a row of this site, {elsewhere} are at another site as well, \
             {contradicted} have equal features and another label"
        )
    }

    /// The counts of all classes, or what they range over where there are many.
    fn class_counts(&self, classes: &[String]) -> String {
        const MOST: usize = 20;
        if classes.len() <= MOST {
            let pairs = classes.iter().zip(&self.classes).map(|(name, count)| format!("{name}: {count}"));
            return pairs.collect::<Vec<_>>().join(", ");
        }
        let missing = self.classes.iter().filter(|&&count| count == 0).count();
        let least = self.classes.iter().min().copied().unwrap_or_default();
        let most = self.classes.iter().max().copied().unwrap_or_default();
        format!("{} classes with {least} to {most} rows, {missing} without any", classes.len())
    }
}

/// A number with as many digits as tell ranges apart.
fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e6).contains(&size) { format!("{value:.4}") } else { format!("{value:.3e}") }
}

//! Rows with equal features, within a site and across sites.

use crate::survey::Survey;

/// What equal rows there are.
pub(crate) struct Duplicates {
    /// By site, the rows that repeat an earlier row of the same site.
    pub(crate) repeated: Vec<u64>,
    /// By site, the rows that another site has as well.
    pub(crate) elsewhere: Vec<u64>,
    /// By site, the rows that some other row contradicts: equal features, another label.
    pub(crate) contradicted: Vec<u64>,
    /// The first pairs of equal rows, by their places in the survey.
    pub(crate) first: Vec<(usize, usize)>,
}

/// Pairs that are named; the others are counted.
const NAMED: usize = 3;

impl Duplicates {
    /// Compares all rows by their checksums.
    pub(crate) fn of(survey: &Survey) -> Self {
        let none = || vec![0; survey.sites.len()];
        let mut found =
            Self { repeated: none(), elsewhere: none(), contradicted: none(), first: Vec::with_capacity(NAMED) };
        let mut order: Vec<(u64, usize)> =
            survey.rows.iter().enumerate().map(|(row, entry)| (entry.checksum, row)).collect();
        order.sort_unstable();
        let mut pairs = Vec::new();
        for equal in order.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1) {
            let rows: Vec<usize> = equal.iter().map(|&(_, row)| row).collect();
            found.count(survey, &rows);
            pairs.push((rows[0], rows[1]));
        }
        pairs.sort_unstable();
        pairs.truncate(NAMED);
        found.first = pairs;
        found
    }

    /// Counts rows with equal features, given in ascending order.
    fn count(&mut self, survey: &Survey, rows: &[usize]) {
        let entry = |row: usize| &survey.rows[row];
        let (first_site, first_class) = (entry(rows[0]).site, entry(rows[0]).class);
        let across = rows.iter().any(|&row| entry(row).site != first_site);
        let contradicted = rows.iter().any(|&row| entry(row).class != first_class);
        let mut seen: Vec<u32> = Vec::new();
        for &row in rows {
            let site = entry(row).site;
            if seen.contains(&site) {
                self.repeated[site as usize] += 1;
            } else {
                seen.push(site);
            }
            self.elsewhere[site as usize] += u64::from(across);
            self.contradicted[site as usize] += u64::from(contradicted);
        }
    }
}

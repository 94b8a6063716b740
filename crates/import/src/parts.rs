//! To train with, verified, or to test with: which part of its site each row belongs to.

use fabnet_core::rng::{EVERYONE, Purpose, Stream};

use crate::error::ImportError;
use crate::request::{ImportRequest, SiteSource, Verified};
use crate::survey::Survey;

/// A part of the data of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// To train with; labels may be wrong.
    Train,
    /// With verified labels.
    Checked,
    /// To test with.
    Test,
}

/// The part of each row, in the order of the survey. Rows are also divided among sites here, if
/// that was asked for.
pub(crate) fn assign(survey: &mut Survey, request: &ImportRequest) -> Result<Vec<Part>, ImportError> {
    if let SiteSource::Divide(sites) = request.sites {
        let order = Stream::new(request.seed, EVERYONE, 0, Purpose::Partition).permutation(survey.rows.len());
        order.iter().enumerate().for_each(|(place, &row)| survey.rows[row].site = (place % sites) as u32);
    }
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); survey.sites.len()];
    survey.rows.iter().enumerate().for_each(|(row, entry)| members[entry.site as usize].push(row));
    let mut parts = vec![Part::Train; survey.rows.len()];
    for (site, members) in members.iter().enumerate() {
        divide(survey, site, members, request, &mut parts)?;
    }
    Ok(parts)
}

/// Divides the rows of a site.
fn divide(
    survey: &Survey,
    site: usize,
    members: &[usize],
    request: &ImportRequest,
    parts: &mut [Part],
) -> Result<(), ImportError> {
    // Whoever knows which labels are right tests with right labels, too.
    let pool: Vec<usize> = match request.verified {
        Verified::Fraction(_) => members.to_vec(),
        Verified::Column(_) => members.iter().copied().filter(|&row| survey.rows[row].verified).collect(),
    };
    let test = (request.test * pool.len() as f64).round() as usize;
    let rest = pool.len() - test;
    let checked = match request.verified {
        Verified::Fraction(fraction) => ((fraction * rest as f64).round() as usize).clamp(1, rest.max(2) - 1),
        Verified::Column(_) => rest,
    };
    if checked == 0 || members.len() <= test + checked {
        return Err(too_few(&survey.sites[site], [members.len(), checked, test]));
    }
    let agent = request.first_agent + site;
    let order = Stream::new(request.seed, agent, 0, Purpose::Partition).permutation(pool.len());
    order[..test].iter().for_each(|&place| parts[pool[place]] = Part::Test);
    order[test..test + checked].iter().for_each(|&place| parts[pool[place]] = Part::Checked);
    Ok(())
}

fn too_few(site: &str, [rows, checked, test]: [usize; 3]) -> ImportError {
    ImportError::Request(format!(
        "the site `{site}` has {rows} rows, of which {test} are to test with and {checked} verified: at least one to \
         train with and one that is verified are needed"
    ))
}

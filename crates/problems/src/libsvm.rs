//! Samples in the text format of LIBSVM.

/// Sparse samples with labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SparseRows {
    /// The samples, in the order of their lines.
    pub(crate) rows: Vec<SparseRow>,
    /// The scalars of a sample: the largest index that occurs.
    pub(crate) inputs: usize,
    /// The number of different labels.
    pub(crate) classes: usize,
}

/// Places, counted from 0 and ascending, with their scalars.
type SparseScalars = Vec<(usize, f64)>;

/// A sample and its class.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SparseRow {
    /// The class, counted from 0 in the order of labels.
    pub(crate) class: usize,
    /// The scalars of the sample that are not 0.
    pub(crate) scalars: SparseScalars,
}

impl SparseRows {
    /// Reads lines `label index:value …`, with indices from 1 in ascending order (Chang, Lin:
    /// *LIBSVM: a library for support vector machines*, 2011). `#` starts a comment.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut labelled = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split('#').next().unwrap_or_default().trim();
            if !text.is_empty() {
                labelled.push(sample(text).map_err(|reason| format!("line {line}: {reason}, found `{text}`"))?);
            }
        }
        let mut labels: Vec<f64> = labelled.iter().map(|(label, _)| *label).collect();
        labels.sort_unstable_by(f64::total_cmp);
        labels.dedup();
        if labels.len() < 2 {
            return Err(format!("samples have {} different labels: two are needed, at least", labels.len()));
        }
        let inputs = labelled.iter().filter_map(|(_, scalars)| scalars.last()).map(|(place, _)| place + 1).max();
        let inputs = inputs.ok_or("no sample has a scalar: give `index:value` after labels")?;
        let row =
            |(label, scalars): (f64, _)| SparseRow { class: labels.partition_point(|&other| other < label), scalars };
        Ok(Self { inputs, classes: labels.len(), rows: labelled.into_iter().map(row).collect() })
    }
}

/// The label and the scalars of a line.
fn sample(line: &str) -> Result<(f64, SparseScalars), &'static str> {
    const FORM: &str = "expected `label index:value …`";
    let number = |word: &str| word.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or(FORM);
    let mut words = line.split_whitespace();
    // A label of −0 is that of 0.
    let label = number(words.next().unwrap_or_default())? + 0.0;
    let mut scalars = SparseScalars::new();
    for word in words {
        let (index, value) = word.split_once(':').ok_or(FORM)?;
        let index: usize = index.parse().map_err(|_| FORM)?;
        let last = scalars.last().map_or(0, |&(place, _)| place + 1);
        if index <= last {
            return Err("indices start at 1 and ascend");
        }
        scalars.push((index - 1, number(value)?));
    }
    Ok((label, scalars))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_classes_and_indices_places() {
        let read = SparseRows::parse("+1 1:0.5 4:-2 # a comment\n\n-1\n+1 2:1e-1\n").unwrap();
        let row = |class, scalars: &[(usize, f64)]| SparseRow { class, scalars: scalars.to_vec() };
        assert_eq!(read.rows, [row(1, &[(0, 0.5), (3, -2.0)]), row(0, &[]), row(1, &[(1, 0.1)])]);
        assert_eq!((read.inputs, read.classes), (4, 2));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (wrong, message) in [
            ("1 1:2\nx 1:2", "line 2: expected `label index:value …`, found `x 1:2`"),
            ("1 0:2", "line 1: indices start at 1 and ascend, found `1 0:2`"),
            ("1 2:2 2:3", "line 1: indices start at 1 and ascend, found `1 2:2 2:3`"),
            ("1 1:inf", "line 1: expected `label index:value …`, found `1 1:inf`"),
            ("1\n-1", "no sample has a scalar: give `index:value` after labels"),
            ("1 1:1\n1 2:1", "samples have 1 different labels: two are needed, at least"),
        ] {
            assert_eq!(SparseRows::parse(wrong).unwrap_err(), message);
        }
    }
}

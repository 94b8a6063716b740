//! Labelled texts as tab-separated values.

/// A text with its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Review<'a> {
    /// 1 for a positive one, 0 for a negative one.
    pub label: u32,
    /// The text of the review.
    pub text: &'a str,
}

/// Reads a file with a header that names the columns `label` and `text`.
pub fn reviews<'a>(file: &'a str) -> Result<Vec<Review<'a>>, String> {
    let mut lines = file.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let column = |name: &str| {
        let place = header.iter().position(|known| *known == name);
        place.ok_or_else(|| format!("its first line names no column `{name}`"))
    };
    let (label, text) = (column("label")?, column("text")?);
    let review = |(place, line): (usize, &'a str)| {
        let cells: Vec<&'a str> = line.split('\t').collect();
        if cells.len() != header.len() {
            return Err(format!("line {} has {} cells instead of {}", place + 2, cells.len(), header.len()));
        }
        let label = cells[label].parse().map_err(|_| format!("line {}: `{}` is no label", place + 2, cells[label]))?;
        Ok(Review { label, text: cells[text] })
    };
    lines.enumerate().map(review).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let file = "label\trating\tid\ttext\n0\t2\t7\tdull\n1\t9\t8\ta joy\n";
        let known = [Review { label: 0, text: "dull" }, Review { label: 1, text: "a joy" }];
        assert_eq!(reviews(file).expect("a valid file"), known);
    }

    #[test]
    fn broken_files_are_refused_with_the_line() {
        for (broken, says) in [
            ("", "no column `label`"),
            ("label\tid\n0\t1", "no column `text`"),
            ("label\ttext\n0\tgood\n1", "line 3 has 1 cells instead of 2"),
            ("label\ttext\nyes\tgood", "line 2: `yes` is no label"),
        ] {
            assert!(reviews(broken).expect_err("a broken file").contains(says));
        }
    }
}

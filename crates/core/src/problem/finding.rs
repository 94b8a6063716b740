//! Findings: what a problem shows of a run beside its numbers. The problem says what is to be seen,
//! others write and draw it.

/// One thing that a problem shows of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// In a few words, with hyphens: it becomes the name of a file.
    pub name: String,
    /// What it shows, for a reader.
    pub title: String,
    /// The table, the counts, the histogram or the pictures.
    pub content: Content,
}

/// What a finding can consist of.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A table: rows under a header.
    Table {
        /// One name for each column.
        header: Vec<String>,
        /// The rows of the table.
        rows: Vec<Vec<String>>,
    },
    /// How often each pair of a row and a column occurs.
    Counts {
        /// What the rows and the columns stand for.
        axes: [String; 2],
        /// The names of the rows.
        rows: Vec<String>,
        /// The counts, row by row, all of one length.
        counts: Vec<Vec<u64>>,
    },
    /// How values are distributed.
    Histogram(Histogram),
    /// Small pictures, drawn beside each other.
    Pictures(Vec<Picture>),
}

/// How often values fall into each of several intervals of one length.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// What the values are.
    pub axis: String,
    /// Where the first interval begins and the last one ends.
    pub range: (f64, f64),
    /// Counts that are stacked, all with one number of intervals.
    pub series: Vec<Series>,
    /// Values to mark.
    pub marks: Vec<f64>,
    /// What is marked.
    pub marks_name: String,
}

/// The counts of one kind of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The kind of values.
    pub name: String,
    /// A count for each interval.
    pub counts: Vec<u64>,
}

/// A small grey picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The width in pixels; the height follows.
    pub width: usize,
    /// From 0, black, to 1, white, row by row.
    pub pixels: Vec<f32>,
    /// The lines of text below the picture.
    pub caption: Vec<String>,
}

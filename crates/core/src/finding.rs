//! Findings: what a problem shows of a run beside its numbers. The problem says what is to be seen, others write and draw it.

/// One thing to be seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// In a few words, with hyphens: it becomes the name of a file.
    pub name: String,
    /// What it shows, for a reader.
    pub title: String,
    /// What is seen.
    pub content: Content,
}

/// What can be seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Rows under a header.
    Table {
        /// One name for each column.
        header: Vec<String>,
        /// The rows.
        rows: Vec<Vec<String>>,
    },
    /// How often each pair of a row and a column occurs.
    Counts {
        /// What rows and columns are.
        axes: [String; 2],
        /// The names of the rows.
        rows: Vec<String>,
        /// Row by row, all of one length.
        counts: Vec<Vec<u64>>,
    },
    /// Small pictures beside each other.
    Pictures(Vec<Picture>),
}

/// A small grey picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Its width; the height follows.
    pub width: usize,
    /// From 0, black, to 1, white, row by row.
    pub pixels: Vec<f32>,
    /// What stands below it, line by line.
    pub caption: Vec<String>,
}

//! What a row consists of; all inputs of an import have the same layout.

/// What a row consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FeatureLayout {
    /// The sizes of a row: its number of features, or the height and width of a picture.
    pub(crate) shape: Vec<usize>,
    /// Whether features are bytes that stand for 0 to 1.
    pub(crate) bytes: bool,
    /// The names of the features, where they have any.
    pub(crate) columns: Option<Vec<String>>,
}

impl FeatureLayout {
    /// The number of features of a row.
    pub(crate) fn features(&self) -> usize {
        self.shape.iter().product()
    }

    /// The first difference to another layout, if there is one.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        if self.shape != other.shape || self.bytes != other.bytes {
            return Some(format!("its rows are {}, those of the first are {}", other.describe(), self.describe()));
        }
        let (mine, theirs) = (self.columns.as_ref()?, other.columns.as_ref()?);
        let (mine, theirs) = mine.iter().zip(theirs).find(|(mine, theirs)| mine != theirs)?;
        Some(format!("it has the column `{theirs}` where the first has `{mine}`: bring them into the same order"))
    }

    /// The layout in words.
    pub(crate) fn describe(&self) -> String {
        let kind = if self.bytes { "grey or colour values" } else { "numbers" };
        let shape: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        format!("{} {kind}", shape.join("×"))
    }
}

//! What another site needs to import its data in the same way.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::ImportError;
use crate::error::failed;
use crate::layout::FeatureLayout;
use crate::scaling::FeatureScaling;

/// Columns, classes and scaling of an import. It holds no rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ImportRecipe {
    /// The version of this form.
    format: u32,
    /// The sizes of a row.
    shape: Vec<usize>,
    /// Whether features are bytes that stand for 0 to 1.
    bytes: bool,
    /// The names of the features, where they have any.
    columns: Option<Vec<String>>,
    /// The classes in their order.
    pub(crate) classes: Vec<String>,
    /// The scaling with its numbers.
    pub(crate) scaling: FeatureScaling,
}

/// The version of the form that this program writes and reads.
const FORMAT: u32 = 1;

impl ImportRecipe {
    /// The recipe of an import.
    pub(crate) fn new(layout: &FeatureLayout, classes: Vec<String>, scaling: FeatureScaling) -> Self {
        let FeatureLayout { shape, bytes, columns } = layout.clone();
        Self { format: FORMAT, shape, bytes, columns, classes, scaling }
    }

    /// Reads a recipe, which must fit rows of this layout.
    pub(crate) fn read(path: &Path, layout: &FeatureLayout) -> Result<Self, ImportError> {
        let wrong = |problem: String| ImportError::input(path, problem);
        let bytes = fs::read(path).map_err(failed(path))?;
        let recipe: Self = serde_json::from_slice(&bytes)
            .map_err(|error| wrong(format!("it is not the import.json of another import: {error}")))?;
        if recipe.format != FORMAT {
            return Err(wrong(format!("it has format {}, this program reads {FORMAT}", recipe.format)));
        }
        let theirs =
            FeatureLayout { shape: recipe.shape.clone(), bytes: recipe.bytes, columns: recipe.columns.clone() };
        if let Some(difference) = theirs.difference(layout) {
            return Err(wrong(format!("the inputs do not fit it: {difference}")));
        }
        if !recipe.scaling.fits(layout.features()) || recipe.classes.len() < 2 {
            return Err(wrong("its scaling or its classes are incomplete: it is damaged".to_owned()));
        }
        Ok(recipe)
    }

    /// Writes the recipe.
    pub(crate) fn write(&self, path: &Path) -> Result<(), ImportError> {
        let text = serde_json::to_string_pretty(self).map_err(|error| failed(path)(error.into()))?;
        fs::write(path, text + "\n").map_err(failed(path))
    }
}

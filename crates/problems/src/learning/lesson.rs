//! What all learning problems ask for.

use fabnet_core::Scalar;
use fabnet_core::settings::Keys;

use super::data::{Dataset, Deal, Library, Usual};
use super::{Model, Training};

/// Which data there is to learn from, and how it is dealt out.
pub struct Lesson {
    /// The data set.
    pub data: &'static str,
    /// Samples to test with; all there are if none is given.
    pub test: Option<usize>,
    checksum: Option<String>,
    batch: Option<usize>,
    deal: Deal,
}

impl Lesson {
    /// What users can choose: one of these data sets, and how it is dealt out.
    pub fn read(keys: &mut Keys<'_>, sets: &[(&str, &'static str)], usual: Usual, batch: Option<u64>) -> Self {
        let data = keys.choice("data", sets, "the data set; `fabnet data list` says where it is looked for");
        let checksum = keys.text("sha256", "a checksum", "what the data set must hold; noted in plans");
        let deal = Deal::read(keys, usual);
        let about = "samples of a mini-batch, of which a round shows each agent one";
        let batch = match batch {
            Some(usual) => Some(keys.whole("batch", usual, 1.., about)),
            None => keys.optional_whole("batch", 1.., &format!("{about}; all of its samples if not given")),
        };
        let test = keys.optional_whole("test_samples", 1.., "samples to test with; all there are if not given");
        let size = |number: u64| number as usize;
        Self { data, checksum, test: test.map(size), batch: batch.map(size), deal }
    }

    /// Deals out data that has this checksum, to train this model.
    pub fn training<T: Scalar>(
        &self,
        data: &Dataset,
        checksum: &str,
        model: Box<dyn Model<T>>,
        agents: usize,
        seed: u64,
    ) -> Result<Training<T>, String> {
        if let Some(known) = self.checksum.as_ref().filter(|known| *known != checksum) {
            return Err(format!(
                "the data set `{}` in {} has the checksum {checksum}, but this plan was made with {known}: results would differ. \
                 `fabnet data verify` says which file has changed",
                self.data,
                Library::usual().folder().display()
            ));
        }
        Ok(Training {
            model,
            shares: self.deal.shares(data, agents, seed)?,
            test: self.deal.testing(data, self.test.unwrap_or(usize::MAX)),
            classes: data.classes.clone(),
            picture: data.picture,
            batch: self.batch.unwrap_or(usize::MAX),
            seed,
        })
    }
}

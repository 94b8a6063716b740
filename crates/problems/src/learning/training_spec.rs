//! What all learning problems ask for.

use fabnet_core::Scalar;
use fabnet_core::settings::SettingsReader;

use super::data::{DataDefaults, Dataset, Deal, Library, OWN, OwnData, Samples, Share};
use super::{Model, Training};

/// Which data there is to learn from, and how agents come by it.
pub struct TrainingSpec {
    /// The name of the data set.
    pub data: &'static str,
    /// Samples to test with; all there are if none is given.
    pub test: Option<usize>,
    checksum: Option<String>,
    batch: Option<usize>,
    deal: Deal,
    own: OwnData,
}

impl TrainingSpec {
    /// What users can choose: one of these data sets, and how it is partitioned.
    pub fn read(
        keys: &mut SettingsReader<'_>,
        sets: &[(&str, &'static str)],
        defaults: DataDefaults,
        batch: Option<u64>,
    ) -> Self {
        let data = keys.choice("data", sets, "the data set; `fabnet data list` says where it is looked for");
        let examples = ["0", "1"].map(|digit| digit.repeat(64));
        let examples = examples.each_ref().map(String::as_str);
        let checksum = keys.text("sha256", "a checksum", examples, "what the data set must hold; noted in plans");
        let deal = |keys: &mut SettingsReader<'_>| Deal::read(keys, defaults);
        let (deal, own) = if data == OWN {
            (keys.idle("own data is not partitioned: agents bring it as it is", deal), OwnData::read(keys))
        } else if sets.iter().any(|(_, set)| *set == OWN) {
            (deal(keys), keys.idle("the data set says it; only data = \"own\" needs it", OwnData::read))
        } else {
            (deal(keys), OwnData::default())
        };
        let about = "samples of a mini-batch, of which a round shows each agent one";
        let batch = match batch {
            Some(defaults) => Some(keys.whole("batch", defaults, 1.., about)),
            None => keys.optional_whole("batch", 1.., &format!("{about}; all of its samples if not given")),
        };
        let test = keys.optional_whole("test_samples", 1.., "samples to test with; all there are if not given");
        let size = |number: u64| number as usize;
        Self { data, checksum, test: test.map(size), batch: batch.map(size), deal, own }
    }

    /// What is known of data that agents bring themselves, if they do.
    pub(super) fn own(&self) -> Option<OwnData> {
        (self.data == OWN).then_some(self.own)
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
        let shares = self.deal.shares(data, agents, seed)?;
        let test = self.deal.testing(data, self.most_tests());
        Ok(self.with(model, shares, test, data.classes.clone(), seed))
    }

    /// Takes what agents bring themselves, as far as it is here, to train this model.
    pub(super) fn own_training<T: Scalar>(
        &self,
        model: Box<dyn Model<T>>,
        agents: usize,
        seed: u64,
    ) -> Result<Training<T>, String> {
        let own = self.own;
        let share = |agent| Ok(own.share(agent)?.unwrap_or_else(|| Share::elsewhere(own.features)));
        let shares = (0..agents).map(share).collect::<Result<_, String>>()?;
        let classes = (0..own.classes).map(|class| class.to_string()).collect();
        Ok(self.with(model, shares, own.test(self.most_tests())?, classes, seed))
    }

    fn most_tests(&self) -> usize {
        self.test.unwrap_or(usize::MAX)
    }

    fn with<T: Scalar>(
        &self,
        model: Box<dyn Model<T>>,
        shares: Vec<Share<T>>,
        test: Samples<T>,
        classes: Vec<String>,
        seed: u64,
    ) -> Training<T> {
        Training {
            model,
            shares,
            test,
            classes,
            batch: self.batch.unwrap_or(usize::MAX),
            seed,
            brought: self.data == OWN,
        }
    }
}

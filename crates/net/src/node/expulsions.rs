//! The list of expelled members that is in force at a node.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use fabnet_files::Files;

use crate::pki::{ExpulsionList, ExpulsionMistake, MemberKeys};
use crate::run_digest::RunDigest;

/// Takes lists from an operator's file and from other nodes, and keeps the one with the highest
/// number in the state folder, so that it survives restarts.
pub struct Expulsions {
    digest: String,
    /// None in a run without seals, where nothing can be signed.
    keys: Option<Arc<MemberKeys>>,
    /// The file in which an operator brings a list.
    brought: Option<(Arc<dyn Files>, PathBuf)>,
    /// What was last found in that file.
    found: Option<Vec<u8>>,
    /// The file in which the list in force is kept.
    kept: (Arc<dyn Files>, PathBuf),
    list: Option<ExpulsionList>,
}

/// What a new list changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExpulsionNews {
    pub(super) number: u64,
    /// The members that are expelled from now on.
    pub(super) expelled: BTreeSet<String>,
    /// The members that belong to the run again.
    pub(super) readmitted: BTreeSet<String>,
}

impl Expulsions {
    /// The list that the state folder has. One that is damaged or of another run is an error: to go
    /// on without it would admit somebody whom the others have expelled.
    pub fn open(
        digest: &RunDigest,
        keys: Option<Arc<MemberKeys>>,
        brought: Option<(Arc<dyn Files>, PathBuf)>,
        kept: (Arc<dyn Files>, PathBuf),
    ) -> Result<Self, KeptListError> {
        let (digest, (files, path)) = (digest.to_string(), &kept);
        let wrong = |mistake| KeptListError::Mistake(path.clone(), mistake);
        let bytes = files.read_if_there(path).map_err(|error| KeptListError::File(path.clone(), error))?;
        let list = bytes.map(|bytes| {
            let (list, keys) = (read(&bytes)?, keys.as_ref().ok_or(ExpulsionMistake::NoSeals)?);
            keys.check(&list, &digest).map(|()| list)
        });
        let list = list.transpose().map_err(wrong)?;
        Ok(Self { digest, keys, brought, found: None, kept, list })
    }

    /// The names of the members that are expelled.
    pub(super) fn expelled(&self) -> impl Iterator<Item = &str> {
        self.list.iter().flat_map(ExpulsionList::expelled).map(String::as_str)
    }

    /// Whether a member is expelled.
    pub(super) fn has(&self, name: &str) -> bool {
        self.list.as_ref().is_some_and(|list| list.expelled().contains(name))
    }

    /// The list in force, as text for others.
    pub(super) fn text(&self) -> Option<String> {
        self.list.as_ref().map(ExpulsionList::to_string)
    }

    /// Looks whether an operator has brought a list.
    pub(super) fn look(&mut self) -> Option<ExpulsionNews> {
        let (files, path) = self.brought.as_ref()?;
        // It need not be there, and is read again when it is.
        let bytes = files.read(path).ok()?;
        if self.found.as_ref() == Some(&bytes) {
            return None;
        }
        let (path, list) = (path.display().to_string(), read(&bytes));
        self.found = Some(bytes);
        match list.and_then(|list| self.take(list)) {
            Ok(news) => news,
            Err(mistake) => {
                tracing::warn!(path, %mistake, "this list of expelled members does not count");
                None
            }
        }
    }

    /// Takes in the list of another node; none if it has none. Also returns whether that node is
    /// behind.
    pub(super) fn hear(&mut self, text: Option<&str>) -> Result<(Option<ExpulsionNews>, bool), ExpulsionMistake> {
        let Some(text) = text else { return Ok((None, self.list.is_some())) };
        let list = ExpulsionList::read(text)?;
        let is_behind = Some(rank(&list)) < self.list.as_ref().map(rank);
        Ok((self.take(list)?, is_behind))
    }

    /// Puts a list into force, if it counts and is newer than the present one.
    fn take(&mut self, list: ExpulsionList) -> Result<Option<ExpulsionNews>, ExpulsionMistake> {
        let keys = self.keys.as_ref().ok_or(ExpulsionMistake::NoSeals)?;
        if Some(rank(&list)) <= self.list.as_ref().map(rank) {
            return Ok(None);
        }
        keys.check(&list, &self.digest)?;
        let before: BTreeSet<String> = self.expelled().map(str::to_owned).collect();
        let news = ExpulsionNews {
            number: list.number(),
            expelled: list.expelled().difference(&before).cloned().collect(),
            readmitted: before.difference(list.expelled()).cloned().collect(),
        };
        self.list = Some(list);
        Ok(Some(news))
    }

    /// Writes the list in force down.
    pub(super) fn keep(&self) {
        let (files, path) = &self.kept;
        if let Some(list) = &self.list
            && let Err(error) = files.write_whole(path, list.to_string().as_bytes())
        {
            tracing::error!(path = %path.display(), %error, "the list of expelled members was not written");
        }
    }
}

/// Of two lists the one of higher rank counts: the number decides, and between two of one number
/// the names, so that all nodes agree.
fn rank(list: &ExpulsionList) -> (u64, &BTreeSet<String>) {
    (list.number(), list.expelled())
}

fn read(bytes: &[u8]) -> Result<ExpulsionList, ExpulsionMistake> {
    let text = std::str::from_utf8(bytes).map_err(|error| ExpulsionMistake::Form(error.to_string()))?;
    ExpulsionList::read(text)
}

/// The list that the state folder has cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeptListError {
    /// It cannot be read.
    #[error("{0}: {1}")]
    File(PathBuf, std::io::Error),
    /// It is damaged.
    #[error("{0}: {1}. Remove the file: other members show this node the list again")]
    Mistake(PathBuf, ExpulsionMistake),
}

//! The list of members that a run has expelled, signed by its members.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::hex::{Hex, from_hex};

/// The members that are expelled, and who has agreed to that.
///
/// It counts once more than half of the members have signed it. Whoever does not stand in a list
/// with a higher number belongs to the run again.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExpulsionList {
    /// The digest of the run.
    run: String,
    /// The number of the list: one with a higher number takes the place of all before it.
    number: u64,
    /// The names of the members that are expelled.
    expelled: BTreeSet<String>,
    #[serde(default, rename = "signature", skip_serializing_if = "Vec::is_empty")]
    signatures: Vec<ListSignature>,
}

/// The signature of a member, with the certificate that says whose it is: both in hexadecimal
/// digits, the certificate in DER form.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ListSignature {
    certificate: String,
    signature: String,
}

/// Why a list does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpulsionMistake {
    /// It is no list, or damaged.
    #[error("it is not understood: {0}")]
    Form(String),
    /// It is of another run.
    #[error("it is of another run, with the digest {0}")]
    OtherRun(String),
    /// It names somebody who is not a member.
    #[error("`{0}` is not a member of this run")]
    NoMember(String),
    /// Nobody would be left who could agree to it.
    #[error("it would expel half of the members or more")]
    TooMany,
    /// One of its signatures is wrong, or is there twice.
    #[error("signature {0} in it is not of a member of this run, is damaged, or is there twice")]
    Signature(usize),
    /// The members of the run have no keys by which it could be checked.
    #[error("members of this run have no certificates of its own authority: a list cannot be checked")]
    NoSeals,
    /// Too few members have signed it.
    #[error("{signed} of {members} members have signed it: more than half must")]
    TooFew {
        /// The members that have signed it.
        signed: usize,
        /// The members of the run.
        members: usize,
    },
}

impl ExpulsionList {
    /// A list of a run that nobody has signed yet.
    pub fn new(run: String, number: u64, expelled: BTreeSet<String>) -> Self {
        Self { run, number, expelled, signatures: Vec::new() }
    }

    /// Reads a list as it was written.
    pub fn read(text: &str) -> Result<Self, ExpulsionMistake> {
        toml::from_str(text).map_err(|error| ExpulsionMistake::Form(error.message().to_owned()))
    }

    /// The digest of its run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The number of the list.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The names of the members that are expelled.
    pub fn expelled(&self) -> &BTreeSet<String> {
        &self.expelled
    }

    /// What its members sign.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let names = self.expelled.iter().map(|name| format!("{name}\n"));
        format!("fabnet expulsion list\n{}\n{}\n{}", self.run, self.number, names.collect::<String>()).into_bytes()
    }

    /// Adds a signature, of the owner of this certificate in DER form.
    pub(super) fn add_signature(&mut self, certificate: &[u8], signature: &[u8]) {
        let (certificate, signature) = (Hex(certificate).to_string(), Hex(signature).to_string());
        self.signatures.push(ListSignature { certificate, signature });
    }

    /// The certificates and the signatures; none for one that is damaged.
    pub(super) fn signatures(&self) -> impl Iterator<Item = Option<(Vec<u8>, Vec<u8>)>> {
        self.signatures.iter().map(|signed| Some((from_hex(&signed.certificate)?, from_hex(&signed.signature)?)))
    }
}

/// Writes the list as a TOML file.
impl fmt::Display for ExpulsionList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&toml::to_string(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let names = ["b".to_owned(), "c".to_owned()].into();
        let mut list = ExpulsionList::new("c0ffee".into(), 3, names);
        for _ in 0..2 {
            assert_eq!(ExpulsionList::read(&list.to_string()), Ok(list.clone()));
            list.add_signature(&[1, 2], &[3; 64]);
        }
        assert_eq!(list.signatures().next(), Some(Some((vec![1, 2], vec![3; 64]))));
    }

    #[test]
    fn what_is_no_list_is_refused_with_a_reason() {
        for (text, why) in [("", "run"), ("run = 1", "string"), ("run = \"a\"\nnumber = 1\nexpelled = []\nx = 1", "x")]
        {
            let mistake = ExpulsionList::read(text).unwrap_err().to_string();
            assert!(mistake.contains(why), "{mistake}");
        }
    }

    /// Two lists that differ in anything else than their signatures have different bytes.
    #[test]
    fn a_signature_is_of_one_list_only() {
        let list = |run: &str, number, names: &[&str]| {
            ExpulsionList::new(run.into(), number, names.iter().map(|name| (*name).to_owned()).collect()).bytes()
        };
        let all = [
            list("a", 1, &["b"]),
            list("a", 2, &["b"]),
            list("b", 1, &["b"]),
            list("a", 1, &[]),
            list("a", 1, &["b", "c"]),
            list("a", 1, &["bc"]),
        ];
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }
}

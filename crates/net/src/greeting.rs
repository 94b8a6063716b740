//! What nodes say to each other before their peers exchange anything.

use std::fmt;

use crate::hex::{Hex, from_hex};
use crate::refusals::RefusalReason;

/// What a node of a run says of itself to all others: what it runs, and by which certificates its
/// seals are checked.
///
/// It travels as text. The first line is the digest of the run; a line `asks` may follow; each
/// further line is a certificate in hexadecimal digits. After a line `expels` comes the list of
/// expelled members, as its file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Greeting {
    /// The digest of its run, as text.
    pub digest: String,
    /// Whether it lacks certificates of others, which are to greet it.
    pub asks: bool,
    /// Its own certificates, and those of members that cannot greet themselves at present, in DER
    /// form.
    pub certificates: Vec<Vec<u8>>,
    /// The list of expelled members, as text.
    pub expels: Option<String>,
}

impl Greeting {
    /// The longest digest, in bytes.
    const LONGEST_DIGEST: usize = 64;
    /// The longest greeting, in bytes.
    const LONGEST: usize = 256 << 10;
    /// The certificates that a greeting holds at most: they fit into the longest one, with a list
    /// that 50 members have signed.
    pub(crate) const MOST_CERTIFICATES: usize = 100;
    /// The line by which a node asks.
    const ASKS: &str = "asks";
    /// The line after which the list of expelled members begins.
    const EXPELS: &str = "\nexpels\n";

    /// Reads a greeting. It comes before anything is known of its sender, so that everything in it
    /// has its limits.
    pub fn read(bytes: &[u8]) -> Result<Self, RefusalReason> {
        if bytes.len() > Self::LONGEST {
            return Err(RefusalReason::Oversized);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| RefusalReason::Manifest)?;
        let (text, expels) = match text.split_once(Self::EXPELS) {
            Some((text, list)) => (text, Some(list.to_owned())),
            None => (text, None),
        };
        let (digest, rest) = text.split_once('\n').unwrap_or((text, ""));
        if digest.len() > Self::LONGEST_DIGEST {
            return Err(RefusalReason::Oversized);
        }
        if !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(RefusalReason::Manifest);
        }
        let mut greeting = Self { digest: digest.to_owned(), expels, ..Self::default() };
        // Lines that mean nothing here are of a later version; an empty one is no certificate.
        for line in rest.lines() {
            match from_hex(line) {
                _ if line == Self::ASKS => greeting.asks = true,
                Some(certificate)
                    if !certificate.is_empty() && greeting.certificates.len() < Self::MOST_CERTIFICATES =>
                {
                    greeting.certificates.push(certificate);
                }
                _ => {}
            }
        }
        Ok(greeting)
    }
}

impl fmt::Display for Greeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.digest)?;
        if self.asks {
            write!(f, "\n{}", Self::ASKS)?;
        }
        self.certificates.iter().try_for_each(|der| write!(f, "\n{}", Hex(der)))?;
        self.expels.iter().try_for_each(|list| write!(f, "{}{list}", Self::EXPELS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_is_read_as_it_was_written() {
        for asks in [false, true] {
            for certificates in [vec![], vec![vec![1, 2, 255]], vec![vec![0xa5; 1000]; 3]] {
                for expels in [None, Some("number = 1\n".to_owned())] {
                    let (digest, certificates) = ("c0ffee".into(), certificates.clone());
                    let greeting = Greeting { digest, asks, certificates, expels };
                    assert_eq!(Greeting::read(greeting.to_string().as_bytes()), Ok(greeting));
                }
            }
        }
    }

    #[test]
    fn what_is_too_long_or_no_digest_is_refused() {
        for (text, reason) in [
            ("forged\tline", RefusalReason::Manifest),
            ("0 1", RefusalReason::Manifest),
            (&"0".repeat(65), RefusalReason::Oversized),
            (&format!("0\n{}", "0".repeat(Greeting::LONGEST)), RefusalReason::Oversized),
        ] {
            assert_eq!(Greeting::read(text.as_bytes()), Err(reason), "{} bytes", text.len());
        }
        assert_eq!(Greeting::read(&[0xff; 8]), Err(RefusalReason::Manifest));
    }

    #[test]
    fn lines_of_later_versions_are_skipped_and_certificates_are_limited() {
        let read = |text: &str| Greeting::read(text.as_bytes()).unwrap();
        assert_eq!(
            read("c0\nmore\n01\n\nasks"),
            Greeting { digest: "c0".into(), asks: true, certificates: vec![vec![1]], ..Greeting::default() }
        );
        assert_eq!(read(&format!("c0{}", "\n01".repeat(1000))).certificates.len(), Greeting::MOST_CERTIFICATES);
    }
}

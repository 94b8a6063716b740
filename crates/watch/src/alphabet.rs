//! Ages as single letters, so that frames stay small.

/// The letters, from small to large. None of them is escaped in JSON or HTML.
pub(crate) const ALPHABET: &str =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%()*+,-./:;=?@[]^_`{|}~";

/// Ages below this are exact.
const EXACT: u64 = 40;
/// Letters for each doubling, beyond what is exact.
const PER_OCTAVE: f64 = 8.0;

/// The letter of an age in rounds: exact below 40, then eight letters for each octave.
pub(crate) fn age_letter(age: u64) -> char {
    if age < EXACT {
        return letter(age as f64);
    }
    letter(EXACT as f64 + (PER_OCTAVE * (age as f64 / EXACT as f64).log2()).round())
}

fn letter(place: f64) -> char {
    let bytes = ALPHABET.as_bytes();
    bytes[(place as usize).min(bytes.len() - 1)] as char
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_different_and_need_no_escapes() {
        let letters: std::collections::BTreeSet<char> = ALPHABET.chars().collect();
        assert_eq!(letters.len(), ALPHABET.len());
        assert!(!ALPHABET.contains(['"', '\\', '<', '>', '&', '\'']));
    }

    #[test]
    fn ages_grow_with_their_letters() {
        let place = |letter: char| ALPHABET.find(letter).unwrap();
        assert_eq!((0..40).map(|age| place(age_letter(age))).collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
        assert_eq!((place(age_letter(40)), place(age_letter(80)), place(age_letter(u64::MAX))), (40, 48, 87));
    }
}

//! Ages and times as single letters, so that frames stay small.

use std::sync::LazyLock;

/// The letters, from small to large. None of them is escaped in JSON or HTML, and each is one unit
/// of a text in a browser.
pub(crate) const ALPHABET: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%()*+,-./:;=?@[]^_`{|}~\
    αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΦΨΩабвгдежзийклмнопрстуфхцчшщъыьэюя";

static LETTERS: LazyLock<Vec<char>> = LazyLock::new(|| ALPHABET.chars().collect());

/// Ages below this are exact.
const EXACT: u64 = 40;
/// The shortest time that is told from none, in microseconds.
const SHORTEST: f64 = 50.0;
/// Letters for each doubling.
const PER_OCTAVE: f64 = 8.0;

/// The letter of an age in rounds: exact below 40, then eight letters for each octave.
pub(crate) fn age_letter(age: u64) -> char {
    if age < EXACT {
        return letter(age as f64);
    }
    letter(EXACT as f64 + (PER_OCTAVE * (age as f64 / EXACT as f64).log2()).round())
}

/// The letter of a time in microseconds: the first one for less than 50, then eight for each
/// octave.
pub(crate) fn time_letter(microseconds: u32) -> char {
    letter(1.0 + (PER_OCTAVE * (f64::from(microseconds) / SHORTEST).log2()).round())
}

/// The letter at a place; the first one or the last one for places beyond them.
fn letter(place: f64) -> char {
    LETTERS[(place as usize).min(LETTERS.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_different_and_need_no_escapes() {
        let letters: std::collections::BTreeSet<char> = ALPHABET.chars().collect();
        assert_eq!((letters.len(), ALPHABET.encode_utf16().count()), (LETTERS.len(), LETTERS.len()));
        assert!(!ALPHABET.contains(['"', '\\', '<', '>', '&', '\'']));
    }

    #[test]
    fn ages_grow_with_their_letters() {
        let place = |letter: char| LETTERS.iter().position(|other| *other == letter).unwrap();
        assert_eq!((0..40).map(|age| place(age_letter(age))).collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
        assert_eq!(
            (place(age_letter(40)), place(age_letter(80)), place(age_letter(u64::MAX))),
            (40, 48, LETTERS.len() - 1)
        );
    }

    #[test]
    fn times_grow_with_their_letters() {
        let place = |time: u32| LETTERS.iter().position(|other| *other == time_letter(time)).unwrap();
        assert_eq!([0, 49, 50, 100, 50 << 10].map(place), [0, 1, 1, 9, 81]);
        assert!(place(10_000_000) < LETTERS.len() - 1, "ten seconds are told from more");
    }
}

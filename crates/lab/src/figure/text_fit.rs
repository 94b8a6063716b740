//! Fitting texts into a width.

use super::font::text_width;

/// The size at which a text is no wider than this, but not larger than `size`.
pub(super) fn fitting_size(text: &str, size: f64, widest: f64) -> f64 {
    size * (widest / text_width(text, size).max(f64::MIN_POSITIVE)).min(1.0)
}

/// A name that is no wider than this. A longer one loses its middle: methods differ at the start of
/// their names, and the cells of a grid at the end.
pub(super) fn shortened(name: &str, size: f64, widest: f64) -> String {
    let fits = |text: &str| text_width(text, size) <= widest;
    if fits(name) {
        return name.to_owned();
    }
    let characters: Vec<char> = name.chars().collect();
    let keeping = |kept: usize| -> String {
        let (head, tail) = (kept.div_ceil(2), characters.len() - kept / 2);
        characters[..head].iter().chain(&['…']).chain(&characters[tail..]).collect()
    };
    let lengths: Vec<usize> = (0..characters.len()).collect();
    keeping(lengths.partition_point(|&kept| fits(&keeping(kept))).saturating_sub(1))
}

/// A name in lines that are no wider than this, broken between words. A word that is wider loses
/// its middle.
pub(super) fn in_lines(name: &str, size: f64, widest: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= widest => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(shortened(word, size, widest)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_get_smaller_letters() {
        assert_eq!(fitting_size("short", 17.0, 500.0), 17.0);
        let long = "long ".repeat(40);
        let width = text_width(&long, fitting_size(&long, 17.0, 500.0));
        assert!((490.0..510.0).contains(&width), "{width}");
    }

    #[test]
    fn long_names_are_broken_between_words() {
        let lines = in_lines("dl-push-saga noise=1 edge_probability=0.3", 12.0, 150.0);
        assert_eq!(lines, ["dl-push-saga noise=1", "edge_probability=0.3"]);
        assert_eq!(in_lines("dfab", 12.0, 130.0), ["dfab"]);
        assert!(in_lines("dfab", 12.0, 10.0)[0].contains('…'));
    }

    #[test]
    fn long_names_lose_their_middle() {
        let long = format!("first {} last=0.1", "and so on ".repeat(20));
        let short = shortened(&long, 12.0, 200.0);
        assert!(short.starts_with("first and") && short.ends_with(" last=0.1") && short.contains('…'), "{short}");
        let width = text_width(&short, 12.0);
        assert!((180.0..=200.0).contains(&width), "{width}");
        assert_eq!(shortened("dfab", 12.0, 200.0), "dfab");
    }
}

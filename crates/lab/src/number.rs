//! Numbers as people write them.

/// Writes a whole number with a comma before each three digits, such as 39,980.
pub(crate) fn grouped(number: usize) -> String {
    with_commas(&number.to_string())
}

/// Puts a comma before each three digits of the whole part of a decimal number.
pub(crate) fn with_commas(number: &str) -> String {
    let whole = number.split('.').next().unwrap_or(number);
    let mut out = String::new();
    for (place, letter) in number.char_indices() {
        let after = whole.len().saturating_sub(place);
        if after > 0 && after % 3 == 0 && out.ends_with(|letter: char| letter.is_ascii_digit()) {
            out.push(',');
        }
        out.push(letter);
    }
    out
}

/// Writes a count with digits in groups of three, or as a power of ten where there are many.
pub(crate) fn count(number: f64) -> String {
    if number >= 1e10 { format!("{number:.1e}") } else { with_commas(&format!("{number:.0}")) }
}

/// Writes a number of bytes with the largest unit that fits, such as 2.5 GB.
pub(crate) fn bytes(size: f64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    let power = ((size.max(1.0).log10() / 3.0) as u8).min(units.len() as u8 - 1);
    format!("{:.1} {}", size / 1000f64.powi(power.into()), units[usize::from(power)])
}

/// Writes an exponent in raised digits, such as ⁻³.
pub(crate) fn superscript(exponent: i32) -> String {
    let raised = |letter: char| match letter {
        '-' => '⁻',
        digit => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit.to_digit(10).unwrap_or(0) as usize],
    };
    exponent.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_written_as_people_write_them() {
        assert_eq!([0.0, 999.0, 1000.0, 1_234_567.0].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(count(1e12), "1.0e12");
        assert_eq!([512.0, 2.5e9].map(bytes), ["512.0 bytes", "2.5 GB"]);
    }
}

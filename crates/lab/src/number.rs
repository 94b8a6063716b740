//! Numbers as people write them.

/// A whole number with a comma before each three digits: 39,980.
pub(crate) fn grouped(number: usize) -> String {
    with_commas(&number.to_string())
}

/// A decimal number with a comma before each three digits of its whole part.
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

/// An exponent: ⁻³.
pub(crate) fn superscript(exponent: i32) -> String {
    let raised = |letter: char| match letter {
        '-' => '⁻',
        digit => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit.to_digit(10).unwrap_or(0) as usize],
    };
    exponent.to_string().chars().map(raised).collect()
}

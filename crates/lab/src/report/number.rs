//! Numbers as a report shows them.

use crate::number::{superscript, with_commas};

/// Writes whole numbers and those above 1,000 with commas, others with three digits, and infinity
/// as `never`.
pub(crate) fn written(number: f64) -> String {
    let size = number.abs();
    match number {
        number if number.is_infinite() => "never".to_owned(),
        number if size >= 1e9 => {
            let exponent = size.log10().floor() as i32;
            format!("{:.2} × 10{}", number / 10f64.powi(exponent), superscript(exponent))
        }
        number if size >= 1e3 || number == number.trunc() => with_commas(&format!("{number:.0}")),
        number if size >= 1e-3 => {
            let digits = (2.0 - size.log10().floor()).max(0.0) as usize;
            with_commas(&format!("{number:.digits$}"))
        }
        number => format!("{number:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_people_write_them() {
        assert_eq!([0.0, 0.5, 12.345, 1e-5, 999.96].map(written), ["0", "0.500", "12.3", "1.00e-5", "1,000"]);
        assert_eq!([1234.5, 20000.0, 1355.0, -3020.2].map(written), ["1,234", "20,000", "1,355", "-3,020"]);
        assert_eq!([12_345_678.9, 1.234e9, 5e12].map(written), ["12,345,679", "1.23 × 10⁹", "5.00 × 10¹²"]);
    }
}

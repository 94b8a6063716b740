//! Arrays in the format of `NumPy`.

use std::io::{self, Read};

/// The header of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ArrayHeader {
    /// What an element is.
    pub(super) element: Element,
    /// The sizes, rows first.
    pub(super) shape: Vec<usize>,
}

/// The type of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// A signed integer of this many bytes.
    Signed(usize),
    /// An unsigned integer, or a truth value, of this many bytes.
    Unsigned(usize),
    /// A number of four bytes.
    Single,
    /// A number of eight bytes.
    Double,
}

/// The magic bytes at the beginning of an array.
const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The longest header that is read: that of any array of numbers is far shorter.
const LONGEST_HEADER: usize = 1 << 16;

impl ArrayHeader {
    /// Reads the header; what follows are the elements.
    pub(super) fn read(from: &mut impl Read) -> Result<Self, String> {
        let failed = |error: io::Error| format!("its header cannot be read ({error})");
        let mut start = [0; 8];
        from.read_exact(&mut start).map_err(failed)?;
        if &start[..6] != MAGIC {
            return Err("it is not an array of NumPy".to_owned());
        }
        let mut length = [0; 4];
        let bytes = if start[6] == 1 { 2 } else { 4 };
        from.read_exact(&mut length[..bytes]).map_err(failed)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST_HEADER {
            return Err(format!("its header announces {length} bytes: it is damaged"));
        }
        let mut text = vec![0; length];
        from.read_exact(&mut text).map_err(failed)?;
        Self::parse(&String::from_utf8_lossy(&text))
    }

    /// Reads the text of a header, such as `{'descr': '<f4', 'fortran_order': False, 'shape': (2,
    /// 3), }`.
    fn parse(text: &str) -> Result<Self, String> {
        let after = |key: &str| text.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
        let damaged = || format!("its header is damaged: {text}");
        let kind = after("descr").ok_or_else(damaged)?;
        let kind = kind.strip_prefix('\'').and_then(|kind| kind.split_once('\'')).map_or(kind, |(kind, _)| kind);
        let shape = after("shape").and_then(|rest| rest.strip_prefix('(')?.split_once(')')).ok_or_else(damaged)?.0;
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
        let shape: Vec<usize> = sizes.map(str::parse).collect::<Result<_, _>>().map_err(|_| damaged())?;
        if after("fortran_order").is_some_and(|rest| rest.starts_with("True")) && shape.len() > 1 {
            return Err("its columns are stored one after the other: save numpy.ascontiguousarray(…) of it".to_owned());
        }
        Ok(Self { element: Element::parse(kind)?, shape })
    }

    /// The number of elements of a row.
    pub(super) fn row(&self) -> usize {
        self.shape.iter().skip(1).product()
    }
}

impl Element {
    fn parse(kind: &str) -> Result<Self, String> {
        Ok(match kind {
            "|b1" | "|u1" => Self::Unsigned(1),
            "|i1" => Self::Signed(1),
            "<u2" => Self::Unsigned(2),
            "<u4" => Self::Unsigned(4),
            "<u8" => Self::Unsigned(8),
            "<i2" => Self::Signed(2),
            "<i4" => Self::Signed(4),
            "<i8" => Self::Signed(8),
            "<f4" => Self::Single,
            "<f8" => Self::Double,
            other => {
                return Err(format!(
                    "its elements are `{other}`: use numbers (integers, float32 or float64, little-endian)"
                ));
            }
        })
    }

    /// The bytes of an element.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Signed(size) | Self::Unsigned(size) => size,
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    /// The number that the bytes of an element hold; none if `f64` does not hold it.
    pub(super) fn number(self, bytes: &[u8]) -> Option<f64> {
        let number = match self {
            Self::Single => f64::from(f32::from_le_bytes(bytes.try_into().ok()?)),
            Self::Double => f64::from_le_bytes(bytes.try_into().ok()?),
            Self::Signed(_) | Self::Unsigned(_) => {
                let whole = self.whole(bytes)?;
                let number = whole as f64;
                return (number as i128 == whole).then_some(number);
            }
        };
        number.is_finite().then_some(number)
    }

    /// The whole number that the bytes of an element hold; none if it is not one.
    pub(super) fn whole(self, bytes: &[u8]) -> Option<i128> {
        let unsigned = bytes.iter().rev().fold(0_i128, |number, &byte| number << 8 | i128::from(byte));
        match self {
            Self::Unsigned(_) => Some(unsigned),
            Self::Signed(size) => {
                let limit = 1_i128 << (8 * size - 1);
                Some(if unsigned >= limit { unsigned - 2 * limit } else { unsigned })
            }
            Self::Single | Self::Double => {
                let number = self.number(bytes)?;
                (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i128)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_numpy_writes_them() {
        let parse = |text: &str| ArrayHeader::parse(text);
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n";
        assert_eq!(parse(text), Ok(ArrayHeader { element: Element::Single, shape: vec![2, 3] }));
        let text = "{'descr': '|u1', 'fortran_order': True, 'shape': (7,), }";
        assert_eq!(parse(text).map(|header| header.shape), Ok(vec![7]));
        for (text, says) in [
            ("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", "ascontiguousarray"),
            ("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", "little-endian"),
            ("{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }", "`|O`"),
            ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "use numbers"),
            ("{'descr': '<f4', 'shape': (2, x), }", "damaged"),
        ] {
            assert!(parse(text).is_err_and(|error| error.contains(says)), "{text}");
        }
    }

    #[test]
    fn elements_are_numbers_that_lose_nothing() {
        assert_eq!(Element::Signed(2).number(&(-3_i16).to_le_bytes()), Some(-3.0));
        assert_eq!(Element::Unsigned(1).number(&[200]), Some(200.0));
        assert_eq!(Element::Signed(8).number(&((1_i64 << 53) + 1).to_le_bytes()), None);
        assert_eq!(Element::Single.number(&f32::NAN.to_le_bytes()), None);
        assert_eq!(Element::Double.whole(&3.0_f64.to_le_bytes()), Some(3));
        assert_eq!(Element::Double.whole(&3.5_f64.to_le_bytes()), None);
        assert_eq!(Element::Signed(1).whole(&[0xff]), Some(-1));
    }
}

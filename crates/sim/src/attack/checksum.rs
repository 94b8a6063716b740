//! The checksum of simulated disks and of the trace.

/// FNV-1a over bytes, from a starting value: simple, and good enough against simulated damage.
pub(super) fn fnv1a(start: u64, bytes: &[u8]) -> u64 {
    const OFFSET_BASIS: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 0x100_0000_01B3;
    bytes.iter().fold(start ^ OFFSET_BASIS, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_fnv1a() {
        // Test vectors of the authors of the hash (Fowler, Noll, Vo), from the starting value 0.
        assert_eq!(fnv1a(0, b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv1a(0, b"a"), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(fnv1a(0, b"foobar"), 0x8594_4171_F739_67E8);
    }

    #[test]
    fn the_starting_value_matters() {
        assert_ne!(fnv1a(1, b"foobar"), fnv1a(0, b"foobar"));
    }
}

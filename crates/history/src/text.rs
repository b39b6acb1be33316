//! Lines that equal each other but for white space, and the language of a file.

use std::hash::{BuildHasher as _, Hash, Hasher, RandomState};
use std::sync::LazyLock;

use code::language;
pub use ledger::LineText;

pub fn language_of(path: &str) -> Option<&'static str> {
    language::of_file(path, "").map(|language| language.id)
}

/// Returns true for the bytes that git ignores with `-w`.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// A line that equals every other line which differs from it only in white space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loose<'a>(pub &'a [u8]);

impl Loose<'_> {
    fn letters(&self) -> impl Iterator<Item = u8> {
        self.0.iter().copied().filter(|byte| !is_space(*byte))
    }
}

impl PartialEq for Loose<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.letters().eq(other.letters())
    }
}

impl Eq for Loose<'_> {}

impl Hash for Loose<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The factor is random, so nobody can write a file of lines that all have one hash.
        static FACTOR: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0) | 1);
        let factor = *FACTOR;
        let mix =
            |hash: u64, byte: u8| (hash.rotate_left(5) ^ u64::from(byte)).wrapping_mul(factor);
        state.write_u64(self.letters().fold(0, mix));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_makes_no_difference_to_a_loose_line() {
        let is_same = |a: &str, b: &str| Loose(a.as_bytes()) == Loose(b.as_bytes());
        assert!(is_same("\tif (a) {\r\n", "if ( a ){"));
        assert!(!is_same("a b", "a c") && !is_same("ab", "abc"));
    }
}

//! Random numbers that can be repeated: the seed determines all of them.

/// A small generator (splitmix64). The same seed gives the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.draw() % limit as u64) as usize
    }

    /// Returns true once in `many` times.
    pub fn once_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        (!from.is_empty()).then(|| &from[self.below(from.len())])
    }

    /// Returns the same things in another order.
    pub fn shuffled<T>(&mut self, mut things: Vec<T>) -> Vec<T> {
        for at in (1..things.len()).rev() {
            things.swap(at, self.below(at + 1));
        }
        things
    }
}

/// Returns a number from the environment, or else the usual one.
pub fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| {
        value.parse().unwrap_or_else(|_| panic!("{name}={value} is not a number"))
    })
}

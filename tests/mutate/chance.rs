//! Chance that can be had again: a seed says everything that follows from it.

/// A small generator (splitmix64): the same seed, the same draws, on every machine.
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

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.draw() % limit as u64) as usize
    }

    /// True once in `many` times.
    pub fn once_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        (!from.is_empty()).then(|| &from[self.below(from.len())])
    }

    /// The same things in another order.
    pub fn shuffled<T>(&mut self, mut things: Vec<T>) -> Vec<T> {
        for at in (1..things.len()).rev() {
            things.swap(at, self.below(at + 1));
        }
        things
    }
}

/// A number that the environment gives, else the one of every day.
pub fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| {
        value.parse().unwrap_or_else(|_| panic!("{name}={value} is not a number"))
    })
}

//! A small store of parcels.

use std::collections::HashMap;
use std::fmt::{self, Display};

/// How many parcels one shelf holds.
pub const SHELF_SIZE: usize = 12;

static mut COUNTER: u64 = 0;

pub type Weight = u32;

macro_rules! shelf {
    ($($parcel:expr),* $(,)?) => { Shelf { parcels: vec![$($parcel),*] } };
}

#[derive(Clone, Debug, PartialEq)]
pub struct Parcel {
    pub id: u64,
    pub weight: Weight,
}

pub struct Shelf {
    parcels: Vec<Parcel>,
}

#[derive(Debug)]
pub enum Problem {
    Full { size: usize },
    Missing(u64),
}

union Bits {
    whole: u32,
    parts: [u8; 4],
}

pub trait Storage<K> {
    type Item;
    const KIND: &'static str;
    fn put(&mut self, item: Self::Item) -> Result<(), Problem>;
    fn find(&self, key: &K) -> Option<&Self::Item> {
        let _ = key;
        None
    }
}

impl Shelf {
    pub fn new() -> Self {
        Self { parcels: Vec::new() }
    }

    /// The weight of all parcels.
    pub fn weight(&self) -> Weight {
        fn add(a: Weight, b: Weight) -> Weight {
            a + b
        }
        self.parcels.iter().map(|parcel| parcel.weight).fold(0, add)
    }

    pub fn between<'a>(&'a self, low: Weight, high: Weight) -> impl Iterator<Item = &'a Parcel> + 'a {
        self.parcels.iter().filter(move |parcel| (low..=high).contains(&parcel.weight))
    }
}

impl Storage<u64> for Shelf {
    type Item = Parcel;
    const KIND: &'static str = "shelf";

    fn put(&mut self, item: Parcel) -> Result<(), Problem> {
        if self.parcels.len() >= SHELF_SIZE {
            return Err(Problem::Full { size: SHELF_SIZE });
        }
        self.parcels.push(item);
        Ok(())
    }
}

impl From<Vec<Parcel>> for Shelf {
    fn from(parcels: Vec<Parcel>) -> Self {
        Self { parcels }
    }
}

impl<T> From<HashMap<u64, T>> for Problem
where
    T: Display,
{
    fn from(map: HashMap<u64, T>) -> Self {
        Self::Missing(map.keys().copied().max().unwrap_or(0))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { size } => write!(f, "full at {size}"),
            Self::Missing(id) => write!(f, "no parcel {id}"),
        }
    }
}

pub mod labels {
    //! Labels for parcels.

    pub fn label(id: u64, (left, right): (char, char), each: &mut dyn FnMut(&str)) -> String {
        each("label");
        format!("{left}{id}{right}")
    }

    mod inner {
        pub struct Ink;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_shelf_weighs_nothing() {
        assert_eq!(Shelf::new().weight(), 0);
    }
}

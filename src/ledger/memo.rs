//! Answers that are kept for as long as the ledger is, so that they can be handed out by reference.

use std::sync::OnceLock;

/// Fixed, so that nothing ever moves.
const BUCKETS: usize = 4096;

/// Values by key; what is in stays in.
#[derive(Debug)]
pub(super) struct Memo<V> {
    buckets: OnceLock<Vec<Place<V>>>,
}

type Place<V> = OnceLock<Box<Node<V>>>;

#[derive(Debug)]
struct Node<V> {
    key: (u8, u64),
    value: V,
    next: Place<V>,
}

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Self { buckets: OnceLock::new() }
    }
}

impl<V> Memo<V> {
    /// The value of a key, where it has one.
    pub fn get(&self, key: (u8, u64)) -> Option<&V> {
        let mut place = &self.buckets.get()?[bucket(key)];
        loop {
            let node = place.get()?;
            if node.key == key {
                return Some(&node.value);
            }
            place = &node.next;
        }
    }

    /// Keeps a value; the one that was there before, where there was one.
    pub fn put(&self, key: (u8, u64), value: V) -> &V {
        let buckets = self.buckets.get_or_init(|| (0..BUCKETS).map(|_| Place::new()).collect());
        let mut place = &buckets[bucket(key)];
        let mut value = Some(value);
        loop {
            let node = place.get_or_init(|| {
                let value = value.take().expect("a value is put into the first free place");
                Box::new(Node { key, value, next: Place::new() })
            });
            if node.key == key {
                return &node.value;
            }
            place = &node.next;
        }
    }
}

fn bucket((kind, key): (u8, u64)) -> usize {
    (key as usize ^ usize::from(kind)) % BUCKETS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_stays_in() {
        let memo = Memo::default();
        assert_eq!(memo.get((0, 1)), None);
        for key in 0..3 * BUCKETS as u64 {
            assert_eq!(*memo.put((0, key), key), key);
            assert_eq!(*memo.put((0, key), key + 1), key);
        }
        memo.put((1, 5), 99);
        assert_eq!(memo.get((0, 5)), Some(&5));
        assert_eq!(memo.get((1, 5)), Some(&99));
        assert_eq!(memo.get((2, 5)), None);
    }
}

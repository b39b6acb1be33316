//! A JSON check that rejects objects with a repeated key. `serde_json` accepts them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Returns true if the text is JSON and no object in it has the same key twice.
pub(super) fn has_unique_keys(json: &[u8]) -> bool {
    serde_json::from_slice::<Unique>(json).is_ok()
}

/// Any JSON value. The value itself is not kept.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E: Error>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }
    fn visit_i64<E: Error>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }
    fn visit_u64<E: Error>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }
    fn visit_str<E: Error>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }
    fn visit_unit<E: Error>(self) -> Result<Unique, E> {
        Ok(Unique)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        while items.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Unique, A::Error> {
        let mut seen = SeenKeys::default();
        while let Some(BorrowedKey(key)) = members.next_key()? {
            if !seen.insert(key) {
                return Err(A::Error::custom("the same key twice"));
            }
            members.next_value::<Unique>()?;
        }
        Ok(Unique)
    }
}

/// The keys of one object. Our own objects have few keys, for which a linear search is fastest. The
/// set keeps a hostile object with very many keys from being slow.
#[derive(Default)]
struct SeenKeys<'de> {
    few: Vec<Cow<'de, str>>,
    many: HashSet<Cow<'de, str>>,
}

impl<'de> SeenKeys<'de> {
    const FEW: usize = 24;

    /// Returns true if the key is new.
    fn insert(&mut self, key: Cow<'de, str>) -> bool {
        if self.few.contains(&key) {
            return false;
        }
        if self.few.len() < Self::FEW {
            self.few.push(key);
            return true;
        }
        self.many.insert(key)
    }
}

/// A key, borrowed from the input if it contains no escapes.
#[derive(Deserialize)]
struct BorrowedKey<'k>(#[serde(borrow)] Cow<'k, str>);

#[cfg(test)]
mod tests {
    use super::has_unique_keys;

    #[test]
    fn a_repeated_key_is_refused_at_every_depth() {
        for good in [r#"{"a":1,"b":{"a":[{"a":null},{"a":true}]}}"#, r#"[-1,1.5,"x"]"#, "{}"] {
            assert!(has_unique_keys(good.as_bytes()), "{good}");
        }
        let many: Vec<String> = (0..100).map(|n| format!("\"k{n}\":0")).collect();
        assert!(has_unique_keys(format!("{{{}}}", many.join(",")).as_bytes()));
        assert!(!has_unique_keys(format!("{{{},\"k99\":0}}", many.join(",")).as_bytes()));
        assert!(!has_unique_keys(format!("{{{},\"k1\":0}}", many.join(",")).as_bytes()));
        for bad in [
            r#"{"a":1,"a":1}"#,
            r#"{"b":[{"a":1,"a":2}]}"#,
            "{\"a\":1,\"\\u0061\":2}",
            r#"{"a":1"#,
            r#"{} {}"#,
        ] {
            assert!(!has_unique_keys(bad.as_bytes()), "{bad}");
        }
    }
}

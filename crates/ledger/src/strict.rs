//! A JSON check that rejects objects with a repeated key. `serde_json` accepts them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

pub(super) fn has_unique_keys(json: &[u8]) -> bool {
    serde_json::from_slice::<UniqueKeys>(json).is_ok()
}

struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeysVisitor)
    }
}

struct UniqueKeysVisitor;

impl<'de> Visitor<'de> for UniqueKeysVisitor {
    type Value = UniqueKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E: Error>(self, _: bool) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }
    fn visit_i64<E: Error>(self, _: i64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }
    fn visit_u64<E: Error>(self, _: u64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }
    fn visit_str<E: Error>(self, _: &str) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }
    fn visit_unit<E: Error>(self) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<UniqueKeys, A::Error> {
        while items.next_element::<UniqueKeys>()?.is_some() {}
        Ok(UniqueKeys)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<UniqueKeys, A::Error> {
        // A tree, because a linear search would be slow for a hostile object with very many keys.
        let mut seen = BTreeSet::new();
        while let Some(BorrowedKey(key)) = members.next_key()? {
            if !seen.insert(key) {
                return Err(A::Error::custom("the same key twice"));
            }
            members.next_value::<UniqueKeys>()?;
        }
        Ok(UniqueKeys)
    }
}

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

//! Stores a parsed registry in the cache, so that an unchanged file need not be parsed again.
//!
//! The cache holds only what every question needs: the intents, the selection and the text. How the
//! text is written (its nodes, and deviations from the canonical form) is parsed again when
//! somebody edits or lints.

use serde::{Deserialize, Serialize};

use super::Intent;

/// What the cache holds of a registry.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptRegistry {
    pub(super) text: String,
    pub(super) intents: Vec<Intent>,
}

impl KeptRegistry {
    /// Encodes a registry. Returns `None` if it would not be decoded to the same content.
    pub(super) fn encoded(&self) -> Option<Vec<u8>> {
        let bytes = postcard::to_stdvec(self).ok()?;
        (Self::read(&bytes)? == *self).then_some(bytes)
    }

    /// Decodes a registry. Returns `None` if the bytes are damaged, or if a span is not a valid
    /// range of the text.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut kept: Self = postcard::from_bytes(bytes).ok()?;
        let mut spans = kept.intents.iter_mut().flat_map(Intent::spans);
        let all_fit = spans.all(|span| kept.text.get(span.clone()).is_some());
        drop(spans);
        all_fit.then_some(kept)
    }
}

/// Encodes the unknown fields of an intent as JSON text. They may have any shape, which the compact
/// format cannot represent.
pub(super) mod as_json {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::{Map, Value};

    pub(in super::super) fn serialize<S: Serializer>(
        extra: &Map<String, Value>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let text = match extra.is_empty() {
            true => String::new(),
            false => serde_json::to_string(extra).map_err(S::Error::custom)?,
        };
        text.serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Map<String, Value>, D::Error> {
        let text = <&str>::deserialize(deserializer)?;
        match text.is_empty() {
            true => Ok(Map::new()),
            false => serde_json::from_str(text).map_err(D::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{IntentFile, Registry, lint};
    use super::*;
    use ground::RelativePath;

    const PLACE: &str = ".orchestration/active_intents.yaml";
    const RICH: &str = "\u{feff}intents:\r\n  - id: INT-1 # one\r\n    title: 'Ünïcode'\r\n    status: done\r\n    owned_scope: [a/**, '!b']\r\n    formerly: [OLD-1, INT-2]\r\n    budget: {days: 3, of: [1.5, null, \"x\"]}\r\n    owner: \"@ada\"\r\n  - id: INT-2\r\n";

    fn parsed(text: &str) -> IntentFile {
        IntentFile::parse(RelativePath::new(PLACE).unwrap(), text)
    }

    fn cached_bytes(file: &IntentFile) -> Vec<u8> {
        file.kept_registry().encoded().unwrap()
    }

    /// Returns everything that can be asked about a registry, as text.
    fn all_of(file: IntentFile) -> String {
        let registry = Registry::from_files(vec![file]);
        let file = &registry.files()[0];
        let scopes: Vec<_> = (0..file.len())
            .map(|index| (file.scope_at(index).errors(), file.written(index)))
            .collect();
        format!(
            "{:?} {:?} {:?} {:?} {scopes:?} {:?}",
            registry.path(),
            registry.exists(),
            registry.text(),
            registry.intents(),
            lint::registry(&registry),
        )
    }

    #[test]
    fn a_cached_registry_equals_the_one_that_was_read() {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/registries");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let texts = files.filter_map(|file| std::fs::read_to_string(file).ok());
        let mut recalled = 0;
        for text in texts.chain([RICH.to_owned(), String::new()]) {
            let before = parsed(&text);
            if before.syntax_error().is_some() {
                continue;
            }
            let after = IntentFile::recalled(before.path(), &cached_bytes(&before)).unwrap();
            for intent in before.intents() {
                let former = intent.formerly.iter().map(|id| &id.value);
                for id in former.chain([&intent.id.value]) {
                    assert_eq!(after.positions(id), before.positions(id));
                    assert_eq!(after.formerly(id), before.formerly(id));
                }
            }
            assert_eq!(all_of(after), all_of(before));
            recalled += 1;
        }
        assert!(recalled > 20, "{recalled}");
    }

    #[test]
    fn a_span_outside_the_text_is_refused() {
        let bends: [fn(&mut Intent); 5] = [
            |intent| intent.span.end = 10_000,
            |intent| intent.id.span.end = 0,
            |intent| intent.owned_scope[1].span.start = usize::MAX,
            // Inside the byte order mark, so not at the start of a character.
            |intent| intent.name.span = 1..20,
            |intent| intent.formerly[0].span.end = 10_000,
        ];
        for bend in bends {
            let mut kept = parsed(RICH).kept_registry();
            bend(&mut kept.intents[0]);
            assert_eq!(KeptRegistry::read(&postcard::to_stdvec(&kept).unwrap()), None);
        }
    }

    proptest! {
        #[test]
        fn bytes_of_any_kind_are_read_or_refused(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = KeptRegistry::read(&noise);
        }

        #[test]
        fn changed_bytes_are_read_or_refused(at in any::<prop::sample::Index>(), bits in 1_u8..) {
            let mut bytes = cached_bytes(&parsed(RICH));
            let at = at.index(bytes.len());
            bytes[at] ^= bits;
            if let Some(file) = IntentFile::recalled(&RelativePath::new(PLACE).unwrap(), &bytes) {
                all_of(file);
            }
        }
    }
}

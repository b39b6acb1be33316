//! Stores a parsed registry in the cache, so that an unchanged file need not be parsed again.
//!
//! The cache holds only what every question needs: the intents, the selection and the text. How the
//! text is written (its nodes, and deviations from the canonical form) is parsed again when
//! somebody edits or lints.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Intent;
use super::dialect::empty_intent;

/// A parsed registry as bytes: a header, each intent separately, and the text.
///
/// An intent is decoded only when it is needed, because the gate needs one of perhaps a thousand.
#[derive(Debug)]
pub(super) struct KeptRegistry {
    pub(super) bytes: Vec<u8>,
    head: RegistryHead,
    body: usize,
    text: usize,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct RegistryHead {
    selected: Option<String>,
    index: Vec<KeptIntent>,
}

/// What the header says about an intent, so that it can be found without decoding it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct KeptIntent {
    id: String,
    formerly: Vec<String>,
    /// The end of the intent, in bytes from the start of the first one.
    end: usize,
}

impl KeptIntent {
    fn from_intent(intent: &Intent, end: usize) -> Self {
        let formerly = intent.formerly.iter().map(|id| id.value.clone()).collect();
        Self { id: intent.id.value.clone(), formerly, end }
    }

    fn is_of(&self, intent: &Intent) -> bool {
        self.id == intent.id.value
            && self.formerly.iter().eq(intent.formerly.iter().map(|id| &id.value))
    }
}

impl KeptRegistry {
    /// Encodes a registry. Returns `None` if it would not be decoded to the same content.
    pub(super) fn encoded(text: &str, selected: Option<&str>, intents: &[Intent]) -> Option<Self> {
        let mut body = Vec::new();
        let mut index = Vec::with_capacity(intents.len());
        for intent in intents {
            body.extend(postcard::to_stdvec(intent).ok()?);
            index.push(KeptIntent::from_intent(intent, body.len()));
        }
        let head = RegistryHead { selected: selected.map(str::to_owned), index };
        let mut bytes = postcard::to_stdvec(&head).ok()?;
        bytes.append(&mut body);
        bytes.extend_from_slice(text.as_bytes());
        let kept = Self::read(bytes)?;
        let same = kept.head == head
            && kept.text() == text
            && intents.iter().enumerate().all(|(at, intent)| kept.intent(at) == *intent);
        same.then_some(kept)
    }

    /// Decodes the header. The bytes may be damaged; then the result is `None`, or single intents
    /// decode as empty ones.
    pub(super) fn read(bytes: Vec<u8>) -> Option<Self> {
        let (head, rest): (RegistryHead, _) = postcard::take_from_bytes(&bytes).ok()?;
        let ends: Vec<usize> = head.index.iter().map(|line| line.end).collect();
        let last = ends.last().copied().unwrap_or(0);
        if !ends.is_sorted() || last > rest.len() {
            return None;
        }
        let body = bytes.len() - rest.len();
        Some(Self { head, body, text: body + last, bytes })
    }

    /// Returns the text of the registry, or an empty text if the bytes are not UTF-8.
    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes[self.text..]).unwrap_or_default()
    }

    pub(super) fn selected(&self) -> Option<&str> {
        self.head.selected.as_deref()
    }

    pub(super) fn len(&self) -> usize {
        self.head.index.len()
    }

    pub(super) fn positions(&self, id: &str) -> Vec<usize> {
        self.indices(|line| line.id == id)
    }

    pub(super) fn formerly(&self, id: &str) -> Vec<usize> {
        self.indices(|line| line.formerly.iter().any(|former| former == id))
    }

    fn indices(&self, wanted: impl Fn(&KeptIntent) -> bool) -> Vec<usize> {
        let all = self.head.index.iter().enumerate();
        all.filter(|(_, line)| wanted(line)).map(|(index, _)| index).collect()
    }

    /// Returns the intent at an index. If it cannot be decoded, returns an empty intent without a
    /// status, under which nothing is allowed.
    pub(super) fn intent(&self, index: usize) -> Intent {
        self.readable(index).unwrap_or_else(|| empty_intent(0..0))
    }

    /// Decodes an intent. Returns `None` if it differs from the header, or if one of its spans is
    /// not a valid range of the text.
    fn readable(&self, index: usize) -> Option<Intent> {
        let line = self.head.index.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.head.index[before].end);
        let bytes = &self.bytes[self.body + start..self.body + line.end];
        let (mut intent, rest): (Intent, _) = postcard::take_from_bytes(bytes).ok()?;
        // Whether a byte starts a character can be checked without decoding the text.
        let text = &self.bytes[self.text..];
        let begins = |at: usize| text.get(at).map_or(at == text.len(), |byte| byte & 0xC0 != 0x80);
        let fits = |span: &mut Range<usize>| {
            span.start <= span.end && begins(span.start) && begins(span.end)
        };
        let whole = rest.is_empty() && line.is_of(&intent) && intent.spans().all(fits);
        whole.then_some(intent)
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
        let selected = file.selected_in_file();
        KeptRegistry::encoded(file.text(), selected, file.intents()).unwrap().bytes
    }

    /// Returns everything that can be asked about a registry, as text.
    fn all_of(file: IntentFile) -> String {
        let registry = Registry::from_files(vec![file]);
        let file = &registry.files()[0];
        let scopes: Vec<_> = (0..file.len())
            .map(|index| (file.scope_at(index).errors(), file.written(index)))
            .collect();
        format!(
            "{:?} {:?} {:?} {:?} {scopes:?} {:?} {:?}",
            registry.path(),
            registry.exists(),
            registry.text(),
            registry.intents(),
            registry.list().selected_in_file(),
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
            let after = IntentFile::recalled(before.path(), cached_bytes(&before)).unwrap();
            // First the intents one by one, then all together.
            for intent in before.intents() {
                let former = intent.formerly.iter().map(|id| &id.value);
                for id in former.chain([&intent.id.value]) {
                    let found = after.positions(id);
                    assert_eq!(found, before.positions(id));
                    found.iter().for_each(|at| {
                        assert_eq!(after.intent_of_index(*at), before.intent_of_index(*at))
                    });
                    assert_eq!(after.formerly(id), before.formerly(id));
                }
            }
            assert_eq!(all_of(after), all_of(before));
            recalled += 1;
        }
        assert!(recalled > 20, "{recalled}");
    }

    #[test]
    fn an_invalid_cached_intent_allows_nothing() {
        let registry = parsed(RICH);
        let bent = |bend: fn(&mut Intent)| {
            let mut bent = registry.intents()[0].clone();
            bend(&mut bent);
            let body = postcard::to_stdvec(&bent).unwrap();
            let index = vec![KeptIntent::from_intent(&registry.intents()[0], body.len())];
            let mut bytes = postcard::to_stdvec(&RegistryHead { selected: None, index }).unwrap();
            bytes.extend(body);
            bytes.extend(registry.text().as_bytes());
            KeptRegistry::read(bytes).unwrap().intent(0)
        };
        assert_eq!(bent(|_| {}), registry.intents()[0]);
        let bends: [fn(&mut Intent); 7] = [
            |intent| intent.span.end = 10_000,
            |intent| intent.id.span.end = 0,
            |intent| intent.owned_scope[1].span.start = usize::MAX,
            // Inside the byte order mark, so not at the start of a character.
            |intent| intent.name.span = 1..20,
            |intent| intent.id.value = "INT-2".to_owned(),
            |intent| intent.formerly.clear(),
            |intent| intent.formerly[0].span.end = 10_000,
        ];
        for bend in bends {
            assert_eq!(bent(bend), empty_intent(0..0));
        }
        assert!(!empty_intent(0..0).in_progress());
    }

    proptest! {
        #[test]
        fn bytes_of_any_kind_are_read_or_refused(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = KeptRegistry::read(noise).map(|kept| (0..kept.len()).map(|at| kept.intent(at)).collect::<Vec<_>>());
        }

        #[test]
        fn changed_bytes_are_read_or_refused(at in any::<prop::sample::Index>(), bits in 1_u8..) {
            let mut bytes = cached_bytes(&parsed(RICH));
            let at = at.index(bytes.len());
            bytes[at] ^= bits;
            if let Some(file) = IntentFile::recalled(&RelativePath::new(PLACE).unwrap(), bytes) {
                all_of(file);
            }
        }
    }
}

//! Reads JSON as hosts write it. Some hosts leave control characters unescaped. A payload that is
//! too long or cut off is read as far as possible.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JsonReading {
    /// A complete object, with nothing after it.
    Whole(Value),
    /// An object that ends too early or has a syntax error; only these members are complete. They
    /// are enough to recognise a read, but never to judge a write.
    Partial(Map<String, Value>),
    /// An object that names this field twice, complete or not. The host might use one of the
    /// values, and this program the other, so the field is null wherever it stands twice.
    Twice(Map<String, Value>, String),
    Nothing,
}

/// Reads a payload. Of one that is cut off or has a syntax error, returns the members before the
/// error.
pub(crate) fn read(bytes: &[u8]) -> JsonReading {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    // Invalid UTF-8 is replaced. A path with a replacement character is a different path, so such a
    // payload is never complete.
    let text = String::from_utf8_lossy(bytes);
    if !text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('{') {
        return JsonReading::Nothing;
    }
    let object = PayloadObject::from_text(&text);
    match object.twice {
        Some(name) => JsonReading::Twice(object.members, name),
        None if object.complete && matches!(text, Cow::Borrowed(_)) => {
            JsonReading::Whole(Value::Object(object.members))
        }
        None => JsonReading::Partial(object.members),
    }
}

/// Reads strict JSON. Returns `None` for anything else, or if an object names a field twice.
pub(crate) fn distinct(text: &str) -> Option<Value> {
    let mut twice = None;
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Distinct { twice: &mut twice }.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(value).filter(|_| twice.is_none())
}

#[derive(Default)]
struct PayloadObject {
    members: Map<String, Value>,
    /// The first name that occurs twice, in the object or deeper.
    twice: Option<String>,
    /// True if the object ends correctly, and nothing follows it.
    complete: bool,
}

impl PayloadObject {
    /// Reads the members. If the text is not valid JSON, escapes the control characters in strings,
    /// leaves out a last word that may be cut off, and reads again.
    fn from_text(text: &str) -> Self {
        let (object, error) = Self::strictly(text);
        let Some(error) = error else { return object };
        if error.is_eof() { Self::of_cut(text) } else { Self::of_cut(&with_escaped_controls(text)) }
    }

    /// Reads a text that may end too early. A number or another bare word at its end may be cut
    /// off, so it does not count.
    fn of_cut(text: &str) -> Self {
        let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        // No bare word contains other characters than these.
        let end = text.bytes().rposition(|byte| !is_bare(byte)).map_or(0, |at| at + 1);
        let kept = &text[..end];
        let (mut object, _) = Self::strictly(kept);
        object.complete &= kept.len() == text.len();
        object
    }

    fn strictly(text: &str) -> (Self, Option<serde_json::Error>) {
        let mut object = Self::default();
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = reader.deserialize_map(&mut object).and_then(|()| reader.end());
        object.complete = read.is_ok();
        (object, read.err())
    }
}

impl<'de> Visitor<'de> for &mut PayloadObject {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<(), A::Error> {
        Distinct { twice: &mut self.twice }.add_members(members, &mut self.members)
    }
}

/// Writes the control characters inside strings as escapes. A strict reader refuses them otherwise.
fn with_escaped_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in text.chars() {
        if in_string && !escaped && c < ' ' {
            write!(out, "\\u{:04x}", u32::from(c)).expect("a String takes any text");
            continue;
        }
        in_string ^= c == '"' && !escaped;
        escaped = in_string && c == '\\' && !escaped;
        out.push(c);
    }
    out
}

/// Builds a value, and notes the first name that occurs twice in one object.
struct Distinct<'a> {
    twice: &'a mut Option<String>,
}

impl Distinct<'_> {
    /// Adds the members of an object to `all`. If one of them cannot be read, `all` has those
    /// before it.
    fn add_members<'de, A: MapAccess<'de>>(
        self,
        mut members: A,
        all: &mut Map<String, Value>,
    ) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            // The name is noted before its value is read, because the text may end in the middle of
            // the value.
            if all.contains_key(&name) {
                all.insert(name.clone(), Value::Null);
                self.twice.get_or_insert(name);
                members.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = members.next_value_seed(Distinct { twice: &mut *self.twice })?;
            all.insert(name, value);
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Distinct<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Distinct<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(Distinct { twice: &mut *self.twice })? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        self.add_members(members, &mut all)?;
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn partial(text: &str) -> Value {
        match read(text.as_bytes()) {
            JsonReading::Partial(members) => Value::Object(members),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_repeated_field_is_noticed_and_has_no_value() {
        for (text, left) in [
            (r#"{"a": 1, "a": 2, "a": 3}"#, json!({"a": null})),
            (r#"{"b": [{"a": 1, "a": 1}]}"#, json!({"b": [{"a": null}]})),
            (r#"{"a": 1, "b": 2, "a": 3, "b": 4}"#, json!({"a": null, "b": null})),
            // The unescaped control character makes the strict reader fail, so this is read
            // leniently.
            ("{\"a\": \"\t\", \"a\": 2, \"b\": 3}", json!({"a": null, "b": 3})),
            // These two are cut off, the second in the middle of the repeated value.
            (r#"{"a": 1, "a": 2, "b": 3, "c"#, json!({"a": null, "b": 3})),
            (r#"{"b": 3, "a": 1, "a": "x"#, json!({"a": null, "b": 3})),
        ] {
            let JsonReading::Twice(members, name) = read(text.as_bytes()) else { panic!("{text}") };
            assert_eq!((name.as_str(), Value::Object(members)), ("a", left), "{text}");
        }
    }

    #[test]
    fn raw_control_characters_are_read() {
        let text = "{\"a\": \"one\ntwo\tthree\u{1}\", \"b\": [1, -2.5e3, true, null, {}], \"c\": \"\\u00e9\\ud83d\\ude00\\\"\"}";
        let expected =
            json!({"a": "one\ntwo\tthree\u{1}", "b": [1, -2.5e3, true, null, {}], "c": "é😀\""});
        assert_eq!(read(text.as_bytes()), JsonReading::Whole(expected));
    }

    #[test]
    fn a_truncated_object_keeps_only_its_complete_members() {
        assert_eq!(partial("{\"a\": 1, \"b\": {\"c\": 2"), json!({"a": 1}));
        assert_eq!(partial("{\"a\": {\"c\": 2}, \"b\": \"xy"), json!({"a": {"c": 2}}));
        assert_eq!(partial("{\"a\": 12"), json!({}), "it may go on");
        assert_eq!(partial("{\"a\": 12} junk"), json!({"a": 12}));
        assert_eq!(partial("{\"a\": \"\\ud800\"}"), json!({}), "half a character");
    }

    #[test]
    fn a_value_that_is_no_object_is_empty() {
        for text in ["", " \n", "[]", "7", "\"x\"", "null", "hello", "\u{0}"] {
            assert_eq!(read(text.as_bytes()), JsonReading::Nothing, "{text:?}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_never_complete() {
        assert!(matches!(read(b"{\"path\": \"a\xff\"}"), JsonReading::Partial(_)));
    }

    #[test]
    fn deep_nesting_does_not_crash() {
        let deep = format!("{{\"a\": {}", "[".repeat(200_000));
        assert_eq!(partial(&deep), json!({}));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            read(&bytes);
        }

        #[test]
        fn lenient_and_strict_agree(text in "[\\{\\}\\[\\]\",:a-c0-9\\\\nu \n\t.-]{0,40}") {
            let text = format!("{{\"k\":{text}}}");
            if let Ok(Value::Object(strict)) = serde_json::from_str(&text) {
                let object = PayloadObject::of_cut(&with_escaped_controls(&text));
                prop_assert!(object.complete);
                prop_assert_eq!(object.members, strict);
            }
        }
    }
}

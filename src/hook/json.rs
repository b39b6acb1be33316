//! Reads JSON as hosts write it. Some hosts leave control characters unescaped. A payload that is
//! too long or cut off is read as far as possible.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The result of reading a payload.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JsonReading {
    /// A complete object, with nothing after it.
    Whole(Value),
    /// An object that ends too early or has a syntax error; only these members are complete. They
    /// are enough to recognise a read, but never to judge a write.
    Partial(Map<String, Value>),
    /// An object that names this field twice. The host might use one of the values, and this
    /// program the other.
    Twice(Map<String, Value>, String),
    /// No JSON object was found.
    Nothing,
}

/// The maximum nesting, in levels, of JSON that is read leniently. A host writes nothing deeper.
const MAX_DEPTH: usize = 100;

/// Reads a payload: strictly if possible, else leniently.
pub(crate) fn read(bytes: &[u8]) -> JsonReading {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match distinct(bytes) {
        Ok(value @ Value::Object(_)) => JsonReading::Whole(value),
        Ok(_) => JsonReading::Nothing,
        Err(None) => leniently(bytes),
        Err(Some(name)) => match serde_json::from_slice(bytes) {
            Ok(Value::Object(members)) => JsonReading::Twice(members, name),
            _ => JsonReading::Nothing,
        },
    }
}

/// Reads strict JSON in which no object names a field twice. The error is the name of such a field,
/// or `None` for any other error.
pub(crate) fn distinct(bytes: &[u8]) -> Result<Value, Option<String>> {
    let mut twice = None;
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Distinct { twice: &mut twice }.deserialize(&mut reader);
    let value = value.and_then(|value| reader.end().map(|()| value)).map_err(|_| None)?;
    match twice {
        Some(name) => Err(Some(name)),
        None => Ok(value),
    }
}

/// Builds a value, and notes the first name that occurs twice in one object.
struct Distinct<'a> {
    twice: &'a mut Option<String>,
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

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(Distinct { twice: &mut *self.twice })? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(Distinct { twice: &mut *self.twice })?;
            if all.insert(name.clone(), value).is_some() {
                self.twice.get_or_insert(name);
            }
        }
        Ok(Value::Object(all))
    }
}

fn leniently(bytes: &[u8]) -> JsonReading {
    // Invalid UTF-8 is replaced. A path with a replacement character is a different path, so such a
    // payload is never complete.
    let text = String::from_utf8_lossy(bytes);
    let mut reader = JsonReader { rest: &text, depth: 0 };
    reader.blanks();
    let Some(rest) = reader.rest.strip_prefix('{') else { return JsonReading::Nothing };
    reader.rest = rest;
    let (members, ended) = reader.members();
    reader.blanks();
    let whole = ended && reader.rest.is_empty() && std::str::from_utf8(bytes).is_ok();
    if whole { JsonReading::Whole(Value::Object(members)) } else { JsonReading::Partial(members) }
}

struct JsonReader<'a> {
    rest: &'a str,
    depth: usize,
}

impl JsonReader<'_> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    fn take(&mut self, token: &str) -> Option<()> {
        self.blanks();
        self.rest = self.rest.strip_prefix(token)?;
        Some(())
    }

    /// Reads the members of an object after its opening brace, up to the first incomplete one. Also
    /// returns whether the object ended correctly.
    fn members(&mut self) -> (Map<String, Value>, bool) {
        let mut members = Map::new();
        if self.take("}").is_some() {
            return (members, true);
        }
        loop {
            let Some((name, value)) = self.member() else { return (members, false) };
            if members.insert(name, value).is_some() {
                return (members, false);
            }
            if self.take("}").is_some() {
                return (members, true);
            }
            if self.take(",").is_none() {
                return (members, false);
            }
        }
    }

    fn member(&mut self) -> Option<(String, Value)> {
        self.take("\"")?;
        let name = self.string()?;
        self.take(":")?;
        Some((name, self.value()?))
    }

    fn value(&mut self) -> Option<Value> {
        self.blanks();
        if self.take("\"").is_some() {
            return self.string().map(Value::String);
        }
        if self.take("{").is_some() {
            return self.nested(|reader| {
                let (members, ended) = reader.members();
                ended.then_some(Value::Object(members))
            });
        }
        if self.take("[").is_some() {
            return self.nested(Self::items);
        }
        self.word()
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<Value>) -> Option<Value> {
        self.depth += 1;
        let value = (self.depth < MAX_DEPTH).then(|| read(self))?;
        self.depth -= 1;
        value
    }

    fn items(&mut self) -> Option<Value> {
        let mut items = Vec::new();
        if self.take("]").is_some() {
            return Some(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            if self.take("]").is_some() {
                return Some(Value::Array(items));
            }
            self.take(",")?;
        }
    }

    /// Reads a number, `true`, `false` or `null`. At the end of the input it may be cut off, so
    /// something must follow it.
    fn word(&mut self) -> Option<Value> {
        let end = self.rest.find([',', '}', ']', ' ', '\t', '\r', '\n'])?;
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" => Some(Value::Null),
            number => number.parse::<Number>().ok().map(Value::Number),
        }
    }

    /// Reads a string after its opening quotation mark. Unescaped control characters are allowed.
    fn string(&mut self) -> Option<String> {
        let mut text = String::new();
        // The closing quotation mark is searched once and not again after every escape, because
        // texts may be long.
        let mut quote = self.rest.find('"')?;
        while let Some(at) = self.rest[..quote].find('\\') {
            text.push_str(&self.rest[..at]);
            let left = self.rest.len();
            self.rest = &self.rest[at + 1..];
            text.push(self.escape()?);
            // If the escape contained this quotation mark, the next one has to be found.
            quote = match quote.checked_sub(left - self.rest.len()) {
                Some(quote) => quote,
                None => self.rest.find('"')?,
            };
        }
        text.push_str(&self.rest[..quote]);
        self.rest = &self.rest[quote + 1..];
        Some(text)
    }

    fn escape(&mut self) -> Option<char> {
        let kind = self.rest.chars().next()?;
        self.rest = &self.rest[kind.len_utf8()..];
        Some(match kind {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            '"' | '\\' | '/' => kind,
            'u' => self.escaped_character()?,
            _ => return None,
        })
    }

    fn escaped_character(&mut self) -> Option<char> {
        let first = self.unit()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first);
        }
        self.rest = self.rest.strip_prefix("\\u")?;
        let second = self.unit()?;
        let low = second.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
        char::from_u32(0x10000 + ((first - 0xD800) << 10) + low)
    }

    fn unit(&mut self) -> Option<u32> {
        let digits =
            self.rest.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.rest = &self.rest[4..];
        u32::from_str_radix(digits, 16).ok()
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
    fn a_repeated_field_is_noticed_at_any_depth() {
        for text in [r#"{"a": 1, "a": 2}"#, r#"{"b": [{"a": 1, "a": 1}]}"#] {
            let JsonReading::Twice(_, name) = read(text.as_bytes()) else { panic!("{text}") };
            assert_eq!(name, "a");
        }
        // The unescaped control character makes the strict reader fail, so this is read leniently.
        let JsonReading::Partial(members) = read(b"{\"a\": \"\t\", \"a\": 2, \"b\": 3}") else {
            panic!("no whole payload")
        };
        assert!(!members.contains_key("b"));
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
            if let Ok(strict) = serde_json::from_str::<Value>(&text) {
                prop_assert_eq!(leniently(text.as_bytes()), JsonReading::Whole(strict));
            }
        }
    }
}

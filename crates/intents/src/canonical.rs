//! Writes an intent in the canonical YAML form, and decides which texts need quotes.

use serde_json::Value;

use super::IntentEntry;
use super::yaml::Style;

pub(super) fn as_json(new: &IntentEntry) -> Value {
    serde_json::to_value(new).expect("texts and lists of texts are JSON")
}

/// Returns the canonical lines of an intent. The keys are those of the JSON form, in the same order.
pub(super) fn as_yaml(new: &IntentEntry) -> Vec<String> {
    let line = |(key, value): (String, Value)| {
        let text = value.as_str().unwrap_or_default();
        let written = match (&value, key.as_str()) {
            (Value::Array(list), _) if list.iter().all(Value::is_string) => {
                flow_list(list.iter().filter_map(Value::as_str))
            }
            (_, "owner") => double_quoted(text),
            (Value::String(text), _) => quoted_like(text, Style::Plain, false),
            // JSON is YAML too.
            _ => value.to_string(),
        };
        format!("{key}: {written}")
    };
    let fields = as_json(new).as_object().cloned().unwrap_or_default();
    fields.into_iter().map(line).collect()
}

pub(super) fn flow_list<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let items: Vec<String> = texts.into_iter().map(double_quoted).collect();
    format!("[{}]", items.join(", "))
}

/// Returns a text in the double quotes of JSON, which YAML reads in the same way.
pub fn double_quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// Returns a text in the style of its neighbours if that style can represent it, or else in double
/// quotes.
pub(crate) fn quoted_like(text: &str, style: Style, in_flow: bool) -> String {
    let printable = !text.chars().any(char::is_control);
    match style {
        Style::Plain if plain_is_safe(text, in_flow) => text.to_owned(),
        Style::SingleQuoted if printable => format!("'{}'", text.replace('\'', "''")),
        _ => double_quoted(text),
    }
}

/// Returns true if every YAML reader, old ones included, reads the text without quotes as this same
/// text.
fn plain_is_safe(text: &str, in_flow: bool) -> bool {
    let starts_well =
        text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '.'));
    let indicators =
        text.contains(": ") || text.contains(" #") || text.ends_with(':') || text.ends_with(' ');
    let flow = in_flow && text.contains([',', '[', ']', '{', '}', ':']);
    let control =
        text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'));
    starts_well
        && !indicators
        && !flow
        && !control
        && !text.contains(['"', '`'])
        && !reads_as_other(text)
}

fn reads_as_other(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let word = matches!(
        lower.as_str(),
        "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    let number = text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.chars().all(|c| {
            c.is_ascii_hexdigit()
                || matches!(c, '.' | '_' | ':' | '-' | '+' | 'x' | 'o' | 'T' | 'Z')
        });
    word || number || lower == ".inf" || lower == ".nan"
}

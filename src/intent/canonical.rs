//! Writes an intent in the canonical YAML form, and decides which texts need quotes.

use super::yaml::Style;
use super::{Intent, Spanned, Status};

/// An intent to be written in the canonical form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewIntent {
    pub id: String,
    pub name: String,
    /// `None` is written as DRAFT.
    pub status: Option<Status>,
    /// The globs of the files that the intent owns.
    pub owned_scope: Vec<String>,
    /// The conditions that must hold.
    pub constraints: Vec<String>,
    /// The conditions under which the intent is done.
    pub acceptance_criteria: Vec<String>,
    /// The requirements that the intent serves.
    pub related_specs: Vec<String>,
    /// The handle of the person who asked for the intent.
    pub owner: Option<String>,
}

impl NewIntent {
    /// Returns the intent as a reader of the written text will see it.
    pub fn intent(&self) -> Intent {
        let spanned = |value: &String| Spanned { value: value.clone(), span: 0..0 };
        let list = |texts: &[String]| texts.iter().map(spanned).collect();
        Intent {
            id: spanned(&self.id),
            name: spanned(&self.name),
            status: Some(Spanned { value: self.status.unwrap_or(Status::Draft), span: 0..0 }),
            owned_scope: list(&self.owned_scope),
            constraints: list(&self.constraints),
            acceptance_criteria: list(&self.acceptance_criteria),
            related_specs: list(&self.related_specs),
            owner: self.owner.as_ref().map(spanned),
            formerly: Vec::new(),
            extra: serde_json::Map::new(),
            span: 0..0,
        }
    }
}

pub(super) fn as_json(new: &NewIntent) -> serde_json::Value {
    let entry = super::model::IntentEntry {
        id: new.id.clone(),
        name: new.name.clone(),
        status: new.status.unwrap_or(Status::Draft),
        owned_scope: new.owned_scope.clone(),
        constraints: new.constraints.clone(),
        acceptance_criteria: new.acceptance_criteria.clone(),
        related_specs: new.related_specs.clone(),
        owner: new.owner.clone(),
        formerly: Vec::new(),
        extra: serde_json::Map::new(),
    };
    serde_json::to_value(entry).expect("texts and lists of texts are JSON")
}

/// Returns the canonical lines of an intent.
pub(super) fn as_yaml(new: &NewIntent) -> Vec<String> {
    let status = new.status.unwrap_or(Status::Draft);
    let mut lines = vec![
        format!("id: {}", word(&new.id)),
        format!("name: {}", word(&new.name)),
        format!("status: {}", status.as_str()),
        format!("owned_scope: {}", flow_list(&new.owned_scope)),
    ];
    let lists = [
        ("constraints", &new.constraints),
        ("acceptance_criteria", &new.acceptance_criteria),
        ("related_specs", &new.related_specs),
    ];
    for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        lines.push(format!("{key}: {}", flow_list(list)));
    }
    lines.extend(new.owner.iter().map(|owner| format!("owner: {}", double_quoted(owner))));
    lines
}

fn flow_list(list: &[String]) -> String {
    let items: Vec<String> = list.iter().map(|text| double_quoted(text)).collect();
    format!("[{}]", items.join(", "))
}

fn word(text: &str) -> String {
    quoted_like(text, Style::Plain, false)
}

/// Returns a text in the double quotes of JSON, which YAML reads in the same way.
pub(crate) fn double_quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// Returns a text in the style of its neighbours if that style can represent it, or else in double
/// quotes.
pub(crate) fn quoted_like(text: &str, style: Style, in_flow: bool) -> String {
    let printable = !text.chars().any(char::is_control);
    match style {
        Style::Plain if plain_is_safe(text, in_flow) => text.to_owned(),
        Style::Single if printable => format!("'{}'", text.replace('\'', "''")),
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

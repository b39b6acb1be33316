//! The user's settings: `initializationOptions`, overridden by the client's section `intent`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::capabilities::Capabilities;
use code::Encoding;
use ground::{Code, Level, Policy};

pub(crate) const SECTION: &str = "intent";

const CHANGEABLE_KEYS: [&str; 5] = ["codeLens", "hover", "inlayHints", "levels", "trace"];

const START_KEYS: [&str; 7] =
    ["positionEncoding", "interactive", "person", "saves", "status", "docsUrl", "historyCommand"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HoverPlaces {
    #[default]
    Names,
    /// Also on every other line, as one line.
    Everywhere,
}

/// Blocks that have lenses and hints only if somebody asks for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlsoLabelled {
    /// Constants and variables.
    pub constants: bool,
    /// Blocks without a record, about which git and the commits are told.
    pub unrecorded: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The levels that the user set. Other codes have the policy's level or their default.
    pub levels: BTreeMap<Code, Level>,
    pub code_lens: Option<bool>,
    pub also_labelled: AlsoLabelled,
    pub hover: HoverPlaces,
    pub inlay_hints: Option<bool>,
    pub trace: bool,
    /// The column unit that the user demands. Read at start only.
    pub position_encoding: Option<Encoding>,
    pub interactive: bool,
    /// Whether a person sits at a client that shows no questions. Read at start only.
    pub person: bool,
    /// What shows that an agent started the server, for example a variable that its host sets; `None`
    /// if a person seems to have done it. Read at start only.
    pub started_by_agent: Option<String>,
    pub saves: bool,
    pub status: bool,
    /// The address of the page about a diagnostic's code, with `{code}` in place of the code. Read
    /// at start only.
    pub docs_url: Option<String>,
    /// The command of the client that shows the history of a block, for links in hovers. `None` if
    /// its hovers run no commands. Read at start only.
    pub history_command: Option<String>,
}

impl Settings {
    pub(crate) fn level(&self, code: Code, policy: &Policy) -> Level {
        self.levels.get(&code).copied().unwrap_or_else(|| policy.editor_level(code))
    }

    /// Returns true if a person sits at the client. An action that only a person may take, such as
    /// widening a scope, can then be a single step.
    pub(crate) fn has_person(&self) -> bool {
        self.interactive || self.person
    }

    pub(crate) fn shows_lenses(&self) -> bool {
        self.code_lens.unwrap_or(true)
    }

    /// Returns true if inlay hints are shown. They would repeat the lenses, so by default only
    /// clients without lenses get them.
    pub(crate) fn shows_hints(&self, client: &Capabilities) -> bool {
        self.inlay_hints.unwrap_or(!client.code_lens)
    }

    pub(crate) fn at_start(options: Option<&Value>) -> (Self, Vec<String>) {
        let mut settings = Self::default();
        let mut problems = Vec::new();
        for (key, value) in options.and_then(section).into_iter().flatten() {
            settings.read(key, value, &mut problems);
        }
        (settings, problems)
    }

    pub(crate) fn overridden_by(&self, configuration: &Value) -> (Self, Vec<String>) {
        let mut settings = self.clone();
        let mut problems = Vec::new();
        for (key, value) in configuration.as_object().into_iter().flatten() {
            // Clients may repeat the keys that are read only at the start.
            if !START_KEYS.contains(&key.as_str()) {
                settings.read(key, value, &mut problems);
            }
        }
        (settings, problems)
    }

    /// Reads one setting. Adds a message if it is not understood. A known setting that is `null`
    /// counts as not set.
    fn read(&mut self, key: &str, value: &Value, problems: &mut Vec<String>) {
        // Some editors group switches as `{"enable": true}`.
        let switch = value.as_bool().or_else(|| value.get("enable")?.as_bool());
        let understood = match key {
            "codeLens" => {
                let also = |name: &str| value.get(name).and_then(Value::as_bool);
                let constants = set(&mut self.also_labelled.constants, also("constants"));
                let unrecorded = set(&mut self.also_labelled.unrecorded, also("unrecorded"));
                set(&mut self.code_lens, switch.map(Some)) || constants || unrecorded
            }
            "hover" => set(&mut self.hover, serde_json::from_value(value.clone()).ok()),
            "inlayHints" => set(&mut self.inlay_hints, switch.map(Some)),
            "interactive" => set(&mut self.interactive, switch),
            "person" => set(&mut self.person, switch),
            "saves" => set(&mut self.saves, switch),
            "status" => set(&mut self.status, switch),
            "docsUrl" => set(&mut self.docs_url, value.as_str().map(|url| Some(url.to_owned()))),
            "historyCommand" => {
                let command = value.as_str().filter(|name| is_command(name));
                set(&mut self.history_command, command.map(|name| Some(name.to_owned())))
            }
            "positionEncoding" => {
                set(&mut self.position_encoding, serde_json::from_value(value.clone()).ok())
            }
            "trace" => {
                let is_traced = match value.as_str() {
                    Some("off") => Some(false),
                    Some("messages" | "verbose") => Some(true),
                    _ => None,
                };
                // An object is accepted and ignored: the client's own library has a setting
                // `trace.server`.
                set(&mut self.trace, is_traced) || value.is_object()
            }
            "levels" => {
                value.as_object().map(|levels| self.overlay_levels(levels, problems)).is_some()
            }
            _ => {
                problems.push(format!("the setting intent.{key} is unknown and has no effect"));
                return;
            }
        };
        if !understood && !value.is_null() {
            problems.push(format!("the setting intent.{key} cannot be {value}; it is ignored"));
        }
    }

    fn overlay_levels(&mut self, levels: &Map<String, Value>, problems: &mut Vec<String>) {
        for (name, value) in levels {
            let Some(code) = Code::parse(name) else {
                problems.push(format!("intent.levels names {name:?}, which is no diagnostic code"));
                continue;
            };
            match serde_json::from_value(value.clone()) {
                Ok(level) => drop(self.levels.insert(code, level)),
                Err(_) => problems.push(format!(
                    "intent.levels.{name} is {value}; write off, hint, info, warning or error"
                )),
            }
        }
    }
}

pub(crate) fn registration() -> tower_lsp::lsp_types::Registration {
    tower_lsp::lsp_types::Registration {
        id: "intent/configuration".into(),
        method: "workspace/didChangeConfiguration".into(),
        register_options: Some(serde_json::json!({ "section": SECTION })),
    }
}

/// Returns the object that holds our settings. Some clients wrap it in an object with the key
/// `intent`, which is `null` if nothing is set.
pub(crate) fn section(options: &Value) -> Option<&Map<String, Value>> {
    match options.get(SECTION) {
        Some(Value::Object(inner)) => Some(inner),
        Some(Value::Null) => None,
        _ => options.as_object(),
    }
}

/// Returns our settings from an object that may hold the settings of all servers. An object without
/// our section is used only if it has a key of ours.
pub(crate) fn section_among_others(settings: &Value) -> Option<&Map<String, Value>> {
    section(settings).filter(|section| {
        settings.get(SECTION).is_some()
            || CHANGEABLE_KEYS.iter().any(|key| section.contains_key(*key))
    })
}

fn is_command(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

fn set<T>(slot: &mut T, value: Option<T>) -> bool {
    value.map(|value| *slot = value).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_are_read_bare_or_in_their_section() {
        let options = json!({ "codeLens": { "enable": false, "constants": true, "unrecorded": true },
            "inlayHints": { "enable": true }, "hover": "everywhere", "historyCommand": "a.b",
            "interactive": true, "positionEncoding": "utf-8", "trace": "verbose" });
        let (bare, problems) = Settings::at_start(Some(&options));
        assert_eq!(problems, [""; 0]);
        let expected = Settings {
            code_lens: Some(false),
            also_labelled: AlsoLabelled { constants: true, unrecorded: true },
            hover: HoverPlaces::Everywhere,
            history_command: Some("a.b".to_owned()),
            inlay_hints: Some(true),
            interactive: true,
            position_encoding: Some(Encoding::Utf8),
            trace: true,
            ..Settings::default()
        };
        assert_eq!(bare, expected);
        let (wrapped, _) = Settings::at_start(Some(&json!({ "intent": options })));
        assert_eq!(wrapped, expected);
    }

    #[test]
    fn an_unknown_option_is_reported_and_changes_nothing() {
        let options = json!({ "codeLens": 7, "colour": "red", "positionEncoding": "utf-7",
            "levels": { "no-such-code": "error", Code::ALL[0].as_str(): "loud" },
            "trace": "loud", "shape": null, "docsUrl": null, "hover": true,
            "historyCommand": "a?[]" });
        let (settings, problems) = Settings::at_start(Some(&options));
        assert_eq!(settings, Settings::default());
        assert_eq!(problems.len(), 9, "{problems:?}");
    }

    #[test]
    fn a_level_that_is_set_wins_over_the_default() {
        let code = Code::ALL[0];
        let options = json!({ "levels": { code.as_str(): "hint" } });
        let (settings, problems) = Settings::default().overridden_by(&options);
        assert_eq!(problems, [""; 0]);
        let path = ground::RelativePath::new("policy.yaml").unwrap();
        let (policy, _) = Policy::parse(&path, &format!("levels: {{ {}: info }}", code.as_str()));
        assert_eq!(settings.level(code, &policy), Level::Hint);
        assert_eq!(Settings::default().level(code, &policy), Level::Info);
        assert_eq!(Settings::default().level(code, &Policy::default()), code.editor_default());
    }

    #[test]
    fn settings_of_other_servers_are_ignored() {
        let section = |settings| section_among_others(&settings).cloned();
        assert_eq!(section(json!({ "rust-analyzer": { "trace": 1 } })), None);
        assert_eq!(section(json!(null)), None);
        assert_eq!(section(json!({ "intent": null })), None);
        assert!(section(json!({ "codeLens": true })).is_some());
        assert!(section(json!({ "other": {}, "intent": {} })).is_some_and(|it| it.is_empty()));
    }

    #[test]
    fn a_later_configuration_cannot_claim_a_person_at_the_client() {
        let later = json!({ "interactive": true, "person": true, "positionEncoding": "utf-8" });
        assert_eq!(Settings::default().overridden_by(&later), (Settings::default(), Vec::new()));
    }
}

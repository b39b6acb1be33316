//! Reads a policy in its layers: the workspace's own file, and the file of an organisation that it extends.
//!
//! If both set a value, the workspace's value wins. Lists are concatenated with the organisation's
//! entries first, and maps are merged key by key. A policy can extend only one file, which is named
//! by its path and never by a URL, so that reading a policy needs no network.

use std::path::Path;

use serde::Serialize;
use serde_yaml::{Mapping, Value};

use super::store::StoreError;
use super::text::without_mark;
use super::{Code, Finding, Hint, Policy, RelativePath, Root, store};

/// A policy larger than this, in bytes, is not read.
const MAX_POLICY: u64 = 1024 * 1024;

/// A value of a policy, and the file that sets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PolicyValue {
    /// The key, for example `mode`, `levels.unowned` or `protected_paths[0]`.
    pub key: String,
    /// The value as YAML, on one line.
    pub value: String,
    /// The file that sets the value. `None` for a default.
    pub origin: Option<String>,
}

pub struct LayeredPolicy {
    pub policy: Policy,
    pub findings: Vec<Finding>,
    /// The names and texts of the files. The organisation's file comes first.
    layers: Vec<(String, String)>,
}

pub(crate) type ReadLayer<'r> = &'r dyn Fn(&RelativePath) -> Result<Option<Vec<u8>>, String>;

impl Policy {
    /// Reads `.orchestration/policy.yaml` and the file that it extends. A missing file gives the
    /// default. A broken file gives the default *and* a finding, so that the gate can fail closed.
    pub fn load(root: &Root) -> (Self, Vec<Finding>) {
        let layered = Self::layered(root);
        (layered.policy, layered.findings)
    }

    pub fn layered(root: &Root) -> LayeredPolicy {
        let path = policy_path();
        let read = |path: &RelativePath| {
            root.read_rules(path, MAX_POLICY).map_err(|error| match error {
                StoreError::TooLarge { .. } => "is too large".to_owned(),
                _ => "cannot be read".to_owned(),
            })
        };
        let bytes = root.read_rules(&path, MAX_POLICY).map_err(|error| match error {
            StoreError::TooLarge { .. } => format!("{}.", error.with_hint()),
            error => format!("The policy cannot be read: {}.", error.with_hint()),
        });
        let text = bytes.and_then(|bytes| {
            String::from_utf8(bytes.unwrap_or_default())
                .map_err(|error| format!("The policy is not UTF-8: {error}."))
        });
        match text {
            Ok(text) => LayeredPolicy::from_text(&path, &text, &read),
            Err(message) => {
                let mut layered = LayeredPolicy::from_text(&path, "", &read);
                layered.findings = Self::default_with_finding(&path, message).1;
                layered
            }
        }
    }
}

impl LayeredPolicy {
    pub fn from_text(path: &RelativePath, text: &str, read: ReadLayer<'_>) -> Self {
        let (policy, findings) = Policy::parse(path, text);
        let own = (path.to_string(), text.to_owned());
        let mut layered = Self { policy, findings, layers: vec![own] };
        let Some(below) = layered.policy.extends.clone() else { return layered };
        match layer(&below, read) {
            Ok(text) => layered.put_below(below, text),
            Err(problem) => {
                let at = text.find(&below).map_or(0..text.len(), |at| at..at + below.len());
                let message = format!("extends: {below} {problem}.");
                let help = "Correct it; until then only this file applies, and the gate denies.";
                let finding =
                    Finding::new(Code::PolicyInvalid, message, help).at_span(path, text, at);
                layered.findings.push(finding);
            }
        }
        layered
    }

    fn put_below(&mut self, name: String, below: String) {
        let (_, own) = &self.layers[0];
        let mut merged = mapping(&below);
        put_over(&mut merged, &mapping(own));
        // Each file is a valid policy by itself, so merging them gives one too.
        if let Ok(policy) = serde_yaml::from_value(Value::Mapping(merged)) {
            self.policy = policy;
        }
        self.layers.insert(0, (name, below));
    }

    /// Returns every value that is in force, in the order of the keys, each with the file that sets
    /// it.
    pub fn explained(&self) -> Vec<PolicyValue> {
        let all = serde_yaml::to_value(&self.policy).unwrap_or_default();
        let layers = self.layers.iter().map(|(file, text)| (file, mapping(text)));
        let layers: Vec<(&String, Mapping)> = layers.collect();
        let mut found = Vec::new();
        let mut put = |key: String, value: &Value, origin: Option<&String>| {
            found.push(PolicyValue { key, value: line(value), origin: origin.cloned() });
        };
        for (key, value) in all.as_mapping().into_iter().flatten() {
            let key = key.as_str().unwrap_or_default();
            let set = layers.iter().filter_map(|(file, set)| Some((*file, set.get(key)?)));
            let set: Vec<_> = set.collect();
            match value {
                Value::Sequence(items) if !items.is_empty() => {
                    let origins = set.iter().flat_map(|(file, items)| {
                        let many = items.as_sequence().map_or(0, Vec::len);
                        std::iter::repeat_n(*file, many)
                    });
                    for (at, (item, file)) in items.iter().zip(origins).enumerate() {
                        put(format!("{key}[{at}]"), item, Some(file));
                    }
                }
                Value::Mapping(entries) if !entries.is_empty() => {
                    for (inner, value) in entries {
                        let inner = inner.as_str().unwrap_or_default();
                        let from = set.iter().rfind(|(_, map)| map.get(inner).is_some());
                        put(format!("{key}.{inner}"), value, from.map(|(file, _)| *file));
                    }
                }
                value => put(key.to_owned(), value, set.last().map(|(file, _)| *file)),
            }
        }
        found
    }
}

pub const POLICY: &str = ".orchestration/policy.yaml";

fn policy_path() -> RelativePath {
    RelativePath::new(POLICY).expect("a plain path")
}

/// Returns the text of the extended file, which must be a valid policy. The error never quotes a
/// file outside the workspace.
fn layer(below: &str, read: ReadLayer<'_>) -> Result<String, String> {
    let (bytes, inside) = match RelativePath::new(below) {
        Ok(path) if path.is_orchestration() => (read(&path)?, Some(path)),
        Err(_) if Path::new(below).is_absolute() => {
            let found = store::read_capped(Path::new(below), MAX_POLICY);
            (found.map_err(|_| "cannot be read".to_owned())?, None)
        }
        _ => {
            return Err("is neither an absolute path nor one below .orchestration/".to_owned());
        }
    };
    let bytes = bytes.ok_or("is not there")?;
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8")?;
    let shown = inside.clone().unwrap_or_else(|| RelativePath::new("policy.yaml").expect("a name"));
    let (policy, findings) = Policy::parse(&shown, &text);
    if let Some(finding) = findings.first() {
        let line = finding.lines.map_or(1, |lines| lines.start());
        return Err(match inside {
            Some(_) => format!("is no policy: line {line}: {}", finding.message),
            None => format!("is no policy: line {line}"),
        });
    }
    if policy.extends.is_some() {
        return Err("extends a file itself; only one level is allowed".to_owned());
    }
    Ok(text)
}

/// Parses a text into a mapping. Empty if the text is not a mapping, which is reported elsewhere. A
/// key without a value is left out.
fn mapping(text: &str) -> Mapping {
    match serde_yaml::from_str(without_mark(text)) {
        Ok(Value::Mapping(mut mapping)) => {
            mapping.retain(|_, value| !value.is_null());
            mapping
        }
        _ => Mapping::new(),
    }
}

fn put_over(below: &mut Mapping, over: &Mapping) {
    for (key, value) in over {
        match (below.get_mut(key), value) {
            (Some(Value::Mapping(below)), Value::Mapping(over)) => put_over(below, over),
            (Some(Value::Sequence(below)), Value::Sequence(over)) => below.extend(over.clone()),
            _ => {
                below.insert(key.clone(), value.clone());
            }
        }
    }
}

fn line(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => serde_json::to_string(value).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "extends: .orchestration/org.yaml\nmode: ask\nrules:\nprotected_paths: [b/**]\nlevels: {unowned: info}\n";
    const ORG: &str = "mode: enforce\nswitching: deny\nprotected_paths: [a/**]\nlevels: {unowned: error, suspect: error}\n";

    fn read(own: &str, org: Option<&str>) -> LayeredPolicy {
        let path = RelativePath::new(".orchestration/policy.yaml").expect("a path");
        LayeredPolicy::from_text(&path, own, &|_| Ok(org.map(|text| text.as_bytes().to_vec())))
    }

    #[test]
    fn the_workspace_overrides_values_and_lists_are_joined() {
        let layered = read(OWN, Some(ORG));
        assert_eq!(layered.findings, []);
        let told: Vec<String> = layered
            .explained()
            .into_iter()
            .filter_map(|it| Some(format!("{} = {} ({})", it.key, it.value, it.origin?)))
            .collect();
        assert_eq!(
            told,
            [
                "extends = .orchestration/org.yaml (.orchestration/policy.yaml)",
                "mode = ask (.orchestration/policy.yaml)",
                "protected_paths[0] = a/** (.orchestration/org.yaml)",
                "protected_paths[1] = b/** (.orchestration/policy.yaml)",
                "switching = deny (.orchestration/org.yaml)",
                "levels.suspect = error (.orchestration/org.yaml)",
                "levels.unowned = info (.orchestration/policy.yaml)",
            ]
        );
    }

    #[test]
    fn an_invalid_extension_is_a_finding_at_its_line() {
        let one = |own: &str, org: Option<&str>| {
            let layered = read(own, org);
            let [finding] = layered.findings.as_slice() else { panic!("{:?}", layered.findings) };
            assert_eq!(finding.lines.map(|lines| lines.start()), Some(1));
            finding.message.clone()
        };
        assert!(one(OWN, None).contains("is not there"));
        assert!(one(OWN, Some("modus: ask")).contains("modus"));
        assert!(one(OWN, Some("extends: /etc/other.yaml")).contains("one level"));
        assert!(one("extends: https://example.invalid/policy.yaml", None).contains("neither"));
        assert!(one("extends: src/policy.yaml", None).contains("neither"));
        assert!(one("extends: ../policy.yaml", None).contains("neither"));
    }

    #[test]
    fn no_text_of_a_file_outside_is_quoted() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("secret");
        std::fs::write(&file, "first: line\nsecret-word: [x\n").expect("written");
        let layered = read(&format!("extends: {}", file.display()), None);
        let told = format!("{:?}", layered.findings);
        assert!(told.contains("is no policy: line"), "{told}");
        assert!(!told.contains("secret-word") && !told.contains("first"), "{told}");
    }
}

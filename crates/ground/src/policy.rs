//! `policy.yaml`: the rules that the people who own a workspace set.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Code, Finding, Level, RelativePath, text};
use code::named_enum::named_enum;

pub(super) const NUMBER: &str = "{number}";
pub(super) const KEY: &str = "{key}";
/// A policy with more opening brackets than this is not parsed. The time of the YAML parser grows
/// with the square of the nesting depth; up to this limit it is milliseconds.
const MAX_BRACKETS: usize = 4096;
const MAX_GLOBS: usize = 256;

/// The policy of a workspace. Every key is optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// The policy file of an organisation that this one extends: an absolute path, or a path below
    /// `.orchestration/`.
    pub extends: Option<String>,
    /// What the gate does when a rule denies a call.
    pub mode: Mode,
    /// Globs (scope syntax) of files that no agent may change.
    pub protected_paths: Vec<String>,
    /// Folders (scope syntax) whose own `.orchestration/` makes them separate workspaces.
    pub nested_roots: Vec<String>,
    /// Branches of remotes for which lost evidence is reported. Default: `main`, `master` and the
    /// remote's default branch.
    pub protected_branches: Vec<String>,
    /// Absolute folders outside the workspace that a governed session may write to.
    pub allowed_outside: Vec<String>,
    /// Decisions about certain commands and paths, in addition to what the gate decides by itself.
    /// The first rule that matches applies.
    pub rules: Vec<Rule>,
    /// Where the records of a workspace are stored.
    pub ledger: LedgerPolicy,
    /// Whether an agent may switch from one selected intent to another by itself.
    pub switching: Switching,
    /// Whether a person is asked about everyday commands of git that lose nothing of others: a push
    /// with lease to an own branch, `git restore` of a file that the session knows, and a rebase of
    /// an own branch that is on no server.
    pub everyday_git: EverydayGit,
    /// Which commands of agents run behind the fence (`intent fence`).
    pub fence: FencePolicy,
    /// Whether an agent may write a lesson into the shared brain file by itself.
    pub lessons: Lessons,
    /// Whether an intent that was added or widened since the base is a finding.
    pub registry_changes: RegistryChanges,
    /// The file that lists the trusted signing keys, in OpenSSH's `allowed_signers` format,
    /// relative to the workspace. Default: `.orchestration/allowed_signers`.
    pub allowed_signers: Option<String>,
    /// When an intent may be completed.
    pub completion: Completion,
    /// Whether commits contain the file `intent_map.md`.
    pub map: Map,
    /// Trailers that git's hook adds to a commit message, such as `Intent-Id: {intent}`. One is
    /// added for each intent, tool, model and session for which the commit has evidence.
    pub trailers: Vec<String>,
    /// Patterns of branch names that contain an intent, such as `feature/{intent}-*`. Work on such
    /// a branch belongs to that intent, unless a record, a trailer or an option of `intent check`
    /// says otherwise.
    pub branches: Vec<String>,
    /// Rules for commits of certain authors, mostly bots, whose work needs no records.
    pub authors: Vec<AuthorRule>,
    /// Formats of intents that are kept elsewhere, such as `kiro: false`. Each is read where its
    /// files are, unless it is switched off here.
    pub sources: BTreeMap<SourceFormat, bool>,
    /// The web pages of issue keys, such as `"SHOP-{number}": "https://tracker.example.org/{key}"`.
    /// A pattern is a prefix and `{number}`. A page begins with `http://` or `https://` and names
    /// `{key}` or `{number}` somewhere after the host name.
    pub links: BTreeMap<String, String>,
    /// Levels of findings by code. An unknown code is reported.
    pub levels: BTreeMap<String, Level>,
}

named_enum! {
    /// A format in which teams keep intents as files of their own. Its text is the prefix of the
    /// ids of such intents.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum SourceFormat, SOURCE_FORMATS {
        /// Changes of OpenSpec, in `openspec/changes/`.
        Openspec: "openspec",
        /// Features of GitHub's Spec Kit, in `specs/`.
        Speckit: "speckit",
        /// Specifications of Kiro, in `.kiro/specs/`.
        Kiro: "kiro",
        /// Tasks of Backlog.md, in `backlog/`.
        Backlog: "backlog",
        /// Stories of BMAD, in `docs/stories/` and `_bmad-output/`.
        Bmad: "bmad",
        /// Tasks of Taskmaster, in `.taskmaster/`.
        Taskmaster: "taskmaster",
        /// Tracks of Conductor, in `conductor/`.
        Conductor: "conductor",
        /// Architecture decision records, which other intents can cite.
        Adr: "adr",
    }
}

impl SourceFormat {
    pub fn prefix(self) -> &'static str {
        SOURCE_FORMATS[self as usize].1
    }

    pub fn noun(self) -> &'static str {
        match self {
            Self::Openspec => "OpenSpec change",
            Self::Speckit => "Spec Kit feature",
            Self::Kiro => "Kiro spec",
            Self::Backlog => "Backlog.md task",
            Self::Bmad => "BMAD story",
            Self::Taskmaster => "Taskmaster task",
            Self::Conductor => "Conductor track",
            Self::Adr => "architecture decision",
        }
    }

    pub fn is_work(self) -> bool {
        self != Self::Adr
    }

    pub fn of_id(id: &str) -> Option<(Self, &str)> {
        let (prefix, name) = id.split_once(':')?;
        let (format, _) = SOURCE_FORMATS.iter().find(|(_, known)| *known == prefix)?;
        Some((*format, name))
    }
}

/// What the gate does when a rule denies a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The gate denies the call.
    #[default]
    Enforce,
    /// The gate asks the person instead.
    Ask,
    /// The gate blocks nothing, and only reports what it would have denied.
    Observe,
}

/// A decision about a command, or about writes to certain paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// A program and its first words, such as `git push` or `npm run *`. Without it the rule
    /// applies to every write to `paths`.
    #[serde(default)]
    pub command: Option<String>,
    /// Globs (scope syntax) of the files that would be changed. Without them the rule applies to
    /// the command, whatever it changes.
    #[serde(default)]
    pub paths: Vec<String>,
    /// What happens to a call that matches.
    pub decision: RuleDecision,
    /// The reason, shown to whoever is stopped by the rule.
    #[serde(default)]
    pub reason: Option<String>,
}

impl Rule {
    fn matches_nothing(&self) -> bool {
        let command = self.command.as_deref().unwrap_or_default();
        command.trim().is_empty() && (self.command.is_some() || self.paths.is_empty())
    }
}

/// What happens to a call that matches a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuleDecision {
    /// No person needs to be asked. Scopes are still checked, and so is whether a file changed
    /// since it was read.
    Allow,
    /// A person has to decide.
    Ask,
    /// The call is always denied.
    Deny,
}

/// A rule for the commits of certain authors, such as bots. It names the intent that their changes
/// are checked against, or says that their changes need no records. A commit's own trailer that
/// names an intent takes precedence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuthorRule {
    /// A glob for `Name <e-mail>`, ignoring case: `*[bot]*`, `* <*@ci.example.org>`. Brackets match
    /// themselves.
    pub author: String,
    /// The intent. Without one, changes that only these authors made need no records.
    #[serde(default)]
    pub intent: Option<String>,
}

/// Whether an agent may switch to another intent by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Switching {
    /// The person is asked first.
    #[default]
    Ask,
    /// The agent may switch by itself.
    Allow,
    /// The agent may not switch.
    Deny,
}

/// Whether a person is asked about everyday commands of git.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EverydayGit {
    /// Nobody is asked.
    #[default]
    Allow,
    /// The person is asked, as about every command that rewrites or overwrites.
    Ask,
}

/// Which commands of agents run behind the fence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FencePolicy {
    /// No command does, unless it is started with `intent fence`.
    #[default]
    Off,
    /// Commands whose effects cannot be determined, if the host lets a hook change the command.
    Opaque,
    /// Like `opaque`. If the host does not let a hook change the command, such a command is denied,
    /// unless it is started with `intent fence`.
    Require,
}

/// Whether an agent may write a lesson by itself. A person always may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Lessons {
    /// The agent may write it by itself.
    #[default]
    Allow,
    /// A person has to write it.
    Ask,
    /// The agent may not write it.
    Deny,
}

/// Whether a registry change since the base is a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RegistryChanges {
    /// Such a change is reported as a finding.
    #[default]
    Finding,
    /// Such a change is not reported.
    Allow,
}

/// When an intent may be completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Completion {
    /// An intent may be completed at any time.
    #[default]
    Free,
    /// An intent may be completed only if every acceptance criterion that names a command has
    /// passed at the commit, in a clean work tree.
    Passed,
}

/// Whether commits contain the file `intent_map.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Map {
    /// The map is only for this work tree, and is updated when something is recorded.
    #[default]
    Local,
    /// Git's hook writes the map and adds it to each commit.
    Committed,
}

/// Where the records of a workspace are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LedgerPolicy {
    /// The layout. Default: `evidence` with git, `single` without it.
    pub layout: Option<Layout>,
}

/// Where the records of a workspace are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Records are in the journal until a commit carries them as evidence.
    #[serde(alias = "segments")]
    Evidence,
    /// All records are appended to `agent_trace.jsonl`.
    Single,
}

impl Policy {
    /// Parses one text as a policy, without the file that it extends.
    pub fn parse(path: &RelativePath, text: &str) -> (Self, Vec<Finding>) {
        if text.matches(['[', '{']).count() > MAX_BRACKETS {
            let message = format!("The policy holds over {MAX_BRACKETS} opening brackets.");
            return Self::default_with_finding(path, message);
        }
        // To the YAML parser, a byte order mark would be the indentation of the first line.
        let parsed: Result<Option<Self>, _> = serde_yaml::from_str(text::without_mark(text));
        let policy = match parsed {
            Ok(policy) => policy.unwrap_or_default(),
            Err(error) => match without_empty_keys(text) {
                Some(policy) => policy,
                None => return (Self::default(), vec![invalid_policy(path, text, &error)]),
            },
        };
        let findings = policy.judge(path, text);
        (policy, findings)
    }

    pub(super) fn default_with_finding(
        path: &RelativePath,
        message: String,
    ) -> (Self, Vec<Finding>) {
        let help = "Until it can be read the defaults hold, and the gate denies.";
        let finding = Finding::new(Code::PolicyInvalid, message, help).in_file(path);
        (Self::default(), vec![finding])
    }

    fn judge(&self, path: &RelativePath, text: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut report = |written: &str, message: String, help: &str| {
            let finding = Finding::new(Code::PolicyInvalid, message, help);
            findings.push(finding.at_span(path, text, place_of(text, written)));
        };
        for code in self.levels.keys().filter(|code| Code::parse(code).is_none()) {
            let message = format!("levels: {code:?} is no diagnostic code.");
            report(code, message, "Remove it, or correct its spelling.");
        }
        for rule in self.rules.iter().filter(|rule| rule.matches_nothing()) {
            let message = "rules: a rule names neither a command nor paths.".to_owned();
            let written = rule.reason.as_deref().unwrap_or("rules");
            report(written, message, "Add a command or paths, or remove it.");
        }
        let lists =
            [("protected_paths", &self.protected_paths), ("nested_roots", &self.nested_roots)];
        let of_rules = self.rules.iter().map(|rule| ("rules", &rule.paths));
        for (key, globs) in lists.into_iter().chain(of_rules) {
            if globs.len() > MAX_GLOBS {
                let message =
                    format!("{key} holds {} globs; {MAX_GLOBS} are allowed.", globs.len());
                report(key, message, "Write fewer, wider globs.");
            }
            for glob in globs.iter().filter(|glob| !is_glob(glob)) {
                let message = format!("{key}: {glob:?} is not a glob inside the workspace.");
                let help = "Write it relative to the root, with `/`, without `..`.";
                report(glob, message, help);
            }
        }
        let relative = |folder: &&String| !std::path::Path::new(folder).is_absolute();
        for folder in self.allowed_outside.iter().filter(relative) {
            let message = format!("allowed_outside: {folder:?} is not an absolute folder.");
            report(folder, message, "Write the whole path of the folder.");
        }
        for trailer in self.trailers.iter().filter(|trailer| !is_trailer(trailer)) {
            let message = format!("trailers: {trailer:?} is no trailer of a commit.");
            let help =
                "Write `Token: value`, with {intent}, {tool}, {model} or {session} in the value.";
            report(trailer, message, help);
        }
        for pattern in self.branches.iter().filter(|pattern| !pattern.contains("{intent}")) {
            let message = format!("branches: {pattern:?} names no intent.");
            let help = "Write {intent} where the id stands: `feature/{intent}-*`.";
            report(pattern, message, help);
        }
        for rule in self.authors.iter().filter(|rule| rule.author.trim().is_empty()) {
            let message = "authors: an entry has no author.".to_owned();
            let written = rule.intent.as_deref().unwrap_or("authors");
            report(written, message, "Add `author`, or remove it.");
        }
        for (pattern, page) in &self.links {
            if prefix_of(pattern).is_none() {
                let message = format!("links: {pattern:?} is no pattern of a key.");
                report(pattern, message, "Write a prefix and {number}: `SHOP-{number}`.");
            } else if !is_page(page) {
                let message = format!("links: {page:?} is no page of a key.");
                let help = "Write an address with http or https and a fixed host, and {key} or {number} behind the host.";
                report(page, message, help);
            }
        }
        for (at, hidden) in text::invisible_characters(text) {
            if hidden == '\r' || (at == 0 && hidden == '\u{feff}') {
                continue;
            }
            let message = format!("An invisible character, U+{:04X}.", u32::from(hidden));
            let span = at..at + hidden.len_utf8();
            let finding = Finding::new(Code::InvisibleCharacter, message, "Remove it.");
            findings.push(finding.at_span(path, text, span));
        }
        findings
    }
    pub fn reads(&self, format: SourceFormat) -> bool {
        self.sources.get(&format).copied().unwrap_or(true)
    }
    pub fn extended_file(&self) -> Option<RelativePath> {
        RelativePath::new(self.extends.as_deref()?).ok()
    }
    pub fn editor_level(&self, code: Code) -> Level {
        self.levels.get(code.as_str()).copied().unwrap_or(code.editor_default())
    }
    pub fn check_level(&self, code: Code) -> Level {
        self.levels.get(code.as_str()).copied().unwrap_or(code.check_default())
    }
}

/// Returns true if a template is a word of letters, digits and hyphens, a colon, and a value that
/// contains only known placeholders.
fn is_trailer(template: &str) -> bool {
    let Some((token, value)) = template.split_once(':') else { return false };
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let mut placeholders = value.split('{').skip(1).map(|rest| rest.split_once('}'));
    !token.is_empty()
        && token.bytes().all(is_token)
        && !value.trim().is_empty()
        && !value.contains(['\n', '\r'])
        && placeholders
            .all(|found| matches!(found, Some(("intent" | "tool" | "model" | "session", _))))
}

/// Parses a text again without the keys that have no value. In the template, a key such as `rules:`
/// has no value as long as the lines below it are comments. It then counts as if it were not there.
fn without_empty_keys(text: &str) -> Option<Policy> {
    let known = serde_json::to_value(Policy::default()).ok()?;
    let mut written: serde_yaml::Mapping = serde_yaml::from_str(text::without_mark(text)).ok()?;
    let is_known =
        |key: &serde_yaml::Value| key.as_str().is_some_and(|key| known.get(key).is_some());
    written.retain(|key, value| !(value.is_null() && is_known(key)));
    serde_yaml::from_value(serde_yaml::Value::Mapping(written)).ok()
}

/// Returns what stands before the number in the pattern of a key. `None` if it is no such pattern.
pub(super) fn prefix_of(pattern: &str) -> Option<&str> {
    let prefix = pattern.strip_suffix(NUMBER)?;
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"{}/<>\"'`\\".contains(&byte);
    (!prefix.is_empty() && prefix.bytes().all(is_plain)).then_some(prefix)
}

/// Returns true if a text is the address of a page for each key: `http` or `https`, with a fixed
/// host, and with the key or its number behind the host.
pub(super) fn is_page(template: &str) -> bool {
    let rest = template.strip_prefix("https://").or_else(|| template.strip_prefix("http://"));
    let Some(rest) = rest else { return false };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    let left = path.replace(NUMBER, "").replace(KEY, "");
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"{}<>\"'`\\".contains(&byte);
    !host.is_empty()
        && host.bytes().all(is_host)
        && left.len() < path.len()
        && left.bytes().all(is_plain)
}

fn invalid_policy(path: &RelativePath, source: &str, error: &serde_yaml::Error) -> Finding {
    let message = text::shorten(&error.to_string(), 400);
    let mark = source.len() - text::without_mark(source).len();
    let stopped = error.location().map(|place| mark + place.index()).filter(|at| *at > mark);
    let start = stopped.unwrap_or_else(|| {
        // The parser gives no place for a repeated key. The last one is the one to remove.
        let named = message.split('`').nth(1);
        named.and_then(|name| source.rfind(name)).unwrap_or(0)
    });
    let start = text::char_start(source, start);
    let end = source[start..].find('\n').map_or(source.len(), |at| start + at);
    let message = format!("The policy cannot be read: {message}.");
    // Files that earlier versions of `intent init` wrote end in the line `{}`, which also ends the
    // YAML document.
    let help = match source.lines().any(|line| line == "{}") {
        true => "Remove the line `{}`; until then the defaults hold, and the gate denies.",
        false => "Correct it; until then the defaults hold, and the gate denies.",
    };
    Finding::new(Code::PolicyInvalid, message, help).at_span(path, source, start..end)
}

/// Returns the byte range of a value in the text. The range of the whole text if the value is not
/// written literally.
fn place_of(text: &str, written: &str) -> std::ops::Range<usize> {
    match text.find(written) {
        Some(at) if !written.is_empty() => at..at + written.len(),
        _ => 0..text.len(),
    }
}

fn is_glob(entry: &str) -> bool {
    let bare = entry.strip_prefix('!').unwrap_or(entry);
    let inside = !bare.is_empty() && !bare.starts_with('/') && !bare.split('/').any(|s| s == "..");
    inside && globset::GlobBuilder::new(bare).literal_separator(true).build().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Policy, Vec<Finding>) {
        Policy::parse(&RelativePath::new(".orchestration/policy.yaml").unwrap(), text)
    }

    #[test]
    fn an_empty_policy_is_the_default() {
        for text in ["", "\n", "# only a comment\n", "---\n", "{}"] {
            assert_eq!(parse(text), (Policy::default(), vec![]), "{text:?}");
        }
    }

    /// Removes the comment marks of one key of the template and of the lines below it, as a person
    /// would.
    #[test]
    fn each_key_of_the_template_can_be_uncommented() {
        let template = include_str!("../../overview/src/templates/policy.yaml");
        assert_eq!(parse(template), (Policy::default(), vec![]));
        let lines: Vec<&str> = template.lines().collect();
        let is_key = |line: &&str| {
            let word = line.strip_prefix("# ").and_then(|rest| rest.split(':').next());
            line.contains(':') && word.is_some_and(|word| !word.contains(' '))
        };
        let keys: Vec<usize> = (0..lines.len()).filter(|at| is_key(&lines[*at])).collect();
        assert_eq!(keys.len(), 22, "{keys:?}");
        let uncommented = |from: usize, to: usize| {
            let bare = |at: usize| lines[at].strip_prefix("# ").unwrap();
            let all = 0..lines.len();
            all.map(|at| {
                if (from..to).contains(&at) { bare(at) } else { lines[at] }.to_owned() + "\n"
            })
            .collect::<String>()
        };
        for (from, to) in keys.iter().zip(keys[1..].iter().chain([&lines.len()])) {
            assert_eq!(parse(&uncommented(*from, *to)).1, [], "{}", lines[*from]);
            // Only the line with the key is uncommented; the lines below it are still comments.
            assert_eq!(parse(&uncommented(*from, from + 1)).1, [], "{}", lines[*from]);
        }
        assert!(!parse("modus:\n").1.is_empty(), "an empty key is a known one");
        assert_eq!(parse(&uncommented(keys[0], lines.len())).1, []);
        let (_, findings) = parse("mode: ask\n{}\n");
        assert!(findings[0].help.contains("Remove the line `{}`"), "{findings:?}");
    }

    #[test]
    fn every_key_is_read() {
        let (policy, findings) = parse(
            "mode: observe\nprotected_paths: ['infra/**', '!infra/dev/']\nnested_roots: [packages/*]\n\
             allowed_outside: [/srv/out]\nledger:\n  layout: single\nswitching: deny\neveryday_git: ask\nfence: require\n\
             registry_changes: allow\nsources: {kiro: false, adr: true}\nlevels:\n  scope-violation: warning\n  unrecorded-change: error\n",
        );
        assert_eq!(findings, []);
        assert_eq!(policy.mode, Mode::Observe);
        assert_eq!(policy.protected_paths, ["infra/**", "!infra/dev/"]);
        assert_eq!(policy.nested_roots, ["packages/*"]);
        assert_eq!(policy.allowed_outside, ["/srv/out"]);
        assert_eq!(policy.ledger.layout, Some(Layout::Single));
        assert_eq!(policy.switching, Switching::Deny);
        assert_eq!(policy.everyday_git, EverydayGit::Ask);
        assert_eq!(policy.fence, FencePolicy::Require);
        assert_eq!(policy.registry_changes, RegistryChanges::Allow);
        let formats = [SourceFormat::Kiro, SourceFormat::Adr, SourceFormat::Backlog];
        assert_eq!(formats.map(|format| policy.reads(format)), [false, true, true]);
        assert_eq!(policy.editor_level(Code::ScopeViolation), Level::Warning);
        assert_eq!(policy.check_level(Code::UnrecordedChange), Level::Error);
        assert_eq!(policy.check_level(Code::LedgerForged), Level::Error);
    }

    /// Each case is a text, the line at which the problem is reported, and a word of the message.
    #[test]
    fn mistakes_are_reported_at_their_line() {
        let cases = [
            ("mode: enforce\nmodus: ask\n", 2, "modus"),
            ("# a\nmode: enforced\n", 2, "enforced"),
            ("rules:\n  - decision: ask\n", 1, "neither"),
            ("rules:\n  - {command: ' ', decision: ask}\n", 1, "neither"),
            ("rules:\n  - {command: rm, decision: maybe}\n", 2, "maybe"),
            ("rules:\n  - {paths: [../x], decision: deny}\n", 2, "../x"),
            ("ledger:\n  layout: both\n", 2, "both"),
            ("ledger:\n  file: x\n", 2, "file"),
            ("levels:\n  scope-violation: loud\n", 2, "loud"),
            ("levels:\n  scope-violation: off\n  scope-violatoin: error\n", 3, "scope-violatoin"),
            ("sources:\n  kiro: false\n  kyro: false\n", 3, "kyro"),
            ("protected_paths:\n  - a/**\n  - '../x'\n", 3, "../x"),
            ("protected_paths:\n  - '[a'\n", 2, "[a"),
            ("allowed_outside: [tmp]\n", 1, "tmp"),
            ("mode: ask\nmode: observe\n", 2, "mode"),
            ("mode: [\n", 1, "policy"),
            ("- mode\n", 1, "policy"),
            ("mode: ask\n---\nmode: observe\n", 1, "document"),
        ];
        for (text, line, word) in cases {
            let (_, findings) = parse(text);
            let [finding] = findings.as_slice() else { panic!("{text:?}: {findings:?}") };
            assert_eq!(finding.code, Code::PolicyInvalid, "{text:?}");
            assert!(finding.message.contains(word), "{text:?}: {}", finding.message);
            assert_eq!(finding.lines.map(|l| l.start()), Some(line), "{text:?}: {finding:?}");
            assert!(text.get(finding.span.clone().unwrap()).is_some(), "{text:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_indentation() {
        let (policy, findings) = parse("\u{feff}mode: ask\nswitching: deny\n");
        assert_eq!(findings, []);
        assert_eq!((policy.mode, policy.switching), (Mode::Ask, Switching::Deny));
        let (_, findings) = parse("\u{feff}mode: ask\nmodus: x\n");
        assert_eq!(findings[0].lines.map(|lines| lines.start()), Some(2), "{findings:?}");
    }

    #[test]
    fn a_broken_policy_is_the_default() {
        let (policy, findings) = parse("switching: allow\nmode: nonsense\n");
        assert_eq!(policy, Policy::default());
        assert_eq!(findings.len(), 1);
    }

    #[test]
    fn hidden_characters_are_found() {
        let (_, findings) = parse("protected_paths: ['a\u{202e}b']\r\n");
        let [finding] = findings.as_slice() else { panic!("{findings:?}") };
        assert_eq!(finding.code, Code::InvisibleCharacter);
        assert_eq!(finding.span, Some(20..23));
        assert_eq!(finding.message, "An invisible character, U+202E.");
    }

    #[test]
    #[ignore = "slow"]
    fn yaml_bombs_end_in_time() {
        let mut bomb = String::from("a: &a [x, x, x, x, x, x, x, x, x]\n");
        for (name, before) in ('b'..'k').zip('a'..) {
            let list = vec![format!("*{before}"); 9].join(", ");
            bomb.push_str(&format!("{name}: &{name} [{list}]\n"));
        }
        let units = ["- ", "? ", "&a ", "!!a ", "mode: *a\n", "'", "x"];
        let long = units.map(|unit| unit.repeat(50_000 / unit.len()));
        let brackets = ["a: [", "[", "{"].map(|unit| unit.repeat(250_000));
        let nested = format!("mode: {}", "[".repeat(4_000));
        for text in [bomb, nested].iter().chain(&long).chain(&brackets) {
            let started = std::time::Instant::now();
            assert_eq!(parse(text).1.len(), 1);
            let (took, start) = (started.elapsed(), &text[..8]);
            // Without the limits this would take minutes. The bound is generous, because the
            // machine may be busy.
            assert!(took < std::time::Duration::from_secs(10), "{start:?} took {took:?}");
        }
    }
}

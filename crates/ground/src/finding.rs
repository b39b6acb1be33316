//! A finding: a problem at a place in a file that a person should know about, with a stable code.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RelativePath;
use code::{Block, LineRange};
use edits::TextEdit;

/// How serious a finding is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The finding is not shown at all.
    Off,
    /// A suggestion, which editors show in an unobtrusive way.
    Hint,
    /// Information that is worth knowing.
    Info,
    /// The finding is probably a mistake.
    Warning,
    /// The finding is a mistake. Agents are shown only findings of this level.
    Error,
}

macro_rules! codes {
    ($($variant:ident $text:literal $editor:ident $check:ident $summary:literal,)*) => {
        /// The stable codes of findings. Each has a page `docs/diagnostics/<code>.md`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $summary] $variant,)* }
        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)* }
            }
            pub fn summary(self) -> &'static str {
                match self { $(Code::$variant => $summary,)* }
            }
            /// Returns the page `docs/diagnostics/<code>.md`.
            pub fn page(self) -> &'static str {
                match self {
                    $(Code::$variant => {
                        include_str!(concat!("../../../docs/diagnostics/", $text, ".md"))
                    })*
                }
            }
            pub fn editor_default(self) -> Level {
                match self { $(Code::$variant => Level::$editor,)* }
            }
            pub fn check_default(self) -> Level {
                match self { $(Code::$variant => Level::$check,)* }
            }
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Code::$variant),)* _ => None }
            }
        }
    };
}

codes! {
    ScopeViolation "scope-violation" Error Error "An edit lies outside the scope of its intent.",
    ScopeNotAdopted "scope-not-adopted" Hint Info "An edit was made under an intent without a scope here, which does not name the file.",
    IntentRequired "intent-required" Off Off "An edit was made while no intent is selected.",
    IntentNotActive "intent-not-active" Warning Warning "A change belongs to an intent that is not in progress.",
    UnknownIntent "unknown-intent" Warning Error "A record or selection names an intent that the registry does not hold.",
    ProtectedPath "protected-path" Error Error "An edit touches a path that the policy protects.",
    IgnoredPath "ignored-path" Error Error "An edit touches a path that an ignore file keeps from agents.",
    UngatedWrite "ungated-write" Warning Warning "A file was written, and no gate let that through.",
    UnrecordedChange "unrecorded-change" Off Hint "A change that no record covers, and no intent is named for it.",
    Unowned "unowned" Off Off "A change that no record covers, in a file that no intent owns.",
    Suspect "suspect" Off Hint "The intent of a block, or a specification that it names, changed since the block was recorded.",
    DiffersFromRecord "differs-from-record" Off Off "A block is no longer what was recorded.",
    ClassContradicted "class-contradicted" Off Warning "A record says that a block was only refactored, and it was not.",
    MergeConflict "merge-conflict" Warning Error "A merge left both sides of a conflict in a file, with its markers.",
    ScopeOverlap "scope-overlap" Info Info "Two intents in progress own the same file.",
    RegistryChanged "registry-changed" Off Error "A change loosens the rules: an intent is widened or rewritten, or the policy, an ignore file or the trusted keys are changed.",
    RegistrySyntax "registry-syntax" Error Error "The registry does not parse.",
    RegistryMissing "registry-missing" Error Error "There is no registry, though git has one, or something names its intents.",
    RegistryDialect "registry-dialect" Hint Off "The registry is written in a dialect; this is the canonical form.",
    RegistryTooLarge "registry-too-large" Error Error "The registry, or a list in it, exceeds a limit.",
    UnknownStatus "unknown-status" Warning Warning "A status that is none of the six.",
    DuplicateId "duplicate-id" Error Error "Two intents share an id.",
    InvalidId "invalid-id" Warning Warning "An intent id that cannot be cited safely.",
    MissingField "missing-field" Warning Warning "An intent lacks an id, a name, a status or a scope.",
    EmptyScope "empty-scope" Warning Warning "An intent in progress owns nothing.",
    GlobInvalid "glob-invalid" Error Error "A scope entry that is not a valid glob.",
    GlobOutside "glob-outside" Error Error "A scope entry that leaves the workspace, or names .orchestration/.",
    GlobMatchesNothing "glob-matches-nothing" Info Off "A scope entry that matches no file.",
    GlobDirectory "glob-directory" Warning Warning "A scope entry names a directory without a trailing slash, and so owns nothing.",
    InvisibleCharacter "invisible-character" Error Error "An invisible, bidirectional or control character.",
    IgnoreMarker "ignore-marker" Info Off "An ignore file without its first line `# intent: deny-write`.",
    PolicyInvalid "policy-invalid" Error Error "The policy does not parse or holds an unknown value.",
    LedgerTorn "ledger-torn" Warning Warning "A ledger line that was not written to its end.",
    LedgerUnreadable "ledger-unreadable" Warning Warning "A ledger line that cannot be read as a record.",
    LedgerForged "ledger-forged" Error Error "A ledger line whose hash is not that of its bytes.",
    LedgerBroken "ledger-broken" Error Error "A chain of records with a gap or a wrong link.",
    LedgerFork "ledger-fork" Hint Off "Two different records of one writer with one sequence number.",
    LedgerRewritten "ledger-rewritten" Error Error "Evidence that was committed was changed, or removed while its code stands.",
    LedgerTruncated "ledger-truncated" Error Error "Evidence that this clone has seen on a protected branch is gone from there.",
    HistoryMissing "history-missing" Off Error "This clone lacks history without which the answer is not known.",
    EvidenceMissing "evidence-missing" Off Warning "A commit has recorded code, and no evidence of it.",
    EvidenceUnfounded "evidence-unfounded" Error Error "Evidence names an intent for what its commit did not bring.",
    AnchorBroken "anchor-broken" Error Error "An anchor was changed, or evidence that it vouches for is gone.",
    UnknownFile "unknown-file" Off Warning "A file below .orchestration/ that this program neither reads nor writes.",
    LedgerDuplicate "ledger-duplicate" Hint Off "The same record stands twice.",
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedPlace {
    pub path: RelativePath,
    pub span: Range<usize>,
    pub lines: LineRange,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// A title for people, in the imperative: "Write the canonical status IN_PROGRESS".
    pub title: String,
    pub path: RelativePath,
    pub edits: Vec<TextEdit>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub code: Code,
    /// The file. `None` if the finding is about the workspace as a whole.
    pub path: Option<RelativePath>,
    pub span: Option<Range<usize>>,
    pub lines: Option<LineRange>,
    pub intent: Option<String>,
    /// What happened, in one or two sentences. The text is not escaped; that is done where it is
    /// printed.
    pub message: String,
    pub help: String,
    pub related: Vec<RelatedPlace>,
    pub fixes: Vec<Fix>,
}

impl Finding {
    pub fn new(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            code,
            path: None,
            span: None,
            lines: None,
            intent: None,
            message: message.into(),
            help: help.into(),
            related: Vec::new(),
            fixes: Vec::new(),
        }
    }
    /// Sets the place of the finding. `span` is a byte range in `text`, which is the text of
    /// `path`.
    pub(crate) fn at_span(mut self, path: &RelativePath, text: &str, span: Range<usize>) -> Self {
        self.path = Some(path.clone());
        self.lines = lines_of(text, &span);
        self.span = Some(span);
        self
    }
    pub fn in_file(self, path: &RelativePath) -> Self {
        Self { path: Some(path.clone()), ..self }
    }
    pub fn at_block(self, path: &RelativePath, block: &Block) -> Self {
        let (span, lines) = (Some(block.name_bytes.clone()), Some(block.lines));
        Self { span, lines, ..self.in_file(path) }
    }
    /// Returns the place as `path:line`, in the form that compilers use, or only the path if the
    /// line is not known. `path` is used if the finding names no file.
    pub fn place_in_compiler_form(&self, path: &RelativePath) -> String {
        let path = self.path.as_ref().unwrap_or(path);
        match self.lines {
            Some(lines) => format!("{path}:{}", lines.start()),
            None => path.to_string(),
        }
    }
}

/// Returns the lines that a byte range touches. A line break belongs to the line that it ends.
fn lines_of(text: &str, span: &Range<usize>) -> Option<LineRange> {
    let line_at = |offset: usize| {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let breaks = before.iter().filter(|byte| **byte == b'\n').count();
        u32::try_from(breaks + 1).ok()
    };
    let last = span.end.saturating_sub(1).max(span.start);
    LineRange::new(line_at(span.start)?, line_at(last)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_read_back_and_are_kebab_case() {
        for code in Code::ALL {
            assert_eq!(Code::parse(code.as_str()), Some(*code));
            assert!(code.as_str().bytes().all(|b| b == b'-' || b.is_ascii_lowercase()));
            assert!(code.summary().ends_with('.'));
        }
        assert_eq!(Code::parse("no-such-code"), None);
    }

    #[test]
    fn a_finding_shows_its_lines() {
        let path = RelativePath::new("a").unwrap();
        let lines = |span: Range<usize>| {
            let finding =
                Finding::new(Code::PolicyInvalid, "", "").at_span(&path, "ab\ncd\n\nef", span);
            finding.lines.map(|lines| (lines.start(), lines.end()))
        };
        assert_eq!(lines(0..2), Some((1, 1)));
        assert_eq!(lines(0..3), Some((1, 1)));
        assert_eq!(lines(1..4), Some((1, 2)));
        assert_eq!(lines(7..9), Some((4, 4)));
        assert_eq!(lines(9..9), Some((4, 4)));
        assert_eq!(lines(0..0), Some((1, 1)));
    }
}

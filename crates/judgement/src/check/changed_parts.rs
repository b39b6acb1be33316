//! Cuts a change into parts and judges each of them. A part is a block that was edited or deleted,
//! the lines of a file outside of its blocks, or a file that is judged as a whole.

use std::collections::BTreeSet;

use super::ComparedSides;
use super::edited_blocks::{ChangeHistory, EditedBlock, EditedFile, EditedLines, PartOwner};
use super::removed_lines::NetChange;
use crate::lesson;
use code::saying_lines::differ_in_blank_lines;
use code::{Document, LineRange};
use evidence::signing;
use ground::control_files::is_control_file;
use ground::policy::Lessons;
use ground::{Code, Finding, RelativePath, text};
use history::LineText;
use intents::{ImportedIntent, scope};
use ledger::Approved;
use provenance::Difference;
use why::answers::FileProvenance;
use why::baseline::{Baseline, Edits, FormerFile};
use why::rules::{Outside, OutsideWork, Rules, Ruling, names_of_intents};
use why::{Workspace, answers};

#[derive(Clone, Debug, Default)]
pub(super) struct ChangedPart {
    /// The changed lines; `None` if the file is missing or is not text.
    pub lines: Option<LineRange>,
    /// What was done, as the beginning of a sentence: `function a.b changed`, `src/a.rs is new`.
    pub what: String,
    /// The record that explains the part. Without one, the part belongs to the intent that the work
    /// is bound to.
    pub answer: Option<PartOwner>,
    /// Whether a record can describe the part. Records name lines that were brought and blocks,
    /// also deleted ones.
    pub is_recordable: bool,
    /// The file that such a record names, if it is not the judged one: the old name of a file that
    /// was only renamed.
    pub recorded_as: Option<RelativePath>,
    /// Whether the part adds a lesson. All agents read lessons, so they may be added outside the
    /// scope of the intent.
    pub is_lesson: bool,
    /// Whether the part is about a symbolic link or a submodule, which stands for a folder.
    pub is_folder: bool,
}

impl ChangedPart {
    fn new(lines: Option<LineRange>, what: String, answer: Option<PartOwner>) -> Self {
        Self { lines, what, answer, is_recordable: true, ..Self::default() }
    }

    pub(super) fn recorded_intent(&self) -> Option<String> {
        self.answer.as_ref().map(|answer| answer.intent.clone())
    }

    /// Returns what parts share that are judged alike: the intent of the record that explains them,
    /// and the question about it that a person answered.
    fn judged_by(&self) -> Option<(&str, Option<&str>)> {
        self.answer.as_ref().map(PartOwner::judged_by)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    New,
    Gone,
    Renamed,
    Mode,
    Link,
    Submodule,
    Unreadable,
    Nameless,
    Between,
    Unparsed,
}

impl Fate {
    fn as_words(self) -> &'static str {
        match self {
            Self::New => "is new",
            Self::Gone => "is deleted",
            Self::Renamed => "has another name",
            Self::Mode => "has another mode",
            Self::Link => "changed as a symbolic link",
            Self::Submodule => "is a submodule at another commit",
            Self::Between => "changed outside its blocks",
            Self::Unparsed => "changed where it does not parse",
            Self::Unreadable => "changed, and is not read as text",
            Self::Nameless => "changed, and its name is not UTF-8",
        }
    }
}

/// What a change did to a file that exists.
pub(super) struct StandingEdits {
    /// One for each intent that changed a block or the lines outside of blocks, or for the file as a
    /// whole if it is new or renamed.
    pub parts: Vec<ChangedPart>,
    pub blocks: Vec<EditedBlock>,
    /// The lines that lie in no block, or in one that does not parse.
    pub outside: EditedLines,
}

pub(super) fn of_standing(
    ws: &Workspace,
    path: &RelativePath,
    file: &FileProvenance,
    before: &FormerFile,
    change: &ChangeHistory,
) -> StandingEdits {
    let differences = before.baseline.differences(&file.document);
    let edits = Edits::from_differences(&differences);
    let view = EditedFile::new(ws, path, file, &differences, change);
    let edited = edits.now.iter().map(|(at, _)| view.edited_block(*at));
    let edited: Vec<EditedBlock> = edited.collect();
    let outside = view.edited_outside();
    let mut parts = of_blocks(&view, &before.baseline, &edited, &edits);
    parts.extend(parts_outside(&view, &before.baseline, &outside));
    if let Some(from) = &before.from {
        // Only the name changed, so the records that say that the blocks left the old path answer
        // for the change.
        if edited.is_empty() && outside.owners.is_empty() {
            // The first text of the baseline can be that of the new path, which is empty, so the
            // first text with blocks is used.
            let mut then = before.baseline.versions().iter();
            let then = then.find(|then| !then.blocks().blocks.is_empty());
            let gone = of_gone(ws, from, then, change);
            let lines = LineRange::new(1, 1);
            let first = |part| ChangedPart { lines, recorded_as: Some(from.clone()), ..part };
            parts = gone.into_iter().map(first).collect();
        }
        parts = as_a_whole(parts, path, Fate::Renamed);
    } else if is_new(&before.baseline) && !parts.is_empty() {
        parts = as_a_whole(parts, path, Fate::New);
    }
    StandingEdits { parts, blocks: edited, outside }
}

/// Returns true if there was no text before.
pub(super) fn is_new(baseline: &Baseline) -> bool {
    let versions = baseline.versions();
    !versions.is_empty() && versions.iter().all(|old| old.len_bytes() == 0)
}

/// Returns true if a text does not parse, although its earlier versions did.
pub(super) fn is_broken(baseline: &Baseline, now: &Document) -> bool {
    now.blocks().has_error && !baseline.has_error() && differs(baseline, now)
}

/// Returns true if a text differs from an earlier version in blank lines alone. They say nothing, so
/// nobody has to answer for them.
pub(super) fn differs_in_blank_lines(baseline: &Baseline, now: &Document) -> bool {
    let is_alike = |old: &Document| differ_in_blank_lines(&old.text(), &now.text());
    baseline.versions().iter().any(is_alike)
}

/// Returns true if the earlier versions of a text are known and it differs from all of them.
fn differs(baseline: &Baseline, now: &Document) -> bool {
    let (text, versions) = (now.text(), baseline.versions());
    !versions.is_empty() && versions.iter().all(|old| old.text() != text)
}

fn of_blocks(
    view: &EditedFile<'_>,
    baseline: &Baseline,
    edited: &[EditedBlock],
    edits: &Edits,
) -> Vec<ChangedPart> {
    let document = &view.file.document;
    let lessons = lesson::lines(view.path, document)
        .filter(|_| baseline.versions().iter().all(|old| lesson::only_adds(old, document)));
    let is_lesson = |lines: LineRange| {
        lessons.is_some_and(|all| all.contains(lines.start()) && all.contains(lines.end()))
    };
    let mut parts: Vec<ChangedPart> = Vec::new();
    for block in edited {
        let what = format!("{} changed", view.file.blocks.blocks[block.at].identity);
        for (owner, lines) in &block.lines.owners {
            let part = ChangedPart::new(Some(*lines), what.clone(), owner.clone());
            parts.push(ChangedPart { is_lesson: is_lesson(*lines), ..part });
        }
    }
    let is_edited = !parts.is_empty();
    for block in &edits.gone {
        // A block without a name may have become part of an edited block around it, which has a
        // part already.
        if block.identity.kind.is_unnamed() && is_edited {
            continue;
        }
        let line = view.differences.first().map_or(1, |first| first.place_of(block));
        let lines = LineRange::new(line, line);
        let what = format!("{} is deleted", block.identity);
        let owners = view.change.deletions(view.ws, view.path, view.net(), block).into_iter();
        parts.extend(owners.map(|owner| ChangedPart::new(lines, what.clone(), owner)));
    }
    parts
}

fn parts_outside(
    view: &EditedFile<'_>,
    baseline: &Baseline,
    outside: &EditedLines,
) -> Vec<ChangedPart> {
    let is_broken = || is_broken(baseline, &view.file.document);
    let fate = match outside.owners.is_empty() || !is_broken() {
        true => Fate::Between,
        false => Fate::Unparsed,
    };
    let what = format!("{} {}", view.path, fate.as_words());
    let owners = outside.owners.iter();
    owners
        .map(|(owner, lines)| ChangedPart::new(Some(*lines), what.clone(), owner.clone()))
        .collect()
}

pub(super) fn of_gone(
    ws: &Workspace,
    path: &RelativePath,
    before: Option<&Document>,
    change: &ChangeHistory,
) -> Vec<ChangedPart> {
    let now = Document::from_text(path.as_str(), "");
    let differences = Vec::from_iter(before.map(|before| Difference::new(before, &now)));
    let (now, commits) = (LineText::default(), &change.commits);
    let net = NetChange::from_differences(ws, path, &differences, &now, commits);
    let blocks = differences.iter().flat_map(|difference| &difference.old.blocks);
    let named = blocks.filter(|block| !block.identity.kind.is_unnamed());
    let answers: Vec<_> =
        named.flat_map(|block| change.deletions(ws, path, net.as_ref(), block)).collect();
    // If the file has no block with a name, no record can say that it was deleted.
    let is_recordable = !answers.is_empty();
    let answers = if is_recordable { answers } else { vec![None] };
    let what = format!("{path} {}", Fate::Gone.as_words());
    let part =
        |answer| ChangedPart { is_recordable, ..ChangedPart::new(None, what.clone(), answer) };
    as_a_whole(answers.into_iter().map(part).collect(), path, Fate::Gone)
}

pub(super) fn as_a_whole(
    parts: Vec<ChangedPart>,
    path: &RelativePath,
    fate: Fate,
) -> Vec<ChangedPart> {
    let mut merged: Vec<ChangedPart> = Vec::new();
    for part in parts {
        // In a new file, what `intent lesson` wrote is a lesson, and the rest is not.
        let is_lesson = part.is_lesson && fate == Fate::New;
        let same = |other: &ChangedPart| {
            other.is_lesson == is_lesson && other.judged_by() == part.judged_by()
        };
        if !merged.iter().any(same) {
            // One finding is enough. It is shown at the beginning of the file.
            let lines = part.lines.and_then(|_| LineRange::new(1, 1));
            let what = format!("{path} {}", fate.as_words());
            merged.push(ChangedPart { lines, what, is_lesson, ..part });
        }
    }
    merged
}

pub(super) fn of_file(path: &RelativePath, fate: Fate) -> ChangedPart {
    let what = format!("{path} {}", fate.as_words());
    let is_recordable = matches!(fate, Fate::Unparsed | Fate::Renamed);
    let is_folder = matches!(fate, Fate::Link | Fate::Submodule);
    ChangedPart { is_recordable, is_folder, ..ChangedPart::new(None, what, None) }
}

pub(super) fn conflicts(path: &RelativePath, document: &Document) -> Vec<Finding> {
    let help = "Keep what is right of both sides, and take the lines out that begin with `<<<<<<<`, `=======` and `>>>>>>>`.";
    let finding = |lines: LineRange| {
        let (first, last) = (lines.start(), lines.end());
        let message = format!("A merge left both sides of a conflict in lines {first}-{last}.");
        let finding = Finding::new(Code::MergeConflict, message, help).in_file(path);
        Finding { lines: Some(lines), ..finding }
    };
    code::conflicts(&document.text()).into_iter().map(finding).collect()
}

pub(super) struct PartJudge<'a> {
    pub ws: &'a Workspace,
    pub rules: &'a Rules,
    pub path: &'a RelativePath,
    /// The intents that the work is bound to. It is enough that one of them permits the part.
    pub bound: &'a [String],
    /// The intents that other work of the change is bound to, where `bound` is empty.
    pub of_other_work: &'a [String],
    pub against: &'a ComparedSides,
    /// Whether the change is committed already, so that `intent record` would find no difference.
    pub is_committed: bool,
}

impl PartJudge<'_> {
    /// Returns the findings about these parts. A file that is itself a rule, such as
    /// `.intentignore`, belongs to no intent, so only protected and ignored paths are checked for
    /// it.
    pub(super) fn judge_parts(&self, parts: &[ChangedPart]) -> Vec<Finding> {
        if !signing::is_rule(&self.rules.accepted().policy, self.path) {
            let judged = parts.iter().flat_map(|part| self.judge(part, parts));
            return judged.chain(self.beyond_named(parts)).collect();
        }
        let unbound = PartJudge { bound: &[], of_other_work: &[], ..*self };
        let findings = parts.iter().flat_map(|part| unbound.judge(part, parts));
        findings.filter(|it| matches!(it.code, Code::ProtectedPath | Code::IgnoredPath)).collect()
    }

    /// Returns a finding for each intent without a scope under which the file was changed although
    /// it does not name the file.
    fn beyond_named(&self, parts: &[ChangedPart]) -> Vec<Finding> {
        let bound = self.bound.first().filter(|_| self.bound.len() == 1);
        let id = |part: &'_ ChangedPart| {
            part.answer.as_ref().map(|it| it.intent.clone()).or(bound.cloned())
        };
        let ids: BTreeSet<String> = parts.iter().filter_map(id).collect();
        let imported = ids.iter().filter_map(|id| self.rules.unadopted(id));
        let beyond = imported.filter(|imported| !imported.names(self.path));
        let finding = |imported: &ImportedIntent| {
            let (id, path) = (&imported.intent.id.value, self.path);
            let message = format!(
                "{path} was changed under {id}, which has no scope here and does not name it."
            );
            let help = format!("`intent adopt {id}` gives it a scope.");
            let finding = Finding::new(Code::ScopeNotAdopted, message, help).in_file(path);
            Finding { intent: Some(id.clone()), ..finding }
        };
        beyond.map(finding).collect()
    }

    fn judge(&self, part: &ChangedPart, parts: &[ChangedPart]) -> Vec<Finding> {
        let is_denied = self.rules.accepted().policy.lessons == Lessons::Deny;
        let is_lesson = part.is_lesson && !is_denied;
        let named = match &part.answer {
            Some(answer) => std::slice::from_ref(&answer.intent),
            None => self.bound,
        };
        let rulings = |id: Option<&str>| match part.is_folder {
            true => self.rules.rulings_of_folder(self.path, id),
            false => self.rules.rulings(self.path, id),
        };
        let mut chosen = named.first().map(String::as_str);
        let mut found = rulings(chosen);
        for other in named.iter().skip(1).map(String::as_str) {
            let others = rulings(Some(other));
            let is_active =
                |id: Option<&str>| id.is_some_and(|id| self.rules.intent_at_work(id).is_some());
            let rank = |found: &[Ruling], id| (found.len(), !is_active(id));
            if rank(&others, Some(other)) < rank(&found, chosen) {
                (chosen, found) = (Some(other), others);
            }
        }
        if self.is_approved(part) {
            found.clear();
        }
        if is_lesson {
            found.retain(|ruling| matches!(ruling, Ruling::Protected(_) | Ruling::Ignored(_)));
        }
        let mut findings: Vec<Finding> =
            found.iter().map(|ruling| self.violation(part, ruling, chosen)).collect();
        if part.answer.is_none() && !is_lesson {
            // Evidence that the change added and removed again tells whose these lines are.
            let is_known = parts.iter().any(|other| {
                let is_removed = other.answer.as_ref().is_some_and(|answer| answer.is_removed);
                is_removed && other.lines == part.lines && other.what == part.what
            });
            findings.extend(self.beside_other_work(part).filter(|_| !is_known));
            findings.extend(self.unanswered(part, chosen));
        }
        findings
    }

    /// Returns a finding if nobody answers for the part, its file belongs to an intent in progress,
    /// and all that is known of the change is that its other work is done under intents that may not
    /// edit the file. So a commit makes no work out of scope acceptable. A contributor who knows
    /// nothing of intents is bound to none, and is not in the way.
    fn beside_other_work(&self, part: &ChangedPart) -> Option<Finding> {
        let (path, rules) = (self.path, self.rules);
        let owners = rules.owners(path);
        let first = self.of_other_work.first().filter(|_| !owners.is_empty())?;
        let is_outside = |id: &String| {
            let outside = |ruling: &Ruling| matches!(ruling, Ruling::Outside(_));
            rules.rulings(path, Some(id)).iter().any(outside)
        };
        if !self.of_other_work.iter().all(is_outside) {
            return None;
        }
        let (others, owners) = (self.of_other_work.join(", "), names_of_intents(owners));
        let message = format!(
            "Scope Violation: {}, and no record covers it. {path} belongs to {}, and the rest of this change was made under {others}, which may not edit it.",
            part.what,
            owners.join(", "),
        );
        let ids: Vec<&str> = rules.owners(path).iter().map(|it| it.id.value.as_str()).collect();
        let help = format!("{} Or put it back.", self.how_to_answer(part, &ids));
        Some(self.finding(part, Code::ScopeViolation, Some(first), message, help))
    }

    fn is_approved(&self, part: &ChangedPart) -> bool {
        let code = part.answer.as_ref().and_then(PartOwner::approval_code);
        let holds = |hash: &str| {
            let text = self.ws.text(self.path).ok().flatten();
            text.is_some_and(|text| Approved::hash_of(text.as_bytes()) == hash)
        };
        code.is_some_and(|code| self.rules.is_approved(code, self.path, holds))
    }

    fn violation(&self, part: &ChangedPart, ruling: &Ruling, id: Option<&str>) -> Finding {
        let path = self.path;
        let message = self.other_owner(part, ruling, id).unwrap_or_else(|| {
            let (what, why) = self.rules.describe(ruling, path, id);
            [what, why].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
        });
        let help = self.help(part, ruling, id);
        let mut finding = self.finding(part, ruling.code(), id, message, help);
        if matches!(ruling, Ruling::Outside(_)) {
            finding.related =
                id.and_then(|id| self.rules.explained(path, id)).into_iter().collect();
        }
        finding
    }

    /// Says that the path belongs to another intent. `None` if that is not the reason.
    fn other_owner(&self, part: &ChangedPart, ruling: &Ruling, id: Option<&str>) -> Option<String> {
        let (path, id) = (self.path, id?);
        if !matches!(ruling, Ruling::Outside(Outside::Unmentioned | Outside::Excluded(_))) {
            return None;
        }
        let owners = self.rules.other_owners(path, id);
        let why = match &part.answer {
            Some(_) => format!("this was recorded under {id}"),
            None if self.rules.is_of_one_machine() => format!("{id} is selected"),
            None => format!("this change is made under {id}"),
        };
        let owners = (!owners.is_empty()).then(|| owners.join(", "))?;
        Some(format!("Scope Violation: {path} belongs to {owners}; {why}."))
    }

    fn help(&self, part: &ChangedPart, ruling: &Ruling, id: Option<&str>) -> String {
        let (path, id) = (self.path, id.unwrap_or_default());
        let fixed = match ruling {
            Ruling::Protected(_) => "Put it back, or let a person change the policy first.",
            Ruling::Ignored(_) => "Put it back, or let a person change the ignore file first.",
            // The record may mean another intent than the one that has its id now.
            Ruling::Unknown => {
                let owner = part.answer.as_ref();
                match owner.and_then(|it| answers::misplaced(self.ws, path, &it.claim)) {
                    Some(help) => return help,
                    None => "Restore the intent in the registry, or select another one.",
                }
            }
            Ruling::Outside(Outside::Proposed | Outside::Taken(_)) => {
                return super::rule_changes::ways_out(id);
            }
            Ruling::Outside(_) => {
                let is_whole = part.what.starts_with(path.as_str());
                let place = match part.lines {
                    Some(lines) => format!("{}:{}", path.for_shell(), lines.start()),
                    None => path.for_shell(),
                };
                let work = match &part.answer {
                    None => OutsideWork::Selected,
                    Some(answer) if !answer.names_lines => OutsideWork::Recorded,
                    Some(answer) if answer.claim.commit.is_none() => OutsideWork::Open(&place),
                    Some(_) => OutsideWork::Committed(&place),
                };
                let it = if is_whole { "it" } else { "the block" };
                return self.rules.way_out(path, id, it, work);
            }
        };
        fixed.to_owned()
    }

    fn unanswered(&self, part: &ChangedPart, bound: Option<&str>) -> Vec<Finding> {
        let (path, what) = (self.path, &part.what);
        let owners = self.rules.owners(path);
        let ids: Vec<&str> = owners.iter().map(|intent| intent.id.value.as_str()).collect();
        let new = self.new_intent();
        let mut findings = Vec::new();
        if let Some(id) = bound {
            findings.extend(self.not_active(part, id));
        } else {
            let select = match ids[..] {
                [] => format!("Select one that may be widened, or create one: {new}."),
                [only] => {
                    let typed = text::shell_word(only);
                    format!("Select the intent that owns this file: `intent select {typed}`.")
                }
                _ => format!("Select one that owns this file: {}.", ids.join(", ")),
            };
            let message = format!("{what}, and no intent is selected.");
            findings.push(self.finding(part, Code::IntentRequired, None, message, select));
            let message = format!("{what}, and no record covers it.");
            let help = self.how_to_answer(part, &ids);
            findings.push(self.finding(part, Code::UnrecordedChange, None, message, help));
        }
        if ids.is_empty() {
            let message = format!("{what}, and no intent in progress owns {path}.");
            let help = format!("Add it to the scope of an intent, or create one: {new}.");
            findings.push(self.finding(part, Code::Unowned, None, message, help));
        }
        findings
    }

    /// Says how to answer for a part that no record covers. `owners` are the intents that own the
    /// file.
    fn how_to_answer(&self, part: &ChangedPart, owners: &[&str]) -> String {
        let (several, to) = match owners {
            [] if self.path.as_str().contains(char::REPLACEMENT_CHARACTER) => {
                return "Give the file a name in UTF-8: no scope owns another.".to_owned();
            }
            [] => {
                let new = self.new_intent();
                return format!(
                    "No intent in progress owns it: widen the scope of one that `intent list` shows, or create one, {new}."
                );
            }
            [only] => (String::new(), only),
            [first, ..] => (format!(" These own it: {}.", owners.join(", ")), first),
        };
        let check = self.against.command_line();
        let id = text::shell_word(to);
        let whole = format!("of the whole change: `{check} --intent {id}`.{several}");
        let of_commit = format!(
            "name the intent of the commit, by a line `Intent-Id: {to}` at the end of its message, or {whole}"
        );
        let recorded_as = part.recorded_as.as_ref().unwrap_or(self.path);
        let typed = recorded_as.for_shell();
        if !part.is_recordable || is_control_file(self.path) {
            return format!("No record can describe this, so {of_commit}");
        }
        if !self.is_committed {
            return format!(
                "Record it with `intent record {typed} --intent {id}`, or name the intent {whole}"
            );
        }
        let lines = part.lines.map(|it| format!("--lines {}-{} ", it.start(), it.end()));
        let lines = lines.unwrap_or_default();
        format!(
            "Record it with `intent record --all {lines}{typed} --intent {id}` and commit that, or {of_commit}"
        )
    }

    fn new_intent(&self) -> String {
        let name = format!("Work on {}", self.path);
        let (name, entry) = (text::shell_path(&name), scope::entry_for(self.path));
        format!("`intent new {name} --scope {} --start`", text::shell_path(&entry))
    }

    /// Returns a finding if unrecorded work is bound to an intent that is finished or not started.
    /// Recorded work was judged when the record was made.
    fn not_active(&self, part: &ChangedPart, id: &str) -> Option<Finding> {
        let intent = self.rules.intent(id).filter(|_| self.rules.intent_at_work(id).is_none())?;
        let status =
            intent.status.as_ref().map_or("without a known status", |it| it.value.as_str());
        let message = format!("{} under {id}, which is {status}.", part.what);
        let typed = text::shell_word(id);
        let help =
            format!("Select an intent that is in progress, or start it: `intent start {typed}`.");
        Some(self.finding(part, Code::IntentNotActive, Some(id), message, help))
    }

    fn finding(
        &self,
        part: &ChangedPart,
        code: Code,
        intent: Option<&str>,
        message: String,
        help: String,
    ) -> Finding {
        Finding {
            path: Some(self.path.clone()),
            lines: part.lines,
            intent: intent.map(str::to_owned),
            ..Finding::new(code, message, help)
        }
    }
}

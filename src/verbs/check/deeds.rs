//! Cuts a change into deeds and judges each of them. A deed is a block that was edited or deleted,
//! or a file that is judged as a whole.

use super::ComparedSides;
use crate::code::{self, Block, Document, LineRange};
use crate::ledger::{Approved, ClaimRef, journal};
use crate::provenance::Difference;
use crate::verbs::baseline::{Baseline, Edits, FormerFile};
use crate::verbs::gate::is_control_file;
use crate::verbs::rules::{Outside, Rules, Ruling};
use crate::verbs::{Workspace, lesson, signing, why};
use crate::workspace::policy::Lessons;
use crate::workspace::{Code, CommitId, Finding, RelativePath, text};

/// One thing that a change does to a file.
#[derive(Clone, Debug)]
pub(super) struct Deed {
    /// The changed lines; `None` if the file is missing or is not text.
    pub lines: Option<LineRange>,
    /// What was done, as the beginning of a sentence: `function a.b changed`, `src/a.rs is new`.
    pub what: String,
    /// The record that answers for the deed, if there is one.
    pub answers: Answers,
    /// Whether a record can describe the deed. Records describe blocks of text, also deleted ones.
    pub is_recordable: bool,
    /// Whether the deed adds a lesson. All agents read lessons, so they may be added outside the
    /// scope of the intent.
    pub is_lesson: bool,
    /// Whether the deed is about a symbolic link or a submodule, which stands for a folder.
    pub is_folder: bool,
}

impl Deed {
    /// A deed that a record can describe and that is neither a lesson nor about a folder.
    fn new(lines: Option<LineRange>, what: String, answers: Answers) -> Self {
        Self { lines, what, answers, is_recordable: true, is_lesson: false, is_folder: false }
    }
}

/// Whether a record explains a change, and which one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answers {
    /// A record, given by the id of its intent and its claim.
    Record(String, Option<ClaimRef>),
    /// No record. The change belongs to the intent that the work is bound to.
    Nobody,
}

/// What happened to a file that is judged as a whole.
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
    fn words(self) -> &'static str {
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

/// Returns the kind and the path of a block: `function a.b`.
pub(super) fn name(block: &Block) -> String {
    format!("{} {}", block.identity.kind.as_str(), block.identity.path)
}

/// Cuts the change of an existing file into deeds: one for each block, or for the file as a whole
/// if it is new or renamed. Returns also the edits that the deeds were made from.
pub(super) fn of_standing(
    ws: &Workspace,
    path: &RelativePath,
    file: &why::FileProvenance,
    before: &FormerFile,
    bases: &[CommitId],
) -> (Vec<Deed>, Edits) {
    let differences = before.baseline.differences(&file.document);
    let edits = before.baseline.edits_with(&file.document, &differences);
    let mut deeds = of_blocks(ws, path, file, (&before.baseline, &edits, &differences), bases);
    if let Some(from) = &before.from {
        // Only the name changed, so the records that say that the blocks left the old path answer
        // for the change.
        if edits.now.is_empty() {
            // The first text of the baseline can be that of the new path, which is empty, so the
            // first text with blocks is used.
            let mut then = before.baseline.versions().iter().map(Document::blocks);
            let then = then.find(|then| !then.blocks.is_empty());
            let gone = of_gone(ws, from, then.as_ref().map_or(&[], |it| &it.blocks), bases);
            let first = |deed| Deed { lines: LineRange::new(1, 1), ..deed };
            deeds = gone.into_iter().map(first).collect();
        }
        deeds = as_a_whole(deeds, path, Fate::Renamed);
    } else if before.baseline.is_empty() && !deeds.is_empty() {
        deeds = as_a_whole(deeds, path, Fate::New);
    }
    (deeds, edits)
}

/// Returns true if the earlier versions of a text are known and it differs from all of them.
pub(super) fn differs(baseline: &Baseline, now: &Document) -> bool {
    let (text, versions) = (now.text(), baseline.versions());
    !versions.is_empty() && versions.iter().all(|old| old.text() != text)
}

/// Returns a deed for each block that the change edits or deletes. A record that is newer than all
/// of `bases` answers for the deletions that it lists.
fn of_blocks(
    ws: &Workspace,
    path: &RelativePath,
    file: &why::FileProvenance,
    (baseline, edits, differences): (&Baseline, &Edits, &[Difference]),
    bases: &[CommitId],
) -> Vec<Deed> {
    let lessons = lesson::lines(path, &file.document)
        .filter(|_| baseline.versions().iter().all(|old| lesson::only_adds(old, &file.document)));
    let mut deeds: Vec<Deed> = Vec::new();
    for (at, _) in &edits.now {
        let (block, found) = (&file.blocks.blocks[*at], &file.provenance[*at]);
        // A record without an intent does not count as an explanation of the change.
        let answers = match why::intent_of(ws, found).filter(|_| found.covered()) {
            Some(id) => Answers::Record(id, found.claim),
            None => Answers::Nobody,
        };
        let lines = Some(differences.first().map_or(block.lines, |first| first.changed(*at)));
        let is_lesson = lines.is_some_and(|lines| {
            lessons.is_some_and(|all| all.contains(lines.start()) && all.contains(lines.end()))
        });
        let what = format!("{} changed", name(block));
        deeds.push(Deed { is_lesson, ..Deed::new(lines, what, answers) });
    }
    let is_edited = !deeds.is_empty();
    for block in &edits.gone {
        // A block without a name may have become part of an edited block around it, which has a
        // deed already.
        if block.identity.kind.is_unnamed() && is_edited {
            continue;
        }
        let line = differences.first().map_or(1, |first| first.place_of(block));
        let lines = LineRange::new(line, line);
        let what = format!("{} is deleted", name(block));
        let answers = deletion(ws, path, block, bases);
        deeds.push(Deed::new(lines, what, answers));
    }
    deeds
}

/// Returns the deeds of a deleted file, given the blocks that it had.
pub(super) fn of_gone(
    ws: &Workspace,
    path: &RelativePath,
    blocks: &[Block],
    bases: &[CommitId],
) -> Vec<Deed> {
    let named = blocks.iter().filter(|block| !block.identity.kind.is_unnamed());
    let answers: Vec<Answers> = named.map(|block| deletion(ws, path, block, bases)).collect();
    let answers = if answers.is_empty() { vec![Answers::Nobody] } else { answers };
    let what = format!("{path} {}", Fate::Gone.words());
    // If the file has no blocks, like a picture, no record can say that it was deleted.
    let is_recordable = !blocks.is_empty();
    let deed = |answers| Deed { is_recordable, ..Deed::new(None, what.clone(), answers) };
    as_a_whole(answers.into_iter().map(deed).collect(), path, Fate::Gone)
}

/// Returns the newest record that says that the block was deleted and that no base commit contains.
fn deletion(ws: &Workspace, path: &RelativePath, block: &Block, bases: &[CommitId]) -> Answers {
    let identity = &block.identity;
    let is_at = |base: &CommitId, path: &RelativePath| {
        ws.git().is_some_and(|git| git.has_file(base, path).unwrap_or(false))
    };
    let claims = ws.ledger.of_path(path).into_iter().rev();
    let mut found = claims.filter(|at| {
        let claim = ws.ledger.claim(*at);
        let range = claim.full_block();
        let is_it = range
            .block
            .as_ref()
            .is_some_and(|name| name.kind == identity.kind.as_str() && name.path == identity.path);
        // Open files of the journal hold only records that are in no commit. Any other file is old
        // if a base commit has it.
        let place = &claim.entry.origin.path;
        let is_old = || !journal::is_open(place) && bases.iter().any(|base| is_at(base, place));
        range.deleted && is_it && !is_old()
    });
    let found = found.find_map(|at| Some((ws.intent_of(&ws.ledger.claim(at))?, at)));
    found.map_or(Answers::Nobody, |(id, at)| Answers::Record(id, Some(at)))
}

/// Merges the deeds of a file that is judged as a whole to one for each intent that answers.
/// Lessons keep deeds of their own.
pub(super) fn as_a_whole(deeds: Vec<Deed>, path: &RelativePath, fate: Fate) -> Vec<Deed> {
    let mut merged: Vec<Deed> = Vec::new();
    for deed in deeds {
        // In a new file, what `intent lesson` wrote is a lesson, and the rest is not.
        let is_lesson = deed.is_lesson && fate == Fate::New;
        let same = |other: &Deed| {
            other.is_lesson == is_lesson
                && match (&other.answers, &deed.answers) {
                    (Answers::Record(one, _), Answers::Record(other, _)) => one == other,
                    (one, other) => one == other,
                }
        };
        if !merged.iter().any(same) {
            // One finding is enough. It is shown at the beginning of the file.
            let lines = deed.lines.and_then(|_| LineRange::new(1, 1));
            let what = format!("{path} {}", fate.words());
            merged.push(Deed { lines, what, is_lesson, ..deed });
        }
    }
    merged
}

/// Makes the deed of a file of which only the fate is known. No record answers for it.
pub(super) fn of_file(path: &RelativePath, fate: Fate) -> Deed {
    let what = format!("{path} {}", fate.words());
    let is_recordable = matches!(fate, Fate::Unparsed | Fate::Renamed);
    let is_folder = matches!(fate, Fate::Link | Fate::Submodule);
    Deed { is_recordable, is_folder, ..Deed::new(None, what, Answers::Nobody) }
}

/// Returns a finding for each merge conflict that is not resolved.
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

/// How the deeds of a file are to be judged.
pub(super) struct Asked<'a> {
    /// The intents that the work is bound to. It is enough that one of them permits the deed.
    pub bound: &'a [String],
    /// The two sides that are compared.
    pub against: &'a ComparedSides,
    /// Whether the change is committed already, so that `intent record` would find no difference.
    pub is_committed: bool,
}

/// Judges the deeds of a file. A file that is itself a rule, such as `.intentignore`, belongs to no
/// intent, so only protected and ignored paths are checked for it.
pub(super) fn judge(
    ws: &Workspace,
    rules: &Rules,
    path: &RelativePath,
    deeds: &[Deed],
    asked: &Asked<'_>,
) -> Vec<Finding> {
    let is_rule = signing::is_rule(&rules.accepted().policy, path);
    let asked = &Asked { bound: if is_rule { &[] } else { asked.bound }, ..*asked };
    let cases = deeds.iter().map(|deed| DeedCase { ws, rules, path, deed, asked });
    let mut findings: Vec<Finding> = cases.flat_map(|case| case.judge()).collect();
    if is_rule {
        findings.retain(|it| matches!(it.code, Code::ProtectedPath | Code::IgnoredPath));
    }
    findings
}

struct DeedCase<'a> {
    ws: &'a Workspace,
    rules: &'a Rules,
    path: &'a RelativePath,
    deed: &'a Deed,
    asked: &'a Asked<'a>,
}

impl DeedCase<'_> {
    fn judge(&self) -> Vec<Finding> {
        let is_denied = self.rules.accepted().policy.lessons == Lessons::Deny;
        let is_lesson = self.deed.is_lesson && !is_denied;
        let (named, is_answered) = match &self.deed.answers {
            Answers::Record(id, _) => (std::slice::from_ref(id), true),
            Answers::Nobody => (self.asked.bound, is_lesson),
        };
        let rulings = |id: Option<&str>| match self.deed.is_folder {
            true => self.rules.rulings_of_folder(self.path, id),
            false => self.rules.rulings(self.path, id),
        };
        let mut chosen = named.first().map(String::as_str);
        let mut found = rulings(chosen);
        for other in named.iter().skip(1).map(String::as_str) {
            let others = rulings(Some(other));
            let is_better = |id: Option<&str>| {
                id.and_then(|id| self.rules.intent(id)).is_some_and(|it| it.in_progress())
            };
            let rank = |found: &[Ruling], id| (found.len(), !is_better(id));
            if rank(&others, Some(other)) < rank(&found, chosen) {
                (chosen, found) = (Some(other), others);
            }
        }
        if self.is_approved() {
            found.clear();
        }
        if is_lesson {
            found.retain(|ruling| matches!(ruling, Ruling::Protected(_) | Ruling::Ignored(_)));
        }
        let mut findings: Vec<Finding> =
            found.iter().map(|ruling| self.violation(ruling, chosen)).collect();
        if !is_answered && !self.is_approved() {
            findings.extend(self.unanswered(chosen));
        }
        findings
    }

    /// Returns the path, quoted for a shell, if a record answers for the deed and its block still
    /// exists.
    fn recorded_path(&self) -> Option<String> {
        let Answers::Record(_, claim) = self.deed.answers else { return None };
        let is_gone = claim.is_some_and(|at| self.ws.ledger.claim(at).full_block().deleted);
        (!is_gone).then(|| text::shell_word(self.path.as_str()))
    }

    /// Returns true if a person approved the work that the record describes.
    fn is_approved(&self) -> bool {
        let Answers::Record(_, Some(claim)) = self.deed.answers else { return false };
        let claim = self.ws.ledger.claim(claim);
        let code = claim.entry.record.decision.as_ref().and_then(|it| it.approval.as_deref());
        let holds = |hash: &str| {
            let text = self.ws.text(self.path).ok().flatten();
            text.is_some_and(|text| Approved::hash_of(text.as_bytes()) == hash)
        };
        code.is_some_and(|code| self.rules.is_approved(code, self.path, holds))
    }

    fn violation(&self, ruling: &Ruling, id: Option<&str>) -> Finding {
        let path = self.path;
        let (what, why) = self.rules.describe(ruling, path, id);
        let message = [what, why].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        let mut finding = self.finding(ruling.code(), id, message.join(" "), self.help(ruling, id));
        if matches!(ruling, Ruling::Outside(_)) {
            finding.related =
                id.and_then(|id| self.rules.explained(path, id)).into_iter().collect();
        }
        finding
    }

    fn help(&self, ruling: &Ruling, id: Option<&str>) -> String {
        let (path, id) = (self.path, id.unwrap_or_default());
        let fixed = match ruling {
            Ruling::Protected(_) => "Put it back, or let a person change the policy first.",
            Ruling::Ignored(_) => "Put it back, or let a person change the ignore file first.",
            Ruling::Unknown => match self.misplaced() {
                Some(help) => return help,
                None => "Restore the intent in the registry, or select another one.",
            },
            Ruling::Outside(Outside::Proposed) if self.rules.is_of_one_machine() => {
                "Save the registry."
            }
            Ruling::Outside(Outside::Proposed | Outside::Taken(_)) => {
                return super::rule_changes::ways_out(id);
            }
            Ruling::Outside(_) => {
                let is_whole = self.deed.what.starts_with(path.as_str());
                let place = self.recorded_path().map(|typed| match self.deed.lines {
                    Some(lines) => format!("{typed}:{}", lines.start()),
                    None => typed,
                });
                let it = if is_whole { "it" } else { "the block" };
                return self.rules.way_out(path, id, it, place.as_deref());
            }
        };
        fixed.to_owned()
    }

    /// Says what to do if the record means another intent than the one that has its id now.
    fn misplaced(&self) -> Option<String> {
        match self.deed.answers {
            Answers::Record(_, Some(claim)) => why::misplaced(self.ws, self.path, claim),
            _ => None,
        }
    }

    /// Returns the findings about a deed that no record answers for.
    fn unanswered(&self, bound: Option<&str>) -> Vec<Finding> {
        let (path, what) = (self.path, &self.deed.what);
        let owners = self.rules.owners(path);
        let ids: Vec<&str> = owners.iter().map(|intent| intent.id.value.as_str()).collect();
        let new = self.new_intent();
        let mut findings = Vec::new();
        if let Some(id) = bound {
            findings.extend(self.not_active(id));
        } else {
            let select = match ids[..] {
                [] => format!("Select one that may be widened, or create one: {new}."),
                [only] => format!("Select the intent that owns this file: `intent select {only}`."),
                _ => format!("Select one that owns this file: {}.", ids.join(", ")),
            };
            let message = format!("{what}, and no intent is selected.");
            findings.push(self.finding(Code::IntentRequired, None, message, select));
            let message = format!("{what}, and no record covers it.");
            let help = self.how_to_answer(&ids);
            findings.push(self.finding(Code::UnrecordedChange, None, message, help));
        }
        if ids.is_empty() {
            let message = format!("{what}, and no intent in progress owns {path}.");
            let help = format!("Add it to the scope of an intent, or create one: {new}.");
            findings.push(self.finding(Code::Unowned, None, message, help));
        }
        findings
    }

    /// Says how to answer for a deed that no record covers. `owners` are the intents that own the
    /// file.
    fn how_to_answer(&self, owners: &[&str]) -> String {
        let (several, to) = match owners {
            [] => {
                let new = self.new_intent();
                return format!(
                    "No intent in progress owns it: widen the scope of one that `intent list` shows, or create one, {new}."
                );
            }
            [only] => (String::new(), only),
            [first, ..] => (format!(" These own it: {}.", owners.join(", ")), first),
        };
        let check = self.asked.against.typed();
        let whole = format!("of the whole change: `{check} --intent {to}`.{several}");
        let of_commit = format!(
            "Name the intent of the commit, by a line `Intent-Id: {to}` at the end of its message, or {whole}"
        );
        let typed = text::shell_word(self.path.as_str());
        let is_recordable = self.deed.is_recordable && !is_control_file(self.path);
        match (is_recordable, self.asked.is_committed) {
            (true, false) => format!(
                "Record it with `intent record {typed} --intent {to}`, or name the intent {whole}"
            ),
            (true, true) => of_commit,
            (false, _) => format!("Records hold blocks of text. {of_commit}"),
        }
    }

    /// Returns the command that creates an intent for the file.
    fn new_intent(&self) -> String {
        let name = format!("Work on {}", self.path);
        let (name, scope) = (text::shell_word(&name), text::shell_word(self.path.as_str()));
        format!("`intent new {name} --scope {scope} --start`")
    }

    /// Returns a finding if unrecorded work is bound to an intent that is finished or not started.
    /// Recorded work was judged when the record was made.
    fn not_active(&self, id: &str) -> Option<Finding> {
        let intent = self.rules.intent(id).filter(|intent| !intent.in_progress())?;
        let status =
            intent.status.as_ref().map_or("without a known status", |it| it.value.as_str());
        let message = format!("{} under {id}, which is {status}.", self.deed.what);
        let help =
            format!("Select an intent that is in progress, or start it: `intent start {id}`.");
        Some(self.finding(Code::IntentNotActive, Some(id), message, help))
    }

    fn finding(&self, code: Code, intent: Option<&str>, message: String, help: String) -> Finding {
        Finding {
            path: Some(self.path.clone()),
            lines: self.deed.lines,
            intent: intent.map(str::to_owned),
            ..Finding::new(code, message, help)
        }
    }
}

//! A change, cut into what rules are asked of: a block that was edited or taken away, or a file as a whole.

use super::ComparedSides;
use crate::code::{self, Block, Document, LineRange};
use crate::ledger::{Approved, ClaimRef, journal};
use crate::provenance::Difference;
use crate::verbs::edited::{Baseline, Edits, FormerFile};
use crate::verbs::gate::is_control_file;
use crate::verbs::judgement::{Outside, Rules, Ruling};
use crate::verbs::{Workspace, lesson, why};
use crate::workspace::policy::Lessons;
use crate::workspace::{Code, CommitId, Finding, RelativePath, text};

/// One thing that a change does to a file.
#[derive(Clone, Debug)]
pub(super) struct Deed {
    /// The lines that it changed; `None` where the file is not there, or no text.
    pub lines: Option<LineRange>,
    /// What it does, as the beginning of a sentence: `function a.b changed`, `src/a.rs is new`.
    pub what: String,
    /// Who answers for it.
    pub answers: Answers,
    /// Whether a record can hold it: records hold blocks of text, and which are gone.
    pub is_recordable: bool,
    /// It writes down a lesson, where all agents read it whatever the scope.
    pub is_lesson: bool,
    /// It is about a link or a submodule, which stands for a folder.
    pub is_folder: bool,
}

/// Who answers for a deed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answers {
    /// A record, with its intent.
    Record(String, Option<ClaimRef>),
    /// Whoever the work is bound to.
    Nobody,
}

/// What happened to a file as a whole.
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
            Self::Between => "changed between its blocks",
            Self::Unparsed => "changed where it does not parse",
            Self::Unreadable => "changed, and is not read as text",
            Self::Nameless => "changed, and its name is not UTF-8",
        }
    }
}

/// `function a.b`.
pub(super) fn name(block: &Block) -> String {
    format!("{} {}", block.identity.kind.as_str(), block.identity.path)
}

/// What a change does to a file that stands.
pub(super) struct StandingFile {
    pub deeds: Vec<Deed>,
    pub edits: Edits,
}

/// Of a file that stands: its blocks one by one, or the file as a whole where it is new or has another name.
pub(super) fn of_standing(
    ws: &Workspace,
    path: &RelativePath,
    file: &why::FileProvenance,
    before: &FormerFile,
    bases: &[CommitId],
) -> StandingFile {
    let differences = before.baseline.differences(&file.document);
    let edits = before.baseline.edits_with(&file.document, &differences);
    let mut deeds = of_blocks(ws, path, file, (&before.baseline, &edits, &differences), bases);
    if let Some(from) = &before.from {
        // If nothing but its name changed, who recorded that it went from there answers for it.
        if edits.now.is_empty() {
            // The first text of the baseline is that of the new name: empty.
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
    StandingFile { deeds, edits }
}

/// Whether a text differs from all that it was before.
pub(super) fn differs(baseline: &Baseline, now: &Document) -> bool {
    let (text, versions) = (now.text(), baseline.versions());
    !versions.is_empty() && versions.iter().all(|old| old.text() != text)
}

/// The blocks of a file that a change edits or takes away. What a record made after all of `bases` says is gone, that
/// record answers for.
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
        // A record that names no intent answers for nothing.
        let answers = match why::intent_of(ws, found).filter(|_| found.covered()) {
            Some(id) => Answers::Record(id, found.claim),
            None => Answers::Nobody,
        };
        let lines = Some(differences.first().map_or(block.lines, |first| first.changed(*at)));
        let is_lesson = lines.is_some_and(|lines| {
            lessons.is_some_and(|all| all.contains(lines.start()) && all.contains(lines.end()))
        });
        let what = format!("{} changed", name(block));
        deeds.push(Deed { lines, what, answers, is_recordable: true, is_lesson, is_folder: false });
    }
    let is_edited = !deeds.is_empty();
    for block in &edits.gone {
        // What has no name of its own may have become a part of what stands around it.
        if block.identity.kind.is_unnamed() && is_edited {
            continue;
        }
        let line = differences.first().map_or(1, |first| first.place_of(block));
        let lines = LineRange::new(line, line);
        let what = format!("{} is deleted", name(block));
        let answers = deletion(ws, path, block, bases);
        deeds.push(Deed {
            lines,
            what,
            answers,
            is_recordable: true,
            is_lesson: false,
            is_folder: false,
        });
    }
    deeds
}

/// The blocks of a file that is gone.
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
    // Of a file without a block, such as a picture, no record can say that it is gone.
    let is_recordable = !blocks.is_empty();
    let deed = |answers| Deed {
        lines: None,
        what: what.clone(),
        answers,
        is_recordable,
        is_lesson: false,
        is_folder: false,
    };
    as_a_whole(answers.into_iter().map(deed).collect(), path, Fate::Gone)
}

/// Who took a block away: the newest record that says so and that no base has.
fn deletion(ws: &Workspace, path: &RelativePath, block: &Block, bases: &[CommitId]) -> Answers {
    let identity = &block.identity;
    let is_at = |base: &CommitId, path: &RelativePath| {
        ws.git().is_some_and(|git| git.has_file(base, path).unwrap_or(false))
    };
    let claims = ws.ledger.of_path(path).into_iter().rev();
    let mut found = claims.filter(|at| {
        let claim = ws.ledger.claim(*at);
        let range = claim.range();
        let is_it = range
            .block
            .as_ref()
            .is_some_and(|name| name.kind == identity.kind.as_str() && name.path == identity.path);
        // The journal holds what is in no commit; any other file is as old as the commits that have it.
        let place = &claim.entry.origin.path;
        let is_old = || !journal::is_open(place) && bases.iter().any(|base| is_at(base, place));
        range.deleted && is_it && !is_old()
    });
    let found = found.find_map(|at| Some((ws.intent_of(&ws.ledger.claim(at))?, at)));
    found.map_or(Answers::Nobody, |(id, at)| Answers::Record(id, Some(at)))
}

/// One deed for each who answers, of a file that is judged as a whole; its lessons apart.
pub(super) fn as_a_whole(deeds: Vec<Deed>, path: &RelativePath, fate: Fate) -> Vec<Deed> {
    let mut merged: Vec<Deed> = Vec::new();
    for deed in deeds {
        // Of a file that is new, what `intent lesson` wrote is a lesson, and the rest is not.
        let is_lesson = deed.is_lesson && fate == Fate::New;
        let same = |other: &Deed| {
            other.is_lesson == is_lesson
                && match (&other.answers, &deed.answers) {
                    (Answers::Record(one, _), Answers::Record(other, _)) => one == other,
                    (one, other) => one == other,
                }
        };
        if !merged.iter().any(same) {
            // One finding is enough, and it stands where the file begins.
            let lines = deed.lines.and_then(|_| LineRange::new(1, 1));
            let what = format!("{path} {}", fate.words());
            merged.push(Deed { lines, what, is_lesson, ..deed });
        }
    }
    merged
}

/// A file of which only the fate is known: whoever the work is bound to answers for it.
pub(super) fn of_file(path: &RelativePath, fate: Fate) -> Deed {
    let what = format!("{path} {}", fate.words());
    let is_recordable = matches!(fate, Fate::Unparsed | Fate::Renamed);
    let is_folder = matches!(fate, Fate::Link | Fate::Submodule);
    let answers = Answers::Nobody;
    Deed { lines: None, what, answers, is_recordable, is_lesson: false, is_folder }
}

/// The conflicts of a merge that nobody has resolved yet.
pub(super) fn conflicts(path: &RelativePath, document: &Document) -> Vec<Finding> {
    let conflicts = code::conflicts(&document.text()).into_iter();
    let finding = |lines: LineRange| Finding {
        path: Some(path.clone()),
        lines: Some(lines),
        ..Finding::new(
            Code::MergeConflict,
            format!(
                "A merge left both sides of a conflict in lines {}-{}.",
                lines.start(),
                lines.end()
            ),
            "Keep what is right of both sides, and take the lines out that begin with `<<<<<<<`, `=======` and `>>>>>>>`.",
        )
    };
    conflicts.map(finding).collect()
}

/// How a file of a change is judged: for which intents, and in which comparison.
pub(super) struct Asked<'a> {
    /// The intents that the work is bound to; one that may do it is enough.
    pub bound: &'a [String],
    /// What is compared with what.
    pub against: &'a ComparedSides,
    /// Whether a commit has the change, so that `intent record` finds no difference.
    pub is_committed: bool,
}

/// Holds every deed against the rules, whatever kind of file it is about.
pub(super) fn hold_against_rules(
    ws: &Workspace,
    rules: &Rules,
    path: &RelativePath,
    deeds: &[Deed],
    asked: &Asked<'_>,
) -> Vec<Finding> {
    deeds.iter().flat_map(|deed| DeedCase { ws, rules, path, deed, asked }.judge()).collect()
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

    /// The path as a word of a shell, where a record answers for a block that stands there.
    fn recorded_path(&self) -> Option<String> {
        let Answers::Record(_, claim) = self.deed.answers else { return None };
        let is_gone = claim.is_some_and(|at| self.ws.ledger.claim(at).range().deleted);
        (!is_gone).then(|| text::shell_word(self.path.as_str()))
    }

    /// Whether a person approved what the record tells of.
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
        let (what, why) = self.rules.told(ruling, path, id);
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
        match ruling {
            Ruling::Protected(_) => {
                "Put it back, or let a person change the policy first.".to_owned()
            }
            Ruling::Ignored(_) => {
                "Put it back, or let a person change the ignore file first.".to_owned()
            }
            Ruling::Unknown => self.misplaced().unwrap_or_else(|| {
                "Restore the intent in the registry, or select another one.".to_owned()
            }),
            Ruling::Outside(Outside::Proposed) if self.rules.is_of_one_machine() => {
                "Save the registry.".to_owned()
            }
            Ruling::Outside(Outside::Proposed | Outside::Taken(_)) => super::proposed::ways_out(id),
            Ruling::Outside(_) => {
                let is_whole = self.deed.what.starts_with(path.as_str());
                let place = self.recorded_path().map(|typed| match self.deed.lines {
                    Some(lines) => format!("{typed}:{}", lines.start()),
                    None => typed,
                });
                let it = if is_whole { "it" } else { "the block" };
                self.rules.way_out(path, id, it, place.as_deref())
            }
        }
    }

    /// What to do about a record that means another intent than the one that has its id now.
    fn misplaced(&self) -> Option<String> {
        match self.deed.answers {
            Answers::Record(_, Some(claim)) => why::misplaced(self.ws, self.path, claim),
            _ => None,
        }
    }

    /// What is said of a deed that no record answers for.
    fn unanswered(&self, bound: Option<&str>) -> Vec<Finding> {
        let (path, what) = (self.path, &self.deed.what);
        let owners = self.rules.owners(path);
        let ids: Vec<&str> = owners.iter().map(|intent| intent.id.value.as_str()).collect();
        let mut findings = Vec::new();
        if let Some(id) = bound {
            findings.extend(self.not_active(id));
        } else {
            let select = match ids[..] {
                [] => {
                    format!("Select one that may be widened, or create one: {}.", self.new_intent())
                }
                [only] => format!("Select the intent that owns this file: `intent select {only}`."),
                _ => format!("Select one that owns this file: {}.", ids.join(", ")),
            };
            let message = format!("{}, and no intent is selected.", what);
            findings.push(self.finding(Code::IntentRequired, None, message, select));
            let message = format!("{}, and no record covers it.", what);
            let help = self.how_to_answer(&ids);
            findings.push(self.finding(Code::UnrecordedChange, None, message, help));
        }
        if ids.is_empty() {
            let message = format!("{}, and no intent in progress owns {path}.", what);
            let help =
                format!("Add it to the scope of an intent, or create one: {}.", self.new_intent());
            findings.push(self.finding(Code::Unowned, None, message, help));
        }
        findings
    }

    /// How somebody answers for what no record covers, given the intents that own the file.
    fn how_to_answer(&self, owners: &[&str]) -> String {
        let Some(to) = owners.first() else {
            return format!(
                "No intent in progress owns it: widen the scope of one that `intent list` shows, or create one, {}.",
                self.new_intent()
            );
        };
        let several = match owners {
            [_] => String::new(),
            _ => format!(" These own it: {}.", owners.join(", ")),
        };
        let whole = format!(
            "of the whole change: `{} --intent {to}`.{several}",
            self.asked.against.typed()
        );
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

    /// The command that makes an intent for the file.
    fn new_intent(&self) -> String {
        let name = format!("Work on {}", self.path);
        let (name, scope) = (text::shell_word(&name), text::shell_word(self.path.as_str()));
        format!("`intent new {name} --scope {scope} --start`")
    }

    /// Work under an intent that is finished, or not begun. What a record covers was judged when it was made.
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

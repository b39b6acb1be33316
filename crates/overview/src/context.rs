//! `intent context`: what an agent should know before it works under an intent, limited to a size.
//!
//! The answer is an `<intent_context>` element inside another element whose name nobody can predict
//! ([`text::of_repository`]). All texts in it come from other people, so they are escaped,
//! invisible characters are made visible, and long texts are cut. A constraint can therefore
//! neither close the element nor hide words in it. What markup cannot prevent is that a constraint
//! persuades an agent to do something; the documentation says so.
//!
//! - `layout` shares the room among the lists and writes them.
//! - `history` lists the last records, and `produced` counts what came of them.

mod history;
mod layout;
mod produced;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use ground::RelativePath;
use ground::approvals::{self, Subject};
use ground::ignores::IgnoreRule;
use ground::text::{self, shell_word};
use intents::{ImportedIntent, Intent, Requirement, Spanned};
use judgement::{lesson, map};
use ledger::Entry;
use why::Workspace;

use super::source::SourceBrief;
use layout::{ContextList, element, escaped};

/// How many characters a context has at most, unless all of it is asked for. What `intent select`
/// prints above it has room in 4,000.
const MAX_CHARS: usize = 3_600;
const MAX_NAME: usize = 120;
/// A longer id is not repeated in the commands that a context names.
const MAX_ID_IN_COMMAND: usize = 40;
/// The number of characters to which each entry of a list is shortened, and the number if the lists
/// would be too long otherwise. With the shorter one, every list that binds the work shows an entry.
const LONG_ENTRY: usize = 1_000;
const SHORT_ENTRY: usize = 160;
const LONG_REASON: usize = 600;
/// The number of records that are listed, unless all are asked for.
const LAST_RECORDS: usize = 3;
/// The list whose newest entry is the last one. The others begin with what matters most.
const LESSONS: &str = "lessons";
/// The first lists of the terms, those that a minimal context has.
const TERMS_OF_MINIMAL: usize = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContextExtent {
    /// The terms, the last records and what was produced, in at most `MAX_CHARS` characters.
    #[default]
    Curated,
    /// Only the constraints and the scope, in at most `MAX_CHARS` characters.
    Minimal,
    Full,
}

impl ContextExtent {
    /// Returns the extent that two switches name. If both are set, everything is meant.
    pub fn from_switches(minimal: bool, full: bool) -> Self {
        match (full, minimal) {
            (true, _) => Self::Full,
            (false, true) => Self::Minimal,
            (false, false) => Self::Curated,
        }
    }
}

/// Where to find what is left out of a context, because all records would have to be read for it.
const COMMITTED: &str = "What is in commits is not counted here; `intent map` shows it.";

const INSTRUCTION: &str = "You may ONLY modify files matching owned_scope. Follow every constraint. For any other file, request a wider scope first.";

const INSTRUCTION_UNADOPTED: &str = "This intent owns no file yet; scope_hints are the files that it names. Follow every constraint. `intent adopt` lets a person give it a scope.";

/// The terms of work under an intent, as data: those that the context shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Terms {
    /// A sentence that tells an agent what to do with the terms.
    pub instruction: &'static str,
    /// What must hold, whatever the agent changes.
    pub constraints: Vec<String>,
    /// The globs of the files that may be changed. An entry with `!` excludes files; the last match
    /// wins.
    pub owned_scope: Vec<String>,
    /// Patterns of files that must not be changed under this intent, even if its scope owns them.
    /// An entry with `!` allows files again; the last match wins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored_paths: Vec<String>,
    /// What must be true when the work is done.
    pub acceptance_criteria: Vec<String>,
    /// What nobody has decided yet: the `open_questions` of the registry, and requests for a wider
    /// scope that wait for a person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<String>,
    /// The requirements that the intent serves.
    pub related_specs: Vec<String>,
    /// The files that the intent names where it is kept in another format.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scope_hints: Vec<String>,
    /// The requirements there that are no criteria, each with its name.
    #[serde(skip)]
    requirements: Vec<String>,
    /// The lessons that were learned in this project, the newest last.
    pub lessons: Vec<String>,
    /// How many entries are left out of each list that is too long. `intent context --full` has
    /// them all.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub omitted: BTreeMap<&'static str, usize>,
}

impl Terms {
    fn from_registry(ws: &Workspace, intent: &Intent) -> Self {
        let imported = ws.registry.imported_intent(&intent.id.value);
        let required = imported.into_iter().flat_map(|imported| imported.other_requirements());
        let is_unadopted = ws.registry.position(&intent.id.value).is_none();
        Self {
            instruction: if is_unadopted { INSTRUCTION_UNADOPTED } else { INSTRUCTION },
            scope_hints: imported.map(|imported| imported.scope_hints.clone()).unwrap_or_default(),
            requirements: required.map(Requirement::as_criterion).collect(),
            constraints: values(&intent.constraints),
            owned_scope: values(&intent.owned_scope),
            ignored_paths: kept_from(ws, intent),
            acceptance_criteria: values(&intent.acceptance_criteria),
            open_questions: open_questions(ws, intent),
            related_specs: values(&intent.related_specs),
            lessons: lesson::learned(ws),
            omitted: BTreeMap::new(),
        }
    }

    /// Returns the lists with the names of their elements: those that bind the work, then those that
    /// only help.
    fn lists(&mut self) -> [Vec<(&'static str, &'static str, &mut Vec<String>)>; 2] {
        let binding = vec![
            ("constraints", "constraint", &mut self.constraints),
            ("owned_scope", "path", &mut self.owned_scope),
            ("ignored_paths", "path", &mut self.ignored_paths),
            ("acceptance_criteria", "criterion", &mut self.acceptance_criteria),
            ("requirements", "requirement", &mut self.requirements),
            ("open_questions", "question", &mut self.open_questions),
        ];
        let helping = vec![
            ("related_specs", "spec", &mut self.related_specs),
            ("scope_hints", "path", &mut self.scope_hints),
            (LESSONS, "lesson", &mut self.lessons),
        ];
        [binding, helping]
    }

    fn shorten_entries(&mut self, longest: usize) {
        for value in self.lists().into_iter().flatten().flat_map(|(_, _, values)| values) {
            *value = text::shorten(value, longest);
        }
    }

    fn leave_out(&mut self, omitted: BTreeMap<&'static str, usize>) {
        for (name, _, values) in self.lists().into_iter().flatten() {
            let count = omitted.get(name).copied().unwrap_or_default();
            match name == LESSONS {
                true => drop(values.drain(..count)),
                false => values.truncate(values.len() - count),
            }
        }
        self.omitted = omitted;
    }
}

/// The context of an intent, for a model and for a program.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ContextAnswer {
    /// The id of the intent.
    pub id: String,
    /// An `<intent_context>` element inside an element that marks where text of the repository
    /// begins and ends.
    pub context: String,
    /// Why the intent was asked for, as another format says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What another format says of the intent, if it is kept there.
    #[serde(flatten)]
    pub kept: SourceBrief,
    /// The same terms as data.
    #[serde(flatten)]
    pub terms: Terms,
}

pub fn answer(ws: &Workspace, intent: &Intent, extent: ContextExtent) -> ContextAnswer {
    let (xml, terms) = xml_and_terms(ws, intent, extent);
    let context = text::of_repository(&xml, usize::MAX);
    let imported = ws.registry.imported_intent(&intent.id.value);
    let mut kept = imported.map(SourceBrief::new).unwrap_or_default();
    // The hints are a part of the terms.
    kept.scope_hints.clear();
    if extent != ContextExtent::Full {
        kept.requirements.truncate(terms.requirements.len() + terms.acceptance_criteria.len());
        for one in &mut kept.requirements {
            one.text = text::shorten(&one.text, SHORT_ENTRY);
        }
    }
    let reason = imported.and_then(|imported| imported.reason.as_deref());
    let reason = reason.map(|reason| text::shorten(reason, LONG_REASON));
    ContextAnswer { id: intent.id.value.clone(), context, reason, kept, terms }
}

fn xml_and_terms(ws: &Workspace, intent: &Intent, extent: ContextExtent) -> (String, Terms) {
    let work = match extent {
        ContextExtent::Minimal => WorkDone::default(),
        _ => WorkDone::under_intent(ws, intent, extent),
    };
    let whole = Terms::from_registry(ws, intent);
    let imported = ws.registry.imported_intent(&intent.id.value);
    let about = imported.map(about_source).unwrap_or_default();
    let instruction = whole.instruction;
    let before = format!("{}  <instruction>{instruction}</instruction>\n{about}", head(intent));
    let notes = work.notes.iter().map(|note| format!("  <note>{}</note>\n", escaped(note, 300)));
    let after = format!("{}</intent_context>\n", notes.collect::<String>());
    let with_entries_of = |longest| {
        let mut terms = whole.clone();
        terms.shorten_entries(longest);
        let lists = context_lists(&mut terms, &work, extent, longest);
        (terms, lists)
    };
    if extent == ContextExtent::Full {
        let (terms, lists) = with_entries_of(usize::MAX);
        return (before + &layout::laid_out(&lists, usize::MAX, "").text + &after, terms);
    }
    let around = [&before, &after, &text::of_repository("", 0)];
    let room = MAX_CHARS.saturating_sub(around.map(|text| text.chars().count()).iter().sum());
    // Long entries are shortened before whole entries are left out.
    let (mut terms, mut lists) = with_entries_of(LONG_ENTRY);
    if lists.iter().flatten().map(ContextList::length).sum::<usize>() > room {
        (terms, lists) = with_entries_of(SHORT_ENTRY);
    }
    let laid_out = layout::laid_out(&lists, room, &full_command(intent));
    terms.leave_out(laid_out.omitted);
    (before + &laid_out.text + &after, terms)
}

fn context_lists(
    terms: &mut Terms,
    work: &WorkDone,
    extent: ContextExtent,
    longest: usize,
) -> [Vec<ContextList>; 2] {
    let mut of_terms = terms.lists().map(|lists| {
        let lists = lists.into_iter().map(|(name, item, values)| {
            let elements = values.iter().map(|value| element(item, value, longest)).collect();
            ContextList { name, elements, newest_last: name == LESSONS }
        });
        lists.collect::<Vec<_>>()
    });
    if extent == ContextExtent::Minimal {
        of_terms[0].truncate(TERMS_OF_MINIMAL);
        of_terms[1].clear();
    }
    let [binding, mut helping] = of_terms;
    let list = |name, elements: &[String]| ContextList {
        name,
        elements: elements.to_vec(),
        newest_last: false,
    };
    helping.push(list("history", &work.history));
    helping.push(list("produced", &work.produced));
    [binding, helping]
}

#[derive(Default)]
struct WorkDone {
    /// Its records that are in no commit, newest first.
    history: Vec<String>,
    produced: Vec<String>,
    notes: Vec<String>,
}

impl WorkDone {
    fn under_intent(ws: &Workspace, intent: &Intent, extent: ContextExtent) -> Self {
        let records = open_records(ws, intent);
        let mapped = map::kept_for_intent(ws, &intent.id.value);
        let in_commits = ws.root.governed() && ws.head().is_some() && mapped.is_none();
        let notes = in_commits.then(|| COMMITTED.to_owned()).into_iter();
        let notes = notes.chain(ws.unread_evidence_seen()).collect();
        let produced = mapped.unwrap_or_else(|| produced::names_in_records(&records));
        let (shown, longest, produced) = match extent {
            ContextExtent::Full => (usize::MAX, usize::MAX, produced::by_file(&produced)),
            _ => (LAST_RECORDS, MAX_NAME, produced::by_folder(&produced)),
        };
        let newest = records.into_iter().rev().take(shown);
        let history = newest.map(|entry| history::element(entry, longest)).collect();
        Self { history, produced, notes }
    }
}

/// Returns the definitions that came with an intent, by file: those in the map, or else those in
/// records that are in no commit yet. Not all records are read for this.
pub fn produced_names(ws: &Workspace, intent: &Intent) -> BTreeMap<RelativePath, BTreeSet<String>> {
    let mapped = map::kept_for_intent(ws, &intent.id.value);
    mapped.unwrap_or_else(|| produced::names_in_records(&open_records(ws, intent)))
}

fn head(intent: &Intent) -> String {
    let status = intent.status.as_ref().map_or("UNKNOWN", |status| status.value.as_str());
    let owner = intent.owner.as_ref();
    let owner = owner.map(|owner| format!(" owner=\"{}\"", escaped(&owner.value, MAX_NAME)));
    format!(
        "<intent_context id=\"{}\" name=\"{}\" status=\"{status}\"{}>\n",
        escaped(&intent.id.value, MAX_NAME),
        escaped(&intent.name.value, MAX_NAME),
        owner.unwrap_or_default()
    )
}

fn about_source(imported: &ImportedIntent) -> String {
    let kept = SourceBrief::new(imported);
    let (unit, progress) = (imported.unit.as_str(), kept.progress());
    let mut about = format!("  <kept_in>{}</kept_in>\n", escaped(unit, MAX_NAME));
    if let Some(reason) = &imported.reason {
        about.push_str(&format!("  <reason>{}</reason>\n", escaped(reason, LONG_REASON)));
    }
    if !progress.is_empty() {
        about.push_str(&format!("  <progress>{}</progress>\n", escaped(&progress, MAX_NAME)));
    }
    about
}

fn full_command(intent: &Intent) -> String {
    match shell_word(&intent.id.value) {
        id if id.chars().count() <= MAX_ID_IN_COMMAND => format!("intent context {id} --full"),
        _ => "intent context ID --full".to_owned(),
    }
}

fn kept_from(ws: &Workspace, intent: &Intent) -> Vec<String> {
    let ids = ws.registry.ids(&intent.id.value);
    let lines = ws.ignores.intent_lines().into_iter();
    let of_it = |line: &IgnoreRule| line.intent.as_deref().is_some_and(|id| ids.contains(&id));
    lines.filter(of_it).map(|line| line.pattern).collect()
}

fn open_questions(ws: &Workspace, intent: &Intent) -> Vec<String> {
    let written = match intent.extra.get("open_questions") {
        Some(Value::Array(all)) => {
            all.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(Value::String(one)) => vec![one.clone()],
        _ => Vec::new(),
    };
    let ids = ws.registry.ids(&intent.id.value);
    let asked = approvals::pending(&ws.root).into_iter().filter_map(|asked| match asked.subject {
        Subject::Scope { intent, entries, .. } if ids.contains(&&*intent) => {
            Some(format!("{} waits for a person: may it own {}?", asked.code, entries.join(", ")))
        }
        _ => None,
    });
    written.into_iter().chain(asked).collect()
}

fn values(entries: &[Spanned<String>]) -> Vec<String> {
    entries.iter().map(|entry| entry.value.clone()).collect()
}

/// Returns the records of the journal about files, made under an intent, oldest first.
fn open_records<'a>(ws: &'a Workspace, intent: &Intent) -> Vec<&'a Arc<Entry>> {
    let ids = ws.registry.ids(&intent.id.value);
    let is_its = |entry: &&Arc<Entry>| {
        let record = &entry.record;
        !record.files.is_empty()
            && ids.iter().any(|id| record.names_intent(id))
            && ws.namesake(entry, None).is_none()
    };
    ws.journal.entries().iter().filter(is_its).collect()
}

//! `intent context`: what an agent should know before it works under an intent, limited to a size.
//!
//! The answer is an `<intent_context>` element inside another element whose name nobody can predict
//! ([`text::of_repository`]). All texts in it come from other people, so they are escaped,
//! invisible characters are made visible, and long texts are cut. A constraint can therefore
//! neither close the element nor hide words in it. What markup cannot prevent is that a constraint
//! persuades an agent to do something; the documentation says so.

mod history;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use ground::{RelativePath, text};
use intents::{Intent, Spanned};
use judgement::lesson;
use ledger::Entry;
use why::Workspace;

/// About how many characters the element may have. Lists that do not fit end early and say how many
/// entries are missing.
pub const MAX_CHARS: usize = 12_000;
const MAX_ENTRY: usize = 500;

/// How much a context contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContextExtent {
    /// Constraints, scope, criteria, and what was done since the last commit.
    #[default]
    Curated,
    /// Only the constraints and the scope.
    Minimal,
}

/// Where to find what is left out of a context, because all records would have to be read for it.
const COMMITTED: &str =
    "What the intent produced in commits is not listed here; `intent map` shows it.";

/// The instruction to the agent that reads the context.
const INSTRUCTION: &str = "You may ONLY modify files matching owned_scope. Follow every constraint. For any other file, request a wider scope first.";

/// The terms of work under an intent, as data.
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
    /// The requirements that the intent serves.
    pub related_specs: Vec<String>,
    /// The lessons that were learned in this project, the newest last.
    pub lessons: Vec<String>,
}

impl Terms {
    /// Reads the terms of an intent from the registry, the ignore files and the lessons.
    pub(crate) fn from_registry(ws: &Workspace, intent: &Intent) -> Self {
        Self {
            instruction: INSTRUCTION,
            constraints: values(&intent.constraints),
            owned_scope: values(&intent.owned_scope),
            ignored_paths: kept_from(ws, intent),
            acceptance_criteria: values(&intent.acceptance_criteria),
            related_specs: values(&intent.related_specs),
            lessons: lesson::learned(ws),
        }
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
    /// The same terms as data.
    #[serde(flatten)]
    pub terms: Terms,
}

pub fn answer(ws: &Workspace, intent: &Intent, extent: ContextExtent) -> ContextAnswer {
    let terms = Terms::from_registry(ws, intent);
    // The XML is already limited to [`MAX_CHARS`], at the end of an element, so it is not cut
    // again.
    let context = text::of_repository(&xml(ws, intent, extent, &terms), usize::MAX);
    ContextAnswer { id: intent.id.value.clone(), context, terms }
}

/// Formats the context of an intent as XML.
fn xml(ws: &Workspace, intent: &Intent, extent: ContextExtent, terms: &Terms) -> String {
    let status = intent.status.as_ref().map_or("UNKNOWN", |status| status.value.as_str());
    let mut out = ContextText::default();
    let owner = intent.owner.as_ref().map(|owner| format!(" owner=\"{}\"", escaped(&owner.value)));
    let head = format!(
        "<intent_context id=\"{}\" name=\"{}\" status=\"{status}\"{}>\n",
        escaped(&intent.id.value),
        escaped(&intent.name.value),
        owner.unwrap_or_default()
    );
    out.text.push_str(&head);
    out.line(1, &format!("<instruction>{INSTRUCTION}</instruction>"));
    out.list("constraints", "constraint", &terms.constraints);
    out.list("owned_scope", "path", &terms.owned_scope);
    out.list("ignored_paths", "path", &terms.ignored_paths);
    if extent == ContextExtent::Curated {
        out.list("acceptance_criteria", "criterion", &terms.acceptance_criteria);
        out.list("related_specs", "spec", &terms.related_specs);
        out.list("lessons", "lesson", &terms.lessons);
        let records = open_records(ws, intent);
        add_produced(&records, &mut out);
        out.line(1, &format!("<note>{COMMITTED}</note>"));
        if let Some(note) = ws.unread_evidence_seen() {
            out.line(1, &format!("<note>{}</note>", escaped(&note)));
        }
        history::add_last_records(&records, &mut out);
    }
    out.text.push_str("</intent_context>\n");
    out.text
}

/// Returns the patterns of those lines in ignore files that apply to this intent only.
fn kept_from(ws: &Workspace, intent: &Intent) -> Vec<String> {
    let ids = ws.registry.ids(&intent.id.value);
    let lines = ws.ignores.intent_lines().into_iter();
    lines.filter(|line| ids.contains(&line.intent.as_str())).map(|line| line.pattern).collect()
}

fn values(entries: &[Spanned<String>]) -> Vec<String> {
    entries.iter().map(|entry| entry.value.clone()).collect()
}

fn escaped(value: &str) -> String {
    text::xml(&text::visible(&text::shorten(value, MAX_ENTRY), false))
}

#[derive(Default)]
struct ContextText {
    text: String,
}

impl ContextText {
    fn room(&self) -> bool {
        self.text.len() < MAX_CHARS
    }

    fn line(&mut self, depth: usize, line: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{:depth$}{line}", "", depth = depth * 2);
    }

    fn list(&mut self, outer: &str, inner: &str, values: &[String]) {
        self.element(1, outer, "", values, |out, value| {
            out.line(2, &format!("<{inner}>{}</{inner}>", escaped(value)));
        });
    }

    /// Adds an element with as many of the items as there is room for, and the number of the
    /// others. Adds nothing if there are no items.
    fn element<T>(
        &mut self,
        depth: usize,
        name: &str,
        attributes: &str,
        items: &[T],
        add: impl Fn(&mut Self, &T),
    ) {
        if items.is_empty() {
            return;
        }
        self.line(depth, &format!("<{name}{attributes}>"));
        for (at, item) in items.iter().enumerate() {
            if !self.room() {
                self.line(2, &format!("<omitted count=\"{}\"/>", items.len() - at));
                break;
            }
            add(self, item);
        }
        self.line(depth, &format!("</{name}>"));
    }
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

/// Lists the blocks that these records name, by file, without those that were deleted since.
fn add_produced(records: &[&Arc<Entry>], out: &mut ContextText) {
    let mut by_file: BTreeMap<&RelativePath, BTreeSet<(&str, &str)>> = BTreeMap::new();
    for file in records.iter().flat_map(|entry| &entry.record.files) {
        let blocks = by_file.entry(&file.relative_path).or_default();
        for range in file.ranges() {
            let Some(block) = &range.block else { continue };
            let name = (block.kind.as_str(), block.path.as_str());
            if range.deleted {
                blocks.remove(&name)
            } else {
                blocks.insert(name)
            };
        }
    }
    by_file.retain(|_, blocks| !blocks.is_empty());
    let files: Vec<_> = by_file.into_iter().collect();
    out.element(1, "produced", "", &files, |out, (path, blocks)| {
        let path = format!(" path=\"{}\"", escaped(path.as_str()));
        let blocks = Vec::from_iter(blocks);
        out.element(2, "file", &path, &blocks, |out, (kind, name)| {
            out.line(3, &format!("<block kind=\"{}\">{}</block>", escaped(kind), escaped(name)));
        });
    });
}

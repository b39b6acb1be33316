//! `intent context`: what an agent should know before it works under an intent, limited to a size.
//!
//! The answer is an `<intent_context>` element inside another element whose name nobody can predict
//! ([`text::of_repository`]). All texts in it come from other people, so they are escaped,
//! invisible characters are made visible, and long texts are cut. A constraint can therefore
//! neither close the element nor hide words in it. What markup cannot prevent is that a constraint
//! persuades an agent to do something; the documentation says so.

mod history;

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use ground::text;
use intents::{Intent, Spanned};
use judgement::{lesson, map};
use why::Workspace;

/// About how many characters the element may have. Lists that do not fit end early and say how many
/// entries are missing.
pub const MAX_CHARS: usize = 12_000;
const MAX_ENTRY: usize = 500;

/// How much a context contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContextExtent {
    /// Constraints, scope, criteria, produced blocks and recent records.
    #[default]
    Curated,
    /// Only the constraints and the scope.
    Minimal,
}

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
        if let Some(note) = ws.unread_evidence() {
            out.line(1, &format!("<note>{}</note>", escaped(&note)));
        }
        produced(ws, intent, &mut out);
        history::add_last_records(ws, intent, &mut out);
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

fn produced(ws: &Workspace, intent: &Intent, out: &mut ContextText) {
    let files = map::produced(ws, &intent.id.value);
    out.element(1, "produced", "", &files, |out, (path, blocks)| {
        let path = format!(" path=\"{}\"", escaped(path.as_str()));
        out.element(2, "file", &path, blocks, |out, block| {
            let (kind, name) = (escaped(&block.kind), escaped(&block.name));
            out.line(3, &format!("<block kind=\"{kind}\">{name}</block>"));
        });
    });
}

//! *Context*: what an agent should know before it works under an intent, curated to a size.
//!
//! An `<intent_context>` element. Every text in it is somebody else's: it is
//! escaped, made visible where it is invisible, and cut to length, so that no
//! constraint can close the element or hide words in it. What the markup cannot
//! prevent (a constraint that talks an agent into something) is said in the docs.

use std::fmt::Write as _;

use super::Workspace;
use super::map::{self, MappedBlock};
use crate::intent::{Intent, Spanned};
use crate::ledger::Entry;
use crate::workspace::{RelativePath, text};

/// The element is cut to about this many characters: lists end early and say how much is missing.
pub const MAX_CHARS: usize = 12_000;
const MAX_ENTRY: usize = 500;
const MAX_RECORDS: usize = 10;

/// How much is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Constraints, scope, criteria, what was produced, recent records.
    #[default]
    Curated,
    /// Constraints and scope alone.
    Minimal,
}

/// The context of an intent as XML.
pub fn xml(ws: &Workspace, intent: &Intent, extent: Extent) -> String {
    let status = intent.status.as_ref().map_or("UNKNOWN", |status| status.value.as_str());
    let mut out = Element::default();
    let head = format!(
        "<intent_context id=\"{}\" name=\"{}\" status=\"{status}\">\n",
        escaped(&intent.id.value),
        escaped(&intent.name.value)
    );
    out.text.push_str(&head);
    out.list("constraints", "constraint", &values(&intent.constraints));
    out.list("owned_scope", "path", &values(&intent.owned_scope));
    if extent == Extent::Curated {
        out.list("acceptance_criteria", "criterion", &values(&intent.acceptance_criteria));
        out.list("related_specs", "spec", &values(&intent.related_specs));
        if let Some(note) = ws.unread_evidence() {
            out.line(1, &format!("<note>{}</note>", escaped(&note)));
        }
        produced(ws, intent, &mut out);
        recent(ws, intent, &mut out);
    }
    out.text.push_str("</intent_context>\n");
    out.text
}

fn values(entries: &[Spanned<String>]) -> Vec<String> {
    entries.iter().map(|entry| entry.value.clone()).collect()
}

fn escaped(value: &str) -> String {
    text::xml(&text::visible(&text::shorten(value, MAX_ENTRY), false))
}

#[derive(Default)]
struct Element {
    text: String,
}

impl Element {
    fn room(&self) -> bool {
        self.text.len() < MAX_CHARS
    }

    fn line(&mut self, depth: usize, line: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{:depth$}{line}", "", depth = depth * 2);
    }

    fn list(&mut self, outer: &str, inner: &str, values: &[String]) {
        if values.is_empty() {
            return;
        }
        self.line(1, &format!("<{outer}>"));
        for (at, value) in values.iter().enumerate() {
            if !self.room() {
                self.omitted(values.len() - at);
                break;
            }
            self.line(2, &format!("<{inner}>{}</{inner}>", escaped(value)));
        }
        self.line(1, &format!("</{outer}>"));
    }

    fn omitted(&mut self, count: usize) {
        self.line(2, &format!("<omitted count=\"{count}\"/>"));
    }
}

fn produced(ws: &Workspace, intent: &Intent, out: &mut Element) {
    let files = map::produced(ws, &intent.id.value);
    if files.is_empty() {
        return;
    }
    out.line(1, "<produced>");
    for (at, (path, blocks)) in files.iter().enumerate() {
        if !out.room() {
            out.omitted(files.len() - at);
            break;
        }
        file(path, blocks, out);
    }
    out.line(1, "</produced>");
}

fn file(path: &RelativePath, blocks: &[MappedBlock], out: &mut Element) {
    out.line(2, &format!("<file path=\"{}\">", escaped(path.as_str())));
    for (at, block) in blocks.iter().enumerate() {
        if !out.room() {
            out.omitted(blocks.len() - at);
            break;
        }
        out.line(
            3,
            &format!("<block kind=\"{}\">{}</block>", escaped(&block.kind), escaped(&block.name)),
        );
    }
    out.line(2, "</file>");
}

fn recent(ws: &Workspace, intent: &Intent, out: &mut Element) {
    let all = ws.entries_of(&intent.id.value).into_iter().rev();
    let is_its = |entry: &&Entry| !entry.record.files.is_empty() && ws.namesake(entry).is_none();
    let records = all.map(|at| ws.ledger.entry(at)).filter(is_its);
    let records: Vec<_> = records.take(MAX_RECORDS).collect();
    if records.is_empty() || !out.room() {
        return;
    }
    out.line(1, "<recent_records>");
    for entry in records {
        let record = &entry.record;
        let paths: Vec<&str> =
            record.files.iter().map(|file| file.relative_path.as_str()).collect();
        out.line(
            2,
            &format!(
                "<record id=\"{}\" timestamp=\"{}\">{}</record>",
                escaped(&record.id),
                escaped(&record.timestamp),
                escaped(&paths.join(", "))
            ),
        );
    }
    out.line(1, "</recent_records>");
}

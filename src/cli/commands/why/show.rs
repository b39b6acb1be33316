//! Prints the answer of `intent why`.

mod evidence;

use std::collections::{BTreeMap, BTreeSet};

use anstyle::Style;
use jiff::Timestamp;

use crate::cli::commands::shared;
use crate::cli::print::{Cell, DIM, GOOD, INTENT, PLAIN, Page, STRONG, UNSURE, WARN};
use crate::cli::when;
use crate::code::LineRange;
use crate::ledger::{RecordKind, Strength};
use crate::provenance::{Content, Placement, Verdict};
use crate::verbs::why::{
    self, AskedFor, BlockAnswer, BlockLines, IntentBrief, IntentVersion, LineState, LineageStep,
    RecordBrief, WhyAnswer, span,
};
use crate::workspace::git::short_id;
use crate::workspace::text::counted;

/// The column at which the values of a block's card begin.
const VALUES: usize = 12;
/// The number of spaces between line numbers and the text about these lines.
const GAP: usize = 2;
/// In the list of a file, a longer run of unrecorded blocks than this becomes one row.
const LISTED: usize = 2;
/// How many earlier steps of a history are shown by default.
const LATEST: usize = 3;

/// How much of a block's history is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HistoryExtent {
    /// Only the latest few steps.
    Latest,
    /// All steps, as with `--lineage`.
    Whole,
}

/// How much is shown about the lines of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinesExtent {
    /// One sentence that says which lines changed.
    InBrief,
    /// For each line, the record that it is from (`--lines`).
    Each,
}

/// Which parts of the answer to show.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownParts {
    /// The requested lines, or `None` for the whole file.
    pub(super) place: Option<LineRange>,
    pub(super) history: HistoryExtent,
    pub(super) lines: LinesExtent,
    pub(super) evidence: Evidenced,
}

/// How much is shown of the reasons for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidenced {
    /// Where the record was made, and which other records have a part in the block.
    InBrief,
    /// Also how the record was found, and every earlier block that was compared with this one
    /// (`--explain`).
    InFull,
}

/// Prints the answer. A block at a line is shown as a card. A whole file is shown as a list, or as
/// cards if more than one row of each block is requested.
pub(super) fn answer(page: &mut Page, answer: &WhyAnswer, wanted: &ShownParts, now: Timestamp) {
    blocks(page, answer, wanted, now);
    shared::notes(page, &answer.notes);
}

fn blocks(page: &mut Page, answer: &WhyAnswer, wanted: &ShownParts, now: Timestamp) {
    let path = &shown_path(answer);
    if let Some(note) = &answer.note {
        page.styled(STRONG, path).literal(": ").text(note).end();
        return;
    }
    let in_full = wanted.history == HistoryExtent::Whole
        || wanted.lines == LinesExtent::Each
        || wanted.evidence == Evidenced::InFull;
    match wanted.place {
        Some(lines) if answer.blocks.is_empty() => {
            page.styled(STRONG, path).literal(":").text(&lines_of(lines.start(), lines.end()));
            page.literal(match lines.start() == lines.end() {
                true => ": no block stands at this line",
                false => ": no block stands at these lines",
            });
            page.end();
        }
        None if answer.blocks.is_empty() => {
            page.styled(STRONG, path).literal(": there are no blocks in this file").end();
        }
        Some(_) => cards(page, answer, answer.blocks.iter(), wanted, now),
        None if in_full => {
            let has_more = |block: &&BlockAnswer| {
                let explained = !block.compared.is_empty() || !block.origins.is_empty();
                is_recorded(block) || wanted.evidence == Evidenced::InFull && explained
            };
            let recorded = answer.blocks.iter().filter(has_more);
            cards(page, answer, recorded, wanted, now);
            page.gap();
            summary(page, &answer.blocks);
        }
        None => list(page, path, &answer.blocks, now),
    }
}

/// Returns the path, with the short commit id before it if the file is from a commit.
fn shown_path(answer: &WhyAnswer) -> String {
    match &answer.revision {
        Some(revision) => format!("{}:{}", short_id(revision), answer.path),
        None => answer.path.to_string(),
    }
}

fn is_recorded(block: &BlockAnswer) -> bool {
    block.verdict != Verdict::Unrecorded
}

fn cards<'a>(
    page: &mut Page,
    answer: &WhyAnswer,
    blocks: impl Iterator<Item = &'a BlockAnswer>,
    wanted: &ShownParts,
    now: Timestamp,
) {
    for block in blocks {
        page.gap();
        card(page, answer, block, wanted, now);
    }
}

fn card(
    page: &mut Page,
    answer: &WhyAnswer,
    block: &BlockAnswer,
    wanted: &ShownParts,
    now: Timestamp,
) {
    match &block.intent {
        Some(intent) => intent_line(page, intent),
        None => {
            let known = match block.verdict {
                Verdict::Unrecorded => "no intent is known",
                Verdict::Ambiguous => "records of several intents fit equally well",
                _ => "recorded under no intent",
            };
            page.styled(DIM, known).end();
        }
    }
    if let Some(asked) = &block.asked {
        asked_for(page, asked);
    }
    page.literal("  ").literal("block").pad_to(VALUES);
    page.text(&block.kind).literal(" ").styled(STRONG, &block.qualified_name).literal("  ");
    page.styled(DIM, &format!("{}:{}-{}", shown_path(answer), block.start_line, block.end_line))
        .end();
    if let Some(who) = written(block, now) {
        page.literal("  ").literal("by").pad_to(VALUES).text(&who).end();
    }
    if let Some(session) = &block.session {
        page.literal("  ").literal("session").pad_to(VALUES).text(session).end();
    }
    commit_line(page, block);
    verdict_line(page, block);
    if wanted.lines == LinesExtent::InBrief
        && let Some(said) = block.lines_text()
    {
        page.pad_to(VALUES).text(&said).end();
    }
    if let Some(suspect) = &block.suspect {
        page.literal("  ").literal("suspect").pad_to(VALUES).styled(WARN, "!").literal(" ");
        page.text(&suspect.message).end();
    }
    if let Some(record) = &block.record {
        page.literal("  ").literal("record").pad_to(VALUES).styled(DIM, record);
        if let Some(evidence) = block.strength {
            page.literal("  ").styled(DIM, evidence_word(evidence));
        }
        if block.claimed {
            page.literal("  ").styled(WARN, "claimed: not written by this clone");
        }
        page.end();
    }
    evidence::origins(page, answer.path.as_str(), block, now);
    candidates(page, &block.candidates, now);
    if wanted.evidence == Evidenced::InFull {
        evidence::explained(page, block, now);
    }
    if wanted.lines == LinesExtent::Each {
        match &block.lines {
            Some(lines) => each_line(page, lines, now),
            None if is_recorded(block) => no_lines(page),
            None => {}
        }
    }
    reassigned(page, &block.lineage, now);
    lineage(page, &block.lineage, wanted.history, now);
}

/// Prints who asked for the intent, and its constraints.
fn asked_for(page: &mut Page, asked: &AskedFor) {
    if let Some((label, said)) = asked.label_and_text() {
        page.literal("  ").literal(label).pad_to(VALUES).text(&said).end();
    }
    for (nth, constraint) in asked.constraints.iter().enumerate() {
        page.literal("  ").literal(if nth == 0 { "must hold" } else { "" }).pad_to(VALUES);
        page.text(constraint).end();
    }
}

fn commit_line(page: &mut Page, block: &BlockAnswer) {
    if let Some(commit) = &block.commit {
        page.literal("  ")
            .literal("commit")
            .pad_to(VALUES)
            .styled(DIM, commit.short())
            .literal(" ");
        page.text(&commit.author).literal(": ").text(&commit.subject).end();
    } else if block.uncommitted {
        page.literal("  ").literal("commit").pad_to(VALUES).styled(DIM, "none yet").end();
    }
}

fn intent_line(page: &mut Page, intent: &IntentBrief) {
    page.styled(INTENT, &intent.id).literal("  ");
    if let Some(name) = &intent.name {
        page.styled(STRONG, name);
    }
    let gap = if intent.name.is_some() { "  " } else { "" };
    match intent.version {
        Some(IntentVersion::Gone) => page.literal(gap).styled(WARN, "not in the registry"),
        Some(IntentVersion::Unknown) => page.literal(gap).styled(DIM, "an unknown version of it"),
        Some(IntentVersion::Unread) => {
            page.literal(gap).styled(WARN, "the registry cannot be read")
        }
        Some(IntentVersion::Other) => {
            page.literal(gap).styled(WARN, "another intent has this id now:").literal(" ");
            page.text(intent.now_called.as_deref().unwrap_or("one without a name")).end();
            return;
        }
        Some(IntentVersion::Earlier) | None => &mut *page,
    };
    if let Some(name) = &intent.now_called {
        page.literal("  ").styled(DIM, &format!("{} is called", intent.id)).literal(" ").text(name);
        page.literal(" ").styled(DIM, "now");
    }
    if let Some(status) = &intent.status {
        page.literal("  ").styled(shared::status_style(status), status);
    }
    page.end();
}

fn verdict_line(page: &mut Page, block: &BlockAnswer) {
    let (style, mark, word) = verdict(block.verdict);
    page.literal("  ").literal("verdict").pad_to(VALUES);
    page.styled(style, mark)
        .literal(" ")
        .styled(style, word)
        .literal("  ")
        .text(&meaning(block))
        .end();
}

/// Returns the colour, the mark and the word of a verdict.
fn verdict(verdict: Verdict) -> (Style, &'static str, &'static str) {
    match verdict {
        Verdict::Exact => (GOOD, "✓", "exact"),
        Verdict::Reformatted => (GOOD, "✓", "reformatted"),
        Verdict::Moved => (GOOD, "✓", "moved"),
        Verdict::Renamed => (WARN, "~", "renamed"),
        Verdict::Modified => (WARN, "~", "modified"),
        Verdict::Ambiguous => (UNSURE, "?", "ambiguous"),
        Verdict::Unrecorded => (DIM, "·", "unrecorded"),
    }
}

fn meaning(block: &BlockAnswer) -> String {
    let moved = block.place == Some(Placement::Moved) && block.content != Some(Content::Exact);
    let elsewhere = if moved { ", and in another place" } else { "" };
    let said = match block.verdict {
        Verdict::Exact => "as recorded".to_owned(),
        Verdict::Reformatted => "as recorded but for formatting and comments".to_owned(),
        Verdict::Moved => "as recorded, in another place now".to_owned(),
        Verdict::Renamed => "as recorded but for names".to_owned(),
        Verdict::Modified if block.only_inside => "changed only in blocks inside it".to_owned(),
        Verdict::Modified => match block.kept {
            Some(kept) => {
                format!("changed since by an unrecorded edit; about {} is kept", percent(kept))
            }
            None => "changed since by an unrecorded edit".to_owned(),
        },
        Verdict::Ambiguous => block.ambiguity(),
        Verdict::Unrecorded => "no record names it".to_owned(),
    };
    said + elsewhere
}

fn percent(share: f32) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Returns who wrote or accepted the block, when, and how much of it.
fn written(block: &BlockAnswer, now: Timestamp) -> Option<String> {
    let contributor = block.contributor.as_ref()?;
    let newest = block.lineage.first();
    let is_accepted =
        matches!(newest, Some(LineageStep::Record(step)) if step.kind == RecordKind::Ack);
    let who = match is_accepted {
        true => format!("accepted by {}", why::accepted_by(contributor)),
        false => why::who_in_full(contributor, block.tool.as_deref()),
    };
    let at = block.timestamp.as_deref().map(|at| moment(now, at));
    let parts = [Some(who), at, block.brought_text().filter(|_| !is_accepted)];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
}

fn moment(now: Timestamp, at: &str) -> String {
    format!("{} ({})", when::ago(now, at), when::date(at))
}

fn evidence_word(evidence: Strength) -> &'static str {
    match evidence {
        Strength::Declared => "declared",
        Strength::Inferred => "inferred",
        Strength::Observed => "observed",
        Strength::Verified => "verified",
    }
}

fn candidates(page: &mut Page, candidates: &[RecordBrief], now: Timestamp) {
    for (nth, candidate) in candidates.iter().enumerate() {
        page.literal("  ").literal(if nth == 0 { "either" } else { "or" }).pad_to(VALUES);
        step(page, candidate, now);
        page.literal("  ").styled(DIM, &candidate.record).end();
    }
}

/// Prints a row for each run of lines, with the record that these lines are from.
fn each_line(page: &mut Page, lines: &BlockLines, now: Timestamp) {
    let widths = lines.runs.iter().map(|run| span(run.start, run.end).chars().count());
    let states = VALUES + widths.max().unwrap_or_default() + GAP;
    for (nth, run) in lines.runs.iter().enumerate() {
        page.literal("  ").literal(if nth == 0 { "lines" } else { "" }).pad_to(VALUES);
        page.text(&span(run.start, run.end)).pad_to(states);
        match (run.state, &run.from) {
            (LineState::AsRecorded, Some(from)) => {
                step(page, from, now);
            }
            (LineState::AsRecorded, None) => {
                page.styled(DIM, "·").literal(" ").styled(DIM, "from no record");
            }
            (LineState::Changed, _) => {
                page.styled(WARN, "~").literal(" ").styled(WARN, run.state.words());
            }
            _ => {
                page.styled(GOOD, "✓").literal(" ").text(run.state.words());
            }
        }
        page.end();
    }
    if lines.gone > 0 {
        page.pad_to(VALUES).styled(WARN, &counted(lines.gone, "recorded line"));
        page.literal(" ").styled(WARN, if lines.gone == 1 { "is gone" } else { "are gone" }).end();
    }
}

fn no_lines(page: &mut Page) {
    page.literal("  ").literal("lines").pad_to(VALUES);
    page.styled(DIM, "not known: the record has no fingerprints of them, or names no one record")
        .end();
}

/// Prints the history without its newest step, which the card itself shows.
fn lineage(page: &mut Page, steps: &[LineageStep], history: HistoryExtent, now: Timestamp) {
    let older = steps.get(1..).unwrap_or_default();
    let shown = if history == HistoryExtent::Whole { older.len() } else { older.len().min(LATEST) };
    for (nth, at) in older[..shown].iter().enumerate() {
        page.literal("  ").literal(if nth == 0 { "before" } else { "" }).pad_to(VALUES);
        match at {
            LineageStep::Record(record) => step(page, record, now),
            LineageStep::Gap { .. } => {
                page.styled(UNSURE, "?").literal(" ").styled(UNSURE, "an unrecorded change");
            }
        }
        page.end();
    }
    if shown < older.len() {
        page.pad_to(VALUES).styled(DIM, &counted(older.len() - shown, "earlier step"));
        page.literal(" ").styled(DIM, "(--lineage)").end();
    }
}

fn step(page: &mut Page, record: &RecordBrief, now: Timestamp) {
    page.styled(GOOD, "●").literal(" ");
    match &record.intent {
        Some(intent) => page.styled(INTENT, intent),
        None => page.styled(DIM, "no intent"),
    };
    page.literal("  ");
    if record.kind == RecordKind::Ack {
        page.literal("accepted by ").text(why::accepted_by(&record.contributor));
    } else {
        page.text(&why::who(&record.contributor, record.tool.as_deref()));
    }
    page.literal(" · ").text(&moment(now, &record.timestamp));
    if let Some(name) = &record.name {
        page.literal("  ").styled(DIM, name);
    }
    for one in &record.reassigned {
        page.literal(" · ").text(&one.words()).literal(" ").text(&moment(now, &one.timestamp));
    }
}

/// Prints the intents that the newest step belonged to before a person reassigned it.
fn reassigned(page: &mut Page, steps: &[LineageStep], now: Timestamp) {
    let Some(LineageStep::Record(newest)) = steps.first() else { return };
    for one in newest.reassigned.iter().rev() {
        page.literal("  ").literal("was").pad_to(VALUES);
        page.styled(INTENT, &one.from).literal("  before ");
        page.text(one.by.as_deref().unwrap_or("a person")).literal(" reassigned it · ");
        page.text(&moment(now, &one.timestamp)).end();
    }
}

fn list(page: &mut Page, path: &str, blocks: &[BlockAnswer], now: Timestamp) {
    page.styled(STRONG, path).end();
    let mut rows = Vec::new();
    let mut rest = blocks;
    while let Some(first) = rest.first() {
        let run = rest.iter().take_while(|block| !is_recorded(block)).count();
        if run > LISTED {
            rows.push(unrecorded_run(&rest[..run]));
            rest = &rest[run..];
        } else {
            rows.push(row(first, now));
            rest = &rest[1..];
        }
    }
    page.table(2, &rows);
    page.gap();
    legend(page, blocks);
    summary(page, blocks);
}

fn lines_of(first: u32, last: u32) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

fn row(block: &BlockAnswer, now: Timestamp) -> Vec<Cell> {
    let (style, mark, word) = verdict(block.verdict);
    let lines = lines_of(block.start_line, block.end_line);
    let name = format!("{} {}", block.kind, block.qualified_name);
    if !is_recorded(block) {
        return vec![
            Cell::new(DIM, lines),
            Cell::new(DIM, name),
            Cell::new(DIM, format!("{mark} {word}")),
        ];
    }
    let kept = block.kept.filter(|_| block.verdict == Verdict::Modified && !block.only_inside);
    let word = match kept {
        Some(kept) => format!("{mark} {word}, {} kept", percent(kept)),
        None if block.only_inside => format!("{mark} {word} inside"),
        None => format!("{mark} {word}"),
    };
    let word = if block.suspect.is_some() { word + ", suspect" } else { word };
    let id = block.intent.as_ref().map(IntentBrief::label);
    let who = block.contributor.as_ref().map(|who| why::who(who, block.tool.as_deref()));
    let at = block.timestamp.as_deref().map(|at| when::ago(now, at)).unwrap_or_default();
    vec![
        Cell::new(DIM, lines),
        Cell::new(PLAIN, name),
        Cell::new(style, word),
        shared::intent_cell(id.as_deref()),
        Cell::new(PLAIN, who.unwrap_or_default()),
        Cell::new(DIM, at),
    ]
}

fn unrecorded_run(run: &[BlockAnswer]) -> Vec<Cell> {
    let first = run.iter().map(|block| block.start_line).min().unwrap_or_default();
    let last = run.iter().map(|block| block.end_line).max().unwrap_or_default();
    vec![
        Cell::new(DIM, lines_of(first, last)),
        Cell::new(DIM, format!("{} blocks", run.len())),
        Cell::new(DIM, "· unrecorded"),
    ]
}

/// Explains the intents that the list shows only by id, one row for each. Several versions of one
/// intent share a row; an earlier intent that had the same id has a row of its own.
fn legend(page: &mut Page, blocks: &[BlockAnswer]) {
    let mut intents: BTreeMap<String, BTreeSet<&IntentBrief>> = BTreeMap::new();
    for intent in blocks.iter().filter_map(|block| block.intent.as_ref()) {
        intents.entry(intent.label()).or_default().insert(intent);
    }
    for versions in intents.into_values() {
        match Vec::from_iter(versions)[..] {
            [only] => intent_line(page, only),
            ref versions => versions_line(page, versions),
        }
    }
}

/// Prints an intent as it is now, and the other names under which blocks were recorded.
fn versions_line(page: &mut Page, versions: &[&IntentBrief]) {
    let Some(first) = versions.first() else { return };
    let present = versions.iter().find_map(|one| match one.version {
        None => one.name.clone(),
        _ => one.now_called.clone(),
    });
    let present = present.or_else(|| first.name.clone());
    page.styled(INTENT, &first.id).literal("  ");
    if let Some(name) = &present {
        page.styled(STRONG, name).literal("  ");
    }
    if let Some(status) = &first.status {
        page.styled(shared::status_style(status), status);
    }
    if versions.iter().any(|one| one.version == Some(IntentVersion::Gone)) {
        page.styled(WARN, "not in the registry");
    }
    let names: BTreeSet<&String> = versions.iter().filter_map(|one| one.name.as_ref()).collect();
    for name in names.into_iter().filter(|name| Some(*name) != present.as_ref()) {
        page.literal("  ").styled(DIM, "for some blocks it was called").literal(" ").text(name);
    }
    if versions.iter().any(|one| one.version == Some(IntentVersion::Unknown)) {
        page.literal("  ").styled(DIM, "for some blocks an unknown version of it");
    }
    page.end();
}

fn summary(page: &mut Page, blocks: &[BlockAnswer]) {
    let recorded = blocks.iter().filter(|block| is_recorded(block)).count();
    page.styled(DIM, &format!("{recorded} of {} recorded", counted(blocks.len(), "block"))).end();
}

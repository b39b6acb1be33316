//! How the answer to *why* reads.

mod evidence;

use std::collections::{BTreeMap, BTreeSet};

use anstyle::Style;
use jiff::Timestamp;

use crate::cli::commands::shared;
use crate::cli::print::{Cell, DIM, GOOD, INTENT, PLAIN, Page, STRONG, UNSURE, WARN};
use crate::cli::when;
use crate::code::LineRange;
use crate::ledger::{RecordKind, Strength};
use crate::provenance::{Content, Place, Verdict};
use crate::verbs::why::{
    self, AskedFor, BlockAnswer, BlockLines, Candidate, IntentBrief, IntentVersion, LineState,
    LineageStep, WhyAnswer, span,
};
use crate::workspace::git::short_id;
use crate::workspace::text::counted;

/// Where the values of a block's card begin.
const VALUES: usize = 12;
/// Between lines and what is said of them.
const GAP: usize = 2;
/// Unrecorded blocks in a row that are still listed one by one.
const LISTED: usize = 2;
/// Steps of a history that are shown unless all are asked for.
const LATEST: usize = 3;

/// How much of a block's history is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HistoryExtent {
    /// The latest steps.
    Latest,
    /// All of it.
    Whole,
}

/// How much is said of a block's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinesExtent {
    /// Which changed, in a sentence.
    InBrief,
    /// Whose each is.
    Each,
}

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownParts {
    /// The lines that were asked for; `None` for the whole file.
    pub(super) place: Option<LineRange>,
    pub(super) history: HistoryExtent,
    pub(super) lines: LinesExtent,
    pub(super) evidence: Evidenced,
}

/// How much is said of what a verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidenced {
    /// Where the record was made, and what else stands in the block.
    InBrief,
    /// By what the record was found, and every earlier block that was compared with this one.
    InFull,
}

/// A line's block as a card; a file as a list, or as cards where more than one line of each block is wanted.
pub(super) fn answer(page: &mut Page, answer: &WhyAnswer, wanted: &ShownParts, now: Timestamp) {
    blocks(page, answer, wanted, now);
    shared::notes(page, &answer.notes);
}

fn blocks(page: &mut Page, answer: &WhyAnswer, wanted: &ShownParts, now: Timestamp) {
    let path = &shown_path(answer);
    if let Some(note) = &answer.note {
        page.styled(STRONG, path).own(": ").text(note).end();
        return;
    }
    let in_full = wanted.history == HistoryExtent::Whole
        || wanted.lines == LinesExtent::Each
        || wanted.evidence == Evidenced::InFull;
    match wanted.place {
        Some(lines) if answer.blocks.is_empty() => {
            page.styled(STRONG, path).own(":").text(&lines_of(lines.start(), lines.end()));
            page.own(match lines.start() == lines.end() {
                true => ": no block stands at this line",
                false => ": no block stands at these lines",
            });
            page.end();
        }
        None if answer.blocks.is_empty() => {
            page.styled(STRONG, path).own(": there are no blocks in this file").end();
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

/// The path, behind the commit where it is that of a commit.
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
    page.own("  ").own("block").to(VALUES);
    page.text(&block.kind).own(" ").styled(STRONG, &block.qualified_name).own("  ");
    page.styled(DIM, &format!("{}:{}-{}", shown_path(answer), block.start_line, block.end_line))
        .end();
    if let Some(who) = written(block, now) {
        page.own("  ").own("by").to(VALUES).text(&who).end();
    }
    if let Some(session) = &block.session {
        page.own("  ").own("session").to(VALUES).text(session).end();
    }
    commit_line(page, block);
    verdict_line(page, block);
    if wanted.lines == LinesExtent::InBrief
        && let Some(said) = block.lines_said()
    {
        page.to(VALUES).text(&said).end();
    }
    if let Some(suspect) = &block.suspect {
        page.own("  ").own("suspect").to(VALUES).styled(WARN, "!").own(" ");
        page.text(&suspect.message).end();
    }
    if let Some(record) = &block.record {
        page.own("  ").own("record").to(VALUES).styled(DIM, record);
        if let Some(evidence) = block.strength {
            page.own("  ").styled(DIM, evidence_word(evidence));
        }
        if block.claimed {
            page.own("  ").styled(WARN, "claimed: not written by this clone");
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

/// Who asked for the intent, and what must hold.
fn asked_for(page: &mut Page, asked: &AskedFor) {
    if let Some((label, said)) = asked.said() {
        page.own("  ").own(label).to(VALUES).text(&said).end();
    }
    for (nth, constraint) in asked.constraints.iter().enumerate() {
        page.own("  ").own(if nth == 0 { "must hold" } else { "" }).to(VALUES);
        page.text(constraint).end();
    }
}

fn commit_line(page: &mut Page, block: &BlockAnswer) {
    if let Some(commit) = &block.commit {
        page.own("  ").own("commit").to(VALUES).styled(DIM, commit.short()).own(" ");
        page.text(&commit.author).own(": ").text(&commit.subject).end();
    } else if block.uncommitted {
        page.own("  ").own("commit").to(VALUES).styled(DIM, "none yet").end();
    }
}

fn intent_line(page: &mut Page, intent: &IntentBrief) {
    page.styled(INTENT, &intent.id).own("  ");
    if let Some(name) = &intent.name {
        page.styled(STRONG, name);
    }
    let gap = if intent.name.is_some() { "  " } else { "" };
    match intent.version {
        Some(IntentVersion::Gone) => page.own(gap).styled(WARN, "not in the registry"),
        Some(IntentVersion::Unknown) => page.own(gap).styled(DIM, "an unknown version of it"),
        Some(IntentVersion::Unread) => page.own(gap).styled(WARN, "the registry cannot be read"),
        Some(IntentVersion::Other) => {
            page.own(gap).styled(WARN, "another intent has this id now:").own(" ");
            page.text(intent.now_called.as_deref().unwrap_or("one without a name")).end();
            return;
        }
        Some(IntentVersion::Earlier) | None => &mut *page,
    };
    if let Some(name) = &intent.now_called {
        page.own("  ").styled(DIM, &format!("{} is called", intent.id)).own(" ").text(name);
        page.own(" ").styled(DIM, "now");
    }
    if let Some(status) = &intent.status {
        page.own("  ").styled(shared::status_style(status), status);
    }
    page.end();
}

fn verdict_line(page: &mut Page, block: &BlockAnswer) {
    let (style, mark, word) = verdict(block.verdict);
    page.own("  ").own("verdict").to(VALUES);
    page.styled(style, mark).own(" ").styled(style, word).own("  ").text(&meaning(block)).end();
}

/// Colour, mark and word of a verdict.
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
    let moved = block.place == Some(Place::Moved) && block.content != Some(Content::Exact);
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
        Verdict::Unrecorded => "no record speaks of it".to_owned(),
    };
    said + elsewhere
}

fn percent(share: f32) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Who wrote it, or accepted it, when, and how much of it.
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
    let parts = [Some(who), at, block.brought_said().filter(|_| !is_accepted)];
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

fn candidates(page: &mut Page, candidates: &[Candidate], now: Timestamp) {
    for (nth, candidate) in candidates.iter().enumerate() {
        page.own("  ").own(if nth == 0 { "either" } else { "or" }).to(VALUES);
        step(page, candidate, now);
        page.own("  ").styled(DIM, &candidate.record).end();
    }
}

/// A row a run of lines, whose they are beside it.
fn each_line(page: &mut Page, lines: &BlockLines, now: Timestamp) {
    let widths = lines.runs.iter().map(|run| span(run.start, run.end).chars().count());
    let states = VALUES + widths.max().unwrap_or_default() + GAP;
    for (nth, run) in lines.runs.iter().enumerate() {
        page.own("  ").own(if nth == 0 { "lines" } else { "" }).to(VALUES);
        page.text(&span(run.start, run.end)).to(states);
        match (run.state, &run.from) {
            (LineState::AsRecorded, Some(from)) => {
                step(page, from, now);
            }
            (LineState::AsRecorded, None) => {
                page.styled(DIM, "·").own(" ").styled(DIM, "came with no record");
            }
            (LineState::Changed, _) => {
                page.styled(WARN, "~").own(" ").styled(WARN, run.state.words());
            }
            _ => {
                page.styled(GOOD, "✓").own(" ").text(run.state.words());
            }
        }
        page.end();
    }
    if lines.gone > 0 {
        page.to(VALUES).styled(WARN, &counted(lines.gone, "recorded line"));
        page.own(" ").styled(WARN, if lines.gone == 1 { "is gone" } else { "are gone" }).end();
    }
}

fn no_lines(page: &mut Page) {
    page.own("  ").own("lines").to(VALUES);
    page.styled(DIM, "not known: the record has no fingerprints of them, or names no one record")
        .end();
}

/// The history below the newest step, which the card itself tells.
fn lineage(page: &mut Page, steps: &[LineageStep], history: HistoryExtent, now: Timestamp) {
    let older = steps.get(1..).unwrap_or_default();
    let shown = if history == HistoryExtent::Whole { older.len() } else { older.len().min(LATEST) };
    for (nth, at) in older[..shown].iter().enumerate() {
        page.own("  ").own(if nth == 0 { "before" } else { "" }).to(VALUES);
        match at {
            LineageStep::Record(record) => step(page, record, now),
            LineageStep::Gap { .. } => {
                page.styled(UNSURE, "?").own(" ").styled(UNSURE, "something that no record covers");
            }
        }
        page.end();
    }
    if shown < older.len() {
        page.to(VALUES).styled(DIM, &counted(older.len() - shown, "earlier step"));
        page.own(" ").styled(DIM, "(--lineage)").end();
    }
}

fn step(page: &mut Page, record: &Candidate, now: Timestamp) {
    page.styled(GOOD, "●").own(" ");
    match &record.intent {
        Some(intent) => page.styled(INTENT, intent),
        None => page.styled(DIM, "no intent"),
    };
    page.own("  ");
    if record.kind == RecordKind::Ack {
        page.own("accepted by ").text(why::accepted_by(&record.contributor));
    } else {
        page.text(&why::who(&record.contributor, record.tool.as_deref()));
    }
    page.own(" · ").text(&moment(now, &record.timestamp));
    if let Some(name) = &record.name {
        page.own("  ").styled(DIM, name);
    }
    for one in &record.reassigned {
        page.own(" · ").text(&one.words()).own(" ").text(&moment(now, &one.timestamp));
    }
}

/// Under which intents the newest step was before a person put it under another.
fn reassigned(page: &mut Page, steps: &[LineageStep], now: Timestamp) {
    let Some(LineageStep::Record(newest)) = steps.first() else { return };
    for one in newest.reassigned.iter().rev() {
        page.own("  ").own("was").to(VALUES);
        page.styled(INTENT, &one.from).own("  before ");
        page.text(one.by.as_deref().unwrap_or("a person")).own(" reassigned it · ");
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

/// The intents that the list names only by id, each once: two texts of one intent are one, and another intent that had
/// its id is not.
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

/// An intent as it is now, and as what else blocks were recorded under it.
fn versions_line(page: &mut Page, versions: &[&IntentBrief]) {
    let Some(first) = versions.first() else { return };
    let present = versions.iter().find_map(|one| match one.version {
        None => one.name.clone(),
        _ => one.now_called.clone(),
    });
    let present = present.or_else(|| first.name.clone());
    page.styled(INTENT, &first.id).own("  ");
    if let Some(name) = &present {
        page.styled(STRONG, name).own("  ");
    }
    if let Some(status) = &first.status {
        page.styled(shared::status_style(status), status);
    }
    if versions.iter().any(|one| one.version == Some(IntentVersion::Gone)) {
        page.styled(WARN, "not in the registry");
    }
    let names: BTreeSet<&String> = versions.iter().filter_map(|one| one.name.as_ref()).collect();
    for name in names.into_iter().filter(|name| Some(*name) != present.as_ref()) {
        page.own("  ").styled(DIM, "for some blocks it was called").own(" ").text(name);
    }
    if versions.iter().any(|one| one.version == Some(IntentVersion::Unknown)) {
        page.own("  ").styled(DIM, "for some blocks an unknown version of it");
    }
    page.end();
}

fn summary(page: &mut Page, blocks: &[BlockAnswer]) {
    let recorded = blocks.iter().filter(|block| is_recorded(block)).count();
    page.styled(DIM, &format!("{recorded} of {} recorded", counted(blocks.len(), "block"))).end();
}

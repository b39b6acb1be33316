//! Prints the answer of `intent why`.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Display;

use anstyle::Style;
use jiff::Timestamp;

use crate::cli::commands::shared;
use crate::cli::print::{Cell, DIM, GOOD, INTENT, PLAIN, Page, STRONG, UNSURE, WARN};
use crate::cli::when;
use claims::ClaimedLine;
use code::LineRange;
use ground::git::short_id;
use ground::text::{self, counted, joined_words};
use provenance::Verdict;
use why::answers::{
    self, AskedFor, BlockAnswer, BlockLines, BroughtLines, CommitBrief, IntentBrief, IntentVersion,
    KnownBy, LineAnswer, LineState, OriginAnswer, RecordBrief, WhyAnswer, span,
};

const VALUES: usize = 12;
const GAP: usize = 2;
/// In the list of a file, a longer run of unrecorded blocks than this becomes one row.
const LISTED: usize = 2;
const LATEST: usize = 3;
/// Of how many intents and commits the lines of a block without an intent are told.
const SHARES: usize = 4;
/// How much of a commit's subject a row has, in characters.
const SUBJECT: usize = 48;
const MISSING: &str = "history is missing here";

#[derive(Clone, Copy, Debug)]
pub(super) struct ShownParts {
    /// The requested lines, or `None` for the whole file.
    pub(super) place: Option<LineRange>,
    /// All records that brought lines of a block, not only the latest few (`--history`).
    pub(super) whole_history: bool,
    /// For each line, the record that it is from (`--lines`). Otherwise one sentence says whose the
    /// lines are.
    pub(super) each_line: bool,
    pub(super) now: Timestamp,
}

/// Prints the answer. A block at a line is shown as a card. A whole file is shown as a list, or as
/// cards if more than one row of each block is requested.
pub(super) fn answer(page: &mut Page, answer: &WhyAnswer, wanted: &ShownParts) {
    blocks(page, answer, wanted);
    shared::notes(page, &answer.notes);
}

fn blocks(page: &mut Page, answer: &WhyAnswer, wanted: &ShownParts) {
    let path = &shown_path(answer);
    if let Some(note) = &answer.note {
        page.styled(STRONG, path).literal(": ").text(note).end();
        return;
    }
    let in_full = wanted.whole_history || wanted.each_line;
    match wanted.place {
        // A line between blocks, such as a comment, belongs to somebody too.
        Some(_) if answer.blocks.is_empty() && answer.line.as_ref().is_some_and(is_known) => {
            answer.line.iter().for_each(|line| line_card(page, answer, line, wanted.now));
        }
        Some(lines) if answer.blocks.is_empty() => {
            page.styled(STRONG, path).literal(":").text(lines_of(lines.start(), lines.end()));
            page.line(match lines.start() == lines.end() {
                true => ": no block stands at this line",
                false => ": no block stands at these lines",
            });
        }
        None if answer.blocks.is_empty() => {
            page.styled(STRONG, path).line(": there are no blocks in this file");
        }
        Some(_) => {
            if let Some(line) = &answer.line {
                line_card(page, answer, line, wanted.now);
            }
            answer.blocks.iter().for_each(|block| card(page, answer, block, wanted));
        }
        None if in_full => {
            answer.blocks.iter().for_each(|block| card(page, answer, block, wanted));
            page.gap();
            summary(page, &answer.blocks);
        }
        None => list(page, path, &answer.blocks, wanted.now),
    }
}

fn shown_path(answer: &WhyAnswer) -> String {
    match &answer.revision {
        Some(revision) => format!("{}:{}", short_id(revision), answer.path),
        None => answer.path.to_string(),
    }
}

fn is_recorded(block: &BlockAnswer) -> bool {
    block.verdict != Verdict::Unrecorded
}

fn is_known(line: &LineAnswer) -> bool {
    line.from.is_some() || line.commit.is_some() || line.uncommitted
}

fn field<'p>(page: &'p mut Page, name: &'static str) -> &'p mut Page {
    page.literal("  ").literal(name).pad_to(VALUES)
}

fn optional_field(page: &mut Page, name: &'static str, text: Option<impl Display>) {
    if let Some(text) = text {
        field(page, name).text(text).end();
    }
}

/// Prints the intent of a card, or `else_known` if there is none, and who asked for it.
fn print_heading(
    page: &mut Page,
    (intent, origin): (Option<&IntentBrief>, Option<&OriginAnswer>),
    else_known: &str,
    asked: Option<&AskedFor>,
) {
    match (intent, origin) {
        (Some(intent), _) => intent_line(page, intent),
        (None, Some(origin)) if origin.known_by != KnownBy::Git => origin_line(page, origin),
        (None, _) => {
            page.styled(DIM, else_known).end();
        }
    }
    if let Some(asked) = asked {
        asked_for(page, asked);
    }
}

fn card(page: &mut Page, answer: &WhyAnswer, block: &BlockAnswer, wanted: &ShownParts) {
    let now = wanted.now;
    let known = if block.record.is_some() {
        "recorded under no intent"
    } else if !block.candidates.is_empty() {
        "two intents brought half of its lines each"
    } else if has_recorded_lines(block) {
        "no intent brought half of its lines"
    } else {
        "no intent is known"
    };
    let intent = (block.intent.as_ref(), block.origin.as_ref());
    print_heading(page.gap(), intent, known, block.asked.as_ref());
    let lines = format!("{}:{}-{}", shown_path(answer), block.start_line, block.end_line);
    field(page, "block").text(&block.kind).literal(" ");
    page.styled(STRONG, &block.qualified_name).literal("  ").styled(DIM, lines).end();
    optional_field(page, "by", who_wrote(block, now));
    optional_field(page, "session", block.session.as_ref());
    for share in block.claims.iter().take(SHARES) {
        show_claim(page, &share.claimed, Some(share.lines));
    }
    match &block.origin {
        Some(origin) => origin_of_lines(page, origin, now),
        None => commit_line(page, block.commit.as_ref(), block.uncommitted),
    }
    if block.origin.is_none() || block.shares.len() > 1 || block.accepted.is_some() {
        verdict_line(page, block);
    }
    if block.history_missing && is_recorded(block) {
        page.pad_to(VALUES).styled(UNSURE, MISSING).end();
    }
    if let Some(said) = block.lines_text().filter(|_| !wanted.each_line) {
        page.pad_to(VALUES).text(said).end();
    }
    if let Some(suspect) = &block.suspect {
        field(page, "suspect").label(WARN, "!").text(&suspect.message).end();
    }
    if let Some(record) = &block.record {
        field(page, "record").styled(DIM, record);
        page.optional("  ", DIM, block.strength.map(|strength| shared::json_word(&strength)));
        if block.claimed {
            page.literal("  ").styled(WARN, "claimed: not written by this clone");
        }
        page.end();
    }
    recorded_elsewhere(page, answer.path.as_str(), block);
    candidates(page, &block.candidates, now);
    if let Some(lines) = block.lines.as_ref().filter(|_| wanted.each_line) {
        each_line(page, lines, now);
    }
    show_reassigned(page, block, now);
    other_records(page, block, wanted);
}

/// Prints who brought the requested line, unless that is what the card of its block says.
fn line_card(page: &mut Page, answer: &WhyAnswer, line: &LineAnswer, now: Timestamp) {
    let says_it = |block: &BlockAnswer| match &line.from {
        Some(from) => block.record.as_ref() == Some(&from.record),
        None => block.intent.is_none() && block.shares.len() < 2,
    };
    if !answer.blocks.is_empty() && answer.blocks.iter().all(says_it) {
        return;
    }
    let known = line.state.unknown().unwrap_or(match line.state {
        LineState::AsRecorded => "recorded under no intent",
        _ => "no intent is known",
    });
    let intent = (line.intent.as_ref(), line.origin.as_ref());
    print_heading(page, intent, known, line.asked.as_ref());
    let place = format!("{}:{}", shown_path(answer), line.line);
    field(page, "line").styled(DIM, place).end();
    if let Some(from) = &line.from {
        let who = answers::who_in_full(&from.contributor, from.tool.as_deref());
        field(page, "by").text(format!("{who} · {}", moment(now, &from.timestamp))).end();
        optional_field(page, "session", from.session.as_ref());
    }
    if let Some(line) = &line.claimed {
        show_claim(page, line, None);
    }
    match &line.origin {
        Some(origin) => origin_of_lines(page, origin, now),
        None => commit_line(page, line.commit.as_ref(), line.uncommitted),
    }
    if let Some(from) = &line.from {
        field(page, "record").styled(DIM, &from.record).end();
    }
}

fn recorded_elsewhere(page: &mut Page, path: &str, block: &BlockAnswer) {
    if let Some(then) = &block.recorded
        && (then.path.as_str() != path || then.name != block.qualified_name)
    {
        field(page, "was").text(&then.kind).literal(" ").styled(STRONG, &then.name).literal("  ");
        let lines = format!("{}:{}-{}", then.path, then.start_line, then.end_line);
        page.styled(DIM, lines).end();
    }
}

fn asked_for(page: &mut Page, asked: &AskedFor) {
    if let Some((label, said)) = asked.label_and_text() {
        field(page, label).text(&said).end();
    }
    for (nth, constraint) in asked.constraints.iter().enumerate() {
        field(page, if nth == 0 { "must hold" } else { "" }).text(constraint).end();
    }
}

fn commit_line(page: &mut Page, commit: Option<&CommitBrief>, uncommitted: bool) {
    if let Some(commit) = commit {
        field(page, "commit").styled(DIM, commit.short()).literal(" ");
        page.text(&commit.author).literal(": ").text(&commit.subject).end();
    } else if uncommitted {
        field(page, "commit").styled(DIM, "none yet").end();
    }
}

fn show_claim(page: &mut Page, line: &ClaimedLine, count: Option<usize>) {
    let name = if line.strength() == "inferred" { "inferred" } else { "claimed" };
    let count = count.map(|count| counted(count, "line"));
    field(page, name).text(line.in_words()).optional(" · ", PLAIN, count);
    page.literal("  ").styled(DIM, format!("by {}", line.tool.as_str())).end();
    optional_field(page, "asked", line.prompt_line());
}

fn origin_line(page: &mut Page, origin: &OriginAnswer) {
    for intent in origin.intent.iter().chain(&origin.candidates) {
        intent_line(page, intent);
    }
    page.styled(DIM, origin.how_it_is_known()).end();
}

fn origin_of_lines(page: &mut Page, origin: &OriginAnswer, now: Timestamp) {
    let commit = &origin.commit;
    let when = commit.timestamp.as_deref().map(|at| when::ago(now, at)).unwrap_or_default();
    field(page, "git").styled(DIM, commit.short()).literal("  ").text(&commit.author);
    page.literal(", ").text(when).literal(": ").text(&commit.subject);
    for reference in commit.other_references() {
        page.literal("  ").text(reference);
    }
    page.end();
    optional_field(page, "says", commit.agents_in_words());
    let sessions = origin.checkpoint.iter().flat_map(|one| &one.sessions);
    for session in sessions.take(LATEST) {
        let parts = [&session.agent, &session.model, &session.session];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        field(page, "session").text(parts.join(" · ")).literal("  ").styled(DIM, "of the commit");
        page.end();
        optional_field(page, "asked", session.prompt.as_ref());
    }
    optional_field(page, "must hold", origin.conditions.as_ref());
    field(page, "record").styled(DIM, origin.no_record.in_words()).end();
}

fn intent_line(page: &mut Page, intent: &IntentBrief) {
    page.styled(INTENT, &intent.id).literal("  ").optional("", STRONG, intent.name.as_ref());
    let gap = if intent.name.is_some() { "  " } else { "" };
    let (style, said) = match intent.version {
        // An intent in another format is not lost: its files were removed or never merged.
        Some(IntentVersion::Gone) if intent.id.contains(':') => {
            (DIM, "its files are not here any more")
        }
        Some(IntentVersion::Gone) => (WARN, "not in the registry"),
        Some(IntentVersion::Shared) => (WARN, "several intents have this id"),
        Some(IntentVersion::Unknown) => (DIM, "an unknown version of it"),
        Some(IntentVersion::Unread) => (WARN, "the registry cannot be read"),
        Some(IntentVersion::Other) => {
            page.literal(gap).label(WARN, "another intent has this id now:");
            page.text(intent.now_called.as_deref().unwrap_or("one without a name")).end();
            return;
        }
        Some(IntentVersion::Earlier) | None => (PLAIN, ""),
    };
    page.optional(gap, style, Some(said).filter(|said| !said.is_empty()));
    if let Some(name) = &intent.now_called {
        page.literal("  ").styled(DIM, format!("{} is called", intent.id)).literal(" ").text(name);
        page.literal(" ").styled(DIM, "now");
    }
    if let Some(status) = &intent.status {
        page.literal("  ").styled(shared::status_style(status), status);
    }
    page.end();
}

fn verdict_line(page: &mut Page, block: &BlockAnswer) {
    let (style, mark) = style_and_mark(block.verdict);
    field(page, "verdict").label(style, mark).styled(style, block.verdict.as_str());
    page.literal("  ").text(meaning_of_verdict(block)).end();
}

fn style_and_mark(verdict: Verdict) -> (Style, &'static str) {
    match verdict {
        Verdict::Exact | Verdict::Reformatted | Verdict::Moved => (GOOD, "✓"),
        Verdict::Renamed | Verdict::Modified => (WARN, "~"),
        Verdict::Ambiguous => (UNSURE, "?"),
        Verdict::Unrecorded => (DIM, "·"),
    }
}

fn meaning_of_verdict(block: &BlockAnswer) -> String {
    if let Some(accepted) = &block.accepted {
        let by = answers::accepted_by(&accepted.contributor);
        return format!("accepted as it stands by {by}");
    }
    block.difference_text().unwrap_or_else(|| match block.verdict {
        Verdict::Moved => "as recorded, in another place now".to_owned(),
        Verdict::Ambiguous => block.ambiguity(),
        Verdict::Unrecorded => whose_lines(block, of_git),
        _ => "as recorded".to_owned(),
    })
}

fn has_recorded_lines(block: &BlockAnswer) -> bool {
    block.shares.iter().any(|share| share.intent.is_some())
}

/// Says whose the lines of a block are: `3 lines INT-001, 4 lines git: Ada`. `of_git` names a commit.
fn whose_lines(block: &BlockAnswer, of_git: fn(&CommitBrief) -> String) -> String {
    let mut owners: Vec<(String, usize)> = Vec::new();
    for share in &block.shares {
        let commit = || share.commit.as_ref().map(of_git).unwrap_or_default();
        let whose = share.owner().map_or_else(commit, str::to_owned);
        match owners.iter_mut().find(|(known, _)| *known == whose) {
            Some((_, lines)) => *lines += share.lines,
            None => owners.push((whose, share.lines)),
        }
    }
    owners.sort_by_key(|(_, lines)| Reverse(*lines));
    let said = owners.iter().take(SHARES);
    let mut said: Vec<String> =
        said.map(|(whose, lines)| format!("{} {whose}", counted(*lines, "line"))).collect();
    let rest: usize = owners.iter().skip(SHARES).map(|(_, lines)| lines).sum();
    said.extend((rest > 0).then(|| format!("{} others", counted(rest, "line"))));
    if said.is_empty() { "no record names it".to_owned() } else { said.join(", ") }
}

fn author_by_git(commit: &CommitBrief) -> String {
    format!("git: {}", commit.author)
}

fn of_git(commit: &CommitBrief) -> String {
    format!("git: {} {} {}", commit.author, commit.short(), commit.subject)
}

fn who_wrote(block: &BlockAnswer, now: Timestamp) -> Option<String> {
    let who = answers::who_in_full(block.contributor.as_ref()?, block.tool.as_deref());
    let at = block.timestamp.as_deref().map(|at| moment(now, at));
    let parts = [Some(who), at, block.brought_text()];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
}

fn moment(now: Timestamp, at: &str) -> String {
    format!("{} ({})", when::ago(now, at), when::date(at))
}

fn candidates(page: &mut Page, candidates: &[RecordBrief], now: Timestamp) {
    for (nth, candidate) in candidates.iter().enumerate() {
        field(page, if nth == 0 { "either" } else { "or" });
        step(page, candidate, now).literal("  ").styled(DIM, &candidate.record).end();
    }
}

fn each_line(page: &mut Page, lines: &BlockLines, now: Timestamp) {
    let widths = lines.runs.iter().map(|run| span(run.start, run.end).chars().count());
    let states = VALUES + widths.max().unwrap_or_default() + GAP;
    for (nth, run) in lines.runs.iter().enumerate() {
        field(page, if nth == 0 { "lines" } else { "" });
        page.text(span(run.start, run.end)).pad_to(states);
        match (&run.from, run.state.unknown(), &run.commit) {
            (Some(from), ..) => step(page, from, now),
            (None, Some(why), _) => page.label(UNSURE, "?").styled(UNSURE, why),
            (None, _, commit) => {
                page.label(DIM, "·").styled(DIM, "no record").literal("  ");
                page.styled(DIM, commit.as_deref().map_or("in no commit yet", short_id))
            }
        };
        page.end();
    }
}

fn other_records(page: &mut Page, block: &BlockAnswer, wanted: &ShownParts) {
    let is_shown = |record: &RecordBrief| {
        Some(&record.record) == block.record.as_ref() || block.candidates.contains(record)
    };
    let others: Vec<&RecordBrief> =
        block.lineage.iter().filter(|record| !is_shown(record)).collect();
    let shown = if wanted.whole_history { others.len() } else { others.len().min(LATEST) };
    for (nth, record) in others[..shown].iter().enumerate() {
        field(page, if nth == 0 { "also by" } else { "" });
        step(page, record, wanted.now).end();
    }
    if shown < others.len() {
        page.pad_to(VALUES).styled(DIM, counted(others.len() - shown, "more record"));
        page.literal(" ").styled(DIM, "(--history)").end();
    }
}

fn step<'p>(page: &'p mut Page, record: &RecordBrief, now: Timestamp) -> &'p mut Page {
    shared::intent(page.label(GOOD, "●"), record.intent.as_deref()).literal("  ");
    page.text(answers::author_name(&record.contributor, record.tool.as_deref()));
    page.literal(" · ").text(moment(now, &record.timestamp));
    for one in &record.reassigned {
        page.literal(" · ").text(one.as_words()).literal(" ").text(moment(now, &one.timestamp));
    }
    page
}

fn show_reassigned(page: &mut Page, block: &BlockAnswer, now: Timestamp) {
    let is_its = |record: &&RecordBrief| Some(&record.record) == block.record.as_ref();
    let its = block.lineage.iter().find(is_its);
    for one in its.into_iter().flat_map(|record| record.reassigned.iter().rev()) {
        field(page, "was").styled(INTENT, &one.from).literal("  before ");
        page.text(one.by.as_deref().unwrap_or("a person")).literal(" reassigned it · ");
        page.text(moment(now, &one.timestamp)).end();
    }
}

fn list(page: &mut Page, path: &str, blocks: &[BlockAnswer], now: Timestamp) {
    page.styled(STRONG, path).end();
    let mut rows = Vec::new();
    let mut rest = blocks;
    while let Some(first) = rest.first() {
        let commit = |block: &BlockAnswer| Some(block.origin.as_ref()?.commit.id.clone());
        let of_first = commit(first);
        let is_alike = |block: &&BlockAnswer| {
            !is_recorded(block) && !has_recorded_lines(block) && commit(block) == of_first
        };
        let run = rest.iter().take_while(is_alike).count();
        if run > LISTED {
            rows.push(unrecorded_run(&rest[..run], now));
            rest = &rest[run..];
        } else {
            rows.push(row(first, now));
            rest = &rest[1..];
        }
    }
    page.table(2, rows);
    page.gap();
    legend(page, blocks);
    summary(page, blocks);
}

fn lines_of(first: u32, last: u32) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

fn row(block: &BlockAnswer, now: Timestamp) -> Vec<Cell> {
    let (style, mark) = style_and_mark(block.verdict);
    let inside = if block.only_inside { " inside" } else { "" };
    let suspect = if block.suspect.is_some() { ", suspect" } else { "" };
    let word = format!("{mark} {}{inside}{suspect}", block.verdict.as_str());
    let lines = lines_of(block.start_line, block.end_line);
    let name = format!("{} {}", block.kind, block.qualified_name);
    let style_of_name = if is_recorded(block) { PLAIN } else { DIM };
    let place = [Cell::new(DIM, lines), Cell::new(style_of_name, name), Cell::new(style, word)];
    // A person may have accepted a block that no record is about: that says nothing of its lines.
    let cells = if block.record.is_some() {
        record_cells(block, now)
    } else if has_recorded_lines(block) {
        let style = if block.candidates.is_empty() { DIM } else { INTENT };
        vec![Cell::new(style, whose_lines(block, author_by_git))]
    } else {
        origin_cells(block, now)
    };
    place.into_iter().chain(cells).collect()
}

fn record_cells(block: &BlockAnswer, now: Timestamp) -> Vec<Cell> {
    let brought = block.brought.map(|brought| format!("{}/{}", brought.lines, brought.of));
    let id = block.intent.as_ref().map(IntentBrief::label);
    let at = block.timestamp.as_deref().map(|at| when::ago(now, at)).unwrap_or_default();
    vec![
        Cell::new(DIM, brought.unwrap_or_default()),
        shared::intent_cell(id.as_deref()),
        Cell::new(PLAIN, joined_words(block.authors())),
        Cell::new(DIM, at),
    ]
}

fn origin_cells(block: &BlockAnswer, now: Timestamp) -> Vec<Cell> {
    let Some(origin) = &block.origin else { return Vec::new() };
    let id = origin.intent.as_ref().map(|intent| intent.id.as_str());
    let id = match (id, &origin.candidates[..]) {
        (Some(id), _) => Cell::new(INTENT, id),
        (None, []) => Cell::new(DIM, ""),
        (None, several) => Cell::new(DIM, format!("one of {}", several.len())),
    };
    let when = origin.commit.timestamp.as_deref().map(|at| when::ago(now, at));
    vec![
        Cell::new(DIM, origin.known_by.in_words()),
        id,
        Cell::new(PLAIN, &origin.commit.author),
        Cell::new(DIM, when.unwrap_or_default()),
        Cell::new(DIM, text::shorten(&origin.commit.subject, SUBJECT)),
    ]
}

fn unrecorded_run(run: &[BlockAnswer], now: Timestamp) -> Vec<Cell> {
    let first = run.iter().map(|block| block.start_line).min().unwrap_or_default();
    let last = run.iter().map(|block| block.end_line).max().unwrap_or_default();
    let mut row = vec![
        Cell::new(DIM, lines_of(first, last)),
        Cell::new(DIM, format!("{} blocks", run.len())),
        Cell::new(DIM, "· unrecorded"),
    ];
    row.extend(run.first().map(|block| origin_cells(block, now)).unwrap_or_default());
    row
}

/// Explains the intents that the list shows only by id, one row for each version of an intent. The
/// present version comes first, and versions whose rows would be alike share one.
fn legend<'a>(page: &mut Page, blocks: &'a [BlockAnswer]) {
    let of_commit = |block: &'a BlockAnswer| block.origin.as_ref()?.intent.as_ref();
    let shown =
        blocks.iter().filter_map(|block| block.intent.as_ref().or_else(|| of_commit(block)));
    let rows: BTreeSet<(String, Option<&String>, IntentBrief)> = shown
        .map(|intent| {
            let version = intent.version.filter(|version| *version != IntentVersion::Earlier);
            let brief = IntentBrief { version, ..intent.clone() };
            (intent.label(), intent.now_called.as_ref(), brief)
        })
        .collect();
    rows.iter().for_each(|(_, _, intent)| intent_line(page, intent));
}

fn summary(page: &mut Page, blocks: &[BlockAnswer]) {
    page.styled(DIM, format!("{} recorded", BroughtLines::recorded_in(blocks).in_words()));
    let missing = blocks.iter().filter(|block| block.history_missing).count();
    if missing > 0 {
        page.styled(UNSURE, format!("; for {}, {MISSING}", counted(missing, "block")));
    }
    page.end();
}

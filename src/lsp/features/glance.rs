//! What is said of a block in at most four lines: why it is there; who wrote it, when and how much
//! of it; whether it is still so; and links to the rest. Also what is said of one line of code.
//!
//! The hover shows these lines, and the command `intent.why` returns them as data.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tower_lsp::lsp_types as lsp;

use super::prose::Prose;
use super::{block_line, intent_text, mention};
use crate::analysis::Analysis;
use crate::workspace_view::{GovernedFile, WorkspaceView};
use ground::RelativePath;
use ground::clock::ago;
use ground::text::counted;
use ledger::Trust;
use provenance::Verdict;
use why::answers::{
    self, BlockAnswer, BroughtLines, CommitBrief, FileProvenance, IntentBrief, KnownBy, LineAnswer,
    OriginAnswer, RecordBrief, ShareAnswer, Which,
};

const MAX_OTHERS: usize = 2;

/// The number of pull requests and specifications that are linked, each.
const MAX_LINKS: usize = 3;

const LONGEST_SUBJECT: usize = 72;

const UNCOMMITTED: &str = "not committed yet";
const MISSING: &str = "history is missing here";

#[derive(Clone, Copy)]
pub(crate) struct KnownFile<'a> {
    pub view: WorkspaceView<'a>,
    pub path: &'a RelativePath,
    pub uri: &'a lsp::Url,
    pub file: &'a FileProvenance,
}

impl<'a> KnownFile<'a> {
    pub(crate) fn of_analysis(open: &GovernedFile<'a>, analysis: &'a Analysis) -> Self {
        let (path, uri) = (&analysis.path, &open.open.uri);
        Self { view: open.view, path, uri, file: &analysis.file }
    }
}

pub(crate) struct Glance {
    /// Up to three lines, in the markup of the text that was given.
    pub lines: Vec<String>,
    pub links: Vec<Link>,
    answer: BlockAnswer,
}

pub(crate) struct Link {
    pub label: String,
    pub target: lsp::Url,
    /// A line of the target, counted from 1.
    pub line: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typing {
    /// The facts are those from before.
    InBlock,
    Elsewhere,
}

/// The answer of the command `intent.why` about a position.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GlanceAnswer {
    /// Up to three lines: why the block is there, who wrote it, and whether it is still so.
    lines: Vec<String>,
    /// Whose the line at the position is, for the end of that line.
    #[serde(skip_serializing_if = "Option::is_none")]
    short: Option<String>,
    /// The intent of the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    intent: Option<IntentBrief>,
    /// How the intent is known: `recorded`, or as the commit tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    known_by: Option<&'static str>,
    /// The commit that brought the lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<CommitBrief>,
    /// The fourth line.
    links: Vec<LinkAnswer>,
}

/// A link as data.
#[derive(Serialize, JsonSchema)]
struct LinkAnswer {
    label: String,
    target: String,
}

impl GlanceAnswer {
    /// Returns the answer about a line and the block around it. Both may be missing.
    pub(crate) fn from_glance(line: Option<&LineAnswer>, glance: Option<Glance>) -> Self {
        let short = line.and_then(short_glance);
        let Some(Glance { lines, links, answer }) = glance else {
            let (lines, links) = (Vec::new(), Vec::new());
            return Self { lines, short, intent: None, known_by: None, commit: None, links };
        };
        let (of_commit, commit_says) = match answer.origin {
            Some(OriginAnswer { known_by, intent, commit, .. }) => {
                (intent.map(|intent| (intent, known_by.in_words())), Some(commit))
            }
            None => (None, None),
        };
        let known = answer.intent.map(|intent| (intent, "recorded")).or(of_commit);
        let (intent, known_by) = known.unzip();
        let link = |link: Link| LinkAnswer { label: link.label.clone(), target: link.address() };
        let links = links.into_iter().map(link).collect();
        Self { lines, short, intent, known_by, commit: answer.commit.or(commit_says), links }
    }
}

impl Link {
    fn address(&self) -> String {
        match self.line {
            Some(line) => format!("{}#L{line}", self.target),
            None => self.target.to_string(),
        }
    }
}

impl Glance {
    pub(crate) fn write(&self, text: &mut Prose) {
        let shown = |link: &Link| text.link(&link.label, Some(&link.target), link.line);
        let links: Vec<String> = self.links.iter().map(shown).collect();
        let links = (!links.is_empty()).then(|| links.join(" · "));
        for line in self.lines.iter().chain(&links) {
            text.line(line);
        }
    }
}

/// Returns what is said of a block. `None` in a folder that is not governed, if nobody could know
/// more about the block than that it is not committed.
pub(crate) fn of_block(
    text: &Prose,
    known: KnownFile<'_>,
    index: usize,
    typing: Typing,
) -> Option<Glance> {
    let KnownFile { view, path, file, .. } = known;
    let workspace = view.workspace;
    let answer = answers::answer(workspace, path, file, Which::Block(index)).blocks.pop()?;
    let has_answer =
        answer.contributor.is_some() || answer.origin.is_some() || answer.history_missing;
    if !has_answer && !workspace.root.governed() {
        return None;
    }
    let mut lines = vec![why_line(text, &answer)];
    lines.extend(who_line(text, known, &answer));
    lines.extend(state_line(text, known, &answer, index, typing));
    let links = links(known, &answer, index);
    Some(Glance { lines, links, answer })
}

fn why_line(text: &Prose, answer: &BlockAnswer) -> String {
    if let Some(intent) = &answer.intent {
        return intent_text::headline(text, intent);
    }
    if !answer.candidates.is_empty() {
        return text.escaped(&answer.ambiguity());
    }
    if answer.contributor.is_some() {
        return "recorded under no intent".to_owned();
    }
    match (of_most(answer), answer.shares.first()) {
        (Some(origin), _) => why_of_commit(text, origin),
        (None, Some(share)) if share.intent.is_some() => {
            "no intent brought half of its lines".to_owned()
        }
        (None, Some(share)) if share.uncommitted => format!("no record; {UNCOMMITTED}"),
        (None, Some(ShareAnswer { converted: true, .. })) => "nobody can tell whose".to_owned(),
        (None, _) if answer.history_missing => format!("no record; {MISSING}"),
        (None, _) => "no record".to_owned(),
    }
}

/// Returns what is known of the commit of a block, if it brought the most lines.
fn of_most(answer: &BlockAnswer) -> Option<&OriginAnswer> {
    let origin = answer.origin.as_ref()?;
    let first = answer.shares.first()?.commit.as_ref()?;
    (first.id == origin.commit.id).then_some(origin)
}

fn why_of_commit(text: &Prose, origin: &OriginAnswer) -> String {
    let intents = origin.intent.iter().chain(&origin.candidates);
    let intents: Vec<String> = intents.map(|it| intent_text::headline(text, it)).collect();
    match intents.is_empty() {
        true => format!("git says: {}", commit_text(text, &origin.commit)),
        false => format!("{} · {}", intents.join(" or "), strength(origin.known_by)),
    }
}

fn strength(known_by: KnownBy) -> &'static str {
    match known_by {
        KnownBy::Inferred => "inferred from the commit",
        other => other.in_words(),
    }
}

fn commit_text(text: &Prose, commit: &CommitBrief) -> String {
    let subject = ground::text::shorten(&commit.subject, LONGEST_SUBJECT);
    format!("{} {}", text.code(commit.short()), text.escaped(&subject))
}

fn who_line(text: &Prose, known: KnownFile<'_>, answer: &BlockAnswer) -> Option<String> {
    if let Some(author) = block_line::author(answer) {
        let age = answer.timestamp.as_deref().and_then(ago);
        let brought = answer.brought.map(BroughtLines::in_words);
        let mut parts = vec![who_and_when(text, &author, age, brought)];
        parts.extend(answer.commit.as_ref().map(|commit| commit_text(text, commit)));
        let is_open = answer.uncommitted && known.view.workspace.git().is_some();
        parts.extend(is_open.then(|| UNCOMMITTED.to_owned()));
        return Some(parts.join(" · "));
    }
    if !answer.candidates.is_empty() {
        let parts: Vec<String> = answer.candidates.iter().map(|one| candidate(text, one)).collect();
        return Some(parts.join(" · "));
    }
    let first = answer.shares.first()?;
    let all = answer.shares.iter().map(|share| share.lines).sum();
    let brought = BroughtLines::from_counts((first.lines, all)).in_words();
    let Some(origin) = of_most(answer) else {
        let intent = first.intent.as_deref().map(|id| format!("{}, ", text.escaped(id)));
        let is_all = answer.shares.len() == 1;
        return (!is_all).then(|| format!("{}{brought}", intent.unwrap_or_default()));
    };
    let commit = &origin.commit;
    let age = commit.timestamp.as_deref().and_then(ago);
    let mut parts = vec![who_and_when(text, &commit.author, age, Some(brought))];
    let agents = commit.agents_in_words();
    parts.extend(agents.map(|agents| format!("the commit says: {}", text.escaped(&agents))));
    let has_intent = origin.known_by != KnownBy::Git;
    parts.extend(has_intent.then(|| format!("git says: {}", commit_text(text, commit))));
    Some(parts.join(" · "))
}

fn who_and_when(text: &Prose, author: &str, age: Option<String>, lines: Option<String>) -> String {
    let parts = [Some(text.escaped(author)), age, lines];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn candidate(text: &Prose, record: &RecordBrief) -> String {
    let author = block_line::author_name(&record.contributor, record.tool.as_deref());
    let intent = record.intent.as_deref().unwrap_or("no intent");
    let who = who_and_when(text, &author, ago(&record.timestamp), None);
    format!("{}: {who}", text.escaped(intent))
}

/// Returns the line that says whether the block is still so, and what else there is. `None` if
/// there is nothing to say.
fn state_line(
    text: &Prose,
    known: KnownFile<'_>,
    answer: &BlockAnswer,
    index: usize,
    typing: Typing,
) -> Option<String> {
    let found = &known.file.provenance[index];
    let mut parts = Vec::new();
    parts.extend(match &answer.accepted {
        Some(accepted) => {
            let by = answers::accepted_by(&accepted.contributor);
            Some(text.escaped(&format!("accepted as it stands by {by}")))
        }
        None => difference(text, known.path, answer),
    });
    if answer.history_missing && answer.contributor.is_some() {
        parts.push("history is missing for some of its lines".to_owned());
    }
    let trust = found.claim.as_ref().map(|claim| known.view.workspace.trust(&claim.entry));
    if trust == Some(Trust::Contradicted) {
        parts.push(text.strong("the record's own hash or chain contradicts it"));
    }
    if let Some(suspect) = &answer.suspect {
        parts.push(format!("{}: {}", text.strong("suspect"), text.escaped(&suspect.message)));
    }
    if answer.contributor.is_none() && answer.candidates.is_empty() {
        parts.extend(other_shares(text, answer));
        parts.extend(answer.claims.first().map(|claim| {
            let (who, lines) = (text.escaped(&claim.claimed.in_words()), claim.lines);
            let (strength, tool) = (claim.claimed.strength(), claim.claimed.tool.as_str());
            format!("{strength} by {tool}: {who}, {}", counted(lines, "line"))
        }));
    }
    parts.extend(mention::older_registry(known.view).map(|said| text.escaped(&said)));
    match (typing, parts.is_empty()) {
        (Typing::Elsewhere, true) => None,
        (Typing::Elsewhere, false) => Some(parts.join(" · ")),
        (Typing::InBlock, true) => Some(text.strong("being edited")),
        (Typing::InBlock, false) => {
            Some(format!("{}; before that: {}", text.strong("being edited"), parts.join(" · ")))
        }
    }
}

/// Says how the block differs from its record. `None` if it does not.
fn difference(text: &Prose, path: &RelativePath, answer: &BlockAnswer) -> Option<String> {
    if answer.verdict == Verdict::Moved {
        return Some(match &answer.recorded {
            Some(recorded) if recorded.path != *path => {
                format!("moved here from {}", text.code(recorded.path.as_str()))
            }
            Some(recorded) => format!("moved; recorded as {}", text.code(&recorded.name)),
            None => "moved since it was recorded".to_owned(),
        });
    }
    answer.difference_text().map(|said| text.escaped(&said))
}

/// Says who brought the lines that the headline does not cover, of a block without a named intent.
fn other_shares(text: &Prose, answer: &BlockAnswer) -> Option<String> {
    let others = answer.shares.iter().skip(1);
    let (named, commits): (Vec<&ShareAnswer>, Vec<&ShareAnswer>) =
        others.partition(|share| share.commit.is_none());
    let lines = |share: &&ShareAnswer| {
        let whose = text.escaped(share.owner().unwrap_or_default());
        format!("{} {whose}", counted(share.lines, "line"))
    };
    let mut parts: Vec<String> = named.iter().take(MAX_OTHERS).map(lines).collect();
    let commits_count = commits.len();
    if commits_count > 0 {
        let lines: usize = commits.iter().map(|share| share.lines).sum();
        let commits = counted(commits_count, "other commit");
        parts.push(format!("{} by {commits}", counted(lines, "line")));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn links(known: KnownFile<'_>, answer: &BlockAnswer, index: usize) -> Vec<Link> {
    let view = known.view;
    let link = |label: &str, target: lsp::Url, line: Option<u32>| {
        let label = label.to_owned();
        Link { label, target, line }
    };
    let mut links = Vec::new();
    let origin = answer.origin.as_ref();
    let intent = answer.intent.as_ref().or_else(|| origin?.intent.as_ref());
    if let Some((location, _)) = intent.and_then(|one| super::places::definition(view, &one.id)) {
        links.push(link("Intent", location.uri, Some(location.range.start.line + 1)));
    }
    if let Some(target) = history_link(known, answer) {
        links.push(link("History", target, None));
    } else if let Some(claim) = &known.file.provenance[index].claim {
        let origin = &claim.entry.origin;
        links.extend(view.address(&origin.path).map(|to| link("Record", to, Some(origin.line))));
    }
    let commit = answer.commit.as_ref().or(origin.map(|origin| &origin.commit));
    let web = view.workspace.git().and_then(|git| git.web_address());
    if let Some((commit, web)) = commit.zip(web) {
        links.extend(web.commit(&commit.id).parse().ok().map(|to| link("Commit", to, None)));
    }
    let keys = view.key_links();
    let references = commit.iter().flat_map(|commit| &commit.references);
    let pages = references
        .filter_map(|reference| Some(link(reference, keys.page(reference)?.parse().ok()?, None)));
    links.extend(pages.take(MAX_LINKS));
    if let Some(intent) = intent.and_then(|one| view.workspace.registry.get(&one.id)) {
        let source = intent_text::source_of(view, intent).map(|to| link("Source", to, None));
        let specs = intent.related_specs.iter().filter_map(|spec| {
            Some(link(&spec.value, intent_text::page_of_spec(view, &spec.value)?, None))
        });
        let mut specs: Vec<Link> = specs.take(MAX_LINKS).collect();
        if let [only] = &mut specs[..] {
            only.label = "Spec".to_owned();
        }
        links.extend(source.into_iter().chain(specs));
    }
    links
}

/// Returns the link by which the client shows the whole history of a block. `None` if it cannot, or
/// if there is none.
fn history_link(known: KnownFile<'_>, answer: &BlockAnswer) -> Option<lsp::Url> {
    let command = known.view.snapshot.settings.history_command.as_ref()?;
    if answer.shares.iter().all(|share| share.uncommitted) {
        return None;
    }
    let argument = json!([{ "uri": known.uri, "line": answer.start_line }]).to_string();
    let mut link: lsp::Url = format!("command:{command}").parse().ok()?;
    // `set_query` leaves the percent signs of the address as they are.
    link.set_query(Some(&argument.replace('%', "%25")));
    Some(link)
}

/// Says whose a line of code is, for the end of that line: `INT-006 · claude-code, 2 days`. `None`
/// if nothing is known of it.
pub(crate) fn short_glance(line: &LineAnswer) -> Option<String> {
    let age = |time: &str| ago(time).map(|age| age.trim_end_matches(" ago").to_owned());
    let by = |author: String, time: Option<&str>| {
        let age = time.and_then(age).map(|age| format!(", {age}"));
        format!("{author}{}", age.unwrap_or_default())
    };
    let said = match (&line.from, &line.origin) {
        (Some(from), _) => {
            let author = block_line::author_name(&from.contributor, from.tool.as_deref());
            let intent = line.intent.as_ref().map(IntentBrief::label);
            let intent = intent.unwrap_or_else(|| "no intent".to_owned());
            format!("{intent} · {}", by(author, Some(&from.timestamp)))
        }
        (None, Some(origin)) => {
            let OriginAnswer { commit, intent, known_by, .. } = origin;
            let intent = intent.as_ref().map(|one| format!("{}: {}", strength(*known_by), one.id));
            let claimed = line.claimed.as_ref().map(|claimed| {
                let (strength, tool) = (claimed.strength(), claimed.tool.as_str());
                format!("{strength} by {tool}: {}", claimed.in_words())
            });
            let git = by(commit.author.clone(), commit.timestamp.as_deref());
            let parts = [claimed, Some(format!("git says: {git}")), intent];
            parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
        }
        (None, None) if line.uncommitted => UNCOMMITTED.to_owned(),
        (None, None) => line.state.unknown()?.to_owned(),
    };
    Some(ground::text::terminal(&said))
}

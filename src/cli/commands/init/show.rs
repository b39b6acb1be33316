//! Prints the answers of `intent setup init`.

use anstyle::Style;
use serde::Serialize;

use super::{FirstUseAnswer, InitOffer, WiringAnswer};
use crate::cli::commands::shared;
use crate::cli::print::{DIM, GOOD, NOTE, PLAIN, Page, STRONG, WARN};
use hook::install::{Done, InstallAct, WiredAnswer};
use overview::init::InitAnswer;
use overview::team::{TeamAnswer, TeamFileDone};

pub const COLUMN: usize = 11;

pub(super) fn first_use(page: &mut Page, answer: &FirstUseAnswer) {
    workspace(page, &answer.workspace);
    for agent in &answer.agents {
        page.gap().styled(STRONG, &agent.agent);
        page.line("  wired, as its settings are in the project");
        files(page, agent);
        let is_new = agent.files.iter().any(|file| file.done != Done::Kept);
        for then in agent.next.iter().filter(|_| is_new) {
            entry(page, NOTE, "then").text(then).end();
        }
    }
    for refused in &answer.refused {
        page.gap().styled(STRONG, &refused.name).literal("  ").styled(WARN, "not wired").end();
        entry(page, WARN, "!").text(&refused.why).end();
    }
    if !answer.agents_here.is_empty() || !answer.editors.is_empty() {
        page.gap();
    }
    for offer in &answer.agents_here {
        show_offer(page, offer, ", not wired: ");
    }
    for offer in &answer.editors {
        show_offer(page, offer, ": ");
    }
    if let Some(team) = &answer.team {
        for_team(page, team);
    }
    if let Some(manager) = advice(&answer.workspace) {
        page.gap().styled(NOTE, &manager.name).literal(" manages the hooks of git here: ");
        page.text(&manager.advice).end();
        page.gap().lines(&manager.lines);
    }
    page.gap();
    if !answer.workspace.changed {
        page.line("Nothing was changed: all of it was there.");
    }
    page.next_command(&answer.workspace.next);
}

/// Prints something that a person could set up. These lines begin with "found", because they depend
/// on the machine and not only on the project.
fn show_offer(page: &mut Page, offer: &InitOffer, then: &'static str) {
    entry(page, NOTE, "found").styled(STRONG, &offer.name).literal(" by ").text(&offer.by);
    page.literal(then).literal("`").text(&offer.command).line("`");
}

fn workspace(page: &mut Page, answer: &InitAnswer) {
    page.styled(STRONG, &answer.root).end();
    for path in &answer.created {
        entry(page, GOOD, "created").text(path).end();
    }
    for path in &answer.kept {
        entry(page, DIM, "kept").styled(DIM, path).end();
    }
    entry(page, PLAIN, "ledger").text(&answer.layout).end();
    for (word, said) in [("intents", &answer.found), ("list", &answer.list)] {
        if let Some(said) = said {
            entry(page, PLAIN, word).text(said).end();
        }
    }
    if let Some(hooks) = &answer.hooks {
        let said = match (hooks.installed, answer.declined, &hooks.manager) {
            (true, ..) => {
                "git seals records into commits; `intent setup git-hooks --remove` takes that back"
            }
            (_, true, _) => "not installed, as `git config intent.hooks` is false",
            (_, _, Some(_)) => "not installed, as another program manages them: see below",
            _ => "not installed; `intent setup git-hooks` says why",
        };
        entry(page, PLAIN, "hooks").literal(said).end();
    }
}

fn for_team(page: &mut Page, answer: &TeamAnswer) {
    page.gap().styled(STRONG, "team").end();
    for file in answer.files.iter().filter(|file| file.done != TeamFileDone::ToAdd) {
        print_file(page, file.done == TeamFileDone::Kept, &file.done, &file.path);
    }
    for note in &answer.notes {
        entry(page, WARN, "!").text(note).end();
    }
    for file in &answer.files {
        let Some(lines) = &file.lines else { continue };
        page.gap().literal("Add this to ").text(&file.path).line(":").gap().lines(lines);
    }
}

fn advice(answer: &InitAnswer) -> Option<&evidence::git_hooks::Manager> {
    let hooks = answer.hooks.as_ref().filter(|hooks| !hooks.installed && !answer.declined)?;
    hooks.manager.as_ref()
}

fn files(page: &mut Page, agent: &WiredAnswer) {
    for file in &agent.files {
        print_file(page, file.done == Done::Kept, &file.done, &file.path);
    }
}

fn print_file(page: &mut Page, is_kept: bool, done: &impl Serialize, path: &str) {
    let style = if is_kept { DIM } else { GOOD };
    entry(page, style, &shared::json_word(done)).text(path).end();
}

fn entry<'p>(page: &'p mut Page, style: Style, word: &str) -> &'p mut Page {
    page.literal("  ").styled(style, word).pad_to(COLUMN)
}

pub(super) fn show_wiring(page: &mut Page, answer: &WiringAnswer, act: InstallAct) {
    let created = answer.workspace.as_ref().filter(|workspace| !workspace.created.is_empty());
    if let Some(created) = created {
        workspace(page, created);
        page.gap();
    }
    for (at, agent) in answer.agents.iter().enumerate() {
        if at > 0 {
            page.gap();
        }
        page.styled(STRONG, &agent.agent).literal("  ").styled(DIM, &agent.standing).end();
        files(page, agent);
        if agent.files.is_empty() && act == InstallAct::Take {
            page.line("  nothing of ours was there");
        }
        for cannot in &agent.cannot {
            entry(page, WARN, "!").text(cannot).end();
        }
        for next in &agent.next {
            entry(page, NOTE, "next").text(next).end();
        }
    }
    if let Some(team) = &answer.team {
        for_team(page, team);
    }
    if act == InstallAct::Put {
        page.gap().line("`intent doctor` says whether each of them really calls the gate.");
    }
}

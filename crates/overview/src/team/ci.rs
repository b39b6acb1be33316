//! Adds the CI job: as a file of its own if the forge supports that, otherwise as lines to paste.

use super::{Remainder, TeamAnswer, TeamFile, TeamFileDone, TeamPlace};
use ground::git::{Forge, RemoteAddress};
use ground::store::StoreError;

pub(super) const WORKFLOW: &str = ".github/workflows/intent.yml";
const GITLAB: &str = ".gitlab-ci.yml";
const JENKINS: &str = "Jenkinsfile";
pub(super) const PATHS: [&str; 3] = [WORKFLOW, GITLAB, JENKINS];
const WORKFLOW_TEXT: &str = include_str!("../../../../integrations/ci/github.yml");
const GITLAB_TEXT: &str = include_str!("../../../../integrations/ci/gitlab.yml");
const JENKINS_TEXT: &str = include_str!("../../../../integrations/ci/jenkins.groovy");

/// Keys that people fill in. Lines with them may differ from the template, and the file still
/// counts as ours.
const FILLED_IN: [&str; 3] = ["INTENT_ARCHIVE:", "INTENT_SHA256:", "INTENT_FOLDER:"];

/// Returns where the CI job lies for each forge, such as GitLab, that a file of the project or the
/// address of a remote names.
pub(super) fn job_files(place: &TeamPlace, remotes: &[String]) -> Vec<&'static str> {
    let in_tree = [
        (WORKFLOW, &[".github/workflows"][..]),
        (GITLAB, &[GITLAB, ".gitlab"]),
        (JENKINS, &[JENKINS]),
    ];
    let shown =
        in_tree.into_iter().filter(|(_, names)| names.iter().any(|name| place.exists(name)));
    let has_remote = |forge: Forge| {
        remotes.iter().any(|url| RemoteAddress::parse(url).and_then(|at| at.forge()) == Some(forge))
    };
    let named = [(WORKFLOW, Forge::GitHub), (GITLAB, Forge::GitLab)];
    // The folder `.github` alone is weak evidence: it also holds other things than workflows, such
    // as settings of agents, whichever forge is used.
    let by_folder = place.exists(".github").then_some(WORKFLOW);
    let found: [Vec<&str>; 3] = [
        shown.map(|(file, _)| file).collect(),
        named.into_iter().filter(|(_, forge)| has_remote(*forge)).map(|(file, _)| file).collect(),
        by_folder.into_iter().collect(),
    ];
    found.into_iter().find(|files| !files.is_empty()).unwrap_or_default()
}

pub(super) fn add_ci_job(
    place: &TeamPlace,
    files: &[&'static str],
    answer: &mut TeamAnswer,
) -> Result<(), StoreError> {
    if files.is_empty() {
        answer.notes.push(
            "no forge is seen in the tree or in the remotes: in CI run `intent check --base origin/main`".to_owned(),
        );
    }
    for path in files {
        let template = match *path {
            WORKFLOW => WORKFLOW_TEXT,
            GITLAB => GITLAB_TEXT,
            _ => JENKINS_TEXT,
        };
        let there = place.read(path)?;
        // A workflow is a file of our own. The other files belong to the team, if they exist.
        let is_shared = match *path {
            WORKFLOW => false,
            GITLAB => there.is_some(),
            _ => true,
        };
        let text = there.as_deref().unwrap_or_default();
        let calls_us = ["intent-lsp", "intent check", "ci/gitlab.yml"];
        let (done, lines) = if is_shared && !calls_us.iter().any(|call| text.contains(call)) {
            (TeamFileDone::ToAdd, Some(in_folder(place, template)))
        } else if is_shared || there.is_some() {
            (TeamFileDone::Kept, None)
        } else {
            place.write(path, &in_folder(place, template))?;
            (TeamFileDone::Created, None)
        };
        answer.files.push(TeamFile { path: (*path).to_owned(), done, lines });
        let text = there.as_deref().unwrap_or(template);
        if !is_shared && text.contains("INTENT_ARCHIVE: \"\"") {
            answer.notes.push(format!(
                "{path} checks nothing until INTENT_ARCHIVE and INTENT_SHA256 in it say where the program comes from"
            ));
        }
    }
    Ok(())
}

fn in_folder(place: &TeamPlace, template: &str) -> String {
    match place.below.as_str() {
        "" => template.to_owned(),
        below => template
            .replace("INTENT_FOLDER: \".\"", &format!("INTENT_FOLDER: {below:?}"))
            .replace("intent-lsp check", &format!("intent-lsp -C {below:?} check")),
    }
}

pub(super) fn is_template(path: &str, text: &str) -> bool {
    match path {
        WORKFLOW => text == WORKFLOW_TEXT,
        GITLAB => text == GITLAB_TEXT,
        _ => false,
    }
}

/// Returns what remains of a file without our job. If the file is our template, apart from the keys
/// that people fill in, nothing remains.
pub(super) fn text_without_job(path: &str, text: &str) -> Option<Remainder> {
    let template = if path == WORKFLOW { WORKFLOW_TEXT } else { GITLAB_TEXT };
    if template_without_values(text) == template_without_values(template) {
        return Some(Remainder::Nothing);
    }
    let is_about_us = path == WORKFLOW || text.contains("intent-lsp");
    is_about_us.then(|| Remainder::Theirs("it is not as `intent setup team` writes it".to_owned()))
}

fn template_without_values(text: &str) -> Vec<&str> {
    let is_theirs = |line: &&str| FILLED_IN.iter().any(|key| line.trim_start().starts_with(key));
    text.lines().map(str::trim_end).filter(|line| !is_theirs(line)).collect()
}

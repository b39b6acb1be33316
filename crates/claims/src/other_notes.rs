//! Notes that are not read: those of tools that are not known, and those that only a remote has.

use ground::Git;

pub(crate) const GIT_AI: &str = "refs/notes/ai";
pub(crate) const AGENT_BLAME: &str = "refs/notes/agentblame";
/// Notes that say nothing about who wrote code, or copies of those that are read. A name that ends
/// in `-` stands for all that begin with it.
const NOT_ABOUT_LINES: [&str; 5] =
    ["commits", "ai-", "agentblame-", "semantic-release", "semantic-release-"];
const MAX_LISTED: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingNotes {
    pub remote: String,
    pub reference: String,
}

/// Returns the names of the notes that this program does not read, without `refs/notes/`.
pub fn unknown_notes(git: &Git) -> Vec<String> {
    let listed = git.references_below("refs/notes/", MAX_LISTED).unwrap_or_default();
    let short = listed.iter().filter(|name| ![GIT_AI, AGENT_BLAME].contains(&name.as_str()));
    let short = short.filter_map(|name| name.strip_prefix("refs/notes/"));
    let mut names: Vec<String> =
        short.filter(|name| !is_left_out(name)).map(str::to_owned).collect();
    names.sort();
    names
}

fn is_left_out(name: &str) -> bool {
    NOT_ABOUT_LINES.iter().any(|known| match known.ends_with('-') {
        true => name.starts_with(known),
        false => name == *known,
    })
}

/// Returns the notes that the settings fetch from a remote, or that were fetched to another place, if
/// the clone lacks them. Nothing is fetched to find it out.
pub fn missing_notes(git: &Git) -> Vec<MissingNotes> {
    let fetched = git.fetched_references();
    let mut missing = Vec::new();
    for reference in [GIT_AI, AGENT_BLAME] {
        if has_reference(git, reference) {
            continue;
        }
        let name = reference.trim_start_matches("refs/notes/");
        let has_notes = |remote: &String| {
            let copies = [
                format!("refs/remotes/{remote}/notes/{name}"),
                format!("refs/notes/{name}-remote/{remote}"),
                format!("refs/notes/{remote}/{name}"),
            ];
            let is_fetched =
                |(from, source): &(String, String)| from == remote && source == reference;
            fetched.iter().any(is_fetched) || copies.iter().any(|copy| has_reference(git, copy))
        };
        let remotes = git.remote_names().into_iter().filter(has_notes);
        let reference = reference.to_owned();
        missing.extend(remotes.map(|remote| MissingNotes { remote, reference: reference.clone() }));
    }
    missing
}

fn has_reference(git: &Git, name: &str) -> bool {
    git.reference(name).ok().flatten().is_some()
}

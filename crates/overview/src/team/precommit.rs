//! Adds our entry to the settings of the framework pre-commit: one list item between marks, at the
//! end of `repos`.
//!
//! The file is written by people and has comments, so lines are inserted and nothing is rewritten.
//! The result is parsed to make sure that exactly our entry was added.

use super::{Remainder, TeamAnswer, TeamFile, TeamFileDone, TeamPlace, between_marks, end_of_line};
use ground::store::StoreError;
use intents::yaml;

pub(super) const CONFIG: &str = ".pre-commit-config.yaml";

/// The entry that is added. On a machine without the program, commits pass unchecked; CI checks
/// them.
const ENTRY: &str = "\
- repo: local
  hooks:
    - id: intent-check
      name: intent check
      entry: sh -c 'command -v intent-lsp >/dev/null || exit 0; exec intent-lsp check --staged'
      language: system
      pass_filenames: false
      always_run: true
";

pub(super) fn add_precommit_hook(
    place: &TeamPlace,
    answer: &mut TeamAnswer,
) -> Result<(), StoreError> {
    let Some(text) = place.read(CONFIG)? else { return Ok(()) };
    let entry = entry(place);
    let (done, lines) = match with_entry(&text, &entry) {
        // A person may have added an entry by hand, from our `.pre-commit-hooks.yaml`.
        _ if text.contains("id: intent-check") => (TeamFileDone::Kept, None),
        Some(after) => {
            place.write(CONFIG, &after)?;
            (TeamFileDone::Changed, None)
        }
        None => (TeamFileDone::ToAdd, Some(entry)),
    };
    answer.files.push(TeamFile { path: CONFIG.to_owned(), done, lines });
    Ok(())
}

pub(super) fn is_as_written(before: Option<&str>, now: &str) -> bool {
    before.and_then(|before| with_entry(before, ENTRY)).as_deref() == Some(now)
}

fn entry(place: &TeamPlace) -> String {
    match place.below.as_str() {
        "" => ENTRY.to_owned(),
        below => {
            ENTRY.replace("exec intent-lsp check", &format!("exec intent-lsp -C \"{below}\" check"))
        }
    }
}

/// Returns the text with our entry as the last item of `repos`. `None` if that place cannot be
/// found.
fn with_entry(text: &str, entry: &str) -> Option<String> {
    let before = yaml::parse(text).ok()?.to_json();
    let end_of_line = end_of_line(text);
    let (at, indent) = end_of_repos(text)?;
    let block = between_marks(entry, &" ".repeat(indent), end_of_line);
    let gap = if text[..at].ends_with('\n') { "" } else { end_of_line };
    let after = format!("{}{gap}{block}{}", &text[..at], &text[at..]);
    // The result must parse to the old content with our entry appended.
    let mut expected = before;
    let ours = yaml::parse(entry).ok()?.to_json();
    expected.get_mut("repos")?.as_array_mut()?.push(ours.get(0)?.clone());
    (yaml::parse(&after).ok()?.to_json() == expected).then_some(after)
}

/// Finds where an item can be added to the list `repos`: the offset after its last line, and the
/// number of spaces before its items. `None` if the list does not exist, or is not written with one
/// item per line.
fn end_of_repos(text: &str) -> Option<(usize, usize)> {
    let mut at = 0;
    let mut inside = false;
    let mut found: Option<(usize, usize)> = None;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let bare = line.trim();
        let depth = line.len() - line.trim_start_matches(' ').len();
        let is_item = bare == "-" || bare.starts_with("- ");
        if !inside {
            inside = depth == 0 && line.strip_prefix("repos:").is_some_and(is_bare);
            continue;
        }
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        let indent = match found {
            Some((_, indent)) => indent,
            None if is_item => depth,
            None => return None,
        };
        if depth < indent || (depth == indent && !is_item) {
            break;
        }
        found = Some((at, indent));
    }
    found
}

fn is_bare(rest: &str) -> bool {
    rest.trim().is_empty() || rest.trim_start().starts_with('#')
}

pub(super) fn text_without_hook(text: &str) -> Option<Remainder> {
    match super::without_block(text) {
        // Our entry is added only to a list that has other items. So something always remains,
        // unless somebody moved the marks.
        Some(Remainder::Nothing) => {
            Some(Remainder::Theirs("nothing would be left of it".to_owned()))
        }
        Some(rest) => Some(rest),
        None => text.contains("id: intent-check").then(|| {
            Remainder::Theirs("its entry `intent-check` has no marks of ours around it".to_owned())
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_entry_is_added_last_and_can_be_removed() {
        let cases = [
            "repos:\n  - repo: a # why\n    hooks:\n      - id: x\n",
            "# top\nrepos:\n# first\n- repo: a\n  hooks: [{id: x}]\n\n# after\nci:\n  skip: [y]\n",
            "ci: {}\nrepos: # all of them\n- repo: a\n  hooks:\n  - id: x\n    args:\n    - |\n      -\n\n      z",
            "repos:\r\n  - repo: a\r\n    hooks:\r\n      - id: x\r\n",
        ];
        for text in cases {
            let put = with_entry(text, ENTRY).unwrap_or_else(|| panic!("{text:?}"));
            assert!(put.contains("intent-check") && !put.contains("\r\r"), "{put}");
            let rest = match super::super::without_block(&put) {
                Some(Remainder::Text(rest)) => rest,
                _ => panic!("{put:?}"),
            };
            assert_eq!(rest.trim_end(), text.trim_end());
        }
    }

    #[test]
    fn a_file_of_unknown_form_gets_no_entry() {
        for text in [
            "",
            "repos: []\n",
            "repos: [{repo: a, hooks: []}]\n",
            "repos:\n",
            "{repos: [a]}\n",
            "x: |\n  repos:\n  - a\n",
            "a: |\nrepos:\n  - ]\n",
            "repos: &a\n  - repo: x\n",
        ] {
            assert_eq!(with_entry(text, ENTRY), None, "{text:?}");
        }
    }
}

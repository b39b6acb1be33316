//! Commands that delete single files, or bring back what git has of them.

use super::{Class, Invocation, PathEffect, Prediction, TouchedPath};

/// What a command makes of the files that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restoration {
    Delete,
    /// `git restore FILE`
    FromIndex,
    /// `git checkout HEAD -- FILE`
    FromHead,
}

/// Returns what a command makes of each path that it changes, if the text only deletes files and
/// brings committed files back: `cd src && git restore a.rs`. `None` if it does anything else.
pub fn restorations(reading: &Prediction) -> Option<Vec<(&str, Restoration)>> {
    let (mut named, mut from) = (0, None);
    for command in &reading.commands {
        let (what, paths) = match command.rule.as_str() {
            "rm.file" => (Restoration::Delete, operands(&words_of(command)[1..])?),
            "git.checkout-path" | "git.restore" => of_git(command)?,
            _ if command.class == Class::Read => continue,
            _ => return None,
        };
        named += paths.len();
        if what != Restoration::Delete {
            // Two sources in one text would have to be told apart for each path.
            if from.is_some_and(|from| from != what) {
                return None;
            }
            from = Some(what);
        }
    }
    let is_changed =
        |target: &&TouchedPath| target.effect != PathEffect::Read && target.path != "/dev/null";
    let restored = reading.targets.iter().filter(is_changed).map(|target| {
        let what = match target.effect {
            PathEffect::Delete => Some(Restoration::Delete),
            PathEffect::Write => from,
            _ => None,
        };
        Some((target.path.as_str(), what.filter(|_| target.known && !target.recursive)?))
    });
    let restored = restored.collect::<Option<Vec<_>>>()?;
    // Any other target comes from a redirection.
    (!restored.is_empty() && restored.len() == named && !reading.background).then_some(restored)
}

/// Returns the files that `git restore` or `git checkout` brings back from the index or from `HEAD`,
/// as written. `None` if the command does anything else.
pub fn restored_by(command: &Invocation) -> Option<Vec<&str>> {
    match words_of(command).as_slice() {
        // Git has both sides of a conflict.
        ["git", "checkout" | "restore", "--ours" | "--theirs", paths @ ..] => operands(paths),
        _ => of_git(command).map(|(_, paths)| paths),
    }
}

/// Returns where `git checkout` or `git restore` takes files from, and the paths that it names.
/// `None` if it does more than that, or takes them from elsewhere.
fn of_git(command: &Invocation) -> Option<(Restoration, Vec<&str>)> {
    let words = words_of(command);
    let ["git", rest @ ..] = words.as_slice() else { return None };
    match rest {
        ["checkout", "HEAD", paths @ ..] => Some((Restoration::FromHead, operands(paths)?)),
        ["checkout", paths @ ..] => Some((Restoration::FromIndex, operands(paths)?)),
        ["restore", rest @ ..] => {
            let mut from = Restoration::FromIndex;
            let mut rest = rest;
            loop {
                rest = match rest {
                    // With `--staged`, git takes the files from `HEAD` without being told.
                    ["--source=HEAD" | "-sHEAD", rest @ ..]
                    | ["--source" | "-s", "HEAD", rest @ ..]
                    | ["--staged" | "-S" | "-SW" | "-WS", rest @ ..] => {
                        from = Restoration::FromHead;
                        rest
                    }
                    ["--worktree" | "-W" | "-q" | "--quiet", rest @ ..] => rest,
                    rest => break Some((from, operands(rest)?)),
                }
            }
        }
        _ => None,
    }
}

/// Returns the folders in which a command makes linked work trees: `git worktree add -b x FOLDER`.
pub fn new_work_trees(reading: &Prediction) -> Vec<&str> {
    let named = reading.commands.iter().filter_map(|command| {
        let words = words_of(command);
        let at = words.windows(2).position(|pair| pair == ["worktree", "add"])?;
        let mut rest = words.get(at + 2..)?.iter();
        loop {
            match *rest.next()? {
                "-b" | "-B" | "--reason" => rest.next(),
                option if option.starts_with('-') => continue,
                folder => return Some(folder.trim_start_matches(['.', '/']).to_owned()),
            };
        }
    });
    let named: Vec<String> = named.collect();
    let is_named = |path: &&str| {
        // A hidden folder lost its dot above.
        named.iter().any(|name| !name.is_empty() && path.ends_with(name.as_str()))
    };
    let written = reading.targets.iter().filter(|it| it.known && it.effect == PathEffect::Write);
    let found: Vec<&str> = written.map(|target| target.path.as_str()).filter(is_named).collect();
    // If more paths end alike, one of them is written by something else.
    if found.len() == named.len() { found } else { Vec::new() }
}

fn words_of(command: &Invocation) -> Vec<&str> {
    command.words.iter().map(String::as_str).collect()
}

/// Returns the paths. `None` if an option is among them.
fn operands<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    let words = words.iter().copied().filter(|word| !["--", "-f"].contains(word));
    words.map(|word| (!word.starts_with('-')).then_some(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CommandContext, Dialect};

    #[test]
    fn only_commands_that_name_each_file_restore_them() {
        use Restoration::{Delete, FromHead, FromIndex};
        let at = CommandContext {
            cwd: "/w".into(),
            root: Some("/w".into()),
            home: None,
            temp: Vec::new(),
        };
        for (text, expected) in [
            ("rm a.rs", Some(vec![("/w/a.rs", Delete)])),
            ("rm -f a.rs b.rs", Some(vec![("/w/a.rs", Delete), ("/w/b.rs", Delete)])),
            ("git checkout -- a.rs", Some(vec![("/w/a.rs", FromIndex)])),
            ("git checkout a.rs", Some(vec![("/w/a.rs", FromIndex)])),
            ("git checkout HEAD -- a.rs", Some(vec![("/w/a.rs", FromHead)])),
            ("git restore a.rs", Some(vec![("/w/a.rs", FromIndex)])),
            ("cd src && git restore a.rs", Some(vec![("/w/src/a.rs", FromIndex)])),
            ("git restore -s HEAD -- a.rs 2>/dev/null", Some(vec![("/w/a.rs", FromHead)])),
            ("git restore --staged --worktree a.rs", Some(vec![("/w/a.rs", FromHead)])),
            (
                "rm a.rs && git restore b.rs",
                Some(vec![("/w/a.rs", Delete), ("/w/b.rs", FromIndex)]),
            ),
            ("git restore -s HEAD~1 a.rs", None),
            ("git checkout main -- a.rs", None),
            ("git checkout main a.rs", None),
            ("git restore -p a.rs", None),
            ("git restore a.rs && python3 x.py", None),
            ("git restore a.rs > b.rs", None),
            ("rm -r src", None),
            ("rm $x", None),
            ("echo x > a.rs", None),
            ("ls", None),
        ] {
            let reading = crate::read(text, Dialect::Posix, &at);
            assert_eq!(restorations(&reading), expected, "{text}");
        }
    }
}

//! Finds options and operands among the arguments, by the conventions that most programs follow.

use crate::argument::Arg;
use crate::table::TableRow;

pub(super) fn before_dashes(args: &[Arg]) -> &[Arg] {
    let end = args.iter().position(|arg| arg.is_word("--")).unwrap_or(args.len());
    &args[..end]
}

/// Returns true if a short option is present, alone or in a cluster (`-rf`).
fn has_short_option(args: &[Arg], letter: char) -> bool {
    before_dashes(args).iter().any(|arg| {
        let word = arg.lead.as_str();
        word.len() > 1
            && word.starts_with('-')
            && !word.starts_with("--")
            && word[1..].chars().take_while(|c| c.is_ascii_alphanumeric()).any(|c| c == letter)
    })
}

/// Returns true if a long option is present: in full, abbreviated as GNU allows, or with `=value`.
fn has_long_option(args: &[Arg], name: &str) -> bool {
    before_dashes(args).iter().any(|arg| {
        let word = arg.lead.split('=').next().unwrap_or_default();
        word == name || word.len() >= 3 && name.starts_with(word) && word.starts_with("--")
    })
}

/// Returns true if one of these options is given: a letter such as `-f`, also in a cluster, or a long
/// one, also abbreviated.
pub(super) fn has_option(args: &[Arg], options: &[&str]) -> bool {
    options.iter().any(|option| match option.strip_prefix("--") {
        Some(_) => has_long_option(args, option),
        None => option.chars().skip(1).any(|letter| has_short_option(args, letter)),
    })
}

/// Returns a long option in full and in the abbreviated forms that GNU allows.
pub(super) fn abbreviations(name: &'static str) -> impl Iterator<Item = &'static str> {
    (3..=name.len()).map(move |end| &name[..end])
}

/// Returns true if a flag is certainly set, by its letter or by its long name. Unlike [`has_short_option`] and
/// [`has_long_option`], it skips the values of the options in `takes`: `-e -n` and `-en` set no `-n` then.
pub(super) fn is_set(args: &[Arg], letter: char, name: &str, takes: &[&str]) -> bool {
    let args = before_dashes(args);
    let flag = |c: &char| c.is_ascii_alphanumeric() && !takes.contains(&format!("-{c}").as_str());
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let cluster = arg.lead.strip_prefix('-').unwrap_or_default();
        if cluster.chars().take_while(flag).any(|c| c == letter)
            || has_long_option(std::slice::from_ref(arg), name)
        {
            return true;
        }
        at += 1 + usize::from(takes_next(&arg.lead, takes));
    }
    false
}

/// Returns true if one of these words is present exactly, or a long option among them with
/// `=value`, or a short one in a cluster.
pub(super) fn has_any(args: &[Arg], words: &[&str]) -> bool {
    args.iter().any(|arg| {
        let name = arg.lead.split('=').next().unwrap_or_default();
        words.iter().any(|word| {
            arg.lead == *word
                || word.starts_with('-') && name == *word
                || may_be_of_cluster(word) && arg.sure && in_cluster(&arg.lead, word)
        })
    })
}

/// Returns true for an option such as `-f`, which may be part of a cluster.
fn may_be_of_cluster(word: &str) -> bool {
    word.len() == 2 && word.starts_with('-') && word != "--"
}

fn in_cluster(word: &str, option: &str) -> bool {
    word.starts_with('-')
        && !word.starts_with("--")
        && word.len() > 2
        && word.len() <= 6
        && word[1..].chars().all(|c| c.is_ascii_alphabetic())
        && word.ends_with(|c: char| c.is_ascii_alphabetic())
        && word[1..].contains(&option[1..])
}

/// Returns the operands: the words that are neither options nor values of the options in `takes`.
pub(crate) fn operands<'a>(args: &'a [Arg], takes: &[&str]) -> Vec<&'a Arg> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        if arg.is_word("--") {
            found.extend(&args[at..]);
            break;
        }
        if !arg.looks_like_option() {
            found.push(arg);
            continue;
        }
        if takes_next(&arg.lead, takes) {
            at += 1;
        }
    }
    found
}

/// Returns true if an option takes the next word as its value: `-n 5`, `-rn 5`, `--lines 5`, but
/// not `--lines=5`.
pub(super) fn takes_next(option: &str, takes: &[&str]) -> bool {
    if takes.contains(&option) {
        return true;
    }
    let clustered = option.starts_with('-') && !option.starts_with("--") && option.len() > 2;
    clustered
        && takes.iter().any(|taken| {
            may_be_of_cluster(taken)
                && option.ends_with(&taken[1..])
                && option[1..].chars().all(|c| c.is_ascii_alphabetic())
        })
}

pub(super) fn count_of_leading_words(args: &[Arg], takes: &[&str]) -> usize {
    let mut at = 0;
    while args.get(at).is_some_and(Arg::looks_like_option) {
        at += 1 + usize::from(takes_next(&args[at].lead, takes));
    }
    at.min(args.len())
}

/// Returns the values of an option under any of its names: `-o X`, `-oX`, `--output X`,
/// `--output=X`.
pub(super) fn values(args: &[Arg], names: &[&str]) -> Vec<Arg> {
    let mut found = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        for name in names {
            if arg.is_word(name) || takes_next(&arg.lead, &[name]) {
                found.extend(args.get(at + 1).cloned());
            } else if let Some(rest) = value_in_same_word(&arg.lead, name) {
                found.push(without_beginning(arg, arg.lead.len() - rest.len()));
            }
        }
    }
    found
}

fn value_in_same_word<'a>(word: &'a str, name: &str) -> Option<&'a str> {
    let rest = word.strip_prefix(name)?;
    if name.starts_with("--") || name.len() > 2 {
        return rest.strip_prefix(['=', ':']);
    }
    (name.starts_with('-') && !rest.is_empty()).then(|| rest.strip_prefix('=').unwrap_or(rest))
}

/// Returns a word without its first `from` bytes, which must be known text.
pub(super) fn without_beginning(arg: &Arg, from: usize) -> Arg {
    use crate::argument::WordPiece;
    let mut pieces = Vec::new();
    let mut left = from;
    for piece in &arg.pieces {
        match piece {
            WordPiece::Text(text) if left >= text.len() => left -= text.len(),
            WordPiece::Text(text) => {
                pieces.push(WordPiece::Text(text.get(left..).unwrap_or_default().to_owned()));
                left = 0;
            }
            other => pieces.push(other.clone()),
        }
    }
    Arg::from_pieces(&pieces)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownOptions {
    Listed,
    /// Every option is in the list, but some value is not known and may be an option itself.
    Uncertain,
    Unlisted,
}

pub(super) fn known_options(row: &TableRow, args: &[Arg]) -> KnownOptions {
    let ok = row.list("ok");
    if ok == ["*"] {
        return KnownOptions::Listed;
    }
    let (takes, joined) = (row.list("takes"), row.list("joined"));
    // A glob may match several names, and one of them may look like an option.
    let many = |arg: &&Arg| arg.may_split || arg.glob && arg.lead.is_empty();
    let mut found = match args.iter().take_while(|arg| !arg.is_word("--")).any(|arg| many(&arg)) {
        true => KnownOptions::Uncertain,
        false => KnownOptions::Listed,
    };
    let plus = takes.iter().chain(&joined).any(|option| option.starts_with('+'));
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        if arg.is_word("--") {
            break;
        }
        let number = ["$!", "$?", "$$", "$#"].contains(&arg.text.as_str());
        if arg.lead.is_empty() && !arg.sure && !number {
            found = KnownOptions::Uncertain;
        }
        let sign = |text: &str| text.starts_with('-') || plus && text.starts_with('+');
        if !sign(&arg.lead) || arg.is_word("-") || ok.contains(&arg.lead.as_str()) {
            continue;
        }
        let (name, value) = match arg.lead.split_once('=') {
            Some((name, _)) => (name, true),
            None => (arg.lead.as_str(), false),
        };
        let numbered = row.has_flag("number") && arg.sure && name[1..].parse::<u32>().is_ok();
        if numbered || ok.contains(&name) && arg.sure || joined.contains(&name) {
            continue;
        }
        if takes.contains(&name) {
            at += usize::from(!value);
            continue;
        }
        match cluster_of(&arg.lead, &ok, &takes, &joined) {
            Some(next) if arg.sure || next == Cluster::Value => {
                at += usize::from(next == Cluster::Next)
            }
            _ => return KnownOptions::Unlisted,
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cluster {
    Flags,
    /// The last letter takes the next word as its value.
    Next,
    Value,
}

/// Classifies several short options in one word. Returns `None` if one of them is not known.
fn cluster_of(word: &str, ok: &[&str], takes: &[&str], joined: &[&str]) -> Option<Cluster> {
    if word.starts_with("--") {
        return None;
    }
    let sign = word.get(..1)?;
    for (at, letter) in word.char_indices().skip(1) {
        let option = format!("{sign}{letter}");
        let last = at + letter.len_utf8() == word.len();
        if joined.contains(&option.as_str()) {
            return Some(Cluster::Value);
        }
        if takes.contains(&option.as_str()) {
            return Some(if last { Cluster::Next } else { Cluster::Value });
        }
        if !ok.contains(&option.as_str()) {
            return None;
        }
    }
    Some(Cluster::Flags)
}

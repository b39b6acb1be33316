//! Finds a patch inside a shell command.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heredoc {
    /// The directory of a `cd` before the patch, as it is spelled. Paths in the patch are relative
    /// to it.
    pub dir: Option<String>,
    pub patch: String,
}

/// Returns the patch of a command that does nothing but apply one: `apply_patch <<'EOF' …` or `cd
/// DIR && apply_patch <<'EOF' …`.
///
/// The host treats these two forms as an edit and never passes them to a shell. Everything else is
/// an ordinary command, for which this returns `None`.
pub fn heredoc(command: &str) -> Option<Heredoc> {
    let command = command.trim_start();
    let (dir, rest) = match command.strip_prefix("cd") {
        Some(rest) => {
            let (dir, rest) = directory(rest)?;
            (Some(dir), skip_blanks(rest).strip_prefix("&&")?.trim_start())
        }
        None => (None, command),
    };
    let rest = ["apply_patch", "applypatch"].iter().find_map(|name| rest.strip_prefix(name))?;
    let rest = skip_blanks(rest).strip_prefix("<<")?;
    let (first, rest) = skip_blanks(rest).split_once('\n')?;
    let delimiter = delimiter(first.trim_end())?;
    let patch = body(rest, delimiter)?;
    Some(Heredoc { dir, patch: patch.to_owned() })
}

fn directory(rest: &str) -> Option<(String, &str)> {
    let argument = rest.strip_prefix([' ', '\t'])?;
    let argument = skip_blanks(argument);
    let quote = argument.chars().next()?;
    if quote == '\'' || quote == '"' {
        let (dir, rest) = argument[1..].split_once(quote)?;
        let plain = !dir.is_empty() && (quote == '\'' || !dir.contains(['$', '`', '\\']));
        return plain.then(|| (dir.to_owned(), rest));
    }
    let end = argument.find([' ', '\t', '&'])?;
    let (dir, rest) = argument.split_at(end);
    let named = !dir.is_empty() && !dir.starts_with('-');
    let plain = named && !dir.contains(|char| "'\"\\$`*?[]{}()<>|;#!~\n\r".contains(char));
    plain.then(|| (dir.to_owned(), rest))
}

fn skip_blanks(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}

fn delimiter(word: &str) -> Option<&str> {
    let bare = ['\'', '"']
        .iter()
        .find_map(|quote| word.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(word);
    let plain = |char: char| char.is_ascii_alphanumeric() || char == '_';
    (!bare.is_empty() && bare.chars().all(plain)).then_some(bare)
}

fn body<'a>(text: &'a str, delimiter: &str) -> Option<&'a str> {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end_matches(['\n', '\r']) == delimiter {
            let after = &text[end + line.len()..];
            return after.trim().is_empty().then(|| text[..end].trim_end_matches('\n'));
        }
        end += line.len();
    }
    None
}

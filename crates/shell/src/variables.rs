//! The values of variables and arguments while a text is walked.

use super::argument::{Arg, WordPiece, unknown};
use super::finding::StreamData;
use super::paths;
use super::places;
use super::simulation::Shell;
use super::state::{Elements, NAMED_DESCRIPTOR, Variable};

/// A longer value of a variable, and longer arguments, are treated as unknown. Counted in bytes,
/// with one more for each element and for each piece.
const MAX_VALUE: usize = 20_000;

impl Shell {
    pub(super) fn remember(&mut self, feed: StreamData) -> usize {
        self.remembered.push(feed);
        self.remembered.len() - 1
    }

    /// Returns the output of the process substitution that the word `/dev/fd/N` stands for.
    pub(super) fn output_of_substitution(&self, arg: &Arg) -> Option<StreamData> {
        let number: usize = arg.text.strip_prefix("/dev/fd/")?.parse().ok()?;
        self.remembered.get(number).filter(|_| !arg.sure).cloned()
    }

    /// Returns what a file is known to contain: the output of a process substitution, the input of a
    /// descriptor, or what the same text has written to the file.
    pub(super) fn content_of(&self, arg: &Arg) -> Option<StreamData> {
        if let Some(feed) = self.output_of_substitution(arg) {
            return Some(feed);
        }
        let mut folders = ["/dev/fd/", "/proc/self/fd/"].iter();
        if let Some(number) = folders.find_map(|folder| arg.text.strip_prefix(folder)) {
            let number = number.parse().unwrap_or(NAMED_DESCRIPTOR);
            return self.lasting.descriptors.get(&number).cloned();
        }
        arg.literal()?;
        self.lasting.written.get(&places::located_path(self, arg).path).cloned()
    }

    pub(super) fn home(&self) -> WordPiece {
        match &self.at.home {
            Some(home) => WordPiece::Text(paths::slashed(home)),
            None => unknown("~".to_owned()),
        }
    }

    pub(super) fn current_folder(&self) -> WordPiece {
        match self.cwd() {
            Some(cwd) => WordPiece::Text(cwd.to_owned()),
            None => unknown("$PWD".to_owned()),
        }
    }

    /// Returns the value of a variable, if the text or the context determines it. `name` may be an
    /// element of an array: after `a=(x y)`, the value of `a[1]` is `y`.
    pub(super) fn variable(&self, name: &str) -> Option<Vec<WordPiece>> {
        if let Some((array, index)) = name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            let sure = self.known_elements(array).filter(|elements| are_certain(elements));
            return match (sure, position(index)) {
                (Some(elements), Some(at)) => elements.get(at).cloned(),
                _ if self.known_elements(array).is_some() || set_by_shell(array) => {
                    Some(vec![unknown(format!("${{{name}}}"))])
                }
                _ => None,
            };
        }
        if let Some(elements) =
            self.known_elements(name).filter(|_| !["_", "FUNCNAME"].contains(&name))
        {
            return elements.first().cloned();
        }
        if let (Ok(number), Some(given)) = (name.parse::<usize>(), &self.state.arguments)
            && number > 0
        {
            return Some(given.get(number - 1).cloned().unwrap_or_default());
        }
        match name {
            "@" | "*" if self.state.arguments.as_ref().is_some_and(|given| !given.is_empty()) => {
                Some(vec![unknown(format!("${name}"))])
            }
            "HOME" => Some(vec![self.home()]),
            "PWD" => Some(vec![self.current_folder()]),
            "TMPDIR" | "TMP" | "TEMP" | "RUNNER_TEMP" => {
                Some(vec![WordPiece::Temp(format!("${name}"))])
            }
            "IFS" => Some(vec![WordPiece::Text(" \t\n".to_owned())]),
            "SHELL" | "BASH" => Some(vec![WordPiece::Text("bash".to_owned())]),
            _ if set_by_shell(name) => Some(vec![unknown(format!("${name}"))]),
            _ => None,
        }
    }

    /// Returns true if only some branches have set a variable, to a value of which at least a part
    /// is known.
    pub(super) fn may_differ(&self, name: &str) -> bool {
        let is_text = |piece: &WordPiece| matches!(piece, WordPiece::Text(_));
        let known = |value: &Vec<WordPiece>| value.is_empty() || value.iter().any(is_text);
        let variable = self.state.variables.get(name);
        variable.is_some_and(|variable| !variable.sure && variable.elements.iter().any(known))
    }

    pub(super) fn known_elements(&self, name: &str) -> Option<&Elements> {
        self.state.variables.get(name).map(|variable| &variable.elements)
    }

    /// Returns several values as one, as `"$*"` does.
    pub(super) fn joined_values(&self, values: &[Vec<WordPiece>]) -> Vec<WordPiece> {
        if let [only] = values {
            return only.clone();
        }
        match self.separators().starts_with(' ') {
            true => values.join(&WordPiece::Text(" ".to_owned())),
            false => vec![unknown("$*".to_owned())],
        }
    }

    pub(super) fn make_local(&mut self, name: &str) {
        let value = self.state.variables.get(name).cloned();
        if let Some(locals) = self.state.locals.last_mut() {
            locals.push((name.to_owned(), value));
        }
    }

    pub(super) fn set(&mut self, name: &str, value: Vec<WordPiece>) {
        self.set_elements(name, vec![value]);
    }

    pub(super) fn set_elements(&mut self, name: &str, elements: Elements) {
        let variable = Variable { elements: limited_elements(name, elements), sure: true };
        self.state.variables.insert(name.to_owned(), variable);
    }

    pub(super) fn set_arguments(&mut self, given: Elements) {
        self.state.arguments = Some(limited_elements("@", given));
    }

    /// Sets one element of an array. If the order of the elements is not certain, or an element
    /// before it is missing, the array becomes unknown.
    pub(super) fn set_element(&mut self, name: &str, index: &str, value: Vec<WordPiece>) {
        let mut elements = self.known_elements(name).cloned().unwrap_or_default();
        match position(index).filter(|_| are_certain(&elements)) {
            Some(at) if at < elements.len() => elements[at] = value,
            Some(at) if at == elements.len() => elements.push(value),
            _ => return self.forget(name),
        }
        self.set_elements(name, elements);
    }

    pub(super) fn forget(&mut self, name: &str) {
        self.set_elements(name, vec![vec![unknown(format!("${name}"))]]);
    }

    pub(super) fn separators(&self) -> String {
        let set = self.variable("IFS").map(|value| Arg::from_pieces(&value).text);
        set.unwrap_or_else(|| " \t\n".to_owned())
    }
}

fn limited_elements(name: &str, elements: Elements) -> Elements {
    let pieces: usize = elements.iter().flatten().map(|piece| piece.len() + 1).sum();
    let length = elements.len() + pieces;
    if length > MAX_VALUE { vec![vec![unknown(format!("${name}"))]] } else { elements }
}

/// Returns true if each of these values is certainly one element of an array. An unknown word may
/// stand for several.
fn are_certain(elements: &[Vec<WordPiece>]) -> bool {
    elements.iter().flatten().all(|piece| matches!(piece, WordPiece::Text(_)))
}

/// Returns the number that an index stands for, if it is written in decimal. With a leading zero it
/// would be octal.
pub(super) fn position(index: &str) -> Option<usize> {
    let decimal = index == "0" || !index.starts_with(['0', '+']);
    index.parse().ok().filter(|_| decimal)
}

/// Returns true for a variable that the shell sets itself to a text, such as the last argument of
/// the preceding command.
fn set_by_shell(name: &str) -> bool {
    let own = ["_", "0", "REPLY", "MAPFILE", "OPTARG", "FUNCNAME", "DIRSTACK"];
    own.contains(&name) || name.starts_with("BASH_")
}

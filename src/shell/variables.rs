//! The values of variables and arguments while a text is walked.

use super::expand::{Arg, WordPiece, unknown};
use super::paths;
use super::state::Elements;
use super::walk::{Shell, StreamData};

/// A longer value of a variable is treated as unknown. Counted in bytes.
const MAX_VALUE: usize = 20_000;

impl Shell {
    pub(super) fn remember(&mut self, feed: StreamData) -> usize {
        self.remembered.push(feed);
        self.remembered.len() - 1
    }

    /// Returns the output of the process substitution that the word `/dev/fd/N` stands for.
    pub(super) fn remembered(&self, arg: &Arg) -> Option<StreamData> {
        let number: usize = arg.text.strip_prefix("/dev/fd/")?.parse().ok()?;
        self.remembered.get(number).filter(|_| !arg.sure).cloned()
    }

    pub(super) fn home(&self) -> WordPiece {
        match &self.at.home {
            Some(home) => WordPiece::Text(paths::slashed(home)),
            None => unknown("~".to_owned()),
        }
    }

    pub(super) fn here(&self) -> WordPiece {
        match self.cwd() {
            Some(cwd) => WordPiece::Text(cwd.to_owned()),
            None => unknown("$PWD".to_owned()),
        }
    }

    /// Returns the value of a variable, if the text or the context determines it.
    pub(super) fn variable(&self, name: &str) -> Option<Vec<WordPiece>> {
        if let Some((array, index)) = name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            let index: usize = index.parse().ok()?;
            return self.known(array)?.get(index).cloned();
        }
        let second =
            self.state.references.iter().rev().find(|(known, to)| known == name && to != name);
        let name = second.map_or(name, |(_, other)| other.as_str());
        if let Some(elements) = self.known(name) {
            return elements.first().cloned();
        }
        if let (Ok(number), Some(given)) = (name.parse::<usize>(), &self.arguments)
            && number > 0
        {
            return Some(given.get(number - 1).cloned().unwrap_or_default());
        }
        match name {
            "HOME" => Some(vec![self.home()]),
            "PWD" => Some(vec![self.here()]),
            "TMPDIR" | "TMP" | "TEMP" | "RUNNER_TEMP" => {
                Some(vec![WordPiece::Temp(format!("${name}"))])
            }
            "IFS" => Some(vec![WordPiece::Text(" \t\n".to_owned())]),
            "SHELL" | "BASH" => Some(vec![WordPiece::Text("bash".to_owned())]),
            _ => None,
        }
    }

    /// Makes `name` a reference to the variable `target`, as `declare -n name=target` does.
    pub(super) fn second_name(&mut self, name: &str, target: &str) {
        self.state.variables.remove(name);
        self.state.references.push((name.to_owned(), target.to_owned()));
    }

    fn known(&self, name: &str) -> Option<&Elements> {
        self.state.variables.get(name)
    }

    /// Returns the elements of a variable that is certainly an array.
    pub(super) fn elements(&self, name: &str) -> Option<Elements> {
        self.known(name).filter(|elements| elements.len() != 1).cloned()
    }

    pub(super) fn set(&mut self, name: &str, value: Vec<WordPiece>) {
        let second = self.state.references.iter().rev().find(|(known, _)| known == name);
        let name = &second.map_or_else(|| name.to_owned(), |(_, other)| other.clone());
        let length: usize = value.iter().map(WordPiece::len).sum();
        let value = if length > MAX_VALUE { vec![unknown(format!("${name}"))] } else { value };
        self.set_elements(name, vec![value]);
    }

    pub(super) fn set_elements(&mut self, name: &str, elements: Elements) {
        self.state.variables.insert(name.to_owned(), elements);
    }

    /// Appends to an array, as `NAME+=(…)` does.
    pub(super) fn add_elements(&mut self, name: &str, more: Elements) {
        let mut all = self.known(name).cloned().unwrap_or_default();
        all.extend(more);
        self.set_elements(name, all);
    }

    pub(super) fn separators(&self) -> String {
        let set = self.variable("IFS").map(|value| Arg::from_pieces(&value).text);
        set.unwrap_or_else(|| " \t\n".to_owned())
    }
}

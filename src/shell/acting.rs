//! The folders in which commands act: the one that the shell stands in, and those that options name.

use super::expand::Arg;
use super::paths::{self, Spot};
use super::table::list;
use super::walk::Shell;

/// No more folders than this are kept.
const MAX_FOLDERS: usize = 64;

impl Shell<'_> {
    /// The folders in which a program acts that is started now. What is not known of one is left out.
    pub(super) fn acting_in(&self, args: &[Arg]) -> Vec<String> {
        if self.elsewhere {
            return Vec::new();
        }
        let options = list("folderoptions");
        let named = args.iter().enumerate().filter_map(|(at, arg)| {
            let own = options.iter().find_map(|name| arg.text.strip_prefix(name))?;
            match own.strip_prefix('=') {
                Some(value) => Some(Arg::known(value.to_owned())),
                None if own.is_empty() => args.get(at + 1).cloned(),
                None => None,
            }
        });
        let placed = named.map(|arg| paths::place(self, &arg));
        let placed = placed.filter(|place| place.spot != Spot::Nothing).map(|place| place.path);
        self.cwd().map(str::to_owned).into_iter().chain(placed).collect()
    }

    /// Keeps the folders in which something was started that may change something.
    pub(super) fn acts_in(&mut self, folders: Vec<String>) {
        for folder in folders {
            if self.out.folders.len() < MAX_FOLDERS && !self.out.folders.contains(&folder) {
                self.out.folders.push(folder);
            }
        }
    }
}

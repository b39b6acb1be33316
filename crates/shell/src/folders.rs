//! Finds the folders in which commands act: the current folder, and those that options name.

use super::argument::Arg;
use super::simulation::Shell;
use super::table::list;

impl Shell {
    /// Returns the folders in which a program with these arguments acts: the current folder and
    /// those named by options such as `-C`. Folders that are not known are left out. For
    /// `git -C sub commit`, these are the current folder and `sub` in it.
    pub(super) fn acting_in(&self, args: &[Arg]) -> Vec<String> {
        if self.elsewhere {
            return Vec::new();
        }
        let options = list("folderoptions");
        let named = args.iter().enumerate().filter_map(|(at, arg)| {
            let own = options.iter().find_map(|name| arg.text.strip_prefix(name))?;
            match own.strip_prefix('=') {
                Some(value) => Some(Arg::with_known_text(value.to_owned())),
                None if own.is_empty() => args.get(at + 1).cloned(),
                None => None,
            }
        });
        let placed = named.filter_map(|arg| self.here_in_work(&arg));
        self.cwd().map(str::to_owned).into_iter().chain(placed).collect()
    }
}

//! References by their full names, such as those of notes.

use gix::bstr::ByteSlice;

use super::{CommitId, Git, GitResult, ObjectId, commit_id};

const STASH: &str = "refs/stash";

impl Git {
    /// Returns the object that a reference names, such as `refs/notes/ai`. `None` if there is no such
    /// reference, or no reference could have this name.
    pub fn reference(&self, name: &str) -> GitResult<Option<ObjectId>> {
        let Ok(full) = <&gix::refs::FullNameRef>::try_from(name) else { return Ok(None) };
        let repo = self.handle();
        let found = self.read(repo.try_find_reference(full))?;
        // The library also finds a tag of this name, which is another reference.
        let Some(mut found) = found.filter(|found| found.name() == full) else { return Ok(None) };
        Ok(Some(self.read(found.follow_to_object())?.detach()))
    }

    /// Returns the full names of the references below a folder such as `refs/notes/`, at most `max`.
    pub fn references_below(&self, folder: &str, max: usize) -> GitResult<Vec<String>> {
        let repo = self.handle();
        let references = self.read(repo.references())?;
        let below = self.read(references.prefixed(folder.as_bytes()))?;
        let names =
            below.flatten().filter_map(|one| Some(one.name().as_bstr().to_str().ok()?.into()));
        Ok(names.take(max).collect())
    }

    /// Returns the commits of the stashes, newest first.
    pub fn stashes(&self) -> GitResult<Vec<CommitId>> {
        let repo = self.all_objects()?;
        let Some(stash) = self.read(repo.try_find_reference(STASH))? else { return Ok(Vec::new()) };
        // The reference names only the newest stash; the others are in its log.
        let mut log = stash.log_iter();
        let lines = self.read(log.rev())?.into_iter().flatten().flatten();
        let commits = lines.map(|line| line.new_oid).filter(|id| repo.find_commit(*id).is_ok());
        Ok(commits.map(commit_id).collect())
    }

    pub fn remote_names(&self) -> Vec<String> {
        let repo = self.handle();
        repo.remote_names().iter().map(|name| name.to_string()).collect()
    }

    pub fn fetched_references(&self) -> Vec<(String, String)> {
        let repo = self.handle();
        let config = repo.config_snapshot();
        let mut fetched = Vec::new();
        for section in config.plumbing().sections_by_name("remote").into_iter().flatten() {
            let Some(remote) = section.header().subsection_name() else { continue };
            for refspec in section.values("fetch") {
                let refspec = refspec.to_str_lossy();
                let source = refspec.trim_start_matches('+').split(':').next().unwrap_or_default();
                fetched.push((remote.to_string(), source.to_owned()));
            }
        }
        fetched
    }
}

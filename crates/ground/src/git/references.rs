//! References by their full names, such as those of notes.

use gix::bstr::ByteSlice;

use super::{CommitId, Git, GitResult, ObjectId, commit_id};

/// The folders of the references that keep commits in the history.
const KEEPING: [&str; 3] = ["refs/heads/", "refs/remotes/", "refs/tags/"];
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

    /// Returns the commit that a reference names, also by a tag with a message. `None` if there is no
    /// such reference, or if it names something else.
    pub fn commit_at(&self, name: &str) -> GitResult<Option<CommitId>> {
        let Some(object) = self.reference(name)? else { return Ok(None) };
        let repo = self.handle();
        let object = self.checked(&repo, object)?.find_object(object).ok();
        let commit = object.and_then(|object| object.peel_to_commit().ok());
        Ok(commit.map(|commit| commit_id(commit.id)))
    }

    /// Returns the full name of the branch that is checked out, or `HEAD` if a commit is checked out
    /// directly.
    pub fn name_of_head(&self) -> String {
        let name = self.handle().head_name().ok().flatten();
        name.map_or_else(|| "HEAD".to_owned(), |name| name.to_string())
    }

    /// Returns the commits of branches, remote branches, tags and stashes that were made at `since` or
    /// later, in seconds since 1970, each with the full name of its reference.
    pub fn kept_commits(&self, since: i64) -> GitResult<Vec<(String, CommitId)>> {
        let repo = self.all_objects()?;
        let mut found = Vec::new();
        let mut add = |name: String, commit: gix::Commit<'_>| {
            if commit.time().is_ok_and(|time| time.seconds >= since) {
                found.push((name, commit_id(commit.id)));
            }
        };
        let references = self.read(repo.references())?;
        for folder in KEEPING {
            for mut reference in self.read(references.prefixed(folder.as_bytes()))?.flatten() {
                let name = reference.name().as_bstr().to_string();
                if let Ok(commit) = reference.peel_to_commit() {
                    add(name, commit);
                }
            }
        }
        for stash in self.stashes()? {
            add(STASH.to_owned(), self.read(repo.find_commit(self.object_id(&stash)?))?);
        }
        Ok(found)
    }

    /// Returns the commits of the stashes, newest first, each followed by the commit with the files
    /// that git did not track, if it has such a one.
    pub fn stashes(&self) -> GitResult<Vec<CommitId>> {
        if self.reference(STASH)?.is_none() {
            return Ok(Vec::new());
        }
        let repo = self.all_objects()?;
        let Some(stash) = self.read(repo.try_find_reference(STASH))? else { return Ok(Vec::new()) };
        // The reference names only the newest stash; the others are in its log.
        let mut log = stash.log_iter();
        let lines = self.read(log.rev())?.into_iter().flatten().flatten();
        let stashes = lines.filter_map(|line| repo.find_commit(line.new_oid).ok());
        let with_untracked = |stash: gix::Commit<'_>| {
            [Some(stash.id), stash.parent_ids().nth(2).map(gix::Id::detach)]
        };
        Ok(stashes.flat_map(with_untracked).flatten().map(commit_id).collect())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::TestFolder;

    fn id(text: String) -> CommitId {
        CommitId(text.trim().to_owned())
    }

    #[test]
    fn branches_tags_and_stashes_keep_commits() {
        let place = TestFolder::committed(&[("a", "1")]);
        let (first, since) = (id(place.git(&["rev-parse", "HEAD"])), 1_000_000_000);
        for name in ["branch", "tag"] {
            place.git(&["checkout", "-q", "--detach", "main"]);
            place.write("a", name);
            place.commit(name);
            place.git(&[name, "kept"]);
        }
        place.git(&["tag", "-a", "-m", "annotated", "annotated", "main"]);
        place.git(&["update-ref", "refs/remotes/origin/main", "main"]);
        place.git(&["update-ref", "refs/notes/other", "main"]);
        let mut stashed = Vec::new();
        for text in ["x", "y"] {
            place.write("a", text);
            place.git(&["stash", "-q"]);
            stashed.push(id(place.git(&["rev-parse", "refs/stash"])));
        }
        let git = place.open("");
        let kept = git.kept_commits(since).unwrap();
        let names: Vec<&str> = kept.iter().map(|(name, _)| name.as_str()).collect();
        let expected = [
            "refs/heads/kept",
            "refs/heads/main",
            "refs/remotes/origin/main",
            "refs/tags/annotated",
            "refs/tags/kept",
            "refs/stash",
            "refs/stash",
        ];
        assert_eq!(names, expected);
        assert_eq!(kept[1].1, first);
        assert_eq!(kept[3].1, first);
        let (newest, older) = (stashed.pop(), stashed.pop());
        assert_eq!(
            kept[5..].iter().map(|(_, id)| Some(id.clone())).collect::<Vec<_>>(),
            [newest, older]
        );
        assert_eq!(git.commit_at("refs/tags/annotated").unwrap(), Some(first));
        assert_eq!(git.commit_at("refs/heads/none").unwrap(), None);
        assert_eq!(git.kept_commits(i64::MAX).unwrap(), []);
    }
}

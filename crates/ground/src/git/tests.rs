use super::super::fixture::{TestFolder, path};
use super::*;

fn id(text: &str) -> CommitId {
    CommitId(text.trim().to_owned())
}

/// Returns the changes in the form in which git prints them: `A path`, `M path`, `D path`.
fn changes(git: &Git, base: Option<&CommitId>, target: Target) -> Vec<String> {
    let letter = |kind| match kind {
        ChangeKind::Added => 'A',
        ChangeKind::Modified => 'M',
        ChangeKind::Deleted => 'D',
    };
    let changes = git.changes(base, &target).unwrap();
    changes.iter().map(|change| format!("{} {}", letter(change.kind), change.path)).collect()
}

#[test]
fn without_git_there_is_no_repository() {
    let place = TestFolder::governed();
    assert!(Git::open(&place.root("")).unwrap().is_none());
}

#[test]
fn before_the_first_commit_everything_is_added() {
    let place = TestFolder::new();
    place.git(&["init", "-q"]);
    place.write("a", "1");
    place.write("b", "1");
    place.git(&["add", "a"]);
    let git = place.open("");
    assert_eq!(git.head().unwrap(), None);
    assert_eq!(changes(&git, None, Target::WorkTree), ["A a", "A b"]);
    assert_eq!(changes(&git, None, Target::Index), ["A a"]);
    assert!(git.resolve("HEAD").is_err());
}

#[test]
fn commits_are_named_and_files_read_at_them() {
    let place = TestFolder::committed(&[("src/a.ts", "one\n"), ("gone", "x")]);
    let first = id(&place.git(&["rev-parse", "HEAD"]));
    place.write("src/a.ts", "two\r\n");
    place.remove("gone");
    let second = id(&place.commit("second"));
    place.git(&["tag", "-a", "v1", "-m", "tag"]);
    let git = place.open("src/a.ts");
    assert_eq!(git.head().unwrap(), Some(second.clone()));
    for name in ["main", "HEAD", "v1", "HEAD~0", &second.0, &second.0[..8]] {
        assert_eq!(git.resolve(name).unwrap(), second, "{name}");
    }
    assert_eq!(git.resolve("HEAD~1").unwrap(), first);
    for name in ["nope", "", "HEAD~9", "--all", "HEAD:src/a.ts", "\0", "main..v1", "@{u}", "^"] {
        let error = git.resolve(name).unwrap_err();
        assert!(matches!(error, GitError::UnknownRevision { shallow: false, .. }), "{name:?}");
    }
    let read = |commit, file| git.file_at(commit, &path(file)).unwrap();
    assert_eq!(read(&first, "src/a.ts").unwrap(), b"one\n");
    assert_eq!(read(&second, "src/a.ts").unwrap(), b"two\r\n");
    assert_eq!(read(&second, "gone"), None);
    assert_eq!(read(&second, "src"), None);
    assert_eq!(read(&second, "src/a.ts/x"), None);
    assert_eq!(git.files_at(&first).unwrap(), [path("gone"), path("src/a.ts")]);
    let missing = CommitId("0123456789012345678901234567890123456789".into());
    assert!(matches!(git.files_at(&missing), Err(GitError::UnknownRevision { .. })));
    assert!(matches!(git.files_at(&id("xyz")), Err(GitError::UnknownRevision { .. })));
}

#[cfg(unix)]
#[test]
fn an_object_is_read_only_from_a_file() {
    let place = TestFolder::committed(&[("src/a.ts", "one\n")]);
    let questions: [fn(&Git, ObjectId) -> GitResult<()>; 3] = [
        |git, commit| git.file_at(&commit_id(commit), &path("src/a.ts")).map(drop),
        |git, commit| {
            let mut reader = git.object_reader()?;
            let tree = reader.commit(commit)?.tree;
            let found = reader.locate(tree, "src/a.ts".into(), None)?;
            reader.blob(found.blob.unwrap()).map(drop)
        },
        |git, _| git.resolve("HEAD").map(drop),
    ];
    let commit = ObjectId::from_hex(place.git(&["rev-parse", "HEAD"]).trim().as_bytes()).unwrap();
    for name in ["HEAD", "HEAD^{tree}", "HEAD:src", "HEAD:src/a.ts"] {
        let object = place.git(&["rev-parse", name]);
        let file = format!(".git/objects/{}/{}", &object[..2], object[2..].trim());
        std::fs::rename(place.join(&file), place.join("kept")).unwrap();
        place.link(&file, "/dev/null");
        for question in questions {
            let told = question(&place.open(""), commit).unwrap_err().to_string();
            assert!(told.contains("is no regular file; move it away"), "{name}: {told}");
        }
        place.remove(&file);
        std::fs::rename(place.join("kept"), place.join(&file)).unwrap();
    }
    for question in questions {
        question(&place.open(""), commit).unwrap();
    }
}

/// Git makes such a commit only from `git fast-import`, and reads no folder that is nested so deep.
#[test]
#[ignore = "slow"]
fn a_commit_with_folders_of_any_depth_ends_no_thread() {
    let place = TestFolder::committed(&[("a", "1")]);
    let deep = format!("{}f", "d/".repeat(30_000));
    let import = format!(
        "commit refs/heads/main\ncommitter A <a@b.invalid> 1700000000 +0000\ndata 1\nx\nfrom refs/heads/main^0\nM 100644 inline b\ndata 2\n1\n\nM 100644 inline {deep}\ndata 2\n1\n\n"
    );
    place.write("import", &import);
    place.git(&["-c", "alias.import=!git fast-import --quiet < import", "import"]);
    let [before, now] = ["HEAD~1", "HEAD"].map(|name| id(&place.git(&["rev-parse", name])));
    let git = place.open("");
    let too_deep = |told: GitError| assert!(told.to_string().contains("levels deep"), "{told}");
    too_deep(git.changes(Some(&before), &Target::Commit(now.clone())).unwrap_err());
    too_deep(git.files_at(&now).unwrap_err());
    let mut reader = git.object_reader().unwrap();
    let [before, now] = [before, now].map(|commit| git.object_id(&commit).unwrap());
    let trees = [before, now].map(|commit| reader.commit(commit).unwrap().tree);
    too_deep(reader.changed_blobs(Some(trees[0]), Some(trees[1])).unwrap_err());
}

#[test]
fn changes_in_the_work_tree_and_the_index_are_distinguished() {
    let place = TestFolder::committed(&[
        ("same", "1"),
        ("staged", "1"),
        ("edited", "1"),
        ("both", "1"),
        ("removed", "1"),
        ("rm-cached", "1"),
        ("deleted", "1"),
        ("touched", "1"),
        ("old-name", "a\nb\nc\n"),
        (".gitignore", "*.log\nforced-out\n"),
    ]);
    let head = id(&place.git(&["rev-parse", "HEAD"]));
    place.write("staged", "2");
    place.write("both", "2");
    place.git(&["add", "staged", "both"]);
    place.write("both", "1");
    place.write("edited", "22");
    place.write("touched", "1");
    place.git(&["rm", "-q", "removed"]);
    place.git(&["rm", "-q", "--cached", "rm-cached"]);
    place.git(&["mv", "old-name", "new-name"]);
    place.remove("deleted");
    place.write("untracked", "x");
    place.write("ignored.log", "x");
    place.write("forced.log", "x");
    place.git(&["add", "-f", "forced.log"]);
    place.write("announced", "x");
    place.git(&["add", "-N", "announced"]);
    place.write(".orchestration/new.yaml", "x");
    let git = place.open("");
    assert_eq!(
        changes(&git, Some(&head), Target::WorkTree),
        [
            "A .orchestration/new.yaml",
            "A announced",
            "D deleted",
            "M edited",
            "A forced.log",
            "A new-name",
            "D old-name",
            "D removed",
            "M staged",
            "A untracked",
        ]
    );
    assert_eq!(
        changes(&git, Some(&head), Target::Index),
        [
            "M both",
            "A forced.log",
            "A new-name",
            "D old-name",
            "D removed",
            "D rm-cached",
            "M staged",
        ]
    );
    assert_eq!(git.file_in_index(&path("both")).unwrap().unwrap(), b"2");
    assert_eq!(git.file_in_index(&path("edited")).unwrap().unwrap(), b"1");
    assert_eq!(git.file_in_index(&path("removed")).unwrap(), None);
    assert_eq!(git.file_in_index(&path("announced")).unwrap(), None);
    assert!(git.tracked().unwrap().contains(&path("forced.log")));
}

/// The edit keeps the length and the second of the time stamp, so only the content shows it.
#[test]
fn an_edit_in_the_instant_of_the_commit_is_seen() {
    let place = TestFolder::committed(&[("a", "one")]);
    let head = id(&place.git(&["rev-parse", "HEAD"]));
    place.write("a", "two");
    let git = place.open("");
    assert_eq!(changes(&git, Some(&head), Target::WorkTree), ["M a"]);
}

#[cfg(unix)]
#[test]
fn a_stamp_counts_only_if_it_is_older_than_the_index() {
    use gix::index::entry::stat::Time;
    let place = TestFolder::new();
    place.write("a", "1");
    let found = gix::index::fs::Metadata::from_path_no_follow(&place.root("").absolute(&path("a")))
        .unwrap();
    let now = gix::index::entry::Stat::from_fs(&found).unwrap();
    let at = |secs, nsecs| Some(Time { secs, nsecs });
    let Time { secs, nsecs } = Time { nsecs: now.mtime.nsecs.max(1), ..now.mtime };
    let entry = |nsecs| gix::index::entry::Stat { mtime: Time { secs, nsecs }, ..now };
    let is_untouched = |written, nsecs| {
        let stamps = index::Stamps { written, options: Default::default() };
        stamps.is_untouched(&entry(nsecs), &found)
    };
    assert!(is_untouched(at(secs, nsecs + 1), nsecs) || now.mtime.nsecs == 0);
    assert!(!is_untouched(at(secs, nsecs), nsecs), "the file may have changed in the same instant");
    assert!(!is_untouched(at(secs + 1, 0), nsecs - 1), "the file has another stamp");
    // Some tools and file systems store whole seconds.
    assert!(!is_untouched(at(secs, nsecs + 1), 0));
    assert!(is_untouched(at(secs + 1, 0), 0));
    assert!(!is_untouched(None, nsecs), "there is no index");
}

#[test]
fn links_are_not_read_as_files() {
    let place =
        TestFolder::committed(&[("a", "1"), ("dir/x", "1"), ("dir/y", "1"), ("other/x", "1")]);
    place.link("old-link", "a");
    let head = id(&place.commit("link"));
    place.remove("a");
    place.link("a", "dir/x");
    std::fs::remove_dir_all(place.join("dir")).unwrap();
    place.link("dir", "other");
    place.remove("old-link");
    place.write("old-link", "now a file");
    let git = place.open("");
    assert_eq!(
        changes(&git, Some(&head), Target::WorkTree),
        ["D a", "D dir/x", "D dir/y", "A old-link"]
    );
    assert_eq!(git.file_at(&head, &path("old-link")).unwrap(), None);
}

/// `Git::compared` also reports changes of modes, links and submodules, for every kind of
/// target.
#[cfg(unix)]
#[test]
fn changes_of_modes_links_and_submodules_are_reported() {
    use std::os::unix::fs::PermissionsExt;
    let place = TestFolder::committed(&[("run", "1"), ("both", "1"), ("a", "1"), ("b", "2")]);
    place.link("moved", "a");
    place.link("gone", "a");
    let gitlink = |id: char| {
        let entry = format!("160000,{},sub", id.to_string().repeat(40));
        place.git(&["update-index", "--add", "--cacheinfo", &entry]);
    };
    place.git(&["add", "-A"]);
    gitlink('1');
    place.git(&["commit", "-q", "-m", "before"]);
    let base = id(&place.git(&["rev-parse", "HEAD"]));
    for file in ["run", "both"] {
        std::fs::set_permissions(place.join(file), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    place.write("both", "2");
    for (link, to) in [("moved", Some("b")), ("gone", None), ("new", Some("b")), ("a", Some("b"))] {
        if place.join(link).is_symlink() || place.join(link).exists() {
            place.remove(link);
        }
        if let Some(to) = to {
            place.link(link, to);
        }
    }
    let told = |target: Target| {
        let changes = place.open("").compared(Some(&base), &target).unwrap().changes;
        let told = changes.iter().map(|it| format!("{:?} {:?} {}", it.aspect, it.kind, it.path));
        told.collect::<Vec<String>>()
    };
    let mut expected = vec![
        "Content Deleted a",
        "Link Added a",
        "Content Modified both",
        "Link Deleted gone",
        "Link Modified moved",
        "Link Added new",
        "Mode Modified run",
    ];
    assert_eq!(told(Target::WorkTree), expected);
    place.git(&["add", "-A", "--", "a", "both", "gone", "moved", "new", "run"]);
    gitlink('2');
    expected.push("Submodule Modified sub");
    assert_eq!(told(Target::WorkTree), expected, "a submodule counts as it is staged");
    assert_eq!(told(Target::Index), expected);
    place.git(&["commit", "-q", "-m", "after"]);
    let head = id(&place.git(&["rev-parse", "HEAD"]));
    assert_eq!(told(Target::Commit(head)), expected);
    place.git(&["config", "core.fileMode", "false"]);
    std::fs::set_permissions(place.join("run"), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(told(Target::WorkTree), expected, "the mode on disk does not count");
    place.git(&["config", "core.symlinks", "false"]);
    place.remove("moved");
    place.write("moved", "b");
    assert_eq!(told(Target::WorkTree), expected, "a link is a file that says where it leads");
}

#[test]
fn a_workspace_may_be_a_folder_of_the_repository() {
    let place =
        TestFolder::committed(&[("top", "1"), ("p/a/x", "1"), ("p/ab", "1"), ("p/a/y/z", "1")]);
    let head = id(&place.git(&["rev-parse", "HEAD"]));
    place.folder("p/a/.orchestration");
    place.write("top", "2");
    place.write("p/a/x", "2");
    place.write("p/a/new", "2");
    let git = place.open("p/a/x");
    assert_eq!(git.files_at(&head).unwrap(), [path("x"), path("y/z")]);
    assert_eq!(git.file_at(&head, &path("x")).unwrap().unwrap(), b"1");
    assert_eq!(git.file_in_index(&path("x")).unwrap().unwrap(), b"1");
    assert_eq!(changes(&git, Some(&head), Target::WorkTree), ["A new", "M x"]);
    place.git(&["add", "-A"]);
    assert_eq!(changes(&git, Some(&head), Target::Index), ["A new", "M x"]);
    place.folder("fresh/.orchestration");
    assert_eq!(place.open("fresh").files_at(&head).unwrap(), []);
}

#[test]
fn the_merge_base_of_branches_is_found() {
    let place = TestFolder::committed(&[("a", "1")]);
    let base = id(&place.git(&["rev-parse", "HEAD"]));
    place.git(&["checkout", "-q", "-b", "topic"]);
    place.write("b", "1");
    let topic = id(&place.commit("topic"));
    place.git(&["checkout", "-q", "main"]);
    let main = id(&place.commit("main"));
    place.git(&["checkout", "-q", "--orphan", "other"]);
    let orphan = id(&place.commit("orphan"));
    let git = place.open("");
    assert_eq!(git.merge_base(&topic, &main).unwrap(), Some(base.clone()));
    assert_eq!(git.merge_base(&base, &main).unwrap(), Some(base));
    assert_eq!(git.merge_base(&orphan, &main).unwrap(), None);
    assert_eq!(git.incoming().unwrap(), []);
}

#[test]
fn commits_outside_of_a_history_are_found() {
    let place = TestFolder::committed(&[("a", "1")]);
    let commit = |branch: &str, from: &str| {
        place.git(&["checkout", "-q", "-b", branch, from]);
        place.write(branch, "1");
        id(&place.commit(branch))
    };
    let base = commit("base", "main");
    let merged = commit("merged", "base");
    let (dropped, later) = (commit("dropped", "base"), commit("later", "dropped"));
    place.git(&["checkout", "-q", "base"]);
    place.git(&["merge", "-q", "--no-ff", "--no-edit", "merged"]);
    let head = id(&place.git(&["rev-parse", "HEAD"]));
    place.git(&["checkout", "-q", "--orphan", "other"]);
    let (orphan, missing) = (id(&place.commit("orphan")), id(&"1".repeat(40)));

    let git = place.open("");
    let all = [&base, &merged, &dropped, &later, &head, &orphan, &missing].map(CommitId::clone);
    let outside = |heads: &[&CommitId]| git.outside(heads, all.clone().into()).unwrap();
    let (dropped, later, orphan, missing) = (&dropped, &later, &orphan, &missing);
    let set = |commits: &[&CommitId]| commits.iter().map(|one| (*one).clone()).collect();
    assert_eq!(outside(&[&head]), set(&[dropped, later, orphan, missing]));
    assert_eq!(outside(&[&head, dropped]), set(&[later, orphan, missing]));
    assert_eq!(git.outside(&[&head], set(&[&base, &merged, &head])).unwrap(), [].into());
}

/// Makes two branches that changed the same line. `main` is checked out.
fn conflicting() -> (TestFolder, CommitId, CommitId) {
    let place = TestFolder::committed(&[("a", "1\n")]);
    place.git(&["checkout", "-q", "-b", "topic"]);
    place.write("a", "topic\n");
    let topic = id(&place.commit("topic"));
    place.git(&["checkout", "-q", "main"]);
    place.write("a", "main\n");
    let main = id(&place.commit("main"));
    (place, main, topic)
}

#[test]
fn changes_that_a_merge_or_pick_brings_are_known() {
    for command in ["merge", "cherry-pick"] {
        let (place, main, topic) = conflicting();
        assert!(!place.try_git("", &[command, "topic"]).0);
        let git = place.open("");
        assert_eq!(git.incoming().unwrap(), [topic], "{command}");
        assert_eq!(changes(&git, Some(&main), Target::WorkTree), ["M a"]);
        assert_eq!(changes(&git, Some(&main), Target::Index), ["M a"]);
        assert_eq!(git.file_in_index(&path("a")).unwrap().unwrap(), b"main\n");
    }
    let (place, _, _) = conflicting();
    let first = place.git(&["rev-parse", "HEAD~1"]);
    place.write("a", "later\n");
    place.commit("later");
    assert!(!place.try_git("", &["revert", "--no-edit", "HEAD~1"]).0);
    let reverted = id(&place.git(&["rev-parse", "HEAD~1"]));
    assert_ne!(reverted, id(&first));
    assert_eq!(place.open("").incoming().unwrap(), [reverted]);
}

#[test]
fn changes_that_a_rebase_brings_are_known() {
    for backend in ["--merge", "--apply"] {
        let (place, main, topic) = conflicting();
        place.git(&["checkout", "-q", "topic"]);
        assert!(!place.try_git("", &["rebase", backend, "main"]).0);
        let git = place.open("");
        let incoming = git.incoming().unwrap();
        assert_eq!(incoming, [main, topic], "{backend}");
        place.git(&["rebase", "--abort"]);
        assert_eq!(git.incoming().unwrap(), []);
    }
}

#[test]
fn linked_work_trees_and_submodules_have_their_own_state() {
    let place = TestFolder::committed(&[("a", "1")]);
    let main = id(&place.git(&["rev-parse", "HEAD"]));
    place.git(&["worktree", "add", "-q", "trees/one", "-b", "one"]);
    place.write("trees/one/a", "2");
    place.git_in("trees/one", &["commit", "-q", "-am", "in one"]);
    place.write("trees/one/b", "x");
    let linked = place.open("trees/one/a");
    let one = linked.head().unwrap().unwrap();
    assert_ne!(one, main);
    assert_eq!(changes(&linked, Some(&main), Target::WorkTree), ["M a", "A b"]);
    assert_eq!(changes(&linked, Some(&one), Target::WorkTree), ["A b"]);
    assert_eq!(linked.resolve("main").unwrap(), main, "references are shared");
    let git = place.open("a");
    assert_eq!(git.head().unwrap(), Some(main.clone()));
    assert_eq!(changes(&git, Some(&main), Target::WorkTree), Vec::<String>::new());

    let source = place.path().to_str().unwrap().to_owned();
    let outer = TestFolder::committed(&[("x", "1")]);
    outer.git(&["submodule", "--quiet", "add", &source, "lib"]);
    let head = id(&outer.commit("with a submodule"));
    outer.write("lib/new", "x");
    let git = outer.open("x");
    assert_eq!(changes(&git, Some(&head), Target::WorkTree), Vec::<String>::new());
    assert_eq!(git.files_at(&head).unwrap(), [path(".gitmodules"), path("x")]);
    let module = outer.open("lib/a");
    assert_eq!(changes(&module, Some(&main), Target::WorkTree), ["A new"]);
}

#[test]
fn what_a_clone_lacks_is_fetched_as_it_was_left_out() {
    let place = TestFolder::committed(&[("a", "1")]);
    let first = id(&place.git(&["rev-parse", "HEAD"]));
    place.commit("second");
    place.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", place.path().display());
    for (options, is_shallow, expected) in [
        (&[][..], false, "`git fetch --refetch`"),
        (&["--depth=1"], true, "`git fetch --unshallow`"),
        (&["--filter=blob:none"], false, "`git fetch --refetch --no-filter`"),
        (&["--depth=1", "--filter=tree:0"], true, "`git fetch --unshallow --refetch --no-filter`"),
    ] {
        let copy = TestFolder::new();
        copy.git(&[&["clone", "-q", "--no-local"], options, &[&url, "copy"]].concat());
        let git = copy.open("copy/a");
        assert_eq!(git.is_shallow(), is_shallow, "{options:?}");
        for revision in ["HEAD~9", "HEAD~1"].into_iter().take(1 + usize::from(is_shallow)) {
            let error = git.resolve(revision).unwrap_err();
            assert_eq!(
                error.with_hint().contains("--unshallow"),
                is_shallow,
                "{revision}: {error}"
            );
        }
        let error = git.missing_object(&first.0).with_hint();
        assert!(error.contains(expected), "{options:?}: {error}");
    }
}

#[test]
fn a_sparse_checkout_deletes_no_files() {
    let place = TestFolder::committed(&[("in/a", "1"), ("out/b", "1"), ("out/deep/c", "1")]);
    let first = id(&place.git(&["rev-parse", "HEAD"]));
    place.write("out/b", "2");
    let second = id(&place.commit("second"));
    for flag in ["--no-sparse-index", "--sparse-index"] {
        place.git(&["sparse-checkout", "set", "--cone", flag, "in"]);
        assert!(!place.join("out/b").exists());
        let git = place.open("");
        let nothing = Vec::<String>::new();
        assert_eq!(changes(&git, Some(&second), Target::WorkTree), nothing, "{flag}");
        assert_eq!(changes(&git, Some(&first), Target::WorkTree), ["M out/b"], "{flag}");
        assert_eq!(changes(&git, Some(&first), Target::Index), ["M out/b"], "{flag}");
        for (file, text) in [("out/b", Some("2")), ("out/deep/c", Some("1")), ("out/d", None)] {
            let bytes = git.file_in_index(&path(file)).unwrap();
            assert_eq!(bytes.as_deref(), text.map(str::as_bytes), "{flag} {file}");
        }
    }
}

/// Other systems do not allow such names.
#[cfg(target_os = "linux")]
#[test]
fn files_whose_path_is_not_utf8_are_compared_by_content() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    let place = TestFolder::committed(&[(".gitignore", "*.log\nbuild/\n"), ("build/a", "1")]);
    let at = |name: &[u8]| place.path().join(OsStr::from_bytes(name));
    let write = |name: &[u8]| std::fs::write(at(name), "1").unwrap();
    write(b"file\xff");
    write(b"tracked\xff.log");
    write(b"build/tracked\xff");
    symlink("file", at(b"link\xff")).unwrap();
    place.git(&["add", "-A", "-f"]);
    let head = id(&place.commit("second"));
    write(b"ignored\xff.log");
    let told = |target: Target| -> Vec<String> {
        let found = place.open("").compared(Some(&head), &target).unwrap();
        found.nameless.iter().map(ToString::to_string).collect()
    };
    assert_eq!(told(Target::WorkTree), Vec::<String>::new());
    assert_eq!(told(Target::Index), Vec::<String>::new());
    std::fs::remove_file(at(b"build/tracked\xff")).unwrap();
    std::fs::remove_file(at(b"link\xff")).unwrap();
    symlink("elsewhere", at(b"link\xff")).unwrap();
    assert_eq!(told(Target::WorkTree), ["build/tracked\u{fffd}", "link\u{fffd}"]);
    assert_eq!(told(Target::Index), Vec::<String>::new());
}

#[test]
fn an_ignore_file_that_is_not_checked_out_still_ignores() {
    let rules = "/local/\n*.log\n!kept.log\n";
    let place = TestFolder::committed(&[("in/a", "1"), ("out/.gitignore", rules)]);
    let head = id(&place.git(&["rev-parse", "HEAD"]));
    for flag in ["--no-sparse-index", "--sparse-index"] {
        place.git(&["sparse-checkout", "set", "--cone", flag, "in"]);
        for path in ["out/local/deep/a", "out/a.log", "out/deep/b.log", "out/kept.log", "b.log"] {
            place.write(path, "x");
        }
        let git = place.open("");
        let found = changes(&git, Some(&head), Target::WorkTree);
        assert_eq!(found, ["A b.log", "A out/kept.log"], "{flag}");
    }
}

#[test]
fn repositories_with_long_hashes_are_read() {
    let place = TestFolder::new();
    place.git(&["init", "-q", "--object-format=sha256"]);
    place.write("a", "1");
    let head = id(&place.commit("first"));
    assert_eq!(head.0.len(), 64);
    place.write("a", "2");
    let git = place.open("");
    assert_eq!(git.head().unwrap(), Some(head.clone()));
    assert_eq!(changes(&git, Some(&head), Target::WorkTree), ["M a"]);
}

#[test]
fn programs_that_the_repository_names_are_not_run() {
    let place =
        TestFolder::committed(&[("a.x", "1"), (".gitattributes", "* filter=f diff=f text\n")]);
    let head = id(&place.git(&["rev-parse", "HEAD"]));
    let pwned = place.join("pwned");
    let run = format!("touch {}", pwned.display());
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "diff.external",
        "diff.f.textconv",
        "diff.f.command",
        "filter.f.clean",
        "filter.f.smudge",
        "filter.f.process",
        "gpg.program",
        "core.sshCommand",
        "credential.helper",
        "core.hooksPath",
        "uploadpack.packObjectsHook",
    ] {
        place.git(&["config", key, &run]);
    }
    place.git(&["config", "filter.f.required", "true"]);
    place.write("a.x", "2");
    let git = place.open("");
    let compared = git.compared(Some(&head), &Target::WorkTree).unwrap();
    assert_eq!((compared.changes, compared.unknown), (vec![], vec![path("a.x")]));
    assert_eq!(git.file_at(&head, &path("a.x")).unwrap().unwrap(), b"1");
    git.resolve("HEAD").unwrap();
    assert!(!pwned.exists());
}

/// Truncates or overwrites every file of the git directory in turn. Errors are fine, panics are
/// not.
#[test]
#[ignore = "slow"]
fn a_broken_repository_is_an_error_and_no_panic() {
    let broken: &[(&str, &[u8])] = &[
        ("HEAD", b""),
        ("HEAD", b"\xff\xfe\0"),
        ("HEAD", b"ref: refs/heads/../../x"),
        ("HEAD", b"0123456789012345678901234567890123456789\n"),
        ("config", b"[core"),
        ("config", b"[core]\n\trepositoryformatversion = 99\n"),
        ("index", b""),
        ("index", b"DIRC\0\0\0\x02\xff\xff\xff\xff"),
        ("index", b"garbage"),
        ("refs/heads/main", b"nonsense"),
        ("MERGE_HEAD", b"\xff\n"),
        ("packed-refs", b"\0\0"),
        ("shallow", b"x"),
        ("commondir", b"/nonexistent"),
        ("objects/info/alternates", b"/\0\n"),
    ];
    for (file, bytes) in broken {
        let place = TestFolder::committed(&[("a", "1"), ("d/b", "2")]);
        let head = id(&place.git(&["rev-parse", "HEAD"]));
        std::fs::create_dir_all(place.join(".git/objects/info")).unwrap();
        std::fs::write(place.join(".git").join(file), bytes).unwrap();
        poke(&place, &head);
    }
    let place = TestFolder::committed(&[("a", "1"), ("d/b", "2")]);
    let head = id(&place.git(&["rev-parse", "HEAD"]));
    let object = place.join(&format!(".git/objects/{}/{}", &head.0[..2], &head.0[2..]));
    std::fs::remove_file(&object).unwrap();
    std::fs::write(&object, b"x\x9cjunk").unwrap();
    let git = place.open("");
    assert!(matches!(git.files_at(&head), Err(GitError::Unreadable { .. })));
    assert!(git.head().is_err());
    std::fs::write(place.join(".git/index"), b"garbage").unwrap();
    assert!(matches!(git.changes(None, &Target::Index), Err(GitError::Unreadable { .. })));
    poke(&place, &head);
}

/// Calls every function. The test only fails on a panic.
fn poke(place: &TestFolder, head: &CommitId) {
    let Ok(root) = Root::find(&place.join("a"), &crate::Environment::of_process()) else { return };
    let Ok(Some(git)) = Git::open(&root) else { return };
    let _ = (git.head(), git.incoming(), git.resolve("main"), git.is_shallow());
    let _ = (git.merge_base(head, head), git.file_at(head, &path("a")), git.tracked());
    let _ = (git.file_in_index(&path("a")), git.changes(Some(head), &Target::Index));
    let _ = git.changes(Some(head), &Target::WorkTree);
}

#[test]
fn every_form_of_index_is_read() {
    for arguments in [
        &["update-index", "--split-index"][..],
        &["update-index", "--index-version", "4"],
        &["update-index", "--untracked-cache"],
        &["update-index", "--assume-unchanged", "d/b"],
    ] {
        let place = TestFolder::committed(&[("a", "1"), ("d/b", "2"), ("d/bc", "3")]);
        let head = id(&place.git(&["rev-parse", "HEAD"]));
        place.git(arguments);
        place.write("d/new", "x");
        place.write("a", "22");
        place.git(&["add", "d/new"]);
        let git = place.open("");
        let wanted = ["M a", "A d/new"];
        assert_eq!(changes(&git, Some(&head), Target::WorkTree), wanted, "{arguments:?}");
        assert_eq!(changes(&git, Some(&head), Target::Index), ["A d/new"], "{arguments:?}");
    }
}

#[test]
fn an_included_file_may_name_the_folder_of_hooks() {
    let place = TestFolder::committed(&[("included", "[core]\n\thooksPath = shared\n")]);
    let included = place.join("included");
    place.git(&["config", "include.path", included.to_str().unwrap()]);
    assert_eq!(place.open("").hooks_folder(), (place.join("shared"), true));
}

#[test]
fn a_file_is_added_where_a_folder_was() {
    let place = TestFolder::committed(&[("in/a/x", "1"), ("in/b", "1")]);
    place.remove("in/a/x");
    std::fs::remove_dir(place.join("in/a")).unwrap();
    place.write("in/a", "2");
    let second = id(&place.commit("second"));
    let added = place.open("").added_below("in", &second, &[]).unwrap();
    let added: Vec<&str> = added.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(added, ["a", "a/x", "b"]);
}

/// If its references were read as plain files, such a repository would seem to have no commits.
#[test]
fn a_repository_with_reftables_is_refused() {
    let place = TestFolder::new();
    if !place.try_git("", &["init", "-q", "--ref-format=reftable"]).0 {
        return; // Older than git 2.45.
    }
    place.write("a", "1");
    place.commit("first");
    let error = Git::open(&place.root("")).unwrap_err();
    assert!(error.to_string().contains("reftable"), "{error}");
}

#[test]
fn an_index_from_git_must_be_in_the_git_directory() {
    let place = TestFolder::committed(&[("a", "1")]);
    let dir = place.join(".git");
    let handed = |given: &str| handed_index(Some(given.as_ref()), &dir, place.path());
    assert_eq!(handed(".git/next-index-1.lock"), Some(dir.join("next-index-1.lock")));
    assert_eq!(handed(dir.join("index").to_str().unwrap()), Some(dir.join("index")));
    assert_eq!(handed("/tmp/index"), None);
    assert_eq!(handed(".git/../index"), None);
    assert_eq!(handed_index(None, &dir, place.path()), None);
}

#[test]
fn a_repository_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Git>();
    shared::<super::super::Ignores>();
    shared::<Root>();
}

#[test]
fn branches_are_listed_and_a_few_files_read_in_them() {
    let place = TestFolder::committed(&[("ws/.orchestration/a.yaml", "1"), ("ws/src/a.rs", "1")]);
    place.git(&["switch", "-q", "-c", "feature/x"]);
    place.write("ws/.orchestration/intents/B.yaml", "b");
    place.write("ws/.orchestration/intents/deeper/C.yaml", "c");
    place.commit("x");
    place.git(&["update-ref", "refs/remotes/origin/main", "main"]);
    place.write("ws/.orchestration/intents/D.yaml", "d");
    place.git(&["add", "-A"]);
    let git = place.open("ws/.orchestration");
    let branches = git.branches(10).unwrap();
    let mut names: Vec<&str> = branches.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["feature/x", "main", "origin/main"]);
    assert_eq!(git.branches(1).unwrap().len(), 1);
    let places = [".orchestration/a.yaml", ".orchestration/intents", "nowhere"];
    let read = |found: Vec<(RelativePath, ObjectId)>| -> Vec<(String, Vec<u8>)> {
        let text =
            |(path, id): (RelativePath, ObjectId)| (path.to_string(), git.blob_of(id).unwrap());
        found.into_iter().map(text).collect()
    };
    let (_, x) = branches.iter().find(|(name, _)| name == "feature/x").unwrap();
    let a = (".orchestration/a.yaml".to_owned(), b"1".to_vec());
    let b = (".orchestration/intents/B.yaml".to_owned(), b"b".to_vec());
    let d = (".orchestration/intents/D.yaml".to_owned(), b"d".to_vec());
    let at_x = git.blobs_at(x, &places).unwrap();
    assert_eq!(read(at_x), [a.clone(), b.clone()]);
    let (_, main) = branches.iter().find(|(name, _)| name == "main").unwrap();
    assert_eq!(read(git.blobs_at(main, &places).unwrap()), std::slice::from_ref(&a));
    assert_eq!(read(git.blobs_in_index(&places).unwrap()), [a, b, d]);
}

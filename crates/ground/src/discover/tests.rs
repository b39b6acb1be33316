use super::super::fixture::{TestFolder, path};
use super::*;

fn find(place: &TestFolder, target: &str) -> (String, bool) {
    let root = place.root(target);
    let inside = root.path().strip_prefix(place.path()).unwrap();
    (inside.to_str().unwrap().to_owned(), root.governed())
}

fn at(folder: &str, governed: bool) -> (String, bool) {
    (folder.to_owned(), governed)
}

#[test]
fn in_a_work_tree_the_outermost_registry_governs() {
    let place = TestFolder::committed(&[("a/b/c.ts", "")]);
    assert_eq!(find(&place, "a/b/c.ts"), at("", false));
    place.folder("a/b/.orchestration");
    assert_eq!(find(&place, "a/b/c.ts"), at("a/b", true));
    assert_eq!(find(&place, "a/x"), at("", false));
    place.folder("a/.orchestration");
    assert_eq!(find(&place, "a/b/c.ts"), at("a", true));
    place.folder(".orchestration");
    for target in ["a/b/c.ts", "a/b/new/deep/file.ts", "", "a", "a/b/.orchestration/policy.yaml"] {
        assert_eq!(find(&place, target), at("", true), "{target:?}");
    }
    assert_eq!(place.root("a").git_dir(), Some(place.join(".git").as_path()));
    assert_eq!(place.root("a").private(), place.join(".git/intent"));
}

/// Git can store the names in the index compressed, or in a second file.
#[test]
fn a_registry_that_only_the_index_has_governs_in_every_form_of_index() {
    let place = TestFolder::committed(&[(".oracle", ""), (".orchestration/x", ""), ("a", "")]);
    std::fs::remove_dir_all(place.join(".orchestration")).unwrap();
    for form in ["--index-version=4", "--index-version=2", "--split-index"] {
        place.git(&["update-index", form]);
        assert_eq!(find(&place, "a"), at("", true), "{form}");
    }
}

/// `git mv` may move the registry from the top to a folder.
#[test]
fn a_registry_in_a_folder_does_not_govern_the_folders_above_it() {
    let place = TestFolder::committed(&[("a/b/.orchestration/x", ""), ("a/b/c", "")]);
    for removed in [false, true] {
        assert_eq!(find(&place, ""), at("", false), "removed: {removed}");
        assert_eq!(find(&place, "a/x"), at("", false), "removed: {removed}");
        assert_eq!(find(&place, "a/b/c"), at("a/b", true), "removed: {removed}");
        _ = std::fs::remove_dir_all(place.join("a/b/.orchestration"));
    }
}

#[test]
fn targets_in_the_git_directory_belong_to_its_work_tree() {
    let place = TestFolder::committed(&[("a", "")]);
    place.folder(".orchestration");
    assert_eq!(find(&place, ".git/config"), at("", true));
    assert_eq!(find(&place, ".git/hooks/pre-commit"), at("", true));
}

#[test]
fn without_git_the_nearest_registry_governs() {
    let place = TestFolder::new();
    place.folder("a/b/c");
    assert_eq!(find(&place, "a/b/c/new/x"), at("a/b/c", false));
    place.folder(".orchestration");
    place.folder("a/b/.orchestration");
    assert_eq!(find(&place, "a/b/c/new/x"), at("a/b", true));
    assert_eq!(find(&place, "a/x"), at("", true));
    let root = place.root("a/x");
    assert_eq!(root.git_dir(), None);
    assert_eq!(root.private(), place.join(".orchestration/local"));
}

#[test]
fn nested_roots_start_their_own_workspaces() {
    let place = TestFolder::committed(&[("a", "")]);
    for folder in ["", "p/x/", "p/y/", "p/x/deep/", "q/"] {
        place.folder(&format!("{folder}.orchestration"));
    }
    assert_eq!(find(&place, "p/x/f"), at("", true));
    place.write(".orchestration/policy.yaml", "nested_roots: ['p/*', '!p/y', q/]");
    assert_eq!(find(&place, "p/x/f"), at("p/x", true));
    assert_eq!(find(&place, "p/x/deep/f"), at("p/x", true));
    assert_eq!(find(&place, "p/y/f"), at("", true));
    assert_eq!(find(&place, "p/z/f"), at("", true));
    assert_eq!(find(&place, "q/f"), at("q", true));
    place.write("p/x/.orchestration/policy.yaml", "nested_roots: [deep]");
    assert_eq!(find(&place, "p/x/deep/f"), at("p/x/deep", true));
    assert_eq!(place.root("p/x/f").git_dir(), Some(place.join(".git").as_path()));
    place.write("p/x/f", "");
    place.write("p/y/f", "");
    let walked = super::super::ignores::walk(&place.root(""));
    assert_eq!(walked, [path("a"), path("p/y/f")], "each file belongs to one workspace");
    let git = place.open("");
    let head = git.head().unwrap().unwrap();
    let changes = git.changes(Some(&head), &super::super::git::Target::WorkTree).unwrap();
    assert!(changes.iter().all(|change| !change.path.as_str().starts_with("p/x/")), "{changes:?}");
    place.write(".orchestration/policy.yaml", "nested_roots: ['p/*']\nmode: [");
    assert_eq!(find(&place, "p/x/f"), at("", true), "a broken policy releases nothing");
}

#[test]
fn a_repository_made_inside_stays_governed() {
    let place = TestFolder::committed(&[("a", "")]);
    place.folder("vendor/x/.orchestration");
    place.git_in("vendor/x", &["init", "-q"]);
    assert_eq!(find(&place, "vendor/x/f"), at("vendor/x", true), "nobody governs around it");
    place.folder(".orchestration");
    assert_eq!(find(&place, "vendor/x/f"), at("", true));
    assert_eq!(place.root("vendor/x/f").git_dir(), Some(place.join(".git").as_path()));
    place.folder("fake/.git");
    assert_eq!(find(&place, "fake/f"), at("", true), "an empty .git cuts nothing off");
    place.write("fake2/.git", "gitdir: nowhere\n");
    assert_eq!(find(&place, "fake2/f"), at("", true));
    place.write(".orchestration/policy.yaml", "nested_roots: [vendor/x]");
    assert_eq!(find(&place, "vendor/x/f"), at("vendor/x", true));
    assert_eq!(place.root("vendor/x/f").git_dir(), Some(place.join("vendor/x/.git").as_path()));
    place.remove(".orchestration/policy.yaml");
    place.write(".gitmodules", "[submodule \"x\"]\n\tpath = vendor/x\n\turl = ../x\n");
    assert_eq!(find(&place, "vendor/x/f"), at("vendor/x", true), "a submodule of the old kind");
}

#[test]
fn submodules_and_linked_work_trees_are_their_own() {
    let place = TestFolder::new();
    for name in ["lib", "app"] {
        place.folder(name);
        place.git_in(name, &["init", "-q", "-b", "main"]);
        place.write(&format!("{name}/file"), name);
        place.git_in(name, &["add", "-A"]);
        place.git_in(name, &["commit", "-q", "-m", "x"]);
    }
    place.git_in("app", &["submodule", "--quiet", "add", "../lib", "third/lib"]);
    place.git_in("app", &["worktree", "add", "-q", "trees/one", "-b", "one"]);
    place.git_in("app", &["worktree", "add", "-q", "../beside", "-b", "two"]);
    place.folder("app/.orchestration");
    assert_eq!(find(&place, "app/third/lib/file"), at("app/third/lib", false));
    assert_eq!(find(&place, "app/third/file"), at("app", true));
    assert_eq!(find(&place, "app/trees/one/file"), at("app/trees/one", false));
    assert_eq!(find(&place, "beside/file"), at("beside", false));
    let linked = place.root("app/trees/one/file");
    assert_eq!(linked.git_dir(), Some(place.join("app/.git/worktrees/one").as_path()));
    assert_eq!(linked.common_dir(), Some(place.join("app/.git")));
    // Git writes a relative path if `worktree.useRelativePaths` is set.
    place.write("app/.git/worktrees/one/gitdir", "../../../trees/one/.git\n");
    let mut tops: Vec<_> = place
        .root("app")
        .linked_trees()
        .into_iter()
        .map(|(_, top)| Root::resolved_path(&top))
        .collect();
    tops.sort();
    assert_eq!(tops, [Some(place.join("app/trees/one")), Some(place.join("beside"))]);
    let module = place.root("app/third/lib/file");
    assert_eq!(module.git_dir(), Some(place.join("app/.git/modules/third/lib").as_path()));
}

/// An agent that writes its own `.git` file cannot take a folder out of the workspace.
#[test]
fn a_forged_work_tree_stays_governed() {
    let place = TestFolder::committed(&[("src/auth/a.ts", "")]);
    place.folder(".orchestration");
    let elsewhere = TestFolder::committed(&[("x", "")]);
    let inside = place.join("src/auth");
    elsewhere.git(&[
        "worktree",
        "add",
        "-q",
        "-f",
        inside.join("tree").to_str().unwrap(),
        "-b",
        "x",
    ]);
    assert_eq!(find(&place, "src/auth/tree/x"), at("", true));
    elsewhere.write("forged/HEAD", "ref: refs/heads/main\n");
    elsewhere.write("forged/commondir", "../.git\n");
    elsewhere.write("forged/gitdir", inside.join(".git").to_str().unwrap());
    place.write("src/auth/.git", &format!("gitdir: {}\n", elsewhere.join("forged").display()));
    assert_eq!(find(&place, "src/auth/a.ts"), at("", true));
}

#[test]
fn a_bare_repository_has_no_workspace() {
    let place = TestFolder::new();
    place.git(&["init", "-q", "--bare", "store.git"]);
    for target in ["store.git", "store.git/refs/heads/x", "store.git/config"] {
        let error = Root::find(&place.join(target), &crate::Environment::of_process()).unwrap_err();
        assert!(matches!(error, RootError::Bare { .. }), "{target}: {error}");
    }
    let outer = TestFolder::committed(&[("a", "")]);
    outer.git(&["init", "-q", "--bare", "fixtures/x.git"]);
    assert_eq!(find(&outer, "fixtures/x.git/config"), at("", false), "a file of the outer one");
}

#[cfg(unix)]
#[test]
fn a_link_is_judged_by_its_own_path_and_its_target() {
    let place = TestFolder::new();
    place.folder("one/.orchestration");
    place.folder("two/.orchestration");
    place.folder("two/src");
    place.folder("free");
    place.link("one/out", place.join("free"));
    place.link("one/dangling", place.join("free/new/file"));
    place.link("free/in", place.join("two/src"));
    assert_eq!(find(&place, "free/in/x"), at("two", true));
    assert_eq!(find(&place, "one/out/x"), at("one", true), "the link stands in a governed place");
    assert_eq!(find(&place, "one/dangling"), at("one", true));
    assert_eq!(find(&place, "free/x"), at("free", false));
}

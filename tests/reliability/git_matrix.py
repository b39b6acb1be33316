#!/usr/bin/env python3
"""Stories about git with the real program and its hooks: does every line still name the session that wrote it?

    git_matrix.py [--short] [--fast] [--only NAME …] [--jobs J] [--keep FOLDER]

Each line of code that a story writes contains a token that says who wrote it: `s1-…` session s1 under INT-001, `s2-…`
session s2 under INT-002, `p-…` a person who records nothing. So the expected answer comes from the committed text, and
never from the ledger. After a story and one `intent seal` with a commit, in the repository and in a fresh clone:

* a line with `s1` is attributed to INT-001, one with `s2` to INT-002, one with `p` to no intent;
* no line of a block is named twice by evidence;
* nothing below .orchestration/agent_trace is untracked or changed; `intent verify` and verify.py find nothing;
* no commit failed because of our hooks: a story says which of its commits fail, and for what reason.
"""
import argparse, base64, concurrent.futures, hashlib, json, os, re, shutil, stat, subprocess, sys, time, traceback

import lab, verify

TOKEN = re.compile(r'"(s1|s2|p)-\d+"')
INTENT = {"s1": "INT-001", "s2": "INT-002", "p": None}
HOOK = "pre-commit"


class Story(lab.Repository):
    """A repository with a.rs, b.rs and src/c.rs, all written by a person, and the actions of the stories."""

    @classmethod
    def begin(cls, folder):
        self = cls(folder)
        os.makedirs(folder)
        self.count, self.at = 0, folder
        self.git("init", "-q", "-b", "main")
        self.write("a.rs", self.file("p", "one", "two", "three"))
        self.write("b.rs", self.file("p", "four", "five"))
        self.write("src/c.rs", self.file("p", "six"))
        self.intent("init")
        self.intent("new", "First", "--scope", "**", "--start")
        self.intent("new", "Second", "--scope", "**", "--start")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Begin")
        return self

    def like(self, folder):
        """Another work tree or clone, in which the story goes on."""
        other = Story(folder)
        other.count = self.count + 1000
        return other

    def line(self, who):
        self.count += 1
        return f'    call("{who}-{self.count:04}");\n'

    def function(self, who, name, lines=2):
        return f"fn {name}() {{\n" + "".join(self.line(who) for _ in range(lines)) + "}\n"

    def file(self, who, *names):
        return "\n".join(self.function(who, name, 3) for name in names)

    def add(self, who, path, name, lines=2):
        """Adds a function at the end of a file. If the author is a session, the change is recorded."""
        before = self.read(path) + "\n" if os.path.exists(self.path(path)) else ""
        self.write(path, before + self.function(who, name, lines))
        self.recorded(who, path)

    def edit(self, who, path, name, record=True):
        """Adds a line to a function, and changes its first line."""
        text = self.read(path)
        at = text.index(f"fn {name}() {{\n") + len(f"fn {name}() {{\n")
        end = text.index("\n", at) + 1
        self.write(path, text[:at] + self.line(who) + self.line(who) + text[end:])
        if record:
            self.recorded(who, path)

    def recorded(self, who, *paths):
        if who != "p":
            pace()
            self.record(INTENT[who], who, *paths)
            paced()

    def commit(self, message="Work", *arguments, ok=(0,), **more):
        return self.git("commit", "-q", "-m", message, *arguments, ok=ok, **more)

    def hook(self, name, script):
        path = self.path(".git", "hooks", name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(path, 0o755)


LAST = 0
FAST = False


def pace():
    """Waits for the next second. Evidence stores times in whole seconds, and real people and agents are slower than
    that."""
    while not FAST and int(time.time()) <= LAST:
        time.sleep(0.02)


def paced():
    global LAST
    LAST = int(time.time())


STORIES = {}

# Stories that fail, each with its cause; docs/reliability.md explains them. A run fails only if another story fails.
KNOWN = {
    "clean filter": "no program is run to convert a file, so nobody can tell what git has of it, and nothing is recorded",
    "shallow clone": "a line of an earlier record, in a block changed since, has no history to be found in",
    "copied work tree both commit": "a copied git directory holds the same journal, and both seal it",
    "rm and back": "as git says it, the commit that brings a file back has brought its lines, and the evidence is about an earlier one",
    "unborn branch": "`intent record` without a commit takes the whole file for new",
}

# Variants of other stories, and slow ones. The short form leaves them out.
LONG = {
    "commit a", "commit p one session", "commit amend message", "commit no verify twice", "commit in a subfolder",
    "commit empty", "aborted then undone", "detached head", "merge same file", "merge with open work",
    "merge conflict by a session", "merge abort", "rebase with a new commit", "rebase drop", "rebase conflict",
    "cherry pick then merge", "revert and record again", "reset hard and forget", "am of code only", "no verify then revert",
    "merge of a colleague no ff", "stash u after an aborted commit", "worktree without hooks", "worktree of both",
    "switch and stay away", "clean after an aborted commit", "formatter before ours joins lines", "autocrlf",
    "copied work tree both commit", "gc after a squash", "pull rebase", "sparse checkout without evidence",
    "mv with open work", "rm and back", "history rewritten", "unborn branch",
}


def story(function):
    STORIES[function.__name__.replace("_", " ").strip()] = function
    return function


# --- committing ----------------------------------------------------------------------------------------------------

@story
def commit_staged(s):
    s.edit("s1", "a.rs", "one")
    s.git("add", "a.rs")
    s.commit()


@story
def commit_a(s):
    s.edit("s1", "a.rs", "one")
    s.add("s2", "b.rs", "new")
    s.commit("Work", "-a")


@story
def commit_p(s):
    s.edit("s1", "a.rs", "one")
    s.edit("s2", "a.rs", "three")
    s.git("commit", "-q", "-p", "-m", "One hunk", input="y\nn\n")
    s.commit("The other", "-a")


@story
def commit_p_one_session(s):
    s.edit("s1", "a.rs", "one")
    s.edit("s1", "a.rs", "three")
    s.git("commit", "-q", "-p", "-m", "One hunk", input="n\ny\n")
    s.edit("s1", "a.rs", "two")
    s.commit("The others", "-a")


@story
def commit_only(s):
    s.edit("s1", "a.rs", "one")
    s.edit("s1", "b.rs", "four")
    s.git("add", "b.rs")
    s.commit("Only a", "--only", "a.rs")
    s.commit("Then b")


@story
def commit_amend(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.edit("s1", "a.rs", "one")
    s.edit("s2", "a.rs", "two")
    s.commit("Work, amended", "-a", "--amend")


@story
def commit_amend_message(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.commit("A better word", "--amend")
    s.commit("A better word yet", "--amend")


@story
def commit_amend_by_a_person(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.edit("p", "a.rs", "one")
    s.edit("p", "a.rs", "two")
    s.commit("Work", "-a", "--amend")


@story
def commit_amend_takes_back(s):
    before = s.read("a.rs")
    s.edit("s1", "a.rs", "one")
    s.edit("s1", "b.rs", "four")
    s.commit("Work", "-a")
    s.write("a.rs", before)
    s.commit("Without a", "-a", "--amend")


@story
def commit_no_verify(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a", "-n")


@story
def commit_no_verify_twice(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a", "-n")
    s.edit("s2", "a.rs", "one")
    s.commit("Work", "-a", "-n")


@story
def commit_without_any_hook(s):
    shutil.rmtree(s.path(".git", "hooks"))
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")


@story
def commit_in_a_subfolder(s):
    s.edit("s1", "src/c.rs", "six")
    lab.run(["git", "commit", "-q", "-am", "Work"], s.path("src"))


@story
def commit_empty(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Nothing", "--allow-empty")
    s.commit("Work", "-a")


@story
def commit_of_a_person_only(s):
    s.edit("s1", "a.rs", "one")
    s.git("stash", "-q")
    s.edit("p", "a.rs", "three")
    s.commit("Mine", "-a")
    s.git("stash", "pop", "-q")
    s.commit("Its", "-a")


@story
def aborted_by_a_hook_before(s):
    os.rename(s.path(".git/hooks/pre-commit"), s.path(".git/hooks/kept"))
    s.hook(HOOK, "exit 1\n")
    s.intent("git-hooks", "--install")
    s.edit("s1", "a.rs", "one")
    s.commit("Refused", "-a", ok=(1,))
    s.edit("s2", "a.rs", "two")
    s.hook("../hooks.before-intent/pre-commit", "exit 0\n")
    s.commit("Work", "-a")


@story
def aborted_by_a_hook_after(s):
    s.hook("commit-msg", "exit 1\n")
    s.edit("s1", "a.rs", "one")
    s.commit("Refused", "-a", ok=(1,))
    s.edit("s1", "a.rs", "one")
    s.edit("s2", "a.rs", "two")
    os.remove(s.path(".git/hooks/commit-msg"))
    s.commit("Work", "-a")


@story
def aborted_then_undone(s):
    s.hook("commit-msg", "exit 1\n")
    s.edit("s1", "a.rs", "one")
    s.commit("Refused", "-a", ok=(1,))
    os.remove(s.path(".git/hooks/commit-msg"))
    s.git("checkout", "HEAD", "--", "a.rs")
    s.edit("p", "b.rs", "four")
    s.commit("Mine", "-a")


@story
def aborted_empty_message(s):
    s.edit("s1", "a.rs", "one")
    s.git("commit", "-q", "-a", "-m", "", ok=(1,))
    s.commit("Work", "-a")


@story
def two_sessions_in_one_function(s):
    s.edit("s1", "a.rs", "one")
    s.edit("s2", "a.rs", "one")
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.edit("p", "a.rs", "one")
    s.commit("Mine", "-a")


@story
def a_person_after_the_record(s):
    s.edit("s1", "a.rs", "one")
    s.edit("p", "a.rs", "one")
    s.add("p", "a.rs", "mine")
    s.commit("Work", "-a")


@story
def plumbing(s):
    s.edit("s1", "a.rs", "one")
    s.git("add", "a.rs")
    tree = s.out("write-tree")
    made = s.out("commit-tree", tree, "-p", "HEAD", "-m", "By another tool")
    s.git("update-ref", "refs/heads/main", made)


@story
def unborn_branch(s):
    s.git("checkout", "-q", "--orphan", "fresh")
    s.edit("s1", "a.rs", "one")
    s.git("rm", "-q", "-r", "--cached", ".orchestration/agent_trace")
    s.git("add", "a.rs")
    s.commit("First of all")


@story
def detached_head(s):
    s.git("checkout", "-q", "--detach")
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    at = s.out("rev-parse", "HEAD")
    s.git("switch", "-q", "main")
    s.git("merge", "-q", at)


# --- merging -------------------------------------------------------------------------------------------------------

def fork(s):
    """Session s1 works on a branch in a.rs, and s2 on main in b.rs."""
    s.git("switch", "-q", "-c", "topic")
    s.edit("s1", "a.rs", "one")
    s.commit("Topic", "-a")
    s.git("switch", "-q", "main")


@story
def merge_ff(s):
    fork(s)
    s.git("merge", "-q", "--ff-only", "topic")


@story
def merge_no_ff(s):
    fork(s)
    s.edit("s2", "b.rs", "four")
    s.commit("Main", "-a")
    s.git("merge", "-q", "--no-ff", "-m", "Merge", "topic")


@story
def merge_same_file(s):
    fork(s)
    s.edit("s2", "a.rs", "three")
    s.commit("Main", "-a")
    s.git("merge", "-q", "-m", "Merge", "topic")


@story
def merge_with_open_work(s):
    fork(s)
    s.edit("s2", "b.rs", "four")
    s.git("merge", "-q", "--no-ff", "-m", "Merge", "topic")
    s.commit("Main", "-a")


def conflict(s):
    fork(s)
    s.edit("s2", "a.rs", "one")
    s.commit("Main", "-a")


def resolve(s, path="a.rs"):
    """Keeps both sides of a conflict."""
    text = re.sub(r"^(<<<<<<<|=======|>>>>>>>|\|\|\|\|\|\|\|).*\n", "", s.read(path), flags=re.M)
    s.write(path, text)


@story
def merge_conflict_by_a_person(s):
    conflict(s)
    s.git("merge", "-q", "topic", ok=(1,))
    resolve(s)
    s.edit("p", "a.rs", "one")
    s.commit("Merge", "-a")


@story
def merge_conflict_by_a_session(s):
    conflict(s)
    s.git("merge", "-q", "topic", ok=(1,))
    resolve(s)
    s.edit("s2", "a.rs", "one")
    s.commit("Merge", "-a")


@story
def merge_abort(s):
    conflict(s)
    s.git("merge", "-q", "topic", ok=(1,))
    s.git("merge", "--abort")
    s.edit("s1", "b.rs", "five")
    s.commit("Work", "-a")


@story
def merge_octopus(s):
    fork(s)
    s.git("switch", "-q", "-c", "other", "main")
    s.edit("s2", "b.rs", "four")
    s.commit("Other", "-a")
    s.git("switch", "-q", "main")
    s.edit("s1", "src/c.rs", "six")
    s.commit("Main", "-a")
    s.git("merge", "-q", "-m", "Octopus", "topic", "other")


@story
def merge_squash(s):
    fork(s)
    s.git("switch", "-q", "topic")
    s.edit("s2", "a.rs", "one")
    s.commit("Topic", "-a")
    s.git("switch", "-q", "main")
    s.git("merge", "-q", "--squash", "topic")
    s.commit("Squashed")


# --- rewriting -----------------------------------------------------------------------------------------------------

def branched(s):
    """Three commits on a branch, and one on main."""
    s.git("switch", "-q", "-c", "topic")
    for who, path, name in (("s1", "a.rs", "one"), ("s2", "a.rs", "three"), ("s1", "a.rs", "one")):
        s.edit(who, path, name)
        s.commit(f"Topic {s.count}", "-a")
    s.git("switch", "-q", "main")
    s.edit("p", "b.rs", "four")
    s.commit("Main", "-a")
    s.git("switch", "-q", "topic")


@story
def rebase_plain(s):
    branched(s)
    s.git("rebase", "-q", "main")


@story
def rebase_of_commits_without_hooks(s):
    s.git("switch", "-q", "-c", "topic")
    for who, name in (("s1", "one"), ("s2", "three")):
        s.edit(who, "a.rs", name)
        s.commit("Topic", "-a", "-n")
    s.git("switch", "-q", "main")
    s.edit("p", "b.rs", "four")
    s.commit("Main", "-a", "-n")
    s.git("switch", "-q", "topic")
    s.git("rebase", "-q", "main")


@story
def rebase_with_edits(s):
    branched(s)
    s.git("rebase", "-q", "-i", "main", environment={"GIT_SEQUENCE_EDITOR": "sed -i '1s/^pick/edit/'"})
    s.edit("s2", "a.rs", "two")
    s.edit("p", "b.rs", "five")
    s.commit("Edited", "-a", "--amend")
    s.git("rebase", "--continue")


@story
def rebase_with_a_new_commit(s):
    branched(s)
    s.git("rebase", "-q", "-i", "main", environment={"GIT_SEQUENCE_EDITOR": "sed -i '1s/^pick/edit/'"})
    s.edit("s2", "b.rs", "five")
    s.commit("Between", "-a")
    s.git("rebase", "--continue")


@story
def rebase_squash(s):
    branched(s)
    s.git("rebase", "-q", "-i", "main", environment={"GIT_SEQUENCE_EDITOR": "sed -i '2,3s/^pick/squash/'"})


@story
def rebase_drop(s):
    branched(s)
    s.git("rebase", "-q", "-i", "main", environment={"GIT_SEQUENCE_EDITOR": "sed -i '2s/^pick/drop/'"})


@story
def rebase_autosquash(s):
    s.git("switch", "-q", "-c", "topic")
    s.edit("s1", "a.rs", "one")
    s.commit("Topic", "-a")
    s.edit("s2", "b.rs", "four")
    s.commit("Other", "-a")
    s.edit("s1", "a.rs", "one")
    s.git("commit", "-q", "-a", "--fixup", "HEAD~1")
    s.git("rebase", "-q", "-i", "--autosquash", "main")


@story
def rebase_conflict(s):
    conflict(s)
    s.git("switch", "-q", "topic")
    s.git("rebase", "-q", "main", ok=(1,))
    resolve(s)
    s.git("add", "a.rs")
    s.git("rebase", "--continue")


@story
def cherry_pick(s):
    fork(s)
    s.edit("s2", "b.rs", "four")
    s.commit("Main", "-a")
    s.git("cherry-pick", "topic")


@story
def cherry_pick_then_merge(s):
    fork(s)
    s.edit("s2", "b.rs", "four")
    s.commit("Main", "-a")
    s.git("cherry-pick", "topic")
    s.git("merge", "-q", "-m", "Merge", "topic")


@story
def cherry_pick_n(s):
    fork(s)
    s.git("cherry-pick", "-n", "topic")
    s.edit("s2", "b.rs", "four")
    s.commit("Picked", "-a")


@story
def cherry_pick_continue(s):
    conflict(s)
    s.git("cherry-pick", "topic", ok=(1,))
    resolve(s)
    s.git("add", "a.rs")
    s.git("cherry-pick", "--continue")


@story
def revert(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.edit("s2", "b.rs", "four")
    s.commit("More", "-a")
    s.git("revert", "--no-edit", "HEAD~1")


@story
def revert_of_the_revert(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.edit("s2", "b.rs", "four")
    s.commit("More", "-a")
    s.git("revert", "--no-edit", "HEAD~1")
    s.git("revert", "--no-edit", "HEAD")


@story
def revert_and_record_again(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.git("revert", "--no-edit", "HEAD")
    s.edit("s2", "a.rs", "one")
    s.commit("Anew", "-a")


def two_files(s):
    s.edit("s1", "a.rs", "one")
    s.edit("s2", "b.rs", "four")
    s.commit("Both", "-a")


def in_two(s):
    s.commit("A", "a.rs")
    s.commit("B", "-a")


@story
def reset_soft(s):
    two_files(s)
    s.git("reset", "-q", "--soft", "HEAD~1")
    s.git("reset", "-q", "b.rs")
    s.commit("A")
    s.commit("B", "-a")


@story
def reset_mixed(s):
    two_files(s)
    s.git("reset", "-q", "--mixed", "HEAD~1")
    in_two(s)


@story
def reset_hard(s):
    two_files(s)
    was = s.out("rev-parse", "HEAD")
    s.git("reset", "-q", "--hard", "HEAD~1")
    s.git("checkout", "-q", was, "--", "a.rs")
    s.commit("A")
    s.git("checkout", "-q", was, "--", "b.rs")
    s.commit("B")


@story
def reset_hard_and_forget(s):
    two_files(s)
    s.git("reset", "-q", "--hard", "HEAD~1")
    s.edit("p", "a.rs", "one")
    s.commit("Mine", "-a")


@story
def am(s):
    fork(s)
    patch = s.git("format-patch", "--stdout", "main..topic").stdout
    s.git("am", "-q", input=patch)


@story
def am_of_code_only(s):
    fork(s)
    patch = s.git("diff", "main", "topic", "--", "a.rs").stdout
    s.git("apply", "--index", input=patch)
    s.commit("Applied")


def unsealed(s):
    """A commit that skips only our hook."""
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a", "-n")


@story
def no_verify_then_rebase(s):
    s.git("switch", "-q", "-c", "topic")
    unsealed(s)
    s.git("switch", "-q", "main")
    s.edit("p", "b.rs", "four")
    s.commit("Main", "-a")
    s.git("switch", "-q", "topic")
    s.git("rebase", "-q", "main")


@story
def no_verify_then_revert(s):
    unsealed(s)
    s.edit("s2", "b.rs", "four")
    s.commit("More", "-a", "-n")
    s.git("revert", "--no-edit", "HEAD")


@story
def no_verify_then_pull_rebase(s):
    other = colleague(s)
    unsealed(s)
    s.git("pull", "-q", "--rebase", other.folder, "main")


@story
def no_verify_then_reset_hard_of_the_seal(s):
    """The commit with the late evidence is dropped; the commit that the evidence is about stays."""
    unsealed(s)
    s.edit("s2", "b.rs", "four")
    s.commit("Carries late evidence", "-a")
    s.git("reset", "-q", "--hard", "HEAD~1")


def colleague(s):
    """The clone of a colleague, in which session s2 works in b.rs."""
    other = s.like(s.folder + "-clone")
    lab.run(["git", "clone", "-q", s.folder, other.folder], s.folder)
    other.intent("git-hooks", "--install")
    other.edit("s2", "b.rs", "four")
    other.commit("There", "-a")
    return other


@story
def merge_of_a_colleague(s):
    other = colleague(s)
    s.edit("p", "a.rs", "one")
    s.commit("Here", "-a")
    s.git("pull", "-q", "--no-rebase", "--no-edit", other.folder, "main")


@story
def merge_of_a_colleague_no_ff(s):
    other = colleague(s)
    s.edit("s1", "a.rs", "one")
    s.git("fetch", "-q", other.folder, "main")
    s.git("merge", "-q", "--no-ff", "--no-edit", "FETCH_HEAD")
    s.commit("Here", "-a")


@story
def squash_of_a_colleague(s):
    other = colleague(s)
    s.edit("s1", "a.rs", "one")
    s.commit("Here", "-a")
    s.git("fetch", "-q", other.folder, "main")
    s.git("merge", "-q", "--squash", "FETCH_HEAD")
    s.commit("Squashed")


@story
def cherry_pick_n_of_a_colleague(s):
    other = colleague(s)
    s.git("fetch", "-q", other.folder, "main")
    s.git("cherry-pick", "-n", "FETCH_HEAD")
    s.edit("s1", "a.rs", "one")
    s.commit("Both", "-a")


# --- aside ---------------------------------------------------------------------------------------------------------

@story
def stash_pop(s):
    s.edit("s1", "a.rs", "one")
    s.git("stash", "-q")
    s.edit("s2", "b.rs", "four")
    s.commit("Meanwhile", "-a")
    s.git("stash", "pop", "-q")
    s.commit("Work", "-a")


@story
def stash_u(s):
    s.add("s1", "new.rs", "seven")
    s.git("stash", "-q", "-u")
    s.edit("p", "b.rs", "four")
    s.commit("Meanwhile", "-a")
    s.git("stash", "pop", "-q")
    s.git("add", "new.rs")
    s.commit("Work")


@story
def stash_u_after_an_aborted_commit(s):
    s.hook("commit-msg", "exit 1\n")
    s.edit("s1", "a.rs", "one")
    s.commit("Refused", "-a", ok=(1,))
    os.remove(s.path(".git/hooks/commit-msg"))
    s.git("stash", "-q", "-u")
    s.edit("p", "b.rs", "four")
    s.commit("Meanwhile", "-a")
    s.git("stash", "pop", "-q")
    s.commit("Work", "-a")


@story
def worktree(s):
    other = s.like(s.folder + "-tree")
    s.git("worktree", "add", "-q", "-b", "topic", other.folder)
    other.edit("s1", "a.rs", "one")
    other.commit("There", "-a")
    s.edit("s2", "b.rs", "four")
    s.commit("Here", "-a")
    s.git("worktree", "remove", other.folder)
    s.git("merge", "-q", "-m", "Merge", "topic")


@story
def worktree_without_hooks(s):
    other = s.like(s.folder + "-tree")
    s.git("worktree", "add", "-q", "-b", "topic", other.folder)
    other.edit("s1", "a.rs", "one")
    other.commit("There", "-a", "-n")
    s.git("worktree", "remove", other.folder)
    s.git("merge", "-q", "--ff-only", "topic")


@story
def worktree_of_both(s):
    other = s.like(s.folder + "-tree")
    s.git("worktree", "add", "-q", "-b", "topic", other.folder)
    other.edit("s1", "a.rs", "one")
    s.edit("s2", "a.rs", "three")
    s.commit("Here", "-a")
    other.commit("There", "-a")
    s.git("merge", "-q", "-m", "Merge", "topic")


@story
def switch_with_open_work(s):
    s.edit("s1", "a.rs", "one")
    s.git("switch", "-q", "-c", "topic")
    s.commit("Topic", "-a")
    s.git("switch", "-q", "main")
    s.edit("s2", "b.rs", "four")
    s.commit("Main", "-a")
    s.git("merge", "-q", "-m", "Merge", "topic")


@story
def switch_and_stay_away(s):
    s.git("switch", "-q", "-c", "topic")
    s.edit("s1", "a.rs", "one")
    s.commit("Topic", "-a", "-n")
    s.git("switch", "-q", "main")
    s.edit("p", "a.rs", "one")
    s.commit("Main", "-a")


@story
def bisect(s):
    for _ in range(3):
        s.edit("s1", "a.rs", "one")
        s.commit("Work", "-a")
    s.git("bisect", "start", "-q", "HEAD", "HEAD~3")
    s.git("bisect", "good")
    s.git("bisect", "reset")
    s.edit("s2", "a.rs", "two")
    s.commit("After", "-a")


@story
def clean_fdx(s):
    s.edit("s1", "a.rs", "one")
    s.git("clean", "-q", "-fdx")
    s.commit("Work", "-a")


@story
def clean_after_an_aborted_commit(s):
    s.hook("commit-msg", "exit 1\n")
    s.edit("s1", "a.rs", "one")
    s.commit("Refused", "-a", ok=(1,))
    os.remove(s.path(".git/hooks/commit-msg"))
    s.git("reset", "-q")
    s.git("clean", "-q", "-fdx")
    s.commit("Work", "-a")


@story
def formatter_before_ours(s):
    os.remove(s.path(".git/hooks/pre-commit"))
    s.hook(HOOK, "sed -i 's/^    call/\\tcall/' a.rs && git add a.rs\n")
    s.intent("git-hooks", "--install")
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")


@story
def formatter_before_ours_joins_lines(s):
    os.remove(s.path(".git/hooks/pre-commit"))
    s.hook(HOOK, "sed -i 's/ call(/ call( /; s/);$/ );/' a.rs && git add a.rs\n")
    s.intent("git-hooks", "--install")
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")


@story
def formatter_after_ours(s):
    s.git("config", "core.hooksPath", ".git/all")
    os.makedirs(s.path(".git/all"))
    for name in ("pre-commit", "post-commit", "pre-merge-commit", "post-rewrite"):
        shutil.copy(s.path(".git/hooks", name), s.path(".git/all", name + ".ours"))
        after = "sed -i 's/^    call/\\tcall/' a.rs && git add a.rs\n" if name == "pre-commit" else ""
        lab.write(s.folder, f".git/all/{name}", f'#!/bin/sh\n"$(dirname "$0")/{name}.ours" "$@"\n{after}')
        os.chmod(s.path(".git/all", name), 0o755)
    s.edit("s1", "a.rs", "one")
    s.edit("s2", "a.rs", "three")
    s.commit("Work", "-a")


@story
def clean_filter(s):
    s.git("config", "filter.strip.clean", "sed 's| // local$||'")
    s.git("config", "filter.strip.smudge", "cat")
    s.write(".gitattributes", "*.rs filter=strip\n")
    s.git("add", ".gitattributes")
    s.commit("A filter")
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.edit("s2", "b.rs", "four", record=False)
    s.write("b.rs", s.read("b.rs").replace('");\n', '"); // local\n', 2))
    s.recorded("s2", "b.rs")
    s.commit("More", "-a")


@story
def autocrlf(s):
    s.git("config", "core.autocrlf", "true")
    os.remove(s.path("a.rs"))
    s.git("checkout", "-q", "--", "a.rs")
    s.write("a.rs", s.read("a.rs", "rb").replace(b"three() {\r\n", b"three() {\r\n" + s.line("s1").encode().replace(b"\n", b"\r\n")))
    s.recorded("s1", "a.rs")
    s.git("commit", "-q", "-am", "Work")


# --- what git converts ---------------------------------------------------------------------------------------------

LFS = ("sh -c 'f=$(mktemp); cat > $f; printf \"version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %s\\n\" "
       "$(sha256sum < $f | cut -d\" \" -f1) $(wc -c < $f); rm $f'")
CONVERSIONS = {
    "autocrlf": ("", {"core.autocrlf": "true"}),
    "autocrlf input": ("", {"core.autocrlf": "input"}),
    "eol crlf": ("*.py text eol=crlf\n", {}),
    "eol lf against autocrlf": ("*.py text eol=lf\n", {"core.autocrlf": "true"}),
    "eol setting": ("*.py text\n", {"core.eol": "crlf"}),
    "ident": ("*.py ident\n", {}),
    "utf-16": ("*.py text working-tree-encoding=UTF-16\n", {}),
    "utf-16 with crlf": ("*.py text working-tree-encoding=UTF-16LE-BOM eol=crlf\n", {}),
    "lfs": ("*.py filter=lfs -text\n", {"filter.lfs.clean": LFS, "filter.lfs.smudge": "sh -c 'cat > /dev/null; cat ../big'"}),
    "a filter": ("*.py filter=same\n", {"filter.same.clean": "cat", "filter.same.smudge": "cat"}),
}


def converted(s, attributes, settings):
    """In a fresh clone, and after each file was touched, no file counts as changed."""
    for key, value in settings.items():
        s.git("config", key, value)
    text = "# $Id$\ndef total(items):\n    return sum(items)\n"
    wide = "working-tree-encoding" in attributes
    lab.write(os.path.dirname(s.folder), "big", text)
    s.write(".gitattributes", attributes)
    s.write("pay.py", text.encode("utf-16") if wide else text)
    s.git("add", "-A")
    s.commit("Attributes")
    clone = lab.Repository(s.folder + "-converted")
    given = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
    lab.run(["git", "clone", "-q", *given, "file://" + s.folder, clone.folder], os.path.dirname(s.folder))
    assert clone.out("status", "--porcelain") == ""
    for moment in ("fresh", "touched"):
        told = json.loads(clone.intent("check", "--json").stdout)
        assert told["summary"]["files"] == told["summary"]["errors"] == 0, (moment, told)
        status = json.loads(clone.intent("status", "--json").stdout)
        assert status["errors"] == 0, (moment, status)
        for path in clone.out("ls-files").split("\n"):
            os.utime(clone.path(path), (1_700_000_000, 1_700_000_000))


for _name, _conversion in CONVERSIONS.items():
    STORIES["converted by " + _name] = lambda s, of=_conversion: converted(s, *of)


@story
def copied_work_tree(s):
    s.edit("s1", "a.rs", "one")
    shutil.copytree(s.folder, s.folder + "-copy", symlinks=True)
    copy = s.like(s.folder + "-copy")
    copy.commit("In the copy", "-a")
    copy.edit("s2", "a.rs", "two")
    copy.commit("In the copy", "-a")
    s.git("checkout", "-q", "--", "a.rs")
    s.git("pull", "-q", "--ff-only", copy.folder, "main")


@story
def copied_work_tree_both_commit(s):
    s.edit("s1", "a.rs", "one")
    shutil.copytree(s.folder, s.folder + "-copy", symlinks=True)
    copy = s.like(s.folder + "-copy")
    copy.edit("s2", "b.rs", "four")
    copy.commit("In the copy", "-a")
    s.commit("Here", "-a")
    s.git("pull", "-q", "--no-rebase", "--no-edit", copy.folder, "main")


@story
def gc_prune(s):
    s.edit("s1", "a.rs", "one")
    s.git("gc", "-q", "--prune=now")
    s.commit("Work", "-a")
    s.edit("s2", "a.rs", "one")
    s.commit("Work", "-a", "--amend")
    s.git("reflog", "expire", "--expire=now", "--all")
    s.git("gc", "-q", "--prune=now")


@story
def gc_after_a_squash(s):
    branched(s)
    s.git("rebase", "-q", "-i", "main", environment={"GIT_SEQUENCE_EDITOR": "sed -i '2,3s/^pick/squash/'"})
    s.git("reflog", "expire", "--expire=now", "--all")
    s.git("gc", "-q", "--prune=now")


@story
def clone_and_pull(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    other = s.like(s.folder + "-clone")
    lab.run(["git", "clone", "-q", s.folder, other.folder], s.folder)
    other.intent("git-hooks", "--install")
    other.edit("s2", "a.rs", "one")
    other.commit("There", "-a")
    s.git("pull", "-q", "--ff-only", other.folder, "main")


@story
def pull_rebase(s):
    other = s.like(s.folder + "-clone")
    lab.run(["git", "clone", "-q", s.folder, other.folder], s.folder)
    other.intent("git-hooks", "--install")
    other.edit("s2", "b.rs", "four")
    other.commit("There", "-a")
    s.edit("s1", "a.rs", "one")
    s.commit("Here", "-a")
    s.git("pull", "-q", "--rebase", other.folder, "main")


@story
def shallow_clone(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.edit("p", "b.rs", "four")
    s.commit("Mine", "-a")
    other = s.like(s.folder + "-shallow")
    lab.run(["git", "clone", "-q", "--depth", "1", "file://" + s.folder, other.folder], s.folder)
    other.intent("git-hooks", "--install")
    other.edit("s2", "a.rs", "one")
    other.commit("There", "-a")
    s.at = other.folder


@story
def submodule(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    above = s.like(s.folder + "-above")
    os.makedirs(above.folder)
    above.git("init", "-q", "-b", "main")
    above.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", s.folder, "below")
    above.intent("init")
    above.git("add", "-A")
    above.commit("Begin")
    below = s.like(above.path("below"))
    below.intent("git-hooks", "--install")
    below.edit("s2", "a.rs", "two")
    below.commit("Below", "-a")
    above.commit("Above", "-a")
    s.git("pull", "-q", "--ff-only", below.folder, "main")


@story
def sparse_checkout(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.git("sparse-checkout", "set", ".orchestration", "src")
    s.edit("s2", "src/c.rs", "six")
    s.commit("Sparse", "-a")
    s.git("sparse-checkout", "disable")


@story
def sparse_checkout_without_evidence(s):
    """The patterns leave out the evidence of other commits."""
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.git("sparse-checkout", "set", "--no-cone", "/*", "!/.orchestration/agent_trace/")
    s.edit("s2", "src/c.rs", "six")
    s.edit("s2", "a.rs", "one")
    s.commit("Sparse", "-a")
    s.git("sparse-checkout", "disable")


@story
def mv(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.git("mv", "a.rs", "src/moved.rs")
    s.commit("Moved")


@story
def mv_with_an_edit(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.git("mv", "a.rs", "src/moved.rs")
    s.edit("s2", "src/moved.rs", "two")
    s.commit("Moved", "-a")


@story
def mv_with_open_work(s):
    s.edit("s1", "a.rs", "one")
    s.git("mv", "a.rs", "moved.rs")
    s.commit("Moved", "-a")


@story
def rm(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.git("rm", "-q", "a.rs")
    s.recorded("s2", "a.rs")
    s.commit("Gone")


@story
def rm_and_back(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.git("rm", "-q", "a.rs")
    s.commit("Gone")
    s.git("checkout", "-q", "HEAD~1", "--", "a.rs")
    s.commit("Back")


@story
def history_rewritten(s):
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    s.edit("s2", "b.rs", "four")
    s.commit("More", "-a")
    s.git("filter-branch", "-f", "--msg-filter", "sed 's/^/x /'", "HEAD", environment={"FILTER_BRANCH_SQUELCH_WARNING": "1"})


@story
def sealed_by_hand(s):
    s.edit("s1", "a.rs", "one")
    s.git("add", "a.rs")
    s.intent("seal")
    s.edit("s2", "a.rs", "two")
    s.git("add", "a.rs")
    s.intent("seal")
    s.commit("Work", "-n")


@story
def a_long_day(s):
    """Many steps, one after the other."""
    s.edit("s1", "a.rs", "one")
    s.commit("Work", "-a")
    branched(s)
    s.git("rebase", "-q", "main")
    s.edit("s2", "b.rs", "five")
    s.git("stash", "-q")
    s.git("switch", "-q", "main")
    s.git("merge", "-q", "--no-ff", "-m", "Merge", "topic")
    s.git("stash", "pop", "-q")
    s.commit("Work", "-a", "-n")
    s.edit("p", "b.rs", "five")
    s.commit("Mine", "-a")
    s.git("revert", "--no-edit", "HEAD")
    s.git("reset", "-q", "--soft", "HEAD~3")
    s.commit("In one")


# --- what must hold ------------------------------------------------------------------------------------------------

def named(answer):
    """Returns the intent of each line of a file."""
    lines = {}
    for block in answer["blocks"]:
        for run in block["lines"]["runs"]:
            for n in range(run["start"], run["end"] + 1):
                lines[n] = run.get("from", {}).get("intent")
    return lines


def attribution(repository, where):
    """Yields the lines that name the wrong intent, or none although one wrote them."""
    for path in repository.out("ls-files", "*.rs").split("\n"):
        if not path or not os.path.exists(repository.path(path)):
            continue
        text = repository.git("show", f"HEAD:{path}").stdout
        if not TOKEN.search(text):
            continue
        lines = named(repository.why(path))
        for number, line in enumerate(text.splitlines(), 1):
            token = TOKEN.search(line)
            by = lines.get(number)
            if token and by != INTENT[token[1]]:
                yield f"{where}: {path}:{number} {token[0]} names {lines.get(number)}, should {INTENT[token[1]]}"


def hash_of(lines):
    text = "".join(line.rstrip() + "\n" for line in lines)
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:4]).decode().rstrip("=")


def runs(files):
    """Yields each run of lines that evidence names: its file, the intent, the path, the number of lines, and their hash."""
    for name, data in files.items():
        section = {}
        for line in data.splitlines():
            value = json.loads(line)
            section = value if "evidence" in value else section
            for run in value["lines"].split(",") if "lines" in value and "takes" not in value else []:
                span, hashed = run.split(":")
                first, last = (span.split("-") * 2)[:2]
                yield name, section["intents"][value.get("intent", 0)]["id"], value["path"], int(last) - int(first) + 1, hashed


def twice(files):
    """Yields the lines that evidence names more than once."""
    seen = {}
    for name, _, path, count, hashed in runs(files):
        if seen.setdefault((path, count, hashed), name) != name:
            yield f"twice: {count} lines of {path} in {os.path.basename(name)}"


def claimed(s):
    """Yields the lines that evidence claims for an intent although somebody else wrote them, if they are still there."""
    texts = {path: s.git("show", f"HEAD:{path}").stdout.splitlines() for path in s.out("ls-files", "*.rs").split("\n") if path}
    for _, intent, path, count, hashed in runs(s.evidence()):
        text = texts.get(path, [])
        for at in range(len(text) - count + 1):
            if hash_of(text[at:at + count]) != hashed:
                continue
            for token in filter(None, map(TOKEN.search, text[at:at + count])):
                if INTENT[token[1]] != intent:
                    yield f"evidence: {path}: {token[0]} is claimed for {intent}"


def check(s):
    s.intent("seal")
    s.commit("Seal", "--allow-empty")
    dirty = [line for line in s.out("status", "--porcelain").split("\n") if "agent_trace" in line]
    yield from (f"status: {line}" for line in dirty)
    yield from (f"verify: {one['code']}: {one['message'][:120]}" for one in s.verify() if one["code"].startswith("ledger-"))
    yield from (f"verify.py: {place}: {what}" for place, what in verify.verify(s.folder) if not verify.is_note(what))
    yield from twice(s.evidence())
    yield from claimed(s)
    yield from attribution(s, "here")
    clone = lab.Repository(s.folder + "-fresh")
    lab.run(["git", "clone", "-q", "file://" + s.folder, clone.folder], os.path.dirname(s.folder))
    yield from attribution(clone, "clone")
    yield from (f"clone: verify: {one['code']}" for one in clone.verify() if one["code"].startswith("ledger-"))


def tell(name, folder, fast=False):
    global FAST
    FAST = fast
    started = time.monotonic()
    try:
        s = Story.begin(folder)
        STORIES[name](s)
        if s.at != s.folder:
            s.folder = s.at
        wrong = list(check(s))
    except lab.Failed as error:
        wrong = [f"a command failed: {error}"]
    except Exception:  # a harness that breaks is a failure of the story, told in full
        wrong = [traceback.format_exc()]
    return name, wrong, time.monotonic() - started


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--short", action="store_true", help="without variants of other stories")
    options.add_argument("--strict", action="store_true", help="fail also where a story is known to fail")
    options.add_argument("--only", nargs="+", help="names, or parts of them")
    options.add_argument("--jobs", type=int, default=3 * (os.cpu_count() or 2))
    options.add_argument("--keep", help="leave the repositories in this folder")
    options.add_argument("--fast", action="store_true", help="do not wait: several records and commits fall into one second")
    options.add_argument("--times", type=int, default=1)
    options = options.parse_args()
    unknown = (set(KNOWN) | LONG) - set(STORIES)
    if unknown:
        sys.exit(f"no such stories: {sorted(unknown)}")
    names = [name for name in STORIES if not (options.short and name in LONG)]
    names = [name for name in names if not options.only or any(part in name for part in options.only)]
    rows, failed, known = [("operation", "ok", "what is wrong")], 0, 0
    with lab.Scratch() as scratch, concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        top = os.path.abspath(options.keep or scratch)
        tasks = [(name, os.path.join(top, f"{name.replace(' ', '-')}-{n}"), options.fast) for n in range(options.times) for name in names]
        for name, wrong, seconds in pool.map(tell, *zip(*tasks)):
            is_known = name in KNOWN and not options.strict
            known += bool(wrong) and is_known
            failed += bool(wrong) and not is_known
            rows.append((name, ("known" if is_known else "no") if wrong else "yes", "; ".join(wrong[:4]) + (f" … {len(wrong)} in all" if len(wrong) > 4 else "")))
    lab.table(rows)
    print(f"\n{len(rows) - 1} stories, {failed} failed, {known} more are known to fail")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

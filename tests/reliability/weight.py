#!/usr/bin/env python3
"""Measures the size of evidence. The last commits of a clone are made again, each recorded by a session and
committed with our hooks, and beside them the same history without the program.

    weight.py GIT_DIR [--commits N] [--end REV] [--intents N] [--keep FOLDER]
    weight.py                                                                   only a new file of 50,000 lines

Commits are those of the first parent; authors, dates and messages are kept. Symbolic links, submodules and blobs that a
partial clone does not hold are left out. Each commit is the work of a new session, under one intent of N in turn.
Changed lines are added plus deleted ones, without looking for renames. Packed sizes are those after `git gc
--aggressive` in a fresh clone, on one thread, so that they are the same each time.

If a hook runs out of time, the rest is sealed by `intent seal` in a commit of its own, so on a busy machine the evidence
is a little larger. To check that the evidence is complete, the harness counts how many of the added lines are in a block
that the evidence names.

Exit 0: at least 95 % of them are, and `intent verify` finds nothing. The goals are only printed.
"""
import argparse, collections, json, os, re, statistics, sys, uuid

import lab

TRACE = ".orchestration/agent_trace/"
TOOL = (".orchestration", ".intentignore")
NAMES = ("Faster start", "Completion for every shell", "Fewer allocations in the parser", "Errors that say what to do",
         "Release notes from commits", "Drop the old configuration format", "Test on Windows", "Clear help texts")
AGENT = ("--agent", "claude-code", "--model", "example/model-1")


class Source:
    """The clone whose history is replayed. Nothing is written to it."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)

    def git(self, *arguments, **more):
        return lab.run(["git", "--git-dir", self.folder, *arguments], "/", environment={"GIT_NO_LAZY_FETCH": "1"}, text=False, **more).stdout

    def commits(self, end, count):
        """Returns the commits; the others begin from the oldest one."""
        return self.git("rev-list", "--first-parent", f"--max-count={count + 1}", end).decode().split()[::-1]

    def tree(self, commit):
        """Returns the files of a commit: mode and blob by path."""
        files = {}
        for row in self.git("ls-tree", "-rz", commit).split(b"\0")[:-1]:
            about, path = row.split(b"\t", 1)
            mode, _, blob = about.decode().split()
            path = os.fsdecode(path)
            if mode in ("100644", "100755") and not path.startswith(TOOL):
                files[path] = mode, blob
        return files

    def texts(self, blobs):
        """Returns the bytes of blobs, or None for a blob that the clone does not have."""
        blobs, texts, at = sorted(set(blobs)), {}, 0
        data = self.git("cat-file", "--batch", input="".join(blob + "\n" for blob in blobs).encode())
        for blob in blobs:
            end = data.index(b"\n", at)
            head, at = data[at:end].split(), end + 1
            texts[blob] = None
            if head[1] == b"blob":
                texts[blob] = data[at:at + int(head[2])]
                at += int(head[2]) + 1
        return texts

    def told(self, commit):
        """Returns the author and the date of a commit for git's environment, and its message. The commit date is the
        current time, because evidence is not sealed late for a commit that is older than its records."""
        told = self.git("show", "-s", "--format=%an%x00%ae%x00%ad%x00%B", "--date=raw", commit)
        *who, message = told[:-1].decode(errors="replace").split("\0")
        return dict(zip(("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"), who)), message


class Replay(lab.Repository):
    """The history with the program on `main`, and without it on `plain`."""

    def __init__(self, folder, source, commits, intents):
        super().__init__(folder)
        os.makedirs(folder)
        self.source, self.files, self.plain, self.left, self.made = source, {}, None, 0, []
        self.git("init", "-q", "-b", "main")
        self.git("config", "core.autocrlf", "false")
        self.write(".git/info/attributes", "* -text -filter -ident\n")
        self.apply(commits[0])
        self.commit(commits[0])
        self.intent("init")
        for at in range(intents):
            self.intent("new", NAMES[at % len(NAMES)], "--scope", "**", "--start")
        for at, commit in enumerate(commits[1:]):
            if paths := self.apply(commit):
                session = f"claude-code:{uuid.uuid5(uuid.NAMESPACE_OID, commit)}"
                self.record(f"INT-{at % intents + 1:03}", session, *AGENT, "--", *paths, ok=(0, 1))
            self.commit(commit)
            if self.opened() > self.left:  # the hook had no time for them
                self.seal()
            if at % 50 == 49:
                print(f"{at + 1} of {len(commits) - 1} commits", file=sys.stderr, flush=True)
        self.seal()

    def seal(self):
        """Seals late, into a commit of its own. It skips our hook, which would start again and run out of time
        again."""
        self.intent("seal")
        if self.git("diff", "--cached", "--quiet", ok=(0, 1)).returncode:
            self.git("commit", "-q", "-n", "-m", "Evidence")
        self.left = self.opened()

    def opened(self):
        """Returns the number of records that are in no commit."""
        return json.loads(self.intent("status", "--json").stdout)["open_records"]

    def apply(self, commit):
        """Puts the files of a commit into the work tree. Returns the paths that changed."""
        files = self.source.tree(commit)
        changed = [path for path in files if files[path] != self.files.get(path)]
        texts = self.source.texts(files[path][1] for path in changed)
        gone = [path for path in self.files if path not in files]
        for path in gone + changed:
            if os.path.lexists(self.path(path)):
                os.unlink(self.path(path))
            folder = os.path.dirname(self.path(path))
            while folder != self.folder and os.path.isdir(folder) and not os.listdir(folder):
                os.rmdir(folder)
                folder = os.path.dirname(folder)
        changed = [path for path in changed if texts[files[path][1]] is not None]
        for path in changed:
            mode, blob = files[path]
            self.write(path, texts[blob])
            os.chmod(self.path(path), int(mode[-3:], 8))
        gone = [path for path in gone if self.git("ls-files", "--", f":(literal){path}").stdout]
        self.files = files
        return gone + changed

    def commit(self, commit):
        """Commits the work tree with our hooks, and only its code on `plain`."""
        who, message = self.source.told(commit)
        self.git("add", "-A", "-f", "--", ".", ":!.orchestration")  # what the project ignores is history, too
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "-F", "-", environment=who, input=message)
        self.made.append(self.out("rev-parse", "HEAD"))
        index = {"GIT_INDEX_FILE": self.path(".git", "plain-index")}
        self.git("read-tree", "HEAD", environment=index)
        self.git("rm", "-r", "-q", "--cached", "--ignore-unmatch", "--", *TOOL, environment=index)
        tree = self.git("write-tree", environment=index).stdout.strip()
        parent = ["-p", self.plain] if self.plain else []
        self.plain = self.git("commit-tree", *parent, tree, environment=who, input=message).stdout.strip()
        self.git("update-ref", "refs/heads/plain", self.plain)


class Packed(lab.Repository):
    """A bare clone of one branch, with everything in one tight pack."""

    def __init__(self, folder, of, branch):
        super().__init__(folder)
        lab.run(["git", "clone", "-q", "--bare", "--no-local", "--single-branch", "-b", branch, of.folder, folder], "/")
        self.git("-c", "pack.threads=1", "gc", "-q", "--aggressive", "--prune=now")
        packs = self.path("objects", "pack")
        self.size = sum(os.path.getsize(os.path.join(packs, name)) for name in os.listdir(packs) if name.endswith(".pack"))
        listed = self.out("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objectsize:disk)")
        self.disk = {name: int(size) for name, size in map(str.split, listed.splitlines())}

    def brought(self, made=None):
        """Returns for each commit, oldest first, the new objects with their paths. Objects of commits that are not
        in `made` count for the commit before them."""
        seen, steps = set(), []
        log = self.out("log", "--reverse", "--first-parent", "--root", "--raw", "-r", "-t", "--no-abbrev", "--no-renames", "--format=%H %T")
        for row in filter(None, log.splitlines()):
            if row[0] != ":":
                commit, tree = row.split()
                if made is None or commit in made:
                    steps.append(([], {}))
                steps[-1][0].append(commit)
                name, path = tree, ""
            else:
                about, path = row.split("\t", 1)
                name = about.split()[3]
            if name not in seen and name in self.disk:
                seen.add(name)
                steps[-1][1][name] = path
        return steps

    def shown(self, commits):
        """Returns the number of bytes that `git show` prints, and how many of them belong to the ledger."""
        data = self.git("show", *commits, text=False).stdout
        files = data.split(b"\ndiff --git ")
        return len(data), sum(len(file) + 12 for file in files[1:] if file.startswith(b"a/.orchestration/"))

    def covered(self, commit, lines):
        """Returns how many lines with a word a commit added, and how many of them are in a block that the evidence
        in `lines` names, or directly above one, where its comment is."""
        spans, added, found, path, at = {}, 0, 0, None, 0
        for line in lines:
            spans.setdefault(line["path"], []).append((1, line["whole"]["lines"])) if "whole" in line else None
            for block in line.get("blocks", []):
                first, _, last = block[2].partition("-")
                spans.setdefault(line["path"], []).append((int(first) - 8, int(last or first)))
        diff = self.git("-c", "core.quotePath=false", "diff", "-U0", "-M", f"{commit}^", commit, "--", ".", *(f":!{name}" for name in TOOL), text=False)
        for row in diff.stdout.decode(errors="replace").split("\n"):
            if row.startswith("+++ "):
                path = row[6:].rstrip("\t")
            elif row.startswith("@@ "):
                at = int(re.match(r"@@ \S+ \+(\d+)", row)[1])
            elif row.startswith("+"):
                if re.search(r"\w{3}", row):
                    added += 1
                    found += any(first <= at <= last for first, last in spans.get(path, []))
                at += 1
        return added, found


def fit(points):
    """Fits a fixed cost and a cost for each item, by least squares."""
    counts, sizes = zip(*points)
    mean, middle = statistics.mean(counts), statistics.mean(sizes)
    spread = sum((count - mean) ** 2 for count in counts)
    slope = sum((count - mean) * (size - middle) for count, size in points) / spread if spread else 0
    return middle - slope * mean, slope


def weigh(folder, options):
    source = Source(options.git_dir)
    commits = source.commits(options.end, options.commits)
    replay = Replay(os.path.join(folder, "work"), source, commits, options.intents)
    opened = replay.opened()
    findings = [finding for finding in replay.verify() if finding["level"] != "info"]
    ours = Packed(os.path.join(folder, "with.git"), replay, "main")
    plain = Packed(os.path.join(folder, "without.git"), replay, "plain")

    stat = replay.out("log", "--numstat", "--no-renames", "--format=", "plain", f"^{replay.out('rev-list', '--max-parents=0', 'plain')}")
    lines = sum(int(count) for row in stat.splitlines() for count in row.split("\t")[:2] if count.isdigit())
    roots = [sum(plain.disk[name] for name, path in new.items() if not path) for _, new in plain.brought()]
    raw, packed, trees, blocks, late, growth, shares, shown, said = 0, 0, 0, 0, 0, [], [], [], collections.defaultdict(list)
    for at, (made, new) in enumerate(ours.brought(set(replay.made))[1:], 1):
        evidence = [name for name, path in new.items() if path.startswith(TRACE) and path.endswith(".jsonl")]
        if not evidence:
            continue
        count = 0
        for name in evidence:
            data = ours.git("cat-file", "blob", name, text=False).stdout
            raw += len(data)
            rows = [json.loads(row) for row in data.splitlines()]
            late += sum("of" in row for row in rows)
            for row in rows:
                about = row.get("of", made[0]) if "evidence" in row else about
                said[about].append(row)
            count += sum(len(row.get("blocks", [])) or "whole" in row for row in rows)
        blobs = sum(ours.disk[name] for name in evidence)
        folders = sum(ours.disk[name] for name, path in new.items() if not path or path + "/" in TRACE or path.startswith(TRACE)) - blobs - roots[at]
        packed, trees, blocks = packed + blobs, trees + folders, blocks + count
        growth.append((count, blobs + folders))
        shown.append(ours.shown(made))
        shares.append(shown[-1][1] / shown[-1][0])
    each, more = fit(growth)
    middle = sorted(shown, key=lambda one: one[0] - one[1])[len(shown) // 2]
    covered = [ours.covered(commit, [row for row in said[commit] if "path" in row]) for commit in replay.made[2:]]
    added, found = map(sum, zip(*covered))
    name = os.path.basename(os.path.dirname(source.folder)) or source.folder
    lab.table([
        (name, "measured", "goal"),
        ("commits, with evidence / sections sealed late", f"{len(commits) - 1}, {len(growth)} / {late}", ""),
        ("blocks / changed lines", f"{blocks:,} / {lines:,}", ""),
        ("raw bytes a changed line", f"{raw / lines:.1f}", "18 (cobra)"),
        ("packed bytes a changed line", f"{packed / lines:.1f}", "7 (cobra)"),
        ("growth of the pack a changed line", f"{(ours.size - plain.size) / lines:.1f}", ""),
        ("pack with / without, share", f"{ours.size:,} / {plain.size:,}, {1 - plain.size / ours.size:.1%}", "33 % (cobra)"),
        ("packed bytes a commit + a block, fitted", f"{each:.0f} + {more:.1f}", "550 + 50"),
        ("of what 550 a commit and 50 a block allow", f"{sum(size for _, size in growth) / (550 * len(growth) + 50 * blocks):.0%}", "100 %"),
        ("of it blobs / trees a commit", f"{packed / len(growth):.0f} / {trees / len(growth):.0f}", ""),
        ("git show, ledger: median share", f"{statistics.median(shares):.0%}", "35 %"),
        ("git show, ledger: commit of median code", f"{middle[1]:,} of {middle[0]:,}, {middle[1] / middle[0]:.0%}", "35 %"),
        ("git show, ledger: share of all", f"{sum(one[1] for one in shown) / sum(one[0] for one in shown):.0%}", ""),
        ("added lines that stand in a block of the evidence", f"{found / added:.1%}", "95 %"),
        ("records in no commit / findings of verify", f"{opened} / {len(findings)}", "0 / 0"),
    ])
    return not findings and found >= 0.95 * added


def large(folder):
    """Writes new files of 50,000 lines, of several kinds."""
    kinds = {
        "functions.py": "\n".join(f"def name_{n}(one, two):\n    value = one * {n}\n    value += two\n    return value\n" for n in range(10_000)),
        "one.rs": "fn main() {\n" + "".join(f"    call({n});\n" for n in range(49_998)) + "}\n",
        "table.json": "{\n" + ",\n".join(f'  "key_{n}": "{n * n}"' for n in range(49_998)) + "\n}\n",
        "notes.md": "".join(f"# Part {n}\n\nSome words {n}.\nAnd more.\n\n" for n in range(10_000)),
        "words.txt": "".join(f"word {n}\n" for n in range(50_000)),
        "schema.sql": "".join(f"CREATE TABLE t{n} (\n  id INT,\n  name TEXT\n);\n\n" for n in range(10_000)),
    }
    rows, sound = [("a new file of 50,000 lines", "evidence, bytes", "goal")], True
    for name, text in kinds.items():
        repository = lab.Repository.new(os.path.join(folder, name), ("Large",))
        before = set(repository.evidence())
        repository.write(name, text)
        recorded = repository.record("INT-001", "claude-code:" + str(uuid.UUID(int=7)), *AGENT, name, ok=(0, 1))
        repository.git("add", "-A")
        repository.git("commit", "-q", "-m", "Large")
        if set(repository.evidence()) == before:
            repository.intent("seal")
        new = [data for path, data in repository.evidence().items() if path not in before]
        sound &= bool(new)
        said = f"{sum(map(len, new)):,}" if new else "none: " + " ".join(recorded.stdout.split())[:70]
        rows.append((f"{name}, {len(text.splitlines()):,} lines", said, "2,048"))
    lab.table(rows)
    return sound


def main():
    options = argparse.ArgumentParser()
    options.add_argument("git_dir", nargs="?")
    options.add_argument("--commits", type=int, default=300)
    options.add_argument("--end", default="HEAD")
    options.add_argument("--intents", type=int, default=4)
    options.add_argument("--keep", metavar="FOLDER", help="a new folder for the scratch repositories, which stays")
    options = options.parse_args()
    with lab.Scratch() as folder:
        if options.keep:
            folder = os.path.abspath(options.keep)
            os.makedirs(folder)
        return 0 if (weigh(folder, options) if options.git_dir else large(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())

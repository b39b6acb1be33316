#!/usr/bin/env python3
"""Tampers with the evidence of a repository, and counts who notices.

    tamper.py [--short] [--times N] [--seed S] [--jobs J]

Each kind of tampering is done in the work tree, and committed on a branch; then `intent verify` is asked, and of the
branch `intent check --base main`. EXPECTED says who must notice; raise a row there when more is found. A sound
repository must be noticed by nobody.
"""
import argparse, base64, collections, concurrent.futures, hashlib, json, os, random, shutil, sys, traceback

import lab

# kind: (verify in the work tree, verify of what is committed, check of what is committed). True: must be found, False:
# must not be found, None: not asked yet. `check` gets `ledger-rewritten` and `evidence-unfounded`.
EXPECTED = {
    "nothing": (False, False, False),
    "a bit flipped": (True, True, None),
    "a bit flipped, and a right name": (None, None, None),
    "a line deleted": (True, True, None),
    "a line deleted, and a right name": (None, None, None),
    "another intent, and a right name": (None, None, None),
    "a suffix that claims a person's line": (None, None, None),
    "a suffix, and the old name": (True, True, None),
    "a file dropped": (None, None, None),
    "a file emptied": (True, True, None),
    "a file of a later format": (True, True, None),
    "a file replaced by a link": (None, None, None),
    "an invented file about a person's block": (None, None, None),
    "an invented file about a block that is not there": (None, None, None),
    "an invented file about another commit": (None, None, None),
    "a copy in another month": (None, None, None),
    "a name that is no digest": (True, True, None),
}


def line(who, n):
    return f'    call("{who}-{n}");\n'


def make(folder):
    """A history with evidence: sessions and a person in turn; then a branch."""
    repository = lab.Repository.new(folder, files={f"{name}.rs": body("p", name) for name in "abc"})
    for n, (who, intent, name) in enumerate([("s1", "INT-001", "a"), ("s2", "INT-002", "b"), ("p", None, "c"), ("s1", "INT-001", "c"), ("s2", "INT-002", "a")]):
        text = repository.read(f"{name}.rs")
        repository.write(f"{name}.rs", text + f"\nfn new{n}() {{\n" + line(who, f"{n}a") + line(who, f"{n}b") + "}\n")
        if intent:
            repository.record(intent, who, f"{name}.rs")
        repository.git("commit", "-q", "-a", "-m", f"Work {n}")
    repository.git("switch", "-q", "-c", "topic")
    repository.write("b.rs", repository.read("b.rs") + "\nfn topic() {\n" + line("s1", "topic") + "}\n")
    repository.record("INT-001", "s1", "b.rs")
    repository.git("commit", "-q", "-a", "-m", "Topic")
    return repository


def body(who, name):
    return f"fn {name}() {{\n" + line(who, f"{name}1") + line(who, f"{name}2") + "}\n"


def hash_of(text):
    return "s:" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:16]).decode().rstrip("=")


def put(repository, path, data, right=True):
    """Writes evidence under its right name in the folder of `path`, or under that name; takes `path` away."""
    if os.path.lexists(repository.path(path)):
        os.remove(repository.path(path))
    name = hashlib.sha256(data).hexdigest()[:32] + ".jsonl" if right else os.path.basename(path)
    repository.write(f"{os.path.dirname(path)}/{name}", data)


def section(repository, lines, of=None):
    header = {"evidence": 2} | ({"of": of} if of else {}) | {"intents": [{"id": "INT-002", "name": "Two"}], "sessions": [{"id": "s9", "type": "AI"}]}
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in [header, *lines])


def claim(path, name, text, lines="1-4"):
    return {"intent": 0, "by": 0, "time": "2026-11-23T10:00:00Z", "path": path, "strength": "observed",
            "blocks": [["function", name, lines, hash_of(text), None, {"parameters": "()"}]]}


def tamper(kind, rng, repository):
    files = {path: data for path, data in repository.evidence().items() if b'"blocks"' in data}
    path = rng.choice(sorted(files))
    data = files[path]
    right = "right name" in kind
    person = body("p", "b")[:-1]
    if kind.startswith("a bit flipped"):
        flipped = bytearray(data)
        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
        put(repository, path, bytes(flipped), right)
    elif kind.startswith("a line deleted"):
        lines = data.split(b"\n")[:-1]
        del lines[rng.randrange(len(lines)) if not right else -1]
        put(repository, path, b"".join(one + b"\n" for one in lines), right)
    elif kind.startswith("another intent"):
        put(repository, path, data.replace(b"INT-001", b"INT-00x").replace(b"INT-002", b"INT-001").replace(b"INT-00x", b"INT-002"))
    elif kind.startswith("a suffix"):
        put(repository, path, data + section(repository, [claim("b.rs", "b", person)]), "old name" not in kind)
    elif kind == "a file dropped":
        os.remove(repository.path(path))
    elif kind == "a file emptied":
        put(repository, path, b"", rng.random() < 0.5)
    elif kind == "a file of a later format":
        put(repository, path, data.replace(b'{"evidence":2', b'{"evidence":3'))
    elif kind == "a file replaced by a link":
        repository.write("elsewhere.jsonl", data)
        os.remove(repository.path(path))
        os.symlink("../../../elsewhere.jsonl", repository.path(path))
    elif kind == "an invented file about a person's block":
        put(repository, os.path.dirname(path) + "/x", section(repository, [claim("b.rs", "b", person)]))
    elif kind == "an invented file about a block that is not there":
        put(repository, os.path.dirname(path) + "/x", section(repository, [claim("b.rs", "gone", "fn gone() {}")]))
    elif kind == "an invented file about another commit":
        first = repository.out("rev-list", "--max-parents=0", "HEAD")
        put(repository, os.path.dirname(path) + "/x", section(repository, [claim("b.rs", "b", person)], first))
    elif kind == "a copy in another month":
        repository.write(f".orchestration/agent_trace/2026-01/{os.path.basename(path)}", data)
    elif kind == "a name that is no digest":
        os.rename(repository.path(path), repository.path(os.path.dirname(path), "notes.jsonl"))


def codes(ran):
    answer = json.loads(ran.stdout)
    found = answer.get("findings", [])
    return sorted({one["code"] for one in found if one["code"].startswith(("ledger-", "evidence-"))})


def work(task):
    template, folder, kind, seed = task
    rng, results = random.Random(f"{kind}/{seed}"), []
    try:
        shutil.copytree(template, folder, symlinks=True)
        repository = lab.Repository(folder)
        tamper(kind, rng, repository)
        results.append(codes(repository.intent("verify", "--json", ok=(0, 1))))
        repository.git("add", "-A")
        repository.git("commit", "-q", "-n", "--allow-empty", "-m", "Tampered")
        results.append(codes(repository.intent("verify", "--json", ok=(0, 1))))
        results.append(codes(repository.intent("check", "--base", "main", "--json", ok=(0, 1))))
        error = None
    except Exception:
        error = traceback.format_exc()
    shutil.rmtree(folder, ignore_errors=True)
    return kind, seed, results, error


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--short", action="store_true")
    options.add_argument("--times", type=int)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = options.parse_args()
    times = options.times or (3 if options.short else 60)
    hits, seen, wrong = collections.Counter(), collections.defaultdict(set), []
    asked = ("verify, work tree", "verify, committed", "check, committed")
    with lab.Scratch() as top, concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        template = make(os.path.join(top, "template")).folder
        tasks = [(template, os.path.join(top, f"{at}-{n}"), kind, options.seed * 1000 + n) for at, kind in enumerate(EXPECTED) for n in range(times)]
        for kind, seed, results, error in pool.map(work, tasks):
            if error:
                wrong.append(f"{kind}, seed {seed}: {error}")
                continue
            for at, found in enumerate(results):
                hits[kind, at] += bool(found)
                seen[kind, at] |= set(found)
                expected = EXPECTED[kind][at]
                if expected is not None and bool(found) != expected:
                    wrong.append(f"{kind}, seed {seed}: {asked[at]} found {found}, expected {'a finding' if expected else 'none'}")
    rows = [("tampering", *asked)]
    for kind in EXPECTED:
        cells = []
        for at in range(3):
            mark = "" if EXPECTED[kind][at] is not None else " (not asked yet)" if not hits[kind, at] else ""
            cells.append(f"{hits[kind, at]}/{times}{mark} {' '.join(sorted(seen[kind, at]))}".strip())
        rows.append((kind, *cells))
    lab.table(rows)
    for one in wrong[:15]:
        print(one)
    print(f"\n{len(EXPECTED)} kinds, {times} times each, {len(wrong)} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

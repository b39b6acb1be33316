#!/usr/bin/env python3
"""Tampers with the evidence of a repository, and counts which checks notice it.

    tamper.py [--short] [--times N] [--seed S] [--jobs J]

Each kind of tampering is done in the work tree, and then committed on a branch. `intent verify` checks both, and
`intent check --base main` checks the branch. EXPECTED says which of them must notice it; if more is found, change the
row there. In an intact repository nothing may be found. ANCHORED says the same for a repository in which a trusted
person has anchored all evidence: `intent verify` must notice any missing evidence there, also in a fresh clone.
"""
import argparse, base64, collections, concurrent.futures, hashlib, json, os, random, shutil, sys, traceback

import lab

# For each kind: what `verify` finds in the work tree, what `verify` finds in the commit, and what `check` finds in the
# commit. True: it must be found. False: it must not be found. None: not required yet. `check` must report
# `ledger-rewritten` or `evidence-unfounded`.
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

# The same in a repository in which a trusted person has anchored all evidence, and tampering with signed files.
ANCHORED = EXPECTED | {
    "a bit flipped, and a right name": (True, True, None),
    "a line deleted, and a right name": (True, True, None),
    "another intent, and a right name": (True, True, None),
    "a file dropped": (True, True, None),
    "a file replaced by a link": (True, True, None),
    "the anchors dropped": (None, None, True),
    "an anchor dropped that another builds on": (True, True, True),
    "an anchor changed": (True, True, True),
    "an anchor changed, and a right name": (True, True, None),
    "an anchor of a stranger": (False, False, False),
    "a line erased by somebody trusted": (False, False, False),
    "a line erased by a stranger": (True, True, True),
    "a line erased by nobody": (True, True, True),
    "a line erased by somebody trusted, and more changed": (None, None, True),
}


def line(who, n):
    return f'    call("{who}-{n}");\n'


def make(folder, keys=None):
    """A history with evidence, by sessions and a person in turn, and then a branch. If there are keys of a trusted
    person and of a stranger, all evidence is anchored."""
    repository = lab.Repository.new(folder, files={f"{name}.rs": body("p", name) for name in "abc"})
    for n, (who, intent, name) in enumerate([("s1", "INT-001", "a"), ("s2", "INT-002", "b"), ("p", None, "c"), ("s1", "INT-001", "c"), ("s2", "INT-002", "a")]):
        text = repository.read(f"{name}.rs")
        repository.write(f"{name}.rs", text + f"\nfn new{n}() {{\n" + line(who, f"{n}a") + line(who, f"{n}b") + "}\n")
        if intent:
            repository.record(intent, who, f"{name}.rs")
        repository.git("commit", "-q", "-a", "-m", f"Work {n}")
    if keys:
        repository.write(".orchestration/allowed_signers", "ada " + lab.read(keys, "ada.pub"))
        repository.git("add", "-A")
        repository.git("commit", "-q", "-m", "Signers")
        anchor(repository, keys)
    repository.git("switch", "-q", "-c", "topic")
    repository.write("b.rs", repository.read("b.rs") + "\nfn topic() {\n" + line("s1", "topic") + "}\n")
    repository.record("INT-001", "s1", "b.rs")
    repository.git("commit", "-q", "-a", "-m", "Topic")
    if keys:
        # Only evidence on main may be erased by those whom main trusts, so the branch gets an anchor, too.
        anchor(repository, keys)
    return repository


def anchor(repository, keys):
    repository.intent("anchor", "--key", os.path.join(keys, "ada"))
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "Anchor")


def anchors(repository):
    """Returns the anchors by path; an anchor comes before those that build on it."""
    folder = ".orchestration/anchors"
    found = {f"{folder}/{name}": repository.read(f"{folder}/{name}", "rb") for name in os.listdir(repository.path(folder))}
    return dict(sorted(found.items(), key=lambda one: b'"after"' in one[1]))


def erase(repository, path, data, rng, key, also=False):
    """Does what `intent erase` does after it has asked at a terminal. `also` changes another byte of the section."""
    lines = data.split(b"\n")[:-1]
    at = rng.randrange(1, len(lines))
    stone = {"erased": hashlib.sha256(lines[at]).hexdigest()[:32], "section": hashlib.sha256(data).hexdigest()[:32],
             "by": "Ada", "time": "2026-11-23T10:00:00Z", "why": "names a customer"}
    lines[at] = json.dumps(stone, separators=(",", ":")).encode()
    if key:
        lines[at] = lines[at][:-1] + b',"signature":"' + sign("intent-erasure", lines[at], key) + b'"}'
    if also:
        lines[0] = lines[0][:-1] + b',"more":1}'
    put(repository, path, b"".join(one + b"\n" for one in lines))


def sign(namespace, data, key):
    ran = lab.run(["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", key], None, text=False, input=data)
    return b"".join(one for one in ran.stdout.split(b"\n") if not one.startswith(b"--"))


def body(who, name):
    return f"fn {name}() {{\n" + line(who, f"{name}1") + line(who, f"{name}2") + "}\n"


def hash_of(text):
    return "s:" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:16]).decode().rstrip("=")


def hash_of_lines(text):
    lines = "".join(line.rstrip() + "\n" for line in text.splitlines())
    return base64.urlsafe_b64encode(hashlib.sha256(lines.encode()).digest()[:4]).decode().rstrip("=")


def put(repository, path, data, right=True):
    """Writes evidence into the folder of `path` under the right name, or else under the old one, and removes `path`."""
    if os.path.lexists(repository.path(path)):
        os.remove(repository.path(path))
    name = hashlib.sha256(data).hexdigest()[:32] + ".jsonl" if right else os.path.basename(path)
    repository.write(f"{os.path.dirname(path)}/{name}", data)


def section(repository, lines, of=None):
    header = {"evidence": 3} | ({"of": of} if of else {}) | {"intents": [{"id": "INT-002", "name": "Two"}], "sessions": [{"id": "s9", "type": "AI"}]}
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in [header, *lines])


def claim(path, name, text, lines="1-4"):
    return {"intent": 0, "by": 0, "time": "2026-11-23T10:00:00Z", "path": path, "strength": "observed",
            "lines": f"{lines}:{hash_of_lines(text)}", "blocks": [["function", name, lines, hash_of(text)]]}


def tamper_signed(kind, rng, repository, keys):
    found = anchors(repository)
    path = rng.choice(list(found))
    if kind == "the anchors dropped":
        shutil.rmtree(repository.path(".orchestration/anchors"))
    elif kind == "an anchor dropped that another builds on":
        os.remove(repository.path(list(found)[0]))
    elif kind.startswith("an anchor changed"):
        data = found[path].replace(b'"time":"2', b'"time":"3')
        os.remove(repository.path(path))
        name = hashlib.sha256(data).hexdigest()[:32] + ".json" if "right name" in kind else os.path.basename(path)
        repository.write(f".orchestration/anchors/{name}", data)
    elif kind == "an anchor of a stranger":
        line = json.dumps({"anchor": 1, "commit": "0" * 40, "time": "2026-11-23T10:00:00Z", "evidence": [rng.randbytes(16).hex()]}).encode()
        line = line[:-1] + b',"signature":"' + sign("intent-anchor", line, os.path.join(keys, "eve")) + b'"}\n'
        repository.write(f".orchestration/anchors/{hashlib.sha256(line).hexdigest()[:32]}.json", line)
    elif kind.startswith("a line erased"):
        tracked = set(repository.out("ls-tree", "-r", "--name-only", "main").split("\n"))
        files = {path: data for path, data in repository.evidence().items() if b'"blocks"' in data and path in tracked}
        path = rng.choice(sorted(files))
        name = "ada" if "trusted" in kind else "eve" if "stranger" in kind else None
        erase(repository, path, files[path], rng, name and os.path.join(keys, name), "more changed" in kind)
    else:
        return False
    return True


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
        put(repository, path, data.replace(b'{"evidence":3', b'{"evidence":4'))
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
        put(repository, f".orchestration/agent_trace/late/{first}/x", section(repository, [claim("b.rs", "b", person)], first))
    elif kind == "a copy in another month":
        repository.write(f".orchestration/agent_trace/2026-01/{os.path.basename(path)}", data)
    elif kind == "a name that is no digest":
        os.rename(repository.path(path), repository.path(os.path.dirname(path), "notes.jsonl"))


def codes(ran):
    answer = json.loads(ran.stdout)
    found = answer.get("findings", [])
    return sorted({one["code"] for one in found if one["code"].startswith(("ledger-", "evidence-", "anchor-"))})


def work(task):
    template, folder, kind, keys, seed = task
    rng, results = random.Random(f"{kind}/{bool(keys)}/{seed}"), []
    try:
        shutil.copytree(template, folder, symlinks=True)
        repository = lab.Repository(folder)
        if not keys or not tamper_signed(kind, rng, repository, keys):
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
    return bool(keys), kind, seed, results, error


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
        keys = os.path.join(top, "keys")
        os.makedirs(keys)
        for name in ("ada", "eve"):
            lab.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", os.path.join(keys, name)], top)
        tasks = []
        for is_anchored, table in ((False, EXPECTED), (True, ANCHORED)):
            template = make(os.path.join(top, f"template-{is_anchored}"), keys if is_anchored else None).folder
            tasks += [(template, os.path.join(top, f"{is_anchored}-{at}-{n}"), kind, keys if is_anchored else None, options.seed * 1000 + n)
                      for at, kind in enumerate(table) for n in range(times)]
        for is_anchored, kind, seed, results, error in pool.map(work, tasks):
            if error:
                wrong.append(f"{kind}, seed {seed}: {error}")
                continue
            for at, found in enumerate(results):
                hits[is_anchored, kind, at] += bool(found)
                seen[is_anchored, kind, at] |= set(found)
                expected = (ANCHORED if is_anchored else EXPECTED)[kind][at]
                if expected is not None and bool(found) != expected:
                    wrong.append(f"{kind}, {'with an anchor, ' if is_anchored else ''}seed {seed}: {asked[at]} found {found}, expected {'a finding' if expected else 'none'}")
    for is_anchored, table in ((False, EXPECTED), (True, ANCHORED)):
        rows = [("tampering, with an anchor" if is_anchored else "tampering", *asked)]
        for kind in table:
            cells = []
            for at in range(3):
                count = hits[is_anchored, kind, at]
                mark = "" if table[kind][at] is not None or count else " (not asked yet)"
                cells.append(f"{count}/{times}{mark} {' '.join(sorted(seen[is_anchored, kind, at]))}".strip())
            rows.append((kind, *cells))
        lab.table(rows)
        print()
    for one in wrong[:15]:
        print(one)
    print(f"\n{len(EXPECTED) + len(ANCHORED)} kinds, {times} times each, {len(wrong)} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares two verifiers. The harness makes intact and damaged ledgers from seeds, and judges them with verify.py
and with `intent verify`.

    agree.py [--short] [--sound N] [--damaged N] [--seed S] [--jobs J] [--keep FOLDER]

Exit 0: they agree about each ledger, and both are right about each ledger that is known to be intact or damaged.
"""
import argparse, base64, collections, concurrent.futures, hashlib, json, os, random, shutil, subprocess, sys

import lab, verify

TRACE = ".orchestration/agent_trace"
REGISTRY = """active_intents:
  - id: INT-001
    name: One
    status: IN_PROGRESS
    owned_scope: ["**"]
    constraints: []
    acceptance_criteria: []
"""


def dump(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


# --- intact ledgers ------------------------------------------------------------------------------------------------

def short_hash(rng):
    return "s:" + base64.urlsafe_b64encode(rng.randbytes(16)).decode().rstrip("=")


def a_block(rng):
    first = rng.randint(1, 400)
    last = first + rng.choice([0, 0, 3, rng.randint(1, 60)])
    block = [rng.choice(["function", "method", "region", "key", "file"]), rng.choice(["f", "A.b", "größe", "a \"b\"", ""]),
             str(first) if first == last else f"{first}-{last}", short_hash(rng)]
    return block + (["deleted"] if rng.random() < 0.2 else [])


def some_runs(rng):
    runs, last = [], 0
    for _ in range(rng.randint(1, 4)):
        first = last + rng.randint(1, 30)
        last = first + rng.randint(0, 7)
        hashed = base64.urlsafe_b64encode(rng.randbytes(4)).decode().rstrip("=")
        runs.append(f"{first}:{hashed}" if first == last else f"{first}-{last}:{hashed}")
    return ",".join(runs)


def a_time(rng):
    return f"2026-{rng.randint(10, 11):02}-{rng.randint(1, 28):02}T{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:07Z"


def a_section(rng):
    intents = [{"id": f"INT-{n:03}", "hash": short_hash(rng), "name": f"Intent {n}"} for n in range(1, rng.randint(2, 4))]
    sessions = [{"id": f"claude-code:{n}", "type": rng.choice(["AI", "HUMAN", "UNKNOWN", "MIXED"]), "tool": "claude-code 1.2"}
                for n in range(rng.randint(1, 3))]
    for session in sessions:
        if rng.random() < 0.5:
            session |= {"time": a_time(rng), "strength": rng.choice(verify.STRENGTHS)}
    header = {"evidence": 3}
    if rng.random() < 0.3:
        header["of"] = rng.randbytes(20).hex()
    header |= {"intents": intents, "sessions": sessions}
    if rng.random() < 0.1:
        header["novel"] = {"a": [1, 2]}
    lines = [header]
    for _ in range(rng.randint(1, 4)):
        line = {"intent": rng.randrange(len(intents)), "by": rng.randrange(len(sessions)),
                "path": rng.choice(["src/a.rs", "b.py", "docs/ü.md"]), "time": a_time(rng)}
        for key in ("intent", "by"):
            if line[key] == 0 and rng.random() < 0.5:
                del line[key]
        if "time" in sessions[line.get("by", 0)] and rng.random() < 0.5:
            del line["time"]
        else:
            line["strength"] = rng.choice(verify.STRENGTHS)
        if rng.random() < 0.1:
            line["from"] = "old.rs"
        if rng.random() < 0.1:
            line["decision"] = {"outcome": "ask", "rule": None, "approval": None}
        if rng.random() < 0.2:
            line["ack"] = True
        elif rng.random() < 0.8:
            line["lines"] = some_runs(rng)
        if rng.random() < 0.1:
            line["whole"] = {"lines": rng.randint(1, 900), "hash": short_hash(rng)}
        elif "lines" not in line or rng.random() < 0.7:
            line["blocks"] = [a_block(rng) for _ in range(rng.randint(1, 5))]
        if rng.random() < 0.1:
            line["novel"] = "what a later version adds"
        lines.append(line)
    if rng.random() < 0.2:
        lines.append({"id": f"01a209fb-c324-76f1-87c1-{rng.randbytes(6).hex()}", "timestamp": a_time(rng), "kind": "registry",
                      "intent_id": "INT-001", "note": "created"})
    return [dump(line) for line in lines]


def name_of(data):
    return hashlib.sha256(data).hexdigest()[:32]


def put(files, data, month="2026-11", name=None):
    files[f"{TRACE}/{month}/{name or name_of(data)}.jsonl"] = data


def chain(rng, writer, length):
    prev, lines = None, []
    for seq in range(length):
        value = {"id": f"01a209fb-c396-7246-a321-{rng.randbytes(6).hex()}", "timestamp": a_time(rng)[:-1] + ".164Z", "kind": "mutation",
                 "intent_id": "INT-001", "files": [{"relative_path": "src/a.rs", "conversations": [
                     {"url": "s", "contributor": {"entity_type": "AI"}, "ranges": [
                         {"start_line": 1, "end_line": 3, "content_hash": "sha256:" + rng.randbytes(32).hex(),
                          "block": {"kind": "function", "path": "ä", "language": "rust"}}]}]}],
                 "session": "s", "strength": "observed"}
        if rng.random() < 0.1:
            value["novel"] = [1, {"b": None}]
        value["writer"] = writer
        if seq:
            value |= {"seq": seq, "prev": prev}
        lines.append(seal(dump(value)[:-1]))
        prev = lines[-1][-66:-2].decode()
    return lines


def seal(stored):
    return stored + b',"h":"' + hashlib.sha256(b"intent-ledger/1\n" + stored).hexdigest().encode() + b'"}'


def sound(rng):
    """Returns the files by path."""
    files = {}
    for _ in range(rng.randint(1, 3)):
        sections = [a_section(rng) for _ in range(rng.choice([1, 1, 2, 3]))]
        folder = rng.choice(["2026-10", "2026-11", f"late/{rng.randbytes(20).hex()}"])
        put(files, b"".join(line + b"\n" for section in sections for line in section), folder)
    if rng.random() < 0.7:
        chains = [chain(rng, rng.randbytes(16).hex(), rng.randint(1, 6)) for _ in range(rng.randint(1, 3))]
        lines = []
        while any(chains):
            lines.append(rng.choice([chain for chain in chains if chain]).pop(0))
        if rng.random() < 0.2:
            lines.insert(rng.randrange(len(lines) + 1), dump({"intent_id": "INT-001", "files": [{"relative_path": "a.rs"}]}))
        files[f"{TRACE}.jsonl"] = b"".join(line + b"\n" for line in lines)
    return files


# --- damage: each function changes `files`. It returns True if the result is certainly damaged, False if it is
# certainly intact, and None if it may be either, for example because a flipped bit in a name gives another valid name.

def some(rng, files, single=None):
    paths = sorted(path for path in files if single is None or (path == f"{TRACE}.jsonl") == single)
    return rng.choice(paths) if paths else None


def rename(files, path):
    """Renames evidence to the digest of its current bytes."""
    if path != f"{TRACE}.jsonl":
        data = files.pop(path)
        put(files, data, os.path.dirname(path).removeprefix(f"{TRACE}/"))


def changed(rng, files, change, honest=0.5):
    """Changes the bytes of one file. Half of the time evidence gets the name that fits its new bytes."""
    path = some(rng, files)
    before = files[path]
    files[path] = change(before)
    is_evidence = path != f"{TRACE}.jsonl"
    if files[path] == before:
        return False
    if is_evidence and rng.random() < honest:
        rename(files, path)
        return None
    return True if is_evidence else None


def own(data):
    """Returns the indices of the lines that a verifier must check. Lines of other tools do not count."""
    return [at for at, line in enumerate(data.split(b"\n")[:-1]) if b'"writer"' in line or b'"evidence"' in data[:12]]


def flip(rng, files):
    def change(data):
        lines = data.split(b"\n")
        at = rng.choice(own(data))
        line = bytearray(lines[at])
        line[rng.randrange(len(line))] ^= 1 << rng.randrange(8)
        lines[at] = bytes(line)
        return b"\n".join(lines)
    path = some(rng, files)
    files[path] = change(files[path])
    if path != f"{TRACE}.jsonl" and rng.random() < 0.5:
        rename(files, path)
        return None
    return True


def delete_line(rng, files):
    def change(data):
        lines = data.split(b"\n")
        del lines[rng.choice(own(data))]
        return b"\n".join(lines)
    return changed(rng, files, change)


def truncate_line(rng, files):
    def change(data):
        lines = data.split(b"\n")
        at = rng.choice(own(data))
        lines[at] = lines[at][:rng.randrange(1, len(lines[at]))]
        return b"\n".join(lines)
    result = changed(rng, files, change)
    return True if result is None else result  # what is left is not JSON


def truncate_file(rng, files):
    return changed(rng, files, lambda data: data[:rng.randrange(len(data))])


def swap(rng, files):
    def change(data):
        lines = data.split(b"\n")
        places = own(data)
        a, b = rng.choice(places), rng.choice(places)
        lines[a], lines[b] = lines[b], lines[a]
        return b"\n".join(lines)
    return changed(rng, files, change)


def double(rng, files):
    def change(data):
        lines = data.split(b"\n")
        at = rng.choice(own(data))
        lines.insert(rng.choice([at, len(lines) - 1]), lines[at])
        return b"\n".join(lines)
    return changed(rng, files, change)


def rename_file(rng, files):
    path = some(rng, files, False)
    data, name = files.pop(path), path.split("/")[-1][:-6]
    other = rng.choice([rng.randbytes(16).hex(), name.upper() if name.upper() != name else name[::-1], name[:-1], name + "0", "notes"])
    put(files, data, os.path.dirname(path).removeprefix(f"{TRACE}/"), other)
    return True


def forged_suffix(rng, files):
    if rng.random() < 0.5 and f"{TRACE}.jsonl" in files:
        line = chain(rng, rng.randbytes(16).hex(), 1)[0]
        writer = json.loads(next(line for line in files[f"{TRACE}.jsonl"].split(b"\n") if b'"writer"' in line))["writer"]
        value = json.loads(line)
        del value["h"]
        value |= {"writer": writer, "seq": rng.choice([0, 1, 2, 50]), "prev": rng.randbytes(32).hex()}
        line = seal(dump(value)[:-1]) if rng.random() < 0.7 else dump(value | {"h": rng.randbytes(32).hex()})
        files[f"{TRACE}.jsonl"] += line + b"\n"
        return True
    line = rng.choice([
        dump({"intent": 9, "by": 0, "time": a_time(rng), "path": "a.rs", "strength": "observed", "blocks": [a_block(rng)]}),
        dump({"intent": 0, "by": 0, "time": a_time(rng), "path": "a.rs", "strength": "observed", "blocks": [["function", "f", "9-3", short_hash(rng)]]}),
        dump({"intent": 0, "by": 0, "time": a_time(rng), "path": "a.rs", "strength": "observed", "blocks": [["function", "f", "3", "s:short"]]}),
        dump({"intent": 0, "by": 0, "time": a_time(rng), "path": "a.rs", "strength": "observed", "blocks": [["function", "f", "3"]]}),
        dump({"intent": 0, "by": 0, "time": a_time(rng), "path": "a.rs", "strength": "observed", "blocks": [["function", "f", "3-8", short_hash(rng), "7-9/6"]]}),
        dump({"time": a_time(rng), "path": "a.rs", "ack": True, "lines": some_runs(rng)}),
        dump({"path": "a.rs", "time": a_time(rng), "lines": rng.choice(["", "7", "1-9:TebB2w", "0:TebB2w", "3-3:TebB2w", "9-7:TebB2w", "07:TebB2w",
                                                                       "2:TebB2w,2:TebB2w", "1:TebB2", "1:TebB2x", "1:TebB2w,"])}),
        dump({"intent": 0, "by": 0, "time": a_time(rng), "path": "a.rs", "strength": "observed"}),
        dump({"intent": 0, "by": 0, "time": "", "path": "a.rs", "blocks": [a_block(rng)]}),
        dump({"by": 9, "path": "a.rs", "blocks": [a_block(rng)]}),
        dump({"path": "a.rs"}),
        dump({"intent": 0, "by": 0, "time": "yesterday", "path": "a.rs", "strength": "observed", "blocks": [a_block(rng)]}),
        dump({"intent": 0, "by": 0, "time": a_time(rng), "path": "../a.rs", "strength": "observed", "blocks": [a_block(rng)]}),
        dump({"intent": 0, "by": 0, "time": a_time(rng), "path": "a.rs", "strength": "certain", "blocks": [a_block(rng)]}),
        dump({"intent": -1, "by": 0, "time": a_time(rng), "path": "a.rs", "strength": "observed", "blocks": [a_block(rng)]}),
        b'{"intent":0,"by":0,"by":0,"time":"2026-11-01T00:00:00Z","path":"a.rs","strength":"observed","blocks":[]}',
        b'{"intent":0,"by":0,"time":"2026-11-01T00:00:00Z","path":"a.rs","strength":"observed","blocks":[],"x":1,"x":2}',
        b'{"evidence":3,"intents":[{"name":"no id"}]}', b'{"evidence":3,"intents":7}', b'{"evidence":"3"}',
        b'{"evidence":3,"sessions":[{"type":"ROBOT"}]}', b'{"evidence":3', b"{}", b"[]", b"null", b"# a comment", b"", b"\xff\xfe",
        dump({"id": "x", "kind": "mutation", "timestamp": a_time(rng), "intent_id": "INT-001", "files": []}),
        b'{"hello":"world"}',
    ])
    path = some(rng, files, False)
    files[path] += line + b"\n"
    if rng.random() < 0.85:
        rename(files, path)
    return True


def own_suffix(rng, files):
    """Appends another valid section, with the right name. The format alone cannot show that."""
    path = some(rng, files, False)
    files[path] += b"".join(line + b"\n" for line in a_section(rng))
    if rng.random() < 0.7:
        rename(files, path)
        return False
    return True


def crlf(rng, files):
    result = changed(rng, files, lambda data: data.replace(b"\n", b"\r\n"))
    return True if result is None else result


def mark(rng, files):
    result = changed(rng, files, lambda data: b"\xef\xbb\xbf" + data)
    return True if result is None else result


def unknown_field(rng, files):
    path = some(rng, files, False)
    lines = files[path].split(b"\n")
    at = rng.randrange(len(lines) - 1)
    lines[at] = lines[at][:-1] + b',"later":{"since":"3"}}'
    files[path] = b"\n".join(lines)
    rename(files, path)
    return False


def later_format(rng, files):
    path = some(rng, files, False)
    files[path] = files[path].replace(b'{"evidence":3', b'{"evidence":%d' % rng.choice([4, 5, 99]), rng.choice([1, -1]))
    if rng.random() < 0.8:
        rename(files, path)
    return True


def header_lost(rng, files):
    path = some(rng, files, False)
    files[path] = files[path].split(b"\n", 1)[1]
    rename(files, path)
    return None if files and any(data.startswith(b'{"evidence":') for data in files.values()) else True


def no_last_feed(rng, files):
    """Removes the last line feed. Only a last line of another tool in `agent_trace.jsonl` may lack it."""
    result = changed(rng, files, lambda data: data[:-1])
    last = files.get(f"{TRACE}.jsonl", b"\n").split(b"\n")[-1]
    return True if result is None and (not last or b'"writer"' in last) else result


def emptied(rng, files):
    path = some(rng, files, False)
    files[path] = b""
    if rng.random() < 0.5:
        rename(files, path)
    return True


def a_tombstone(rng, files):
    """A tombstone that is not valid, or whose signature is not trusted."""
    path = some(rng, files, False)
    lines = files[path].split(b"\n")
    at = rng.choice([at for at, line in enumerate(lines[:-1]) if not line.startswith(b'{"evidence":')])
    stone = {"erased": name_of(lines[at]), "section": rng.randbytes(16).hex(), "by": "Ada", "time": a_time(rng), "why": "a name"}
    stone |= rng.choice([{}, {"signature": base64.b64encode(rng.randbytes(90)).decode()}, {"section": "short"}, {"why": ""},
                         {"time": "yesterday"}, {"erased": lines[at].decode()[:40]}])
    lines[at] = dump(stone)
    files[path] = b"\n".join(lines)
    rename(files, path)
    return True


def an_anchor(rng, files):
    """An anchor that was changed or is not signed."""
    value = {"anchor": 1, "commit": rng.randbytes(20).hex(), "time": a_time(rng), "evidence": [rng.randbytes(16).hex()],
             "signature": base64.b64encode(rng.randbytes(90)).decode()}
    data = rng.choice([dump(value) + b"\n", dump(value | {"anchor": 2}), b"", b"{}\n", dump({key: value[key] for key in list(value)[:-1]}) + b"\n"])
    files[f".orchestration/anchors/{rng.choice([name_of(data), rng.randbytes(16).hex()])}.json"] = data
    return True


DAMAGE = [a_tombstone, an_anchor, flip, flip, flip, delete_line, truncate_line, truncate_file, swap, double, rename_file, forged_suffix, forged_suffix,
          forged_suffix, own_suffix, crlf, mark, unknown_field, later_format, header_lost, no_last_feed, emptied]


def make(seed, is_damaged):
    rng = random.Random(f"{seed}/{is_damaged}")
    files = sound(rng)
    if not is_damaged:
        return files, "sound", False
    damage = rng.choice(DAMAGE)
    return files, damage.__name__, damage(rng, files)


# --- judging -------------------------------------------------------------------------------------------------------

def judge(folder, files):
    shutil.rmtree(folder, ignore_errors=True)
    lab.write(folder, ".orchestration/active_intents.yaml", REGISTRY)
    for path, data in files.items():
        lab.write(folder, path, data)
    ours = [f"{place}: {what}" for place, what in verify.verify(folder) if not verify.is_note(what)]
    ran = subprocess.run([lab.BINARY, "verify", "--json"], cwd=folder, env=lab.ENVIRONMENT, capture_output=True, text=True)
    try:
        findings = json.loads(ran.stdout)["findings"]
    except (ValueError, KeyError):
        return ours, None, f"exit {ran.returncode}: {ran.stderr[-300:]}{ran.stdout[-300:]}"
    theirs = [f"{one['code']}: {one['message']}" for one in findings
              if one["code"].startswith(("ledger-", "anchor-")) and one["code"] != "ledger-duplicate"]
    return ours, theirs, None


def work(task):
    top, seeds = task
    folder = os.path.join(top, str(os.getpid()))
    results = []
    for seed, is_damaged in seeds:
        files, what, expected = make(seed, is_damaged)
        ours, theirs, error = judge(folder, files)
        results.append((seed, is_damaged, what, expected, ours, theirs, error))
    return results


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--short", action="store_true")
    options.add_argument("--sound", type=int)
    options.add_argument("--damaged", type=int)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2))
    options.add_argument("--show", type=int, default=10, help="disagreements that are shown")
    options.add_argument("--keep", help="write the ledger of --seed (damaged) into this folder, and judge it")
    options = options.parse_args()
    if options.keep:
        files, what, expected = make(options.seed, True)
        print(what, "expected", expected, *judge(options.keep, files), sep="\n")
        return 0
    many = 150 if options.short else 10_000
    first = options.seed * 1_000_000
    seeds = [(first + n, False) for n in range(options.sound if options.sound is not None else many)]
    seeds += [(first + n, True) for n in range(options.damaged if options.damaged is not None else many)]
    rows, bad = collections.Counter(), []
    with lab.Scratch() as top, concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        tasks = [(top, seeds[at:at + 25]) for at in range(0, len(seeds), 25)]
        for results in pool.map(work, tasks):
            for result in results:
                seed, is_damaged, what, expected, ours, theirs, error = result
                agree = error is None and bool(ours) == bool(theirs)
                right = expected is None or bool(ours) == expected == bool(theirs)
                rows[what, "ledgers"] += 1
                rows[what, "agree"] += agree
                rows[what, "found"] += bool(theirs)
                if not (agree and right):
                    bad.append(result)
    kinds = sorted({kind for kind, _ in rows})
    lab.table([("ledger", "made", "agree", "damaged by `intent verify`")] +
              [(kind, rows[kind, "ledgers"], rows[kind, "agree"], rows[kind, "found"]) for kind in kinds])
    for seed, is_damaged, what, expected, ours, theirs, error in bad[:options.show]:
        print(f"\nseed {seed} {what}: expected {expected}\n  verify.py: {ours[:3]}\n  intent: {theirs and theirs[:3]} {error or ''}")
    print(f"\n{len(seeds)} ledgers, {len(bad)} on which they disagree or are wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

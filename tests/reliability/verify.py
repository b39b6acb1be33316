#!/usr/bin/env python3
"""A second verifier of the ledger, written from docs/formats.md alone.

    verify.py WORKSPACE     prints what is wrong; exit 0: intact, 1: findings

It shares no code with the program. If the two disagree, one of them differs from the document.
"""
import base64, datetime, functools, hashlib, json, os, re, subprocess, sys, tempfile, textwrap

DIGITS = re.compile(r"[0-9a-f]{64}\Z")
NAME = re.compile(r"[0-9a-f]{32}\Z")
MONTH = re.compile(r"\d{4}-\d{2}\Z")
COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?\Z")
TAIL = re.compile(rb',"h":"([0-9a-f]{64})"\}\Z')
SIGNED = re.compile(rb',"signature":"([A-Za-z0-9+/=]+)"\}\Z')
VERSION = 3
ANCHOR_VERSION = 1
STRENGTHS = ("declared", "inferred", "observed", "verified")
CARRIED = ("selection", "registry", "ack", "approval", "reassign", "test", "event")
# A complete record has at least one of these fields (diagnostics/ledger-unreadable.md: "an intent, file or event").
NAMING = ("intent_id", "files", "kind", "event")


class Bad(Exception):
    """The reason why a line cannot be read."""


def need(condition, why):
    if not condition:
        raise Bad(why)


def parse(line):
    """Reads one JSON object in UTF-8 without repeated keys."""
    def pairs(items):
        need(len({key for key, _ in items}) == len(items), "the same key twice")
        return dict(items)

    def constant(word):
        raise Bad(f"{word} is not JSON")
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=pairs, parse_constant=constant)
        # A lone surrogate is not valid text, and a number must not be too large.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise Bad(f"not JSON: {error}") from None
    need(isinstance(value, dict), "not an object")
    return value


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_time(value):
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z", value):
        return False
    try:
        return datetime.datetime.strptime(value[:19], "%Y-%m-%dT%H:%M:%S") is not None
    except ValueError:
        return False


def text(value, why):
    need(isinstance(value, str) and value != "", why)


def span(value):
    """Reads `7-12` or `7`, counted from 1 and in order."""
    match = re.fullmatch(r"([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?", value if isinstance(value, str) else "")
    need(match, f"no line span: {value!r}")
    first, last = int(match[1]), int(match[2] or match[1])
    need(first <= last, f"a span that ends before it begins: {value!r}")
    return first, last


def inside(path):
    depth = 0
    for segment in path.split("/"):
        depth += {"": 0, ".": 0, "..": -1}.get(segment, 1)
        if depth < 0:
            return False
    return depth > 0 and not path.startswith("/") and "\0" not in path


def digest(value):
    need(isinstance(value, str) and re.fullmatch(r"s:[A-Za-z0-9_-]{21}[AQgw]", value), f"no hash: {value!r}")


def runs(value):
    """Reads `7-9:TebB2w,14:b0Qz_w`: rising runs of one to eight lines, each with the hash of its text."""
    need(isinstance(value, str), "runs of lines are text")
    before = 0
    for part in value.split(","):
        match = re.fullmatch(r"([0-9-]+):[A-Za-z0-9_-]{5}[AQgw]", part)
        need(match, f"no run of lines: {part!r}")
        first, last = span(match[1])
        need("-" not in match[1] or first < last, f"a line as a range: {part!r}")
        need(before < first and last - first < 8, f"runs out of order, or too long: {value!r}")
        before = last


def block(value):
    need(isinstance(value, list) and all(isinstance(item, str) for item in value), "a block is a list of texts")
    need(len(value) == 4 or value[4:] == ["deleted"], "a block has four items, or a fifth, `deleted`")
    text(value[0], "a block without a kind")
    span(value[2])
    text(value[3], "a block without a hash")
    node, _, lead = value[3].partition("+")
    digest(node)
    need(not lead or re.fullmatch(r"[A-Za-z0-9_-]{5}[AQgw]", lead), f"no hash of a lead: {lead!r}")


def header(value):
    need(is_count(value["evidence"]), "the version is a number")
    if value["evidence"] > VERSION:
        return
    of = value.get("of", "0" * 40)
    need(isinstance(of, str) and COMMIT.match(of), f"no commit: {of!r}")
    need(isinstance(value.get("authored") or "", str), "the authorship of a commit is a text")
    for key in ("intents", "sessions"):
        need(isinstance(value.get(key, []), list), f"{key} is a list")
    for intent in value.get("intents", []):
        need(isinstance(intent, dict), "an intent is an object")
        text(intent.get("id"), "an intent without an id")
        if "hash" in intent:
            digest(intent["hash"])
    for session in value.get("sessions", []):
        need(isinstance(session, dict), "a session is an object")
        need(session.get("type") in ("HUMAN", "AI", "MIXED", "UNKNOWN"), "an unknown type of session")
        need(session.get("strength", "declared") in STRENGTHS, "no strength")


def entry(value, section):
    """Reads a line about one session, file and intent."""
    for key, of in (("intent", "intents"), ("by", "sessions")):
        at = value.get(key, 0)
        need(is_count(at) and at < len(section.get(of, [])), f"`{key}` is not in the header")
    need(is_time(value.get("time", section["sessions"][value.get("by", 0)].get("time"))), "no time")
    text(value.get("path"), "no path")
    need(inside(value["path"]), "the path leaves the workspace")
    need(value.get("strength", "declared") in STRENGTHS, "no strength")
    if value.get("decision") is not None:
        need(isinstance(value["decision"], dict), "a decision is an object")
        text(value["decision"].get("outcome"), "a decision without an outcome")
    need(isinstance(value.get("ack", False), bool), "ack is true or absent")
    need(isinstance(value.get("takes") or "", str), "takes is the id of an intent")
    need("lines" in value or value.get("blocks") or value.get("whole") is not None, "neither lines, blocks nor whole")
    if "lines" in value:
        runs(value["lines"])
        need(not value.get("ack"), "what a person accepted brings no lines")
    if value.get("whole") is not None:
        need(isinstance(value["whole"], dict) and is_count(value["whole"].get("lines")), "whole: how many lines")
        digest(value["whole"].get("hash"))
    need(isinstance(value.get("blocks", []), list), "blocks is a list")
    for each in value.get("blocks", []):
        block(each)


def tombstone(value, section):
    """Reads the line that replaces an erased line."""
    for key in ("erased", "section"):
        need(isinstance(value.get(key), str) and NAME.match(value[key]), f"`{key}` is no digest")
    need(is_time(value.get("time")), "no time")
    text(value.get("why"), "a tombstone says why")
    need(value["section"] == section.setdefault("erased from", value["section"]), "another section than the first tombstone names")


def sections(data):
    """Returns the digests that identify the sections of a file."""
    starts = [match.start() for match in re.finditer(rb'^\{"evidence":', data, re.M)] + [len(data)]
    for begin, end in zip(starts, starts[1:]):
        stone = re.search(rb'^\{"erased":.*"section":"([0-9a-f]{32})"', data[begin:end], re.M)
        yield stone[1].decode() if stone else hashlib.sha256(data[begin:end]).hexdigest()[:32]


def evidence(name, data, keys=None):
    """Yields what is wrong with one file of evidence. `keys` says whose signatures count."""
    if name != hashlib.sha256(data).hexdigest()[:32]:
        yield "forged: the name is not the digest of the bytes"
    lines = data.split(b"\n")
    if lines[-1] != b"":
        yield "torn: the last line does not end in a line feed"
    lines = lines if lines[-1] else lines[:-1]
    if not lines or not lines[0].startswith(b'{"evidence":'):
        yield "unreadable: no header first"
    section = {}
    for number, line in enumerate(lines, 1):
        try:
            if line.startswith(b'{"evidence":'):
                section = {}
            need(line[:1] == b"{" and line[-1:] == b"}", "no object from its first byte to its last")
            value = parse(line)
            if line.startswith(b'{"evidence":'):
                header(value)
                if value["evidence"] > VERSION:
                    yield f"later: line {number} is of format {value['evidence']}"
                    return
                section = value
            elif line.startswith((b'{"intent":', b'{"by":', b'{"path":')):
                entry(value, section)
            elif line.startswith(b'{"erased":'):
                tombstone(value, section)
                if not keys or keys.judge("intent-erasure", line) != "trusted":
                    yield f"rewritten: line {number}: nobody who is trusted signed that a line was erased"
            else:
                text(value.get("id"), "a record without an id")
                text(value.get("timestamp"), "a record without a timestamp")
                need(value.get("kind") in CARRIED, "no kind that evidence carries")
                claims = [one for file in value.get("files") or [] for one in file.get("conversations") or []]
                need(not any(one.get("ranges") for one in claims), "a carried record that claims code")
        except Bad as why:
            yield f"unreadable: line {number}: {why}"


class Keys:
    """The signers whose signatures count: those that the target branch lists, and those of the machine."""

    def __init__(self, workspace):
        self.workspace = workspace

    @functools.cached_property
    def listed(self):
        workspace = self.workspace
        branches = ("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "HEAD")
        at = next((branch for branch in branches if git(workspace, "rev-parse", "-q", "--verify", branch)), "HEAD")
        policy = git(workspace, "show", f"{at}:./.orchestration/policy.yaml") or b""
        named = re.search(rb"^allowed_signers:\s*[\"']?([^\s\"'#]+)", policy, re.M)
        listed = git(workspace, "show", f"{at}:./" + (named[1].decode() if named else ".orchestration/allowed_signers"))
        machine = (git(workspace, "config", "--type=path", "--get", "gpg.ssh.allowedSignersFile") or b"").decode().strip()
        path = os.path.join(workspace, machine)
        if machine and os.path.isfile(path):
            with open(path, "rb") as file:
                listed = (listed or b"") + b"\n" + file.read()
        return listed or b""

    def judge(self, namespace, line):
        """Returns `trusted`, `untrusted` or `bad`."""
        tail = SIGNED.search(line)
        if not tail:
            return "bad"
        signed = line[:tail.start()] + b"}"
        body = "\n".join(textwrap.wrap(tail[1].decode(), 70))
        with tempfile.TemporaryDirectory() as folder:
            keys, signature = os.path.join(folder, "keys"), os.path.join(folder, "signature")
            with open(keys, "wb") as file:
                file.write(self.listed)
            with open(signature, "w") as file:
                file.write(f"-----BEGIN SSH SIGNATURE-----\n{body}\n-----END SSH SIGNATURE-----\n")

            def ask(operation, *more):
                return subprocess.run(["ssh-keygen", "-Y", operation, "-s", signature, *more], input=signed, capture_output=True)
            owner = ask("find-principals", "-f", keys)
            name = owner.stdout.decode().split("\n")[0].split(",")[0]
            if owner.returncode == 0 and name and ask("verify", "-n", namespace, "-I", name, "-f", keys).returncode == 0:
                return "trusted"
            return "untrusted" if ask("check-novalidate", "-n", namespace).returncode == 0 else "bad"


def anchors(workspace, stands, keys):
    """Yields what is wrong with the anchors. `stands` contains the digests of the existing sections."""
    folder = os.path.join(workspace, ".orchestration", "anchors")
    named, given_up, stands = {}, set(), set(stands)
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if not name.endswith(".json"):
            continue
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        stands.add(name[:-5])
        try:
            need(name[:-5] == hashlib.sha256(data).hexdigest()[:32], "the name is not the digest of the bytes")
            line = data.removesuffix(b"\n")
            value = parse(line)
            need(value.get("anchor") == ANCHOR_VERSION, "no version that is known")
            for key in ("commit", "time"):
                text(value.get(key), f"no {key}")
            for key in ("evidence", "after", "gone"):
                listed = value.get(key, [] if key != "evidence" else None)
                need(isinstance(listed, list) and all(isinstance(one, str) for one in listed), f"no list of digests: {key}")
            judged = keys.judge("intent-anchor", line)
            need(judged != "bad", "it does not fit its signature")
        except Bad as why:
            yield name, f"anchor: {why}"
            continue
        if judged == "trusted":
            named |= {one: name for one in value["evidence"] + value.get("after", [])}
            given_up |= set(value.get("gone", []))
    for one in sorted(set(named) - stands - given_up):
        yield named[one], f"anchor: {one} is gone"


def is_chained(value, line):
    writer = value.get("writer")
    return (sum(key in value for key in ("writer", "seq", "prev")) >= 2
            or isinstance(writer, str) and NAME.match(writer) or TAIL.search(line))


def chained(data):
    """Yields what is wrong with agent_trace.jsonl."""
    if data.startswith(b"\xef\xbb\xbf"):
        yield "unreadable: a byte order mark"
        data = data[3:]
    lines = data.split(b"\n")
    last = lines.pop()
    try:
        is_torn = last != b"" and is_chained(parse(last), last)
    except Bad:
        is_torn = True
    if is_torn:
        yield "torn: the last line does not end in a line feed"
    seen, chains = set(), {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = parse(line)
        except Bad as why:
            yield f"unreadable: line {number}: {why}"
            continue
        if not is_chained(value, line):
            if not any(key in value for key in NAMING):
                yield f"unreadable: line {number}: names no intent, file or event"
            continue
        tail = TAIL.search(line)
        if not tail or hashlib.sha256(b"intent-ledger/1\n" + line[:-72]).hexdigest() != tail[1].decode():
            yield f"forged: line {number}: the hash is not that of its bytes"
            continue
        if line in seen:
            yield f"duplicate: line {number}"
            continue
        seen.add(line)
        chain = chains.setdefault(value.get("writer"), [])
        chain.append((value.get("seq", 0), value.get("prev"), value["h"]))
    for writer, chain in chains.items():
        if [seq for seq, _, _ in chain] != sorted(seq for seq, _, _ in chain):
            yield f"broken: writer {writer}: records do not stand in their order"
        yield from links(writer, chain)


def links(writer, chain):
    """Yields gaps, forks and wrong links in the records of one writer."""
    by_seq = {}
    for seq, prev, h in chain:
        by_seq.setdefault(seq, []).append((prev, h))
    for seq in by_seq:
        if len(by_seq[seq]) > 1:
            yield f"fork: writer {writer} has {len(by_seq[seq])} different records {seq}"
    expected, before = 0, {None}
    for seq in sorted(by_seq):
        if seq != expected:
            yield f"broken: writer {writer}: record {seq} where {expected} is due"
        elif any(prev not in before for prev, _ in by_seq[seq]):
            yield f"broken: writer {writer}: record {seq} does not follow the one before"
        expected, before = seq + 1, {h for _, h in by_seq[seq]}


def verify(workspace):
    """Returns all findings as (file, message). Byte-identical records count once; a repetition is mentioned, but is
    no error."""
    trace = os.path.join(workspace, ".orchestration", "agent_trace")
    keys, stand = Keys(workspace), set()
    def folders(below, is_one):
        inside = os.path.join(trace, below)
        names = sorted(os.listdir(inside)) if os.path.isdir(inside) else []
        return [os.path.join(below, name) for name in names if is_one.match(name) and os.path.isdir(os.path.join(inside, name))]
    for folder in folders("", MONTH) + folders("late", COMMIT):
        for name in sorted(os.listdir(os.path.join(trace, folder))):
            if not name.endswith(".jsonl"):
                continue
            with open(os.path.join(trace, folder, name), "rb") as file:
                data = file.read()
            stand.update(sections(data))
            for what in evidence(name[:-6].removeprefix("compacted-"), data, keys):
                yield f"{folder}/{name}", what
    yield from anchors(workspace, stand, keys)
    if os.path.isfile(trace + ".jsonl"):
        with open(trace + ".jsonl", "rb") as file:
            for what in chained(file.read()):
                yield "agent_trace.jsonl", what


def is_note(what):
    return what.startswith("duplicate:")


def git(workspace, *arguments):
    ran = subprocess.run(["git", "-C", workspace, *arguments], capture_output=True)
    return ran.stdout if ran.returncode == 0 else None


def blocks_of_head(workspace):
    """For each block in the evidence of HEAD: does the text at its lines have the stored hash? This is no finding,
    because a block that does not fill its lines (for example before a `;`) cannot be cut out without a parser."""
    added = git(workspace, "diff-tree", "--root", "-r", "-z", "--no-commit-id", "--diff-filter=A", "--name-only", "HEAD")
    for name in (added or b"").decode().split("\0"):
        if not re.search(r"\.orchestration/agent_trace/\d{4}-\d{2}/[0-9a-f]{32}\.jsonl\Z", name):
            continue
        for line in (git(workspace, "show", f"HEAD:{name}") or b"").splitlines():
            value = parse(line)
            for each in value.get("blocks", []):
                deleted = each[4:] == ["deleted"]
                body = None if deleted else git(workspace, "show", f"HEAD:./{value['path']}")
                if body is not None:
                    yield value["path"], each, matches(body, each)


def matches(body, each):
    first, last = span(each[2])
    whole = b"\n".join(body.replace(b"\r\n", b"\n").split(b"\n")[first - 1:last]).lstrip()
    for cut in (whole, whole.rstrip(), whole.rstrip().rstrip(b",;")):
        if "s:" + base64.urlsafe_b64encode(hashlib.sha256(cut).digest()[:16]).decode().rstrip("=") == each[3].split("+")[0]:
            return True
    return False


def main():
    workspace = sys.argv[1] if len(sys.argv) > 1 else "."
    findings = list(verify(workspace))
    for place, what in findings:
        print(f"{place}: {what}")
    findings = [what for _, what in findings if not is_note(what)]
    for path, each, same in blocks_of_head(workspace):
        print(f"HEAD {path}: {each[0]} {each[1]} {each[2]}: {'the hash matches' if same else 'not whole lines, or it differs'}")
    print("sound" if not findings else f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

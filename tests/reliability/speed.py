"""What questions cost in a ledger of very many commits.

    python3 tests/reliability/speed.py [--commits 42000] [--rounds 9] [--keep FOLDER]

Makes two repositories of Python files, one of 300 commits and one of `--commits`. Each commit changes a function in two
or three files and carries the evidence of that. Both have a file `src/hot.py` with eleven records over the whole history,
which `intent why` is asked about, in turn, so that what else the machine does hits both alike. Besides it takes the time
of the first question in a fresh clone, and holds `intent verify` against `sha256sum` of the same files. Prints medians
of seconds by the clock. Needs a release build (`INTENT_BIN`) and an idle machine.
"""
import argparse, base64, datetime, hashlib, os, random, statistics, subprocess, sys, time
import lab

FUNCTIONS = 10
FILES = (2, 2, 3, 2, 3)  # so many does a commit change, in turn: 2.4 records a commit
HOT, HOT_RECORDS = "src/hot.py", 11
BEGIN = datetime.datetime(2023, 1, 1, tzinfo=datetime.timezone.utc)
YEARS = 3
REGISTRY = "active_intents:\n" + "".join(
    f"  - id: INT-00{at}\n    name: Intent {at}\n    status: IN_PROGRESS\n    owned_scope: ['**']\n" for at in range(1, 9))


def body(path, function, version):
    name = os.path.basename(path)[:-3]
    return (f"def {name}_{function}(value):\n    limit = value * {version} + {function}\n"
            f'    return [limit, {version}, "{name}"]')


def short(data):
    return "s:" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()[:16]).decode().rstrip("=")


def line(path, functions, versions, is_new, when):
    blocks = []
    for function in functions:
        name, first = f"{os.path.basename(path)[:-3]}_{function}", function * 5 + 1
        digest = short(body(path, function, versions[function]).encode())
        blocks.append(f'["function","{name}","{first}-{first + 2}","{digest}"' + ("]" if is_new else ',"2-3/3"]'))
    return (f'{{"intent":0,"by":0,"time":"{when:%Y-%m-%dT%H:%M:%SZ}","path":"{path}","strength":"observed",'
            f'"blocks":[{",".join(blocks)}]}}\n')


def make(folder, commits):
    """A repository with a work tree; the number of its records."""
    lab.Repository.new(folder, intents=())
    # What `init` wrote is kept; everything else comes in one stream.
    top = subprocess.Popen(["git", "fast-import", "--quiet", "--force"], cwd=folder, stdin=subprocess.PIPE, env=lab.ENVIRONMENT)
    out, chance, state, records = top.stdin, random.Random(1), {}, 0
    paths = [f"src/part{at % 40}/file{at}.py" for at in range(max(20, commits // 40))]
    hot_at = {round(at * (commits - 1) / (HOT_RECORDS - 1)) for at in range(HOT_RECORDS)}

    def blob(path, data):
        out.write(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")

    for at in range(commits):
        when = BEGIN + datetime.timedelta(days=365 * YEARS) * at / commits
        seconds = int(when.timestamp())
        out.write(f"commit refs/heads/main\ncommitter Ada <ada@example.org> {seconds} +0000\ndata 6\nChange\n".encode())
        if at == 0:
            out.write(b"from refs/heads/main^0\n")
            blob(".orchestration/active_intents.yaml", REGISTRY.encode())
        header = (f'{{"evidence":2,"intents":[{{"id":"INT-00{at % 8 + 1}","hash":"{short(b"intent")}","name":"Intent {at % 8 + 1}"}}],'
                  f'"sessions":[{{"id":"claude-code:{at // 5:x}","type":"AI","model":"example/model-1","tool":"claude-code"}}]}}\n')
        changed = chance.sample(paths, FILES[at % len(FILES)])
        if at in hot_at:
            changed[0] = HOT
        evidence = header
        for path in changed:
            is_new = path not in state
            versions = state.setdefault(path, [1] * FUNCTIONS)
            functions = range(FUNCTIONS) if is_new else [chance.randrange(FUNCTIONS)]
            for function in functions:
                versions[function] += 0 if is_new else 1
            blob(path, ("\n\n\n".join(body(path, one, version) for one, version in enumerate(versions)) + "\n").encode())
            evidence += line(path, functions, versions, is_new, when)
            records += 1
        data = evidence.encode()
        blob(f".orchestration/agent_trace/{when:%Y-%m}/{hashlib.sha256(data).hexdigest()[:32]}.jsonl", data)
    out.close()
    if top.wait():
        sys.exit("git fast-import failed")
    lab.run(["git", "reset", "-q", "--hard"], folder)
    return records


def seconds(arguments, folder, ok=(0, 1)):
    started = time.monotonic()
    lab.run(arguments, folder, ok)
    return time.monotonic() - started


def median(times):
    return statistics.median(times)


def evidence_of(folder):
    top = os.path.join(folder, ".orchestration", "agent_trace")
    found = [os.path.join(at, name) for at, _, names in os.walk(top) for name in names if name.endswith(".jsonl")]
    return found, sum(map(os.path.getsize, found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commits", type=int, default=42_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--keep", metavar="FOLDER", help="make the repositories there, use those that are there, and leave them")
    given = parser.parse_args()
    with lab.Scratch() as scratch:
        top = os.path.abspath(given.keep or scratch)
        rows = [("repository", "commits", "records", "evidence", "why, first", "why, warm", "verify", "sha256sum", "verify / sha256sum")]
        folders = []
        for commits in (300, given.commits):
            folder = os.path.join(top, str(commits))
            if not os.path.isdir(folder):
                make(folder, commits)
            folders.append((commits, folder))
        question = [lab.BINARY, "why", HOT]
        first = {}
        for commits, folder in folders:
            clone = os.path.join(scratch, f"clone-{commits}")
            lab.run(["git", "clone", "-q", "--no-hardlinks", folder, clone], scratch)
            first[commits] = seconds(question, clone)
            seconds(question, folder)
        warm, verified, summed = {}, {}, {}
        for _ in range(given.rounds):
            for commits, folder in folders:
                warm.setdefault(commits, []).append(seconds(question, folder))
        for commits, folder in folders:
            files, size = evidence_of(folder)
            listed = os.path.join(scratch, "files")
            with open(listed, "w") as file:
                file.write("\0".join(files))
            for _ in range(max(3, given.rounds // 3)):
                verified.setdefault(commits, []).append(seconds([lab.BINARY, "verify"], folder))
                summed.setdefault(commits, []).append(seconds(["sh", "-c", f"xargs -0 sha256sum < {listed} > /dev/null"], folder))
            records = sum(1 for one in files for _ in open(one)) - len(files)
            rows.append((os.path.basename(folder), commits, records, f"{size / 1e6:.1f} MB", f"{first[commits]:.2f}",
                         f"{median(warm[commits]):.3f}", f"{median(verified[commits]):.2f}", f"{median(summed[commits]):.2f}",
                         f"{median(summed[commits]) / median(verified[commits]):.0%}"))
        lab.table(rows)
        print(f"why, warm: {median(warm[given.commits]) / median(warm[300]):.2f} times the small one")


if __name__ == "__main__":
    main()

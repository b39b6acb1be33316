#!/usr/bin/env python3
"""Kills processes and lets system calls fail: is an acknowledged record ever lost, and does a commit ever fail
because of our hooks?

    fault.py [--short] [--kills N] [--seed S] [--jobs J]

Workers, each with its own repository, start `intent record`, `intent seal` and `git commit` with our hooks, and end
them at a random moment (SIGKILL to the process group), or let their system calls fail: `strace -e inject`, a limit on
the size of files (RLIMIT_FSIZE), full folders (a tmpfs), read-only folders. After each:

* what `intent record` acknowledged (exit 0) is in `intent trace --json` or in evidence, and in the end the committed
  line names its intent;
* no remaining lock stops the next call, and the next call works;
* a commit with our hook does not fail if the fault affects only our program;
* after one `intent record` and one `intent seal` with a commit, `intent verify` and verify.py find nothing.
"""
import argparse, collections, concurrent.futures, json, os, random, resource, shutil, signal, subprocess, sys, time, traceback

import lab, verify

FUNCTIONS = 12
# Each of these system calls is made to fail once, the nth time that it is called.
CALLS = ["write", "fdatasync", "fsync", "openat", "rename", "link", "linkat", "mkdir", "flock", "ftruncate", "unlink"]
ERRORS = ["ENOSPC", "EIO", "EACCES", "EROFS"]


class Worker:
    def __init__(self, folder, seed):
        self.rng = random.Random(seed)
        self.repository = lab.Repository.new(folder, files={"a.rs": text_of({})})
        self.lines = {}         # which line each function has
        self.acknowledged = {}  # function: (intent, session, token) of the last acknowledged record
        self.seen = set()       # sessions that were acknowledged
        self.count = 0
        self.tally = collections.Counter()
        self.wrong = []

    def fail(self, what):
        self.wrong.append(what)

    def change(self):
        """Writes one line into one function. Returns what must be recorded."""
        self.count += 1
        which = self.rng.randrange(FUNCTIONS)
        intent = self.rng.choice(["INT-001", "INT-002"])
        token = f"{intent}-{self.count:05}"
        self.lines[which] = token
        self.repository.write("a.rs", text_of(self.lines))
        return which, intent, f"s{self.count}", token

    def start(self, arguments, prepare=None):
        return subprocess.Popen(arguments, cwd=self.repository.folder, env=lab.ENVIRONMENT, start_new_session=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=prepare)

    def killed(self, arguments, longest):
        """Runs a command and kills it at a random moment. Returns the exit code, which is negative if it was killed."""
        process = self.start(arguments)
        try:
            process.communicate(timeout=self.rng.random() * longest)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            self.unlock()
            self.tally["kills"] += 1
            self.tally[f"kills of {arguments[1] if arguments[0] == lab.BINARY else arguments[0] + ' ' + arguments[1]}"] += 1
        return process.returncode

    def record(self, run):
        which, intent, session, token = self.change()
        if run([lab.BINARY, "record", "--intent", intent, "--session", session, "a.rs"]) == 0:
            self.acknowledged[which] = (intent, session, token)
            self.seen.add(session)
            self.tally["acknowledged"] += 1

    # --- kinds of fault

    def kill_record(self):
        self.record(lambda arguments: self.killed(arguments, 0.15))

    def kill_seal(self):
        self.repository.git("add", "a.rs")
        self.killed([lab.BINARY, "seal"], 0.09)

    def kill_commit(self):
        """Kills the whole commit, with git and the hooks. Git leaves its own lock, and reports it itself."""
        self.killed(["git", "commit", "-q", "-a", "-m", "Killed"], 0.12)

    def unlock(self):
        """Removes the locks of git processes that were killed, also of the one that stages for us."""
        for lock in ("index.lock", "HEAD.lock", "refs/heads/main.lock"):
            if os.path.exists(self.repository.path(".git", lock)):
                os.remove(self.repository.path(".git", lock))
                self.tally["locks that git left"] += 1

    def kill_hook(self):
        """Kills only our program in the hook. The commit must succeed."""
        delay = self.rng.random() * 0.06
        process = self.start(["git", "commit", "-q", "-a", "--allow-empty", "-m", "The hook is killed"])
        time.sleep(delay)
        for child in below(process.pid):
            if name_of(child) == "intent":
                try:
                    os.kill(child, signal.SIGKILL)
                    self.tally["kills"] += 1
                    self.tally["kills of intent in a hook"] += 1
                except ProcessLookupError:
                    pass
        _, error = process.communicate()
        if process.returncode != 0:
            self.fail(f"a commit failed when its hook was killed: {error[-200:]}")

    def inject(self, arguments):
        call, error, nth = self.rng.choice(CALLS), self.rng.choice(ERRORS), self.rng.randint(1, 12)
        self.tally["faults"] += 1
        process = self.start(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                              f"inject={call}:error={error}:when={nth}", *arguments])
        process.communicate()
        return process.returncode

    def inject_record(self):
        self.record(self.inject)

    def inject_seal(self):
        self.repository.git("add", "a.rs")
        self.inject([lab.BINARY, "seal"])

    def limited(self, arguments):
        size = self.rng.choice([0, 1, 100, 1_000, 4_000, 20_000])
        self.tally["faults"] += 1

        def prepare():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        process = self.start(arguments, prepare)
        process.communicate()
        return process.returncode

    def limit_record(self):
        self.record(self.limited)

    def limit_seal(self):
        self.limited([lab.BINARY, "seal"])

    def read_only(self):
        """Makes our folders read-only. The commit must succeed, and no record may be acknowledged that is not
        stored."""
        if self.tally["immutable unsupported"]:
            return
        mounted = []
        for folder in (".git/intent", ".orchestration/agent_trace"):
            path = self.repository.path(folder)
            if subprocess.run(["mount", "--bind", path, path], capture_output=True).returncode:
                self.tally["immutable unsupported"] += 1
                break
            mounted.append(path)
            if subprocess.run(["mount", "-o", "remount,ro,bind", path], capture_output=True).returncode:
                self.tally["immutable unsupported"] += 1
                break
        try:
            if not self.tally["immutable unsupported"]:
                self.tally["faults"] += 1
                self.record(lambda arguments: self.start(arguments).wait())
                ran = self.repository.git("commit", "-q", "-a", "--allow-empty", "-m", "Read-only", ok=None)
                if ran.returncode:
                    self.fail(f"a commit failed in read-only folders: {ran.stderr[-200:]}")
        finally:
            for path in reversed(mounted):
                subprocess.run(["umount", path], capture_output=True)

    # --- what must hold

    def settled(self):
        """Asserts that the next calls work, all acknowledged records exist, and a commit succeeds."""
        repository = self.repository
        traced = repository.intent("trace", "--json", ok=None)
        told = {json.loads(line).get("session") for line in traced.stdout.splitlines() if line.startswith("{")}
        for data in repository.evidence().values():
            for line in data.splitlines():
                try:
                    told |= {one.get("id") for one in json.loads(line).get("sessions", [])}
                except ValueError:
                    pass
        # What was written over since, by a session that was killed before it could record it, need not be told any more.
        standing = {session for which, (_, session, token) in self.acknowledged.items() if self.lines.get(which) == token}
        lost = [session for session in standing if session not in told]
        if lost:
            self.tally["lost"] += len(lost)
            self.fail(f"acknowledged, and not to be found: {lost}")
        ran = repository.git("commit", "-q", "-a", "--allow-empty", "-m", "Whole", ok=None)
        if ran.returncode:
            self.fail(f"a commit failed: {ran.stderr[-200:]}")

    def end(self):
        """Seals everything, and asserts that each acknowledged line names its intent and that nothing is left to
        repair."""
        repository = self.repository
        which, intent, session, _ = self.change()
        ran = repository.record(intent, session, "a.rs", ok=None)
        if ran.returncode:
            self.fail(f"the record after it all failed: {ran.stderr[-200:]}{ran.stdout[-200:]}")
        repository.git("add", "-A", "a.rs")
        ran = repository.intent("seal", ok=None)
        if ran.returncode:
            self.fail(f"`intent seal` failed: {ran.stderr[-200:]}")
        ran = repository.git("commit", "-q", "-a", "--allow-empty", "-m", "End", ok=None)
        if ran.returncode:
            self.fail(f"the last commit failed: {ran.stderr[-200:]}")
        found = [f"{one['code']}: {one['message'][:100]} ({one['path']})" for one in repository.verify() if one["code"].startswith("ledger-")]
        found += [f"verify.py {place}: {what}" for place, what in verify.verify(repository.folder) if not verify.is_note(what)]
        if found:
            self.fail(f"left to mend: {found}")
        left = [line for line in repository.out("status", "--porcelain").split("\n") if "agent_trace" in line]
        if left:
            self.fail(f"evidence is untracked: {left}")
        clone = lab.Repository(repository.folder + "-clone")
        lab.run(["git", "clone", "-q", repository.folder, clone.folder], os.path.dirname(repository.folder))
        names = {"here": names_in(repository), "clone": names_in(clone)}
        for which, (intent, session, token) in self.acknowledged.items():
            for where, by_token in names.items():
                if self.lines.get(which) == token and by_token.get(token) != intent:
                    self.tally["lost"] += 1
                    self.fail(f"{where}: {token} of {session} names {by_token.get(token)}")


KINDS = [Worker.kill_record] * 5 + [Worker.kill_seal] * 3 + [Worker.kill_hook] * 3 + [Worker.kill_commit] * 2 + [
    Worker.inject_record, Worker.inject_seal, Worker.limit_record, Worker.limit_seal, Worker.read_only]


def text_of(lines):
    body = "\n".join(f'fn f{n:02}() {{\n    keep("{n}");\n    call("{lines.get(n, "nobody")}");\n    keep("end {n}");\n}}\n' for n in range(FUNCTIONS))
    return body


def names_in(repository):
    by_token = {}
    lines = repository.read("a.rs").splitlines()
    for block in repository.why("a.rs")["blocks"]:
        for run in (block.get("lines") or {}).get("runs", []):
            for line in lines[run["start"] - 1:run["end"]]:
                if "call(" in line:
                    by_token[line.split('"')[1]] = run.get("from", {}).get("intent")
    return by_token


def below(parent):
    found = []
    try:
        with open(f"/proc/{parent}/task/{parent}/children") as file:
            for child in map(int, file.read().split()):
                found += [child, *below(child)]
    except OSError:
        pass
    return found


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def work(task):
    folder, seed, wanted = task
    worker = Worker(folder, seed)
    try:
        while worker.tally["kills"] < wanted and len(worker.wrong) < 5:
            worker.rng.choice(KINDS)(worker)
            if worker.rng.random() < 0.3:
                worker.settled()
        worker.settled()
        worker.end()
    except Exception:  # whatever breaks is a failure, told in full
        worker.fail(traceback.format_exc())
    shutil.rmtree(folder, ignore_errors=True)
    return seed, worker.tally, worker.wrong


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--short", action="store_true")
    options.add_argument("--kills", type=int)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = options.parse_args()
    wanted = options.kills or (60 if options.short else 2_000)
    each = 15 if options.short else 40
    if not shutil.which("strace"):
        KINDS[:] = [kind for kind in KINDS if not kind.__name__.startswith("inject")]
        print("without strace: no system call is made to fail")
    tally, wrong = collections.Counter(), []
    with lab.Scratch() as top, concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        tasks = [(os.path.join(top, str(n)), options.seed * 100_000 + n, each) for n in range(-(-wanted // each))]
        for seed, its, what in pool.map(work, tasks):
            tally += its
            wrong += [(seed, one) for one in what]
    lab.table([("what", "times")] + sorted(tally.items()))
    for seed, one in wrong[:15]:
        print(f"seed {seed}: {one}")
    print(f"\n{tally['kills']} kills, {tally['faults']} faults, {tally['acknowledged']} acknowledged, lost = {tally['lost']}, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Shared by the harnesses: the binary, temporary repositories, and a table."""
import json, os, shutil, subprocess, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BINARY = os.path.abspath(os.environ.get("INTENT_BIN") or os.path.join(
    os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "debug", "intent"))

ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "INTENT_"))},
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org",
    "NO_COLOR": "1", "LC_ALL": "C.UTF-8",
}


class Failed(Exception):
    """A command that must succeed has failed."""


def run(arguments, folder, ok=(0,), environment=None, text=True, **more):
    ran = subprocess.run(arguments, cwd=folder, env={**ENVIRONMENT, **(environment or {})}, capture_output=True, text=text, **more)
    if ok is not None and ran.returncode not in ok:
        raise Failed(f"{' '.join(map(str, arguments))} ended with {ran.returncode}: {str(ran.stderr)[-300:]}{str(ran.stdout)[-200:]}")
    return ran


def write(folder, path, text):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb" if isinstance(text, bytes) else "w") as file:
        file.write(text)


def read(folder, path, mode="r"):
    with open(os.path.join(folder, path), mode) as file:
        return file.read()


class Repository:
    """A git repository in `folder`, with intents and our hooks."""

    def __init__(self, folder):
        self.folder = folder

    @classmethod
    def new(cls, folder, intents=("One", "Two"), files=None):
        os.makedirs(folder)
        self = cls(folder)
        self.git("init", "-q", "-b", "main")
        for path, text in (files or {}).items():
            write(folder, path, text)
        self.intent("init")
        for name in intents:
            self.intent("new", name, "--scope", "**", "--start")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Begin")
        return self

    def git(self, *arguments, ok=(0,), **more):
        return run(["git", *arguments], self.folder, ok, **more)

    def out(self, *arguments):
        return self.git(*arguments).stdout.strip()

    def intent(self, *arguments, ok=(0,), **more):
        return run([BINARY, *arguments], self.folder, ok, **more)

    def record(self, intent, session, *paths, ok=(0,)):
        return self.intent("record", "--intent", intent, "--session", session, *paths, ok=ok)

    def write(self, path, text):
        write(self.folder, path, text)

    def read(self, path, mode="r"):
        return read(self.folder, path, mode)

    def path(self, *below):
        return os.path.join(self.folder, *below)

    def evidence(self):
        """Returns the files of evidence in the work tree, by path; late evidence last."""
        found = {}
        top = self.path(".orchestration", "agent_trace")
        for folder, folders, names in os.walk(top):
            folders.sort()
            for name in sorted(name for name in names if name.endswith(".jsonl")):
                path = os.path.relpath(os.path.join(folder, name), top)
                found[f".orchestration/agent_trace/{path}"] = read(top, path, "rb")
        return found

    def verify(self):
        """Returns the findings of `intent verify`."""
        return json.loads(self.intent("verify", "--json", ok=(0, 1)).stdout)["findings"]

    def why(self, path):
        ran = self.intent("why", "--json", "--lines", path, ok=(0, 1))
        return json.loads(ran.stdout)


class Scratch:
    """A folder that is removed at the end. It is in memory if there is enough."""

    def __enter__(self):
        fast = "/dev/shm" if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 1 << 30 else None
        self.folder = tempfile.mkdtemp(prefix="reliability-", dir=fast)
        return self.folder

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)


def table(rows):
    widths = [max(len(str(row[at])) for row in rows) for at in range(len(rows[0]) - 1)]
    for row in rows:
        print("  ".join([str(cell).ljust(width) for cell, width in zip(row, widths)] + [str(row[-1])]), flush=True)

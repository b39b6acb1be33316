"""The whole story, once, with real processes: a person, an agent with its hooks, and CI. docs/story.md shows what
they print.

With STORY=write the test rewrites the page; otherwise the page must match.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import textwrap

from repository import BINARY, INVOICE, MIDDLEWARE, ROOT, Repository
from terminal import Terminal

PAGE = ROOT / "docs" / "story.md"
SESSION = "4f0c2a5e"

# The parts that differ from run to run.
MASKS = [
    (re.compile(r"\brepository-data-[0-9a-f]{16}\b"), "repository-data-<number>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<record>"),
    (re.compile(r"\bsha256:[0-9a-f]{32,64}\b"), "sha256:<hash>"),
    (re.compile(r"\b20\d\d-\d\d(-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?|-\d\d)?\b"), "<time>"),
    (re.compile(r"\b(?=\w*\d)[0-9a-f]{10,64}\b"), "<commit>"),
    (re.compile(r"\b\d+ (seconds?|minutes?) ago\b|\bjust now\b"), "just now"),
    (re.compile(r"\b\d+(\.\d+)? m?s\b"), "<duration>"),
]


class Story:
    def __init__(self, repository: Repository):
        self.repository = repository
        self.lines: list[str] = []
        self.calls = 0
        self.codes: dict[str, str] = {}

    def tell(self, text: str) -> None:
        self.lines += ["", textwrap.dedent(text).strip(), ""]

    def masked(self, text: str) -> str:
        text = text.replace(str(self.repository.path), "/shop")
        for code, name in self.codes.items():
            text = text.replace(code, name)
        for pattern, name in MASKS:
            text = pattern.sub(name, text)
        return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())

    def show(self, kind: str, text: str) -> None:
        self.lines += [f"```{kind}", self.masked(text), "```"]

    def run(self, *words: str, code: int = 0, said: bool = True) -> str:
        """Runs a command in a terminal. The exit code is part of what is shown."""
        done = subprocess.run([str(BINARY), *words], cwd=self.repository.path, env=self.repository.env,
                              capture_output=True, text=True, timeout=60)
        text = done.stdout + done.stderr
        assert done.returncode == code, f"{words}: {done.returncode}\n{text}"
        if said:
            # Double quotes keep a shell from replacing stars, too.
            shown = " ".join(f'"{word}"' if set(word) & set(" *") else word for word in words)
            ending = "" if code == 0 else f"\n[exit {code}]"
            self.show("console", f"$ intent {shown}\n{text}{ending}")
        return text

    def person(self, *words: str, types: str | None = None) -> None:
        """Runs a command at a terminal of a person."""
        terminal = Terminal([str(BINARY), *words], self.repository.path, self.repository.env)
        if types:
            terminal.read_until("to approve: ")
            terminal.type(types)
        code, text = terminal.end()
        assert code == 0, text
        self.show("console", f"$ intent {' '.join(words)}\n{text.replace('[exit 0]', '').strip()}")

    def hook(self, moment: str, tool: str, arguments: dict) -> dict:
        """Returns the answer of Claude Code's hook."""
        payload = {"session_id": SESSION, "transcript_path": "/t.jsonl", "cwd": str(self.repository.path),
                   "permission_mode": "default", "hook_event_name": moment, "tool_name": tool,
                   "tool_input": arguments, "tool_use_id": f"call_{self.calls}"}
        if moment.startswith("Post"):
            payload["tool_response"] = {"success": True}
        # A process called `claude` calls the hook. What another one calls is no hook of a host.
        host = ["claude", "-c", '"$0" hook claude-code; exit $?', str(BINARY)]
        done = subprocess.run(host, executable="/bin/bash", input=json.dumps(payload), text=True,
                              cwd=self.repository.path, env=self.repository.env, capture_output=True, timeout=60)
        assert done.returncode in (0, 2), done.stderr
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def agent(self, tool: str, arguments: dict, does=None) -> str:
        """Makes one call of the agent: the hook before it, the call itself, and the hook after it."""
        self.calls += 1
        before = self.hook("PreToolUse", tool, arguments).get("hookSpecificOutput", {})
        shown = arguments.get("command") or pathlib.Path(arguments["file_path"]).relative_to(self.repository.path)
        said = before.get("permissionDecisionReason", "")
        if before.get("permissionDecision") == "deny":
            self.show("text", f"agent: {tool} {shown}\ngate:  {said}")
            return said
        told = does() if does else ""
        after = self.hook("PostToolUse", tool, arguments).get("hookSpecificOutput", {})
        told = f"{told or ''}\n{after.get('additionalContext', '')}".strip()
        self.show("text", f"agent: {tool} {shown}" + (f"\n{told}" if told else ""))
        return told

    def edit(self, name: str, old: str, new: str) -> str:
        path = self.repository.path / name
        arguments = {"file_path": str(path), "old_string": old, "new_string": new}
        return self.agent("Edit", arguments, lambda: path.write_text(path.read_text().replace(old, new)) and "")

    def shell(self, *words: str) -> str:
        def does() -> str:
            env = {**self.repository.env, "CLAUDECODE": "1"}
            return subprocess.run([str(BINARY), *words], cwd=self.repository.path, env=env, text=True,
                                  capture_output=True, timeout=60).stdout
        return self.agent("Bash", {"command": "intent " + " ".join(f"'{w}'" if " " in w else w for w in words)}, does)


def remote(repository: Repository, tmp_path: pathlib.Path) -> None:
    """A forge that trusts Ada's key, with which git signs here."""
    key = tmp_path / "ada"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ada", "-f", str(key)], check=True)
    public = key.with_suffix(".pub").read_text()
    repository.write(".orchestration/allowed_signers", f"ada@example.org {public}")
    repository.git("config", "gpg.format", "ssh")
    repository.git("config", "user.signingKey", str(key))
    repository.git("add", "-A")
    repository.git("commit", "-qm", "Declare what we work on")
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "forge.git"))
    repository.git("remote", "add", "origin", str(tmp_path / "forge.git"))
    repository.git("fetch", "-q", "origin")
    repository.git("checkout", "-qb", "jwt")


def test_the_page_matches_the_story(bare_repository: Repository, tmp_path: pathlib.Path):
    repository = bare_repository
    story = Story(repository)
    auth, billing = "src/auth/middleware.ts", "src/billing/invoice.ts"
    for name, value in (("AUTHOR", "Ada"), ("COMMITTER", "Ada")):
        repository.env[f"GIT_{name}_NAME"] = value
    repository.git("config", "user.name", "Ada")
    repository.write("AGENTS.md", "# For agents\n")

    story.tell("""
        # The whole story

        One change from its intent to a green check: a person at a terminal, an agent behind its hook, and CI. The test
        `tests/e2e/test_story.py` plays it with real processes, and CI fails where this page says something else. Record
        ids, hashes, commits, times and the code of the approval are masked.

        ## Two intents

        The repository was set up with `intent setup init`.
    """)
    story.run("init", said=False)
    story.run("new", "JWT authentication", "--scope", "src/auth/**", "--constraint",
              "Must not use external auth providers", "--owner", "@ada", "--start")
    story.run("new", "Invoice rounding", "--scope", "src/billing/**", "--start")
    remote(repository, tmp_path)

    story.tell("""
        ## The agent declares what it works on

        Its hook sees the command, so the selection is the session's own. What it is told is the context of the intent.
    """)
    story.edit(auth, "clockTolerance: 5", "clockTolerance: 10")
    context = story.shell("select", "INT-001")
    assert "<intent_context" in context and "Must not use external auth providers" in context

    path = repository.path / auth
    story.tell("## It writes, and what it wrote is recorded")
    story.agent("Read", {"file_path": str(path)}, lambda: "")
    story.edit(auth, "clockTolerance: 5", "clockTolerance: 10")
    story.run("why", f"{auth}:9")
    story.run("trace", auth)
    story.run("map", said=False)
    story.show("markdown", repository.read(".orchestration/intent_map.md"))

    story.tell("## It may not write elsewhere")
    denied = story.edit(billing, "line.price * line.count", "Math.round(line.price * line.count)")
    assert "INT-001 is not authorized" in denied

    story.tell("""
        ## It asks, and a person approves

        Nobody can approve from inside an agent. In a terminal of her own Ada is shown what exactly she is asked. Git
        signs with her SSH key here, so what she approved is signed.
    """)
    asked = story.shell("request-scope", "--intent", "INT-001", "--add", billing, "--reason",
                        "totals are part of the token")
    code = repository.intent("approve")[0]["code"]
    assert f"intent approve {code}" in asked
    story.codes[code] = "<code>"
    story.lines = [line.replace(code, "<code>") for line in story.lines]
    story.person("approve", code, types="yes")
    story.edit(billing, "line.price * line.count", "Math.round(line.price * line.count)")

    story.tell("""
        ## Somebody else was faster

        A person changes `bearer` while the agent holds an older version of the file. Its write of the whole file would
        take that back.
    """)
    stale = repository.read(auth)
    repository.write(auth, stale.replace("scheme.toLowerCase()", "scheme.trim().toLowerCase()"))
    refused = story.agent("Write", {"file_path": str(path), "content": stale}, lambda: path.write_text(stale) and "")
    assert "Stale File" in refused
    story.person("record", auth, "--intent", "INT-001")

    story.tell("## It writes a lesson down, for whoever comes next")
    story.shell("lesson", "The clock of the test machine is ten seconds behind.")

    story.tell("""
        ## Refactoring, or something new

        A renamed variable keeps behaviour, and a rule says so. A changed condition does not.
    """)
    story.agent("Read", {"file_path": str(path)}, lambda: "")
    story.edit(auth, "const key = await this.keys.current();\n    const { payload } = await jwtVerify(token, key,",
               "const current = await this.keys.current();\n    const { payload } = await jwtVerify(token, current,")
    story.edit(auth, '=== "bearer" ?', '!== "basic" ?')
    story.run("trace", auth)

    story.tell("## The commit carries the evidence, and the check is green")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "Move authentication to JWT")
    story.run("why", f"{auth}:7")
    story.run("check", "--base", "origin/main")
    story.run("verify", said=False)

    page = "\n".join(story.lines).strip() + "\n"
    page = re.sub(r"\n{3,}", "\n\n", page)
    if os.environ.get("STORY") == "write":
        PAGE.write_text(page)
    assert PAGE.is_file() and PAGE.read_text() == page, "docs/story.md is old: STORY=write pytest tests/e2e/test_story.py"

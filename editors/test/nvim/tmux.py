"""A program in a terminal of its own, driven by keys and read from the screen: tmux, on a socket of our own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time

PATIENCE = 15.0


class Missing(AssertionError):
    """Something did not come in time."""


def family(process: int) -> list[int]:
    """A process and everything below it."""
    out = [process]
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            for child in file.read().split():
                out += family(int(child))
    except OSError:
        pass
    return out


class Terminal:
    """A terminal with one program in it. Use as a context: its tmux server ends with it."""

    def __init__(self, command: list[str], cwd: str, env: dict[str, str], scratch: str, columns: int = 110, rows: int = 30):
        self.socket = os.path.join(scratch, "tmux")
        self.env = env
        assigned = [f"{name}={value}" for name, value in env.items()]
        self._tmux("-f", "/dev/null", "new-session", "-d", "-s", "it", "-x", str(columns), "-y", str(rows), "-c", cwd,
                   "env", "-i", *assigned, "TERM=screen-256color", "COLORTERM=truecolor", *command)
        self._tmux("set-option", "-s", "escape-time", "0")

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_) -> None:
        try:
            processes = family(int(self._tmux("display-message", "-p", "-t", "it", "#{pane_pid}")))
        except (Missing, ValueError):
            processes = []
        subprocess.run([*self._command(), "kill-server"], env=self.env, capture_output=True, timeout=10, check=False)
        end = time.monotonic() + 5
        while (processes := [it for it in processes if os.path.exists(f"/proc/{it}")]) and time.monotonic() < end:
            time.sleep(0.05)
        for process in processes:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def _command(self) -> list[str]:
        return [shutil.which("tmux") or "tmux", "-S", self.socket]

    def _tmux(self, *words: str) -> str:
        done = subprocess.run([*self._command(), *words], env=self.env, capture_output=True, text=True, timeout=20, check=False)
        if done.returncode != 0:
            raise Missing(f"tmux {words[0]}: {done.stderr.strip()}")
        return done.stdout

    def keys(self, *names: str) -> None:
        """Presses keys by tmux's names: `Escape`, `Enter`, `C-w`, or a character."""
        self._tmux("send-keys", "-t", "it", *names)

    def type(self, text: str) -> None:
        """Types a text as it stands."""
        self._tmux("send-keys", "-t", "it", "-l", text)

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "it")

    def ansi(self) -> str:
        # With what is behind the spaces at the ends of lines, so that a background is drawn to the edge.
        return self._tmux("capture-pane", "-e", "-p", "-N", "-t", "it")

    def wait_for(self, *wanted: str, within: float = PATIENCE, gone: bool = False) -> str:
        """The screen, as soon as it shows all of these texts (or, with `gone`, none of them)."""
        end = time.monotonic() + within
        while True:
            screen = self.screen()
            there = [text in screen for text in wanted]
            if (not any(there)) if gone else all(there):
                return screen
            if time.monotonic() > end:
                raise Missing(f"the screen {'still shows' if gone else 'does not show'} {wanted}:\n{screen}")
            time.sleep(0.05)

    def settled(self, within: float = 3.0) -> str:
        """The screen once it has not changed for a moment."""
        end, before = time.monotonic() + within, self.screen()
        while time.monotonic() < end:
            time.sleep(0.25)
            now = self.screen()
            if now == before:
                break
            before = now
        return before


def until(question, what: str, within: float = PATIENCE):
    """The first true answer to a question that is asked again and again."""
    end = time.monotonic() + within
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() > end:
            raise Missing(f"{what} did not come; last: {answer!r}")
        time.sleep(0.05)


def part_of(screen: str, first: str, last: str) -> str:
    """The lines of a part of the screen that begins with one text and ends in the row of another, without what is left of it."""
    rows = screen.splitlines()
    top = next(index for index, row in enumerate(rows) if first in row)
    bottom = next(index for index, row in enumerate(rows) if index >= top and last in row)
    left = rows[top].index(first)
    return "\n".join(row[left:].rstrip(" │") for row in rows[top:bottom + 1] if row[left:].strip(" │"))


class Report:
    """Prints a line for each check; what fails does not keep the others from running."""

    def __init__(self):
        self.failed = 0

    def check(self, key: str, work) -> None:
        try:
            self.say("ok", key, work())
        except Exception as problem:  # noqa: BLE001 - whatever happens is a finding of this check
            self.failed += 1
            self.say("FAIL", key, f"{type(problem).__name__}: {problem}")

    def substitute(self, key: str, work) -> None:
        try:
            self.say("substitute", key, work())
        except Exception as problem:  # noqa: BLE001
            self.failed += 1
            self.say("FAIL", key, f"{type(problem).__name__}: {problem}")

    @staticmethod
    def say(state: str, key: str, detail: str | None) -> None:
        print(state, key, " ⏎ ".join((detail or "").strip().splitlines()), flush=True)


class Workspace:
    """The governed repository of the test, and the tool itself as a person or an agent would run it there."""

    def __init__(self, path: str, env: dict[str, str], program: str):
        self.path, self.env, self.program = path, env, program
        maker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workspace.sh")
        subprocess.run([maker, "--in-project", path], env=env, check=True, timeout=180, stdout=subprocess.DEVNULL)

    def intent(self, *words: str, agent: bool = False):
        """What `intent … --json` answers."""
        import json

        env = {**self.env, "CLAUDECODE": "1"} if agent else self.env
        done = subprocess.run([self.program, "--json", *words], cwd=self.path, env=env, capture_output=True, text=True,
                              timeout=30, check=False)
        assert done.returncode in (0, 1), f"intent {' '.join(words)}: {done.stdout}{done.stderr}"
        return json.loads(done.stdout)

    def git(self, *words: str) -> str:
        return subprocess.run(["git", *words], cwd=self.path, env=self.env, capture_output=True, text=True, timeout=30,
                              check=True).stdout

    def read(self, name: str) -> str:
        """A file's text; empty in the moment in which an editor puts the new one in its place."""
        try:
            with open(os.path.join(self.path, name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def write(self, name: str, text: str) -> None:
        with open(os.path.join(self.path, name), "w", encoding="utf-8") as file:
            file.write(text)

    def line_of(self, name: str, text: str) -> int:
        """The first line, from 1, that holds a text."""
        for number, line in enumerate(self.read(name).splitlines(), 1):
            if text in line:
                return number
        raise Missing(f"{name} does not hold {text!r}")

    def registry(self) -> str:
        return self.read(".orchestration/active_intents.yaml")

    def scope_of(self, intent: str) -> list[str]:
        return next(it["owned_scope"] for it in self.intent("list") if it["id"] == intent)

"""A terminal of a person. To a program in it, the process that runs the tests is not a parent."""

from __future__ import annotations

import os
import pty
import re
import select
import time

PATIENCE = 20.0


class Terminal:
    """Runs a command in a new terminal, as a child of init. A shell around the command prints its exit code.

    The shell gets the name `shell`. With the name of an agent, that agent seems to have started the command.
    """

    def __init__(self, command: list[str], cwd, env: dict[str, str], shell: str = "sh"):
        self.text = ""
        self.master, slave = pty.openpty()
        between = os.fork()
        if between == 0:
            between = os.getpid()
            if os.fork() == 0:
                self._become(command, cwd, env, shell, slave, between)
            os._exit(0)
        os.waitpid(between, 0)
        os.close(slave)

    @staticmethod
    def _become(command, cwd, env, shell, slave, between) -> None:
        try:
            while os.getppid() == between:
                time.sleep(0.002)
            os.login_tty(slave)
            os.chdir(cwd)
            script = '"$@"; echo "[exit $?]"'
            os.execve("/bin/sh", [shell, "-c", script, "sh", *command], env)
        finally:
            os._exit(97)

    def read_until(self, wanted: str) -> str:
        end = time.monotonic() + PATIENCE
        while wanted not in self.text:
            assert time.monotonic() < end and self._read(), f"{wanted!r} did not come:\n{self.text}"
        return self.text

    def _read(self) -> bool:
        ready, _, _ = select.select([self.master], [], [], 0.2)
        if not ready:
            return True
        try:
            part = os.read(self.master, 65536)
        except OSError:
            return False
        self.text += part.decode(errors="replace").replace("\r\n", "\n")
        return bool(part)

    def type(self, line: str) -> None:
        os.write(self.master, (line + "\n").encode())

    def end(self) -> tuple[int, str]:
        """Returns the exit code and everything that was printed."""
        self.read_until("[exit ")
        self.read_until("]\n")
        code = re.search(r"\[exit (\d+)\]", self.text)
        assert code, self.text
        os.close(self.master)
        return int(code[1]), self.text

"""A server spoken to byte by byte: for what no client library would send."""

from __future__ import annotations

import json
import os
import pathlib
import select
import subprocess
import time

from repository import BINARY

PATIENCE = 10.0


class Wire:
    """One server, its messages framed by hand. Requests of the server are answered with `null`."""

    def __init__(self, root: pathlib.Path, env: dict[str, str]):
        self.process = subprocess.Popen([str(BINARY), "lsp"], cwd=root, env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.root, self.bytes, self.last = root, b"", 0
        self.told: list[dict] = []

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, content: bytes, header: str | None = None) -> None:
        head = header if header is not None else f"Content-Length: {len(content)}\r\n\r\n"
        self.process.stdin.write(head.encode() + content)
        self.process.stdin.flush()

    def tell(self, method: str, params=None) -> None:
        self._message(method=method, params=params)

    def ask(self, method: str, params=None) -> int:
        """Sends a request; answers its id."""
        self.last += 1
        self._message(id=self.last, method=method, params=params)
        return self.last

    def _message(self, **fields) -> None:
        kept = {name: value for name, value in fields.items() if value is not None}
        self.send(json.dumps({"jsonrpc": "2.0", **kept}).encode())

    def initialize(self, **fields) -> dict:
        folder = {"uri": self.root.as_uri(), "name": "work"}
        answer = self.answer(self.ask("initialize", {
            "processId": os.getpid(), "rootUri": folder["uri"], "workspaceFolders": [folder], "capabilities": {},
            **fields}))
        self.tell("initialized", {})
        return answer["result"]

    def answer(self, wanted: int | None) -> dict:
        """The answer to a request; what else comes meanwhile is kept in `told`."""
        while True:
            message = self.read()
            if "method" not in message and message.get("id") == wanted:
                return message
            self.told.append(message)
            if "method" in message and "id" in message:
                self.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": None}).encode())

    def read(self) -> dict:
        head = self._until(lambda: self.bytes.find(b"\r\n\r\n") + 1)
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
        self.bytes = self.bytes[3:]
        self._until(lambda: len(self.bytes) >= length, take=False)
        content, self.bytes = self.bytes[:length], self.bytes[length:]
        return json.loads(content)

    def _until(self, there, take: bool = True) -> bytes:
        end = time.monotonic() + PATIENCE
        while not there():
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            part = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            assert part, f"nothing more came; exit code {self.process.poll()}, had {self.bytes[:200]!r}"
            self.bytes += part
        if not take:
            return b""
        at = there()
        head, self.bytes = self.bytes[:at], self.bytes[at:]
        return head

    def ended(self) -> int:
        return self.process.wait(PATIENCE)

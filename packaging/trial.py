#!/usr/bin/env python3
"""Installs each package of this machine's own target on a clean prefix and asks it one question in a fresh clone.

  packaging/trial.py OUT [--uv PROGRAM]

Nothing is taken from a registry, and there is no cargo on the PATH. Prints how long each took, from nothing to the
answer. Exits with 1 if one does not answer."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable

from targets import NAME, ROOT, SHORT, VERSION, host

WINDOWS = os.name == "nt"
ASKED = next(
    line.removeprefix("$ cargo run -- why ").strip()
    for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("$ cargo run -- why ")
)
"""The file that the README asks about. It has records."""
GOAL = 10
"""Seconds from nothing to the first answer."""


class Problem(Exception):
    """Raised if a package is not as it should be."""


def clean_path() -> str:
    """The PATH without folders that contain a Rust tool chain."""
    kept = [folder for folder in os.environ["PATH"].split(os.pathsep)
            if folder and not any(shutil.which(tool, path=folder) for tool in ("cargo", "rustc", NAME, SHORT))]
    path = os.pathsep.join(kept)
    for tool in ("git", "node", "npm"):
        if shutil.which(tool, path=path) is None:
            raise SystemExit(f"{tool} is only found where cargo is, so nothing can be tried without cargo")
    return path


class Place:
    """An empty prefix, a clone beside it, and an environment without anything of this machine's user."""

    def __init__(self, out: pathlib.Path, folder: pathlib.Path):
        self.out, self.clone, self.prefix = out, folder / "clone", folder / "prefix"
        (folder / "home").mkdir()
        self.prefix.mkdir()
        own = dict(os.environ) if WINDOWS else {"LANG": "C.UTF-8", "TMPDIR": tempfile.gettempdir()}
        self.env = {**own, "PATH": clean_path(), "HOME": str(folder / "home"), "USERPROFILE": str(folder / "home"),
                    "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "UV_OFFLINE": "1", "npm_config_offline": "true",
                    "npm_config_update_notifier": "false"}
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(self.clone)], check=True)

    def package(self, pattern: str) -> pathlib.Path:
        found = sorted(self.out.glob(pattern))
        if len(found) != 1:
            raise Problem(f"there should be one {pattern} in {self.out}, and there are {len(found)}")
        return found[0]

    def run(self, *command: str | pathlib.Path, within: pathlib.Path | None = None) -> str:
        program = shutil.which(str(command[0]), path=self.env["PATH"]) or str(command[0])
        done = subprocess.run([program, *map(str, command[1:])], cwd=within or self.prefix, env=self.env, capture_output=True,
                              text=True, encoding="utf-8", errors="replace", timeout=120)
        if done.returncode != 0:
            raise Problem(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        if done.stderr and command[-1] == ASKED:
            raise Problem(f"{command[0]} says more than the answer: {done.stderr}")
        return done.stdout

    def ask(self, *program: str | pathlib.Path) -> None:
        answer = self.run(*program, "why", ASKED, within=self.clone)
        if "INT-" not in answer or "lines recorded" not in answer:
            raise Problem(f"that is no answer: {answer[:400]}")


def programs(folder: pathlib.Path, alias: str) -> tuple[pathlib.Path, pathlib.Path]:
    return folder / host().program, folder / (alias if WINDOWS else SHORT)


# Each function installs a package and returns what to call: by the long name and by the short one.

def archive(place: Place) -> tuple[pathlib.Path, ...]:
    stem = f"{NAME}-{VERSION}-{host().triple}"
    if WINDOWS:
        with zipfile.ZipFile(place.package(f"{stem}.zip")) as packed:
            packed.extractall(place.prefix)
    else:
        place.run("tar", "xzf", place.package(f"{stem}.tar.gz"))
    return programs(place.prefix / stem, f"{SHORT}.cmd")


def xz(place: Place) -> tuple[pathlib.Path, ...]:
    stem = f"{NAME}-{VERSION}-{host().triple}"
    place.run("tar", "xJf", place.package(f"{stem}.tar.xz"))
    return programs(place.prefix / stem, "")


def wheel(place: Place) -> tuple[pathlib.Path, ...]:
    folder = place.prefix / ("Scripts" if WINDOWS else "bin")
    place.run(sys.executable, "-m", "venv", place.prefix)
    place.run(folder / "python", "-m", "pip", "install", "--quiet", "--no-deps", the_wheel(place))
    return programs(folder, f"{SHORT}.bat")


def the_wheel(place: Place) -> pathlib.Path:
    ending = host().wheel.format(glibc="*")
    return place.package(f"{NAME.replace('-', '_')}-{VERSION}-py3-none-{ending}*.whl")


def npm(place: Place, *flags: str) -> tuple[pathlib.Path, ...]:
    place.run("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", place.prefix, *flags,
              place.package(f"{NAME}-{host().node}-{VERSION}.tgz"), place.package(f"{NAME}-{VERSION}.tgz"))
    folder = place.prefix / "node_modules/.bin"
    return tuple(folder / (f"{name}.cmd" if WINDOWS else name) for name in (NAME, SHORT))


def npm_in_place(place: Place) -> tuple[pathlib.Path, ...]:
    called = npm(place)
    if not WINDOWS and called[0].read_bytes()[:2] == b"#!":
        raise Problem(f"{called[0]} is still the launcher: a hook would start node")
    return called


def npm_launcher(place: Place) -> tuple[pathlib.Path, ...]:
    called = npm(place, "--ignore-scripts")
    if not WINDOWS and called[0].read_bytes()[:2] != b"#!":
        raise Problem(f"{called[0]} is not the launcher, so that was not tried")
    return called


def deb(place: Place) -> tuple[pathlib.Path, ...]:
    package = place.package(f"{NAME}_{VERSION}_{host().deb}.deb")
    place.run("dpkg", "-x", package, place.prefix)
    for file in ("share/man/man1/intent.1.gz", "share/bash-completion/completions/intent", f"share/doc/{NAME}/copyright"):
        if not (place.prefix / "usr" / file).is_file():
            raise Problem(f"{package.name} lacks {file}")
    return programs(place.prefix / "usr/bin", "")


def extension(place: Place) -> tuple[pathlib.Path, ...]:
    with zipfile.ZipFile(place.package(f"{NAME}-vscode-{VERSION}-{host().extension}.vsix")) as packed:
        for entry in packed.infolist():
            to = pathlib.Path(packed.extract(entry, place.prefix))
            # As VS Code does it: the file gets the mode that is stored in the archive.
            if mode := entry.external_attr >> 16 & 0o777:
                to.chmod(mode)
    return (place.prefix / "extension/server" / host().program,)


def hover(program: pathlib.Path, place: Place) -> None:
    """Asks the server over stdio, as the extension does, for the hover on a recorded function."""
    server = subprocess.Popen([program, "lsp"], cwd=program.parent, env=place.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(method: str, params: dict | None, number: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {}),
                   **({"id": number} if number is not None else {})}
        text = json.dumps(message).encode()
        server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        server.stdin.flush()

    def answer(number: int) -> dict:
        while True:
            length = 0
            while line := server.stdout.readline().strip():
                length = int(line.partition(b":")[2]) if line.lower().startswith(b"content-length") else length
            if not length:
                raise Problem("the server ended before it answered")
            message = json.loads(server.stdout.read(length))
            if message.get("id") == number and "method" not in message:
                return message

    file = place.clone / ASKED
    text = file.read_text(encoding="utf-8")
    lines = text.split("\n")
    at = next(row for row, line in enumerate(lines) if line.startswith("pub fn "))
    try:
        send("initialize", {"processId": None, "rootUri": place.clone.as_uri(), "capabilities": {}}, 1)
        answer(1)
        send("initialized", {})
        send("textDocument/didOpen", {"textDocument": {"uri": file.as_uri(), "languageId": "rust", "version": 1, "text": text}})
        send("textDocument/hover", {"textDocument": {"uri": file.as_uri()}, "position": {"line": at, "character": 8}}, 2)
        told = json.dumps(answer(2))
        if "INT-" not in told:
            raise Problem(f"no hover for {lines[at]!r}: {told[:400]}")
        send("shutdown", None, 3)
        answer(3)
        send("exit", None)
        server.wait(10)
    finally:
        server.kill()


def attempt(name: str, install: Callable[[Place], tuple[pathlib.Path, ...]], out: pathlib.Path) -> bool:
    # On Windows a file in use cannot be removed at once. That is no failure.
    with tempfile.TemporaryDirectory(prefix="intent-trial-", ignore_cleanup_errors=True) as folder:
        try:
            place = Place(out, pathlib.Path(folder))
            started = time.monotonic()
            called = install(place)
            installed = time.monotonic()
            place.ask(called[0])
            answered = time.monotonic()
            for program in called:
                if place.run(program, "--version").split()[-1:] != [VERSION]:
                    raise Problem(f"{program} is not of version {VERSION}")
            if install is extension:
                hover(called[0], place)
        except (Problem, OSError, subprocess.SubprocessError) as problem:
            print(f"  {name:24} FAILED: {problem}", flush=True)
            return False
    taken = answered - started
    late = f"  over the goal of {GOAL} s" if taken > GOAL else ""
    print(f"  {name:24} {installed - started:5.1f} s {answered - installed:7.1f} s {taken:6.1f} s{late}", flush=True)
    return True


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("out", type=pathlib.Path)
    asked.add_argument("--uv", type=pathlib.Path)
    told = asked.parse_args()

    def uvx(place: Place) -> tuple[pathlib.Path, ...]:
        """Installs the tool, and also runs it once from a temporary folder, as `uvx` does."""
        uv = told.uv.resolve()
        place.env.update(UV_TOOL_DIR=str(place.prefix / "tools"), UV_TOOL_BIN_DIR=str(place.prefix / "bin"))
        place.run(uv, "tool", "install", "--quiet", "--python", sys.executable, the_wheel(place))
        place.run(uv, "tool", "run", "--quiet", "--python", sys.executable, "--from", the_wheel(place), NAME, "--version")
        return programs(place.prefix / "bin", f"{SHORT}.bat")

    trials: dict[str, Callable] = {"archive, gzip" if not WINDOWS else "archive": archive}
    if not WINDOWS:
        trials["archive, xz"] = xz
    trials["wheel, pip"] = wheel
    if told.uv:
        trials["wheel, uv and uvx"] = uvx
    trials.update({"npm": npm_in_place, "npm, no scripts": npm_launcher})
    if shutil.which("dpkg") and host().deb:
        trials["deb"] = deb
    trials["extension"] = extension
    print(f"  {'':24} install  first answer  both")
    passed = [attempt(name, install, told.out.resolve()) for name, install in trials.items()]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())

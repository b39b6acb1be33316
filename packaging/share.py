"""The files beside the program: manual pages, completions, and the licences of what is compiled into it."""

from __future__ import annotations

import functools
import gzip
import json
import lzma
import pathlib
import re
import subprocess
import tempfile

from targets import LICENSES, NAME, ROOT, SHORT, Target

COMPLETIONS = {"bash": f"{SHORT}.bash", "zsh": f"_{SHORT}", "fish": f"{SHORT}.fish", "powershell": f"{SHORT}.ps1", "elvish": f"{SHORT}.elv"}
NOTICES = "LICENSES-THIRD-PARTY.txt"

UNIX_ALIAS = f'#!/bin/sh\nhere=$(readlink -f "$0" 2> /dev/null || echo "$0")\nexec "${{here%/*}}/{NAME}" "$@"\n'.encode()
"""`intent` as a script, for packages without links: wheels hold none, which `uv tool install` links.
It starts the program beside it, even if it is called through a link."""
WINDOWS_ALIAS = f'@"%~dp0{NAME}.exe" %*\r\n'.encode()
"""The same for Windows, because a second program would double the download."""


class Effort:
    """How hard packages are compressed: as for downloads, unless --quick says that they are only tested."""

    gzip, xz = 9, 9 | lzma.PRESET_EXTREME

    @classmethod
    def spare(cls) -> None:
        cls.gzip, cls.xz = 6, 1


def said(native: pathlib.Path, *arguments: str) -> bytes:
    return subprocess.run([native, *arguments], check=True, capture_output=True).stdout


@functools.cache
def manual(native: pathlib.Path) -> dict[str, bytes]:
    """The manual pages by their names. `native` is the program for this machine."""
    with tempfile.TemporaryDirectory() as folder:
        said(native, "man", "--dir", folder)
        pages = {page.name: page.read_bytes() for page in sorted(pathlib.Path(folder).iterdir())}
    return {f"{NAME}.1": f".so man1/{SHORT}.1\n".encode(), **pages}


@functools.cache
def completions(native: pathlib.Path) -> dict[str, bytes]:
    return {shell: said(native, "completions", shell) for shell in COMPLETIONS}


@functools.cache
def notices(target: Target) -> bytes:
    """The licences of every crate that is compiled for the target, each text once."""
    told = subprocess.run(["cargo", "metadata", "--locked", "--format-version=1", "--features", "all-languages",
                           "--filter-platform", target.triple],
                          cwd=ROOT, check=True, capture_output=True).stdout
    metadata = json.loads(told)
    used = reached(metadata)
    crates, texts = [], {}
    for package in sorted(metadata["packages"], key=lambda package: (package["name"], package["version"])):
        if package["id"] not in used or package["source"] is None:
            continue
        crate = f"{package['name']} {package['version']}"
        crates.append(f"{crate}: {package['license'] or 'see its text below'}")
        folder = pathlib.Path(package["manifest_path"]).parent
        for file in sorted(folder.iterdir()):
            if file.is_file() and re.match(r"(?i)(licen[cs]e|copying|copyright|notice|unlicense)", file.name):
                text = "\n".join(line.rstrip() for line in file.read_text(errors="replace").strip().splitlines())
                texts.setdefault(text, []).append(crate)
    parts = [f"{NAME} is compiled from these packages, each under its own licence:", "\n".join(crates)]
    for text, owners in sorted(texts.items(), key=lambda entry: entry[1]):
        parts.append("=" * 80 + "\n" + "\n".join(owners) + "\n" + "-" * 80 + "\n\n" + text)
    return ("\n\n".join(parts) + "\n").encode()


def reached(metadata: dict) -> set[str]:
    """The packages that the program is linked with, without those that only tests or build scripts use."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    seen, ahead = set(), [metadata["resolve"]["root"]]
    while ahead:
        at = ahead.pop()
        if at not in seen:
            seen.add(at)
            ahead += [dependency["pkg"] for dependency in nodes[at]["deps"]
                      if any(kind["kind"] is None for kind in dependency["dep_kinds"])]
    return seen


def documents(target: Target) -> dict[str, bytes]:
    """The files that every package contains beside the program."""
    names = ("README.md", "CHANGELOG.md", *LICENSES)
    return {**{name: (ROOT / name).read_bytes() for name in names}, NOTICES: notices(target)}


def packed(data: bytes) -> bytes:
    """Compresses with gzip, to the same bytes every time."""
    return gzip.compress(data, Effort.gzip, mtime=0)

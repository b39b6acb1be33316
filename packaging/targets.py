"""The facts for packages: the project, read from its Cargo.toml, and the platforms that it is built for."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import subprocess
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text())
PACKAGE = {**MANIFEST["package"], **MANIFEST["workspace"]["package"]}
NAME: str = PACKAGE["name"]
SHORT = "intent"
VERSION: str = PACKAGE["version"]
SUMMARY: str = PACKAGE["description"]
LICENSE: str = PACKAGE["license"]
REPOSITORY: str | None = PACKAGE.get("repository")
LICENSES = ("LICENSE-MIT", "LICENSE-APACHE")
SCOPE = f"@{NAME}"
"""The npm scope of the packages for each platform. The owner of a scope owns every name in it."""


@dataclasses.dataclass(frozen=True)
class Target:
    """A platform, by its name in Rust and as each registry calls it."""

    triple: str
    wheel: str
    npm: tuple[str, str]
    deb: str | None = None
    libc: str | None = None

    @property
    def windows(self) -> bool:
        return "windows" in self.triple

    @property
    def exe(self) -> str:
        return ".exe" if self.windows else ""

    @property
    def program(self) -> str:
        return NAME + self.exe

    @property
    def node(self) -> str:
        """The name in npm's packages and VS Code's targets."""
        return "-".join(self.npm)

    @property
    def extension(self) -> str | None:
        """VS Code also has a target for Alpine, on which no package of ours is tested."""
        return None if self.libc == "musl" else self.node


TARGETS = {target.triple: target for target in (
    Target("x86_64-unknown-linux-gnu", "manylinux_2_{glibc}_x86_64", ("linux", "x64"), deb="amd64", libc="glibc"),
    Target("aarch64-unknown-linux-gnu", "manylinux_2_{glibc}_aarch64", ("linux", "arm64"), deb="arm64", libc="glibc"),
    Target("x86_64-apple-darwin", "macosx_10_12_x86_64", ("darwin", "x64")),
    Target("aarch64-apple-darwin", "macosx_11_0_arm64", ("darwin", "arm64")),
    # The first is made by the release workflow on Windows. The second is cross-compiled to be tested here.
    Target("x86_64-pc-windows-msvc", "win_amd64", ("win32", "x64")),
    Target("x86_64-pc-windows-gnu", "win_amd64", ("win32", "x64")),
)}


def target(triple: str) -> Target:
    if triple not in TARGETS:
        raise SystemExit(f"no packages are made for {triple}; there are: {' '.join(TARGETS)}")
    return TARGETS[triple]


def host() -> Target:
    """This machine's own target."""
    told = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    return target(re.search(r"^host: (.+)$", told, re.M)[1])


def glibc(binary: bytes) -> int:
    """The newest glibc `2.N` that a symbol of the program needs, and at least 17, the usual minimum of packages."""
    return max([17, *(int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)(?:\.\d+)?(?=\0)", binary))])


def written_at() -> int:
    """The time of files in packages: that of the commit, so that the same commit makes the same bytes."""
    if told := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(told)
    asked = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    # A zip cannot store a time before 1980.
    return int(asked.stdout) if asked.returncode == 0 else 315_532_800

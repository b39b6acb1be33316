"""Makes packages for npm: one with the program for each platform, and `intent-lsp`, which depends on the right one.

`intent-lsp` is the same for all platforms, so every run makes the same bytes."""

from __future__ import annotations

import io
import json
import pathlib
import tarfile

import share
from targets import LICENSE, LICENSES, NAME, PACKAGE, REPOSITORY, ROOT, SCOPE, SHORT, SUMMARY, TARGETS, VERSION, Target, written_at

PARTS = pathlib.Path(__file__).resolve().parent / "npm"


def common() -> dict:
    """What a registry shows of each. npm accepts provenance only if `repository` is the one that built it."""
    return {"version": VERSION, "license": LICENSE, **({"repository": {"type": "git", "url": f"git+{REPOSITORY}.git"}} if REPOSITORY else {})}


def make(target: Target, binary: pathlib.Path, _native: pathlib.Path, out: pathlib.Path) -> list[pathlib.Path]:
    return [platform(target, binary, out), launcher(out)]


def platform(target: Target, binary: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    system, processor = target.npm
    name = f"{SCOPE}/{target.node}"
    manifest = {"name": name, "description": f"The program of {NAME} for {target.triple}.", **common(),
                "os": [system], "cpu": [processor], **({"libc": [target.libc]} if target.libc else {}),
                "preferUnplugged": True}
    readme = f"# {name}\n\nThe program of the package `{NAME}` for {target.triple}. Install `{NAME}`; it brings this.\n"
    return packed(out, manifest, {
        target.program: binary.read_bytes(), "README.md": readme.encode(), share.NOTICES: share.notices(target),
        **{file: (ROOT / file).read_bytes() for file in LICENSES}})


def launcher(out: pathlib.Path) -> pathlib.Path:
    manifest = {"name": NAME, "description": SUMMARY, **common(), "keywords": PACKAGE["keywords"],
                "bin": {name: f"bin/{NAME}" for name in (NAME, SHORT)},
                "scripts": {"postinstall": "node install.js"}, "engines": {"node": ">=18"},
                "optionalDependencies": {f"{SCOPE}/{target.node}": VERSION for target in TARGETS.values()}}
    return packed(out, manifest, {
        f"bin/{NAME}": (PARTS / "launcher.js").read_bytes(), "install.js": (PARTS / "install.js").read_bytes(),
        "platform.js": (PARTS / "platform.js").read_bytes().replace(b"SCOPE", SCOPE.encode()),
        **{file: (ROOT / file).read_bytes() for file in ("README.md", *LICENSES)}})


def packed(out: pathlib.Path, manifest: dict, files: dict[str, bytes]) -> pathlib.Path:
    """A tarball with the content and the name that `npm pack` gives it."""
    path = out / f"{manifest['name'].lstrip('@').replace('/', '-')}-{VERSION}.tgz"
    files = {"package.json": (json.dumps(manifest, indent=2) + "\n").encode(), **files}
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mtime = len(data), written_at()
            entry.mode = 0o755 if NAME in name.rpartition("/")[2] else 0o644
            tar.addfile(entry, io.BytesIO(data))
    path.write_bytes(share.packed(written.getvalue()))
    return path

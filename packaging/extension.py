"""Makes the extension for VS Code with the server inside, for one platform."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

from targets import NAME, ROOT, VERSION, Target

SOURCE = ROOT / "editors/vscode"
WORK = ROOT / "target/packages/vscode"
KEPT = ("node_modules", "dist", "server")


def run(*command: str) -> None:
    # On Windows npm is a script, which must be called by its full name.
    subprocess.run([shutil.which(command[0]) or command[0], *command[1:]], cwd=WORK, check=True, stdout=subprocess.DEVNULL)


def prepare() -> None:
    """A copy to build in, with the packages of the lock file, so that the folder of the clone is not changed."""
    WORK.mkdir(parents=True, exist_ok=True)
    lock = (SOURCE / "package-lock.json").read_bytes()
    stamp = WORK / "node_modules/.lock-file"
    for old in WORK.iterdir():
        if old.name not in KEPT:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(SOURCE, WORK, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*KEPT, "*.vsix"))
    if not stamp.exists() or stamp.read_bytes() != lock:
        run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
        stamp.write_bytes(lock)


def make(target: Target, binary: pathlib.Path, _native: pathlib.Path, out: pathlib.Path) -> list[pathlib.Path]:
    if target.extension is None:
        return []
    prepare()
    server = WORK / "server"
    shutil.rmtree(server, ignore_errors=True)
    server.mkdir()
    shutil.copy(binary, server / target.program)
    (server / target.program).chmod(0o755)
    path = out / f"{NAME}-vscode-{VERSION}-{target.extension}.vsix"
    run("npm", "run", "package", "--", "--target", target.extension, "--out", str(path))
    return [path]

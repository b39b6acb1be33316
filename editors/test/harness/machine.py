"""What all clients share of the machine, and how a program is run on it: bounded, clean, and gone afterwards."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[3]
TEST = ROOT / "editors" / "test"
# Everything that a run writes, but for what `--write` puts into the repository.
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "editors"
VENV = TARGET / "venv"
FONT = pathlib.Path("/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf")

# Which Debian package brings what, and how its absence shows.
PACKAGES: dict[str, Callable[[], bool]] = {
    "chromium": lambda: chromium() is not None,
    "ripgrep": lambda: shutil.which("rg") is not None,
    "tmux": lambda: shutil.which("tmux") is not None,
    "fonts-dejavu-core": FONT.is_file,
}

# What a package registry needs to be reached, wherever this machine reaches it. Nothing of it says who runs us.
REGISTRY = ("npm_config_", "NPM_CONFIG_", "PIP_", "CARGO_", "RUSTUP_", "NODE_EXTRA_CA_CERTS", "SSL_CERT_",
            "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
# Of the person's home, where they have them; the home of a driven program is empty.
FILES_OF_HOME = {"NPM_CONFIG_USERCONFIG": ".npmrc", "PIP_CONFIG_FILE": ".config/pip/pip.conf",
                 "CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup", "npm_config_cache": ".npm"}


# The groups of what runs now, and the folders that it was given: what a run that is stopped has to end.
GROUPS: set[int] = set()
SCRATCH: set[pathlib.Path] = set()
# Held while a program is started; for good, once the run is stopped.
STARTING = threading.Lock()


class Problem(Exception):
    """Why a run cannot go on; a sentence for the person."""


def chromium() -> str | None:
    named = os.environ.get("CHROMIUM", "chromium")
    return shutil.which(named)


def binary() -> pathlib.Path:
    """The `intent` under test."""
    built = TARGET.parent / "debug" / "intent"
    found = pathlib.Path(os.environ.get("INTENT_BIN", built)).absolute()
    if not os.access(found, os.X_OK):
        raise Problem(f"{found} is not there: run `cargo build`, or let INTENT_BIN name a built `intent`")
    return found


def install_packages() -> None:
    """By apt, what is missing of the programs and the font that all clients share."""
    missing = [name for name, there in PACKAGES.items() if not there()]
    if not missing:
        return
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise Problem(f"these are missing, and can only be installed by root with apt: {' '.join(missing)}")
    apt = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", *missing]):
        subprocess.run([*apt, *arguments], check=True, timeout=400, env=environment, stdout=sys.stderr)
    still = [name for name in missing if not PACKAGES[name]()]
    if still:
        raise Problem(f"apt installed them, and they are still not found: {' '.join(still)}")


def install_venv() -> None:
    """What `screen` needs to read a terminal's colours; once for each list of versions."""
    wanted = (TEST / "requirements.txt").read_text()
    stamp = VENV / "installed"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    shutil.rmtree(VENV, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True, timeout=120)
    subprocess.run([str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                    "--require-hashes", "-r", str(TEST / "requirements.txt")],
                   check=True, timeout=300, stdout=sys.stderr)
    stamp.write_text(wanted)


def environment(home: pathlib.Path, programs: pathlib.Path, **named: str) -> dict[str, str]:
    """A clean one: paths, a home of its own, registries, and what is named."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(REGISTRY)}
    for name, file in FILES_OF_HOME.items():
        path = pathlib.Path.home() / file
        if path.exists():
            kept.setdefault(name, str(path))
    return {**kept, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8", **named}


def stream(command: list[str], seconds: int, log: pathlib.Path, env: dict[str, str],
           heard: Callable[[str], None]) -> int | None:
    """Runs a program in a group of its own and hands over each line of its output; `None` when its time was up.

    Its standard error goes to the log. Whatever is left of its group at the end is killed.
    """
    with STARTING, log.open("ab") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                                   env=env, cwd=ROOT, start_new_session=True, text=True, errors="replace")
        GROUPS.add(process.pid)

    def listen() -> None:
        with process.stdout as lines:
            for line in lines:
                heard(line.rstrip("\n"))

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        code = None
        # Let it end what it has started.
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            pass
    finally:
        kill_group(process.pid)
        process.wait(10)
        GROUPS.discard(process.pid)
    listener.join(10)
    return code


def kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def end_when_stopped() -> None:
    """A run that is stopped, by a person or by a limit, takes along what it has started."""

    def stop(number: int, _frame) -> None:
        STARTING.acquire(timeout=5)
        for group in list(GROUPS):
            kill_group(group)
        for folder in list(SCRATCH):
            remove_scratch(folder)
        os._exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)


def make_scratch(name: str) -> pathlib.Path:
    """An empty folder, and one beside it to be the home. Outside of this repository: below a governed folder all is governed."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-")).resolve()
    SCRATCH.add(folder)
    home_of(folder).mkdir()
    return folder


def home_of(scratch: pathlib.Path) -> pathlib.Path:
    return scratch.with_name(f"{scratch.name}.home")


def remove_scratch(folder: pathlib.Path) -> list[str]:
    """Ends what still runs in it, and removes it; answers what had to be ended."""
    ended = end_strays(folder)
    for one in (folder, home_of(folder)):
        shutil.rmtree(one, ignore_errors=True)
    SCRATCH.discard(folder)
    return ended


def end_strays(folder: pathlib.Path) -> list[str]:
    """Ends what still runs with this folder in its environment or command: daemons that have left the group."""
    ended = []
    for _ in range(20):
        strays = strays_of(str(folder).encode())
        if not strays:
            break
        for number, name in strays:
            ended.append(name)
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.1)
    return sorted(set(ended))


def strays_of(mark: bytes) -> list[tuple[int, str]]:
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        number = int(process.name)
        if number == os.getpid():
            continue
        try:
            words = (process / "cmdline").read_bytes()
            if words and (mark in words or mark in (process / "environ").read_bytes()):
                found.append((number, words.split(b"\0")[0].decode(errors="replace")))
        except OSError:
            continue
    return found

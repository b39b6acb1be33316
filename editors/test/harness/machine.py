"""The machine that all clients share, and how a program runs on it: with limits and a clean environment."""

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
# A run writes only here, except for what `--write` puts into the repository.
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "editors"
VENV = TARGET / "venv"
FONT = pathlib.Path("/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf")

# The Debian packages, and for each a test whether it is installed.
PACKAGES: dict[str, Callable[[], bool]] = {
    "chromium": lambda: chromium() is not None,
    "faketime": lambda: shutil.which("faketime") is not None,
    "pngquant": lambda: shutil.which("pngquant") is not None,
    "ripgrep": lambda: shutil.which("rg") is not None,
    "tmux": lambda: shutil.which("tmux") is not None,
    "fonts-dejavu-core": FONT.is_file,
}

# The variables that are needed to reach a package registry. None of them says who runs the tests.
REGISTRY = ("npm_config_", "NPM_CONFIG_", "PIP_", "CARGO_", "RUSTUP_", "NODE_EXTRA_CA_CERTS", "SSL_CERT_",
            "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
# From the person's home, if they exist. The home of a driven program is empty.
FILES_OF_HOME = {"NPM_CONFIG_USERCONFIG": ".npmrc", "PIP_CONFIG_FILE": ".config/pip/pip.conf",
                 "CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup", "npm_config_cache": ".npm"}


# The process groups that run now, and their folders. If the run is stopped, they must be ended.
GROUPS: set[int] = set()
SCRATCH: set[pathlib.Path] = set()
# Held while a program is started. Once the run is stopped, it is held for ever.
STARTING = threading.Lock()


class Problem(Exception):
    """Raised if a run cannot continue, with a sentence for the person."""


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
    """Installs with apt the missing programs and the font that all clients share."""
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
    """Installs what `screen` needs to read a terminal's colours, once for each list of versions."""
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
    """Makes a clean environment: paths, a home of its own, registries, and the given variables."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(REGISTRY)}
    for name, file in FILES_OF_HOME.items():
        path = pathlib.Path.home() / file
        if path.exists():
            kept.setdefault(name, str(path))
    return {**kept, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8", **named}


def stream(command: list[str], seconds: int, log: pathlib.Path, env: dict[str, str],
           heard: Callable[[str], None]) -> int | None:
    """Runs a program in a group of its own and passes on each line of its output. Returns `None` if its time was up.

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
        # Let it end the programs that it has started.
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
    """Ends everything that a run has started, if a person or a limit stops the run."""

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
    """An empty folder and a home beside it. They are outside this repository, where every folder would be governed."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-")).resolve()
    SCRATCH.add(folder)
    home_of(folder).mkdir()
    return folder


def home_of(scratch: pathlib.Path) -> pathlib.Path:
    return scratch.with_name(f"{scratch.name}.home")


def remove_scratch(folder: pathlib.Path) -> list[str]:
    """Ends the programs that still run in the folder, and removes it. Returns the programs that had to be ended."""
    ended = end_strays(folder)
    for one in (folder, home_of(folder)):
        shutil.rmtree(one, ignore_errors=True)
    SCRATCH.discard(folder)
    return ended


def end_strays(folder: pathlib.Path) -> list[str]:
    """Ends programs that have this folder in their environment or command: daemons that have left the group."""
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

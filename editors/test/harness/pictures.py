"""Keeps pictures up to date: the words that each shows are stored, and compared with those of a run."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
import sys

from .machine import ROOT, TEST

FOLDER = ROOT / "docs" / "pictures"
TRANSCRIPTS = FOLDER / "transcripts.json"
# The pictures of a package that is published alone are in the package, and the documents link to them there.
PACKAGED = {"vscode": ROOT / "editors" / "vscode" / "media"}
PNG = b"\x89PNG\r\n\x1a\n"

# Text that differs between runs for no reason of the product. Frames go first: an editor breaks a line within them.
MOVING = [
    (re.compile(r"[\u2500-\u257f\u2580-\u259f]+"), " "),
    # The short hash of a commit, which a narrow window may break: "b8874", a new line, "5b294 Ada: Allow for …".
    (re.compile(r"\b(?=[a-f\s]*\d)(?:[0-9a-f]\s*){9}[0-9a-f](?= \w+: )"), "<hash>"),
    (re.compile(r"agent_trace/(?:\d{4}/\d\d|\d{4}-\d\d|open)/"), "agent_trace/<month>/"),
    (re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?UTC|Z)?)?"), "<date>"),
    (re.compile(r"\b20\d\d-\d\d\b"), "<month>"),
    (re.compile(r"\bjust now\b|\b(\d+|an?) (second|minute|hour|day|week|month|year|s|min|h|d)s? ago\b"), "<ago>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b"), "<hash>"),
    (re.compile(r"\b(code|approve|reject) [0-9A-HJKMNP-TV-Z]{6}\b"), r"\1 <code>"),
    (re.compile(r"(?:file://)?(?:/[\w.+@-]+)+/(?=(?:work|workspace|shop)\b)"), "<folder>/"),
]


def normalised(text: str) -> str:
    """Returns the text without times, ids, frames and line breaks, which differ although the product does not."""
    for moving, instead in MOVING:
        text = moving.sub(instead, text)
    return re.sub(r"\s+", " ", text.replace("\u00a0", " ")).strip()


def collect(folder: pathlib.Path, client: str) -> tuple[dict[str, str], list[str]]:
    """Returns the transcripts of a driver's pictures and what is wrong with them. Turns screens into pictures."""
    transcripts, problems = {}, []
    for screen in sorted(folder.glob("*.ansi")):
        done = subprocess.run([sys.executable, str(TEST / "screen"), str(screen), str(screen.with_suffix(".png"))],
                              capture_output=True, text=True, timeout=90)
        if done.returncode != 0:
            problems.append(f"{screen.name} became no picture: {done.stderr.strip()[-300:]}")
    for picture in sorted(folder.glob("*.png")):
        words = picture.with_suffix(".txt")
        # A driver's picture of a failure is only for the person who examines it.
        if picture.stem.startswith(f"{client}-failed"):
            continue
        if not picture.stem.startswith(f"{client}-"):
            problems.append(f"{picture.name} is not named after {client}")
        elif not picture.read_bytes().startswith(PNG):
            problems.append(f"{picture.name} is no PNG")
        elif not words.is_file() or not normalised(words.read_text()):
            problems.append(f"{picture.name} has no {words.name}: what does it show?")
        else:
            transcripts[picture.stem] = normalised(words.read_text())
            # 256 colours are enough for a screen, and a third of the size.
            if program := shutil.which("pngquant"):
                subprocess.run([program, "--force", "--ext", ".png", "--strip", picture], capture_output=True, timeout=60)
    return transcripts, problems


def kept() -> dict[str, str]:
    return json.loads(TRANSCRIPTS.read_text()) if TRANSCRIPTS.is_file() else {}


def of(client: str, transcripts: dict[str, str]) -> set[str]:
    return {name for name in transcripts if name.startswith(f"{client}-")}


def place(client: str) -> pathlib.Path:
    """Returns the folder of a client's pictures."""
    return PACKAGED.get(client, FOLDER)


def write(client: str, folder: pathlib.Path, transcripts: dict[str, str]) -> None:
    """Puts a client's pictures into the documents, and removes those that it no longer makes.

    One that shows the same words stays as it is: only its times differ. Delete it to have it made anew.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    place(client).mkdir(parents=True, exist_ok=True)
    together = kept()
    for gone in of(client, together) - set(transcripts):
        del together[gone]
        (place(client) / f"{gone}.png").unlink(missing_ok=True)
    for name, words in transcripts.items():
        picture = place(client) / f"{name}.png"
        if together.get(name) != words or not picture.is_file():
            shutil.copyfile(folder / f"{name}.png", picture)
    together.update(transcripts)
    TRANSCRIPTS.write_text(json.dumps(together, indent=2, ensure_ascii=False, sort_keys=True) + "\n")


def stale(client: str, transcripts: dict[str, str]) -> list[str]:
    """Returns the committed pictures of a client that show something else than this run."""
    committed = kept()
    found = [f"{name}.png is made by no check any more" for name in sorted(of(client, committed) - set(transcripts))]
    for name, words in transcripts.items():
        if name not in committed:
            found.append(f"{name}.png is not in the documents yet")
        elif committed[name] != words:
            found.append(f"{name}.png has grown stale. It shows:\n    {committed[name]}\n  and the product:\n    {words}")
    return found


def unaccounted() -> list[str]:
    """Returns the pictures in the documents that no driver writes, and those without a transcript."""
    committed, found = kept(), []
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "editors").glob("*/*.md"))]
    for document in documents:
        for target in re.findall(r"!\[[^\]]*\]\(([^)\s]+\.png)\)|<img[^>]+src=\"([^\"]+\.png)\"", document.read_text()):
            path = (document.parent / (target[0] or target[1])).resolve()
            name = document.relative_to(ROOT)
            if not path.is_file():
                found.append(f"{name} shows {path.name}, which is not there")
            elif path.stem not in committed and not path.stem.startswith("icon"):
                found.append(f"{name} shows {path.name}, which no driver writes")
    for folder in (FOLDER, *PACKAGED.values()):
        found += [f"{path.relative_to(ROOT)} is written by no driver" for path in sorted(folder.glob("*.png"))
                  if path.stem not in committed and path.stem != "icon"]
    for client, folder in PACKAGED.items():
        found += [f"{folder.relative_to(ROOT)}/{name}.png is missing" for name in sorted(of(client, committed))
                  if not (folder / f"{name}.png").is_file()]
        found += [f"{path.relative_to(ROOT)} belongs into {folder.relative_to(ROOT)}"
                  for path in sorted(FOLDER.glob(f"{client}-*.png"))]
    return found

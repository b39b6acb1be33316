"""The results of the drivers, and the table of them in the documents."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from .clients import CLIENTS, THINGS, Client
from .machine import ROOT, TEST
from .pictures import normalised

# The results of the last run with `--write`. The table in the documents is made from them.
KEPT = TEST / "results.json"
DOCUMENT = ROOT / "docs" / "editors.md"
# The clients in the table of the documents. The others test only the server.
DOCUMENTED = [client for client in CLIENTS if client.folder != "protocol"]
BEGIN, END = "<!-- table:begin: written by editors/test/run --write -->", "<!-- table:end -->"

LINE = re.compile(r"(ok|substitute|FAIL) +(\S+) *(.*)")


@dataclass
class Result:
    """The results of one client's driver."""

    client: Client
    checks: list[tuple[str, str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    # The words that its pictures show, by name.
    transcripts: dict[str, str] = field(default_factory=dict)

    def hear(self, line: str) -> bool:
        """Takes a line of the driver. Returns true if it is of one of the three kinds."""
        match = LINE.fullmatch(line)
        if match:
            self.checks.append((match[1], match[2], match[3]))
        return match is not None

    def close(self, code: int | None) -> None:
        """Compares the reported results with those that are required."""
        failed = [f"{key}: {detail}" for kind, key, detail in self.checks if kind == "FAIL"]
        self.problems += failed
        if code is None:
            self.problems.append(f"was not done after {self.client.drive_seconds} s")
        elif code != 0 and not failed:
            self.problems.append(f"its driver ended with {code}")
        elif code == 0 and failed:
            self.problems.append("its driver ended with 0 though a check failed")
        if not self.checks:
            self.problems.append("its driver checked nothing")
        if self.client.has_things:
            said = [key for _, key, _ in self.checks]
            self.problems += [f"{thing}: {'not reported' if thing not in said else 'reported more than once'}"
                              for thing in THINGS if said.count(thing) != 1]
        self.problems += [f"{key}: a substitute that does not say what it is"
                          for kind, key, detail in self.checks if kind == "substitute" and not detail]

    def row(self) -> dict[str, str]:
        """Returns for each of the things `✓`, `✗`, or its substitute."""
        cells = {thing: "✗" for thing in THINGS}
        for kind, key, detail in self.checks:
            if key in cells:
                cells[key] = {"ok": "✓", "FAIL": "✗"}.get(kind) or normalised(detail)
        return cells


def kept() -> dict[str, dict[str, str]]:
    return json.loads(KEPT.read_text()) if KEPT.is_file() else {}


def rows_of(results: list[Result]) -> dict[str, dict[str, str]]:
    return {result.client.title: result.row() for result in results if result.client.has_things}


def table(rows: dict[str, dict[str, str]], clients: list[Client] = CLIENTS) -> str:
    """Returns the table of clients and things, as Markdown. A substitute becomes a note below."""
    notes: list[str] = []

    def cell(text: str) -> str:
        if text in ("✓", "✗", "–"):
            return text
        if text not in notes:
            notes.append(text)
        return f"[{notes.index(text) + 1}]"

    ordered = [client.title for client in clients if client.title in rows]
    lines = ["| | " + " | ".join(ordered) + " |", "| --- |" + " :-: |" * len(ordered)]
    lines += [f"| {name} | " + " | ".join(cell(rows[title].get(thing, "–")) for title in ordered) + " |" for thing, name in THINGS.items()]
    if any(thing not in rows[title] for title in ordered for thing in THINGS):
        lines += ["", "–: no run that passed has shown it yet."]
    if notes:
        lines += ["", "✓: the client does it. A number: it cannot, and this stands in for it, and was run:", ""]
        lines += [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    return "\n".join(lines) + "\n"


def write(rows: dict[str, dict[str, str]]) -> None:
    """Merges the results of this run into the stored ones, and writes the table into the document."""
    known = {client.title for client in CLIENTS}
    together = {title: row for title, row in {**kept(), **rows}.items() if title in known}
    KEPT.write_text(json.dumps(together, indent=2, ensure_ascii=False, sort_keys=True) + "\n")
    text = DOCUMENT.read_text()
    before, _, after = split(text)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{table(together, DOCUMENTED)}{END}{after}")


def split(text: str) -> tuple[str, str, str]:
    """Returns the document before the table, the table, and the document after it."""
    before, begun, rest = text.partition(BEGIN)
    inside, ended, after = rest.partition(END)
    if not (begun and ended):
        raise SystemExit(f"{DOCUMENT} has lost the marks around the table: {BEGIN} and {END}")
    return before, inside.lstrip("\n"), after


def differences(rows: dict[str, dict[str, str]]) -> list[str]:
    """Returns the differences between the document and the results."""
    committed, found = kept(), []
    for title, row in rows.items():
        was = committed.get(title)
        if was is None:
            found.append(f"docs/editors.md has no row for {title}")
            continue
        found += [f"docs/editors.md says of {title}, {thing}: {was.get(thing)!r}; this run: {row[thing]!r}"
                  for thing in THINGS if was.get(thing) != row[thing]]
    if split(DOCUMENT.read_text())[1] != table(committed, DOCUMENTED):
        found.append("the table in docs/editors.md is not the one of editors/test/results.json")
    return found

"""What the run must notice: drivers that leave out, contradict themselves, hang, or leave something running; pictures grown stale.

  python3 -m unittest editors/test/test_run.py
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import pathlib
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from harness import machine, pictures, results  # noqa: E402
from harness.clients import CLIENTS, THINGS, Client, chosen  # noqa: E402

loader = SourceFileLoader("run_of_editors", str(HERE / "run"))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(run)

ALL = "".join(f"echo 'ok {thing} seen'\n" for thing in THINGS)


class Drivers(unittest.TestCase):
    """Each with a client of its own: two shell scripts."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(machine, "TEST", self.folder))
        self.enterContext(mock.patch.object(machine, "TARGET", self.folder / "target"))
        self.enterContext(mock.patch.object(machine, "ROOT", self.folder))
        self.enterContext(mock.patch.dict(os.environ, {"INTENT_BIN": "/bin/true", "CLAUDECODE": "1"}))

    def driven(self, drive: str, install: str = "", **fields) -> run.Result:
        for name, text in (("drive", drive), ("install", install)):
            program = self.folder / "toy" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/bash\n{text}")
            program.chmod(0o755)
        client = Client("toy", "1", "Toy 1", **fields)
        with contextlib.redirect_stdout(io.StringIO()):
            made = run.Run([client], 1)
            for folder in (made.programs, made.logs, made.pictures):
                folder.mkdir(parents=True, exist_ok=True)
            self.result = made.all()[0]
        return self.result

    def test_all_ten_are_enough(self):
        self.assertEqual(self.driven(ALL).problems, [])
        self.assertEqual(set(self.result.row().values()), {"✓"})

    def test_one_left_out(self):
        self.assertEqual(self.driven(ALL.replace("ok rename", "ok renamed")).problems, ["rename: not reported"])

    def test_one_twice(self):
        self.assertEqual(self.driven(ALL + "echo ok hover again").problems, ["hover: reported more than once"])

    def test_a_failure(self):
        self.driven(ALL.replace("ok goto seen", "FAIL goto nowhere") + "exit 1")
        self.assertEqual((self.result.problems, self.result.row()["goto"]), (["goto: nowhere"], "✗"))

    def test_a_failure_that_is_hidden(self):
        self.driven(ALL + "echo 'FAIL extra thing'")
        self.assertEqual(self.result.problems, ["extra: thing", "its driver ended with 0 though a check failed"])

    def test_an_end_without_a_failure(self):
        self.assertEqual(self.driven(ALL + "exit 3").problems, ["its driver ended with 3"])

    def test_nothing_checked(self):
        self.assertEqual(self.driven("", has_things=False).problems, ["its driver checked nothing"])

    def test_a_substitute_says_what_it_is(self):
        self.driven(ALL.replace("ok approve seen", "substitute approve the terminal"))
        self.assertEqual((self.result.problems, self.result.row()["approve"]), ([], "the terminal"))
        self.assertTrue(self.driven(ALL.replace("ok approve seen", "substitute approve")).problems)

    def test_a_client_that_cannot_be_installed(self):
        self.driven(ALL, "echo no such version >&2; exit 1")
        self.assertEqual(self.result.problems, ["could not be installed: ended with 1"])
        self.assertEqual(self.result.checks, [])

    def test_one_that_hangs(self):
        self.driven(f"{ALL} sleep 60", drive_seconds=1)
        self.assertEqual(self.result.problems, ["was not done after 1 s"])

    def test_nothing_is_left_running(self):
        """Not in the group of the driver, nor out of it."""
        self.driven(f"{ALL} sleep 61 & echo $! > {self.folder}/one\n"
                    f"setsid sh -c 'echo $$ > {self.folder}/two; sleep 62; :' & until [ -s {self.folder}/two ]; do sleep 0.02; done")
        self.assertEqual(self.result.problems, [])
        for name in ("one", "two"):
            number = (self.folder / name).read_text().strip()
            state = pathlib.Path(f"/proc/{number}/stat")
            self.assertTrue(not state.exists() or ") Z " in state.read_text(), f"{name} is left")

    def test_the_environment_is_clean(self):
        self.driven(f"{ALL} env > {self.folder}/env; pwd; ls -A $SCRATCH $HOME >> {self.folder}/files")
        seen = dict(line.split("=", 1) for line in (self.folder / "env").read_text().splitlines() if "=" in line)
        self.assertNotIn("CLAUDECODE", seen)
        self.assertNotEqual(seen["HOME"], str(pathlib.Path.home()))
        self.assertTrue(seen["PATH"].startswith(os.path.dirname(seen["INTENT_BIN"]) + ":"))
        self.assertFalse(pathlib.Path(seen["SCRATCH"]).exists(), "the scratch folder is left")

    def test_a_picture_without_words(self):
        self.driven(f"{ALL} printf '\\x89PNG\\r\\n\\x1a\\n' > $PICTURES/toy-hover.png")
        self.assertEqual(self.result.problems, ["toy-hover.png has no toy-hover.txt: what does it show?"])

    def test_a_picture_that_is_none(self):
        self.driven(f"{ALL} echo x > $PICTURES/toy-hover.png; echo x > $PICTURES/toy-hover.txt")
        self.assertEqual(self.result.problems, ["toy-hover.png is no PNG"])


class Words(unittest.TestCase):
    def test_what_moves(self):
        one = "INT-001 · just now · 2026-11-22 13:24 UTC\n│ 01a2036d-25be-7353-9104-64055a22e4c3 │ approve 7KQ2MX at 09f9799b4a5f"
        two = "INT-001 ·  3 minutes ago · 2027-01-02 03:04 UTC 01a20400-0000-7353-9104-64055a22e4c3 approve AB23CD at 1234567abcde"
        self.assertEqual(pictures.normalised(one), pictures.normalised(two))
        self.assertEqual(pictures.normalised("declared · b8874 │\n│ 5b294 Ada: Allow"),
                         pictures.normalised("declared · 4742f2dbbf Ada: Allow"))
        trace = "file:///tmp/nvim-{}/work/.orchestration/agent_trace/{}/44bd0fedc2b84caab094c3b8b48a8c2{}.jsonl#L2"
        self.assertEqual(pictures.normalised(trace.format("ab", "2026/11", 5)), pictures.normalised(trace.format("xy", "2027/01", 6)))

    def test_what_does_not(self):
        for one, two in [("INT-001 exact", "INT-002 exact"), ("modified 12 %", "modified 13 %"), ("2 blocks", "3 blocks"),
                         ("approve a request", "approve requests")]:
            self.assertNotEqual(pictures.normalised(one), pictures.normalised(two))


class Kept(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for where, name, value in ((pictures, "FOLDER", self.folder), (pictures, "PACKAGED", {}),
                                   (pictures, "TRANSCRIPTS", self.folder / "transcripts.json"),
                                   (pictures, "ROOT", self.folder),
                                   (results, "KEPT", self.folder / "results.json"),
                                   (results, "DOCUMENT", self.folder / "editors.md")):
            self.enterContext(mock.patch.object(where, name, value))

    def test_stale_pictures(self):
        shots = self.folder / "shots"
        shots.mkdir()
        for name in ("toy-hover", "toy-scope"):
            (shots / f"{name}.png").write_bytes(pictures.PNG)
        pictures.write("toy", shots, {"toy-hover": "INT-001 exact", "toy-scope": "Scope Violation"})
        self.assertEqual(pictures.stale("toy", {"toy-hover": "INT-001 exact", "toy-scope": "Scope Violation"}), [])
        found = pictures.stale("toy", {"toy-hover": "INT-001 modified", "toy-tree": "INT-001"})
        self.assertEqual([line.split(" ")[0] for line in found], ["toy-scope.png", "toy-hover.png", "toy-tree.png"])

    def test_pictures_of_nobody(self):
        (self.folder / "README.md").write_text("![a](toy-hover.png) ![b](gone.png)")
        (self.folder / "toy-hover.png").write_bytes(pictures.PNG)
        self.assertEqual(pictures.unaccounted(), ["README.md shows toy-hover.png, which no driver writes",
                                                  "README.md shows gone.png, which is not there",
                                                  "toy-hover.png is written by no driver"])

    def test_pictures_of_a_package_are_only_in_the_package(self):
        shots, package = self.folder / "shots", self.folder / "package"
        shots.mkdir()
        (self.folder / "README.md").write_text("![a](package/toy-hover.png)")
        (shots / "toy-hover.png").write_bytes(pictures.PNG)
        with mock.patch.object(pictures, "PACKAGED", {"toy": package}):
            pictures.write("toy", shots, {"toy-hover": "INT-001 exact"})
            self.assertEqual(pictures.unaccounted(), [])
            (package / "toy-hover.png").rename(self.folder / "toy-hover.png")
            self.assertEqual(pictures.unaccounted(), ["README.md shows toy-hover.png, which is not there",
                                                      "package/toy-hover.png is missing",
                                                      "toy-hover.png belongs into package"])

    def test_the_table(self):
        (self.folder / "editors.md").write_text(f"before\n{results.BEGIN}\n{results.END}\nafter\n")
        title = CLIENTS[0].title
        row = {thing: "✓" for thing in THINGS} | {"approve": "the terminal"}
        results.write({title: row})
        text = (self.folder / "editors.md").read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
        self.assertIn("| [1] |", text)
        self.assertIn("1. the terminal", text)
        self.assertEqual(results.differences({title: row}), [])
        self.assertEqual(len(results.differences({title: row | {"hover": "✗"}})), 1)
        self.assertEqual(len(results.differences({CLIENTS[1].title: row})), 1)
        (self.folder / "editors.md").write_text(text.replace("the terminal", "a dialog"))
        self.assertEqual(len(results.differences({title: row})), 1)


class Chosen(unittest.TestCase):
    def test_by_default_one_version_of_each(self):
        self.assertNotIn("nvim-0.7", [client.key for client in chosen([], everything=False)])
        self.assertEqual(chosen([], everything=True), CLIENTS)
        self.assertEqual([client.key for client in chosen(["nvim"], everything=False)], ["nvim-0.11"])
        self.assertEqual([client.key for client in chosen(["nvim-0.7"], everything=False)], ["nvim-0.7"])
        with self.assertRaises(SystemExit):
            chosen(["no-such"], everything=False)


if __name__ == "__main__":
    unittest.main()

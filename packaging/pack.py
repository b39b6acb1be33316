#!/usr/bin/env python3
"""Makes every package for one platform from a built program, and writes the checksums of the folder.

  packaging/pack.py BINARY OUT [--target TRIPLE] [--native PROGRAM] [--only KIND…] [--quick]

BINARY is the program for TRIPLE, by default that of this machine. PROGRAM is the same version for this machine;
it writes manual pages and completions. The extension for VS Code needs node and npm.
With --quick packages are hardly compressed, because they are only tested and then deleted."""

from __future__ import annotations

import argparse
import hashlib
import pathlib
from concurrent.futures import ThreadPoolExecutor

import archive
import deb
import extension
import npm
import share
import targets
import wheel

KINDS = {"archive": archive.make, "wheel": wheel.make, "npm": npm.make, "deb": deb.make, "extension": extension.make}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("binary", type=pathlib.Path)
    asked.add_argument("out", type=pathlib.Path)
    asked.add_argument("--target")
    asked.add_argument("--native", type=pathlib.Path)
    asked.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    asked.add_argument("--quick", action="store_true")
    told = asked.parse_args()
    if told.quick:
        share.Effort.spare()
    target = targets.target(told.target) if told.target else targets.host()
    binary, out = told.binary.resolve(), told.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    native = (told.native or binary).resolve()
    # Most of the time is spent in compressing, which releases Python's lock.
    with ThreadPoolExecutor(2) as pool:
        for all_made in pool.map(lambda kind: KINDS[kind](target, binary, native, out), told.only):
            for made in all_made:
                print(f"  {made.stat().st_size / 1e6:6.2f} MB  {made.name}", flush=True)
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
            for file in sorted(out.iterdir()) if file.is_file() and file.name != "SHA256SUMS"]
    (out / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    main()

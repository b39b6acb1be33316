"""Makes archives: the program with its short name, manual pages, completions and licences in one folder."""

from __future__ import annotations

import io
import lzma
import pathlib
import tarfile
import time
import zipfile

import share
from targets import NAME, SHORT, VERSION, Target, written_at


def make(target: Target, binary: pathlib.Path, native: pathlib.Path, out: pathlib.Path) -> list[pathlib.Path]:
    folder = f"{NAME}-{VERSION}-{target.triple}"
    files = {**share.documents(target),
             **{f"completions/{share.COMPLETIONS[shell]}": script for shell, script in share.completions(native).items()}}
    if target.windows:
        return [zipped(out / f"{folder}.zip", folder, {target.program: binary.read_bytes(), f"{SHORT}.cmd": share.WINDOWS_ALIAS, **files})]
    files.update({f"man/man1/{name}": page for name, page in share.manual(native).items()})
    tar = tarred(folder, binary.read_bytes(), files)
    small, smaller = out / f"{folder}.tar.gz", out / f"{folder}.tar.xz"
    small.write_bytes(share.packed(tar))
    smaller.write_bytes(lzma.compress(tar, filters=filters(target)))
    return [small, smaller]


def filters(target: Target) -> list[dict[str, int]]:
    """The filters for xz. Code of x86 compresses better if the targets of calls are addresses; every xz restores them."""
    code = [{"id": lzma.FILTER_X86}] if target.triple.startswith("x86_64") else []
    return [*code, {"id": lzma.FILTER_LZMA2, "preset": share.Effort.xz}]


def tarred(folder: str, program: bytes, files: dict[str, bytes]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.GNU_FORMAT) as tar:
        def add(name: str, data: bytes, mode: int = 0o644) -> None:
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mode, entry.mtime = len(data), mode, written_at()
            tar.addfile(entry, io.BytesIO(data))

        add(NAME, program, 0o755)
        add(SHORT, share.UNIX_ALIAS, 0o755)
        for name in sorted(files):
            add(name, files[name])
    return written.getvalue()


def zipped(path: pathlib.Path, folder: str, files: dict[str, bytes]) -> pathlib.Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", time.gmtime(written_at())[:6])
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, share.Effort.gzip)
    return path

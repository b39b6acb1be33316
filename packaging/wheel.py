"""Makes a wheel that contains the program itself: calling it runs no Python."""

from __future__ import annotations

import base64
import hashlib
import pathlib
import time
import zipfile

import share
from targets import LICENSE, LICENSES, NAME, PACKAGE, REPOSITORY, ROOT, SHORT, SUMMARY, VERSION, Target, glibc, written_at


def tag(target: Target, program: bytes) -> str:
    """The platform tag, with the oldest glibc that the program runs on."""
    if "{glibc}" not in target.wheel:
        return target.wheel
    minor = glibc(program)
    told = target.wheel.format(glibc=minor)
    # Installers before 2021 use another name for this version.
    return f"{told}.manylinux2014_{told.split('_', 3)[3]}" if minor == 17 else told


def metadata() -> bytes:
    lines = ["Metadata-Version: 2.4", f"Name: {NAME}", f"Version: {VERSION}", f"Summary: {SUMMARY}",
             f"Keywords: {','.join(PACKAGE['keywords'])}", f"License-Expression: {LICENSE}",
             *(f"License-File: {name}" for name in (*LICENSES, share.NOTICES)),
             *([f"Project-URL: Repository, {REPOSITORY}"] if REPOSITORY else []),
             "Classifier: Environment :: Console", "Classifier: Programming Language :: Rust",
             "Classifier: Topic :: Software Development :: Quality Assurance",
             "Requires-Python: >=3.8", "Description-Content-Type: text/markdown"]
    return ("\n".join(lines) + "\n\n" + (ROOT / "README.md").read_text()).encode()


def make(target: Target, binary: pathlib.Path, _native: pathlib.Path, out: pathlib.Path) -> list[pathlib.Path]:
    program = binary.read_bytes()
    stem = f"{NAME.replace('-', '_')}-{VERSION}"
    info, scripts, platform = f"{stem}.dist-info", f"{stem}.data/scripts", tag(target, program)
    alias = (f"{SHORT}.bat", share.WINDOWS_ALIAS) if target.windows else (SHORT, share.UNIX_ALIAS)
    files = {
        f"{scripts}/{target.program}": program,
        f"{scripts}/{alias[0]}": alias[1],
        f"{info}/METADATA": metadata(),
        f"{info}/WHEEL": "\n".join(["Wheel-Version: 1.0", f"Generator: {NAME} {VERSION}", "Root-Is-Purelib: false",
                                    *(f"Tag: py3-none-{one}" for one in platform.split(".")), ""]).encode(),
        **{f"{info}/licenses/{name}": (ROOT / name).read_bytes() for name in LICENSES},
        f"{info}/licenses/{share.NOTICES}": share.notices(target),
    }
    rows = []
    path = out / f"{stem}-py3-none-{platform}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        def add(name: str, data: bytes) -> None:
            entry = zipfile.ZipInfo(name, time.gmtime(written_at())[:6])
            entry.external_attr = (0o100755 if name.startswith(scripts) else 0o100644) << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED, share.Effort.gzip)

        for name, data in files.items():
            add(name, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(data)}\n")
        add(f"{info}/RECORD", f"{''.join(rows)}{info}/RECORD,,\n".encode())
    return [path]

"""Makes a package for Debian and its derivatives."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile

import share
from targets import LICENSE, LICENSES, NAME, REPOSITORY, ROOT, SHORT, SUMMARY, VERSION, Target, glibc, written_at


def make(target: Target, binary: pathlib.Path, native: pathlib.Path, out: pathlib.Path) -> list[pathlib.Path]:
    # Some machines do not have Debian's tools, and do not need its packages.
    if target.deb is None or shutil.which("dpkg-deb") is None:
        return []
    path = out / f"{NAME}_{VERSION}_{target.deb}.deb"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files = contents(target, binary.read_bytes(), native)
        for name, data in files.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            place.chmod(0o755 if name.startswith("usr/bin/") else 0o644)
        (root / "usr/bin" / SHORT).symlink_to(NAME)
        size = sum(len(data) for data in files.values()) // 1024 + 1
        (root / "DEBIAN").mkdir()
        (root / "DEBIAN/control").write_text(control(target, binary.read_bytes(), size))
        for below, _, _ in os.walk(root):
            os.chmod(below, 0o755)
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", f"-z{share.Effort.xz & 15}", "--build", str(root), str(path)], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "SOURCE_DATE_EPOCH": str(written_at())})
    return [path]


def contents(target: Target, program: bytes, native: pathlib.Path) -> dict[str, bytes]:
    scripts, about = share.completions(native), f"usr/share/doc/{NAME}"
    return {
        f"usr/bin/{NAME}": program,
        **{f"usr/share/man/man1/{name}.gz": share.packed(page) for name, page in share.manual(native).items()},
        f"usr/share/bash-completion/completions/{SHORT}": scripts["bash"],
        f"usr/share/zsh/vendor-completions/_{SHORT}": scripts["zsh"],
        f"usr/share/fish/vendor_completions.d/{SHORT}.fish": scripts["fish"],
        f"{about}/copyright": copyright_of(target),
        f"{about}/changelog.gz": share.packed((ROOT / "CHANGELOG.md").read_bytes()),
        f"{about}/README.md": (ROOT / "README.md").read_bytes(),
    }


def copyright_of(target: Target) -> bytes:
    own = [f"{NAME} {VERSION}, {LICENSE}"] + [(ROOT / name).read_text() for name in LICENSES]
    return ("\n\n".join(own) + "\n\n" + share.notices(target).decode()).encode()


def control(target: Target, program: bytes, size: int) -> str:
    needs = [f"libc6 (>= 2.{glibc(program)})"] + (["libgcc-s1"] if b"\0libgcc_s.so.1\0" in program else [])
    lines = [f"Package: {NAME}", f"Version: {VERSION}", f"Architecture: {target.deb}", f"Maintainer: The authors of {NAME}",
             f"Installed-Size: {size}", f"Depends: {', '.join(needs)}", "Recommends: git", "Section: devel", "Priority: optional",
             *([f"Homepage: {REPOSITORY}"] if REPOSITORY else []), f"Description: {SUMMARY.partition('?')[0]}?",
             f" {SUMMARY.partition('?')[2].strip()}"]
    return "\n".join(lines) + "\n"

"""Fetch the vendored package by ``npm pack`` and compare its files with those that are here.

python -m tests.generators.refetch_assets          exit code 1 if a file differs
python -m tests.generators.refetch_assets 3.2.0    writes that version's files and prints their
                                                   hashes, for VENDORED.md
"""

import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "@dagrejs/dagre"

# Where each file is inside the package.
FILES = {"dagre.min.js": "package/dist/dagre.min.js", "LICENSE": "package/LICENSE"}

_HERE = Path(__file__).parents[2] / "cli" / "assets"
_ROW = re.compile(r"^\| `([^`]+)` \|[^|]*\| ([0-9.]+) \|.*`([0-9a-f]{64})` \|$", re.MULTILINE)


def vendored() -> dict[str, tuple[str, str]]:
    """By file its version and its SHA-256, as ``VENDORED.md`` has them."""
    text = (_HERE / "VENDORED.md").read_text(encoding="utf-8")
    return {name: (version, digest) for name, version, digest in _ROW.findall(text)}


def fetched(version: str) -> dict[str, bytes]:
    """The files of a version, from wherever npm is told to fetch packages."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", f"{PACKAGE}@{version}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
        name = done.stdout.decode("utf-8").split()[-1]
        with tarfile.open(Path(folder) / name) as archive:
            found = {}
            for file, path in FILES.items():
                inside = archive.extractfile(path)
                assert inside is not None
                found[file] = inside.read()
            return found


def main(arguments: list[str]) -> int:
    """Compare, or write another version."""
    known = vendored()
    wanted = arguments[0] if arguments else known["dagre.min.js"][0]
    code = 0
    for file, data in fetched(wanted).items():
        digest = hashlib.sha256(data).hexdigest()
        if arguments:
            (_HERE / file).write_bytes(data)
            said = "written"
        else:
            is_same = digest == known[file][1] and data == (_HERE / file).read_bytes()
            said = "the same" if is_same else "DIFFERS"
            code |= not is_same
        sys.stdout.write(f"{file} {wanted} {digest}: {said}\n")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

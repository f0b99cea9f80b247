"""The source distribution with the same bytes each time, where SOURCE_DATE_EPOCH says the time.

setuptools does so for wheels; an archive of sources has the times of the files and of the day, and
who owns them. pyproject.toml names classes of this folder, so the archive holds its files, too.
"""

import gzip
import io
import os
import tarfile
from pathlib import Path

from setuptools.command.sdist import sdist  # type: ignore[import-untyped]


class Sdist(sdist):  # type: ignore[misc]  # setuptools has no types of its own.
    """setuptools' command, and its archive written again."""

    def make_distribution(self) -> None:
        """Write the archive, with this folder; where SOURCE_DATE_EPOCH is set, with its time."""
        for name in ("sdist.py", "walk_kernel.py"):
            self.filelist.append(str(Path("compiler", "packaging", name)))
        super().make_distribution()
        moment = os.environ.get("SOURCE_DATE_EPOCH")
        for name in self.get_archive_files() if moment else ():
            path = Path(name)
            path.write_bytes(_settled(path.read_bytes(), int(moment or 0)))


def _settled(archive: bytes, moment: int) -> bytes:
    """The same files by name, of one time, of nobody, and readable by all."""
    packed = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as source,
        gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=moment) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as target,
    ):
        for member in sorted(source.getmembers(), key=lambda member: member.name):
            member.mtime, member.uid, member.gid = moment, 0, 0
            member.uname = member.gname = ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            target.addfile(member, source.extractfile(member) if member.isfile() else None)
    return packed.getvalue()

"""From DOT text to a file, through Graphviz.

The same drawing gives the same bytes, whenever and to whatever path it is rendered (another
release of Graphviz or other fonts may lay it out differently).
"""

import re
import shutil
from pathlib import Path

from constrain.artifacts.container.write import write_atomically
from constrain.artifacts.errors import visible

from ..limits import Limits
from ..progress import Step
from .drawing import Drawing, DrawingError, MissingDotError
from .run_dot import run_dot

DOT_SUFFIXES = (".dot", ".gv")
_RENDERED = (".pdf", ".png", ".svg")

# More dots an inch than Graphviz's own 96, so that small labels stay sharp.
_PNG_DPI = "144"

_DATE = re.compile(rb"/CreationDate \(D:\d{14}")


@Step("render")
def render(drawing: Drawing, path: Path, limits: Limits | None = None) -> Path:
    """Write a drawing in the format of the path's suffix; the path that was written.

    ``limits``: of ``dot``, in seconds and in bytes of its memory and of what it writes. Raises
    ``LimitError`` beyond them, ``DrawingError`` for an unknown suffix and where ``dot`` fails, and
    ``MissingDotError`` where it is not installed (the DOT text is then written beside
    ``path``). ``OSError`` as for any file.
    """
    limits = limits or Limits()
    suffix = path.suffix.lower()
    if suffix in DOT_SUFFIXES:
        write_atomically(path, [drawing.dot.encode("utf-8")])
        return path
    if suffix not in _RENDERED:
        known = ", ".join(sorted((*DOT_SUFFIXES, *_RENDERED)))
        what = f"cannot draw {suffix!r} files" if suffix else "the name has no suffix"
        raise DrawingError(f"{visible(path)}: {what}; known are {known}")
    program = shutil.which("dot")
    if program is None:
        instead = path.with_suffix(".dot")
        write_atomically(instead, [drawing.dot.encode("utf-8")])
        raise MissingDotError(path, instead)
    write_atomically(path, [_rendered(program, suffix.removeprefix("."), drawing.dot, limits)])
    return path


def _rendered(program: str, form: str, dot: str, limits: Limits) -> bytes:
    arguments = [f"-T{form}", *([f"-Gdpi={_PNG_DPI}"] if form == "png" else [])]
    try:
        done = run_dot(program, arguments, dot, limits)
    except OSError as error:
        raise DrawingError(f"Graphviz's program {program} cannot be run: {error}") from error
    if done.code != 0:
        lines = done.errors.decode("utf-8", "replace").strip().splitlines()
        complaint = lines[0] if lines else f"it ended with code {done.code}"
        raise DrawingError(f"Graphviz could not draw this: {complaint}")
    if form == "pdf":
        # Cairo 1.16 writes the present time, in plain text: another of the same length keeps
        # every offset in the file.
        return _DATE.sub(b"/CreationDate (D:19700101000000", done.out)
    return done.out

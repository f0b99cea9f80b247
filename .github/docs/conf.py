"""The site of these documents: the repository's own Markdown, and the public names of the packages.

sphinx-build -W -c .github/docs . site     reads the checkout, writes HTML with a search to site/

A link to a folder leads to its README.md, else it is text. Links to other files are downloads.
"""

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

project = "constrain"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = ".github/docs/index"
html_theme = "furo"
html_show_copyright = html_copy_source = html_show_sourcelink = False
# Environments, what a build leaves, and a Markdown file that is a template.
exclude_patterns = [".venv", "venv", "site", "build", "**/node_modules", "cli/templates"]
exclude_patterns += [".typing", ".pytest_cache"]
myst_heading_anchors = 5
# Code here has shells, grammars and drawings, which no highlighter reads.
suppress_warnings = ["misc.highlighting_failure"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"

_LINK = re.compile(r"\[((?:[^][]|\[[^][]*\])+)\]\(([^()#\s:]+)(#[^()\s]*)?\)")


def _with_pages(text: str, folder: Path) -> str:
    """The Markdown of a file in ``folder``, whose links to folders are links to pages."""

    def page(link: re.Match[str]) -> str:
        target = folder / link[2]
        if not target.is_dir():
            return link[0]
        if not (target / "README.md").exists():
            return link[1]
        return f"[{link[1]}]({link[2].rstrip('/')}/README.md{link[3] or ''})"

    return _LINK.sub(page, text)


def _public_names() -> str:
    """A section of each public module, with the docstring of each of its names, once."""
    sections, seen = [], set[int]()
    for room in ("artifacts", "compiler"):
        module = import_module(f"constrain.{room}")
        sections.append(f"## {module.__name__}\n")
        for name in module.__all__:
            value = getattr(module, name)
            if id(value) not in seen and (inspect.isclass(value) or callable(value)):
                seen.add(id(value))
                kind = "autoclass" if inspect.isclass(value) else "autofunction"
                options = "   :members:\n" if inspect.isclass(value) else ""
                where = f"{value.__module__}.{value.__qualname__}"
                sections.append(f"```{{eval-rst}}\n.. {kind}:: {where}\n{options}```\n")
    return "\n".join(sections)


def _read(app: Any, document: str, source: list[str]) -> None:
    source[0] = _with_pages(source[0], (ROOT / document).parent)
    if document.endswith("/api"):
        source[0] += _public_names()


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _read)

"""The walk of the token trie compiled, where Cython and a C compiler are there.

    artifacts/walk/rows.py, threads.py, kernel.py, kernel.pxd
    -> build/kernel/…/compiled_kernel.py: one file, with the hash of all; compiled_kernel.pxd
    -> compiled_kernel.c, by Cython
    -> compiled_kernel.abi3.so, by the C compiler

Where one of them is missing the build says so and goes on: the sources run as they stand. setup.py
names the module, pyproject.toml this class.
"""

import re
import runpy
import shutil
import sys
from pathlib import Path

from setuptools import Extension  # type: ignore[import-untyped]
from setuptools.command.build_ext import build_ext  # type: ignore[import-untyped]
from setuptools.errors import CompileError  # type: ignore[import-untyped]

_WALK = Path("artifacts", "walk")

# Types are those of kernel.pxd alone; indexing and division are C's, without checks.
_DIRECTIVES = {
    "language_level": 3,
    "annotation_typing": False,
    "boundscheck": False,
    "cdivision": True,
    "initializedcheck": False,
    "nonecheck": False,
    "wraparound": False,
}


class BuildKernel(build_ext):  # type: ignore[misc]  # setuptools has no types of its own.
    """setuptools' command, which gets its C source from Cython."""

    def run(self) -> None:
        """Build; if nothing was compiled, the wheel is one for all systems."""
        super().run()
        if not any(Path(path).exists() for path in self.get_outputs()):
            self.warn("the walk of the token trie is not compiled: it runs in Python, more slowly")
            self.distribution.ext_modules = None
            self.distribution.get_command_obj("bdist_wheel").root_is_pure = True

    def build_extension(self, ext: Extension) -> None:
        """Compile the module. Raises setuptools' errors, which end no build, as it is optional."""
        root = Path(self.get_finalized_command("build").build_base, "kernel")
        ext.sources = [_c_source(root, ext.name)]
        if self.compiler.compiler_type == "unix":
            ext.extra_compile_args = ["-O3", "-g0"]
            ext.extra_link_args = ["-Wl,-s"] if sys.platform == "linux" else []
        super().build_extension(ext)


def _c_source(root: Path, module: str) -> str:
    """Write a module's C source below a folder; its path. Raises ``CompileError``."""
    try:
        from Cython.Build import cythonize
        from Cython.Compiler.Errors import CompileError as CythonError
    except ImportError as error:
        raise CompileError("Cython is not installed") from error
    copy = root.joinpath(*module.split(".")).with_suffix(".py")
    copy.parent.mkdir(parents=True, exist_ok=True)
    forms = runpy.run_path(str(_WALK / "forms.py"))
    *parts, types = forms["SOURCES"]
    source = "\n".join((_WALK / part).read_text(encoding="utf-8") for part in parts)
    digest = forms["source_hash"]()
    # The parts need not import each other.
    source = re.sub(r"^from \.\w+ import .*\n", "", source, flags=re.MULTILINE)
    copy.write_text(source.replace('SOURCE = ""', f'SOURCE = "{digest}"'), encoding="utf-8")
    shutil.copyfile(_WALK / types, copy.with_suffix(".pxd"))
    try:
        (made,) = cythonize(
            [Extension(module, [str(copy)])],
            force=True,
            include_path=[str(root)],
            compiler_directives=_DIRECTIVES,
        )
    except CythonError as error:
        raise CompileError(f"Cython does not take {copy}") from error
    return str(made.sources[0])

"""The one module that is compiled at installation, where that is possible.

``compiler/packaging/walk_kernel.py`` compiles it; all else is in pyproject.toml. By the limited API
it serves Python 3.11 and all later ones, but for those without the global lock, which lack it.
"""

import sys
import sysconfig

from setuptools import Extension, setup

KERNEL = Extension(
    "constrain.artifacts.walk.compiled_kernel",
    ["artifacts/walk/kernel.py"],
    depends=[f"artifacts/walk/{name}" for name in ("rows.py", "threads.py", "kernel.pxd")],
    # The second has strings as they are, so that the hash in the module can be found.
    define_macros=[("Py_LIMITED_API", "0x030B0000"), ("CYTHON_COMPRESS_STRINGS", "0")],
    py_limited_api=True,
    optional=True,
)

if sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED"):
    setup(ext_modules=[KERNEL], options={"bdist_wheel": {"py_limited_api": "cp311"}})
else:
    setup()

"""Entry of the program: ``constrain`` and ``python -m constrain.cli``."""

import os
import sys


def main() -> None:
    """Run the command line and end the process with its exit code."""
    # numpy starts a thread pool when it is imported, which costs more than a whole `mask`;
    # nothing here multiplies matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from .app import run

        code = run()
    except KeyboardInterrupt:  # While the imports run; commands have an answer of their own.
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()

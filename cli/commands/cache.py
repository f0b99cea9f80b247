"""``constrain cache``: where tables are cached between runs, and how to delete them."""

import typer

from ..console import UsageError, status, write_text

app = typer.Typer(help="The tables of tokenizers that are kept between runs.", no_args_is_help=True)


def directory() -> None:
    """Print the folder that tables are kept in.

    CONSTRAIN_CACHE_DIR names another one.

    \b
    Example:
      du -sh "$(constrain cache dir)"
    """
    from constrain.compiler.cache import default_folder

    folder = default_folder()
    if folder is None:
        raise UsageError("there is no home folder to keep tables in; set CONSTRAIN_CACHE_DIR")
    write_text(f"{folder}\n")


def clean() -> None:
    """Delete all tables that are kept; the next run builds them again.

    \b
    Example:
      constrain cache clean
    """
    from constrain.compiler.cache import Cache, default_folder

    files, size = Cache(default_folder()).clean()
    status(f"{files:,} file{'s' * (files != 1)} deleted, {size:,} bytes")

"""``constrain cache``: where tables are cached between runs, and how to delete them."""

from ..console import UsageError, status, write_name

HELP = "The tables of tokenizers that are cached between runs."


def directory() -> None:
    """Print the folder that tables are cached in.

    CONSTRAIN_CACHE_DIR names another one.

    \b
    Example:
      du -sh "$(constrain cache dir)"
    """
    from constrain.artifacts.store.folders import default_folder

    folder = default_folder()
    if folder is None:
        raise UsageError("there is no home folder to cache tables in; set CONSTRAIN_CACHE_DIR")
    write_name(folder)


def clean() -> None:
    """Delete all tables that are cached; the next run builds them again.

    \b
    Example:
      constrain cache clean
    """
    from constrain.artifacts.store.folders import default_folder
    from constrain.compiler.cache import Cache

    files, size = Cache(default_folder()).clean()
    status(f"{files:,} file{'s' * (files != 1)} deleted, {size:,} bytes")


SUBCOMMANDS = {"dir": directory, "clean": clean}

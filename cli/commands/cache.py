"""``constrain cache``: where tables are cached between runs, and how to delete them."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from constrain.artifacts.errors import visible

from ..console import UsageError, status, write_json, write_name, write_text

if TYPE_CHECKING:
    from pathlib import Path

HELP = "The tables of tokenizers that are cached between runs."

SCHEMA = 1


# How it is written.
Format = Literal["text", "json"]


def directory() -> None:
    """Print the folder that tables are cached in.

    CONSTRAIN_CACHE_DIR names another one.

    \b
    Example:
      du -sh "$(constrain cache dir)"
    """
    write_name(_folder())


def info(format_: Annotated[Format, typer.Option("--format", "-f")] = "text") -> None:
    """Print how many tables are cached, and where their key is.

    It tells your tables from those that others wrote, which are not used but built again.
    CONSTRAIN_CACHE_KEY is what those agree on who share a folder.

    \b
    Example:
      constrain cache info

    - ``format_``: text or json.
    """
    from constrain.compiler.files.cache import Cache

    cache = Cache(_folder())
    (files, size), key = cache.size(), cache.key
    if format_ == "json":
        # subtle: why there is none is no place where it is from.
        said = {"from": key.origin if key.lasts else None, "lasts": key.lasts}
        described = {"folder": str(cache.folder), "files": files, "bytes": size, "key": said}
        write_json(SCHEMA, described)
        return
    origin = visible(key.origin)
    if not key.lasts:
        origin = f"none that lasts, so each process builds its tables ({origin})"
    write_text(
        f"folder: {visible(cache.folder)}\n"
        f"tables: {files:,} file{'s' * (files != 1)}, {size:,} bytes\n"
        f"key: {origin}\n"
    )


def clean() -> None:
    """Delete all tables that are cached; the next run builds them again.

    \b
    Example:
      constrain cache clean
    """
    from constrain.artifacts.store.folders import default_folder
    from constrain.compiler.files.cache import Cache

    files, size = Cache(default_folder()).clean()
    status(f"{files:,} file{'s' * (files != 1)} deleted, {size:,} bytes")


def _folder() -> "Path":
    from constrain.artifacts.store.folders import default_folder

    folder = default_folder()
    if folder is None:
        raise UsageError("there is no home folder to cache tables in; set CONSTRAIN_CACHE_DIR")
    return folder


SUBCOMMANDS = {"dir": directory, "info": info, "clean": clean}

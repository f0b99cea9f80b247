"""Tokenizers by name, with stand-ins for the packages that fetch them."""

import os
from pathlib import Path

import pytest
from support import constrain, tokenizer_json, written

from constrain.artifacts.read import load_bytes

END = "<done>"

# A stand-in of huggingface_hub: what it gives or raises is the content of the file ``answer``.
HUB = '''
"""Gives the file of each name beside the one it finds, or raises the error that is asked for."""
from pathlib import Path
from . import errors

def hf_hub_download(repository, name, revision=None):
    with Path(__file__).with_name("asked").open("a") as asked:
        asked.write(name + " ")
    answer = Path(__file__).with_name("answer").read_text(encoding="utf-8")
    if answer.startswith("raise "):
        raise getattr(errors, answer.split()[1])("404 Client Error. (Request ID: 1)\\nNot found")
    file = Path(answer) / name
    if not file.is_file():
        raise errors.EntryNotFoundError(name)
    return str(file)
'''
ERRORS = '''
"""As in the package, errors inherit from each other."""
class EntryNotFoundError(Exception): pass
class LocalEntryNotFoundError(EntryNotFoundError, FileNotFoundError): pass
class RepositoryNotFoundError(OSError): pass
class GatedRepoError(RepositoryNotFoundError): pass
class RevisionNotFoundError(OSError): pass
class ServerError(Exception): pass
'''
MISSING = "raise ImportError(__name__)\n"


def stand_in(folder: Path, answer: str) -> dict[str, str]:
    """The environment in which the package is the stand-in."""
    package = folder / "huggingface_hub"
    package.mkdir()
    for name, text in (("__init__.py", HUB), ("errors.py", ERRORS), ("answer", answer)):
        (package / name).write_text(text, encoding="utf-8")
    return {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("LocalEntryNotFoundError", "there is no copy here, and the network does not answer"),
        ("EntryNotFoundError", "the repository has neither tokenizer.json nor tekken.json"),
        ("RepositoryNotFoundError", "there is no such repository, or it is a private one"),
        ("GatedRepoError", "the repository is for those who have been given access"),
        ("RevisionNotFoundError", "the repository has no such revision"),
        ("ServerError", "404 Client Error. (Request ID: 1)"),
    ],
)
def test_what_cannot_be_fetched(tmp_path: Path, error: str, reason: str) -> None:
    """One line that says why, exit code 2, and nothing written."""
    variables = stand_in(tmp_path, f"raise {error}")
    arguments = ("compile", "-", "--dialect", "regex", "-t", "hf:org/repo", "-o", "out.cst")
    done = constrain(*arguments, stdin=b"a", folder=tmp_path, variables=variables)
    assert done.returncode == 2
    message = done.stderr.decode()
    assert f"error: hf:org/repo: not available ({reason}" in message
    assert message.count("\n") == 1
    assert not (tmp_path / "out.cst").exists()
    # A network that does not answer is not asked for another file, which takes as long.
    asked = (tmp_path / "huggingface_hub" / "asked").read_text().split()
    assert asked == ["tokenizer.json", "tekken.json"][: 1 + (error == "EntryNotFoundError")]


def test_what_is_fetched(tmp_path: Path) -> None:
    """The file, and the one beside it that names the end of a text, if there is one."""
    copies = tmp_path / "copies"
    copies.mkdir()
    written(copies, tokenizer_json("ab", ["a b"], added=[(9, END, True)]))
    variables = stand_in(tmp_path, str(copies))
    arguments = ("-t", "hf:org/repo@v1")
    done = constrain("tokenize", *arguments, "--format", "ids", "abb", variables=variables)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [b"2", b"1"]
    config = '{"eos_token": {"content": "<done>"}}'
    (copies / "tokenizer_config.json").write_text(config, encoding="utf-8")
    arguments = ("compile", "-", "--dialect", "regex", *arguments, "-o", "-")
    done = constrain(*arguments, stdin=b"ab", variables=variables)
    assert done.returncode == 0, done.stderr
    assert load_bytes(done.stdout).manifest.eos == (9,)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("hf:org/repo", "huggingface_hub", "hf"),
        ("tiktoken:gpt2", "tiktoken", "tiktoken"),
    ],
)
def test_packages_that_are_missing(tmp_path: Path, name: str, package: str, extra: str) -> None:
    """Exit code 2, and what installs them."""
    for module in ("huggingface_hub", "tiktoken_ext"):
        (tmp_path / f"{module}.py").write_text(MISSING, encoding="utf-8")
    variables = {"PYTHONPATH": str(tmp_path)}
    done = constrain("tokenize", "-t", name, "-", stdin=b"a", variables=variables)
    assert done.returncode == 2
    expected = f"need the package {package}: pip install {package}, or in a clone of constrain"
    assert expected in done.stderr.decode()


@pytest.mark.parametrize(
    ("name", "reason"),
    [("hf:", "it names no repository; write hf:ORG/REPO"), ("hf:@v1", "it names no repository")],
)
def test_names_that_are_not_whole(tmp_path: Path, name: str, reason: str) -> None:
    """They are told from repositories that do not exist."""
    variables = stand_in(tmp_path, "raise RepositoryNotFoundError")
    done = constrain("tokenize", "-t", name, "-", stdin=b"a", variables=variables)
    assert done.returncode == 2
    assert f"error: {name}: {reason}" in done.stderr.decode()


def test_an_encoding_that_cannot_be_fetched(tmp_path: Path) -> None:
    """Whatever tiktoken raises."""
    package = tmp_path / "tiktoken_ext"
    package.mkdir()
    text = "def f():\n    raise ConnectionError('no network\\nat all')\n"
    text += "ENCODING_CONSTRUCTORS = {'mine': f}\n"
    (package / "openai_public.py").write_text(text, encoding="utf-8")
    (package / "__init__.py").write_text("", encoding="utf-8")
    variables = {"PYTHONPATH": str(tmp_path)}
    done = constrain("tokenize", "-t", "tiktoken:mine", "-", stdin=b"a", variables=variables)
    assert done.returncode == 2
    assert "tiktoken:mine: not available (no network); a file" in done.stderr.decode()
    done = constrain("tokenize", "-t", "tiktoken:other", "-", stdin=b"a", variables=variables)
    assert done.returncode == 2
    assert "tiktoken has no such encoding; known are mine" in done.stderr.decode()

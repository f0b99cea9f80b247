"""What the README says of sections is what they are checked by."""

import re
from importlib import import_module

import pytest
from support import ROOT, python_files

pytestmark = pytest.mark.quick

DECLARATION = re.compile(r"(u?int\d+) \((.*?)\)")


def declared() -> dict[str, str]:
    """The declarations of all rooms, by section."""
    found = dict[str, str]()
    for file in python_files():
        text = (ROOT / file).read_text(encoding="utf-8")
        if file.parts[0] == "artifacts" and "check_sections(" in text:
            module = import_module("constrain." + ".".join(file.with_suffix("").parts))
            for value in vars(module).values():
                if isinstance(value, dict) and all(
                    isinstance(text, str) and DECLARATION.match(text) for text in value.values()
                ):
                    found |= {name: text for name, text in value.items() if "." in name}
    return found


def test_readme_says_dtypes_and_axes_of_sections() -> None:
    """Where a section has a row, or stands in the text with its dtype."""
    readme = (ROOT / "artifacts" / "README.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in readme.splitlines() if line.startswith("| `")]
    wrong = dict[str, str]()
    sections = declared()
    for names, kinds, *_ in rows:
        for name in re.findall(r"`([a-z_.]+)`", names):
            match = DECLARATION.match(sections.get(name, ""))
            if match and match[1] not in kinds:
                wrong[name] = f"{kinds} is {sections[name]}"
    missing = {name for name in sections if f"`{name}`" not in readme}

    assert wrong == {}
    assert missing == set()

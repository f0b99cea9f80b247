"""The options that commands share: the same names, help, bounds and defaults everywhere."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import pytest
from support.cli import program

from constrain.cli.everywhere.described import items_of
from constrain.cli.everywhere.global_options import OPTIONS, GlobalOptions
from constrain.cli.everywhere.panels import PANELS, panel_of
from constrain.cli.options import ALL, LIMITS, SOURCE, TOKENIZER, Given, compile_options
from constrain.compiler.options import CompileOptions

# What a command has under the name of a shared option and means by it otherwise.
OWN = {
    ("diff", "dialect"): "one for each of two grammars",
    ("diff", "start"): "one for each of two grammars",
    ("compile-many", "tokenizer"): "several, each grammar for each",
    ("compile-many", "thin"): "on, where artifacts share a store",
}

# Options that every command has by its own meaning, in its own words: what is written.
IN_OWN_WORDS = {"--all", "--format", "--output", "--prefix", "--max-bytes", "--stage"}

# The commands that read or compile grammars, and what all of them take.
COMPILING = {
    *("bench", "check", "compile", "compile-many", "convert", "diff", "explain", "inspect", "mask"),
    *("sample", "show", "test", "viz"),
}


def commands() -> Iterator[tuple[str, Any]]:
    """Each command with its name, and each of a group after that."""
    for name, command in program().commands.items():
        yield name, command
        yield from getattr(command, "commands", {}).items()


def parameters() -> Iterator[tuple[str, Any]]:
    """Each command's name with each of its parameters."""
    for name, command in program().commands.items():
        for parameter in command.params:
            yield name, parameter


def shared() -> dict[str, dict[str, Any]]:
    """Of each command the parameters that have the name of a shared option."""
    found: dict[str, dict[str, Any]] = {}
    for command, parameter in parameters():
        if parameter.name in ALL and (command, parameter.name) not in OWN:
            found.setdefault(command, {})[parameter.name] = parameter
    return found


SHARED = shared()


def test_commands_that_compile_take_shared_options() -> None:
    """None spells options of its own; ``compile`` takes all of them."""
    assert COMPILING | {"fmt", "tokenize"} == set(SHARED)
    assert set(ALL) == set(SHARED["compile"])
    for command in COMPILING:
        assert {"extended", "max_seconds", "max_nesting"} <= set(SHARED[command]), command
        known = {name for own, name in OWN if own == command} | set(SHARED[command])
        assert {*SOURCE} <= known, command


@pytest.mark.parametrize("command", SHARED)
def test_shared_options_are_the_same_everywhere(command: str) -> None:
    """As ``compile`` has them: flags, help, type, bounds and default."""
    for name, parameter in SHARED[command].items():
        first = SHARED["compile"][name]
        assert described(first) == described(parameter), name


def test_options_of_the_same_name_are_the_same_in_all_commands() -> None:
    """Short form, metavar, panel, and but for what is written also help and default."""
    found: dict[str, dict[tuple[Any, ...], str]] = {}
    for command, parameter in parameters():
        if parameter.param_type_name == "argument" or (command, parameter.name) in OWN:
            continue
        flag = parameter.opts[0]
        said: tuple[Any, ...] = sorted(parameter.opts), parameter.metavar, panel_of(parameter)
        if flag not in IN_OWN_WORDS:
            said += parameter.help, parameter.default
        found.setdefault(flag, {})[tuple(map(str, said))] = command

    assert len(found) > 40
    assert {} == {flag: said for flag, said in found.items() if len(said) > 1}


def test_every_option_and_argument_says_what_it_is_for() -> None:
    """Each has an item in a docstring, or words of its own."""
    listed = [(name, p) for name, command in commands() for p in command.params]

    assert len(listed) > 250
    assert [] == [(name, p.name) for name, p in listed if not p.help]


def test_items_of_docstrings_are_of_parameters() -> None:
    """None is left of an option that there is no more; what a command says after its items is
    seen by nobody."""
    declared: list[tuple[Any, Sequence[str]]] = [(Given, ALL), (GlobalOptions, OPTIONS)]
    declared += [(base, ALL) for base in Given.__mro__[1:-1]]
    for _, command in commands():
        function = inspect.unwrap(command.callback)
        declared.append((function, [*inspect.signature(function).parameters]))
    for documented, names in declared:
        items = items_of(documented)
        assert items.keys() <= set(names), documented
        behind = (inspect.getdoc(documented) or "").rpartition("\n- ``")[2]
        assert not items or "\n\n" not in behind, documented


def test_every_short_form_has_one_meaning() -> None:
    """-t is the tokenizer wherever it is, and so on."""
    meant: dict[str, set[str]] = {}
    for _, parameter in parameters():
        for flag in parameter.opts:
            if not flag.startswith("--") and parameter.param_type_name == "option":
                meant.setdefault(flag, set()).add(parameter.name)

    assert {"-q", "-v", "-t", "-d", "-o", "-f"} <= set(meant)
    assert {} == {flag: names for flag, names in meant.items() if len(names) > 1}


def described(parameter: Any) -> tuple[Any, ...]:
    """What help says of a parameter, and what it accepts."""
    bounds = [getattr(parameter.type, name, None) for name in ("name", "min", "max", "choices")]
    said = parameter.opts, parameter.help, parameter.metavar, parameter.default
    assert panel_of(parameter) in PANELS
    return *said, parameter.multiple, parameter.required, bounds


def test_shared_options_stand_behind_a_command_s_own() -> None:
    """In the order of the fields of ``Given``, so that every help reads alike."""
    for command in SHARED:
        everywhere = {*OPTIONS, "help"}
        listed = [p.name for name, p in parameters() if name == command]
        listed = [name for name in listed if name not in everywhere]
        common = [name for name in listed if name in SHARED[command]]
        assert common == [name for name in ALL if name in common], command
        assert common == listed[len(listed) - len(common) :], command


def test_a_command_receives_one_object() -> None:
    """What it does not take has the default."""

    @compile_options(*TOKENIZER, *LIMITS)
    def command(given: Given, own: str = "own") -> tuple[str, Given]:
        return own, given

    values = {field.name: field.default for field in fields(Given)}
    taken = {name: values[name] for name in (*TOKENIZER, *LIMITS)}
    own, given = command(own="mine", **(taken | {"tokenizer": "t.json", "max_states": 7}))

    assert ("mine", Given(tokenizer="t.json", max_states=7)) == (own, given)


def test_defaults_are_the_library_s() -> None:
    """What the command line does not say is as the library has it."""
    assert CompileOptions(dialect="kbnf") == without_clock(Given().compile_options("g.kbnf"))
    guessed = CompileOptions(dialect="kbnf", is_guessed=True)
    assert guessed == without_clock(Given().compile_options("g.ebnf"))
    imports = CompileOptions(dialect="lark", imports="a")
    assert imports == without_clock(Given().compile_options("a/g.lark"))


def test_options_reach_the_library() -> None:
    """Each field of the library's options has the value of the command line's option."""
    given = Given(
        dialect="gbnf",
        start="top",
        meaning="exact",
        max_depth=3,
        tokenization="any",
        method="direct",
        eos=["<end>"],
        vocab_size=512,
        strip=True,
        max_artifact_bytes=7,
        lazy=True,
        max_states=11,
    )
    found = without_clock(given.compile_options("-"))

    assert ("gbnf", "top", "exact", 3) == (
        found.dialect,
        found.start,
        found.meaning,
        found.max_depth,
    )
    assert ("any", "direct", ["<end>"], 512) == (
        found.tokenization,
        found.method,
        found.eos,
        found.vocab_size,
    )
    assert (True, 7, 0, 11) == (
        found.strip,
        found.max_artifact_bytes,
        found.prewarm,
        found.limits.states,
    )


def without_clock(options: CompileOptions) -> CompileOptions:
    """The options before a compilation began."""
    assert options.limits.meter is not None
    return replace(options, limits=replace(options.limits, meter=None))

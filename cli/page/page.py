"""The page of a grammar or an artifact: one file, which asks for nothing else.

Everything of the grammar, the tokenizer and the file's name is hostile text: it is JSON in a script
element that no browser runs, and the program puts it into the page as text. What runs is named by
its hash in the content security policy, so that nothing else does.
"""

from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from constrain.artifacts import Artifact
from constrain.artifacts.kinds.parser import named_in
from constrain.artifacts.network.tables import NetworkTables

from .. import assets
from .encoding import script_json, source_hash
from .examples import Example
from .grammar import grammar_data
from .graph import graph_of
from .layout import layout_data
from .program import program
from .tokens import bpe_data, path_of, reached_data, state_data, vocabulary_data
from .walk import lexer_data, lexer_of, walk_data, walk_of

if TYPE_CHECKING:
    from constrain.compiler.options import AnyTokenizer

# What a page may have, in bytes, unless --max-page-bytes says otherwise.
MAX_BYTES = 8_000_000

# (a heading, its rows)
Numbers = Sequence[tuple[str, Sequence[tuple[str, str]]]]


def page_data(
    artifact: Artifact,
    name: str,
    *,
    tokenizer: "AnyTokenizer | None" = None,
    examples: Sequence[Example] = (),
    numbers: Numbers = (),
    command: str = "",
    max_bytes: int = MAX_BYTES,
) -> dict[str, Any]:
    """The data of a page, for JSON.

    ``name``: of the file, as people see it. ``tokenizer``: that of the artifact, if it is there, by
    which the page finds token boundaries. ``numbers``: tables for the pane of numbers.
    ``command``: a command line that prints masks, to which ``--prefix`` is added.
    """
    from constrain.compiler.limits import Limits
    from constrain.compiler.machine.whole_tables import with_dfa

    m = artifact.manifest
    artifact = with_dfa(artifact, Limits())
    tables = walk_of(artifact)
    is_walked = not isinstance(tables, str)
    missing = [] if is_walked else [f"texts cannot be read in the page: {tables}"]
    data: dict[str, Any] = {
        "name": name,
        "start": m.start,
        "dialect": m.dialect,
        "kind": m.kind,
        "canonical": artifact.is_canonical,
        "command": command,
        "numbers": [[heading, [list(row) for row in rows]] for heading, rows in numbers],
        "notes": list(m.notes),
        "examples": [{"name": e.name, "text": e.text.decode("utf-8", "replace")} for e in examples],
        "grammar": grammar_data(artifact, name, [e.text for e in examples if e.is_case]),
        "walk": {},
        "graph": None,
        "missing": missing,
    }
    if not isinstance(tables, str):
        data["walk"] = {**walk_data(tables), "decides": artifact.is_regular}
        if (lexer := lexer_of(artifact)) is not None:
            data["walk"]["lexer"] = lexer_data(lexer)
        data["graph"] = layout_data(graph_of(tables, _token_names(artifact)))
        data["rules_of_states"] = _rules_of_states(artifact, tables)
    _add_tokens(data, artifact, tokenizer, examples, max_bytes)
    return data


def page_of(data: dict[str, Any]) -> str:
    """The file of a page's data."""
    folder = files(__package__)
    read = {
        name: folder.joinpath(name).read_text(encoding="utf-8")
        for name in ("page.html", "inspect.css")
    }
    scripts = program()
    graph = data["graph"]
    if graph is not None and graph["layout"] == "dagre":
        library = files(assets).joinpath("dagre.min.js").read_text(encoding="utf-8")
        # It joins names by a character that no document should hold.
        scripts.insert(0, library.replace("\x01", r"\x01"))
    policy = (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"script-src {' '.join(map(source_hash, scripts))}; "
        f"style-src {source_hash(read['inspect.css'])}"
    )
    parts = {
        "POLICY": policy,
        "STYLE": f"<style>{read['inspect.css']}</style>",
        "DATA": script_json(data),
        "SCRIPTS": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    page = read["page.html"]
    # Split at the marks, so that no text that is put in is looked at for others.
    for mark, text in parts.items():
        before, behind = page.split(f"{{{{{mark}}}}}", 1)
        parts[mark] = before + text
        page = behind
    return "".join(parts.values()) + page


def _add_tokens(
    data: dict[str, Any],
    artifact: Artifact,
    tokenizer: "AnyTokenizer | None",
    examples: Sequence[Example],
    max_bytes: int,
) -> None:
    """Vocabulary, tokenizer and masks, each if there is room for it in the page."""
    missing = data["missing"]

    def room() -> int:
        return max_bytes - len(script_json(data))

    vocabulary = vocabulary_data(artifact)
    if len(script_json(vocabulary)) > room():
        missing.append("the vocabulary would make the page too large (--max-page-bytes): no masks")
        return
    if not artifact.spells_bytes:
        missing.append("tokens of WordPiece spell words: masks are printed by the command")
        return
    data["vocabulary"] = vocabulary
    if tokenizer is None or tokenizer.sha256 != artifact.manifest.tokenizer_sha256:
        missing.append("token boundaries are the longest tokens in turn: no tokenizer was given")
    else:
        bpe = bpe_data(tokenizer, artifact)
        if isinstance(bpe, str):
            missing.append(f"token boundaries are the longest tokens in turn: it has {bpe}")
        elif len(script_json(bpe)) > room():
            missing.append("the tokenizer would make the page too large (--max-page-bytes)")
        else:
            data["bpe"] = bpe
    if not artifact.is_canonical and data["walk"]:
        return
    states = state_data(artifact, max(0, room()))
    if states is not None and len(script_json(states)) <= room():
        data |= states
        return
    reached = reached_data(artifact, [path_of(artifact, each.text) for each in examples])
    if len(script_json(reached)) <= room():
        data |= reached
    if artifact.is_canonical:
        missing.append(
            "canonical masks are here for the given texts alone; elsewhere the page counts the "
            "tokens that fit the grammar, however they are spelled"
        )


def _token_names(artifact: Artifact) -> list[str]:
    from constrain.compiler.automata.dump import ids_text

    if (lexer := lexer_of(artifact)) is not None:
        return list(lexer.texts)
    return [ids_text(ids.tolist()) for ids in named_in(artifact.manifest, artifact.arrays)]


def _rules_of_states(artifact: Artifact, tables: NetworkTables) -> dict[str, list[str]]:
    """By state the rules whose text may follow, where the automaton says it."""
    from constrain.compiler.network.dump import rules_of_states

    if artifact.is_regular:
        states = range(1, tables.states)
        named = ((s, [o.rule for o in artifact.origins_of(s)]) for s in states)
        return {str(s): list(dict.fromkeys(rules)) for s, rules in named if rules}
    return {str(s): [rule] for s, rule in sorted(rules_of_states(tables).items())}

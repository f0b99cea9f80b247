"""The bytes of an artifact's file: room for its header, and the limit of the whole.

--max-artifact-bytes 1000000   mask rows get what the header and all other sections leave of it;
                               where these alone are more, there is no artifact
"""

import json
from dataclasses import replace

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import EXACT

from ..diagnostics import LimitError
from ..frontend import Automaton, MaximalMunchGrammar, Parser, Recogniser
from ..options import MAX_ARTIFACT_BYTES, CompileOptions

# Bytes of a header beside the texts in it: names, counts and places, and of each section its name,
# shape and checksum.
_FIXED, _EACH_ORIGIN, _EACH_SECTION = 1 << 14, 40, 200


def with_room_for_header(recogniser: Recogniser, options: CompileOptions) -> CompileOptions:
    """Options whose ``max_artifact_bytes`` is what the header leaves to the sections. With 0 there
    are no rows, and no limit of the rest."""
    if not options.max_artifact_bytes:
        return options
    is_later = isinstance(recogniser, Parser) and (
        recogniser.met is not None or explains_later(recogniser, options)
    )
    if isinstance(recogniser, Automaton):
        is_later = recogniser.operation is not None
    if is_later:
        # There are no rows that would have to be bounded, or as much room as there usually is.
        return options
    texts = [] if options.strip else [recogniser.grammar.source.text]
    if isinstance(recogniser, Automaton):
        texts += [rule for rule, _, _ in recogniser.origins]
    elif isinstance(recogniser, Parser) and has_productions(recogniser):
        texts += [*recogniser.layout.tables.names, *recogniser.layout.tables.texts]
    elif isinstance(recogniser, MaximalMunchGrammar):
        texts += recogniser.tables.lexer.texts
    size = _FIXED + sum(_EACH_ORIGIN + len(json.dumps(text)) for text in texts)
    return replace(options, max_artifact_bytes=max(1, options.max_artifact_bytes - size))


def counts(found: Recogniser) -> bool:
    """Whether repetitions are counted while decoding."""
    if isinstance(found, Automaton):
        return False
    if isinstance(found, Parser) and found.met is not None:
        return False
    network = found.network if isinstance(found, Parser) else found.tables.network
    return network is not None and network.counters is not None


def has_productions(parser: Parser) -> bool:
    """Whether Earley's tables are in the file: not of repetitions that are counted, which would be
    their copies, and not by maximal munch, which follows lexemes."""
    return not counts(parser) and parser.choice.semantics == EXACT


def explains_later(parser: Parser, options: CompileOptions) -> bool:
    """Whether Earley's tables are made when a text is explained or the file is written: where masks
    are a network's, and files may be as large as they usually may."""
    return parser.found is not None and options.max_artifact_bytes >= MAX_ARTIFACT_BYTES


def check_size(artifact: Artifact, most: int) -> None:
    """Raise ``LimitError`` for an artifact of more than ``most`` bytes (0 for any number), without
    what could be left out of it."""
    size = sum(_EACH_SECTION + array.nbytes for array in artifact.arrays.values())
    if most and size + len(json.dumps(artifact.manifest.to_json())) > most:
        raise LimitError("an artifact without mask rows", "artifact-bytes", most)

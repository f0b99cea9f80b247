"""The arguments and options that several subcommands take."""

from enum import StrEnum
from typing import Annotated

import typer

# Defaults of the limits, as the library's own; bytes and seconds.
STATES, TRANSITIONS, NESTING = 200_000, 100_000_000, 100_000
MEMORY, ARTIFACT_BYTES, SECONDS = 2_000_000_000, 256_000_000, 600.0


class Tokenization(StrEnum):
    """Which token sequences spell a member."""

    CANONICAL = "canonical"
    ANY = "any"


class Engine(StrEnum):
    """What follows a grammar."""

    AUTO = "auto"
    DFA = "dfa"
    NETWORK = "network"
    EARLEY = "earley"
    GREEDY = "greedy"


class Meaning(StrEnum):
    """How a grammar reads a text."""

    EXACT = "exact"
    MAXIMAL_MUNCH = "maximal-munch"


class Method(StrEnum):
    """How the automaton over canonical token sequences is found."""

    AUTO = "auto"
    DIRECT = "direct"
    CARTESIAN = "cartesian"


class Unk(StrEnum):
    """What becomes of members with a word that WordPiece does not know."""

    OMIT = "omit"
    ALLOW = "allow"


Grammar = Annotated[
    str, typer.Argument(metavar="GRAMMAR", help="A grammar file, or - for standard input.")
]
Subject = Annotated[
    str,
    typer.Argument(
        metavar="SUBJECT", help="A grammar or a compiled artifact, or - for standard input."
    ),
]
TokenizerPath = Annotated[
    str | None,
    typer.Option(
        "--tokenizer",
        "-t",
        metavar="FILE",
        help="A Hugging Face tokenizer.json or its folder, NAME.tiktoken or FILE.tiktoken@PATTERN, "
        "GPT-2's encoder.json, or hf:ORG/REPO or tiktoken:NAME.  [default: the embedded one]",
    ),
]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Neither use nor keep tables of an earlier run."),
]
DialectName = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        "-d",
        metavar="NAME",
        help="kbnf, gbnf, w3c, lark, iso14977, regex or regex-extended.  [default: by suffix; "
        ".ebnf, .kbnf and - are kbnf; .gbnf, .w3c, .lark, .regex; .isoebnf and .iso are iso14977]",
    ),
]
Extended = Annotated[
    bool,
    typer.Option("--extended", help="In a regex '&' is intersection, and '~x' what x is not."),
]
Start = Annotated[
    str | None,
    typer.Option(
        "--start",
        metavar="RULE",
        help="The start rule.  [default: 'start', else the first rule; in gbnf 'root']",
    ),
]
TokenizationChoice = Annotated[
    Tokenization | None,
    typer.Option(
        help="canonical: the sequences that the tokenizer's merges give; any: all that spell a "
        "member.  [default: canonical where the grammar and the tokenizer allow it, else any]"
    ),
]
EngineChoice = Annotated[
    Engine | None,
    typer.Option(
        help="dfa: for regular grammars; network: automata that call each other, with all masks "
        "worked out ahead; earley: any grammar, masks at run time; greedy: a network over lexemes, "
        "by maximal munch; auto: the first that the grammar, its meaning and the limits allow.  "
        "[default: auto]"
    ),
]
MeaningChoice = Annotated[
    Meaning | None,
    typer.Option(
        help="exact: each way to cut a text into terminals counts; maximal-munch: a lexer cuts it, "
        "each lexeme as long as possible.  [default: maximal-munch for Lark's grammars with "
        "%ignore or %llguidance, else exact]"
    ),
]
Lazy = Annotated[
    bool,
    typer.Option("--lazy", help="Work no masks out ahead, as --prewarm 0: all is at run time."),
]
MaxDepth = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=1_000,
        help="Make the grammar regular: keep the members that nest at most so deep.",
    ),
]
Prewarm = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=1_000_000,
        metavar="COUNT",
        help="Answers that masks are made of to work out ahead; 0 for none.  [default: 50000, by "
        "maximal munch 500000]",
    ),
]
MethodChoice = Annotated[
    Method | None,
    typer.Option(
        help="direct: a table of all token states; cartesian: masks made from two automata when "
        "they are asked for; auto: what fits. The masks are the same.  [default: auto]"
    ),
]
UnknownWords = Annotated[
    Unk | None,
    typer.Option(
        "--unk",
        help="For WordPiece: leave members out that have a word which becomes the unknown token, "
        "or allow it there.  [default: omit]",
    ),
]
Eos = Annotated[
    list[str] | None,
    typer.Option(
        "--eos",
        metavar="TOKEN",
        help="Name or id of a token that ends a text; may be repeated.  [default: the tokenizer's]",
    ),
]
VocabSize = Annotated[
    int | None,
    typer.Option(
        min=1, max=10_000_000, help="Pad the masks to this many bits.  [default: highest id + 1]"
    ),
]
MaxStates = Annotated[int, typer.Option(min=1, help="Refuse automata with more states.")]
MaxTransitions = Annotated[
    int, typer.Option(min=1, help="Refuse token automata with more transitions.")
]
MaxMemory = Annotated[int, typer.Option(min=1, help="Refuse tables of more bytes.")]
MaxSeconds = Annotated[float, typer.Option(min=0, help="Give up after so many seconds.")]
MaxNesting = Annotated[int, typer.Option(min=1, help="Refuse brackets nested deeper.")]
MaxArtifactBytes = Annotated[
    int, typer.Option(min=0, help="Leave mask rows to the run time beyond this size.")
]

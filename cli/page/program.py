"""The program of a page: the files of ``js/``, in the order in which they stand in it.

Each is a script of its own, and what is at the top of one is known in all that follow. The first
ones need no document: tests load them into Node.
"""

from importlib.resources import files

# Texts and tokens: what the page knows.
KNOWING = (
    "data",  # arrays and sets of ids
    "frames",  # what calls go on with
    "stacks",  # the graph of stacks of calls
    "walk",  # a network reads bytes
    "munch",  # a lexer before it
    "verdict",  # what became of a text
    "vocabulary",  # the bytes of tokens
    "masks",  # tokens that go on
    "bpe",  # the tokenizer
    "states",  # canonical masks of the page
    "inspector",  # all of these
    "shown",  # bytes as people read them
    "reading",  # what is typed
)

# What the page shows.
SHOWING = (
    "elements",  # of the document
    "links",  # between the panes
    "address",  # its fragment
    "panes/grammar",
    "panes/railroad",
    "panes/graph",  # states and edges as SVG
    "panes/automaton",
    "panes/numbers",
    "panes/text",
    "panes/tokens",
    "panes/mask",
    "start",  # wires them together
)


def script(name: str) -> str:
    """The text of a file of the program."""
    return files(__package__).joinpath("js", f"{name}.js").read_text(encoding="utf-8")


def program() -> list[str]:
    """Those of all, in their order."""
    return [script(name) for name in (*KNOWING, *SHOWING)]

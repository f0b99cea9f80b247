"""A compilation for a service that only a limit of time ends."""

from dataclasses import replace

from constrain.compiler import Limits
from constrain.compiler.serving.service import SERVER_OPTIONS

KBNF = replace(SERVER_OPTIONS, dialect="kbnf")

# A grammar that no limit but that of time ends soon: each character more doubles its states.
ENDLESS = replace(
    KBNF,
    engine="dfa",
    limits=Limits(seconds=60, states=1 << 30, memory=1 << 40, transitions=1 << 40),
)
ENDLESS_TEXT = 's ::= #"(a|b)*a(a|b){40}";'

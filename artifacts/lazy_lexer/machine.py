"""The machine that a matcher steps over a grammar read by maximal munch with lazy DFAs."""

from ..maximal_munch.configurations import Configurations
from ..maximal_munch.lexer import Lexer
from ..maximal_munch.lexer_reads import LexerReads
from ..maximal_munch.machine import MaximalMunchMasks
from ..maximal_munch.parser_heads import Heads
from ..maximal_munch.parser_transitions import ParserTransitions
from ..maximal_munch.tables import MaximalMunchTables, ReadTables
from ..tokens.memo import CacheBudget
from .configurations import LazyConfigurations
from .exits import Following
from .lexer import LazyLexer
from .reads import LazyReads


class LazyLexerMasks(MaximalMunchMasks):
    """As its base; states of lazy DFAs are interned by texts, and walks by these have the largest
    part of the budget."""

    parts = 5, 4, 4, 2, 1, 1, 5, 10
    _reads: LazyReads

    def configurations_of(
        self, heads: Heads, lexer: Lexer, transitions: ParserTransitions
    ) -> Configurations:
        """How texts are read."""
        assert isinstance(lexer, LazyLexer)
        return LazyConfigurations(heads, lexer, transitions)

    @property
    def interned_bytes(self) -> int:
        """About the size of all stacks of frames, and of the states of lazy DFAs."""
        lexer = self.configurations.lexer
        assert isinstance(lexer, LazyLexer)
        return super().interned_bytes + lexer.lazy_nbytes

    def following(self) -> None:
        """There is no machine that begins with what this one has found: its states stay."""

    def reads_of(self, tables: ReadTables, lexer: Lexer, *more: CacheBudget) -> LexerReads:
        """What the lexer reads, in a machine of these walks, whose budget is the last one."""
        assert isinstance(lexer, LazyLexer) and isinstance(tables, MaximalMunchTables)
        self._reads = LazyReads(self.walks, lexer, self.vocab_size, Following(tables), *more)
        return self._reads

    def alike(self, state: int) -> int:
        """The state of the lexer with the same masks that stands for all that are like it."""
        return self._reads.alike(state)

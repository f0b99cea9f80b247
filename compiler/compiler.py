"""The door of the library: a compiler of grammars for one tokenizer.

    compiler = Compiler("tokenizer.json")
    artifact = compiler.compile(text, dialect="gbnf")        as often as you like, from any thread

What depends on the tokenizer alone (vocabulary, token trie, pre-tokenizer DFA, forbidden pairs,
normal forms) is made once, when a grammar first needs it, and cached between runs.
"""

import warnings
from dataclasses import replace
from os import PathLike
from threading import RLock
from typing import TYPE_CHECKING, Any

from constrain.artifacts.artifact import Artifact

from .bpe.shared_tables import SharedTables
from .diagnostics import WeakerMasksWarning
from .files.cache import CacheChoice, cache_of
from .limits import Limits, of_later
from .machine.when_met import StatesWhenMet, engine_when_met
from .options import AnyTokenizer, CompileOptions, request_of, with_changes
from .pipeline import build_artifact, build_engine
from .progress import Progress, silent
from .tokenizers import load_tokenizer

if TYPE_CHECKING:
    from .bpe.tokenizer_tables import TokenizerTables


class Compiler:
    """Compiles grammars for ``tokenizer``, or that of what ``load_tokenizer`` takes: a file, a
    folder or a name, or a host's object; by default the embedded one. Threads may share it.

    ``cache``: where tables of the tokenizer are looked up and kept between runs, by default in the
    user's cache folder, as by the command line; None for nowhere. ``options``: what is wanted of
    all grammars, and ``limits`` those of each compilation, where they are not the options' own.
    ``tables``: the tokenizer's, if there are any already.
    """

    def __init__(
        self,
        tokenizer: AnyTokenizer | str | PathLike[str] | object | None = None,
        *,
        cache: CacheChoice = "default",
        options: CompileOptions | None = None,
        limits: Limits | None = None,
        tables: "TokenizerTables | None" = None,
    ) -> None:
        self.tokenizer: AnyTokenizer = load_tokenizer(tokenizer, cache=cache)
        self._options, self._limits = options or CompileOptions(), limits
        self._shared = SharedTables(self.tokenizer, cache_of(cache), tables)

    def __repr__(self) -> str:
        return f"<Compiler: {self.tokenizer.name}>"

    def compile(
        self, text: str, *, name: str = "<grammar>", progress: Progress = silent, **changes: Any
    ) -> Artifact:
        """The artifact of a grammar.

        ``changes`` are fields of ``CompileOptions``, which explains them, and go before those of
        the compiler's own. ``name``: what errors call the grammar.

        The artifact's ``notes`` say what was chosen and left out. Where ``tokenization`` is left
        open and canonical masks cannot be had, there is a ``WeakerMasksWarning`` besides. Raises
        subclasses of ``ConstrainError``, ``TypeError`` for a name that is no option, and
        ``ValueError`` for a value that an option cannot have.
        """
        return self._compile(text, name, progress, changes)

    def compile_whole(self, text: str, *, name: str = "<grammar>", **changes: Any) -> Artifact:
        """The same, all sections of its file made at once: for those who write it, and decode with
        what they have written. Where first masks alone are wanted the grammar is read once so."""
        return self._compile(text, name, silent, changes, is_whole=True)

    def _compile(
        self,
        text: str,
        name: str,
        progress: Progress,
        changes: dict[str, Any],
        *,
        is_whole: bool = False,
    ) -> Artifact:
        limits = changes.pop("limits", None) or self._limits
        wanted = with_changes(self._options, {**changes, "limits": limits})
        if not is_whole and self._may_grow(wanted):
            recogniser = engine_when_met(text, wanted, name)
            if isinstance(recogniser, StatesWhenMet):
                growing = self._growing(recogniser, text, name, wanted)
                if growing is not None:
                    return growing
                recogniser = build_engine(text, wanted, name=name)
        else:
            recogniser = build_engine(text, wanted, name=name)
        built = build_artifact(
            recogniser,
            self.tokenizer,
            wanted,
            progress=progress,
            shared=self._shared,
        )
        if built.weakened:
            # Of the caller of ``compile`` or ``compile_grammar``.
            warnings.warn(built.weakened, WeakerMasksWarning, stacklevel=3)
        return built.artifact

    def _may_grow(self, wanted: CompileOptions) -> bool:
        """Whether first masks alone are wanted, of a tokenizer that can spell all texts."""
        from .tokenizers import Tokenizer

        if not wanted.wants_met_states or not isinstance(self.tokenizer, Tokenizer):
            return False
        request = request_of(self.tokenizer, wanted, self._shared.tokens)
        return bool(request.vocabulary.spelled_bytes.all())

    def _growing(
        self, found: StatesWhenMet, text: str, name: str, wanted: CompileOptions
    ) -> Artifact | None:
        """The artifact of states that are made when they are met; its file is compiled when it is
        needed. None where a terminal stands for no token: what needs it is then left out."""
        from constrain.artifacts.growing import GrowingArtifact
        from constrain.artifacts.kinds.maximal_munch import LexemesRuntime
        from constrain.artifacts.kinds.met_states import MetStates
        from constrain.artifacts.tokens.memo import CacheBudget

        def complete() -> Artifact:
            later = replace(wanted, limits=of_later(wanted.limits))
            recogniser = build_engine(text, later, name=name)
            return build_artifact(recogniser, self.tokenizer, later, shared=self._shared).artifact

        request = request_of(self.tokenizer, wanted, self._shared.tokens)
        named: list[Any] = []
        if found.grammar.tokens:
            from .token_ids import token_ids
            from .tokenizers import Tokenizer

            assert isinstance(request.tokenizer, Tokenizer)
            named = token_ids(found.grammar, request.tokenizer, request.eos, wanted.limits)
            if not all(map(len, named)):
                return None
        trie, ids = request.trie, (tuple(request.eos), request.vocab_size)
        tokens = request.vocabulary, (lambda: trie), *ids, CacheBudget(), RLock()
        if found.reading is not None:
            return GrowingArtifact(LexemesRuntime(*tokens, found.reading), complete)
        marks = found.marks_equal
        met = MetStates(
            found.maker, *tokens, terminals=found.terminals, named=named, marks_equal=marks
        )
        return GrowingArtifact(met, complete)


def compile_grammar(
    text: str,
    *,
    tokenizer: AnyTokenizer,
    options: CompileOptions | None = None,
    name: str = "<grammar>",
    progress: Progress = silent,
    tables: "TokenizerTables | None" = None,
    cache: CacheChoice = "default",
    **changes: Any,
) -> Artifact:
    """Compile one grammar for a tokenizer: ``Compiler(tokenizer, …).compile(text, …)``, which says
    what the parameters are and what is raised."""
    compiler = Compiler(tokenizer, cache=cache, options=options, tables=tables)
    return compiler._compile(text, name, progress, changes)

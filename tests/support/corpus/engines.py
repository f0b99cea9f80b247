"""Every engine with every option, as rows of one table: what may not change a mask.

    ENGINES["network, lazily"].artifact(language, case)  ->  an artifact, by way of its file

Those of one tokenization and meaning have the same masks, whatever they are made of.
"""

from dataclasses import dataclass
from hashlib import sha256

import pytest

from constrain.artifacts import Artifact, load
from constrain.artifacts.read import load_bytes
from constrain.artifacts.store.folders import default_folder
from constrain.compiler import Limits
from constrain.compiler.frontend import Recogniser
from constrain.compiler.options import MAX_ARTIFACT_BYTES
from constrain.compiler.pipeline import build_artifact, build_engine
from support.corpus.recorded import Language
from support.corpus.tokenizer_case import Case
from support.network import inline_up_to


@dataclass(frozen=True)
class Engine:
    """What a compilation is asked for.

    ``inlined``: the states of a rule up to which a network copies it, 0 for calls alone.
    ``rows``: whether a file holds its mask rows.
    """

    tokenization: str
    engine: str
    meaning: str = "exact"
    method: str = "auto"
    prewarm: int | None = None
    inlined: int | None = None
    rows: bool = True

    def front(self, language: Language) -> Recogniser:
        """The stages that need no tokenizer; those of a language are run once."""
        key = language, self.engine, self.meaning, self.inlined
        if key not in _FRONTS:
            with pytest.MonkeyPatch.context() as patch:
                if self.inlined is not None:
                    inline_up_to(patch, self.inlined)
                _FRONTS[key] = build_engine(
                    language.text,
                    dialect=language.dialect,
                    engine=self.engine,
                    meaning=self.meaning,
                    name=language.name,
                )
        return _FRONTS[key]

    def artifact(
        self,
        language: Language,
        case: Case,
        *,
        prewarm: int | None = None,
        limits: Limits | None = None,
    ) -> Artifact:
        """The artifact of a language. Raises subclasses of ``ConstrainError``.

        ``prewarm``: another number of answers to precompute than the engine's own.
        """
        found = build_artifact(
            self.front(language),
            case.tokenizer,
            tables=case.tables,
            tokenization=self.tokenization,
            method=self.method,
            prewarm=self.prewarm if prewarm is None else prewarm,
            limits=limits,
            eos=case.eos,
            max_artifact_bytes=MAX_ARTIFACT_BYTES if self.rows else 0,
        )
        return load_bytes(found.artifact.to_bytes())

    def stored(self, language: Language, case: Case, limits: Limits | None = None) -> Artifact:
        """The same from a file that all tests of a session share."""
        folder = default_folder()
        assert folder is not None
        described = f"{self} {language.dialect} {language.text} {case.tokenizer.sha256} {case.eos}"
        path = folder / "artifacts" / f"{sha256(described.encode()).hexdigest()}.cst"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            self.artifact(language, case, limits=limits).save(path)
        return load(path)


_FRONTS: dict[tuple[Language, str, str, int | None], Recogniser] = {}

# Masks of all token sequences that spell a member.
ANY = {
    "DFA": Engine("any", "dfa"),
    "DFA, rows lazily": Engine("any", "dfa", rows=False),
    "network": Engine("any", "network"),
    "network, lazily": Engine("any", "network", prewarm=0),
    "network, calls": Engine("any", "network", inlined=0),
    "Earley": Engine("any", "earley"),
}
# The same of what maximal munch makes of a grammar.
MUNCH = {
    "maximal munch": Engine("any", "greedy", "maximal-munch"),
    "maximal munch, lazily": Engine("any", "greedy", "maximal-munch", prewarm=0),
    "maximal munch, DFA": Engine("any", "dfa", "maximal-munch"),
}
# Masks of the tokenizer's own sequences.
DIRECT = {
    "DirectMerge": Engine("canonical", "dfa", method="direct"),
    "DirectMerge, rows lazily": Engine("canonical", "dfa", method="direct", rows=False),
}
CARTESIAN = {
    "CartesianMerge": Engine("canonical", "dfa", method="cartesian"),
}
NETWORKS = {
    "canonical network": Engine("canonical", "network"),
    "canonical network, lazily": Engine("canonical", "network", prewarm=0),
    "canonical network, calls": Engine("canonical", "network", inlined=0),
    "canonical network, calls, lazily": Engine("canonical", "network", prewarm=0, inlined=0),
}
CANONICAL = {**DIRECT, **CARTESIAN, **NETWORKS}
ENGINES = {**ANY, **MUNCH, **CANONICAL}

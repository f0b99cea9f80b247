"""Random finite grammars with token terminals, and the tokens of all their members.

A member is a sequence of texts and tokens. Texts side by side are one; the library encodes each by
itself, and a token stands for itself.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod

from support.corpus.tokenizer_case import Case

# A text, or the ids that a terminal stands for.
Item = str | tuple[int, ...]
Member = tuple[Item, ...]

# What tokenizers join, cut or rewrite, with what stands beside it.
TEXTS = ["a", "b", " a", " ", "  ", "ab", "the", " the", "th", "e", "1", "12", "'", "'s", "\n"]
TEXTS += ["\n\n", ", ", '":', "é", "e", "\u0301", "日", "x", "don", "'t", "in", "er", "{", "}"]

# Members, and what they are as sequences of texts and tokens.
_MOST, _MOST_SEQUENCES = 400, 4_000


@dataclass(frozen=True)
class TokenLanguage:
    """A grammar in GBNF and its members."""

    text: str
    members: tuple[Member, ...]

    def encodings(self, case: Case, prompt: str = "") -> list[list[int]]:
        """The tokens of each member whose texts the library gives back; after a prompt those that
        the library adds to its tokens, wherever these stay as they are."""
        found = []
        for member in self.members:
            items = list(_joined(member))
            first = items.pop(0) if items and isinstance(items[0], str) else ""
            assert isinstance(first, str)
            begun = case.behind(prompt, [first]) if prompt else _given_back(first, case)
            for ids in begun:
                whole = list(_encoded(items, case))
                found += [[*ids, *rest] for rest in whole]
                if not prompt and len(whole) == 1:
                    _check_whole(member, [*ids, *whole[0]], case)
        return found


def random_token_language(
    rng: random.Random, case: Case, *, negations: bool = False, texts: Sequence[str] = TEXTS
) -> TokenLanguage:
    """Rules of texts, terminals and each other. ``negations``: also all tokens but one."""
    while True:
        found = _random(rng, _terminals(rng, case, negations=negations), texts)
        if found is not None and any(not isinstance(i, str) for m in found.members for i in m):
            return found


def _terminals(
    rng: random.Random, case: Case, *, negations: bool
) -> list[tuple[str, tuple[int, ...]]]:
    """Some terminals as a grammar writes them, and what they stand for."""
    ends = set(case.eos_ids)
    added = [i for i in sorted(case.tokenizer.added) if i not in ends]
    ids = rng.sample(added, min(len(added), 2)) + rng.sample(sorted(case.tokenizer.tokens), 1)
    ids += [
        case.ids_by_text[t.encode()][0]
        for t in ("a", " a", "the")
        if t.encode() in case.ids_by_text
    ]
    ids = [i for i in dict.fromkeys(ids) if i not in ends]
    found = [(f"<[{i}]>", (i,)) for i in ids]
    if negations:
        others = sorted({*case.tokenizer.tokens, *case.tokenizer.added} - ends - {ids[0]})
        found.append((f"!<[{ids[0]}]>", tuple(others)))
    return rng.sample(found, min(len(found), rng.randint(1, 4)))


def _random(
    rng: random.Random, terminals: list[tuple[str, tuple[int, ...]]], texts: Sequence[str]
) -> TokenLanguage | None:
    rules: list[str] = []
    members: list[set[Member]] = []
    names = ["root", "x", "y"]
    for number in reversed(range(3)):
        bodies, found = [], set[Member]()
        for _ in range(rng.randint(1, 3)):
            body, kept = [], {()}
            for _ in range(rng.randint(1, 4)):
                kind = rng.random()
                if kind < 0.35 and members:
                    other = rng.randrange(len(members))
                    written, each = names[2 - other], members[other]
                elif kind < 0.65:
                    written, ids = rng.choice(terminals)
                    each = {(ids,)}
                else:
                    some = rng.sample(list(texts), rng.randint(1, 3))
                    written = f"({' | '.join(map(_quoted, some))})"
                    each = {(text,) for text in some}
                if rng.random() < 0.25:
                    written, each = f"({written})?", each | {()}
                body.append(written)
                kept = {one + other for one in kept for other in each}
                if len(kept) > _MOST:
                    return None
            bodies.append(" ".join(body))
            found |= kept
        rules.append(f"{names[number]} ::= {' | '.join(bodies)}")
        members.append(found)
    sizes = (prod(len(i) for i in m if not isinstance(i, str)) for m in members[-1])
    if len(members[-1]) > _MOST or sum(sizes) > _MOST_SEQUENCES:
        return None
    return TokenLanguage("\n".join(reversed(rules)), tuple(sorted(members[-1], key=repr)))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _joined(member: Member) -> Iterator[Item]:
    for is_text, items in groupby(member, lambda item: isinstance(item, str)):
        if is_text:
            text = "".join(item for item in items if isinstance(item, str))
            if text:
                yield text
        else:
            yield from items


def _given_back(text: str, case: Case, *, is_first: bool = True) -> Iterator[list[int]]:
    """The tokens of a text, as the first one or after an added token."""
    before = "" if is_first or not text else min(case.tokenizer.added.values(), default="")
    ids = case.encode(before + text)[bool(before) :]
    if case.gives_back(text, ids) and bool(text) == bool(ids):
        yield ids


def _encoded(items: list[Item], case: Case) -> Iterator[list[int]]:
    parts: list[list[int]] = [[]]
    for item in items:
        if isinstance(item, str):
            own = list(_given_back(item, case, is_first=False))
            if not own:
                return
            parts = [[*part, *own[0]] for part in parts]
        else:
            parts = [[*part, token] for part in parts for token in item]
    yield from parts


def _check_whole(member: Member, ids: list[int], case: Case) -> None:
    """The library encodes a member so, if all its tokens are added ones, and by the same ids."""
    names = case.tokenizer.added
    added = {i: name for i, name in names.items() if case.library.token_to_id(name) == i}
    if all(isinstance(item, str) or item[0] in added for item in member):
        whole = "".join(item if isinstance(item, str) else added[item[0]] for item in member)
        assert ids == case.encode(whole), whole

"""LinMaxMatch against the paper's figures and tables, its definitions, and naive matching."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Iterator

import pytest
from support.oracles.linmaxmatch import (
    NULL,
    ROOT,
    LinMaxMatch,
    SuffixTrie,
    precompute,
    trie_of_vocabulary,
)
from support.oracles.wordpiece import (
    END,
    Formal,
    Marked,
    Transducer,
    max_match_via_substrings,
    precompute_via_definition,
)

pytestmark = pytest.mark.quick

INDICATORS = ("##", "", "a", "#", "ab", "aa", "#a")

# Figure 1's vocabulary; ids are places in this list.
FIGURE_1 = ["a", "abcdx", "##b", "##c", "##cdy", "##dz"]

# Figure 1(b): node, pops, link. Nodes are written with ♯ where the paper's hang below it.
TABLE_1B = """
a: a -> ##            abcdx: abcdx -> ##       ##cd: ##c -> ##d
ab: a -> ##b          ##b: ##b -> ##           ##cdy: ##cdy -> ##
abc: a ##b -> ##c     ##c: ##c -> ##           ##dz: ##dz -> ##
abcd: a ##b -> ##cd
"""


def ids(tokens: list[str]) -> dict[str, int]:
    """A vocabulary: each token with its place as its id."""
    return {token: i for i, token in enumerate(tokens)}


def marked(text: str) -> Marked:
    """``##b`` is b after ♯."""
    return Marked(text.startswith("##"), text.removeprefix("##"))


def spelled(tokens: list[int] | None) -> list[str] | None:
    """Tokens of Figure 1 by name."""
    return None if tokens is None else [FIGURE_1[i] for i in tokens]


def names(trie: SuffixTrie) -> dict[int, Marked]:
    """What each node stands for."""
    found = {root: Marked(root != ROOT, "") for root in reversed(trie.roots)}
    pending = list(trie.roots)
    for u in pending:
        for c, v in trie.children[u].items():
            found[v] = Marked(found[u].suffix, found[u].text + c)
            pending.append(v)
    return found


def vocabularies(count: int, seed: int) -> Iterator[tuple[str, dict[str, int], list[str]]]:
    """Random indicators, vocabularies over three letters, and words to match."""
    draw = random.Random(seed)
    for number in range(count):
        mark = INDICATORS[number % len(INDICATORS)]
        letters = "ab#" if number % 2 else "abc"
        tokens = {
            draw.choice(("", mark)) + "".join(draw.choices(letters, k=draw.randint(1, 5)))
            for _ in range(draw.randint(1, 14))
        }
        tokens |= {prefix + c for c in letters for prefix in ("", mark) if draw.random() < 0.6}
        words = ["".join(draw.choices(letters, k=draw.randint(0, 12))) for _ in range(12)]
        yield mark, ids(sorted(tokens - {mark})), [*words, mark, mark + words[0]]


def test_figure_1() -> None:
    """Failure links and pops are those of the paper's running example."""
    matcher = LinMaxMatch(ids(FIGURE_1), "##")
    node_of = {name: node for node, name in names(matcher.trie).items()}
    found = {}
    for entry in TABLE_1B.replace("\n", "  ").split("  "):
        if entry.strip():
            name, _, rest = entry.strip().partition(": ")
            pops, _, link = rest.partition(" -> ")
            node = node_of[marked(name)]
            found[name] = node
            assert pops.split() == spelled(list(matcher.links.pops[node]))
            assert node_of[marked(link)] == matcher.links.link[node]

    assert 10 == len(found)
    for name in ("", "##", "##d"):
        assert NULL == matcher.links.link[node_of[marked(name)]]


def test_table_2() -> None:
    """The transitions for abcdz: four edges, two failures and an edge, one failure."""
    matcher = LinMaxMatch(ids(FIGURE_1), "##")
    name = names(matcher.trie)
    steps = [
        (t.char, ("##" if name[t.target].suffix else "") + name[t.target].text)
        for t in matcher.trace("abcdz")
    ]

    assert [
        ("a", "a"), ("b", "ab"), ("c", "abc"), ("d", "abcd"),
        ("", "##cd"), ("", "##d"), ("z", "##dz"), ("", "##"),
    ] == steps  # fmt: skip
    assert ["a", "##b", "##c", "##dz"] == spelled(matcher.tokenize("abcdz"))
    assert None is matcher.tokenize("abcz")
    assert None is matcher.tokenize("abcd")
    assert ["##b", "##c"] == spelled(matcher.tokenize("##bc"))


@pytest.mark.parametrize(
    ("w", "node", "tokens"),
    [
        ("abcd", "abcd", []),
        ("##bcd", "##cd", ["##b"]),
        ("##cdz", "##dz", ["##c"]),
        ("##bcdz", "##dz", ["##b", "##c"]),
        ("z", None, []),
    ],
)
def test_table_5(w: str, node: str | None, tokens: list[str]) -> None:
    """MinPop matching of the example strings."""
    formal = Formal(ids(FIGURE_1), "##")

    assert (None if node is None else marked(node), tokens) == (
        formal.g(marked(w))[0],
        spelled(formal.g(marked(w))[1]),
    )


@pytest.mark.parametrize(
    ("u", "c", "node", "tokens"),
    [
        ("##b", "c", "##c", ["##b"]),
        ("##c", "d", "##cd", []),
        ("##cd", "z", "##dz", ["##c"]),
        # The paper prints node 14 (␣) here; its Example 6 needs node 15 (♯␣).
        ("##dz", END, "##" + END, ["##dz"]),
        ("abcd", "z", "##dz", ["a", "##b", "##c"]),
        ("", "z", None, []),
    ],
)
def test_table_6(u: str, c: str, node: str | None, tokens: list[str]) -> None:
    """One-step MinPop matching, by the definition and by the transducer."""
    vocabulary = ids(FIGURE_1)
    found, popped = Formal(vocabulary, "##").h(marked(u), c)
    transducer = Transducer.of_trie(trie_of_vocabulary(vocabulary, "##"))
    node_of = {name: number for number, name in names(transducer.trie).items()}
    target, output = transducer.step(node_of[marked(u)], c)

    assert (None if node is None else marked(node), tokens) == (found, spelled(popped))
    assert (NULL if node is None else node_of[marked(node)], tuple(popped)) == (target, output)


def test_all_versions_agree() -> None:
    """Algorithms 1 and 4 are naive matching, also on words that are or begin with ♯."""
    for mark, vocabulary, words in vocabularies(700, seed=1):
        matcher = LinMaxMatch(vocabulary, mark)
        transducer = Transducer.of_trie(matcher.trie)
        for word in words:
            expected = max_match_via_substrings(word, vocabulary, mark).tokens
            assert expected == matcher.tokenize(word)
            assert expected == transducer.tokenize(word)


def test_links_are_those_of_the_definition() -> None:
    """Algorithm 2 is Definition 1, node by node."""
    for mark, vocabulary, _ in vocabularies(350, seed=2):
        trie = trie_of_vocabulary(vocabulary, mark)
        fast, slow = precompute(trie), precompute_via_definition(trie)
        assert slow.link == fast.link
        live = [v for v, target in enumerate(slow.link) if target != NULL]
        assert [slow.pops[v] for v in live] == [fast.pops[v] for v in live]


def test_lemmas(full: bool) -> None:
    """Lemmas 1 to 5 on random vocabularies."""
    for mark, vocabulary, words in vocabularies(140 if full else 50, seed=3):
        formal = Formal(vocabulary, mark)
        for word in words:
            for w in (Marked(False, word), Marked(True, word)):
                _check_lemmas_1_to_3(formal, w)
        trie = trie_of_vocabulary(vocabulary, mark)
        links = precompute(trie)
        name = names(trie)
        for v, link in enumerate(links.link):
            node, tokens = formal.failure(name[v])
            shared = node is not None and not mark and node.text == name[link].text
            assert (None if link == NULL else name[link]) == node or shared  # Lemma 5
            if link != NULL:
                assert list(links.pops[v]) == tokens
            _check_lemma_4(formal, name[v])


def _check_lemmas_1_to_3(formal: Formal, w: Marked) -> None:
    known = formal.suffixes if w.suffix else formal.initial
    for k in range(1, len(w.text) + 1):
        before, whole = Marked(w.suffix, w.text[: k - 1]), Marked(w.suffix, w.text[:k])
        if whole.text not in known and formal.p(whole):
            assert formal.p(before) == formal.p(whole)
            q = formal.q(before)
            assert Marked(q.suffix, q.text + w.text[k - 1]) == formal.q(whole)
        u, popped = formal.g(before)
        if u is not None:
            target, more = formal.h(u, w.text[k - 1])
            assert (target, popped + more) == formal.g(whole)
    node, tokens = formal.g(Marked(w.suffix, w.text + END))
    assert (None if node is None else tokens) == formal.max_match(w)


def _check_lemma_4(formal: Formal, u: Marked) -> None:
    for c in (*"abc#", END):
        if Marked(u.suffix, u.text + c) not in formal.nodes:
            link, pops = formal.failure(u)
            target, more = formal.h(link, c)
            node, tokens = formal.h(u, c)
            assert target == node
            if node is not None:
                assert pops + more == tokens


def test_word_that_begins_with_the_indicator() -> None:
    """Where a part of ♯ is a token too, one trie below one root finds nothing; two roots do."""
    vocabulary = {"#": 0, "###c": 1}

    assert [0, 1] == LinMaxMatch(vocabulary, "##").tokenize("##c")
    assert [0, 1] == max_match_via_substrings("##c", vocabulary, "##").tokens


def test_long_words_are_unknown() -> None:
    """A word of max_chars characters has tokens, with one more it has none."""
    matcher = LinMaxMatch({"a": 0, "##a": 1}, "##", max_chars=100)

    assert [0, *[1] * 99] == matcher.tokenize("a" * 100)
    assert None is matcher.tokenize("a" * 101)


@pytest.mark.parametrize("m", [8, 32, 128])
def test_transitions_are_linear(m: int) -> None:
    """On the worst words 2n + tokens transitions do, while naive look-ups grow with m."""
    # Only runs of m a's end in b: matching runs on for m characters and takes one.
    vocabulary = ids(["a", "##a", "a" * m + "b", "##" + "a" * m + "b"])
    word = "a" * 512
    matcher = LinMaxMatch(vocabulary, "##")
    tokens = matcher.tokenize(word)
    assert tokens is not None
    naive = max_match_via_substrings(word, vocabulary, "##", longest=m + 1)

    assert tokens == naive.tokens
    assert sum(1 for _ in matcher.trace(word)) <= 2 * len(word) + len(tokens)
    assert naive.lookups > len(word) * m // 2

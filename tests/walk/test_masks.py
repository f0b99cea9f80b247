"""Both forms of the walk find the masks of networks that are built as a whole, walked otherwise."""

# Tests here say `expected == actual`.

import gc
import json
import random
import weakref

import numpy as np
import pytest
from support import sampled
from support.grammars import JSON, random_grammars
from support.matcher import check_random_texts, whole_of

from constrain.artifacts.errors import WalkLimitError
from constrain.artifacts.growing import GrowingArtifact
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.walk import forms, kernel, layout
from constrain.compiler import Compiler, Tokenizer

ANY = {"tokenization": "any", "prewarm": 0}

# Loops of characters of one, two and three bytes, all outside ASCII and all of these but some;
# bounds near and far, of characters and of words; stacks that are several; names that may begin as
# keywords; and calls that end where others begin, so that a frame could be pushed on top of itself.
GRAMMARS = [
    JSON,
    r"start ::= #'[^\x00-\x1f\x85\u2028]+' '.' ;",
    r"start ::= #'[a-zé-ÿ]*[一-龯ぁ-ん]+' #'[а-я ]{2,30}' ;",
    "start ::= #'[a-z ]{3,70}' '!' | #'[a-z]{0,40}' ; ",
    "start ::= '[' #'([a-z]+,){1,9}' start? ']' ;",
    "start ::= start '+' start | '(' start ')' | #'[0-9]+' ;",
    "start ::= permute!('ab', 'ba', 'c'+, ('x' start)?) ;",
    r"start ::= word (' '? word)* ; word ::= 'and' | 'or' | 'not' start | #'[a-z_][a-z0-9_]*' ;",
    r"start ::= #'[a-z]+' | #'[a-m]*' 'xyz' start | 'if' #'[0-9a-f]*' | #'a[a-zé-ÿ]*b' start? ;",
    r"start ::= #'([a-z]{2,5}|if|else|[a-z]+[0-9])*' ('-' start)? | #'[A-Z]*' 'END' ;",
    "start ::= a 'b'? | start start ; a ::= 'a' a | 'a' start? 'c' | '' ;",
]


@pytest.mark.quick
@pytest.mark.parametrize("text", GRAMMARS)
def test_languages(text: str, form: str, default_tokenizer: Tokenizer) -> None:
    check(text, 3, 25, default_tokenizer)


@sampled("seed", range(3), range(60))
def test_random_grammars(
    seed: int, form: str, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where what was made is dropped all the time, which the form in Python can be made to do;
    in that some masks of few grammars take seconds, so that it finds fewer."""
    for name in ("MANY_SETS", "MANY_BITS"):
        monkeypatch.setattr(kernel, name, 3)
    for place, (text, _) in enumerate(random_grammars(3, 1_000 + seed)):
        if form == "compiled":
            check(text, 2, 10, default_tokenizer)
        elif place == seed % 3:
            check(text, 1, 4, default_tokenizer)


def check(text: str, texts: int, tokens: int, tokenizer: Tokenizer) -> None:
    """Compare masks along random texts."""
    found = Compiler(tokenizer).compile(text, dialect="kbnf", **ANY)
    if isinstance(found, GrowingArtifact):
        check_random_texts([found, whole_of(tokenizer, text)], texts, tokens, seed=7, short=0.5)


@pytest.mark.quick
def test_names_are_taken_whole_beside_keywords(default_tokenizer: Tokenizer, form: str) -> None:
    """After any letter a keyword may begin, so that no state loops; still a walk does not come to
    tokens of letters one by one."""
    text = r"start ::= #'[a-z]+' ('and' #'[a-z]+' | 'or' #'[a-z]+' | 'not')* ;"
    machine = Compiler(default_tokenizer).compile(text, dialect="kbnf", **ANY).machine()
    walk = forms.kernel()(machine.states, machine.network.stacks)
    trie = Trie.from_vocabulary(default_tokenizer.vocabulary())
    walk.lay_out(layout.layout_of(trie, default_tokenizer.vocab_size))
    words = np.zeros(default_tokenizer.vocab_size // 32 + 1, np.uint32)

    ((state, node),) = walk.step([(machine.states.start, 0)], b"x")
    walk.mask(state, node, words)
    assert np.bitwise_count(words).sum() > 4 * walk.visited


@pytest.mark.quick
def test_rows_are_not_made_for_chains_of_states(default_tokenizer: Tokenizer, form: str) -> None:
    """Each of many optional characters leads to a state that reads less: the first mask does not
    make them all, and the rows are not made one inside of the other."""
    text = "start ::= " + " ".join(f"(#'[a-z]' | '{n}')?" for n in range(1_050)) + " ;"
    artifact = Compiler(default_tokenizer).compile(text, dialect="kbnf", **ANY)
    machine = artifact.machine()
    machine.row(machine.start)
    assert len(machine.states) < 500


@pytest.mark.quick
def test_what_a_walk_may_have_is_bounded(form: str, default_tokenizer: Tokenizer) -> None:
    """A mask that needs more threads raises an error, and no other one is found after it."""
    text = "start ::= y | start x x ; x ::= y start start | '' start ; y ::= (#'[^b]')* | #'a+b?' ;"
    machine = Compiler(default_tokenizer).compile(text, dialect="kbnf", **ANY).machine()
    walk = forms.kernel()(machine.states, machine.network.stacks, 4)
    trie = Trie.from_vocabulary(default_tokenizer.vocabulary())
    walk.lay_out(layout.layout_of(trie, default_tokenizer.vocab_size))
    words = np.zeros(256, np.uint32)

    with pytest.raises(WalkLimitError, match="more than 4 threads"):
        for target, node in walk.step([(machine.states.start, 0)], b"a"):
            walk.mask(target, node, words)


@pytest.mark.quick
def test_exits_are_those_of_all_paths(default_tokenizer: Tokenizer, form: str) -> None:
    """The tokens below a node without some characters, and the first nodes with some, are those of
    the tokens themselves."""
    artifact = Compiler(default_tokenizer).compile(json.dumps({}), dialect="json-schema", **ANY)
    vocabulary = artifact.vocabulary
    laid_out = layout.layout_of(Trie.from_vocabulary(vocabulary), vocabulary.size)
    rng = random.Random(3)
    nodes = np.asarray(laid_out.nodes).reshape(-1, layout.FIELDS)
    classes = np.asarray(laid_out.classes).reshape(-1, 2)

    assert len(nodes) == len(laid_out.octets)
    for node in rng.sample(range(len(nodes)), 300):
        first, last, begin, own, end = nodes[node].tolist()
        children = range(first, last)
        assert all(child > node for child in children)
        assert sorted(laid_out.octets[first:last]) == list(laid_out.octets[first:last])
        assert end == (nodes[last - 1][layout.END] if last > first else own)
        assert begin <= own <= end
        below = np.bitwise_or.reduce(classes[first:last, 0], initial=np.uint64(0))
        assert int(below) & ~int(classes[node, 1]) == 0


@pytest.mark.quick
def test_layouts_go_with_their_tries(default_tokenizer: Tokenizer) -> None:
    """What is kept with a trie does not keep it."""
    trie = Trie.from_vocabulary(default_tokenizer.vocabulary())
    laid_out = layout.layout_of(trie, default_tokenizer.vocab_size)
    assert laid_out is layout.layout_of(trie, default_tokenizer.vocab_size)
    is_there = weakref.ref(trie)
    del trie, laid_out
    gc.collect()

    assert is_there() is None

"""Transformers itself, with a tiny random model and GPT-2's tokens: what it generates are members
of the grammar, encoded as the tokenizer does; and the kernels of others on rows of ours.

These tests run with --full, where the libraries are installed.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import re
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import EXAMPLES
from support.serving import allowed_after

from constrain.artifacts import Artifact
from constrain.artifacts.serving import bitmask, transformers
from constrain.compiler import Compiler, SchemaOptions, Tokenizer

EOS, MOST = 50256, 200

TOOL = json.loads((EXAMPLES / "tool_call.schema.json").read_text("utf-8"))
SQL = r"""
root ::= "SELECT " columns " FROM " name (" WHERE " test (" AND " test)?)? ";"
columns ::= "*" | name (", " name){0,3}
test ::= name (" = " | " < " | " > ") (number | text)
name ::= [a-z] [a-z_]{0,9}
number ::= "0" | [1-9] [0-9]{0,5}
text ::= "'" [^'\n]{0,20} "'"
"""
_NAME, _VALUE = "[a-z][a-z_]{0,9}", r"(0|[1-9][0-9]{0,5}|'[^'\n]{0,20}')"
SQL_TEXTS = (
    rf"SELECT (\*|{_NAME}(, {_NAME}){{0,3}}) FROM {_NAME}"
    rf"( WHERE {_NAME} [=<>] {_VALUE}( AND {_NAME} [=<>] {_VALUE})?)?;"
)
ANSWER = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}, "unit": {"enum": ["m", "kg"]}},
    "required": ["answer", "unit"],
    "additionalProperties": False,
}
_THOUGHT = {"type": "tag", "begin": "<think>", "content": {"type": "any_text"}, "end": "</think>"}
_PARTS = [_THOUGHT, {"type": "json_schema", "json_schema": ANSWER}]
TAG = {"type": "structural_tag", "format": {"type": "sequence", "elements": _PARTS}}

# The grammars of the fixture below; where all of a test skips, it skips once.
NAMES = ["json", "tool", "tag", "sql"]


@pytest.fixture(scope="module")
def library(full: bool) -> Any:
    """The library of transformers, and PyTorch beside it."""
    if not full:
        pytest.skip("real models run with --full")
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    return pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def artifact(library: Any, gpt2: Tokenizer) -> Callable[..., Artifact]:
    """Artifacts by name, each compiled once."""
    compiler = Compiler(gpt2)
    texts = {
        "json": ((EXAMPLES / "json.ebnf").read_text("utf-8"), "kbnf"),
        "tool": (json.dumps(TOOL), "json-schema"),
        "tag": (json.dumps(TAG), "structural-tag"),
        "sql": (SQL, "gbnf"),
    }

    @cache
    def compiled(name: str, tokenization: str = "canonical") -> Artifact:
        text, dialect = texts[name]
        schema = SchemaOptions(whitespace="1")
        return compiler.compile(text, dialect=dialect, tokenization=tokenization, schema=schema)

    return compiled


def is_member(name: str, text: str) -> bool:
    """By what others say of the grammars."""
    if name == "sql":
        return re.fullmatch(SQL_TEXTS, text) is not None
    if name == "tag":
        thought, end, said = text.partition("</think>")
        return thought.startswith("<think>") and bool(end) and is_member("answer", said)
    try:
        value = json.loads(text)
    except ValueError:
        return False
    schema = {"tool": TOOL, "answer": ANSWER}.get(name, True)
    return pytest.importorskip("jsonschema").Draft202012Validator(schema).is_valid(value)


@dataclass(frozen=True)
class Models:
    """A model and a smaller one for drafts, both random; ``library``: the tokenizer's own."""

    transformers: Any
    model: Any
    draft: Any
    library: Any

    def generate(
        self, processors: Sequence[Any], prompts: Sequence[Sequence[int]], seed: int, **how: Any
    ) -> list[list[int]]:
        """The tokens after the prompts, which are of one length."""
        import torch

        torch.manual_seed(seed)
        given = torch.tensor(prompts)
        how = {"max_new_tokens": MOST, "top_k": 0, **how}
        with torch.no_grad():
            found = self.model.generate(
                given,
                attention_mask=torch.ones_like(given),
                logits_processor=[self.nudge(given.shape[1]), *processors],
                **how,
            )
        return [row[given.shape[1] :] for row in found.tolist()]

    def nudge(self, begin: int) -> Any:
        """What makes texts end: after forty tokens it prefers what closes, and the end."""
        closing = {'"': 40, "}": 34, "]": 34, ":": 28, ",": 26, "1": 12, "e": 1}
        bias = {self.library.token_to_id(text): float(value) for text, value in closing.items()}
        bias[EOS] = 50.0
        find, decode = self.library.token_to_id, self.library.decode

        class Nudge(self.transformers.LogitsProcessor):  # type: ignore[misc]
            def __call__(self, input_ids: Any, scores: Any) -> Any:
                for row, ids in enumerate(input_ids[:, begin:].tolist()):
                    text = decode(ids)
                    if len(ids) < 40:
                        continue
                    if text.startswith("<think>") and "</think>" not in text:
                        for token_id, value in end_of_thought(text).items():
                            scores[row, token_id] += value
                    else:
                        for token_id, value in bias.items():
                            scores[row, token_id] += value
                return scores

        def end_of_thought(text: str) -> dict[int, float]:
            """The rest of the tag by its longest token that may come next."""
            tag = "</think>"
            known = next(n for n in range(len(tag) - 1, -1, -1) if text.endswith(tag[:n]))
            found = {find(tag[known:end]): 50.0 + end for end in range(known + 1, len(tag) + 1)}
            return {token_id: value for token_id, value in found.items() if token_id is not None}

        return Nudge()

    def ended(self, ids: list[int]) -> tuple[str, list[int]] | None:
        """The text, and its tokens; None if it has no end."""
        if EOS not in ids:
            return None
        end = ids.index(EOS)
        assert {EOS} == set(ids[end:])
        return self.library.decode(ids[:end], skip_special_tokens=False), ids[:end]


@pytest.fixture(scope="module")
def models(library: Any, data: Callable[[str], Path]) -> Models:
    """With one seed, always the same."""
    import torch

    def random(width: int) -> Any:
        config = library.GPT2Config(
            n_layer=1,
            n_head=2,
            n_embd=width,
            n_positions=512,
            vocab_size=50257,
            **dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), EOS),
        )
        return library.GPT2LMHeadModel(config).eval()

    torch.manual_seed(0)
    tokenizer = pytest.importorskip("tokenizers").Tokenizer
    own = tokenizer.from_file(str(data("tokenizers/gpt2/tokenizer.json")))
    return Models(library, random(32), random(16), own)


class Checked:
    """A processor whose every mask is held against that of a matcher that begins again."""

    supports_continuous_batching = False

    def __init__(self, processor: Any, artifacts: Sequence[Artifact], prompt_length: int) -> None:
        self.processor, self.artifacts, self.begin = processor, artifacts, prompt_length
        self.rows = 0

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """What the processor gives."""
        found = self.processor(input_ids, scores)
        for row, text in enumerate(input_ids[:, self.begin :].tolist()):
            artifact = self.artifacts[row * len(self.artifacts) // len(input_ids)]
            expected = np.full(scores.shape[1], -np.inf, np.float32)
            ids = allowed_after(artifact, text)
            expected[ids] = scores[row].numpy()[ids]
            assert np.array_equal(expected, found[row].numpy())
            self.rows += 1
        return found


@pytest.mark.sampled("tokenization", ["any"], ["canonical", "any"])
@pytest.mark.sampled("name", NAMES[:1], NAMES)
def test_what_is_generated_are_members(
    name: str,
    tokenization: str,
    models: Models,
    artifact: Callable[..., Artifact],
    record_property: Callable[[str, object], None],
) -> None:
    """All of fifty texts, in batches of ten, end and are members; under canonical masks each is
    encoded as the tokenizer encodes it. Without the processor none is a member."""
    found = []
    for seed in range(5):
        made = transformers.processor(artifact(name, tokenization))
        found += models.generate([made], [[EOS]] * 10, seed, do_sample=True)
    texts = [models.ended(ids) for ids in found]
    canonical = 0
    for each in texts:
        assert each is not None
        text, ids = each
        assert is_member(name, text), text
        canonical += ids == models.library.encode(text, add_special_tokens=False).ids
    assert tokenization == "any" or 50 == canonical
    record_property("members", len(texts))
    record_property("encoded as the tokenizer does", canonical)
    free = models.generate([], [[EOS]] * 10, 0, do_sample=True)
    ended = [models.ended(ids) for ids in free]
    assert not any(each is not None and is_member(name, each[0]) for each in ended)


@pytest.mark.sampled("name", NAMES[:1], NAMES)
def test_beams_are_reordered_and_stay_members(
    name: str, models: Models, artifact: Callable[..., Artifact]
) -> None:
    """Two prompts with four beams each; each mask is that of a new matcher."""
    found = artifact(name)
    made = Checked(transformers.processor(found), [found], 2)
    prompts = [[EOS, 11], [EOS, 464]]
    texts = models.generate(
        [made], prompts, 0, num_beams=4, num_return_sequences=4, do_sample=False
    )
    assert 8 == len(texts)
    assert made.rows > 8 * 20
    for ids in texts:
        each = models.ended(ids)
        assert each is not None
        assert is_member(name, each[0])
        assert each[1] == models.library.encode(each[0], add_special_tokens=False).ids


@pytest.mark.sampled("name", NAMES[:1], NAMES)
@pytest.mark.sampled("drafts", ["model"], ["model", "prompt"])
def test_assisted_decoding_equals_greedy(
    name: str, drafts: str, models: Models, artifact: Callable[..., Artifact]
) -> None:
    """By drafts of another model, which the processor masks, too, and by looked up ones."""
    found = artifact(name)
    how: dict[str, Any] = {"assistant_model": models.draft}
    if drafts == "prompt":
        how = {"prompt_lookup_num_tokens": 3}
    for prompt in ([EOS, 464], [464, 11, 464, 11]):
        made = Checked(transformers.processor(found), [found], len(prompt))
        expected = models.generate([transformers.processor(found)], [prompt], 0, do_sample=False)
        assert models.ended(expected[0]) is not None
        assert expected == models.generate([made], [prompt], 0, do_sample=False, **how)
        assert made.rows > len(expected[0])


@pytest.mark.sampled("tokenization", ["any"], ["canonical", "any"])
@pytest.mark.sampled("name", NAMES[1:2], NAMES)
def test_forced_tokens_are_drafts_and_the_texts_are_the_same(
    name: str,
    tokenization: str,
    models: Models,
    artifact: Callable[..., Artifact],
    record_property: Callable[[str, object], None],
) -> None:
    """Greedy ones are, with fewer steps of the model; sampled ones are members."""
    found = artifact(name, tokenization)
    steps: list[int] = []

    def counted(module: Any, given: Any, result: Any) -> None:
        steps[-1] += 1

    def encode(text: str) -> list[int]:
        return list(models.library.encode(text, add_special_tokens=False).ids)

    counting = models.model.register_forward_hook(counted)
    with counting:
        for prompt in ([EOS, 464], [464, 11]):
            made = transformers.processor(found)
            steps.append(0)
            expected = models.generate([made], [prompt], 0, do_sample=False)
            checked = Checked(transformers.processor(found), [found], len(prompt))
            drafted = transformers.drafting(checked.processor, encode=encode)
            steps.append(0)
            how: dict[str, Any] = {"do_sample": False, "custom_generate": drafted}
            assert expected == models.generate([checked], [prompt], 0, **how)
            assert steps[-1] < steps[-2] or name == "json"
        for seed in range(5):
            made = transformers.processor(found)
            drafted = transformers.drafting(made, most=3, encode=encode)
            steps.append(0)
            how = {"do_sample": True, "custom_generate": drafted}
            each = models.ended(models.generate([made], [[EOS]], seed, **how)[0])
            assert each is not None
            assert is_member(name, each[0])
    assert "_get_candidate_generator" not in vars(models.model)
    record_property("steps without drafts", steps[0] + steps[2])
    record_property("steps with drafts", steps[1] + steps[3])


def test_several_answers_to_prompts_with_grammars_of_their_own(
    models: Models, artifact: Callable[..., Artifact]
) -> None:
    """Five for each of two prompts."""
    several = [artifact("tool"), artifact("sql")]
    made = Checked(transformers.processor(several), several, 1)
    texts = models.generate([made], [[11], [464]], 1, do_sample=True, num_return_sequences=5)
    for row, ids in enumerate(texts):
        each = models.ended(ids)
        assert each is not None
        assert is_member(("tool", "sql")[row // 5], each[0])


def test_the_script_gives_members(
    models: Models,
    data: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From its command line, by a model that is saved in a folder."""
    models.model.save_pretrained(tmp_path)
    file = str(data("tokenizers/gpt2/tokenizer.json"))
    fast = models.transformers.PreTrainedTokenizerFast(
        tokenizer_file=file, eos_token="<|endoftext|>"
    )
    fast.save_pretrained(tmp_path)
    schema = tmp_path / "schema.json"
    schema.write_text('{"enum": ["red", "green"]}')
    script = EXAMPLES / "serving" / "with_transformers.py"
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path), str(schema), "Which colour"])
    runpy.run_path(str(script), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert 2 == len(lines)
    assert {json.loads(line) for line in lines} <= {"red", "green"}


@pytest.fixture(scope="module")
def rows(artifact: Callable[..., Artifact]) -> Iterator[np.ndarray]:
    """Masks along a text, and one of nothing."""
    found = artifact("json")
    ids = [*range(500, 520)]
    matcher = found.matcher()
    kept = np.zeros((32, (found.vocab_size + 31) // 32), np.int32)
    for row in kept[:-1]:
        matcher.fill(row)
        matcher.accept([int(np.flatnonzero(bitmask.allowed(row[np.newaxis], 50257)[0])[-1])])
        matcher.accept(ids[:1])
    yield kept


@pytest.mark.sampled("count", [1], [1, 8, 32])
@pytest.mark.sampled("width", [50257], [50257, 50304])
def test_kernels_of_others_give_the_same_logits(
    count: int, width: int, rows: np.ndarray, library: Any
) -> None:
    """xgrammar's for CPUs, llguidance's of NumPy and PyTorch's own, bit for bit; the logits may be
    more than the tokens."""
    import torch

    given = np.random.default_rng(count).standard_normal((count, width), np.float32)
    expected = given.copy()
    bitmask.apply(expected, rows[:count])
    assert (expected == -np.inf).any()
    for kernel in ("numpy", "torch", "xgrammar", None):
        if kernel == "xgrammar":
            pytest.importorskip("xgrammar")
        found = torch.from_numpy(given.copy())
        bitmask.apply_torch(found, rows[:count], kernel)
        assert expected.tobytes() == found.numpy().tobytes()
    wide = np.zeros((count, (width + 31) // 32), np.int32)
    wide[:, : rows.shape[1]] = rows[:count]
    with suppress(ImportError):
        import xgrammar

        found = torch.from_numpy(given.copy())
        xgrammar.apply_token_bitmask_inplace(found, torch.from_numpy(wide))
        assert expected.tobytes() == found.numpy().tobytes()
    with suppress(ImportError):
        import llguidance.numpy

        theirs = given.copy()
        llguidance.numpy.apply_token_bitmask_inplace(theirs, rows[:count])
        assert expected.tobytes() == theirs.tobytes()


def test_half_precision_has_its_kernel(rows: np.ndarray, library: Any) -> None:
    """bfloat16, which NumPy does not have, by PyTorch's own; 16 bits of NumPy's by NumPy's."""
    import torch

    for dtype in (torch.bfloat16, torch.float16, torch.float64):
        given = torch.randn(4, 50257).to(dtype)
        found = given.clone()
        bitmask.apply_torch(found, rows[:4])
        flags = torch.from_numpy(bitmask.allowed(rows[:4], 50257).copy())
        assert torch.equal(torch.where(flags, given, float("-inf")), found)
    with pytest.raises(ValueError, match=r"NumPy does not share torch\.bfloat16 on cpu"):
        bitmask.apply_torch(torch.zeros(4, 50257, dtype=torch.bfloat16), rows[:4], "numpy")

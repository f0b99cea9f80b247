"""A store on S3, by moto's server: nothing is overwritten, whoever races."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.stores import KEYS, OTHER_KEY, damage, made, masks_of

from constrain.artifacts.store.store import Store
from constrain.compiler import CompileJob, CompileOptions, Tokenizer, compile_many


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """An S3 server of this machine with a bucket, as the environment names it."""
    why = "pip install 'constrain-grammar[test-services]' for an S3 server to test on"
    server = pytest.importorskip("moto.server", reason=why)
    pytest.importorskip("s3fs", reason=why)
    boto3 = pytest.importorskip("boto3", reason=why)
    running = server.ThreadedMotoServer(port=0)
    running.start()
    host, port = running.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "none")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "none")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        boto3.client("s3").create_bucket(Bucket="grammars")
        yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def store(endpoint: str, tmp_path: Path) -> Store:
    """An empty prefix of the bucket."""
    assert endpoint
    return Store(f"s3://grammars/{tmp_path.name}", folder=tmp_path / "copies")


@pytest.mark.parametrize("thin", [False, True])
def test_put_get_list_and_collect(store: Store, thin: bool, default_tokenizer: Tokenizer) -> None:
    """As in a folder; another machine, with copies of its own, finds the same."""
    artifacts = {key: made(f"{n}[a-c]+", default_tokenizer) for n, key in enumerate(KEYS)}
    for key, artifact in artifacts.items():
        assert store.get(key) is None
        assert store.put(key, artifact, thin=thin)

    for key, artifact in artifacts.items():
        found = store.get(key)
        assert found is not None
        assert masks_of(artifact) == masks_of(found)
    assert sorted(KEYS) == [entry.key for entry in store.entries()]
    assert [] == list(store.verify())
    assert store.collect(most_bytes=0).bytes_left == 0
    assert [] == list(store.entries())


def test_nothing_is_overwritten_and_of_two_writers_one_wins(
    store: Store, default_tokenizer: Tokenizer
) -> None:
    """By the server itself: both ask for the name to be free."""
    first, second = (made(text, default_tokenizer) for text in ("[ab]{2}", "[cd]{2}"))
    assert store.put(KEYS[0], first)
    assert not store.put(KEYS[0], second)
    found = store.get(KEYS[0])
    assert found is not None
    assert masks_of(first) == masks_of(found)

    with ThreadPoolExecutor(2) as pool:
        wrote = list(pool.map(lambda made: store.put(OTHER_KEY, made), [first, second]))

    found = store.get(OTHER_KEY)
    assert found is not None
    assert 1 == wrote.count(True)
    assert masks_of([first, second][wrote.index(True)]) == masks_of(found)


@pytest.mark.parametrize("kind", ["damaged", "empty", "of another key"])
def test_no_wrong_object_is_served(kind: str, store: Store, default_tokenizer: Tokenizer) -> None:
    """It is taken away, and written again by whoever asks next."""
    artifact = made("[a-c]{2,5}", default_tokenizer)
    assert store.put(KEYS[0], artifact)
    assert store.put(OTHER_KEY, made("[x-z]+", default_tokenizer))
    damage(store, KEYS[0], OTHER_KEY, kind)

    assert 1 == len(list(store.verify()))
    assert store.get(KEYS[0]) is None
    assert store.put(KEYS[0], artifact)
    assert store.get(KEYS[0]) is not None


def test_a_batch_into_a_bucket_is_found_there(store: Store) -> None:
    """The second run compiles nothing, with copies of another machine or without."""
    options = CompileOptions(dialect="regex", tokenization="any", prewarm=0, thin=True)
    jobs = [CompileJob(f"[ab]{{{n}}}", options) for n in range(1, 4)]
    with ThreadPoolExecutor(2) as executor:
        first = compile_many(jobs, store=store.url, executor=executor)
        again = compile_many(jobs, store=store.url, executor=executor)

    assert ["compiled"] * 3 == [each.status for each in first]
    assert ["present"] * 3 == [each.status for each in again]
    assert [each.bytes for each in first] == [each.bytes for each in again]
    assert sorted(each.key or "" for each in first) == [entry.key for entry in store.entries()]
    assert store.get(first[0].key or "") is not None

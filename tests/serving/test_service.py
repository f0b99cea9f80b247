"""Compiling for a server: each text once, in processes whose end fails one request alone."""

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.serving.endless import ENDLESS, ENDLESS_TEXT, KBNF

from constrain.artifacts.tokens import tokenset
from constrain.compiler import Limits, children, compile_grammar, load_tokenizer
from constrain.compiler.options import CompileOptions
from constrain.compiler.schema.options import SchemaOptions
from constrain.compiler.serving import workers
from constrain.compiler.serving.artifact_key import artifact_key
from constrain.compiler.serving.folder import Folder
from constrain.compiler.serving.jobs import Job, Outcome
from constrain.compiler.serving.metrics import Metrics, prometheus
from constrain.compiler.serving.service import CompileService, ServiceError
from constrain.compiler.tokenizers import default_path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the service's artifacts."""
    return tmp_path_factory.mktemp("artifacts")


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[CompileService]:
    """A service of two processes."""
    with CompileService(default_path(), folder=folder) as found:
        yield found


def test_an_artifact_of_a_service_is_that_of_compiling_here(service: CompileService) -> None:
    """The same masks; the second request has the open artifact itself, and so have those that
    ask while it is compiled."""
    text = 's ::= "yes" | "no" n; n ::= "!" n | "";'
    first, second = service.get(text, KBNF), service.get(text, KBNF)
    artifact = first.result(60)
    assert second.result(60) is artifact
    here = compile_grammar(text, tokenizer=load_tokenizer(), options=KBNF)
    assert tokenset.to_ids(artifact.matcher().mask()).tolist() == (
        tokenset.to_ids(here.matcher().mask()).tolist()
    )
    assert service.get(text, KBNF).result(0) is artifact


def test_another_service_reads_what_is_in_the_folder(service: CompileService, folder: Path) -> None:
    """Without a process; a damaged file is compiled again."""
    text = 's ::= "on disk";'
    service.get(text, KBNF).result(60)
    key = artifact_key(text, replace(KBNF, thin=True), load_tokenizer())
    file = folder / key[:2] / f"{key}.cst"
    before = file.read_bytes()
    with CompileService(default_path(), folder=folder, workers=1) as other:
        other.get(text, KBNF).result(60)
        assert not other._workers._all
    file.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
    with CompileService(default_path(), folder=folder, workers=1) as other:
        other.get(text, KBNF).result(60)
        assert other._workers._all
    assert file.read_bytes() == before


def test_what_is_wrong_is_told_to_the_one_who_asked(service: CompileService) -> None:
    """A grammar's mistake with its place, a limit with its rule; the next request is served."""
    with pytest.raises(ServiceError, match="rule 't' is not defined") as wrong:
        service.get("s ::= t;", KBNF).result(60)
    assert (wrong.value.status, wrong.value.exit_code) == (400, 2)
    assert "1:7" in str(wrong.value)
    with pytest.raises(ServiceError, match="raise --max-states") as large:
        limits = Limits(states=50)
        service.get('s ::= #"(a|b)*a(a|b){9}";', replace(KBNF, engine="dfa", limits=limits)).result(
            60
        )
    assert (large.value.status, large.value.exit_code) == (400, 3)
    assert service.get('s ::= "fine";', KBNF).result(60)


def test_a_process_that_dies_fails_its_request_alone(folder: Path) -> None:
    """Killed while it compiles: that request says so, the next has a new process."""
    with CompileService(default_path(), folder=folder, workers=1) as service:
        doomed = service.get(ENDLESS_TEXT, ENDLESS)
        following = service.get('s ::= "after";', KBNF)
        while not any(each._is_ready for each in service._workers._all):
            time.sleep(0.02)
        [process] = service._workers._all
        process._running.kill()
        with pytest.raises(ServiceError, match="the compiling process ended by signal") as dead:
            doomed.result(60)
        assert (dead.value.status, dead.value.exit_code) == (500, 70)
        assert following.result(60)
        assert process not in service._workers._all


def test_what_befalls_processes_between_jobs_is_no_fault_of_the_next(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was killed while it had nothing to do is replaced; if none can be started, the
    request says so, and the next is served again."""
    with CompileService(default_path(), folder=folder, workers=1) as service:

        def broken(*_: object, **__: object) -> None:
            raise OSError(12, "Cannot allocate memory")

        with monkeypatch.context() as patch:
            patch.setattr(workers.subprocess, "Popen", broken)
            with pytest.raises(ServiceError, match="Cannot allocate memory") as failed:
                service.get('s ::= "not started";', KBNF).result(60)
        assert (failed.value.status, failed.value.exit_code) == (500, 70)
        assert service.get('s ::= "started";', KBNF).result(60)
        [process] = service._workers._all
        process._running.kill()
        process._running.wait()
        assert service.get('s ::= "started again";', KBNF).result(60)
        assert process not in service._workers._all


def test_a_process_ends_with_its_server_whatever_it_is_doing() -> None:
    """Its input ends when the server is killed, too; what it compiles then is of no use."""
    with CompileService(default_path(), workers=1) as service:
        service.get(ENDLESS_TEXT, ENDLESS)
        while not any(each._is_ready for each in service._workers._all):
            time.sleep(0.02)
        [process] = service._workers._all
        time.sleep(0.1)
        process._running.stdin.close()
        assert process._running.wait(20) == 0


@pytest.mark.quick
def test_mistakes_of_the_program_that_asks_are_raised_at_once(
    service: CompileService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text that is none, options without a dialect, and a service that a fork has copied, whose
    threads are not there: its futures would never be done."""
    with pytest.raises(ValueError, match="options need a dialect"):
        service.get('s ::= "a";')
    with pytest.raises(ValueError, match="options need a dialect"):
        service.get('s ::= "a";', replace(KBNF, dialect="yacc"))
    with pytest.raises(TypeError, match="a grammar is a string, not bytes"):
        service.get(b"s", KBNF)  # type: ignore[arg-type]
    monkeypatch.setattr("os.getpid", lambda: -1)
    with pytest.raises(RuntimeError, match="make one in each fork"):
        service.get('s ::= "a";', KBNF)


def test_a_process_that_does_not_keep_its_limit_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a job is watched from outside, too; and closing waits for nothing."""
    monkeypatch.setattr(workers, "_GRACE", 0.5 - 60 - 120)
    with CompileService(default_path(), workers=1) as service:
        with pytest.raises(ServiceError, match=r"took more than 0\.5 seconds of CPU") as late:
            service.get(ENDLESS_TEXT, ENDLESS).result(60)
        assert late.value.status == 500
        monkeypatch.undo()
        waiting = service.get(ENDLESS_TEXT, ENDLESS)
    assert isinstance(waiting.exception(0), ServiceError)
    with pytest.raises(RuntimeError, match="the service is closed"):
        service.get('s ::= "closed";', KBNF)


def test_too_many_waiting_are_refused() -> None:
    """At once, with the status that a client may try again by."""
    with CompileService(default_path(), workers=1, waiting=1) as service:
        service.get(ENDLESS_TEXT, ENDLESS)
        refused = service.get('s ::= "one too many";', KBNF)
        assert isinstance(error := refused.exception(0), ServiceError)
        assert (error.status, error.retry_after) == (503, 1)


def test_the_least_recently_used_artifacts_are_closed(folder: Path) -> None:
    """The open ones are bounded by the bytes that they hold; the folder has all of them."""
    texts = [f's ::= "open {i}";' for i in range(3)]
    with CompileService(default_path(), folder=folder, workers=1, open_bytes=1) as service:
        first = service.get(texts[0], KBNF).result(60)
        assert service.get(texts[0], KBNF).result(0) is first
        service.get(texts[1], KBNF).result(60)
        assert service.get(texts[0], KBNF).result(60) is not first


@pytest.mark.quick
def test_the_key_says_all_that_an_artifact_depends_on(tmp_path: Path) -> None:
    """Any option but the seconds changes it, and so do the files that a schema may refer to."""
    tokenizer, text = load_tokenizer(), 's ::= "a";'
    (tmp_path / "a.json").write_text("{}", encoding="utf-8")
    schema = SchemaOptions(schemas=(("", str(tmp_path)),))
    changed = [
        KBNF,
        replace(KBNF, tokenization="canonical"),
        replace(KBNF, prewarm=1),
        replace(KBNF, eos=(3,)),
        replace(KBNF, limits=replace(KBNF.limits, states=7)),
        replace(KBNF, schema=SchemaOptions()),
        replace(KBNF, schema=schema),
    ]
    keys = [artifact_key(text, each, tokenizer) for each in changed]
    assert len(set(keys)) == len(changed)
    (tmp_path / "a.json").write_text("true", encoding="utf-8")
    assert artifact_key(text, changed[-1], tokenizer) != keys[-1]
    other = replace(KBNF, limits=replace(KBNF.limits, seconds=1).started())
    assert artifact_key(text, other, tokenizer) == keys[0]
    assert artifact_key(text + " ", KBNF, tokenizer) not in keys


@pytest.mark.quick
def test_jobs_and_outcomes_are_lines_of_json() -> None:
    """Read back as they were, the text or the body after its line; an unknown field is an error."""
    schema = SchemaOptions(schemas=(("https://a/", "b"),), whitespace="one")
    options = CompileOptions(schema=schema, eos=("<a>", 3), limits=Limits(seconds=2).started())
    job = Job("", options, "out", "own", how={"style": "json"}, body=b"\xff\n{}")
    for each in (job, Job('s ::= "\n\u20ac";', options, "out", "own")):
        line, text = each.written()
        assert line.endswith(b"}\n")
        assert Job.read(line, io.BytesIO(text + b"next")) == each
    outcome = Outcome("line 1\nline 2", 2)
    assert Outcome.of_line(outcome.to_line()) == outcome
    unknown = json.loads(line)
    unknown["options"]["unknown"] = 1
    with pytest.raises(TypeError):
        Job.read(json.dumps(unknown).encode("ascii"), io.BytesIO(text))


def test_a_store_is_read_before_anything_is_compiled(tmp_path: Path) -> None:
    """What one service compiled another finds, without a process; one that only reads writes
    nothing, and a store that cannot be used fails no request."""
    text, store = 's ::= "in a store";', tmp_path / "store"
    with CompileService(default_path(), store=store, workers=1, read_only=True) as service:
        first = service.get(text, KBNF).result(60)
    assert not store.exists()
    with CompileService(default_path(), store=store, workers=1) as service:
        service.get(text, KBNF).result(60)
    with CompileService(default_path(), store=store, workers=1) as service:
        found = service.get(text, KBNF).result(60)
        assert not service._workers._all
        assert found is service.get(text, KBNF).result(0)
    assert found.matcher().mask().tobytes() == first.matcher().mask().tobytes()
    assert found.manifest.key == artifact_key(text, replace(KBNF, thin=True))
    unusable = tmp_path / "file"
    unusable.write_bytes(b"")
    with CompileService(default_path(), store=unusable, workers=1) as service:
        service.get(text, KBNF).result(60)


BODY = {"response_format": {"type": "json_schema", "json_schema": {"schema": {"const": 7}}}}


def test_a_body_is_read_by_a_process(service: CompileService) -> None:
    """As bytes, as a text or as fields; what cannot be read is told as by ``request_of``."""
    octets = json.dumps(BODY, separators=(",", ":")).encode("ascii")
    found = service.ask(octets).result(60)
    assert found is not None
    assert found.manifest.source == '{"const":7}'
    assert service.ask(octets).result(0) is found
    assert service.ask(BODY).result(60) is found
    # Whatever the conversation is.
    fields = {**BODY, "messages": [{"content": "?"}], "user": object()}
    assert service.ask(fields).result(60) is found
    assert service.ask(octets, flags={"any_whitespace": False}).result(60) is not found
    for body in ({"temperature": 1}, b'{"response_format": {"type": "text"}}'):
        assert service.ask(body).result(60) is None
        assert service.ask(body).result(60) is None
    for bad, message in (
        ({"response_format": {"type": "yaml"}}, "/response_format/type: there is no format"),
        (b"{", "this is no JSON"),
        (b"\xff", "this is no JSON"),
        ({"format": float("nan")}, "this is no JSON"),
        (b"[" * 40_000, "this is no JSON"),
        (b" " * ((1 << 25) + 1), "more than 33,554,432 bytes"),
    ):
        with pytest.raises(ServiceError, match=message) as wrong:
            service.ask(bad).result(60)
        assert wrong.value.status == 400


def test_artifacts_of_a_tokenizer_share_its_tables(service: CompileService, folder: Path) -> None:
    """One trie, one vocabulary and one file of tables, whatever the grammars are."""
    first, second = (service.get(f's ::= "{x}" x; x ::= "y";', KBNF).result(60) for x in "ab")
    assert first.trie is second.trie
    assert first.vocabulary is second.vocabulary
    assert len(list((folder / "tok").iterdir())) == 1
    before = first.held_bytes
    first.matcher().mask()
    assert first.held_bytes > before
    assert second.held_bytes == before == 0


def test_a_request_that_nobody_waits_for_ends() -> None:
    """At work or waiting; while one more waits, it goes on."""
    with CompileService(default_path(), workers=1) as service:
        first, second = service.get(ENDLESS_TEXT, ENDLESS), service.get(ENDLESS_TEXT, ENDLESS)
        waiting = service.get('s ::= "waits";', KBNF)
        while not any(each._is_ready for each in service._workers._all):
            time.sleep(0.02)
        assert waiting.cancel()
        assert first.cancel()
        assert service.metrics()["waiting"] == 1
        assert second.cancel()
        assert service.get('s ::= "after";', KBNF).result(60)
        found = service.metrics()
        assert (found["waiting"], found["requests_cancelled"]) == (0, 2)
        assert found["requests_compiled"] == 1
        assert not list(service._folder.root.glob("*/waits*"))


def test_a_machine_without_time_is_no_fault_of_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a limit nor a defect: ask again later."""
    monkeypatch.setattr(children, "IDLE_SECONDS", -1.0)
    monkeypatch.setattr(children, "cpu_seconds_of", lambda _: 1.0)
    with CompileService(default_path(), workers=1) as service:
        with pytest.raises(ServiceError, match="too busy") as busy:
            service.get('s ::= "starved";', KBNF).result(60)
        assert (busy.value.status, busy.value.retry_after) == (503, 1)
        assert service.metrics()["requests_busy"] == 1


def test_the_folder_forgets_what_was_not_used(tmp_path: Path) -> None:
    """Near its limit the files go that were not used for the longest time, and it is never beyond;
    open ones go on."""
    texts = [f's ::= "file {i}";' for i in range(12)]
    with CompileService(default_path(), folder=tmp_path, workers=1) as service:
        found = [service.get(text, KBNF).result(60) for text in texts]
        paths = [next(tmp_path.glob(f"*/{each}.cst")) for each in _keys(texts)]
        sizes = [path.stat().st_size for path in paths]
        for number, path in enumerate(paths):
            os.utime(path, ns=(number, number))
    with CompileService(
        default_path(), folder=tmp_path, workers=1, folder_bytes=sum(sizes) * 2 // 3
    ) as service:
        left = [path.exists() for path in paths]
        assert left == sorted(left)
        assert 5 <= sum(left) <= 8
        assert service.get(texts[-1], KBNF).result(60).matcher().mask().any()
        assert service.metrics()["requests_folder"] == 1
    assert found[0].matcher().mask().any()
    limit = 33 * max(sizes)
    with CompileService(default_path(), folder=tmp_path, workers=1, folder_bytes=limit) as service:
        for number in range(48):
            service.get(f's ::= "another file {number}";', KBNF).result(60)
            assert sum(path.stat().st_size for path in tmp_path.glob("*/*.cst")) <= limit


def _keys(texts: list[str]) -> list[str]:
    tokenizer = load_tokenizer()
    return [artifact_key(text, replace(KBNF, thin=True), tokenizer) for text in texts]


@pytest.mark.skipif(os.name != "posix", reason="files are not locked elsewhere")
def test_what_a_killed_service_leaves_the_next_one_removes(tmp_path: Path) -> None:
    """Its own folder, half a file in it; that of a service at work stays."""
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from constrain.compiler.serving.folder import Folder\n"
        "folder = Folder(Path(sys.argv[1]), 1 << 30)\n"
        "(folder.own / 'half').write_bytes(b'x')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    alive = Folder(tmp_path, 1 << 30)
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert len(list((tmp_path / "own").iterdir())) == 4
    next_one = Folder(tmp_path, 1 << 30)
    assert alive.own.is_dir()
    assert not list((tmp_path / "own").glob("*/half"))
    alive.close()
    next_one.close()
    assert list((tmp_path / "own").iterdir()) == []


@pytest.mark.quick
def test_metrics_are_numbers_and_lines_of_prometheus() -> None:
    """Counts of all ends, percentiles, and what is now."""
    metrics = Metrics()
    assert metrics.quantile(0.5) == 0
    for i in range(100):
        metrics.took(i / 10)
    metrics.count("compiled")
    found = metrics.values(waiting=2)
    assert (found["compile_seconds_p50"], found["compile_seconds_p99"]) == (5.0, 9.9)
    assert (found["requests_compiled"], found["requests_failed"], found["waiting"]) == (1, 0, 2)
    lines = prometheus(found).splitlines()
    assert 'constrain_requests_total{outcome="compiled"} 1' in lines
    assert 'constrain_compile_seconds{quantile="0.99"} 9.9' in lines
    assert "constrain_waiting 2" in lines

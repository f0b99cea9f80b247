"""A service whose clients leave or send too much, whose disk is full, and whose store is away."""

import json
import os
import shutil
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from support.serving.endless import ENDLESS, ENDLESS_TEXT, KBNF

from constrain.compiler.serving import folder as folders
from constrain.compiler.serving import service as services
from constrain.compiler.serving import workers
from constrain.compiler.serving.folder import Folder
from constrain.compiler.serving.jobs import FULL, Outcome
from constrain.compiler.serving.service import CompileService, ServiceError
from constrain.compiler.tokenizers import default_path


def test_more_bytes_than_may_wait_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of bodies and of fields; they are let go when a request is done."""
    monkeypatch.setattr(services, "_MOST_TOGETHER", 200_000)
    with CompileService(default_path(), workers=1) as service:
        endless = service.get(ENDLESS_TEXT, ENDLESS)
        body = json.dumps({"regex": "x" * 100_000})
        waiting = service.ask(body)
        for other in (body.replace("x", "y"), {"regex": "y" * 100_000}):
            with pytest.raises(ServiceError, match="bytes of requests are waiting") as refused:
                service.ask(other).result(60)
            assert (refused.value.status, refused.value.retry_after) == (503, 1)
        assert waiting.cancel()
        assert endless.cancel()
        assert service._held == 0


def test_a_store_that_cannot_be_read_is_not_asked_for_some_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that its time-outs are not each request's."""
    asked: list[str] = []

    def unreachable(_: object, key: str, **__: object) -> None:
        asked.append(key)
        raise OSError("no route to host")

    monkeypatch.setattr(services.Store, "get", unreachable)
    with CompileService(default_path(), store=tmp_path, workers=1) as service:
        for letter in "ab":
            assert service.get(f's ::= "{letter} store";', KBNF).result(60)
        assert len(asked) == 1
        service._store_again = 0.0
        assert service.get('s ::= "c store";', KBNF).result(60)
        assert len(asked) == 2


def test_clients_that_leave_cost_others_no_process() -> None:
    """What takes a moment is done all the same."""
    with CompileService(default_path(), workers=1) as service:
        service.get('s ::= "warm";', KBNF).result(60)
        [process] = service._workers._all
        for number in range(5):
            left, stays = (service.get(f's ::= "{w} {number}";', KBNF) for w in ("left", "stays"))
            assert left.cancel() or left.done()
            assert stays.result(60)
        assert [process] == list(service._workers._all)
        found = service.metrics()
        assert found["requests_compiled"] + found["requests_cancelled"] == 11
        assert found["requests_failed"] == 0


def test_a_disk_that_is_full_costs_artifacts_that_were_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is room then, and the request is compiled again; if there is none, it says so once."""
    fullness = [2]

    class Full(workers.Workers):
        def submit(self, *given: Any) -> Any:
            if not fullness[0]:
                return super().submit(*given)
            fullness[0] -= 1
            done: Future[Outcome] = Future()
            done.set_result(Outcome("OSError: No space left on device", FULL))
            return done

    monkeypatch.setattr(services, "Workers", Full)
    with CompileService(default_path(), folder=tmp_path, workers=1) as service:
        with pytest.raises(ServiceError, match="No space left on device") as full:
            service.get('s ::= "no room";', KBNF).result(60)
        assert (full.value.status, fullness) == (500, [0])
        first = service.get('s ::= "first";', KBNF).result(60)
        fullness[0] = 1
        assert service.get('s ::= "room";', KBNF).result(60)
        assert len(list(tmp_path.glob("*/*.cst"))) == 1
        assert first.matcher().mask().any()


def test_folders_that_were_cleaned_up_are_made_again(tmp_path: Path) -> None:
    """As systems do with files that nobody has changed for some days."""
    with CompileService(default_path(), folder=tmp_path, workers=1) as service:
        assert service.get('s ::= "first";', KBNF).result(60)
        for path in (service._folder.own, tmp_path / "tok", *tmp_path.glob("??")):
            shutil.rmtree(path)
        assert service.get('s ::= "second";', KBNF).result(60)


@pytest.mark.skipif(os.name != "posix", reason="files have no owners elsewhere")
def test_a_folder_for_temporary_files_is_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user who has made it could change what is in it."""
    Folder(None, 1).close()
    owner = os.getuid()
    monkeypatch.setattr(folders, "_user", lambda: str(owner))
    monkeypatch.setattr("os.getuid", lambda: owner + 1)
    with pytest.raises(PermissionError, match="another user's"):
        Folder(None, 1)

"""Waiting jobs move to the queues that guards choose today."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.live import LiveWorker
from api.test_queues import BIG, SHORT, counts, queues_of, save
from weft.api.use_cases import queues
from weft.wire.app_folder import pack

JOBS: list[dict[str, Any]] = [
    {"timeout_s": 5},
    {"count": 3, "timeout_s": 1},
    {"resources": {"cpu": 2}},
    {"queue": "big"},
    {},
]


async def rerouted(http: httpx.AsyncClient, **wanted: object) -> dict[tuple[str, str], int]:
    """Reroute to the end; return the counts."""
    found: dict[tuple[str, str], int] = {}
    cursor = None
    while True:
        answer = await http.post("/v1/queue-reroute", json={**wanted, "cursor": cursor})
        assert answer.status_code == 200, answer.text
        for one in answer.json()["moves"]:
            key = one["queue"], one["to"]
            found[key] = found.get(key, 0) + one["n_jobs"]
        cursor = answer.json()["cursor"]
        if cursor is None:
            return found


async def test_waiting_jobs_move_to_the_queues_that_guards_choose(
    http: httpx.AsyncClient, worker: LiveWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that name their queue stay. A dry run only counts."""
    monkeypatch.setattr(queues, "STEP_JOBS", 2)
    await save(http, {**BIG, "guard": None}, {**SHORT, "guard": None})
    await http.post("/v1/batches", json={"jobs": JOBS})
    await save(http, BIG, {**SHORT, "max_running": 3})
    expected = {("default", "short"): 4, ("default", "big"): 1}

    assert await rerouted(http, dry_run=True) == expected
    assert set(await queues_of(http)) == {"default", "big"}
    assert await rerouted(http) == expected
    assert await queues_of(http) == [*["short"] * 4, "big", "big", "default"]
    assert await rerouted(http) == {}
    await worker.claim()
    assert await counts(http) == {"big": (0, 2), "short": (1, 3), "default": (0, 1)}


async def test_guards_know_applications(http: httpx.AsyncClient, tmp_path: Path) -> None:
    """At the submission, and when jobs that wait are looked at again."""
    described = {"name": "sayer", "version": "1.0", "templatePath": "app.json"}
    (tmp_path / "app.json").write_text(json.dumps(described))
    packed = pack(tmp_path)
    digest = sha256(packed).hexdigest()
    await http.put(f"/v1/app-parts/{digest}/1?bytes={len(packed)}", content=packed)
    await http.put("/v1/apps/sayer-1.0", json={"digest": digest, "n_bytes": len(packed)})
    jobs = [{"app": "sayer-1.0"}, {"command": ["true"]}]
    guarded = {**BIG, "guard": "job.app == 'sayer-1.0'"}
    await http.post("/v1/batches", json={"jobs": jobs})
    await save(http, guarded)
    await http.post("/v1/batches", json={"jobs": jobs})

    assert await queues_of(http, 2) == ["big", "default"]
    assert await rerouted(http) == {("default", "big"): 1}
    assert await queues_of(http, 1) == ["big", "default"]


async def test_all_jobs_of_a_queue_move_to_another(http: httpx.AsyncClient) -> None:
    await save(http, BIG, SHORT)
    await http.post("/v1/batches", json={"jobs": JOBS})

    assert await rerouted(http, queue="big", to="short") == {("big", "short"): 2}
    assert await rerouted(http, queue="short", to="default") == {("short", "default"): 6}
    assert set(await queues_of(http)) == {"default"}


async def test_a_wrong_request_moves_nothing(http: httpx.AsyncClient) -> None:
    await save(http, BIG, {**SHORT, "state": "closed"})
    for wanted, status, code in [
        ({"queue": "nothing"}, 404, "API.QUEUE_NOT_FOUND"),
        ({"to": "nothing"}, 404, "API.QUEUE_NOT_FOUND"),
        ({"to": "short"}, 400, "API.INVALID_VALUE"),
        ({"cursor": "b1"}, 400, "API.INVALID_ID"),
        ({"cursor": "b99999999999999999999.j1"}, 400, "API.INVALID_ID"),
    ]:
        refused = await http.post("/v1/queue-reroute", json=wanted)

        assert (refused.status_code, refused.json()["code"]) == (status, code)

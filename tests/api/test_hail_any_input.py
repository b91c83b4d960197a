"""Whatever is sent to Hail's door, it never answers with a 5xx, which its client would repeat."""

import copy
import json
import random
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from api.hail_door import API, Hail, batch, job
from api.live import LiveApi
from weft.run.doors import api_doors

LIVE_DOORS = api_doors()
SEEDS = 2
MUTATIONS = 60
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 3, 2**31, 2**63, 10**400, -(10**40), 1.5, 1e308, "", "x", "a\0b", "\x7f",
    "x" * 5000, "1e9", "²", "/", "{batch}", "t1", [], [[]], [1, 1], ["a"], [None], {}, {"a": 1},
    {"name": "a\0"}, {"type": []}, {"type": "docker"}, {"cpu": "1m", "memory": "9" * 500 + "Pi"},
    {"storage": "1.5Ti"}, [{"name": "A", "value": "\0"}], [{"name": "A=B", "value": "x"}],
)  # fmt: skip
RAW = (
    b"", b"{", b"nul", b"\xff", b"[" * 5000, b"{}", b"[]", b"1", b'"x"', b'{"batch": {}}',
    b'[{"job_id": "\\ud800"}]', b'{"a": 1, "a": 2}',
)  # fmt: skip
TEXTS = (
    "", "a", "!", "=", "a=", "=a", "has:", "a b c d", '"', '""', '"a', 'a"', "state = ", "x\0y",
    "job_id = 99999999999999999999", "cost > 1e99", "cost > nan", "start_time > 0001-01-01T00:00Z",
    "start_time > 9999-12-31T23:59:59-23:59", "a\nb\nc", "duration < -1e9", "exit_code > NULL",
    "instance !~ %", "user = x", "%", "batch_id >= 9999999999999999999999", "job_id=" + "9" * 40,
)  # fmt: skip
SEGMENTS = ("0", "1", "2", "x", "-1", "9" * 8, "9" * 18, "9" * 40, "%00", "a%2Fb", "main", "²")


def places(document: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401
    """Yield the way to each value in a document."""
    yield way
    inner: Iterable[tuple[Any, Any]] = ()
    if isinstance(document, dict):
        inner = document.items()
    elif isinstance(document, list):
        inner = enumerate(document)
    for key, value in inner:
        yield from places(value, (*way, key))


def mutated(document: Any, chance: random.Random) -> Any:  # noqa: ANN401 (any JSON)
    """Return a document of which one part is another, is missing, or is there twice."""
    document = copy.deepcopy(document)
    way = chance.choice(list(places(document)))
    if not way:
        return chance.choice(VALUES)
    place = document
    for key in way[:-1]:
        place = place[key]
    kind = chance.randrange(4)
    if kind == 0:
        del place[way[-1]]
    elif kind == 1 and isinstance(place, dict):
        place[chance.choice(("odd", "", "a\0", "spec"))] = chance.choice(VALUES)
    else:
        place[way[-1]] = chance.choice(VALUES)
    return document


FULL = job(
    1, "true", env=[{"name": "A", "value": "b"}], attributes={"name": "n"}, timeout=5, port=5000,
    resources={"cpu": "0.5", "memory": "lowmem", "storage": "1Gi", "preemptible": False},
    regions=["local"], user_code="x", network="public", secrets=[], in_update_job_group_id=1,
    input_files=[{"from": "file:///x", "to": "/io/x"}],
)  # fmt: skip
GROUP = {
    "job_group_id": 1, "in_update_parent_id": 0, "attributes": {"a": "b"},
    "callback": "http://example.org/x", "cancel_after_n_failures": 1,
}  # fmt: skip


def bodies(token: str) -> dict[str, Any]:
    update = {"token": token, "n_jobs": 1, "n_job_groups": 1}
    of_batch = batch(
        token, n_jobs=1, n_groups=1, attributes={"a": "b"}, callback=None,
        cancel_after_n_failures=2,
    )  # fmt: skip
    return {
        "/batches/create": of_batch,
        "/batches/create-fast": {"batch": of_batch, "bunch": [FULL], "job_groups": [GROUP]},
        "/batches/1/updates/create": update,
        "/batches/1/update-fast": {
            "update": update,
            "bunch": [FULL],
            "job_groups": [{**GROUP, "absolute_parent_id": 0}],
        },
        "/batches/1/updates/1/job-groups/create": [GROUP],
        "/batches/1/updates/1/jobs/create": [FULL],
        "/billing_limits/default/edit": {"limit": 5},
    }


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(SEEDS))
async def test_no_body_ends_in_an_error_of_the_server(hail: Hail, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 (no secret)
    await hail.ask("POST", "/batches/create", batch("t", n_jobs=2, n_groups=1))
    wrong, taken = [], 0
    for number in range(MUTATIONS):
        for path, body in bodies(f"t{number}").items():
            sent = json.dumps(mutated(body, chance)).encode()
            if chance.randrange(8) == 0:
                sent = chance.choice(RAW)
            answer = await hail.http.post(
                API + path, content=sent, headers={"content-type": "application/json"}
            )
            taken += answer.status_code == 200
            if answer.status_code >= 500:
                wrong.append((path, sent, answer.status_code, answer.text))

    assert wrong == []
    assert taken > MUTATIONS // 2


@pytest.mark.heavy
async def test_no_query_and_no_path_ends_in_an_error_of_the_server(
    hail: Hail, api: LiveApi
) -> None:
    await hail.submit("t", job(1, "true"))
    wrong = []
    lists = ("batches", "batches/1/jobs", "batches/1/job-groups/0/jobs")
    for text in TEXTS:
        for path in (f"/api/v{version}alpha/{one}" for version in (1, 2) for one in lists):
            answer = await hail.http.get(path, params={"q": text, "recursive": "1"})
            if answer.status_code not in {200, 400}:
                wrong.append((path, text, answer.status_code, answer.text))
    for parameter in ("last_job_id", "last_batch_id", "last_job_group_id", "recursive"):
        for text in (*SEGMENTS, "", "9" * 18):
            for one in ("batches", "batches/1/jobs", "batches/1/job-groups"):
                answer = await hail.http.get(f"{API}/{one}?{parameter}={text}")
                if answer.status_code not in {200, 400}:
                    wrong.append((one, text, answer.status_code, answer.text))
    for route in api.app.rights:
        method, _, path = route.partition(" ")
        for text in SEGMENTS if path.startswith(API) and "{" in path else ():
            filled = re.sub(r"{\w+}", text, path)
            answer = await hail.http.request(method, filled)
            if answer.status_code >= 500:
                wrong.append((method, filled, answer.status_code, answer.text))

    assert wrong == []

"""Whatever is sent to any door: no answer is a 5xx, and refusals are short and in its form."""

import json
import random
from collections.abc import Collection, Iterator, Mapping
from itertools import count
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from api.agave_door import FULL, submitted
from api.hail_door import Hail, batch, job
from api.live import LiveWorker
from api.test_any_field import ANSWER_BYTES, HUGE, NUMBERS, TEXTS
from cases import part
from weft.api.http import requests
from weft.api.http.doors import Asked, DoorPaths
from weft.core.errors import InvalidParameter
from weft.run.doors import api_doors
from weft_aloe.searching import _ALL, _FIELDS
from weft_hail.settings import HailSettings
from weft_tes.settings import TesSettings

SETTINGS = {"plugin_sections": (HailSettings(hail_images=True), TesSettings(tes_images=True))}
LIVE_DOORS = api_doors()
DOOR_OF = DoorPaths(LIVE_DOORS).door_of
ROUTES = [(door, route) for door in LIVE_DOORS for route in door.routes]
HOLE, TOKEN = "@hole@", "@token@"
"""What stands for a value that is tried, and for a token that nobody else has."""
VALUES: tuple[Any, ...] = (
    None,
    True,
    1,
    3,
    10**400,
    -(10**40),
    1.5,
    [],
    [[]],
    [1, 1],
    ["a"],
    [None],
    {},
    {"": ""},
    {"name": "a\0"},
    {"a\0": "b"},
    {"type": []},
    {"type": "docker"},
    {"a": 1},
    {"cpu": "1m", "memory": "9" * 500 + "Pi"},
    [{"name": "A", "value": "\0"}],
    {"storage": "1.5Ti"},
    [{"name": "A=B", "value": "x"}],
)
RAW = (
    b"",
    b"{",
    b"nul",
    b"\xff",
    b"[" * 5000,
    b"{}",
    b"[]",
    b"1",
    b'"x"',
    b'{"batch": {}}',
    b'[{"job_id": "\\ud800"}]',
    b'{"a": 1, "a": 2}',
)
WORDS = (
    "",
    "a",
    "!",
    "=",
    "a=",
    "=a",
    "has:",
    "a b c d",
    '"',
    '""',
    '"a',
    'a"',
    "state = ",
    "x\0y",
    "job_id = 99999999999999999999",
    "cost > 1e99",
    "cost > nan",
    "start_time > 0001-01-01T00:00Z",
    "start_time > 9999-12-31T23:59:59-23:59",
    "a\nb\nc",
    "duration < -1e9",
    "exit_code > NULL",
    "instance !~ %",
    "user = x",
    "%",
    "batch_id >= 9999999999999999999999",
    "job_id=" + "9" * 40,
    "x",
    "a,b",
    ",",
    "*",
    "_",
    "\\",
    "a\\*",
    "'",
    "{0}",
    "{",
    "}",
    "9" * 40,
    "1e308",
    "nan",
    "now",
    "0001-01-01",
    "9999-12-31T23:59:59Z",
    "9999-12-31,9999-12-31",
    "true",
    "FINISHED",
    "1 TB",
    "RUNNING,FAILED",
    "99999:59:59",
    "999999999999TB",
    "\ud7ff",
    "x" * 5000,
    "1",
    "2",
    "9" * 8,
    "9" * 18,
    "/",
    "a/b",
    "main",
    "²",
    "\0",
    "\x7f",
    "\ud800",
    "\u202e",
    "\x1b[2J",
    "b1",
    "1e9",
    "b" + "9" * 18,
    "b" + "9" * 19,
    "COMPLETED",
    "updatedAt,asc",
    "FULL",
    "t1",
    *NUMBERS,
)
WRITTEN = [quote(word, safe="", errors="surrogatepass") for word in WORDS]
QUERIES = {
    "aloe": "limit offset sortBy sort filter naked pretty",
    "jobweaver": "page size sort status type",
    "hail": "recursive=1&q last_job_id last_batch_id last_job_group_id status attempt_id",
    "tes": "page_size page_token view state name_prefix tag_key tag_value",
}
HAIL_JOB = job(
    1,
    "true",
    env=[{"name": "A", "value": "b"}],
    attributes={"name": "n"},
    timeout=5,
    port=5000,
    resources={"cpu": "0.5", "memory": "lowmem", "storage": "1Gi", "preemptible": False},
    regions=["local"],
    user_code="x",
    network="public",
    secrets=[],
    in_update_job_group_id=1,
    input_files=[{"from": "file:///x", "to": "/io/x"}],
)
GROUP = {
    "job_group_id": 1,
    "in_update_parent_id": 0,
    "attributes": {"a": "b"},
    "callback": "http://example.org/x",
    "cancel_after_n_failures": 1,
}
UPDATE = {"token": TOKEN, "n_jobs": 1, "n_job_groups": 1}
BATCH = batch(
    TOKEN, n_jobs=1, n_groups=1, attributes={"a": "b"}, callback=None, cancel_after_n_failures=2
)
WOVEN = {
    "jobType": "SIMULATION",
    "maxRetryCount": 1,
    "payload": {
        "steps": [
            {"action": "SLEEP", "durationMs": 1},
            {"action": "LOG", "message": "x"},
            {"action": "COMPUTE", "iterations": 1},
            {"action": "FAIL", "message": "x"},
            {"action": "HTTP_CALL", "latencyMs": 1, "url": "http://a.example"},
        ]
    },
}
TASK = {
    "name": "n",
    "description": "d",
    "tags": {"a": "b"},
    "volumes": ["/data/v"],
    "inputs": [
        {
            "name": "n",
            "description": "d",
            "url": "http://a.example/x",
            "path": "/data/x",
            "type": "FILE",
            "streamable": False,
        },
        {"path": "/data/y", "content": "x"},
    ],
    "outputs": [
        {
            "name": "n",
            "description": "d",
            "url": "weft://o",
            "path": "/data/o/*.txt",
            "path_prefix": "/data",
            "type": "FILE",
        }
    ],
    "resources": {
        "cpu_cores": 1,
        "preemptible": False,
        "ram_gb": 0.5,
        "disk_gb": 1.0,
        "zones": ["a"],
        "backend_parameters_strict": True,
        "backend_parameters": {
            "weft.queue": "default",
            "weft.priority": "1",
            "weft.attempts": "2",
            "weft.billing_project": "default",
        },
    },
    "executors": [
        {
            "image": "ubuntu:24.04",
            "command": ["true"],
            "workdir": "/data",
            "stdin": "/data/x",
            "stdout": "/data/o/out",
            "stderr": "/data/o/err",
            "env": {"A": "b"},
            "ignore_error": True,
        }
    ],
}
BODIES: Mapping[str, Any] = {
    "create_hail_batch": BATCH,
    "create_hail_update": UPDATE,
    "edit_hail_limit": {"limit": 5},
    "create_hail_batch_fast": {"batch": BATCH, "bunch": [HAIL_JOB], "job_groups": [GROUP]},
    "update_hail_batch_fast": {
        "update": UPDATE,
        "bunch": [HAIL_JOB],
        "job_groups": [{**GROUP, "absolute_parent_id": 0}],
    },
    "add_hail_groups": [GROUP],
    "add_hail_jobs": [HAIL_JOB],
    "add_hail_batch_jobs": [job(1)],
    "create_aloe_job": FULL,
    "act_on_aloe_job": {"action": "resubmit", "preserveNotifications": False},
    "put_aloe_action": {"action": "restore"},
    "resubmit_aloe_job": {"preserveNotifications": True},
    "share_aloe_job": {"username": "ann", "permission": "READ"},
    "create_jobweaver_job": WOVEN,
    "create_tes_task": TASK,
}
"""A sound body of each route that reads one, by the name of its function."""


@pytest.fixture
async def known(http: httpx.AsyncClient, hail: Hail, worker: LiveWorker) -> Mapping[str, str]:
    """Give what there is of each door, by the names that paths have for it."""
    await hail.ask("POST", "/batches/create", batch("t", n_jobs=2, n_groups=1))
    await http.post("/v1/users", json={"name": "ann"})
    woven = (await http.post("/api/jobs", json=WOVEN)).json()["jobId"]
    task = (await http.post("/ga4gh/tes/v1/tasks", json=TASK)).json()["id"]
    ids = {
        "aloe_id": await submitted(http),
        "job_id": woven,
        "task_id": task,
        "app": "any-1",
        "b": "1",
        "container": "main",
        "file_path": "x",
        "g": "0",
        "j": "1",
        "p": "default",
        "pairs": "name/n",
        "u": "1",
        "user": "ann",
    }
    assert len(await worker.claim()) == 3
    return ids


def changed(document: Any) -> Iterator[Any]:  # noqa: ANN401 (JSON)
    """Yield a document with a hole in each of its places, then without it, or with it twice."""
    yield HOLE
    if isinstance(document, dict):
        yield {**document, HOLE: 1}
        for name, one in document.items():
            yield {key: document[key] for key in document if key != name}
            yield from ({**document, name: inner} for inner in changed(one))
    elif isinstance(document, list):
        yield document * 2
        for n, one in enumerate(document):
            yield document[:n] + document[n + 1 :]
            yield from ([*document[:n], inner, *document[n + 1 :]] for inner in changed(one))


def bodies_like(sound: Any, chance: random.Random) -> Iterator[bytes]:  # noqa: ANN401 (JSON)
    """Yield a sound body, and those in which one thing is another than in it."""
    tokens, wild = count(), [*NUMBERS, "1e308", *(f'"{text}"' for text in TEXTS.values())]
    like = [json.dumps(one) for one in (sound, *changed(sound))]
    biggest = chance.choice([one for one in like if HOLE in one])
    for one in like:
        tried = [*wild, *map(json.dumps, chance.sample(VALUES, 3) + chance.sample(WORDS, 2))]
        tried += [f'"{text}"' for text in HUGE.values() if one is biggest]
        for value in tried if HOLE in one else [""]:
            held = one.replace(f'"{HOLE}"', value)
            yield held.replace(TOKEN, f"t{next(tokens)}").encode()


def form(media: str, body: bytes) -> tuple[str, Any]:
    """Return of what form an answer is: its media type, and its keys if it is JSON."""
    media = media.partition(";")[0]
    return media, sorted(json.loads(body)) if media.endswith("json") else bool(body)


def faults(answer: httpx.Response, taken: Collection[int] = ()) -> list[Any]:
    """Return an answer if it is wrong. `taken`: what its status may be."""
    asked, status = answer.request, answer.status_code
    door, is_right = DOOR_OF(asked.url.path), status < 500 and (not taken or status in taken)
    if answer.is_client_error and door and door.refuse:
        refused, at = InvalidParameter("m", detail="d", hint="h"), asked.url.path
        usual = door.refuse(refused, Asked(asked.method, at, {}))
        told = form(answer.headers["content-type"], answer.content)
        is_right &= told == form(usual.media, usual.body) and len(answer.content) < ANSWER_BYTES
    said = (asked.method, str(asked.url)[:300], asked.content[:300], status, answer.text[:300])
    return [] if is_right else [said]


@pytest.mark.heavy
@pytest.mark.timeout(600)
async def test_any_body(
    http: httpx.AsyncClient, known: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each route that reads one is found by that, and takes a sound one."""
    wrong, chance, read, body_of = list[Any](), random.Random(1), set[str](), requests.body_of  # noqa: S311 (no secret)

    def noted(request: requests.AnyRequest) -> Any:  # noqa: ANN401
        read.add(request.route.fn.__name__)
        return body_of(request)

    monkeypatch.setattr(requests, "body_of", noted)
    http.headers["content-type"] = "application/json"
    for _, route in sorted(ROUTES, key=lambda one: one[1].fn.__name__ not in BODIES):
        sound = BODIES.get(route.fn.__name__)
        paths = [one.format(**known) for one in route.path_formats]
        for n, body in enumerate((*(bodies_like(sound, chance) if sound else ()), *RAW)):
            answer = await http.request(route.method, chance.choice(paths), content=body)
            wrong += faults(answer, {200, 201, 202} if sound and not n else ())

    assert (wrong, read) == ([], set(BODIES))


@pytest.mark.heavy
@pytest.mark.timeout(600)
async def test_any_path_and_query(http: httpx.AsyncClient, known: Mapping[str, str]) -> None:
    """A parameter is taken or refused. Agave's fields are asked with each operator, and sorted."""
    wrong, asked = list[Any](), count()
    searched = [f"{field}.{operator}" for field in _FIELDS for operator in _ALL]
    searched += [
        f"sortBy={one}&offset=1&sort={way}&x" for one in _FIELDS for way in ("asc", "desc")
    ]
    for door, route in sorted(ROUTES, key=lambda one: one[1].method != "GET"):
        path, names = route.path_formats[-1], QUERIES[door.name].split()
        sound = path.format(**known)
        names += searched if route.fn.__name__ == "list_aloe_jobs" else []
        if route.method == "GET":
            usual = (await http.get(sound)).status_code
            for name, n in zip(names, asked, strict=False):
                of = 3 if route.fn.__name__.startswith("list") and "." not in name else 12
                of = 1 if name.endswith("&q") and of == 3 else len(WRITTEN) if "&x" in name else of
                for text in part(WRITTEN, n % of, of):
                    wrong += faults(await http.get(f"{sound}?{name}={text}"), {usual, 400})
        for name in (name for name in known if f"{{{name}}}" in path):
            for text in part(WRITTEN, next(asked) % 3, 3):
                at = path.format(**{**known, name: text})
                wrong += faults(await http.request(route.method, at))

    assert wrong == []

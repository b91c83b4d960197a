"""Each kind of bad input: a problem document with code and field, and nothing is created."""

from typing import Any

import httpx
import msgspec
import pytest
from httpx import AsyncClient

from api.fakes import OFFERS, WORKER, RecordingStore

JSON = {"content-type": "application/json"}
MSGPACK = {"content-type": "application/msgpack"}


def assert_problem(answer: httpx.Response, status: int, code: str, *pointers: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert document["code"] == code, answer.text
    assert document["status"] == status
    assert document["title"]
    assert document["hint"]
    assert document["trace_id"] == answer.headers["x-trace-id"]
    assert [error["pointer"] for error in document["errors"]] == list(pointers), answer.text


def job(**fields: object) -> dict[str, Any]:
    return {"jobs": [{"command": ["true"]}, fields]}


def more(**fields: object) -> dict[str, Any]:
    """Return a job with a rule for its retries that is sound but for these fields."""
    tries = fields.pop("max_attempts", 3)
    rule = {"on": ["oom"], "memory": "x2", "up_to": "4Gi", **fields}
    given = {name: value for name, value in rule.items() if value is not None}
    return job(retry_with=[given], max_attempts=tries)


def limited(**fields: object) -> dict[str, Any]:
    """Return a job of 600 s with a rule for its time limit that has these fields."""
    rule = {"on": ["timeout"], "timeout": "x2", **fields}
    return job(retry_with=[rule], max_attempts=3, timeout_s=600)


WRONG_JOBS: list[tuple[Any, str, str]] = [
    (job(comand=["true"]), "API.UNKNOWN_FIELD", "/jobs/1/comand"),
    (job(command="true"), "API.WRONG_TYPE", "/jobs/1/command"),
    (job(command=[1]), "API.WRONG_TYPE", "/jobs/1/command/0"),
    (job(command=[]), "API.EMPTY_COMMAND", "/jobs/1/command"),
    (job(command=[""]), "API.EMPTY_COMMAND", "/jobs/1/command"),
    (job(script=" \n"), "API.EMPTY_COMMAND", "/jobs/1/script"),
    (job(script="true", command=["true"]), "API.INVALID_VALUE", "/jobs/1/script"),
    (job(env={"A=B": "c"}), "API.INVALID_VALUE", "/jobs/1/env/A=B"),
    (job(env={"": "c"}), "API.INVALID_VALUE", "/jobs/1/env/"),
    (job(env={"A/~B": 1}), "API.WRONG_TYPE", "/jobs/1/env/A~1~0B"),
    (job(cwd="tmp"), "API.INVALID_VALUE", "/jobs/1/cwd"),
    (job(cwd="/tmp/\0"), "API.NUL_CHARACTER", "/jobs/1/cwd"),
    (job(name=""), "API.INVALID_VALUE", "/jobs/1/name"),
    (job(name="a\nb"), "API.INVALID_VALUE", "/jobs/1/name"),
    (job(name="x" * 257), "API.INVALID_VALUE", "/jobs/1/name"),
    (job(attributes={"k": "x" * 1024}), "API.INVALID_VALUE", "/jobs/1/attributes/k"),
    (job(attributes={str(n): "" for n in range(65)}), "API.INVALID_VALUE", "/jobs/1/attributes"),
    (job(command=["x" * (128 << 10)]), "API.INVALID_VALUE", "/jobs/1/command"),
    (job(env={"A": "x" * (128 << 10)}), "API.INVALID_VALUE", "/jobs/1/env"),
    (job(resources={"cpu": -1}), "API.INVALID_VALUE", "/jobs/1/resources/cpu"),
    (job(resources={"cpu": 0}), "API.INVALID_VALUE", "/jobs/1/resources/cpu"),
    (job(resources={"memory": 0}), "API.INVALID_VALUE", "/jobs/1/resources/memory"),
    (job(resources={"memory": 1000}), "API.INVALID_VALUE", "/jobs/1/resources/memory"),
    (job(resources={"storage": "-1Gi"}), "API.INVALID_VALUE", "/jobs/1/resources/storage"),
    (job(resources={"gpu": -1}), "API.INVALID_VALUE", "/jobs/1/resources/gpu"),
    (job(resources={"cpu": True}), "API.WRONG_TYPE", "/jobs/1/resources/cpu"),
    (job(resources={"cpu": "many"}), "API.INVALID_VALUE", "/jobs/1/resources/cpu"),
    (job(resources={"cpu": 10**300}), "API.INVALID_VALUE", "/jobs/1/resources/cpu"),
    (job(resources={"gpu": 1.5}), "API.INVALID_VALUE", "/jobs/1/resources/gpu"),
    (job(resources={"cpus": 1}), "API.NOT_OFFERED", "/jobs/1/resources/cpus"),
    (job(resources=[1]), "API.WRONG_TYPE", "/jobs/1/resources"),
    (job(resources={"cpu": 64}), "API.NO_WORKER_FITS", "/jobs/1/resources/cpu"),
    (job(resources={"memory": "1Ti"}), "API.NO_WORKER_FITS", "/jobs/1/resources/memory"),
    (job(resources={"storage": "1Ti"}), "API.NO_WORKER_FITS", "/jobs/1/resources/storage"),
    (job(resources={"gpu": 1}), "API.NO_WORKER_FITS", "/jobs/1/resources/gpu"),
    (job(timeout_s=0), "API.WRONG_TYPE", "/jobs/1/timeout_s"),
    (job(priority=10**30), "API.WRONG_TYPE", "/jobs/1/priority"),
    (job(max_attempts=0), "API.WRONG_TYPE", "/jobs/1/max_attempts"),
    (job(retry_on=["bad luck"]), "API.INVALID_VALUE", "/jobs/1/retry_on/0"),
    (job(retry_on=["oom", "exit:0"]), "API.INVALID_VALUE", "/jobs/1/retry_on/1"),
    (job(retry_on=["exit:20-10"]), "API.INVALID_VALUE", "/jobs/1/retry_on/0"),
    (job(retry_on=["signal:NONE"]), "API.INVALID_VALUE", "/jobs/1/retry_on/0"),
    (job(retry_on=["oom:3"]), "API.INVALID_VALUE", "/jobs/1/retry_on/0"),
    (job(external_errors=[66, "300"]), "API.INVALID_VALUE", "/jobs/1/external_errors/1"),
    (job(external_errors=[66, 0]), "API.INVALID_VALUE", "/jobs/1/external_errors/1"),
    (job(external_errors=[6.5]), "API.WRONG_TYPE", "/jobs/1/external_errors/0"),
    (job(exit_codes={"0": "success"}), "API.INVALID_VALUE", "/jobs/1/exit_codes/0"),
    (job(exit_codes={"3": "failed"}), "API.INVALID_VALUE", "/jobs/1/exit_codes/3"),
    (job(exit_codes={"3": "success:"}), "API.INVALID_VALUE", "/jobs/1/exit_codes/3"),
    (job(exit_codes={"70-80": "success"}), "API.INVALID_VALUE", "/jobs/1/exit_codes/70-80"),
    (
        job(exit_codes={"3": "success"}, external_errors=["2-4"]),
        "API.INVALID_VALUE",
        "/jobs/1/exit_codes/3",
    ),
    (
        job(exit_codes={"3": "success", "1-5": "success"}),
        "API.INVALID_VALUE",
        "/jobs/1/exit_codes",
    ),
    (more(on=[]), "API.INVALID_VALUE", "/jobs/1/retry_with/0/on"),
    (more(on=["luck"]), "API.INVALID_VALUE", "/jobs/1/retry_with/0/on/0"),
    (more(on=["oom:3"]), "API.INVALID_VALUE", "/jobs/1/retry_with/0/on/0"),
    (more(on=["exit:0"]), "API.INVALID_VALUE", "/jobs/1/retry_with/0/on/0"),
    (more(on=["no_program"]), "API.INVALID_VALUE", "/jobs/1/retry_with/0/on/0"),
    (more(max_attempts=1), "API.INVALID_VALUE", "/jobs/1/retry_with/0/on/0"),
    (more(after=0), "API.INVALID_VALUE", "/jobs/1/retry_with/0/after"),
    (more(cpu=2), "API.INVALID_VALUE", "/jobs/1/retry_with/0"),
    (more(memory="x1"), "API.INVALID_VALUE", "/jobs/1/retry_with/0/memory"),
    (more(memory="x2", up_to=None), "API.INVALID_VALUE", "/jobs/1/retry_with/0/up_to"),
    (more(memory="2Gi"), "API.INVALID_VALUE", "/jobs/1/retry_with/0/up_to"),
    (more(memory="64Mi", up_to=None), "API.INVALID_VALUE", "/jobs/1/retry_with/0/memory"),
    (more(memory="×1.01"), "API.INVALID_VALUE", "/jobs/1/retry_with/0/memory"),
    (more(up_to="a lot"), "API.INVALID_VALUE", "/jobs/1/retry_with/0/up_to"),
    (more(up_to="64Mi"), "API.INVALID_VALUE", "/jobs/1/retry_with/0/up_to"),
    (more(memory=None, storage="x2"), "API.INVALID_VALUE", "/jobs/1/retry_with/0/storage"),
    (
        more(memory=None, up_to=None, preemptible=False),
        "API.INVALID_VALUE",
        "/jobs/1/retry_with/0/preemptible",
    ),
    (
        more(memory=None, up_to=None, machine="huge"),
        "API.INVALID_VALUE",
        "/jobs/1/retry_with/0/machine",
    ),
    (
        more(memory=None, up_to="2h", timeout="x2"),
        "API.INVALID_VALUE",
        "/jobs/1/retry_with/0/timeout",
    ),
    (limited(), "API.INVALID_VALUE", "/jobs/1/retry_with/0/up_to"),
    (limited(up_to="10m"), "API.INVALID_VALUE", "/jobs/1/retry_with/0/up_to"),
    (limited(up_to="400d"), "API.INVALID_VALUE", "/jobs/1/retry_with/0/up_to"),
    (limited(up_to="later"), "API.INVALID_VALUE", "/jobs/1/retry_with/0/up_to"),
    (limited(timeout="5m"), "API.INVALID_VALUE", "/jobs/1/retry_with/0/timeout"),
    (limited(timeout="soon"), "API.INVALID_VALUE", "/jobs/1/retry_with/0/timeout"),
    (limited(timeout=[2]), "API.WRONG_TYPE", "/jobs/1/retry_with/0/timeout"),
    (more(tries=3), "API.UNKNOWN_FIELD", "/jobs/1/retry_with/0/tries"),
    (job(retry_on=["blocked"]), "API.INVALID_VALUE", "/jobs/1/retry_on/0"),
    (job(retry={"policy": "linear"}, max_attempts=2), "API.INVALID_VALUE", "/jobs/1/retry/policy"),
    (job(retry={"policy": "x y"}, max_attempts=2), "API.WRONG_TYPE", "/jobs/1/retry/policy"),
    (
        job(retry={"policy": "constant", "wait_s": -1}, max_attempts=2),
        "API.INVALID_VALUE",
        "/jobs/1/retry/wait_s",
    ),
    (
        job(retry={"policy": "constant", "parameters": {"a": 1}}, max_attempts=2),
        "API.INVALID_VALUE",
        "/jobs/1/retry/parameters",
    ),
    (
        job(retry={"policy": "constant", "wait_s": 0}, max_attempts=2),
        "API.INVALID_VALUE",
        "/jobs/1/retry/wait_s",
    ),
    (
        job(retry={"policy": "stepwise", "steps": [{"wait_s": 1}, {"wait_s": 1}]}, max_attempts=2),
        "API.INVALID_VALUE",
        "/jobs/1/retry/steps/0/tries",
    ),
    (
        job(retry={"policy": "exponential", "jitter": 2}, max_attempts=2),
        "API.INVALID_VALUE",
        "/jobs/1/retry/jitter",
    ),
    (
        job(retry={"policy": "exponential", "waits": 2}, max_attempts=2),
        "API.UNKNOWN_FIELD",
        "/jobs/1/retry/waits",
    ),
    (job(retry={"policy": "exponential"}), "API.INVALID_VALUE", "/jobs/1/retry"),
    (job(executor="abacus"), "API.INVALID_VALUE", "/jobs/1/executor"),
    (job(rate={"key": "api", "per_s": 0}), "API.WRONG_TYPE", "/jobs/1/rate/per_s"),
    (job(rate={"key": "api", "per_s": 100_000}), "API.WRONG_TYPE", "/jobs/1/rate/per_s"),
    (job(rate={"key": "api", "n": 0}), "API.WRONG_TYPE", "/jobs/1/rate/n"),
    (job(groups=[f"s{n}" for n in range(65)]), "API.INVALID_VALUE", "/jobs/1/groups"),
    (job(count=0), "API.WRONG_TYPE", "/jobs/1/count"),
    (job(count=2.5), "API.WRONG_TYPE", "/jobs/1/count"),
    (job(count=2_000_000_001), "API.WRONG_TYPE", "/jobs/1/count"),
    (job(index_from=3), "API.INVALID_VALUE", "/jobs/1/index_from"),
    (job(count=2, index_from=2 * 10**9), "API.INVALID_VALUE", "/jobs/1/index_from"),
    (job(values=["a", "b"], index_from=2 * 10**9), "API.INVALID_VALUE", "/jobs/1/index_from"),
    (job(values=[]), "API.INVALID_VALUE", "/jobs/1/values"),
    (job(values=["a"], count=1), "API.INVALID_VALUE", "/jobs/1/values"),
    (job(values=["a", 4]), "API.WRONG_TYPE", "/jobs/1/values/1"),
    (job(values="ab"), "API.WRONG_TYPE", "/jobs/1/values"),
    # It stands in the command, and in the environment once more.
    (
        job(command=["run", "{value}"], values=["a", "b" * 70_000]),
        "API.INVALID_VALUE",
        "/jobs/1/values/1",
    ),
    (job(wait={"for": "date"}), "API.INVALID_VALUE", "/jobs/1/wait/until"),
    (job(wait={"for": "event"}, command=["true"]), "API.INVALID_VALUE", "/jobs/1/command"),
    (job(wait={"for": "event"}, count=3), "API.INVALID_VALUE", "/jobs/1/count"),
    (job(group="stage1"), "API.INVALID_VALUE", "/jobs/1/group"),
    (job(group="/a//b"), "API.INVALID_VALUE", "/jobs/1/group"),
    (job(group="/a" * 17), "API.INVALID_VALUE", "/jobs/1/group"),
    (job(group=3), "API.WRONG_TYPE", "/jobs/1/group"),
    (job(parents=[2]), "API.PARENT_NOT_BELOW", "/jobs/1/parents/0"),
    (job(parents=[1, 10**20]), "API.PARENT_NOT_BELOW", "/jobs/1/parents/1"),
    (job(parents=[0]), "API.PARENT_NOT_FOUND", "/jobs/1/parents/0"),
    (job(parents=["nobody"]), "API.PARENT_NOT_FOUND", "/jobs/1/parents/0"),
    (job(parents=["j7"]), "API.PARENT_NOT_FOUND", "/jobs/1/parents/0"),
    (job(parents=["b2.j7"]), "API.PARENT_NOT_FOUND", "/jobs/1/parents/0"),
    (job(parents=[1.5]), "API.WRONG_TYPE", "/jobs/1/parents/0"),
    (job(parents=[{"of": 1, "need": "95 %"}]), "API.INVALID_VALUE", "/jobs/1/parents/0/need"),
    (job(parents=[{"need": "end"}]), "API.WRONG_TYPE", "/jobs/1/parents/0/of"),
    (job(parents=[{"of": 1, "nead": "end"}]), "API.UNKNOWN_FIELD", "/jobs/1/parents/0/nead"),
    (job(parents=[{"of": "nobody"}]), "API.PARENT_NOT_FOUND", "/jobs/1/parents/0"),
    (job(name="me", parents=["me"]), "API.PARENT_CYCLE", "/jobs/1/parents"),
    (job(name="me", count=2, parents=["me"]), "API.PARENT_CYCLE", "/jobs/1/parents"),
    (job(parents=[[2, 1]]), "API.INVALID_VALUE", "/jobs/1/parents/0"),
    (job(parents=[[1, 2]]), "API.PARENT_NOT_BELOW", "/jobs/1/parents/0"),
    (job(parents=[[0, 1]]), "API.PARENT_NOT_FOUND", "/jobs/1/parents/0"),
    (job(parents=[[1]]), "API.WRONG_TYPE", "/jobs/1/parents/0"),
    ({"jobs": "all"}, "API.WRONG_TYPE", "/jobs"),
    ({"jobs": [None]}, "API.WRONG_TYPE", "/jobs/0"),
    ({"nmae": "x"}, "API.UNKNOWN_FIELD", "/nmae"),
    ({"callback": "ftp://x"}, "API.INVALID_VALUE", "/callback"),
    ({"callback": "http://[x"}, "API.INVALID_VALUE", "/callback"),
    ({"billing_project": ""}, "API.INVALID_VALUE", "/billing_project"),
    ({"max_running": 0}, "API.WRONG_TYPE", "/max_running"),
    ({"inherit_env": {"A": "x" * (128 << 10)}}, "API.ENVIRONMENT_TOO_LARGE", "/inherit_env"),
    ({"groups": [{"path": "/a"}, {"path": "/a"}]}, "API.INVALID_VALUE", "/groups/1/path"),
    ({"groups": [{"path": "/"}]}, "API.INVALID_VALUE", "/groups/0/path"),
    ({"groups": [{}]}, "API.WRONG_TYPE", "/groups/0/path"),
    ([], "API.WRONG_TYPE", ""),
]


@pytest.mark.parametrize("media", [JSON, MSGPACK], ids=["json", "msgpack"])
async def test_wrong_field_is_named_and_nothing_is_created(
    client: AsyncClient, store: RecordingStore, media: dict[str, str]
) -> None:
    encoder = msgspec.json if media is JSON else msgspec.msgpack
    for document, code, pointer in WRONG_JOBS:
        asked = {**document, "jobs": [{}]} if "inherit_env" in document else document
        try:
            body = encoder.encode(asked)
        except OverflowError:  # msgpack has no such number
            continue
        answer = await client.post("/v1/batches", content=body, headers=media)

        assert_problem(answer, 400, code, pointer)
    assert store.created == []


async def test_all_problems_are_told_at_once(client: AsyncClient, store: RecordingStore) -> None:
    document = {
        "callback": "x",
        "jobs": [{"command": []}, {"resources": {"cpu": 99}}, {"parents": ["x"], "group": "y"}],
    }

    answer = await client.post("/v1/batches", json=document)

    assert_problem(
        answer,
        400,
        "API.INVALID_DOCUMENT",
        "/callback",
        "/jobs/2/group",
        "/jobs/0/command",
        "/jobs/1/resources/cpu",
        "/jobs/2/parents/0",
    )
    assert store.created == []


async def test_ten_thousand_mistakes_are_counted_not_listed(client: AsyncClient) -> None:
    answer = await client.post("/v1/batches", json={"jobs": [{"command": []}] * 10_000})

    assert answer.json()["code"] == "API.EMPTY_COMMAND"
    assert len(answer.json()["errors"]) == 100
    assert "9999 more" in answer.json()["detail"]


async def test_cycle_is_reported_with_its_path(client: AsyncClient, store: RecordingStore) -> None:
    jobs = [
        {"name": "free"},
        {"name": "a", "parents": ["c"]},
        {"name": "b", "parents": ["a"]},
        {"name": "c", "parents": ["b", "free"]},
    ]

    answer = await client.post("/v1/batches", json={"jobs": jobs})

    assert_problem(answer, 400, "API.PARENT_CYCLE", "/jobs/1/parents")
    assert "a waits for c waits for b waits for a" in answer.json()["errors"][0]["message"]
    assert store.created == []


async def test_parent_whose_name_two_jobs_have_is_refused(client: AsyncClient) -> None:
    jobs = [{"name": "a"}, {"name": "a"}, {"parents": ["a"]}]

    answer = await client.post("/v1/batches", json={"jobs": jobs})

    assert_problem(answer, 400, "API.PARENT_AMBIGUOUS", "/jobs/2/parents/0")


async def test_refusal_for_size_names_the_largest_that_fits(client: AsyncClient) -> None:
    for resources, told in (
        ({"cpu": 64}, "asks for 64 cpu; the largest worker has 2 cpu"),
        ({"memory": "9Ti"}, "asks for 9Ti memory; the largest worker has"),
    ):
        answer = await client.post("/v1/batches", json=job(resources=resources))
        assert answer.json()["errors"][0]["message"].startswith(told)


async def test_refusal_for_a_label_names_the_known_ones(
    client: AsyncClient, store: RecordingStore
) -> None:
    offers = {**OFFERS, "rack": ["12"], "zone": ["c", "b"], "slots": 2}
    store.workers = [{**WORKER, "offers": offers}]
    unknown = "no worker offers this; known: cpu, memory, storage, gpu, rack, zone"
    for field, value, message in [
        ("zone", "mars", "no worker offers zone 'mars'; known: b, c"),
        ("region", "eu", unknown),
        ("slots", 1, unknown),
    ]:
        answer = await client.post("/v1/batches", json=job(resources={field: value}))

        assert answer.json()["errors"] == [
            {"pointer": f"/jobs/1/resources/{field}", "message": message}
        ]
        assert ("worker_offers, as rack=4" in answer.json()["hint"]) == (message == unknown)
        assert (await client.post("/v1/batches", json=job(resources={"rack": "12"}))).is_success


DEEP = b"[" * 10_000 + b"]" * 10_000
BODIES = {
    "application/json": [
        b"{",
        b"hello",
        b'{"name": "x"} y',
        b"\xef\xbb\xbf{}",
        b'{"name": "\xff"}',
        b'{"\xff": 1}',
        b'{"name": "\xed\xa0\x80"}',
        b'{"name": "\\udc00x"}',
        b'{"name": "a\nb"}',
        b'{"jobs": [{"timeout_s": NaN}]}',
        b'{"jobs": [{"timeout_s": Infinity}]}',
        b'{"jobs": [{"timeout_s": 1e999}]}',
        b'{"jobs": [{"priority": 1' + b"0" * 400 + b"}]}",
        b'{"jobs": [{"priority": 1' + b"0" * 5000 + b"}]}",
        b'{"jobs": [{"resources": {"cpu": 1' + b"0" * 5000 + b"}}]}",
        b'{"jobs": [{"resources": {"cpu": NaN}}]}',
        DEEP,
        b'{"jobs": ' + DEEP + b"}",
        b'{"jobs": [{"resources": ' + DEEP + b"}]}",
        b'{"what": ' + DEEP + b"}",
    ],
    "application/msgpack": [
        b"\x81",
        b"\xc1",
        b"\x81\xa4name\xa2\xff\xfe",
        b"\x81\xa4jobs\xdd\xff\xff\xff\xff",
        b"\x81\xa4jobs" + b"\x91" * 100_000,
        b"\x81\xa4jobs\x91\x81\xa9timeout_s\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
        b"\x81\xa4jobs\x91\x81\xa9resources\x81\xa3cpu\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
        b"\x81\xa4jobs\x91\x81\xa9resources\x81\xa3cpu\xd6\xff\x00\x00\x00\x00",
        b"\x81\xa4jobs\x91\x81\xa9resources\x81\x01\x02",
        b"\x81\x01\x02",
    ],
}


async def test_body_that_cannot_be_read_is_a_problem(
    client: AsyncClient, store: RecordingStore
) -> None:
    codes = {"API.MALFORMED_BODY", "API.WRONG_TYPE"}
    for media, body in ((media, body) for media, bodies in BODIES.items() for body in bodies):
        answer = await client.post("/v1/batches", content=body, headers={"content-type": media})

        assert answer.status_code == 400, answer.text
        # Broken msgpack may still hold a document, which is refused for what it says.
        assert answer.json()["code"] in codes or media == "application/msgpack", answer.text
        assert store.created == []
    empty = await client.post("/v1/batches", content=b"", headers=JSON)
    assert empty.status_code == 201  # the empty document: a batch without anything


async def test_of_keys_that_repeat_the_last_counts(
    client: AsyncClient, store: RecordingStore
) -> None:
    await client.post("/v1/batches", content=b'{"name": "a", "name": "b"}', headers=JSON)

    new, _, _ = store.created[0]
    assert getattr(new, "name", None) == "b"


async def test_more_jobs_than_a_bunch_may_have(client: AsyncClient, store: RecordingStore) -> None:
    answer = await client.post("/v1/batches", json={"jobs": [{}] * 10_001})

    assert_problem(answer, 413, "API.TOO_MANY_JOBS", "/jobs")
    bunch = {"first": 1, "jobs": [{}] * 10_001}
    answer = await client.post("/v1/batches/1/updates/1/jobs", json=bunch)
    assert_problem(answer, 413, "API.TOO_MANY_JOBS", "/jobs")
    assert store.created == []
    assert store.bunches == []


async def test_media_that_are_not_read(client: AsyncClient) -> None:
    answer = await client.post(
        "/v1/batches", content=b"a: 1", headers={"content-type": "application/yaml"}
    )
    assert_problem(answer, 415, "API.UNSUPPORTED_MEDIA")
    answer = await client.post(
        "/v1/batches", content=b"{}", headers={**JSON, "content-encoding": "gzip"}
    )
    assert_problem(answer, 400, "API.INVALID_PARAMETER")


PATHS = [
    ("GET", "/v1/nothing", 404, "API.ROUTE_NOT_FOUND"),
    ("PUT", "/v1/batches", 405, "API.METHOD_NOT_ALLOWED"),
    ("DELETE", "/v1/batches/1/jobs", 405, "API.METHOD_NOT_ALLOWED"),
    ("BREW", "/v1/batches", 405, "API.METHOD_NOT_ALLOWED"),
    ("GET", "/v1/batches/2", 404, "API.BATCH_NOT_FOUND"),
    ("GET", "/v1/batches/zebra", 400, "API.INVALID_ID"),
    ("GET", "/v1/batches/0", 400, "API.INVALID_ID"),
    ("GET", "/v1/batches/-1", 400, "API.INVALID_ID"),
    ("GET", f"/v1/batches/{'9' * 30}", 400, "API.INVALID_ID"),
    ("GET", "/v1/batches/1/jobs/b1.j1", 400, "API.INVALID_ID"),
    ("GET", "/v1/batches/1/jobs/9999999999", 400, "API.INVALID_ID"),
    ("GET", "/v1/batches/1/updates/x", 400, "API.INVALID_ID"),
    ("GET", "/v1/batches/1/groups/%2Fa%2F%2Fb", 400, "API.INVALID_ID"),
    ("GET", "/v1/batches/1/groups/%2Fa%00", 400, "API.INVALID_ID"),
    ("GET", "/v1/batches/1/groups/stage%01", 400, "API.INVALID_ID"),
    ("GET", "/v1/batches/1?x=1", 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/batches?limit=0", 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/batches?limit=1001", 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/batches?limit=ten", 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/batches?limit=1&limit=2", 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/batches?cursor=abc", 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/batches?cursor=ajox", 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/batches/1/groups?cursor=Zzo5OTk5OTk5OTk5", 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/batches?" + "a=1&" * 100, 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/batches/1/jobs?state=happy", 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/batches/1/jobs/1/log?stream=stdin", 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/batches/1/jobs/1/log?follow=maybe", 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/batches/1/jobs/1/log?attempt=32768", 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/batches/1/outputs?first=1&last=2000", 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/events?since=yesterday", 400, "API.INVALID_PARAMETER"),
    ("GET", "/v1/events?since=9999999999999999999-1", 400, "API.INVALID_PARAMETER"),
]


async def test_path_or_query_that_makes_no_sense(client: AsyncClient) -> None:
    for method, path, status, code in PATHS:
        answer = await client.request(method, path)

        assert answer.status_code == status, answer.text
        assert answer.json()["code"] == code
        assert answer.json()["hint"]


async def test_keys_and_ids_in_headers_that_are_none(client: AsyncClient) -> None:
    answer = await client.post("/v1/batches", json={}, headers={"idempotency-key": "a b"})
    assert_problem(answer, 400, "API.INVALID_PARAMETER")
    answer = await client.get("/v1/events", headers={"last-event-id": "x"})
    assert answer.json()["code"] == "API.INVALID_PARAMETER"


async def test_mistake_of_ours_says_nothing_of_its_inside(client: AsyncClient) -> None:
    answer = await client.get("/v1/batches")

    assert_problem(answer, 500, "API.INTERNAL")
    assert "mistake of ours" not in answer.text

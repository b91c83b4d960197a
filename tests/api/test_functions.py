"""Documents of jobs with functions: what is refused, and how the others stand in specs."""

import base64
from typing import Any

import httpx
import msgspec
import pytest

from api.live import TOKEN, LiveApi, make_user
from cases import cases
from weft.api.http.decoding import JSON, decode
from weft.core.errors import Forbidden, InvalidDocument, SecretKeyMissing
from weft.core.problems import Problems
from weft.ports.store import JobRows
from weft.settings import Settings
from weft.store import open_worker_store
from weft.submission.translation.context import DocumentContext
from weft.submission.translation.functions import shown_spec
from weft.submission.translation.jobs import translate
from weft.wire.documents.updates import JobBunch
from weft.wire.sealed import SecretKeys
from weft.wire.signed import CHUNK, NotSigned, Signer, signer_of
from weft.wire.spec import CHUNK_JOBS_MAX, FunctionSpec, JobSpec, decode_chunk

PICKLE = base64.b64encode(b"pickled").decode()
BRINGS: dict[str, Any] = {
    "function": {"pickle": PICKLE, "arguments": PICKLE, "python": "3.12", "path": ["/a"]}
}


def rows_of(
    jobs: list[dict[str, Any]], *, first: int = 1, whole: bool = False, batch_id: int | None = 7
) -> JobRows:
    body = msgspec.json.encode({"first": first, "jobs": jobs})
    context = DocumentContext(
        settings=Settings(function_bytes_max=100),
        trace_id="a" * 32,
        first=first,
        whole=whole,
        batch_id=batch_id,
    )
    return translate(decode(body, JSON, JobBunch).jobs, context, [], Problems()).rows


def specs_of(rows: JobRows) -> list[JobSpec]:
    return [spec for body in rows.chunk_body for spec in decode_chunk(body)]


def test_a_function_by_its_name() -> None:
    (spec,) = specs_of(rows_of([{"function": {"call": "math:hypot", "args": [3, 4]}}]))

    assert spec.executor == "function"
    assert spec.function == FunctionSpec(call="math:hypot", args=(3, 4))


def test_a_function_is_brought_once_and_found_by_the_number_of_its_job() -> None:
    calls: dict[str, Any] = {"function": {"of": 5, "arguments": PICKLE}}
    rows = rows_of([{}, BRINGS, calls, calls, {"function": {"of": "j3"}}], first=4)

    first, brings, second, third, earlier = specs_of(rows)
    assert (first.function, first.shares) == (None, None)
    assert brings.function == FunctionSpec(
        pickle=b"pickled", arguments=b"pickled", python="3.12", path=("/a",)
    )
    assert (brings.shares, second.shares, third.shares, earlier.shares) == (None, -1, -2, 3)
    assert rows.chunk_first == [4, 5]


def test_chunks_have_their_usual_size_besides() -> None:
    calls: dict[str, Any] = {"function": {"call": "math:hypot"}}
    rows = rows_of([*[calls] * 300, BRINGS, *[calls] * 300])

    assert rows.chunk_first == [1, 1 + CHUNK_JOBS_MAX, 301, 301 + CHUNK_JOBS_MAX]
    assert rows.chunk_n == [256, 44, 256, 45]


def test_references_follow_when_parents_are_put_first() -> None:
    """Not if the function came after its caller then."""
    late, calls = {"parents": ["late"]}, {"function": {"of": 1}}
    jobs = [BRINGS, calls | late, {"name": "late"}]
    assert [spec.shares for spec in specs_of(rows_of(jobs, whole=True))] == [None, None, -2]
    jobs = [BRINGS | late, calls, {"name": "late"}]
    with pytest.raises(InvalidDocument, match="parent") as refused:
        rows_of(jobs, whole=True)
    assert [one.pointer for one in refused.value.errors] == ["/jobs/1/function/of"]


@cases(
    ("job", "pointer"),
    [
        ({"executor": "function"}, "/function"),
        ({"executor": "process", **BRINGS}, "/executor"),
        ({"executor": "slurm", **BRINGS}, "/executor"),
        ({"executor": "slurm", "requirements": {"digest": "0" * 64}}, "/requirements"),
        ({"command": ["true"], **BRINGS}, "/command"),
        ({"script": "true", **BRINGS}, "/script"),
        ({"stdin": "x", **BRINGS}, "/stdin"),
        ({"function": {}}, "/function"),
        ({"function": {"call": "a:b", "pickle": PICKLE}}, "/function"),
        ({"function": {"call": "a.b"}}, "/function/call"),
        ({"function": {"call": "a:b()"}}, "/function/call"),
        ({"function": {"call": ":b"}}, "/function/call"),
        ({"function": {"call": f"a:{'b' * 600}"}}, "/function/call"),
        ({"function": {"call": "a:b", "args": ["x" * 100]}}, "/function/args"),
        ({"function": {"call": "a:b", "kwargs": {"x" * 100: 1}}}, "/function/kwargs"),
        ({"function": {"pickle": ""}}, "/function/pickle"),
        ({"function": {"pickle": base64.b64encode(bytes(101)).decode()}}, "/function/pickle"),
        ({"function": {"pickle": "%%"}}, "/function/pickle"),
        ({"function": {"call": "a:b", "args": [1], "arguments": PICKLE}}, "/function/arguments"),
        ({"function": {"call": "a:b", "each": True}}, "/function/each"),
        ({"function": {"call": "a:b", "python": "three"}}, "/function/python"),
        ({"function": {"call": "a:b", "path": ["relative"]}}, "/function/path/0"),
        ({"function": {"call": "a:b", "path": ["/x"] * 65}}, "/function/path"),
        ({"function": {"of": 1}}, "/function/of"),
        ({"function": {"of": 0}}, "/function/of"),
        ({"function": {"of": -7}}, "/function/of"),
        ({"function": {"of": "first"}}, "/function/of"),
        ({"function": {"of": "b8.j1"}}, "/function/of"),
        ({"function": {"call": "a:b", "kwargs": {"1": {}}, "kw": 1}}, "/function/kw"),
    ],
)
def test_what_is_wrong_is_named(job: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        rows_of([job])

    assert f"/jobs/0{pointer}" in {one.pointer for one in refused.value.errors}


def test_a_reference_has_to_be_to_a_job_that_brings_a_function() -> None:
    with pytest.raises(InvalidDocument):
        rows_of([{}, {"function": {"of": 1}}])
    with pytest.raises(InvalidDocument):
        rows_of([{"function": {"of": "j1"}}], batch_id=None)


def test_what_was_pickled_is_not_shown() -> None:
    brings, calls = specs_of(rows_of([BRINGS, {"function": {"of": 1}}]))

    shown = shown_spec(brings, 1, ())
    assert isinstance(shown, dict)
    assert shown["function"] == {
        "pickle_bytes": 7,
        "arguments_bytes": 7,
        "python": "3.12",
        "path": ("/a",),
    }
    assert shown_spec(calls, 2, ()) == {**shown, "function": {"of": "j1"}}


async def test_a_batch_takes_functions_from_its_owner_only(
    api: LiveApi, http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    """Functions of a batch share processes."""
    created = await http.post("/v1/batches", json={"jobs": [BRINGS]})
    path = f"/v1/batches/{created.json()['id']}/updates"
    await make_user(database["admin"], user="eve", token="token-of-eve")

    async with api.client(authorization="Bearer token-of-eve") as eve:
        refused = await eve.post(path, json={"jobs": [BRINGS]})
        allowed = await eve.post(path, json={"jobs": [{"command": ["true"]}]})
    again = await http.post(path, json={"jobs": [BRINGS]})

    assert (refused.status_code, refused.json()["code"]) == (403, Forbidden.code)
    assert (allowed.status_code, again.status_code) == (201, 201)
    assert TOKEN not in refused.text


async def test_functions_are_signed_for_the_user_who_sends_them(
    api: LiveApi, http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    """Chunk by chunk, whichever way they come; other jobs need no signature."""
    await make_user(database["admin"], user="eve", token="token-of-eve")
    jobs = [BRINGS, *[{"function": {"of": 1, "arguments": PICKLE}}] * 300]
    signed = []
    async with (
        api.client(authorization="Bearer token-of-eve") as eve,
        open_worker_store(database["weft_worker"]) as worker,
    ):
        for client in (http, eve):
            batch = (await client.post("/v1/batches", json={"jobs": jobs})).json()["id"]
            path = f"/v1/batches/{batch}/updates"
            update = (await client.post(path, json={"n_jobs": 1})).json()
            bunch = {"first": 1, "jobs": [BRINGS]}
            await client.post(f"{path}/{update['update_id']}/jobs", json=bunch)
            firsts = [1, 1 + CHUNK_JOBS_MAX, len(jobs) + 1]
            await client.post(f"{path}/{update['update_id']}/commit")
            chunks = await worker.get_chunks([batch] * 3, firsts)
            (owner,) = await worker.list_job_users([(batch, 1)])
            signers = {signer_of(CHUNK, one, SecretKeys([bytes(32)])) for one in chunks.values()}
            signed.append(
                (
                    len(chunks),
                    signers == {Signer(owner.tenant_id, owner.owner_id)},
                    owner.submitter,
                )
            )
        plain = (await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})).json()
        body = (await worker.get_chunks([plain["id"]], [1]))[plain["id"], 1]

    assert [one[:2] for one in signed] == [(3, True)] * 2
    assert [one[2] for one in signed][1] == "eve"
    with pytest.raises(NotSigned):
        signer_of(CHUNK, body, SecretKeys([bytes(32)]))


async def test_a_worker_learns_who_submitted_a_job(
    api: LiveApi, http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    """Which is not always the user of the batch."""
    await make_user(database["admin"], user="eve", token="token-of-eve")
    batch = (await http.post("/v1/batches", json={"jobs": [{}]})).json()["id"]
    async with api.client(authorization="Bearer token-of-eve") as eve:
        await eve.post(f"/v1/batches/{batch}/updates", json={"jobs": [{}]})
    async with open_worker_store(database["weft_worker"]) as worker:
        found = await worker.list_job_users([(batch, 1), (batch, 2), (batch, 3)])

    first, second = sorted(found)
    assert (first.owner_id, first.tenant) == (second.owner_id, second.tenant)
    assert (first.submitter == "eve", second.submitter) == (False, "eve")


async def test_functions_need_a_key_that_signs_them(api: LiveApi, http: httpx.AsyncClient) -> None:
    api.secret_keys.clear()
    refused = await http.post("/v1/batches", json={"jobs": [BRINGS]})
    taken = await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})

    assert (refused.status_code, refused.json()["code"]) == (409, SecretKeyMissing.code)
    assert taken.status_code == 201


def test_jobs_of_an_array_call_the_function_of_one_job() -> None:
    rows = rows_of([BRINGS, {"function": {"of": 1}, "count": 3}, {**BRINGS, "count": 2}])

    _, second, third = (decode_chunk(body) for body in rows.chunk_body)
    assert rows.chunk_first == [1, 2, 5]
    assert [spec.shares for spec in second] == [-1, -2, -3]
    assert [spec.env for spec in third] == [{"WEFT_INDEX": "0"}, {"WEFT_INDEX": "1"}]
    with pytest.raises(InvalidDocument):
        rows_of([{**BRINGS, "count": 2}, {"function": {"of": 2}}])

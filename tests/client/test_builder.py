"""What builders collect, and what they send; and jobs that are put into a set by hand."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cases import cases
from client.http_server import DROP, Request, answer, serving
from weft import aio
from weft.client.submission.refs import NotSubmitted
from weft.core.errors import (
    BatchNotFound,
    GroupExists,
    InvalidValue,
    Unavailable,
    WeftError,
    WrongType,
)

GROUP = {"batch_id": 7, "group_id": 3, "name": "picked", "path": None}
GONE = answer(404, b'{"code": "API.BATCH_NOT_FOUND"}')
CREATED = answer(201, b'{"id": 7, "first_job": 1}')


def sent(request: Request) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.msgpack.decode(request.body)
    return found


async def test_few_jobs_are_one_request_with_what_was_given_and_no_more() -> None:
    async with serving(CREATED) as server, aio.Client(server.url, "t") as client:
        bb = client.create_batch(name="x", cancel_after_n_failures=2)
        stage = bb.job_tree().create_path("/a/b", attributes={"k": "v"})
        group = bb.create_job_group("set", callback="http://x")
        first = stage.create_job(["true"], groups=[group, "other"])
        group.create_job(script="false", parents=[first], always_run=True, max_attempts=3)
        b = await bb.submit()

    assert b.id == 7
    assert first.job_id == 1
    (request,) = server.requests
    assert sent(request) == {
        "name": "x",
        "cancel_after_n_failures": 2,
        "groups": [
            {"path": "/a/b", "attributes": {"k": "v"}},
            {"name": "set", "kind": "set", "callback": "http://x"},
        ],
        "jobs": [
            {"command": ["true"], "group": "/a/b", "groups": ["set", "other"]},
            {
                "script": "false",
                "parents": [1],
                "always_run": True,
                "max_attempts": 3,
                "groups": ["set"],
            },
        ],
    }


async def test_a_repeated_submission_is_the_same_request_whatever_is_there_by_then() -> None:
    """Else what was made the first time, without our knowing, would be a conflict."""
    found = answer(200, b'{"group_id": 1, "kind": "tree"}')
    missing = answer(404, b'{"code": "API.GROUP_NOT_FOUND"}')

    def then(request: Request) -> bytes:
        return found if request.method == "GET" else CREATED

    # Twice: what was lost on a connection that was kept is asked again on a new one.
    async with (
        serving(missing, DROP, DROP, then) as server,
        aio.Client(server.url, "t", patience_s=0) as client,
    ):
        bb = client.update_batch(7)
        bb.job_tree().create_path("/empty")
        bb.create_job()
        with pytest.raises(Unavailable):
            await bb.submit()
        await bb.submit()

    posts = [request for request in server.requests if request.method == "POST"]
    assert len(posts) == 3
    assert len({(request.body, request.headers["idempotency-key"]) for request in posts}) == 1
    assert sent(posts[0])["groups"] == [{"path": "/empty"}]


@cases(
    ("given", "meant"),
    [
        ({"cpus": 2}, "resources.cpu"),
        ({"timeout": 3}, "timeout_s"),
        ({"retries": 3}, "max_attempts"),
        ({"depends_on": []}, "parents"),
        ({"image": "x"}, "container"),
        ({"licences": {"matlab": 1}}, "resources"),
    ],
)
async def test_word_of_another_system_is_answered_with_the_one_of_weft(
    given: dict[str, Any], meant: str
) -> None:
    async with aio.Client("http://127.0.0.1:9", "t") as client:
        with pytest.raises(TypeError, match=f"'{min(given)}'; did you mean {meant}"):
            client.create_batch().create_job(["true"], **given)


async def test_parents_that_are_no_jobs_are_refused_with_what_to_write() -> None:
    async with aio.Client("http://127.0.0.1:9", "t") as client:
        bb = client.create_batch()
        first = bb.create_job(["true"], name="first")
        for parents, told in (
            (first, r"write parents=\[job\]"),
            ("first", r"write parents=\[job\]"),
            (["first"], "'first' is neither a job nor its number"),
        ):
            with pytest.raises(WrongType, match=f"/jobs/1/parents: .*{told}"):
                bb.create_job(parents=parents)  # type: ignore[arg-type]


async def test_parents_are_named_by_where_they_are() -> None:
    async with serving(CREATED) as server, aio.Client(server.url, "t") as client:
        bb = client.create_batch()
        array = bb.create_job(count=3)
        bb.create_job(parents=[array])
        await bb.submit()
        bb.create_job(parents=[array, 9, {"of": bb.create_job(), "need": "end"}])
        await bb.submit()

    assert sent(server.requests[0])["jobs"][1]["parents"] == [[1, 3]]
    named = ["b7.j1", "b7.j2", "b7.j3", "j9", {"of": 1, "need": "end"}]
    assert sent(server.requests[1])["jobs"][1]["parents"] == named


async def test_a_group_stands_for_its_jobs_so_far() -> None:
    """Of the builder, in it and below it, in a set, or all."""
    async with serving(CREATED) as server, aio.Client(server.url, "t") as client:
        bb = client.create_batch()
        tree, pca = bb.job_tree(), bb.create_job_group("pca")
        a, ab, other = (tree.create_path(path) for path in ("/a", "/a/b", "/ab"))
        for group in (ab, ab, other, a):
            group.create_job(count=2)
        other.create_job(groups=[pca])
        a.create_job(parents=[a])
        bb.create_job(parents=[pca, {"of": other, "need": "start"}])
        bb.create_job(parents=[bb])
        with pytest.raises(WrongType, match=r"/jobs/12/parents: .* of new batch /z, .* no jobs"):
            bb.create_job(parents=[tree.create_path("/z")])
        await bb.submit()

    found = [job.get("parents") for job in sent(server.requests[0])["jobs"]]
    start = [{"of": one, "need": "start"} for one in ([5, 6], 9)]
    assert found[5:] == [[[1, 4], [7, 8]], [9, *start], [[1, 11]]]


async def test_a_refused_builder_does_not_make_an_empty_batch_the_next_time() -> None:
    refusal = answer(400, b'{"code": "API.INVALID_REQUEST", "title": "not_before"}')
    async with serving(refusal, CREATED) as server, aio.Client(server.url, "t") as client:
        bb = client.create_batch()
        bb.create_job()
        bb.create_job(not_before="tomorrow")
        for _ in range(2):
            with pytest.raises(WeftError, match="not_before") as caught:
                await bb.submit()
            assert caught.value.__notes__ == ["All 2 jobs are to be created again."]
        bb.create_job()
        await bb.submit()

    assert [len(sent(request)["jobs"]) for request in server.requests] == [2, 1]


async def test_a_builder_with_nothing_in_it_sends_nothing_to_a_batch() -> None:
    async with serving(CREATED) as server, aio.Client(server.url, "t") as client:
        b = await client.update_batch(7).submit()

    assert b.id == 7
    assert server.requests == []


async def test_mistakes_are_told_where_they_are_made() -> None:
    async with aio.Client("http://127.0.0.1:9", "t") as client:
        bb, other = client.create_batch(), client.create_batch()
        foreign = other.create_job()
        with pytest.raises(WrongType, match="type"):
            bb.create_job("echo hello")
        with pytest.raises(TypeError, match="object"):
            bb.create_job(["true", object()])  # type: ignore[list-item]
        with pytest.raises(TypeError, match="keyword argument 'qeue'"):
            bb.create_job(["true"], qeue="short")  # type: ignore[call-arg]
        with pytest.raises(NotSubmitted):
            bb.create_job(parents=[foreign])
        with pytest.raises(InvalidValue):
            bb.job_tree().create_path("stage1")
        with pytest.raises(TypeError, match="is no document: pass a mapping"):
            await client.submit("p.yaml")  # type: ignore[call-overload]
        with pytest.raises(InvalidValue):
            bb.job_tree().create_path("/stage1/")
        bb.job_tree().create_path("/a", attributes={"k": "v"})
        bb.job_tree().create_path("/a")
        with pytest.raises(GroupExists):
            bb.job_tree().create_path("/a", attributes={"k": "w"})


async def test_values_of_an_array_are_texts_or_paths_from_anywhere() -> None:
    async with serving(CREATED) as server, aio.Client(server.url, "t") as client:
        bb = client.create_batch()
        values = (name for name in ("a", Path("/b")))
        array = bb.create_job(["run", "{value}"], values=values, timeout_s="1h30m")
        after = bb.create_job(parents=[array])
        await bb.submit()

    assert (array.count, after.job_id) == (2, 3)
    (job, _) = sent(server.requests[0])["jobs"]
    assert (job["values"], job["timeout_s"]) == (["a", "/b"], 5400)


@cases("values", ["abc", [], ["a", 4], [b"a"]])
async def test_wrong_values_are_refused_before_they_are_counted(values: Any) -> None:  # noqa: ANN401
    async with aio.Client("http://localhost:1", "t") as client:
        bb = client.create_batch()
        with pytest.raises((WrongType, InvalidValue)) as refused:
            bb.create_job(values=values)

    assert refused.value.errors[0].pointer.startswith("/jobs/0/values")


def added(request: Request) -> bytes:
    jobs = msgspec.msgpack.decode(request.body)["jobs"]
    return answer(200, json.dumps({"added": len(jobs), "n_members": 99}).encode())


async def test_they_go_in_bunches_and_after_an_error_on_with_the_one_that_failed() -> None:
    made = answer(201, json.dumps(GROUP).encode())
    async with serving(made, added, GONE, added) as server, aio.Client(server.url, "t") as client:
        group = await client.create_job_group(7, "picked")
        for job_id in range(1, 25_001):
            group.add_job(job_id)
        with pytest.raises(BatchNotFound):
            await group.update()
        last = await group.update()
        again = await group.update()

    assert {request.target for request in server.requests[1:]} == {
        "/v1/batches/7/groups/3/members"
    }
    bunches = [msgspec.msgpack.decode(request.body)["jobs"] for request in server.requests[1:]]
    assert [(len(jobs), jobs[:1]) for jobs in bunches] == [
        (10_000, [1]),
        (10_000, [10_001]),
        (10_000, [10_001]),
        (5_000, [20_001]),
        (0, []),
    ]
    assert (last["added"], again["added"], again["n_members"]) == (15_000, 0, 99)

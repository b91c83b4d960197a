"""Jobs that are put into a set by hand."""

import json

import msgspec
import pytest

from client.http_server import Request, answer, serving
from weft import aio
from weft.core.errors import BatchNotFound

GROUP = {"batch_id": 7, "group_id": 3, "name": "picked", "path": None}
GONE = answer(404, b'{"code": "API.BATCH_NOT_FOUND"}')


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
        (10_000, [1]), (10_000, [10_001]), (10_000, [10_001]), (5_000, [20_001]), (0, []),
    ]  # fmt: skip
    assert (last["added"], again["added"], again["n_members"]) == (15_000, 0, 99)

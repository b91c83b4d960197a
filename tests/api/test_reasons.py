"""Why jobs failed: counted by the server, page by page, and added up by the client."""

from pathlib import Path

import pytest

from api.live import TOKEN, LiveApi, LiveWorker
from weft import aio
from weft.client.api import Api
from weft.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Let three attempts be counted in one request."""
    return Settings(home=tmp_path, reasons_attempts_max=3)


async def failed_batch(client: Api, worker: LiveWorker) -> int:
    """Make a batch of which 8 jobs fail, 3 of them in a group."""
    jobs = [{"group": "/a" if n % 4 == 0 else "/"} for n in range(12)]
    batch = int((await client.create_batch({"jobs": jobs}))["id"])
    claimed = sorted(await worker.claim(), key=lambda one: one.job_id)
    await worker.end(claimed[::3])
    await worker.end(claimed[1::3], exit_code=3)
    await worker.end(claimed[2::3], exit_code=4)
    return batch


async def test_pages_are_added_up(api: LiveApi, worker: LiveWorker) -> None:
    async with Api(api.url, TOKEN) as client, aio.Client(api.url, TOKEN) as objects:
        batch = await failed_batch(client, worker)
        counts = await client.count_reasons(batch)
        of_group = await client.count_reasons(batch, group="/a")
        b = await objects.get_batch(batch)
        group = await (b.job_tree()).get_path("/a")

        assert [(one["reason"], one["exit_code"], one["n_jobs"]) for one in counts] == [
            ("exit", 3, 4), ("exit", 4, 4)
        ]  # fmt: skip
        assert [one["first_job"] for one in counts] == [2, 3]
        assert {one["exit_code"]: one["n_jobs"] for one in of_group} == {3: 1, 4: 1}
        assert await b.count_reasons() == counts
        some = await client.count_reasons(batch, enough=4)
        assert sum(one["n_jobs"] for one in some) == 6  # two pages
        assert await group.count_reasons() == of_group


async def test_a_page_says_where_the_next_one_begins(api: LiveApi, worker: LiveWorker) -> None:
    async with Api(api.url, TOKEN) as client:
        batch = await failed_batch(client, worker)
    async with api.client() as http:
        path = f"/v1/batches/{batch}/reasons"
        first = (await http.get(path)).json()
        second = (await http.get(path, params={"cursor": first["cursor"]})).json()
        foreign = await http.get(path, params={"cursor": first["cursor"], "group": "/a"})
        missing = await http.get(path, params={"group": "/none"})

    assert [sum(one["n_jobs"] for one in page["items"]) for page in (first, second)] == [3, 3]
    assert foreign.status_code == 400
    assert missing.status_code == 404

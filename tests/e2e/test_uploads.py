"""Many jobs reach the server once, whatever dies while they are sent."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial

import pytest

from contexts import async_fixture_of
from e2e.conftest import Weft, kill_api
from weft import Client, aio
from weft.core.errors import InvalidDocument, Unavailable

pytestmark = pytest.mark.heavy
JOBS = 3_000
TEXT = "x" * 10_000
"""So large that a hundred jobs are a bunch, and all together go to disk."""
client = async_fixture_of(lambda weft: aio.Client(home=weft.home))


def fill(builder: aio.BatchBuilder) -> list[aio.Job]:
    stage = builder.job_tree().create_path("/stage")
    jobs = [stage.create_job(name=f"job{i}", stdin=TEXT) for i in range(JOBS)]
    return [*jobs, builder.create_job(name="last", parents=jobs[-2:])]


def kill_at(weft: Weft, sent: list[int], numbers: Sequence[int], count: int) -> None:
    """Note how many jobs a request has sent; at requests of these numbers kill the api."""
    sent.append(count)
    if len(sent) in numbers:
        kill_api(weft)


async def names_of(batch: aio.Batch) -> list[str]:
    return [job["name"] async for job in batch.list_jobs()]


EXPECTED = [*(f"job{i}" for i in range(JOBS)), "last"]


async def test_the_api_is_killed_in_the_middle(weft: Weft, client: aio.Client) -> None:
    bb = client.create_batch()
    jobs = fill(bb)
    sent: list[int] = []
    batch_id = await bb.draft.submit(partial(kill_at, weft, sent, (3, 12)))

    assert sum(sent) == len(EXPECTED)
    assert len(sent) > 20
    b = await client.get_batch(batch_id)
    assert await names_of(b) == EXPECTED
    assert (await jobs[-1].status())["parents"] == [JOBS - 1, JOBS]
    assert (await b.wait())["n_succeeded"] == len(EXPECTED)


async def test_a_submission_that_gave_up_goes_on_where_it_was(
    weft: Weft, client: aio.Client
) -> None:
    await client.api.overview()  # who has reached the server once, waits for it
    async with aio.Client(home=weft.home, patience_s=0.05) as impatient:
        bb = impatient.create_batch()
        jobs = fill(bb)
        sent: list[int] = []
        with pytest.raises(Unavailable):
            await bb.draft.submit(partial(kill_at, weft, sent, (4,)))
        n_before = len(sent)
        more = bb.create_job(name="more")
        await client.api.overview()
        b = await bb.submit()

    assert n_before < 20
    assert await names_of(b) == [*EXPECTED, "more"]
    assert (jobs[0].job_id, more.job_id) == (1, len(EXPECTED) + 1)


def test_an_interrupted_submission_goes_on_where_it_was(weft: Weft) -> None:
    with Client(home=weft.home) as client:
        bb = client.create_batch()
        for i in range(JOBS):
            bb.create_job(name=f"job{i}", stdin=TEXT)
        sent: list[int] = []

        def interrupt_once(count: int) -> None:
            sent.append(count)
            if len(sent) == 4:
                os.kill(os.getpid(), signal.SIGINT)

        with pytest.raises(KeyboardInterrupt):
            bb._loop_thread.wait(bb._async.draft.submit(interrupt_once))
        b = bb.submit()

        assert [job["name"] for job in b.list_jobs()] == EXPECTED[:-1]


async def test_a_refused_bunch_cancels_the_new_batch_and_names_the_job(client: aio.Client) -> None:
    bb = client.create_batch(name="refused")
    fill(bb)
    bb.create_job(cwd="not absolute")
    with pytest.raises(InvalidDocument) as caught:
        await bb.submit()

    assert caught.value.errors[0].pointer == f"/jobs/{JOBS + 1}/cwd"
    found = [b async for b in client.api.list_batches(name="refused")]
    assert [(b["cancelled"], b["n_jobs"]) for b in found] == [(True, 0)]
    bb.create_job()
    assert (await (await bb.submit()).wait())["n_jobs"] == 1


async def test_what_a_killed_client_has_sent_is_not_run(weft: Weft, client: aio.Client) -> None:
    script = """
import asyncio, os, signal
from weft import Client, aio

async def main():
    client = aio.Client()
    bb = client.create_batch(name="killed")
    for i in range(3_000):
        bb.create_job(stdin="x" * 10_000)
    await bb.draft.submit(lambda count: os.kill(os.getpid(), signal.SIGKILL))

asyncio.run(main())
"""
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", script],
        check=False,
        env=weft.environment(),
        capture_output=True,
        timeout=60,
    )

    assert done.returncode == -signal.SIGKILL
    found = [b async for b in client.api.list_batches(name="killed")]
    assert [(b["n_jobs"], b["complete"]) for b in found] == [(0, True)]

"""The page of a simulated job: its way and its steps."""

import re

import httpx

from api.live import LiveWorker, submit

STEPS = [
    {"action": "LOG", "message": "<b>hello</b>"},
    {"action": "SLEEP", "durationMs": 3_600_000},
    {"action": "COMPUTE", "iterations": 1000},
    {"action": "FAIL", "message": "no luck"},
]


def told(page: httpx.Response) -> tuple[list[str], list[str]]:
    """Return the states of the stations of the way, and those of the steps."""
    steps = page.text.partition("<h2>Steps</h2>")[2].partition("</section>")[0]
    return re.findall(r'<li class="w-(\w+)">', page.text), re.findall(
        r'class="badge s-\w+">([^<]+)', steps
    )


async def test_way_and_steps_follow_the_job(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    path = f"/ui/batches/{await submit(http, jobs=[{'simulation': {'steps': STEPS}}])}/jobs/1"
    waits = await browser.get(path)
    claimed = await worker.claim()
    taken = await browser.get(path)
    await worker.start(claimed)
    runs = await browser.get(path)
    await worker.end(claimed, exit_code=1, message="no luck")
    ended = await browser.get(path)

    assert told(waits) == (
        ["success", "success", "running", "waiting", "waiting"],
        ["waiting"] * 4,
    )
    assert told(taken) == (["success"] * 3 + ["running", "waiting"], ["waiting"] * 4)
    assert told(runs)[1] == ["done", "running", "waiting", "waiting"]
    assert told(ended) == (["success"] * 4 + ["failed"], ["done", "done", "done", "failed"])
    assert "&lt;b&gt;hello" in runs.text
    assert 3_590_000 < int(re.findall(r'data-due-ms="(\d+)"', runs.text)[0]) <= 3_600_000
    assert "data-due-ms" not in waits.text + taken.text + ended.text


async def test_other_jobs_have_no_steps(
    browser: httpx.AsyncClient, http: httpx.AsyncClient
) -> None:
    batch = await submit(http, jobs=[{"command": ["true"]}, {"simulation": {"steps": []}}])

    assert 'id="simulated"' not in (await browser.get(f"/ui/batches/{batch}/jobs/1")).text
    assert "It has no steps." in (await browser.get(f"/ui/batches/{batch}/jobs/2")).text

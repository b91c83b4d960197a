"""The page of a simulated job: its way and its steps. Cells of the table of jobs: each column has
one, and texts of others stay text.
"""

import re

import httpx
from httpx import AsyncClient

from api.live import LiveWorker, submit
from weft.api.html.render import job_cells
from weft_pages.batches import COLUMNS, NUMBERS

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
    browser: AsyncClient, http: AsyncClient, worker: LiveWorker
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


async def test_other_jobs_have_no_steps(browser: AsyncClient, http: AsyncClient) -> None:
    batch = await submit(http, jobs=[{"command": ["true"]}, {"simulation": {"steps": []}}])

    assert 'id="simulated"' not in (await browser.get(f"/ui/batches/{batch}/jobs/1")).text
    assert "It has no steps." in (await browser.get(f"/ui/batches/{batch}/jobs/2")).text


HOSTILE = '<script>alert(1)</script>"&\u202e\x1b[31m'
JOB = {
    "name": HOSTILE,
    "index": None,
    "state": "failed",
    "held": True,
    "reason": "exit",
    "exit_code": 3,
    "attempt": 2,
    "duration_ms": 1500,
    "started_at": "2026-11-22T10:00:00+00:00",
    "ended_at": None,
    "ready_at": None,
    "user": HOSTILE,
    "queue": None,
    "priority": -1,
    "cost": 0.001,
    "group_id": 7,
    "message": HOSTILE,
    "attributes": {HOSTILE: HOSTILE, "k": "v"},
}
TAG = re.compile(r'</?(?:td|span|bdi|time)(?: (?:class|datetime)="[\w :+-]*")?>')


def test_texts_of_others_stay_text_in_every_column() -> None:
    cells = job_cells(JOB, tuple(COLUMNS), NUMBERS)
    text = TAG.sub("", cells)

    assert cells.count("<td") == len(COLUMNS)
    assert not re.search('[<>"\x1b\u202e]', text)
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;&#34;&amp;") == 5
    assert "&lt; 0.01" in text


def test_cells_show_what_the_columns_are_called() -> None:
    cells = job_cells(JOB, ("state", "reason", "queue", "priority"), NUMBERS).splitlines()

    assert cells == [
        '<td><span class="badge s-failed">failed</span> <span class="badge">held</span></td>',
        "<td>exit code 3</td>",
        "<td><bdi>–</bdi></td>",
        '<td class="n">-1</td>',
    ]

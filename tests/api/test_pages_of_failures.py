"""Pages of batches and incidents: jobs by cause, with their index and command."""

import re

import httpx

from api.live import LiveWorker
from api.test_pages import _submit, _token_in, browser

__all__ = ["browser"]


async def test_failed_jobs_stand_by_cause_with_one_button(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    batch_id = await _submit(http, jobs=[{"command": ["false"], "count": 5}, {"command": ["no"]}])
    claimed = await worker.claim()
    await worker.start(claimed)
    await worker.end(claimed[:5], exit_code=3)
    await worker.end(claimed[5:], exit_code=4)
    page = await browser.get("/ui/incidents")
    batch = await browser.get(f"/ui/batches/{batch_id}")

    assert page.text.count(f'action="/ui/batches/{batch_id}/retry"') == 1
    assert page.text.count(f'action="/ui/batches/{batch_id}/jobs/6/retry"') == 1
    assert "and 2 more of" in page.text
    causes = re.findall(r'name="cause" value="([0-9a-f]{12})"', page.text)
    assert len(causes) == 1
    assert not re.search(rf">{causes[0]}<", page.text)
    assert f'name="cause" value="{causes[0]}"' in batch.text
    path = f"/ui/batches/{batch_id}/retry"
    wrong = await browser.post(path, data={**_token_in(page), "cause": "x"})
    assert wrong.status_code == 400
    answer = await browser.post(path, data={**_token_in(page), "cause": causes[0]})
    assert answer.status_code == 303
    (operation,) = (await http.get("/v1/operations")).json()["items"]
    assert operation["kind"].startswith("retry")


async def test_jobs_come_before_costs_with_their_index_and_command(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    job = {"name": "resize", "count": 2, "command": ["sh", "-c", "echo one two"]}
    batch_id = await _submit(http, jobs=[job])
    await worker.end(await worker.claim())
    batch = (await browser.get(f"/ui/batches/{batch_id}")).text
    shown = (await browser.get(f"/ui/batches/{batch_id}/jobs/2")).text

    assert "<bdi>resize</bdi>[1]" in batch
    assert batch.index('id="jobs"') < batch.index('id="costs"')
    assert "sh -c &#39;echo one two&#39;</pre>" in shown
    assert "<bdi>trace_id</bdi>" not in shown
    assert "update 1" not in shown
    assert "assigned" not in shown
    assert shown.index('id="live"') < shown.index("</header>")
    assert 'href="/ui/batches?q=state+%3D+running"' in (await browser.get("/ui")).text

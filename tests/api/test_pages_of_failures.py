"""Pages of batches and incidents: jobs by cause, with their index and command."""

import html
import re

import httpx
import pytest

from api.live import LiveWorker, submit
from api.test_pages import _token_in
from weft.extensions.pages import incidents


async def test_failed_jobs_stand_by_cause_with_one_button(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    batch_id = await submit(http, jobs=[{"command": ["false"], "count": 5}, {"command": ["no"]}])
    claimed = await worker.claim_and_start()
    await worker.end(claimed[:5], exit_code=3)
    await worker.end(claimed[5:], exit_code=4)
    page = await browser.get("/ui/incidents")
    batch = await browser.get(f"/ui/batches/{batch_id}")

    assert page.text.count(f'action="/ui/batches/{batch_id}/retry"') == 1
    assert page.text.count(f'action="/ui/batches/{batch_id}/jobs/6/retry"') == 1
    of_cause = re.search(
        r'href="(/ui/incidents\?batch=\d+&amp;cause=[0-9a-f]+)"><b>5 jobs', page.text
    )
    assert of_cause is not None
    assert ">Retry all 5 …<" in page.text
    assert "exit code 3" in page.text
    assert of_cause[1] in batch.text
    jobs = await browser.get(of_cause[1].replace("&amp;", "&"))
    assert re.findall(r"jobs/(\d)\"", jobs.text) == ["1", "2", "3", "4", "5"]
    assert ">Retry all 5 …<" in jobs.text
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


async def test_a_cause_is_one_row_however_many_jobs_it_has(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """And its own page has all of them."""
    monkeypatch.setattr(incidents, "LETTERS", 2)
    monkeypatch.setattr(incidents, "CAUSES", 2)
    await submit(http, jobs=[{"command": ["false"]}] * 8)
    claimed = await worker.claim_and_start()
    for code, some in ((3, claimed[:4]), (4, claimed[4:7]), (5, claimed[7:])):
        await worker.end(some, exit_code=code)
    first = await browser.get("/ui/incidents")
    (link,) = re.findall(r'rel="next" href="([^"]+)"', first.text)
    rest = await browser.get(html.unescape(link))
    counts = re.findall(r"<b>(\d) jobs</b>", first.text + rest.text)
    (of_four,) = re.findall(r'href="([^"]+)"><b>4 jobs</b>', first.text + rest.text)

    assert sorted(counts) == ["3", "4"]
    assert (first.text + rest.text).count(">Retry<") == 1
    found, path = [], html.unescape(of_four)
    while path:
        page = (await browser.get(path)).text
        found += re.findall(r'jobs/(\d)"', page)
        path = html.unescape((re.findall(r'rel="next" href="([^"]+)"', page) or [""])[0])
    assert found == ["1", "2", "3", "4"]
    for wrong in ({"batch": "x"}, {"cause": "x"}, {"cursor": "x"}):
        assert (await browser.get("/ui/incidents", params=wrong)).status_code == 400


async def test_no_retry_is_offered_in_a_cancelled_group(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    batch_id = await submit(http, jobs=[{"command": ["false"], "group": "/late"}, {}])
    await worker.end((await worker.claim_and_start())[:1], exit_code=3)
    for is_offered in (True, False):
        for page in ("/ui/incidents", f"/ui/batches/{batch_id}/jobs/1"):
            assert ("/jobs/1/retry" in (await browser.get(page)).text) is is_offered, page
        await http.post(f"/v1/batches/{batch_id}/groups/1/cancel")


async def test_a_job_says_its_error_once_and_is_held_and_released(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    batch_id = await submit(http, jobs=[{"command": ["false"]}] * 2)
    path = f"/ui/batches/{batch_id}/jobs/2"
    page = await browser.get(path)
    assert (">Hold<" in page.text, ">Release<" in page.text) == (True, False)
    assert (await browser.post(f"{path}/hold", data=_token_in(page))).status_code == 303
    page = await browser.get(path)
    assert (">Hold<" in page.text, ">Release<" in page.text) == (False, True)
    (one,) = await worker.claim_and_start()
    await worker.end([one], exit_code=3, message="no such reference")
    assert (await browser.post(f"{path}/release", data=_token_in(page))).status_code == 303
    assert ">Hold<" in (await browser.get(path)).text
    failed = (await browser.get(f"/ui/batches/{batch_id}/jobs/1")).text

    assert failed.count("no such reference") == 1
    assert "exit code 3" in failed


async def test_jobs_come_before_costs_with_their_index_and_command(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    job = {"name": "resize", "count": 2, "command": ["sh", "-c", "echo one two"]}
    batch_id = await submit(http, jobs=[job])
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

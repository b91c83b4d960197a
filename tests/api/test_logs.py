"""Output: whole, in ranges, of many jobs, and live."""

import asyncio
import base64
import html
import re
from typing import Any

import httpx
import msgspec
import pytest
from httpx import AsyncClient

from api.live import (
    DEADLINE_S,
    NO_TLS,
    TOKEN,
    EventReader,
    LiveApi,
    LiveWorker,
    leading,
    make_user,
)
from cases import cases
from weft.api.http.ranges import Span, span_of
from weft.core.states import AttemptKey
from weft.ports.store import Claimed
from weft.wire.log_format import STDERR, STDOUT, encode_cut
from weft.wire.usage_format import UsageSample


async def submit(http: AsyncClient, *jobs: dict[str, Any]) -> int:
    answer = await http.post("/v1/batches", json={"jobs": jobs or [{}]})
    return int(answer.json()["id"])


async def ended_job(http: AsyncClient, worker: LiveWorker) -> str:
    """Return the path of the log of a job that has ended."""
    batch_id = await submit(http)
    claimed = await worker.claim_and_start()
    worker.write(claimed[0], (STDOUT, b"one\n"), (STDERR, b"oops\n"), (STDOUT, b"two\n"))
    await worker.end(claimed, output=(8, 5))
    return f"/v1/batches/{batch_id}/jobs/1/log"


async def test_output_of_an_ended_job(http: AsyncClient, worker: LiveWorker) -> None:
    path = await ended_job(http, worker)

    both = await http.get(path)
    out = await http.get(path, params={"stream": "stdout"})
    err = await http.get(path, params={"stream": "stderr", "attempt": 1})

    assert both.content == b"one\noops\ntwo\n"
    assert out.content == b"one\ntwo\n"
    assert err.content == b"oops\n"
    assert out.headers["accept-ranges"] == "bytes"
    assert out.headers["content-length"] == "8"
    assert out.headers["content-type"] == "application/octet-stream"


async def test_ranges(http: AsyncClient, worker: LiveWorker) -> None:
    path = f"{await ended_job(http, worker)}?stream=stdout"

    part = {"range": "bytes=2-5"}
    middle, head = [await ask(path, headers=part) for ask in (http.get, http.head)]
    other = await http.get(path, headers={**part, "if-range": '"other"'})
    tail = await http.get(path, headers={"range": "bytes=-3"})
    beyond = [await http.get(path, headers={"range": one}) for one in ("bytes=8-", "bytes=-0")]

    assert (middle.status_code, middle.content) == (206, b"e\ntw")
    assert {one.headers["content-range"] for one in (middle, head)} == {"bytes 2-5/8"}
    assert (head.status_code, head.content) == (206, b"")
    assert (other.status_code, other.content) == (200, b"one\ntwo\n")
    assert (tail.status_code, tail.content) == (206, b"wo\n")
    told = {(one.status_code, one.headers["content-range"], one.json()["code"]) for one in beyond}
    assert told == {(416, "bytes */8", "API.RANGE_NOT_SATISFIABLE")}


@cases(
    ("header", "span"),
    [
        (None, None),
        ("bytes=0-", Span(0, 10, 10)),
        ("bytes=0-0", Span(0, 1, 10)),
        ("bytes=5-99", Span(5, 10, 10)),
        ("bytes=-99", Span(0, 10, 10)),
        ("bytes=-", None),
        ("bytes=5-2", None),
        ("bytes=1-2,4-5", None),
        ("lines=1-2", None),
    ],
)
def test_span_of_a_range(header: str | None, span: Span | None) -> None:
    assert span_of(header, 10) == span


async def test_job_that_has_not_started_has_no_output(http: AsyncClient) -> None:
    batch_id = await submit(http)

    waiting = await http.get(f"/v1/batches/{batch_id}/jobs/1/log")
    attempt = await http.get(f"/v1/batches/{batch_id}/jobs/1/log?attempt=3&follow=true")
    missing = await http.get(f"/v1/batches/{batch_id}/jobs/2/log?follow=true")

    await http.post(f"/v1/batches/{batch_id}/jobs/1/cancel", json={})
    cancelled = await http.get(f"/v1/batches/{batch_id}/jobs/1/log")

    assert cancelled.json()["detail"].startswith("It never started: cancelled")
    assert (waiting.status_code, waiting.json()["code"]) == (404, "API.ATTEMPT_NOT_FOUND")
    assert (attempt.status_code, attempt.json()["code"]) == (404, "API.ATTEMPT_NOT_FOUND")
    assert (missing.status_code, missing.json()["code"]) == (404, "API.JOB_NOT_FOUND")


async def test_outputs_of_many_jobs(http: AsyncClient, worker: LiveWorker) -> None:
    batch_id = await submit(http, {}, {}, {}, {})
    await http.post(f"/v1/batches/{batch_id}/jobs/3/cancel", json={})
    claimed = await worker.claim()
    by_job = {one.job_id: one for one in claimed}
    await worker.start(claimed)
    worker.write(by_job[1], (STDOUT, b"\xff\x00"), (STDERR, b"e"))
    await worker.end([by_job[1]], output=(2, 1))
    large = b"x" * 300_000
    worker.write(by_job[2], (STDOUT, large), (STDERR, b"e"))
    await worker.end([by_job[2]], exit_code=3, output=(len(large), 1))

    answer = await http.get(f"/v1/batches/{batch_id}/outputs?first=1&last=4")

    rows = [msgspec.json.decode(line) for line in answer.content.splitlines()]
    assert [(r["job_id"], r["state"], r["exit_code"]) for r in rows] == [
        (1, "success", 0),
        (2, "failed", 3),
        (3, "cancelled", None),
    ]
    assert base64.b64decode(rows[0]["stdout"]) == b"\xff\x00"
    assert base64.b64decode(rows[1]["stdout"]) == large
    assert base64.b64decode(rows[1]["stderr"]) == b"e"
    assert rows[2]["stdout"] == ""
    assert rows[1]["reason"] == "exit"


class Followed:
    """What a follower was told."""

    def __init__(self, reader: EventReader) -> None:
        self._reader = reader
        self.last_id = ""

    async def next(self) -> tuple[str, Any]:
        id_, kind, data = await self._reader.next()
        self.last_id = id_ or self.last_id
        if kind in {"stdout", "stderr"}:
            return kind, base64.b64decode(data)
        return kind, msgspec.json.decode(data)


async def test_output_is_followed_from_before_the_start_to_the_end(
    http: AsyncClient, worker: LiveWorker
) -> None:
    batch_id = await submit(http)
    async with http.stream("GET", f"/v1/batches/{batch_id}/jobs/1/log?follow=true") as answer:
        followed = Followed(EventReader(answer))
        claimed = await worker.claim_and_start()
        worker.write(claimed[0], (STDOUT, b"hi\n"))
        first = await followed.next()
        worker.write(claimed[0], (STDERR, b"oops\n"))
        second = await followed.next()
        worker.write(claimed[0], (STDOUT, b"bye\n"))
        await worker.end(claimed, exit_code=3, output=(7, 5))
        third, end = await followed.next(), await followed.next()
        with pytest.raises(StopAsyncIteration):
            await followed.next()

    assert [first, second, third] == [
        ("stdout", b"hi\n"),
        ("stderr", b"oops\n"),
        ("stdout", b"bye\n"),
    ]
    assert end[0] == "end"
    assert (end[1]["state"], end[1]["reason"], end[1]["exit_code"]) == ("failed", "exit", 3)
    assert end[1]["attempt"] == 1


async def test_follower_goes_on_where_it_was_cut_off(
    http: AsyncClient, worker: LiveWorker
) -> None:
    path = f"{await ended_job(http, worker)}?follow=true"
    async with http.stream("GET", path) as answer:
        followed = Followed(EventReader(answer))
        assert await followed.next() == ("stdout", b"one\n")

    headers = {"last-event-id": followed.last_id}
    async with http.stream("GET", path, headers=headers) as answer:
        rest = Followed(EventReader(answer))
        told = [await rest.next() for _ in range(3)]

    assert [kind for kind, _ in told] == ["stderr", "stdout", "end"]
    assert told[1][1] == b"two\n"


async def test_job_cancelled_before_its_start_ends_the_stream(http: AsyncClient) -> None:
    batch_id = await submit(http)
    async with http.stream("GET", f"/v1/batches/{batch_id}/jobs/1/log?follow=true") as answer:
        followed = Followed(EventReader(answer))
        await http.post(f"/v1/batches/{batch_id}/jobs/1/cancel", json={})
        kind, end = await followed.next()

    assert (kind, end["state"], end["attempt"]) == ("end", "cancelled", None)


async def test_streams_end_cleanly_when_the_server_stops(
    api: LiveApi, http: AsyncClient, worker: LiveWorker
) -> None:
    batch_id = await submit(http)
    claimed = await worker.claim_and_start()
    log_path = f"/v1/batches/{batch_id}/jobs/1/log?follow=true"
    async with http.stream("GET", log_path) as log, http.stream("GET", "/v1/events") as events:
        worker.write(claimed[0], (STDOUT, b"hi\n"))
        await Followed(EventReader(log)).next()
        await api.stop()
        async with asyncio.timeout(DEADLINE_S):
            rest = [line async for line in events.aiter_lines()]

    assert api.stop_s < 5  # at once, on a machine of its own; a stream would last for ever
    assert not any("end" in line for line in rest)


async def test_samples_of_what_an_attempt_uses(http: AsyncClient, worker: LiveWorker) -> None:
    path = await ended_job(http, worker)
    attempts = path.removesuffix("log") + "attempts"
    none = await http.get(f"{attempts}/1/usage")
    samples = [UsageSample(5000, 4500, 1 << 20), UsageSample(10_000, 9000, 2 << 20)]
    await worker.keep_samples(AttemptKey(none.json()["batch_id"], 1, 1), samples)
    found = await http.get(f"{attempts}/1/usage")
    missing = await http.get(f"{attempts}/2/usage")
    wrong = await http.get(f"{attempts}/last/usage")

    assert none.json()["samples"] == []
    assert found.json()["samples"] == [one._asdict() for one in samples]
    assert (missing.status_code, missing.json()["code"]) == (404, "API.ATTEMPT_NOT_FOUND")
    assert (wrong.status_code, wrong.json()["code"]) == (400, "API.INVALID_ID")


async def test_output_that_is_kept_no_longer_is_gone(
    http: AsyncClient, worker: LiveWorker, database: dict[str, str]
) -> None:
    """The answer says which limit it was; what was never written is as before."""
    path = await ended_job(http, worker)
    silent = await submit(http)
    await worker.work()
    changed = await http.patch("/v1/tenants/local", json={"output_keep_bytes": 1})
    async with leading(database["weft_driver"]) as (driver, epoch):
        await driver.fold_deltas(epoch)
        assert await driver.remove_outputs(epoch, limit=9) == 2

    assert (changed.json()["output_keep_s"], changed.json()["output_keep_bytes"]) == (0, 1)
    gone = await http.get(path)
    assert (gone.status_code, gone.json()["code"]) == (410, "API.OUTPUT_GONE")
    assert "keeps 1 bytes" in gone.json()["detail"]
    assert (await http.get(f"/v1/batches/{silent}/jobs/1/log")).status_code == 200
    (found,) = (await http.get(f"{path.partition('/jobs')[0]}/logs?find=o")).json()["items"]
    assert "keeps 1 bytes" in found["problem"]


TAG = re.compile(r'<span class="[a-z0-9 -]+">|</span>')
HOSTILE = (
    b"<script>alert(1)</script>\x1b[31m<img src=x onerror=alert(2)>\x1b[0m"
    b"\x1b]0;title\x07\x00\xff\xfe"
    + "\u202eevil\u2066\x9b2J".encode()
    + b'"></pre><b>\r\n'
    + b"x" * 20_000
    + b"\n"
)


async def started(http: httpx.AsyncClient, worker: LiveWorker, **job: Any) -> tuple[str, Claimed]:  # noqa: ANN401 (any document)
    """Return the path of the log page of a running job."""
    answer = await http.post("/v1/batches", json={"jobs": [{"command": ["true"], **job}]})
    (one,) = await worker.claim_and_start()
    return f"/ui/batches/{answer.json()['id']}/jobs/1/log", one


def text_of(page: httpx.Response) -> str:
    """Return the HTML of the log that a page shows."""
    assert page.status_code == 200, page.text
    found = re.search(r'<pre class="term"[^>]*>(.*?)</pre>', page.text, re.DOTALL)
    assert found is not None, page.text
    return found[1]


def address(page: httpx.Response, rel: str) -> str | None:
    found = re.search(rf'rel="{rel}" href="([^"]+)"', page.text)
    return found and html.unescape(found[1])


async def test_output_stays_text_with_colours(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    path, one = await started(http, worker)
    worker.write(one, (STDOUT, HOSTILE), (STDERR, b"\x1b[1;32mgood"))
    await worker.end([one], exit_code=1, output=(len(HOSTILE), 12))

    for address_, has_colour in ((path, True), (f"{path}?q=evil", True), (path[:-4], False)):
        page = await browser.get(address_)
        shown = text_of(page) if has_colour else "".join(re.findall("<pre.*?</pre>", page.text))
        for wrong in ("<script>alert", "<img", "</pre><b>"):
            assert wrong not in page.text
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page.text)
        if has_colour:
            assert not re.search("[<>]", TAG.sub("", shown))
            assert '<span class="a-f1">&lt;img src=x onerror=alert(2)&gt;</span>' in shown
            assert '<span class="err"><span class="a-f2 a-bold">good</span></span>' in shown
        assert "style=" not in page.text


async def test_windows_lead_through_the_whole_log(
    browser: httpx.AsyncClient,
    http: httpx.AsyncClient,
    worker: LiveWorker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("weft.api.use_cases.log_windows.WINDOW_BYTES", 64)
    path, one = await started(http, worker)
    lines = "".join(f"line {n} é\n" for n in range(40)) + "ü" * 100 + "\nend\n"
    data = lines.encode()
    worker.write(one, *((STDOUT, data[at : at + 7]) for at in range(0, len(data), 7)))
    await worker.end([one], output=(len(data), 0))

    for begin, rel in ((f"{path}?at=0", "next"), (path, "prev")):
        shown = []
        step: str | None = begin
        while step:
            page = await browser.get(step)
            shown.append(text_of(page))
            step = address(page, rel)
        assert len(shown) > 8
        assert lines == "".join(shown if rel == "next" else reversed(shown))
        assert all(one.endswith("\n") or "ü" in one for one in shown)
    beyond = await browser.get(f"{path}?at=999999")
    assert text_of(beyond) == ""
    middle = await browser.get(f"{path}?at=100&stream=stderr")
    assert middle.status_code == 200
    assert 'rel="last"' in (await browser.get(f"{path}?at=100")).text


async def test_finding_text_and_errors(
    browser: httpx.AsyncClient,
    http: httpx.AsyncClient,
    worker: LiveWorker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("BLOCK_BYTES", 100), ("SEARCH_BYTES", 3000), ("ERROR_BYTES", 2000)):
        monkeypatch.setattr(f"weft.api.use_cases.log_windows.{name}", value)
    path, one = await started(http, worker)
    lines = [f"step {n} fine" for n in range(600)]
    lines[7] = "Needle <b> and needle again"
    lines[300] = "INFO no error here"
    lines[400] = "ValueError: needle 400"
    data = "\n".join(lines).encode()
    worker.write(one, (STDOUT, data))
    await worker.end([one], exit_code=1, output=(len(data), 0))

    hits, step, n_pages = [], f"{path}?q=NEEDLE", 0
    while step:
        page = await browser.get(step)
        hits += re.findall(r'<li><a href="[^"]+&amp;at=(\d+)"', page.text)
        further = re.search(r'href="([^"]+)">Find further', page.text)
        step, n_pages = html.unescape(further[1]) if further else "", n_pages + 1
    assert [int(at) for at in hits] == [data.index(b"Needle"), data.index(b"ValueError")]
    assert n_pages == 3  # each looks at 3,000 bytes
    step = f"{path}?errors=true"
    while (page := await browser.get(step)).status_code == 200:
        assert "No line looks like an error up to" in page.text
        further = re.search(r'href="([^"]+)">Look further', page.text)
        assert further
        step = html.unescape(further[1])
    assert page.status_code == 303
    assert text_of(await browser.get(page.headers["location"])).startswith("ValueError: needle")
    none = await browser.get(f"{path}?errors=true&from={len(data) - 100}")
    assert "No line looks like an error." in none.text
    for wrong in ("q=" + "x" * 201, "at=-1", "stream=all", "errors=maybe", "attempt=0", "x=1"):
        assert (await browser.get(f"{path}?{wrong}")).status_code == 400, wrong


async def test_live_stream_goes_on_where_the_page_ends(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    path, one = await started(http, worker)
    worker.write(one, (STDOUT, b"one \x1b[31mred \xc3"), (STDERR, b"oops"))
    page = await browser.get(path)
    live = re.search(r'data-live="([^"]+)" data-from="([^"]+)"', page.text)
    assert live is not None
    assert text_of(page).startswith('one <span class="a-f1">red </span>')

    async def read(from_: str, headers: dict[str, str]) -> EventReader:
        request = browser.build_request(
            "GET",
            html.unescape(live[1]),
            params={"stream": "both", "from": from_},
            headers=headers,
        )
        return EventReader(await browser.send(request, stream=True))

    first = await read(live[2], {})
    worker.write(one, (STDOUT, b"\xa9 still red\x1b["))
    id_, _, data = await first.next()
    assert msgspec.json.decode(data)["html"] == '<span class="a-f1">é still red</span>'
    await first.answer.aclose()
    worker.write(one, (STDOUT, b"0m<plain>\n"))
    again = await read(live[2], {"last-event-id": id_})
    _, _, data = await again.next()
    assert msgspec.json.decode(data)["html"] == "&lt;plain&gt;\n"
    await worker.end([one], exit_code=1, output=(40, 4))
    assert [(await again.next())[1] for _ in range(2)] == ["message", "end"]
    await again.answer.aclose()
    ended = await browser.get(path)
    assert "data-live" not in ended.text
    for wrong in ("1", "1.1.x!.", "1.1.f999.", "a.b.."):
        assert (await browser.get(f"{path}/live?from={wrong}")).status_code == 400, wrong


async def test_log_of_a_job_that_waits_or_that_others_own(
    api: LiveApi,
    browser: httpx.AsyncClient,
    http: httpx.AsyncClient,
    worker: LiveWorker,
    database: dict[str, str],
) -> None:
    answer = await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})
    path = f"/ui/batches/{answer.json()['id']}/jobs/1/log"
    waiting = await browser.get(path)
    assert "It has not started yet" in waiting.text
    assert 'data-from="0.0.."' in waiting.text
    await http.post(f"/v1/batches/{answer.json()['id']}/jobs/1/cancel", json={})
    assert "It never started." in (await browser.get(path)).text
    path, one = await started(http, worker)
    worker.write(one, (STDOUT, b"secret of mine\n"))
    await make_user(database["admin"], tenant="other", token=f"{TOKEN}-2")
    bearer = {"authorization": f"Bearer {TOKEN}-2"}
    async with httpx.AsyncClient(base_url=api.url, headers=bearer, verify=NO_TLS) as stranger:
        for some in ("", "/live", "?q=secret", "?errors=true", "?attempt=1"):
            answer = await stranger.get(f"{path}{some}")
            assert answer.status_code == 404
            assert "secret of mine" not in answer.text
    assert (await browser.get(f"{path}?attempt=7")).status_code == 404


async def test_what_was_left_out_is_said(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    path, one = await started(http, worker)
    cut = encode_cut(STDOUT, 0, 5 << 20, 9)
    worker.write(one, (STDOUT, b"head\n"), (cut.kind, cut.data), (STDOUT, b"tail\n"))
    assert text_of(await browser.get(path)) == (
        'head\n<span class="cut">[5.0 MiB left out]</span>\ntail\n'
    )

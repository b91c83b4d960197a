"""The log page as a browser without scripts gets it, and the stream that its module follows."""

import html
import re
from typing import Any

import httpx
import msgspec
import pytest

from api.live import NO_TLS, TOKEN, EventReader, LiveApi, LiveWorker, make_user
from weft.ports.store import Claimed
from weft.wire.log_format import STDERR, STDOUT, encode_cut

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
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
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
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
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
            "GET", html.unescape(live[1]), params={"stream": "both", "from": from_},
            headers=headers,
        )  # fmt: skip
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
    api: LiveApi, browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker,
    database: dict[str, str],
) -> None:  # fmt: skip
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

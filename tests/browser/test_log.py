"""The page of a job in a real browser: its log, live, without a gap, and as nothing but text; the
steps of a simulated one go on, though nothing happens to it.
"""

import html
import re
from pathlib import Path

import httpx
import pytest
from playwright.async_api import expect

from api.live import LiveApi, LiveWorker
from browser.window import Window
from weft.ports.store import Claimed
from weft.wire.log_format import STDERR, STDOUT

pytestmark = pytest.mark.heavy
ATTACK = (
    b"<script>document.title='owned'</script><img src=x onerror=document.title='owned'>"
    b"\x1b[31m</span></pre><b id=owned>\x1b[0m\x00\xff\n"
)


async def running(http: httpx.AsyncClient, worker: LiveWorker) -> tuple[str, Claimed]:
    """Return the path of the log of a job that runs."""
    made = await http.post("/v1/batches", json={"jobs": [{"command": ["true"], "name": "train"}]})
    (one,) = await worker.claim_and_start()
    return f"/ui/batches/{made.json()['id']}/jobs/1/log", one


async def test_log_is_followed_across_a_restart_and_while_hidden(
    window: Window, http: httpx.AsyncClient, worker: LiveWorker, api: LiveApi
) -> None:
    path, one = await running(http, worker)
    worker.write(one, (STDOUT, b"first\n"))
    page = await window.open_live(path)
    log = page.locator("#log")
    pages_read: list[str] = []
    page.on("request", lambda one: pages_read.append(one.url) if "/live" not in one.url else None)
    worker.write(one, (STDOUT, b"\x1b[32msecond\n"), (STDERR, ATTACK))
    await log.locator(".a-f2", has_text="second").wait_for()
    await page.evaluate(
        "Object.defineProperty(document, 'hidden', {value: true, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    worker.write(one, (STDOUT, b"third\n"))
    await page.evaluate(
        "Object.defineProperty(document, 'hidden', {value: false, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    await log.locator(".a-f2", has_text="third").wait_for()
    faults = list(window.faults)
    await api.stop()
    await page.locator("#live", has_text="away").wait_for()
    worker.write(one, (STDOUT, b"fourth\n"))
    await api.start()
    await log.locator(".a-f2", has_text="fourth").wait_for()
    await worker.end([one], exit_code=1, output=(26, len(ATTACK)))
    await log.get_by_text("The job has ended: failed.").wait_for()

    text = await log.inner_text()
    assert [text.count(word) for word in ("first", "second", "third", "fourth")] == [1] * 4
    assert await log.locator("*:not(span)").count() == 0
    assert await page.locator("#owned").count() == 0
    assert "owned" not in await page.title()
    assert pages_read == []  # the whole page: its log would no longer be the one that is followed
    assert faults == []


async def test_browser_keeps_the_end_of_a_long_log(
    window: Window, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    path, one = await running(http, worker)
    page = await window.open_live(path)
    n_lines = 20_000
    for begin in range(0, n_lines, 500):
        lines = "".join(f"line {n} {'x' * 100}\n" for n in range(begin, begin + 500))
        worker.write(one, (STDOUT, lines.encode()))
    await page.locator("#log", has_text=f"line {n_lines - 1} ").wait_for()

    assert await page.evaluate("document.getElementById('log').textContent.length") < 10**6
    assert await page.evaluate(
        "(log => log.scrollHeight - log.scrollTop - log.clientHeight < 9)"
        "(document.getElementById('log'))"
    )


async def test_jumps_replace_the_text_alone(
    window: Window, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    """The address names the window, back and forward lead to the place in it, and at its end the
    log goes on.
    """
    path, one = await running(http, worker)
    lines = "".join(f"line {n} {'x' * 90}\n" for n in range(3000))
    worker.write(one, (STDOUT, lines.encode()), (STDERR, b"ValueError: no such row\n"))
    page = await window.open(f"{path}?at=0")
    log = page.locator("#log")
    await page.evaluate("window.isOld = true")
    await log.evaluate("one => one.scrollTop = 700")
    await page.get_by_role("link", name="Next", exact=True).focus()
    await page.keyboard.press("Enter")
    await log.get_by_text("line 700 ").wait_for()
    assert await log.get_by_text("line 0 ").count() == 0
    await expect(log).to_be_focused()
    second = page.url
    assert "at=6" in second
    await page.go_back()
    await log.get_by_text("line 0 ").wait_for()
    assert await log.evaluate("one => one.scrollTop") == 700
    await page.go_forward()
    await log.get_by_text("line 700 ").wait_for()
    assert page.url == second
    await page.get_by_role("link", name="First error").click()
    await log.get_by_text("ValueError: no such row").wait_for()
    assert "errors" not in page.url
    await page.get_by_role("link", name="Last", exact=True).click()
    await window.is_live()
    worker.write(one, (STDOUT, b"one more line\n"))
    await log.get_by_text("one more line").wait_for()
    await page.get_by_role("link", name="First", exact=True).click()
    await log.get_by_text("line 0 ").wait_for()
    await expect(page.locator("#live")).to_be_hidden()  # this window stays as it is
    assert await page.evaluate("window.isOld")
    assert window.faults == []

    await http.delete("/v1/sessions")
    await page.get_by_role("link", name="Next", exact=True).click()
    await page.get_by_text("You are not logged in").wait_for()


async def test_pages_of_a_log_and_of_a_job_fit(
    window: Window, http: httpx.AsyncClient, worker: LiveWorker, tmp_path: Path
) -> None:
    path, one = await running(http, worker)
    codes = "".join(f"\x1b[{n}m {n} \x1b[0m" for n in (*range(30, 38), *range(90, 98)))
    backs = "".join(f"\x1b[{n}m {n} \x1b[0m" for n in (*range(40, 48), 1, 2, 3, 4, 7, 9))
    steps = "".join(
        f"2026-11-22 10:00:{n % 60:02} step {n} loss {1 / (n + 1):.4f}\n" for n in range(3000)
    )
    worker.write(one, (STDOUT, f"{codes}\n{backs}\n{steps}".encode()))
    worker.write(one, (STDERR, b'Traceback (most recent call last):\n  File "train.py"\n'))
    worker.write(one, (STDERR, b"\x1b[1;31mValueError\x1b[0m: " + b"no such row " * 900 + b"\n"))
    worker.write(one, (STDOUT, ATTACK))
    for scheme in ("light", "dark"):
        await window.page.emulate_media(color_scheme=scheme)
        for width in (360, 1400):
            await window.page.set_viewport_size({"width": width, "height": 900})
            for name, address in (
                ("first", f"{path}?at=0"),
                ("last", path),
                ("found", f"{path}?q=loss+0.01"),
                ("stderr", f"{path}?stream=stderr"),
                ("job", path.removesuffix("/log")),
            ):
                page = await window.open(address)
                await page.screenshot(path=tmp_path / f"{name}-{scheme}-{width}.png")
                wide = await page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, (name, width)
    error = await window.open(f"{path}?errors=true")
    text = html.unescape(await error.locator("#log").inner_text())
    assert re.match("ValueError: no such row", text)
    assert window.faults == []


STEPS = [
    {"action": "LOG", "message": "begin"},
    {"action": "SLEEP", "durationMs": 1000},
    {"action": "HTTP_CALL", "url": "https://example.org/prices", "latencyMs": 3_600_000},
    {"action": "COMPUTE", "iterations": 1_000_000},
]


async def test_steps_go_on_by_time_alone(
    window: Window, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    document = {"name": "quote", "jobs": [{"name": "quote", "simulation": {"steps": STEPS}}]}
    made = await http.post("/v1/batches", json=document)
    await worker.claim_and_start()
    page = await window.open_live(f"/ui/batches/{made.json()['id']}/jobs/1")

    rows = page.locator("#simulated tbody tr")
    await expect(rows.nth(2)).to_contain_text("running", timeout=20_000)
    await expect(rows.nth(1)).to_contain_text("done")
    await expect(rows.nth(3)).to_contain_text("waiting")
    await page.set_viewport_size({"width": 360, "height": 900})
    assert await page.evaluate("document.documentElement.scrollWidth") == 360
    assert window.faults == []

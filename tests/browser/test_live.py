"""Open pages while things happen: nothing is missed, and nothing is taken from under the hands of
those who read, write or walk through them with keys.
"""

import asyncio
import re

import pytest
from httpx import AsyncClient
from playwright.async_api import Page, Route, ViewportSize, expect

from api.live import LiveWorker
from browser.test_log import running
from browser.window import Window

pytestmark = pytest.mark.heavy
AGAIN_MS = 20_000
BETWEEN: ViewportSize = {"width": 660, "height": 700}
"""Its tables scroll; those of narrower windows are lists."""


async def submit(http: AsyncClient, name: str, **more: object) -> int:
    jobs = [{"command": ["true"], "name": name, "group": "/a/b"}] * 3
    document = {"name": name, "groups": [{"path": "/a"}, {"path": "/a/b"}], "jobs": jobs, **more}
    answer = await http.post("/v1/batches", json=document)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


async def _second_tab(window: Window, path: str) -> Page:
    """Open a page beside, which is live."""
    other = Window(window.api, window.context, await window.context.new_page())
    await other.open(path)
    await other.is_live()
    return other.page


async def _see(page: Page, name: str) -> None:
    await expect(page.get_by_role("cell", name=name, exact=True)).to_be_visible(timeout=AGAIN_MS)


async def test_what_happens_before_the_events_are_asked_for_is_seen(
    window: Window, http: AsyncClient
) -> None:
    async def late(route: Route) -> None:
        await submit(http, "in between")
        await route.continue_()

    await window.page.route("**/ui/events*", late)
    page = await window.open("/ui/batches")
    await _see(page, "in between")


async def test_written_text_stays_and_the_page_catches_up_afterwards(
    window: Window, http: AsyncClient
) -> None:
    """Also while the reader looks elsewhere, and also in a field of several lines."""
    page = await window.open_live("/ui/queues")
    field = page.locator("#document")
    usual = await field.input_value()
    await field.fill('{"jobs": [{}]}')
    await field.blur()
    other = await _second_tab(window, "/ui/batches")
    await submit(http, "first")
    await _see(other, "first")
    await submit(http, "second")
    await _see(other, "second")
    assert await field.input_value() == '{"jobs": [{}]}'

    async with page.expect_request("**/ui/queues", timeout=AGAIN_MS):
        await field.fill(usual)
        await field.blur()
    assert window.faults == []


async def test_page_is_read_again_without_an_event_and_else_says_how_old_it_is(
    window: Window,
) -> None:
    page = await window.open_live("/ui/workers")
    await page.evaluate("document.querySelector('main').dataset.mark = 'same page'")
    async with page.expect_response("**/ui/workers", timeout=AGAIN_MS):
        pass  # as no event tells of workers
    await page.route("**/ui/workers", lambda route: route.abort())
    await expect(page.locator("#age")).to_have_text(re.compile(r"^\d+ s old$"), timeout=AGAIN_MS)
    await page.unroute_all()
    await expect(page.locator("#age")).to_have_text("", timeout=AGAIN_MS)
    await expect(page.locator("main[data-mark]")).to_have_count(1)


async def test_place_of_keyboard_and_of_tables_is_kept(window: Window, http: AsyncClient) -> None:
    await window.page.set_viewport_size(BETWEEN)
    await submit(http, "old")
    page = await window.open_live("/ui/batches")
    table = page.locator(".wide").first
    await table.evaluate("one => { one.focus(); one.scrollLeft = 90; }")
    await submit(http, "new")
    await _see(page, "new")
    table = page.locator(".wide").first
    await expect(table).to_be_focused()
    assert await table.evaluate("one => one.scrollLeft") == 90

    page = await window.open_live("/ui/batches/1")
    summary = page.locator("main > details.branch > summary")
    await summary.focus()
    await page.keyboard.press("Enter")
    inner = page.locator("main details.branch a.label[href$='/groups/1']")
    await inner.wait_for()
    await inner.focus()
    await http.patch("/v1/batches/1", json={"name": "renamed"})
    await page.get_by_role("heading", name="renamed").wait_for()
    await expect(inner).to_be_focused()
    await summary.focus()
    await http.patch("/v1/batches/1", json={"name": "renamed again"})
    await page.get_by_role("heading", name="renamed again").wait_for()
    await expect(summary).to_be_focused()
    assert window.faults == []


async def test_what_is_not_sent_is_said_when_the_page_was_read_meanwhile(
    window: Window, http: AsyncClient
) -> None:
    batch_id = await submit(http, "mine")
    page = await window.open_live(f"/ui/batches/{batch_id}")

    async def refuse_late(route: Route) -> None:
        await http.patch(f"/v1/batches/{batch_id}", json={"name": "renamed"})
        await page.get_by_role("heading", name="renamed").wait_for()
        await route.abort()

    await page.route("**/v1/whoami", refuse_late)
    await page.get_by_role("button", name="Hold").click()
    await page.get_by_role("alert").get_by_text("nothing was sent").wait_for()


async def test_pages_say_why_they_are_live_no_more(
    window: Window, http: AsyncClient, worker: LiveWorker
) -> None:
    batch_id = await submit(http, "short-lived")
    gone = await window.open_live(f"/ui/batches/{batch_id}")
    assert (await http.delete(f"/v1/batches/{batch_id}")).is_success
    await expect(gone.locator("#live")).to_have_text(
        "What this page shows is gone", timeout=AGAIN_MS
    )

    path, _ = await running(http, worker)
    log = await _second_tab(window, path)
    await asyncio.gather(
        http.delete("/v1/sessions"),
        expect(log.locator("#live")).to_have_text("Logged out", timeout=AGAIN_MS),
    )

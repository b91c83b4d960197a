"""Sessions that end, tabs beside each other, and servers that go away while pages are open."""

import re

import httpx
import pytest
from playwright.async_api import expect

from api.live import LiveApi
from browser.window import Window
from web_server import Answer, web_server

pytestmark = pytest.mark.heavy
AGAIN_MS = 20_000
"""A browser waits some seconds before it asks again for a stream that has ended."""
QUERY = "state = running and user = ada"


async def _submit(http: httpx.AsyncClient, name: str) -> int:
    answer = await http.post("/v1/batches", json={"name": name, "jobs": [{"command": ["true"]}]})
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


async def _second_tab(window: Window) -> Window:
    return Window(window.api, window.context, await window.context.new_page())


async def test_session_that_ends_takes_nothing_that_was_typed(
    window: Window, http: httpx.AsyncClient
) -> None:
    """Also if another tab has logged in anew, with another token for forms."""
    batch_id = await _submit(http, "mine")
    page = await window.open("/ui/batches")
    await page.locator("#q").fill(QUERY)
    await http.delete("/v1/sessions")
    await page.keyboard.press("Enter")
    await page.get_by_role("alert").get_by_text("You were logged out").wait_for()
    assert await page.locator("#q").input_value() == QUERY

    other = await _second_tab(window)
    await other.log_in()
    await page.locator("#q").press("Enter")
    await page.wait_for_url(re.compile(r"/ui/batches\?q="))
    assert await page.locator("#q").input_value() == QUERY

    await window.open(f"/ui/batches/{batch_id}")
    await http.delete("/v1/sessions")
    await other.log_in()  # the token in the form of the first tab is that of the old session
    await page.get_by_role("button", name="Hold").click()
    await page.get_by_role("button", name="Release").wait_for()
    assert (await http.get(f"/v1/batches/{batch_id}")).json()["held"]


async def test_form_is_not_sent_for_somebody_else(window: Window, http: httpx.AsyncClient) -> None:
    batch_id = await _submit(http, "mine")
    page = await window.open(f"/ui/batches/{batch_id}")
    made = await http.post("/v1/users", json={"name": "bob", "role": "admin"})
    other = await _second_tab(window)
    await other.log_in(token=made.json()["token"])
    await page.get_by_role("button", name="Hold").click()
    await page.get_by_role("alert").get_by_text("You are logged in as bob now").wait_for()
    await other.log_in()
    await page.get_by_role("button", name="Hold").click()
    await page.get_by_role("button", name="Release").wait_for()
    assert (await http.get(f"/v1/batches/{batch_id}")).json()["held"]


async def test_logout_in_one_tab_ends_all_and_back_shows_nothing(
    window: Window, http: httpx.AsyncClient
) -> None:
    await _submit(http, "secret plan")
    page = await window.open("/ui/batches")
    await page.get_by_text("secret plan").wait_for()
    other = await _second_tab(window)
    await other.open("/ui")
    await other.page.get_by_role("button", name="Log out").click()
    await other.page.get_by_text("You are not logged in").wait_for()
    assert [one["name"] for one in await window.context.cookies()] == []
    await other.page.go_back()
    await other.page.get_by_text("You are not logged in").wait_for()
    assert await other.page.get_by_text("secret plan").count() == 0

    await _submit(http, "tells the open page")
    await expect(page.locator("#live")).to_have_text("Logged out", timeout=AGAIN_MS)


async def test_pages_come_back_by_themselves_when_the_api_restarts(
    window: Window, api: LiveApi, http: httpx.AsyncClient
) -> None:
    page = await window.open_live("/ui/batches")
    await page.locator("#q").fill(QUERY)
    await api.stop()
    await expect(page.locator("#live")).to_have_text("The server is away")
    await page.locator("#q").press("Enter")
    await page.get_by_role("alert").get_by_text("The server is away").wait_for()
    assert await page.locator("#q").input_value() == QUERY
    await page.locator("#q").fill("")
    await page.locator("#q").blur()
    await api.start()
    await _submit(http, "after the restart")
    row = page.get_by_role("cell", name="after the restart")
    await expect(row).to_be_visible(timeout=AGAIN_MS)
    await expect(page.locator("#live")).to_have_text("Live")


async def test_back_shows_what_is_so_now(window: Window, http: httpx.AsyncClient) -> None:
    await _submit(http, "first")
    page = await window.open("/ui/batches")
    await page.get_by_role("link", name="b1").click()
    await page.wait_for_url("**/ui/batches/1")
    await _submit(http, "second")
    await page.go_back()
    await page.get_by_role("cell", name="second").wait_for()
    assert window.faults == []


async def test_page_in_a_frame_of_another_stays_empty(window: Window) -> None:
    """Else a page of somebody else could let people press its buttons unseen."""
    body = f"<iframe src='{window.api.url}/ui'></iframe>".encode()

    framing = Answer(body, headers={"content-type": "text/html"})
    # Another port of the same host: the browser sends the cookie along.
    with web_server(lambda _: framing) as other:
        await window.page.goto(other)
        inner = window.page.frames[1]
        assert await inner.locator("main").count() == 0
    assert any("frame-ancestors" in one for one in window.faults)

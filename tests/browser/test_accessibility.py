"""Whether everybody can read the pages: by axe, by keyboard, without a mouse, on narrow and wide
screens, and in which colours.
"""

import re
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser, Page

from api.live import LiveApi
from browser.busy import Day
from browser.walk import every_page
from browser.window import Window, open_window

pytestmark = pytest.mark.heavy
WIDE = 3840
_LINE = """
[source.summary]
kind = "schedule"
cron = "0 6 * * *"
job = "summary"

[job.summary]
command = ["true"]
"""
_RUN = "() => axe.run(document, {resultTypes: ['violations']})"
_TABLES_REACHABLE = """() => [...document.querySelectorAll('.wide')].every(
    one => one.scrollWidth <= one.clientWidth || one.tabIndex === 0)"""
_NARROW = """() => [
    ...[...document.querySelectorAll('.wide:not(:has(.aside)), .preview')].filter(
        one => one.scrollWidth > one.clientWidth).map(one => one.textContent.slice(0, 40)),
    ...[...document.querySelectorAll('header.top')].filter(
        one => one.clientHeight > 70).map(() => 'more than two lines of header')]"""
_WIDTHS = "() => [document.documentElement.scrollWidth, innerWidth]"


async def _findings(page: Page, axe: str) -> list[str]:
    """Return what axe finds that is serious or worse, with the first element of each."""
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(axe)
    found: dict[str, Any] = await page.evaluate(_RUN)
    return [
        f"{one['id']}: {one['nodes'][0]['html']} {one['nodes'][0]['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_no_page_shuts_anybody_out(
    browser: Browser, api: LiveApi, http: httpx.AsyncClient, day: Day, axe: str, scheme: str
) -> None:
    """Nothing that axe finds is serious; every page is quiet; none is wider than the screen."""
    held = {"action": "hold", "batches": [day.batches["held"]]}
    assert (await http.post("/v1/batch-actions", json=held)).is_success
    toml = {"content-type": "application/toml"}
    assert (await http.put("/v1/setups/daily", content=_LINE, headers=toml)).is_success
    asks = {"for": "approval", "form": {"properties": {"dose": {"type": "number"}}}}
    asked = await http.post("/v1/batches", json={"jobs": [{"name": "dose", "wait": asks}]})
    asking = f"/batches/{asked.json()['id']}/jobs/1/answer"
    link = (await http.post(f"/v1{asking}-links", json={})).json()["url"]
    findings: dict[str, list[str]] = {}
    async with open_window(browser, api, color_scheme=scheme) as window:
        await window.log_in()
        batch, by_link = day.batches["run"], link[link.index("/ui/") :]
        pages = (f"/ui/batches/{batch}", f"/ui/batches/{batch}/jobs/13", f"/ui{asking}")
        paths = (*pages, by_link, "/login")
        async for path, page in every_page(window, *paths):
            found = []
            for width in (WIDE, 1400, 360):
                await page.set_viewport_size({"width": width, "height": 900})
                await page.wait_for_function(_TABLES_REACHABLE)
                found += await _findings(page, axe) if width < WIDE else []
                needed, there = await page.evaluate(_WIDTHS)
                if needed > there:
                    found.append(f"{width} px: needs {needed}")
            found += await page.evaluate(_NARROW)  # of the last width
            found += window.faults
            window.faults.clear()
            if found:
                findings[path] = found
        await window.page.goto("/ui/batches?q=state+%3D")
        assert await _findings(window.page, axe) == []
        await window.page.goto("/ui/batches/999")
        assert await _findings(window.page, axe) == []
        await window.page.goto("/ui")
        await window.page.keyboard.press("?")
        assert await _findings(window.page, axe) == []

    assert findings == {}


async def test_names_that_are_long_or_hostile_stay_in_their_place(
    window: Window, day: Day
) -> None:
    page = window.page
    for path in ("/ui/batches", f"/ui/batches/{day.batches['hostile']}"):
        for width in (360, 1400):
            await page.set_viewport_size({"width": width, "height": 800})
            await window.open(path)
            needed, there = await page.evaluate(_WIDTHS)
            assert needed <= there, (path, width)
            assert await page.locator("main b", has_text="bold").count() == 0
    assert window.faults == []


_BACK = "() => getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(15, 20, 25)"


async def _focused(page: Page) -> str:
    return str(await page.evaluate("() => document.activeElement.textContent"))


async def test_keys_lead_through_the_pages(window: Window, day: Day) -> None:
    page = await window.open("/ui")
    press = page.keyboard.press
    await press("g")
    await press("b")
    await page.wait_for_url("**/ui/batches")
    for key, row in (("j", "b4"), ("j", "b3"), ("j", "b2"), ("k", "b3"), ("j", "b2")):
        await press(key)
        assert await _focused(page) == row
    await press("Enter")
    await page.wait_for_url(f"**/ui/batches/{day.batches['run']}")
    await press("/")
    await page.keyboard.type("state = failed and exit_code = 3 or g h ? j")
    assert await page.locator("#q").input_value() == "state = failed and exit_code = 3 or g h ? j"
    await press("Escape")
    await press("g")
    await press("h")
    await page.wait_for_url("**/ui")
    assert window.faults == []


async def test_help_lists_the_keys_and_switches_them_off(window: Window) -> None:
    page = await window.open("/ui/batches")
    await page.keyboard.press("?")
    await page.get_by_role("dialog", name="Keys").wait_for()
    await page.keyboard.press("Escape")
    await page.get_by_role("dialog").wait_for(state="hidden")
    await page.get_by_role("button", name="Keys").click()
    await page.get_by_role("checkbox").uncheck()
    await page.get_by_role("button", name="Close").click()
    await page.reload()
    await page.keyboard.press("/")
    assert await page.evaluate("() => document.activeElement === document.body")
    assert window.faults == []


async def test_keyboard_stays_where_it_was_when_the_page_is_read_again(
    window: Window, day: Day, http: httpx.AsyncClient
) -> None:
    page = await window.open_live("/ui/batches")
    await page.get_by_role("link", name="b2", exact=True).focus()
    await http.post("/v1/batches", json={"name": "one more", "jobs": [{}]})
    await page.get_by_role("cell", name="one more").wait_for()
    assert await _focused(page) == "b2"


async def test_colours_are_those_of_the_system_until_somebody_chooses(
    browser: Browser, api: LiveApi
) -> None:
    async with open_window(browser, api, color_scheme="dark") as window:
        await window.log_in()
        page = await window.open("/ui")
        assert await page.evaluate(_BACK) == DARK
        await page.get_by_label("Colours").select_option("light")
        assert await page.evaluate(_BACK) == LIGHT
        await window.open("/ui/batches")
        assert await page.evaluate(_BACK) == LIGHT
        assert await page.get_by_label("Colours").input_value() == "light"
        await page.get_by_label("Colours").select_option("")
        await page.reload()
        assert await page.evaluate(_BACK) == DARK
        assert window.faults == []


async def test_times_are_in_the_zone_of_the_reader(window: Window, day: Day) -> None:
    """A list says how long ago they were, and the date where one points."""
    page = await window.open("/ui/batches")
    time = page.locator("tbody time").first
    text, title = await time.text_content(), await time.get_attribute("title")
    assert text is not None
    assert re.fullmatch(r"\d+ (s|min) ago", text)
    assert title is not None
    local, _, utc = title.partition(" (")
    assert utc.endswith(" UTC)")
    minutes = [int(one.split(":")[-2][-2:]) for one in (local, utc.removesuffix(" UTC)"))]
    assert (minutes[0] - minutes[1]) % 60 == 30  # Kolkata is half an hour beside

"""Whether everybody can read the pages: by axe, by keyboard, and on narrow and wide screens."""

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
    findings: dict[str, list[str]] = {}
    async with open_window(browser, api, color_scheme=scheme) as window:
        await window.log_in()
        batch = day.batches["run"]
        paths = (f"/ui/batches/{batch}", f"/ui/batches/{batch}/jobs/13", "/login")
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

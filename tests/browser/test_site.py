"""What stops jobs, the form that tests guards, and how the whole site is, in a real browser."""

from pathlib import Path

import httpx
import pytest
from playwright.async_api import expect

from browser.busy import Day
from browser.window import Window
from weft.store import open_admin
from weft.store.admin import AuditFinding

pytestmark = pytest.mark.heavy
BROKEN = AuditFinding("queues_are_counted", "Counters of queues equal jobs.", ({"x": 1},))


async def test_keys_and_buttons_lead_from_incidents_to_released_jobs(
    window: Window, day: Day
) -> None:
    page = await window.open("/ui")
    press = page.keyboard.press
    await press("g")
    await press("i")
    await page.wait_for_url("**/ui/incidents")
    await press("j")
    await press("Enter")
    await page.wait_for_url("**/ui/conditions/1")
    await window.is_live()
    assert await page.locator("tbody a[href^='/ui/batches/']").count() == 3
    await page.get_by_label("Jobs", exact=True).fill("0")
    await page.get_by_role("button", name="Release").click()
    assert page.url.endswith("/ui/conditions/1")  # the browser does not send it
    await page.get_by_label("Jobs", exact=True).fill("2")
    await page.get_by_role("button", name="Release").click()
    await page.wait_for_url("**/ui/conditions")
    await page.get_by_role("link", name="c1").click()
    await page.get_by_text("Give up …").click()
    await page.get_by_role("button", name="Give up").click()
    await page.wait_for_url("**/ui/conditions")
    await page.get_by_text("given up").wait_for()
    assert window.faults == []


async def test_page_of_the_site_fits_and_is_quiet(
    window: Window, day: Day, database: dict[str, str], tmp_path: Path
) -> None:
    async with open_admin(database["admin"]) as admin:
        await admin.record_audit([BROKEN], took_ms=1500)
    page = window.page
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        for width in (360, 1400, 3840):
            await page.set_viewport_size({"width": width, "height": 900})
            for name, path in (
                ("system", "/ui/system"),
                ("conditions", "/ui/conditions"),
                ("condition", "/ui/conditions/1"),
                ("incidents", "/ui/incidents"),
            ):
                await window.open(path)
                await page.screenshot(
                    path=tmp_path / f"{name}-{scheme}-{width}.png", full_page=True
                )
                wide = await page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, (name, width)
    await window.open("/ui")
    await page.keyboard.press("g")
    await page.keyboard.press("s")
    await page.wait_for_url("**/ui/system")
    await page.get_by_text("queues_are_counted").first.wait_for()
    await page.get_by_text("All ", exact=False).locator("xpath=self::summary").click()
    await page.locator("details code", has_text="page_rows").wait_for()
    assert await page.locator("#live").text_content() == ""  # no event tells of what it shows
    assert window.faults == []


BIG = {"name": "big", "priority": 1, "guard": "job.resources.cpu > 4", "pools": ["default"]}
DOCUMENT = """{
  "jobs": [
    {"command": ["small"]},
    {"command": ["large"], "resources": {"cpu": 8}}
  ]
}"""


async def test_guards_are_asked_without_submitting_anything(
    window: Window, http: httpx.AsyncClient
) -> None:
    """What was written stays, also when it was wrong, and when the session has ended."""
    assert (await http.put("/v1/queues", json={"queues": [BIG]})).status_code == 200
    page = await window.open("/ui/queues")
    field = page.get_by_label("A document with jobs, as JSON")
    await field.fill(DOCUMENT)
    await field.press("Tab")
    await page.keyboard.press("Enter")
    await page.get_by_text("Job 1: default").wait_for()
    await page.get_by_text("Job 2: big").wait_for()
    await expect(page.get_by_text("does not take it: big")).to_be_visible()
    assert await field.input_value() == DOCUMENT
    assert (await http.get("/v1/batches")).json()["items"] == []

    await field.fill(DOCUMENT[:-2])
    await page.get_by_role("button", name="Test the guards").click()
    await page.get_by_text("the body is not JSON").wait_for()
    assert await field.input_value() == DOCUMENT[:-2]

    await field.fill(DOCUMENT)
    await http.delete("/v1/sessions")
    await page.get_by_role("button", name="Test the guards").click()
    await page.get_by_role("alert").get_by_text("You were logged out").wait_for()
    assert await field.input_value() == DOCUMENT
    other = Window(window.api, window.context, await window.context.new_page())
    await other.log_in()
    await page.get_by_role("button", name="Test the guards").click()
    await page.get_by_text("Job 2: big").wait_for()
    # A form that was answered with an error is one on the console, too.
    assert [one for one in window.faults if "40" not in one] == []

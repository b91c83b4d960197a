"""The form that tests the guards of queues, in a real browser."""

import httpx
import pytest
from playwright.async_api import expect

from browser.window import Window

pytestmark = pytest.mark.heavy
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

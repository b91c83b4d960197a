"""The page of a simulated job in a real browser: its steps go on, though nothing happens to it."""

import httpx
import pytest
from playwright.async_api import expect

from api.live import LiveWorker
from browser.window import Window

pytestmark = pytest.mark.heavy
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
    page = await window.open(f"/ui/batches/{made.json()['id']}/jobs/1")
    await window.is_live()

    rows = page.locator("#simulated tbody tr")
    await expect(rows.nth(2)).to_contain_text("running", timeout=20_000)
    await expect(rows.nth(1)).to_contain_text("done")
    await expect(rows.nth(3)).to_contain_text("waiting")
    await page.set_viewport_size({"width": 360, "height": 900})
    assert await page.evaluate("document.documentElement.scrollWidth") == 360
    assert window.faults == []

"""The first page in a real browser."""

import httpx
import pytest

from browser.window import Window

pytestmark = pytest.mark.heavy


async def test_first_page_is_quiet_and_follows_what_happens(
    window: Window, http: httpx.AsyncClient
) -> None:
    page = await window.open("/ui")
    await window.is_live()
    await page.get_by_text("weft run echo hello").wait_for()
    answer = await http.post("/v1/batches", json={"name": "night run", "jobs": [{}]})
    assert answer.status_code == 201, answer.text
    await page.get_by_role("cell", name="night run").wait_for()

    assert window.faults == []

"""The first page, the list of batches, and the events of one, in a real browser."""

import pytest
from httpx import AsyncClient

from browser.test_live import submit
from browser.window import Window

pytestmark = pytest.mark.heavy


async def test_many_batches_are_ticked_counted_and_held(window: Window, http: AsyncClient) -> None:
    """Words of the query are completed on the way."""
    for name in ("one", "two"):
        await submit(http, name)
    page = await window.open("/ui/batches")
    await page.locator("#q").press_sequentially("state = running and us")
    words = page.locator("#words option[value^='state = running and user']")
    await words.first.wait_for(state="attached")
    await page.locator("#q").fill("")
    await page.get_by_label("Tick all").check()
    await page.get_by_role("button", name="Hold …").click()
    await page.get_by_role("button", name="Hold 2 batches").click()
    await page.wait_for_url("**/ui/operations/*")

    assert window.faults == []


async def test_events_of_a_batch_are_listed_as_they_come(
    window: Window, http: AsyncClient
) -> None:
    batch_id = await submit(http, "mine")
    page = await window.open_live(f"/ui/batches/{batch_id}")
    await http.post(f"/v1/batches/{batch_id}/hold", json={})
    await page.locator("#events li", has_text="held").first.wait_for()

    assert window.faults == []


async def test_description_of_the_api_keeps_to_its_policy(window: Window) -> None:
    page = await window.open("/docs")
    await page.get_by_role("heading").first.wait_for()

    assert window.faults == []


async def test_first_page_is_quiet_and_follows_what_happens(
    window: Window, http: AsyncClient
) -> None:
    page = await window.open_live("/ui")
    await page.get_by_text("weft run echo hello").wait_for()
    answer = await http.post("/v1/batches", json={"name": "night run", "jobs": [{}]})
    assert answer.status_code == 201, answer.text
    await page.get_by_role("cell", name="night run").wait_for()

    assert window.faults == []

"""The pictures of the guide: `make pictures` keeps them, the other runs only look."""

import os
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.async_api import Browser

from api.live import LiveApi
from browser.busy import Day
from browser.window import open_window

pytestmark = pytest.mark.heavy
KEPT_IN = Path(__file__).resolve().parents[2] / "docs" / "guides" / "pictures"
KEEP = "PICTURES"
COLOURS = 96
BYTES_MAX = 60_000
# What is another in each run would make each run another picture.
_CALM = """() => {
  for (const one of document.querySelectorAll('time')) one.textContent = '23 Nov 2026, 14:05:10';
  for (const one of document.querySelectorAll('dt')) {
    if (one.textContent.startsWith('Jobs an hour')) one.nextElementSibling.textContent = '12,600';
  }
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    node.data = node.data.replace(/\\b[\\d.]+ (ms|s|min)\\b/g, '4.2 s');
    node.data = node.data.replace(/\\b[0-9a-f]{32}\\b/g, '0'.repeat(32));
  }
}"""


def _small(picture: bytes) -> bytes:
    """Return the same picture in few colours, which a page does not have more of."""
    found = BytesIO()
    image = Image.open(BytesIO(picture)).convert("RGB").quantize(COLOURS)
    image.save(found, "PNG", optimize=True)
    return found.getvalue()


@pytest.mark.parametrize(
    ("name", "path", "scheme", "width", "height"),
    [
        ("home", "/ui", "light", 1100, 560),
        ("batch", "/ui/batches/{run}", "light", 1100, 760),
        ("job", "/ui/batches/{run}/jobs/13", "dark", 1100, 700),
        ("narrow", "/ui/batches/{run}", "light", 360, 700),
        ("incidents", "/ui/incidents", "light", 1100, 420),
    ],
)
async def test_picture_of_a_page(
    browser: Browser,
    api: LiveApi,
    day: Day,
    name: str,
    path: str,
    scheme: str,
    width: int,
    height: int,
) -> None:
    """Each shows what it should, and is small enough for a repository."""
    size = {"width": width, "height": height}
    async with open_window(browser, api, color_scheme=scheme, viewport=size) as window:
        await window.log_in()
        page = await window.open_live(path.format_map(day.batches))
        await page.evaluate(_CALM)
        picture = _small(await page.screenshot(animations="disabled"))
        again = _small(await page.screenshot(animations="disabled"))

    assert window.faults == []
    assert picture == again
    assert 5_000 < len(picture) <= BYTES_MAX
    if os.environ.get(KEEP):
        KEPT_IN.mkdir(exist_ok=True)
        (KEPT_IN / f"{name}.png").write_bytes(picture)

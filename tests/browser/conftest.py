"""Fixtures of the tests that look at pages with a real browser."""

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser, async_playwright

from api.conftest import api, doors, http, settings, worker
from api.live import LiveApi, LiveWorker
from browser.busy import Day
from browser.window import Window, open_window

__all__ = ["api", "doors", "http", "settings", "worker"]  # fixtures, for the tests beside
ROOT = Path(__file__).resolve().parents[2]
FLAGS = (
    "--no-sandbox",  # root cannot have it
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",  # it asks the network for nothing of its own
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Give the program of a Chromium, or skip with the reason why there is none."""
    found = subprocess.run(
        [ROOT / "tools" / "debian_chromium.sh"], check=False, capture_output=True, text=True
    )
    if found.returncode:
        pytest.skip(f"no Chromium: {found.stderr.strip()}")
    return found.stdout.strip()


@pytest.fixture
async def browser(chromium: str) -> AsyncIterator[Browser]:
    """Give a browser without any window."""
    async with async_playwright() as playwright:
        found = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield found
        await found.close()


@pytest.fixture
async def window(api: LiveApi, browser: Browser) -> AsyncIterator[Window]:
    """Give a window that is logged in."""
    async with open_window(browser, api) as found:
        await found.log_in()
        yield found


@pytest.fixture
async def day(http: httpx.AsyncClient, worker: LiveWorker, database: dict[str, str]) -> Day:
    """Give an installation in which there is something of everything."""
    found = Day(http, worker, database)
    await found.fill()
    return found


@pytest.fixture(scope="session")
def axe() -> str:
    """Give the source of axe-core, or skip with the reason why there is none."""
    found = subprocess.run(
        [ROOT / "tools" / "axe.sh"], check=False, capture_output=True, text=True
    )
    if found.returncode:
        pytest.skip(f"no axe-core: {found.stderr.strip()}")
    return Path(found.stdout.strip()).read_text()

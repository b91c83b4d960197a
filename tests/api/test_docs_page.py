"""`/docs` in a browser."""

import asyncio
import shutil
from pathlib import Path

import pytest

from api.live import LiveApi


@pytest.mark.slow
async def test_browser_shows_the_description_without_a_token(api: LiveApi, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no Chromium")
    process = await asyncio.create_subprocess_exec(
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path}",
        "--dump-dom",
        f"{api.url}/docs",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    page, _ = await process.communicate()

    for part in (
        b"<h1>weft API",
        b"POST /v1/batches</code>",
        b"Program and arguments",
        b'id="JobDocument"',
    ):
        assert part in page, page[:500]

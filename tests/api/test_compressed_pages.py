"""Pages as they are sent: compressed, and without a secret that their length would tell; and
`/docs` in a browser.
"""

import asyncio
import gzip
import re
import shutil
from pathlib import Path

import pytest
from httpx import AsyncClient

from api.live import LiveApi
from weft.api.html.assets import assets
from weft.api.http.compression import SMALL_BYTES
from weft.core.access.sessions import is_csrf_token, masked_csrf_token

TOKEN = "5" * 64


async def test_pages_are_compressed_for_those_who_ask(browser: AsyncClient) -> None:
    style = assets()["weft.css"]
    for path in ("/ui", "/ui/batches?q=state+%3D", style.path):
        for asked, is_compressed in (
            ("gzip, br", True),
            ("br;q=1, GZIP;q=0.001", True),
            ("gzip;q=0", False),
            ("gzip;q=0.000, identity", False),
            ("identity", False),
            ("", False),
        ):
            answer = await browser.get(path, headers={"accept-encoding": asked})
            given = answer.headers.get("content-encoding")
            assert given == ("gzip" if is_compressed else None), (path, asked)
            assert answer.headers["vary"] == "accept-encoding"
            assert len(answer.content) > SMALL_BYTES
    assert gzip.decompress(style.gzipped) == style.data
    for path in ("/login", "/login?code=x", "/ui/batches/999", "/v1/whoami"):
        answer = await browser.get(path, headers={"accept-encoding": "gzip"})
        assert "content-encoding" not in answer.headers, path


async def test_no_two_pages_hold_the_same_token(browser: AsyncClient, http: AsyncClient) -> None:
    """A stranger who chooses a part of a page would learn it from the lengths (BREACH)."""
    made = (await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})).json()
    path, tokens = f"/ui/batches/{made['id']}", list[str]()
    for _ in range(2):
        found = set(re.findall(r'"csrf_token" value="(\w+)"', (await browser.get(path)).text))
        assert len(found) == 1
        tokens += found
    plain = (await browser.get("/v1/whoami")).json()["csrf_token"]

    assert tokens[0] != tokens[1]
    assert plain not in "".join(tokens)
    for token in (*tokens, plain):
        for action, is_held in (("hold", True), ("release", False)):
            answer = await browser.post(f"{path}/{action}", data={"csrf_token": token})
            assert answer.status_code == 303
            held = (await http.get(f"/v1/batches/{made['id']}")).json()["held"]
            assert held is is_held


def test_masked_token_is_that_of_one_session_only() -> None:
    masked = masked_csrf_token(TOKEN, "ab" * 16)
    assert is_csrf_token(TOKEN, TOKEN)
    assert is_csrf_token(TOKEN, masked)
    for other in (
        "",
        "ab" * 16,
        masked[:-1],
        masked + "0",
        masked[32:],
        "ac" * 16 + masked[32:],
        masked_csrf_token("6" * 64, "ab" * 16),
        masked_csrf_token("", ""),
        "\u00e9",
        TOKEN[:32],
    ):
        assert not is_csrf_token(TOKEN, other), other


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

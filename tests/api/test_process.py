"""The api as a process of its own."""

import asyncio
import os
import signal
import socket
import sys
import time
from pathlib import Path

import httpx
import pytest

from api.live import DEADLINE_S, TOKEN, make_user
from weft.run.home import Home

RSS_BYTES_MAX = 120 << 20


async def start(home: Path, **settings: str) -> asyncio.subprocess.Process:
    environment = {**os.environ, "WEFT_HOME": str(home), "WEFT_LOG_FORMAT": "json", **settings}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "weft.run.api", env=environment, stderr=asyncio.subprocess.PIPE
    )


async def until_ready(home: Home, process: asyncio.subprocess.Process) -> int:
    """Return the port. The file has no event to wait for."""
    deadline = time.monotonic() + DEADLINE_S
    while home.ready("api").get("pid") != process.pid:
        assert process.returncode is None
        assert time.monotonic() < deadline
        await asyncio.wait({asyncio.ensure_future(process.wait())}, timeout=0.02)
    return int(home.ready("api")["port"])


@pytest.fixture
async def home(database: dict[str, str], tmp_path: Path) -> Home:
    found = Home(tmp_path)
    found.prepare()
    found.write_secrets(database)
    await make_user(database["admin"])
    return found


@pytest.mark.slow
async def test_process_serves_and_stops(home: Home) -> None:
    process = await start(home.path, WEFT_PORT="0")
    try:
        port = await until_ready(home, process)
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers) as http:
            created = await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})
            async with http.stream("GET", "/v1/events") as events:
                pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
                process.send_signal(signal.SIGTERM)
                rest = [line async for line in events.aiter_lines()]
        async with asyncio.timeout(DEADLINE_S):
            code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()

    assert created.status_code == 201, created.text
    assert code == 0
    assert rest[1] == ": connected"
    assert pages * os.sysconf("SC_PAGE_SIZE") < RSS_BYTES_MAX
    assert not home.ready("api")


@pytest.mark.slow
async def test_address_in_use_is_told(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = await start(home.path, WEFT_PORT=str(taken.getsockname()[1]))
        async with asyncio.timeout(DEADLINE_S):
            _, said = await process.communicate()

    assert process.returncode == 4
    assert b"UP.ADDRESS_NOT_USABLE" in said
    assert b"--port 0" in said

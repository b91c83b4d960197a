"""Fixtures of the api's tests: the application on a recording store, and a client for it."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from httpx import AsyncClient

from api import fakes
from api.fakes import RecordingStore, SilentNotices, client_of
from api.hail_door import Hail
from api.live import TOKEN, Commands, LiveApi, logged_in, make_user, open_worker
from api.openid import provider
from contexts import async_fixture_of, fixture_of
from kept_sessions import kept_session
from weft.api.app import Application, create_app
from weft.api.http import identity
from weft.api.http.doors import ApiDoor
from weft.cli.app import run_command
from weft.run.doors import api_doors
from weft.settings import Settings
from weft.telemetry.metrics import HTTP_REQUEST_SECONDS, HTTP_REQUESTS, STORE_CALL_SECONDS


@pytest.fixture
def store() -> RecordingStore:
    return RecordingStore()


admin = async_fixture_of(lambda database: kept_session(database["admin"]))
"""A connection that may do all."""


@pytest.fixture
async def app(store: RecordingStore, tmp_path: Path) -> Application:
    settings = Settings(home=tmp_path)
    return create_app(store, SilentNotices(), None, settings, doors=api_doors())  # type: ignore[arg-type]  # doubles


client = async_fixture_of(lambda app: client_of(app, authorization=f"Bearer {fakes.TOKEN}"))
"""A client that is known to the application."""


@pytest.fixture
def doors(request: pytest.FixtureRequest) -> Sequence[ApiDoor]:
    """Give the doors that the live api has: those that a file of tests calls `LIVE_DOORS`."""
    found: Sequence[ApiDoor] = getattr(request.module, "LIVE_DOORS", ())
    return found


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Say the settings of the live api: those that a file of tests calls `SETTINGS`."""
    return Settings(home=tmp_path, **getattr(request.module, "SETTINGS", {"source_paths": "/"}))


@pytest.fixture
async def api(
    database: dict[str, str], settings: Settings, doors: Sequence[ApiDoor]
) -> AsyncIterator[LiveApi]:
    """Give the api on a database of its own, behind a real server."""
    for metric in (STORE_CALL_SECONDS, HTTP_REQUESTS, HTTP_REQUEST_SECONDS):
        metric.clear()  # else a page has all that the tests before have called
    await make_user(database["admin"])
    live = LiveApi(database["weft_api"], settings, doors=doors)
    await live.start()
    yield live
    await live.stop()


http = async_fixture_of(lambda api: api.client())
"""A client of the live api."""


@pytest.fixture
def command(
    api: LiveApi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Commands:
    """Give the command line of the tester: exit code and output, without what the server logs."""
    monkeypatch.setenv("WEFT_URL", api.url)
    monkeypatch.setenv("WEFT_TOKEN", TOKEN)

    async def run(*words: str) -> tuple[int, str, str]:
        code = await asyncio.to_thread(run_command, list(words))
        out, err = (re.sub(r"(?m)^\x1b\[2m.*\n", "", said) for said in capsys.readouterr())
        return code, out, err

    return run


@pytest.fixture
def remember_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused later was revoked or ended; the api does not forget it by itself."""
    monkeypatch.setattr(identity, "REMEMBER_S", 3600.0)


browser = async_fixture_of(logged_in)
"""A browser that has logged in."""


second = async_fixture_of(
    lambda api, tmp_path: LiveApi(api.dsn, Settings(home=tmp_path / "second"))
)
"""Another api of the same database."""


@pytest.fixture
def hail(http: AsyncClient) -> Hail:
    """Give a client of Hail's door."""
    return Hail(http)


openid = fixture_of(provider)
"""A provider at which people log in."""
worker = async_fixture_of(
    lambda database, tmp_path: open_worker(database["weft_worker"], tmp_path / "logs")
)
"""A worker of two cores and 4 GiB."""

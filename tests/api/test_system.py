"""The whole site: `/v1/system`, and the page that says the same."""

import re

import asyncpg
import httpx
import pytest

from api.live import add
from contexts import connected
from weft import __version__
from weft.settings import all_declared
from weft.store import open_admin
from weft.store.admin import AuditFinding

pytestmark = pytest.mark.slow
HIDDEN = "•••"
SECRET = "0123456789swordfish"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def database(own_database: dict[str, str]) -> dict[str, str]:
    """Give one to which nobody is connected but those of a test: it looks who is."""
    return own_database


SETTINGS = {
    "page_rows": 17,
    "token": SECRET,
    "pool": HOSTILE,
    "database": f"postgresql://me:{SECRET}@db.example/weft",
}


async def test_settings_in_force_are_told_without_secrets(
    http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    connection = await asyncpg.connect(database["weft_driver"])
    epoch = await connection.fetchval("SELECT weft.begin_term()")
    handed_over = '{"losses_max": 77, "page_rows": 17}'
    await connection.execute(
        "SELECT weft.configure_term(epoch => $1, settings => $2::jsonb)", epoch, handed_over
    )
    answer = await http.get("/v1/system")
    page = await http.get("/ui/system")
    await connection.close()
    settings = {one["name"]: one for one in answer.json()["settings"]}

    assert answer.json()["version"] == __version__
    assert settings.keys() == all_declared().keys()
    assert (settings["page_rows"]["value"], settings["page_rows"]["is_default"]) == ("17", False)
    assert settings["page_rows"]["driver_value"] is None
    assert settings["losses_max"]["driver_value"] == "77"
    assert settings["losses_max"]["is_default"]
    assert settings["token"]["value"] == HIDDEN
    assert settings["database"]["value"] == f"postgresql://me:{HIDDEN}@db.example/weft"
    for text in (answer.text, page.text):
        assert SECRET not in text
    assert HOSTILE not in page.text
    first = page.text.partition("All ")[0].partition("<h2>Settings</h2>")[2]
    assert set(re.findall(r"<td><code>(\w+)</code></td>", first)) >= {"page_rows", "losses_max"}
    assert "host" not in re.findall(r"<td><code>(\w+)</code></td>", first)


async def test_leader_is_judged_by_when_it_was_heard(
    http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    """The holder of the lock may be gone: the server keeps a session that it cannot reach."""
    connection = await asyncpg.connect(database["weft_driver"])
    epoch = await connection.fetchval("SELECT weft.begin_term()")
    async with connected(database["admin"]) as admin:
        begun = await _driver_verdict(http)
        await admin.execute("UPDATE weft.driver_state SET heard_at = now() - interval '61 s'")
        silent = await _driver_verdict(http)
    await connection.execute("SELECT FROM weft.beat_driver($1, 30)", epoch)
    heard = await _driver_verdict(http)
    await connection.close()

    assert (begun, silent, heard) == ("ok", "wrong", "ok")


async def _driver_verdict(http: httpx.AsyncClient) -> str:
    health = (await http.get("/v1/system")).json()["health"]
    return next(str(one["verdict"]) for one in health if one["check"] == "driver")


async def test_health_is_that_of_what_is_connected(
    http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    alone = (await http.get("/v1/system")).json()
    page = (await http.get("/ui/system")).text
    verdicts = {one["check"]: one["verdict"] for one in alone["health"]}

    assert [verdicts[one] for one in ("driver", "workers", "audit")] == ["wrong", "warning", "ok"]
    assert {one["role"] for one in alone["processes"]} == {"api"}
    assert '<span class="badge v-wrong">wrong</span><div><b>driver</b>' in page
    assert "<code>weft audit</code> recomputes all derived data" in page
    async with open_admin(database["admin"]) as admin:
        broken = AuditFinding("queues_are_counted", f"It is {HOSTILE}.", ({"x": 1},))
        await admin.record_audit([broken], took_ms=1500)
    after = (await http.get("/v1/system")).json()
    page = (await http.get("/ui/system")).text
    verdicts = {one["check"]: one["verdict"] for one in after["health"]}
    assert verdicts["audit"] == "wrong"
    assert after["audit"]["wrong"][0]["check"] == "queues_are_counted"
    assert "<code>queues_are_counted</code>: 1 row contradicts it." in page
    assert HOSTILE not in page


async def test_site_is_shown_to_its_administrators_alone(http: httpx.AsyncClient) -> None:
    assert 'href="/ui/system"' in (await http.get("/ui")).text
    for role in ("operator", "tenant-admin"):
        other = await add(http, role, role=role)
        for path in ("/v1/system", "/ui/system"):
            assert (await http.get(path, headers=other)).status_code == 403
        assert 'href="/ui/system"' not in (await http.get("/ui", headers=other)).text

"""Logins that failed, in the trail: whose, where from, how often, and never their secrets."""

import asyncio
from collections.abc import Mapping
from typing import Any

import asyncpg
from httpx import AsyncClient

from api.fakes import RecordingStore
from api.live import NO_TLS, Commands, LiveApi, seal, trail
from weft.api.http.failed_logins import WINDOW_S, WINDOWS_MAX, LoginFailures
from weft.core.errors import Unavailable
from weft.core.login_attempts import LoginAttempt
from weft.ports.store import FailedLogin
from weft.run.doors import api_doors

LIVE_DOORS = api_doors()
FACTS = ("tenant", "user", "action", "path", "refused", "times")
TRACE = "decade00" * 4


def told(entries: list[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    return [tuple(one[name] for name in FACTS) for one in entries if one["refused"]]


async def test_failed_logins_tell_whose_they_were(
    http: AsyncClient, api: LiveApi, database: dict[str, str], admin: asyncpg.Connection
) -> None:
    """Of an expired token or code that is known, and the tenant sees it; a guess is for the
    administrators of the site.
    """
    bob = (await http.post("/v1/users", json={"name": "bob", "role": "user"})).json()["token"]
    url = (await http.post("/v1/login-links", json={})).json()["url"]
    code = url.partition("code=")[2]
    await admin.execute(
        "UPDATE weft.token SET expires_at = clock_timestamp() WHERE kind = 'code' "
        "OR user_id = (SELECT user_id FROM weft.tenant_user WHERE name = 'bob')"
    )
    async with AsyncClient(base_url=api.url, headers={"origin": api.url}, verify=NO_TLS) as client:
        answers = [
            await client.get(
                "/v1/batches?q=1", headers={"authorization": f"Bearer {bob}", "x-trace-id": TRACE}
            ),
            await client.get("/jobs/v2", headers={"authorization": f"Bearer {bob}"}),
            await client.get("/v1/whoami", headers={"authorization": "Bearer guessed-token"}),
            await client.get("/v1/whoami", headers={"cookie": "weft_session=guessed-session"}),
            await client.get("/v1/whoami", headers={"authorization": "Bearer a.b.c"}),
            await client.get("/v1/whoami"),
            await client.get("/v1/whoami", headers={"authorization": "Basic eDp5"}),
            await client.get(url),
            await client.post("/login", data={"code": "guessed-code"}),
        ]
    ours = await trail(http, database)
    all_ = await trail(http, database, "?all_tenants=true")
    expired = next(one for one in ours if one["user"] == "bob")

    assert [one.status_code for one in answers] == [401] * 9
    assert answers[0].json()["detail"] == "The token has expired."
    assert answers[1].json()["fault"]["code"] == 900903
    assert answers[2].json()["detail"] == "The token is unknown."
    assert told(ours) == [
        ("local", "bob", "authenticate", "/v1/batches", "API.UNAUTHENTICATED", 1),
        ("local", "tester", "show_login", "/login", "API.LOGIN_LINK_REFUSED", 1),
    ]
    assert told(all_)[1:2] + told(all_)[3:] == [
        (None, None, "authenticate", "/v1/whoami", "API.UNAUTHENTICATED", 1),
        (None, None, "log_in", "/login", "API.LOGIN_LINK_REFUSED", 1),
    ]
    assert (expired["address"], expired["trace_id"]) == ("127.0.0.1", TRACE)
    for secret in (bob, code, "guessed"):
        assert secret not in str(all_)


async def test_many_that_are_alike_are_two_entries(
    http: AsyncClient,
    api: LiveApi,
    database: dict[str, str],
    admin: asyncpg.Connection,
    command: Commands,
) -> None:
    """The first at once, the others together; the chain of digests goes over their number."""
    for n in range(7):
        wrong = {"authorization": f"Bearer guessed-{n}"}
        assert (await http.get("/v1/whoami", headers=wrong)).status_code == 401
    await seal(database)
    first = await trail(http, database, "?all_tenants=true")
    await api.app.finish()
    both = await trail(http, database, "?all_tenants=true")
    _, table, _ = await command("trail", "--all-tenants")
    await admin.execute("UPDATE weft.trail_entry SET times = 5 WHERE times = 6")
    broken = await admin.fetchval(
        "SELECT count(*) FROM weft.trail_entry e WHERE e.digest <> weft._trail_digest("
        "coalesce((SELECT o.digest FROM weft.trail_entry o WHERE o.number = e.number - 1), ''), e)"
    )

    assert [one["times"] for one in first] == [1]
    assert [one["times"] for one in both] == [1, 6]
    assert "-/-" in table
    assert "API.UNAUTHENTICATED, 6 times" in " ".join(table.split())
    assert broken == 1


def scope_of(address: str) -> dict[str, Any]:
    return {"client": (address, 1), "path": "/v1/x", "state": {"trace_id": TRACE}}


class Clock:
    """Moves when somebody sleeps, once it is let go."""

    def __init__(self) -> None:
        self.now = 0.0
        self.goes = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        await self.goes.wait()
        self.now += seconds


async def test_attacker_with_many_addresses_does_not_fill_the_trail() -> None:
    """All that was tried is counted."""
    store, clock = RecordingStore(), Clock()
    failures = LoginFailures(store, lambda: clock.now, clock.sleep)
    n_tries = 2000
    for n in range(n_tries):
        address = f"2001:db8:{n % 500:x}::{n}"
        await failures.note(scope_of(address), LoginAttempt(), "API.X")
    at_once = len(store.failed_logins)
    clock.goes.set()
    closing = failures._closing
    assert closing is not None
    await closing

    assert at_once == WINDOWS_MAX + 1
    assert clock.now == WINDOW_S
    assert len(store.failed_logins) == 2 * at_once
    assert sum(one.times for one in store.failed_logins) == n_tries
    assert {one.address is None for one in store.failed_logins} == {True, False}
    await failures.note(scope_of("2001:db8::1"), LoginAttempt(), "API.X")
    assert len(store.failed_logins) == 2 * at_once + 1
    await failures.finish()


async def test_one_network_is_one_sender_and_users_are_told_apart() -> None:
    store = RecordingStore()
    failures = LoginFailures(store)
    for address in ("2001:db8::1", "2001:db8::2", "10.0.0.1", "::ffff:10.0.0.1"):
        await failures.note(scope_of(address), LoginAttempt(), "API.X")
    await failures.note(scope_of("10.0.0.1"), LoginAttempt(tenant="a", user="eve"), "API.X")
    await failures.finish()

    assert [(one.address, one.owner.user_name, one.times) for one in store.failed_logins] == [
        ("2001:db8::1", None, 1),
        ("10.0.0.1", None, 1),
        ("10.0.0.1", "eve", 1),
        ("2001:db8::2", None, 1),
        ("::ffff:10.0.0.1", None, 1),
    ]


class Away(RecordingStore):
    """A store whose database does not answer."""

    async def record_failed_login(self, failed: FailedLogin) -> None:
        raise Unavailable(f"{failed.name} is not recorded", hint="Wait.")

    async def login_owner(self, digest: bytes) -> None:
        raise Unavailable(f"{digest!r} is not looked up", hint="Wait.")


async def test_login_is_refused_also_when_the_trail_is_away() -> None:
    failures = LoginFailures(Away())
    await failures.note(scope_of("10.0.0.1"), LoginAttempt(b"x"), "API.X")
    await failures.finish()

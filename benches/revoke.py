"""How soon every api refuses what one api was asked to revoke.

Two apis serve one database. Again and again something is made that both accept and remember: a
token, a user with a role, a user, the session of a browser. Then the first api is asked to revoke
it, while both are asked with it all the time. What counts is the time from that request until the
first answer that refuses, of the slower api; so the request and one answer are in it. Open streams
of events end likewise. A key that an issuer has removed from its file is refused when the api has
looked at the file again and no longer remembers the bearer: there is no notice.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import httpx
from joserfc import jwk

from benches.issuer import Key, web_token, write_issuers, write_keys
from benches.running_api import running_api
from benches.sessions import log_in
from benches.wire import Wire, bearing, request_of
from weft.api.http.identity import REMEMBER_S
from weft.api.web_tokens.keys import FILE_FRESH_S
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    percentile,
    ratio_of,
)
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.client.api import Api
from weft.core.access.rights import UserRole
from weft.run.home import Home

ROUNDS: Final = 100
KEY_ROUNDS: Final = 3
GOAL_MS: Final = 100.0
KEY_GOAL_S: Final = FILE_FRESH_S + REMEMBER_S
LOOK_S: Final = 0.002
"""Between two requests to an api, so that it is not kept busy by them."""
KEY_LOOK_S: Final = 0.05
PATIENCE_S: Final = 30.0
AFTER: Final = 3
"""So many more requests must be refused."""
_ACCEPTED: Final = 200
_REFUSED: Final = frozenset({401, 403})
_MS_PER_S: Final = 1000
_MANAGED: Final = "/v1/users"
"""What only administrators of the tenant may read."""


@dataclass(frozen=True)
class _Site:
    home: Home
    client: Api
    """Of the first api, with the token of an administrator."""
    http: httpx.AsyncClient
    """Of the same api."""
    token: str
    url: str
    wires: Sequence[Wire]
    """A connection to each api."""


@dataclass(frozen=True)
class _Revocable:
    """A request that each api accepts, and what makes all refuse it."""

    request: bytes
    revoke: Callable[[], Awaitable[object]]


class _Took(NamedTuple):
    """How many milliseconds after a revocation the slower api refused."""

    asked_ms: float
    """After it was sent."""
    replied_ms: float
    """After it was answered; 0: before that."""


Make = Callable[[_Site, int], Awaitable[_Revocable]]


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the milliseconds until a revocation counts, by what is revoked."""
    load, rounds = load_average(), plan.rounds_of(ROUNDS)
    key_rounds = min(rounds, KEY_ROUNDS)
    progress.begin(len(KINDS) + 3)
    progress.step("start")
    key: Mapping[str, Key] = {"ES256": jwk.ECKey.generate_key("P-256")}
    with throwaway_home(plan.directory) as home:
        write_issuers(home.path, key)
        async with running_database(home) as (logins, token), _site(home, token) as site:
            found: dict[str, list[_Took]] = {}
            for name, make in KINDS.items():
                progress.step(f"revoke: {name}")
                found[name] = [await _revoke(site, make, n) for n in range(rounds)]
            progress.step("revoke: stream")
            found["stream"] = [await _end_streams(site, n) for n in range(rounds)]
            progress.step("remove a key")
            keys_s = [await _remove_key(site, key, n) for n in range(key_rounds)]
            sizes = {"rounds": rounds, "key_rounds": key_rounds, "apis": len(site.wires)}
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes=sizes
            )
    worst = max(took.asked_ms for every in found.values() for took in every)
    return document_of(
        Headline("ms", round(worst, 1), GOAL_MS, ratio_of(worst, GOAL_MS)),
        {
            "goal": "at most 1",
            "refused_ms": {
                name: _summary([took.asked_ms for took in every]) for name, every in found.items()
            },
            "after_reply_ms": {
                name: _summary([took.replied_ms for took in every])
                for name, every in found.items()
            },
            "removed_key_s": round(max(keys_s), 2),
            "removed_key_goal": f"at most {KEY_GOAL_S:g} s",
        },
        conditions,
    )


def _summary(times: Sequence[float]) -> dict[str, float]:
    return {
        **{f"p{n}": round(percentile(times, n), 1) for n in (50, 99)},
        "max": round(max(times), 1),
    }


@asynccontextmanager
async def _site(home: Home, token: str) -> AsyncIterator[_Site]:
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(running_driver(home))
        urls = [
            await stack.enter_async_context(running_api(home, name)) for name in ("api", "api-2")
        ]
        client = await stack.enter_async_context(Api(urls[0], token, home=home.path))
        http = await stack.enter_async_context(httpx.AsyncClient(base_url=urls[0], timeout=60))
        wires = [stack.enter_context(Wire(url)) for url in urls]
        yield _Site(home, client, http, token, urls[0], wires)


# ---- what is revoked


async def _token(site: _Site, number: int) -> _Revocable:
    made = await site.client.create_token(f"token-{number}")
    return _Revocable(
        _asking(site, "/v1/whoami", bearing(made["token"])),
        lambda: site.client.revoke_token(made["token_id"]),
    )


async def _role(site: _Site, number: int) -> _Revocable:
    name = f"admin-{number}"
    made = await site.client.add_user(name, role=UserRole.TENANT_ADMIN)
    return _Revocable(
        _asking(site, _MANAGED, bearing(made["token"])),
        lambda: site.client.set_user_role(name, UserRole.USER),
    )


async def _user(site: _Site, number: int) -> _Revocable:
    name = f"user-{number}"
    made = await site.client.add_user(name)
    return _Revocable(
        _asking(site, "/v1/whoami", bearing(made["token"])), lambda: site.client.remove_user(name)
    )


async def _session(site: _Site, _number: int) -> _Revocable:
    site.http.cookies.clear()
    session = await log_in(site.http, site.token)
    return _Revocable(
        _asking(site, "/v1/whoami", f"cookie: {session.cookie}"), site.client.end_sessions
    )


KINDS: Final[Mapping[str, Make]] = {
    "token": _token,
    "role": _role,
    "user": _user,
    "session": _session,
}


def _asking(site: _Site, target: str, header: str) -> bytes:
    return request_of(site.url, "GET", target, headers=(header,))


# ---- how soon


async def _revoke(site: _Site, make: Make, number: int) -> _Took:
    """Revoke something; return when the slower api refuses."""
    made = await make(site, number)
    for wire in site.wires:
        status, _ = wire.ask(made.request)
        if status != _ACCEPTED:
            raise BenchFailed(f"what is to be revoked was answered with {status}")
    asking = [
        asyncio.create_task(asyncio.to_thread(_until_refused, wire, made.request, LOOK_S))
        for wire in site.wires
    ]
    return await _timed(made.revoke, asking)


async def _timed(
    revoke: Callable[[], Awaitable[object]], refusals: Sequence["asyncio.Task[float]"]
) -> _Took:
    await asyncio.sleep(LOOK_S)
    begun = time.perf_counter()
    await revoke()
    replied = time.perf_counter()
    refused = max(await asyncio.gather(*refusals))
    return _Took((refused - begun) * _MS_PER_S, max(0.0, refused - replied) * _MS_PER_S)


def _until_refused(wire: Wire, request: bytes, look_s: float) -> float:
    """Return when the first answer that refuses was there; later ones must do so, too."""
    deadline = time.monotonic() + PATIENCE_S
    while wire.ask(request)[0] not in _REFUSED:
        if time.monotonic() > deadline:
            raise BenchFailed(f"what was revoked is still accepted after {PATIENCE_S:g} s")
        time.sleep(look_s)
    refused_at = time.perf_counter()
    if any(wire.ask(request)[0] not in _REFUSED for _ in range(AFTER)):
        raise BenchFailed("what was revoked was refused, and then accepted again")
    return refused_at


async def _end_streams(site: _Site, number: int) -> _Took:
    """Revoke a token; return when its streams have ended on each api."""
    made = await site.client.create_token(f"stream-{number}")
    request = _asking(site, "/v1/events", bearing(made["token"]))
    for wire in site.wires:
        await asyncio.to_thread(wire.open_stream, request)
    ends = [asyncio.create_task(asyncio.to_thread(wire.wait_for_end)) for wire in site.wires]
    return await _timed(lambda: site.client.revoke_token(made["token_id"]), ends)


async def _remove_key(site: _Site, keys: Mapping[str, Key], number: int) -> float:
    """Return the seconds until a token is refused whose key its issuer has removed."""
    write_keys(site.home.path, keys)
    ((algorithm, key),) = keys.items()
    request = _asking(site, "/v1/whoami", bearing(web_token(algorithm, key, number)))
    for wire in site.wires:
        deadline = time.monotonic() + PATIENCE_S
        while wire.ask(request)[0] != _ACCEPTED:
            if time.monotonic() > deadline:
                raise BenchFailed("a token of the issuer is not accepted")
            await asyncio.sleep(KEY_LOOK_S)
    begun = time.perf_counter()
    write_keys(site.home.path, {})
    asking = [asyncio.to_thread(_until_refused, wire, request, KEY_LOOK_S) for wire in site.wires]
    return max(await asyncio.gather(*asking)) - begun

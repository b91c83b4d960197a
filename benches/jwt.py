"""What a JSON web token costs the api, with the keys of its issuer at hand.

Tokens of each algorithm, no two alike, are verified by the api's own code, with the keys of a file
in its cache: each one for the first time (`first`), and each one once more, as bearers send theirs
with every request (`again`). `weft` is the median of the slowest algorithm of what is verified
again, the reference 100. Then a running api is asked with one such token and with one of its own,
by turns over one connection: `request_us` is how much longer the median takes.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from joserfc import jwk

from benches.issuer import Key, web_token, write_issuers
from benches.running_api import running_api
from weft.api.web_tokens.issuers import read_issuers
from weft.api.web_tokens.verify import WebTokens
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    percentile,
    ratio_of,
)
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.throwaway import running_database, throwaway_home
from weft.client.api import Api

TOKENS: Final = 2000
"""Of each algorithm, and pairs of requests."""
WARM_UP: Final = 50
REFERENCE_US: Final = 100.0
_US_PER_S: Final = 1e6


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the microseconds of a verification, and of a request beyond those of others."""
    load, count = load_average(), plan.jobs_of(TOKENS)
    keys: Mapping[str, Key] = {
        "RS256": jwk.RSAKey.generate_key(2048),
        "ES256": jwk.ECKey.generate_key("P-256"),
        "Ed25519": jwk.OKPKey.generate_key("Ed25519"),
    }
    progress.begin(len(keys) + 2)
    with throwaway_home(plan.directory) as home:
        issuers = write_issuers(home.path, keys)
        web_tokens = WebTokens(read_issuers(issuers))
        found = {}
        for name, key in keys.items():
            progress.step(f"verify {count:,} tokens of {name}")
            tokens = [web_token(name, key, number) for number in range(WARM_UP + count)]
            took_us: dict[str, list[float]] = {"first": [], "again": []}
            for token in tokens:
                for times in took_us.values():
                    times.append(await _time_us(web_tokens.verify, token))
            found[name] = {use: _percentiles(times) for use, times in took_us.items()}
        progress.step("start")
        async with running_database(home) as (logins, token), running_api(home) as url:
            progress.step(f"{count:,} pairs of requests")
            web = web_token("ES256", keys["ES256"], 0)
            request_us = await _request_us(url, home.path, count, own=token, web=web)
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes={"tokens": count}
            )
    verify_us = max(one["again"]["p50_us"] for one in found.values())
    return document_of(
        Headline("us", verify_us, REFERENCE_US, ratio_of(REFERENCE_US, verify_us)),
        {"verify": found, "request_us": request_us},
        conditions,
    )


def _percentiles(took_us: Sequence[float]) -> dict[str, float]:
    return {f"p{n}_us": round(percentile(took_us[WARM_UP:], n), 1) for n in (50, 99)}


async def _request_us(url: str, home: Path, pairs: int, *, own: str, web: str) -> dict[str, float]:
    """Return the medians of requests with either token, and their difference."""
    async with Api(url, own, home=home) as mine, Api(url, web, home=home) as theirs:
        took_us: dict[str, list[float]] = {"own": [], "web": []}
        for number in range(WARM_UP + pairs):
            both = [("own", mine), ("web", theirs)]
            for name, client in both if number % 2 else reversed(both):
                took = await _time_us(lambda client: client.whoami(), client)
                if number >= WARM_UP:
                    took_us[name].append(took)
    medians = {name: round(median(found), 1) for name, found in took_us.items()}
    return {**medians, "more": round(medians["web"] - medians["own"], 1)}


async def _time_us(call: Callable[[Any], Awaitable[object]], argument: object) -> float:
    begun = time.perf_counter()
    await call(argument)
    return (time.perf_counter() - begun) * _US_PER_S

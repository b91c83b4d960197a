"""`weft doctor --connect`: whether a worker outside could work from this machine."""

import time
from collections.abc import AsyncIterator
from fnmatch import fnmatchcase
from typing import Final

from weft import __version__
from weft.client.http.address import LOOPBACK, Endpoint
from weft.client.http.connection import ConnectionLost, ConnectionPool, CouldNotConnect, NotTrusted
from weft.client.http.proxy import find_proxy
from weft.client.http.session import NotTheServer
from weft.core.errors import LinkFrameRefused, Unauthenticated, WeftError
from weft.core.findings import Finding, compare_clocks
from weft.ports.worker_link import Hello
from weft.run.doctor import ANSWER_SLOW_S
from weft.run.host.worker_name import worker_name
from weft.settings import Settings
from weft_link.worker.calls import LinkCaller, finder_of

MAKE_TOKEN: Final = "Make one with `weft token create NAME --pool POOL`."  # noqa: S105 (no token)


async def examine_link(settings: Settings) -> AsyncIterator[Finding]:
    """Yield all findings; what depends on a thing that is wrong is not looked at."""
    finder = finder_of(settings)
    try:
        endpoint = finder.locate()
        proxy = find_proxy(endpoint)
    except WeftError as error:
        yield Finding("settings", "wrong", f"{error.message}: {error.detail}", error.hint)
        return
    if proxy is not None:
        yield Finding("proxy", "ok", f"{proxy.host}:{proxy.port}, as HTTPS_PROXY says")
    pool = ConnectionPool(endpoint)
    try:
        async for finding in _reach(endpoint, pool):
            yield finding
            if finding.verdict == "wrong":
                return
    finally:
        pool.close()
    caller = LinkCaller(finder)
    try:
        hello: Hello = await caller.call("hello")
        if hello.now is not None:
            yield compare_clocks(time.time(), hello.now)
        yield _token(hello, settings)
        yield Finding("version", "ok", f"{__version__}; the server reads what it sends")
    except LinkFrameRefused as error:
        yield Finding("version", "wrong", f"{error.message}: {error.detail}", error.hint)
    except Unauthenticated as error:
        yield Finding("token", "wrong", f"{error.message}: {error.detail}", MAKE_TOKEN)
    except WeftError as error:
        yield Finding("token", "wrong", f"{error.message}: {error.detail}", error.hint)
    finally:
        caller.close()


async def _reach(endpoint: Endpoint, pool: ConnectionPool) -> AsyncIterator[Finding]:
    began = time.monotonic()
    try:
        async with await pool.send("GET", "/healthz", [], None) as reply:
            await reply.read()
    except NotTrusted as error:
        advice = NotTheServer(endpoint, str(error)).hint
        yield Finding("reach", "ok", f"{endpoint.url} answers")
        yield Finding("tls", "wrong", f"its certificate is not trusted: {error}", advice)
        return
    except (CouldNotConnect, ConnectionLost) as error:
        advice = "Look at the address, the name server and firewalls between, and HTTPS_PROXY."
        yield Finding("reach", "wrong", f"{endpoint.url}: {error}", advice)
        return
    took_s = time.monotonic() - began
    found = f"{endpoint.url} answers in {took_s * 1000:.0f} ms"
    yield Finding("reach", "warning" if took_s > ANSWER_SLOW_S else "ok", found)
    if endpoint.scheme == "https":
        yield Finding("tls", "ok", "its certificate is trusted")
    else:
        assert endpoint.host in LOOPBACK
        yield Finding("tls", "off", "there is none: the server is on this machine")


def _token(hello: Hello, settings: Settings) -> Finding:
    """Say for which workers the token is. An api of the release before tells nothing of that."""
    if not hello.pool:
        return Finding("token", "ok", "the server takes it")
    found = f"the server takes it, for workers {hello.workers!r} of pool {hello.pool!r}"
    if settings.pool != hello.pool:
        advice = f"Start the worker with --pool {hello.pool}, or make another token."
        return Finding("token", "warning", f"{found}, not of {settings.pool!r}", advice)
    if not fnmatchcase(name := worker_name(settings), hello.workers):
        advice = "Name the worker so with --worker-name, or make another token."
        return Finding("token", "warning", f"{found}, not for {name!r}", advice)
    return Finding("token", "ok", found)

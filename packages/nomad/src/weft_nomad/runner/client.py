"""Nomad's API. Who is not answered gets `Unavailable`; what is refused, `NomadRefused`."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final
from urllib.parse import quote, urlencode

from weft.core.bounded import read_json
from weft.core.errors import Invalid, Unavailable, WeftError
from weft.plugins.runners.remote.calls import SAID_MAX, HttpCalls, LongText, server_at
from weft.ports.patience import wait_at_most
from weft_nomad.settings import NomadSettings

_HINT: Final = "The gateway asks again by itself; look at the servers with `nomad server members`."
_PORT: Final = 4646
_NEWS_S: Final = 60.0
"""After which the stream of events is asked for again."""
_BEAT_S: Final = 10.0
"""How often Nomad says something there even if nothing happens."""
_LINE_MAX: Final = 64 << 20
_OK: Final = 200
_NOT_FOUND: Final = 404
_RIGHTS: Final = (401, 403)
_BUSY: Final = 429
_SERVER: Final = 500
_OURS: Final = ("missing", "nonexistent")
"""What Nomad says with status 500 of a job that it will never take."""


class NomadRefused(WeftError, code="WORKER.NOMAD_REFUSED", status=400):
    """Nomad refuses a job."""


class WrongNomadAddress(Invalid, code="WORKER.WRONG_NOMAD_ADDRESS"):
    """The setting `nomad_address` is no address."""


class NomadClient:
    """Asks Nomad, and says what it answers."""

    def __init__(self, settings: NomadSettings) -> None:
        self._settings = settings
        server = server_at(
            "Nomad",
            settings.nomad_address,
            _PORT,
            settings.nomad_ca,
            settings.nomad_answer_s,
            _HINT,
        )
        if server is None:
            raise WrongNomadAddress(
                f"not an address of Nomad: {settings.nomad_address!r}",
                hint="Set `nomad_address` to something like https://nomad.example:4646.",
            )
        self._calls = HttpCalls(server)

    async def call(
        self, method: str, path: Sequence[str], body: object = None, /, **query: str
    ) -> Any:  # noqa: ANN401 (a document of Nomad's)
        """Return the answer; None: there is no such thing."""
        target = self._target(path, query)
        status, text = await self._calls.call(method, target, body, self._headers())
        if status == _NOT_FOUND:
            return None
        self._check(status, text)
        try:
            return read_json(text or "null")
        except ValueError as error:
            raise Unavailable(f"Nomad sent no JSON: {text[:SAID_MAX]!r}", hint=_HINT) from error

    async def read(
        self, path: Sequence[str], /, *, bytes_max: int, head_bytes: int, **query: str
    ) -> LongText:
        """Return a long text; an empty one if there is none."""
        status, found = await self._calls.read(
            self._target(path, query), self._headers(), bytes_max=bytes_max, head_bytes=head_bytes
        )
        if status == _NOT_FOUND:
            return LongText(b"")
        self._check(status, found.head)
        return found

    async def news(self, prefix: str) -> AsyncIterator[None]:
        """Yield when an allocation of our jobs changes, for a while. Raise `Unavailable`."""
        target = self._target(["event", "stream"], {"topic": "Allocation"})
        until = time.monotonic() + _NEWS_S
        async with self._calls.stream(target, self._headers(), longer_s=_BEAT_S) as news:
            if (status := (await news.head()).status) != _OK:
                self._check(status, await news.body(_LINE_MAX))
            yield
            async for line in news.lines(_LINE_MAX):
                if time.monotonic() >= until:
                    return
                if _is_about(line, prefix):
                    yield

    def _headers(self) -> dict[str, str]:
        return {"X-Nomad-Token": self._settings.nomad_token} if self._settings.nomad_token else {}

    def _target(self, path: Sequence[str], query: Mapping[str, str]) -> str:
        where = "/".join(quote(one, safe="") for one in ("v1", *path))
        return f"/{where}?{urlencode({'namespace': self._settings.nomad_namespace, **query})}"

    @staticmethod
    def _check(status: int, text: bytes) -> None:
        said = text.decode(errors="replace").strip()[:SAID_MAX]
        if status in _RIGHTS:
            raise Unavailable(f"Nomad refuses the gateway: {said}", hint="Set `nomad_token`.")
        if status == _BUSY or (status >= _SERVER and not any(word in said for word in _OURS)):
            raise Unavailable(f"Nomad is away: {said}", hint=_HINT)
        if status >= 400:  # noqa: PLR2004 (an error)
            raise NomadRefused(
                f"Nomad refuses: {said}", hint="Change the job, or the settings of the gateway."
            )


def _is_about(line: bytes, prefix: str) -> bool:
    try:
        told = read_json(line).get("Events") or ()
        jobs = [(one["Payload"].get("Allocation") or {}).get("JobID") for one in told]
    except (ValueError, LookupError) as error:
        raise Unavailable(f"Nomad is away: {error}"[:SAID_MAX], hint=_HINT) from error
    return any(str(job).startswith(prefix) for job in jobs)


_LEAST_S: Final = 0.1
_SHARE: Final = 4
"""The gateway waits this many times longer than its last look took."""
_CALM: Final = 5
"""With a stream, looks without news are rarer by this factor."""


class NewsWatch:
    """Reads a stream as long as somebody waits for news."""

    def __init__(self, stream: Callable[[], AsyncIterator[None]]) -> None:
        self._stream = stream
        self._news = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self._is_open = False
        self._looked_at = 0.0
        self._took_s = 0.0

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Note a look: what is told during it is news."""
        self._news.clear()
        start = time.monotonic()
        try:
            yield
        finally:
            self._looked_at = time.monotonic()
            self._took_s = self._looked_at - start

    async def changed(self, look_s: float, *, wanted: bool) -> None:
        """Return when there are news, or when it is time to look without. The more a look costs,
        the rarer it is.
        """
        if wanted and (self._reading is None or self._reading.done()):
            self._reading = asyncio.create_task(self._read())
        rest_s = self._looked_at + max(_LEAST_S, _SHARE * self._took_s) - time.monotonic()
        await asyncio.sleep(max(0.0, rest_s))
        await wait_at_most(look_s * (_CALM if self._is_open else 1), self._news)

    async def _read(self) -> None:
        with suppress(WeftError):
            async for _ in self._stream():
                self._is_open = True
                self._news.set()
        self._is_open = False
        self._news.set()
